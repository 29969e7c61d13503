/* Runs of any size through the writer and back, from several threads at once. */
#include "store/module.h"

#include "check.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { PIECE = 10000, THREADS = 3 };

static const sp_store_table *store;

/* Values that can be worked out from their position alone. */
static int64_t start_of(uint64_t i)
{
    return (int64_t)(i * 100 + i % 7);
}

static int64_t value_of(int column, uint64_t i)
{
    return column == SP_COLUMN_START ? start_of(i) : (int64_t)(i % 1000) * (column + 1) - column;
}

typedef struct shape {
    const char *path, *compression;
    uint64_t chunk_size, counts[3]; /* of three rows of rank 0; rank 1 has the first row again */
} shape;

static int write_rank(sp_store_writer *writer, const shape *s, uint32_t rank, size_t num_rows,
                      unsigned columns, sp_error *error)
{
    sp_row rows[3];
    uint64_t total = 0;
    for (size_t i = 0; i < num_rows; i++) {
        static const char *const NAMES[] = {"a", "b", "c"};
        rows[i] = (sp_row){.region = NAMES[i], .rank = rank, .count = s->counts[i],
                           .source_file = "x.c", .source_text = "", .tags_json = "[]"};
        total += s->counts[i];
    }
    int status =
        store->begin_rank(writer, rank, rows, num_rows, columns, NULL, 0, NULL, 0, error);
    int64_t *values[SP_COLUMN_COUNT];
    for (int c = 0; c < SP_COLUMN_COUNT; c++)
        values[c] = malloc(PIECE * sizeof **values);
    for (uint64_t done = 0; status == SP_OK && done < total;) {
        size_t piece = total - done < PIECE ? (size_t)(total - done) : PIECE;
        for (int c = 0; c < SP_COLUMN_COUNT; c++)
            for (size_t i = 0; i < piece; i++)
                values[c][i] = value_of(c, done + i);
        status = store->write_calls(writer, piece, (const int64_t *const *)values, error);
        done += piece;
    }
    for (int c = 0; c < SP_COLUMN_COUNT; c++)
        free(values[c]);
    return status;
}

static int write_run(const shape *s, sp_error *error)
{
    const sp_store_options options = {.size = sizeof options, .compression = s->compression,
                                      .compression_level = -1, .chunk_size = s->chunk_size};
    sp_store_writer *writer = NULL;
    int status = store->create(s->path, &options, &writer, error);
    if (status != SP_OK)
        return status;
    status = write_rank(writer, s, 0, 3, SP_COLUMN_BIT(SP_COLUMN_COUNT) - 1, error);
    if (status == SP_OK)
        status = write_rank(writer, s, 1, 1, 3, error);
    if (status == SP_OK)
        return store->commit(writer, error);
    store->abort(writer);
    return status;
}

/* Number of values of a row that are not as expected; `from`: position in the rank of its first. */
static uint64_t count_wrong(sp_store_reader *reader, size_t row, uint64_t from, uint64_t count,
                            bool has_optional)
{
    int64_t values[PIECE];
    uint64_t wrong = 0;
    sp_error error = {0};
    for (int c = 0; c < SP_COLUMN_COUNT; c++) {
        bool is_there = has_optional || c <= SP_COLUMN_DURATION;
        int64_t missing = c == SP_COLUMN_AWAIT ? 0 : -1;
        for (uint64_t done = 0; done < count;) {
            size_t piece = count - done < PIECE ? (size_t)(count - done) : PIECE;
            if (store->read_calls(reader, row, (sp_column)c, done, piece, values, &error) != SP_OK)
                return UINT64_MAX;
            for (size_t i = 0; i < piece; i++)
                wrong += values[i] != (is_there ? value_of(c, from + done + i) : missing);
            done += piece;
        }
    }
    return wrong;
}

static bool is_right(const shape *s)
{
    sp_error error = {0};
    sp_store_reader *reader = NULL;
    if (store->open(s->path, &reader, &error) != SP_OK) {
        fprintf(stderr, "%s\n", error.text);
        return false;
    }
    const sp_store_description *run = store->describe(reader);
    bool right = run->num_rows == 4 && run->num_regions == 3 && run->num_ranks == 2;
    uint64_t from = 0;
    for (size_t row = 0; right && row < 4; row++) {
        uint64_t count = s->counts[row % 3];
        right = run->rows[row].count == count &&
                count_wrong(reader, row, row < 3 ? from : 0, count, row < 3) == 0;
        from += count;
    }
    store->close(reader);
    return right;
}

static bool goes_round(const shape *s)
{
    sp_error error = {0};
    if (write_run(s, &error) != SP_OK) {
        fprintf(stderr, "%s: %s\n", s->path, error.text);
        return false;
    }
    bool right = is_right(s);
    unlink(s->path);
    return right;
}

static void every_size_and_storage(void)
{
    static const char *const COMPRESSIONS[] = {NULL, "auto", "gzip"};
    static const uint64_t CHUNKS[] = {0, 1, 1000};
    static const uint64_t COUNTS[][3] = {
        {0, 0, 0}, {1, 0, 2}, {5, 3, 4}, {16384, 1, 0}, {40000, 32768, 0}};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            for (size_t n = 0; n < sizeof COUNTS / sizeof *COUNTS; n++) {
                shape s = {"round_trip.h5", COMPRESSIONS[i], CHUNKS[k], {0}};
                memcpy(s.counts, COUNTS[n], sizeof s.counts);
                if (CHUNKS[k] == 1 && COUNTS[n][0] > 1000)
                    continue;
                CHECK(goes_round(&s));
            }
}

/* Enough to be streamed to the file. */
static void large_runs(void)
{
    const shape plain = {"round_trip.h5", NULL, 0, {700000, 1, 300000}};
    const shape packed = {"round_trip.h5", "gzip", 0, {700000, 1, 300000}};
    CHECK(goes_round(&plain));
    CHECK(goes_round(&packed));
}

static void *go_round_often(void *name)
{
    const shape s = {name, "gzip", 0, {20000, 1, 3}};
    bool right = true;
    for (int i = 0; i < 5; i++)
        right = goes_round(&s) && right;
    return right ? name : NULL;
}

static void threads_at_once(void)
{
    static char names[THREADS][32];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        snprintf(names[i], sizeof names[i], "round_trip_%d.h5", i);
        CHECK(pthread_create(&threads[i], NULL, go_round_often, names[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *result = NULL;
        CHECK(pthread_join(threads[i], &result) == 0 && result != NULL);
    }
}

int main(void)
{
    sp_error error = {0};
    store = sp_store_hdf5(&error);
    if (!CHECK(store != NULL)) {
        fprintf(stderr, "%s\n", error.text);
        return check_result();
    }
    RUN(every_size_and_storage);
    RUN(large_runs);
    RUN(threads_at_once);
    return check_result();
}
