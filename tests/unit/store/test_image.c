/* An in-memory profile: what was written comes back, and no damage of the block is believed. */
#include "store/image/image.h"

#include "check.h"
#include "store/module.h"

#include <stdlib.h>

enum { TIMES = 1u << SP_COLUMN_START | 1u << SP_COLUMN_DURATION };

static const int64_t *const NO_COLUMNS[SP_COLUMN_COUNT] = {NULL};

/* Two ranks: rank 3 with two rows and ids, rank 1 with one row and no ids. */
static void write_two_ranks(void **image, size_t *size)
{
    sp_store_writer *writer = NULL;
    sp_error error = {0};
    CHECK_INT(sp_image_create(NULL, image, size, &writer, &error), SP_OK);

    const char *modules[] = {"gcc/12", "", "mpi"};
    sp_metadata_entry metadata[] = {
        {.key = "mpi_size", .kind = SP_VALUE_INTEGER, .integer = 6},
        {.key = "load", .kind = SP_VALUE_REAL, .real = 0.75},
        {.key = "host", .kind = SP_VALUE_TEXT, .text = "node-\xC3\xA9"},
        {.key = "modules", .kind = SP_VALUE_TEXT_LIST, .list = modules, .list_length = 3},
        {.key = "none", .kind = SP_VALUE_TEXT_LIST, .list_length = 0},
    };
    CHECK_INT(sp_image_writer.write_metadata(writer, metadata, 5, &error), SP_OK);

    sp_row rows[] = {
        {.region = "solve", .rank = 3, .count = 2, .source_file = "a.py", .source_text = "x = 1",
         .source_line = 7, .tags_json = "[\"t\"]", .event_metadata_json = "[{},{\"n\":1}]",
         .exclusive_total = 11, .has_statistics = true, .statistics = {.total = 12, .m2 = 2.5}},
        {.region = "io", .rank = 3, .count = 1, .source_file = "", .source_text = "",
         .source_line = -1, .tags_json = "[]", .exclusive_total = -1},
    };
    sp_thread_row thread = {.rank = 3, .index = 0, .ident = 99, .native_id = 100,
                            .is_daemon = true, .start_ns = 1, .end_ns = -1, .cpu_ns = 5,
                            .name = "MainThread"};
    sp_task_row task = {.rank = 3, .index = 0, .thread_index = 0, .created_ns = 1, .done_ns = 2,
                        .steps = 3, .running_ns = 4, .suspended_ns = 5, .kind = "task",
                        .name = "Task-1", .coroutine_name = "main"};
    CHECK_INT(sp_image_writer.begin_rank(writer, 3, rows, 2, TIMES | 1u << SP_COLUMN_CALL_ID,
                                         &thread, 1, &task, 1, &error),
              SP_OK);
    /* Pieces that do not follow the rows. */
    const int64_t starts[] = {100, 140, 90}, durations[] = {5, 7, 60}, ids[] = {1, 2, 0};
    for (size_t i = 0; i < 3; i++) {
        const int64_t *piece[SP_COLUMN_COUNT] = {starts + i, durations + i, ids + i};
        CHECK_INT(sp_image_writer.write_calls(writer, 1, piece, &error), SP_OK);
    }
    const int64_t integers[] = {4, -4};
    const double reals[] = {0.5};
    const char *texts[] = {"a", "bc"};
    sp_extra extras[] = {
        {.name = "open_calls", .rank = 3, .length = 2, .integers = integers},
        {.name = "offsets", .rank = 3, .length = 1, .reals = reals},
        {.name = "kinds", .rank = 3, .length = 2, .texts = texts},
    };
    for (size_t i = 0; i < 3; i++)
        CHECK_INT(sp_image_writer.write_extra(writer, &extras[i], &error), SP_OK);

    sp_row other = {.region = "solve", .rank = 1, .count = 1, .source_file = "", .source_text = "",
                    .source_line = -1, .tags_json = "[]", .exclusive_total = -1};
    CHECK_INT(sp_image_writer.begin_rank(writer, 1, &other, 1, TIMES, NULL, 0, NULL, 0, &error),
              SP_OK);
    const int64_t *last[SP_COLUMN_COUNT] = {starts, durations};
    CHECK_INT(sp_image_writer.write_calls(writer, 1, last, &error), SP_OK);
    CHECK_INT(sp_image_writer.commit(writer, &error), SP_OK);
}

static void check_rows(const sp_store_description *run)
{
    CHECK_INT(run->num_rows, 3);
    CHECK_TEXT(run->rows[0].region, "solve");
    CHECK_INT(run->rows[0].rank, 3);
    CHECK_INT(run->rows[0].count, 2);
    CHECK_INT(run->rows[0].offset, 0);
    CHECK_TEXT(run->rows[0].source_file, "a.py");
    CHECK_TEXT(run->rows[0].source_text, "x = 1");
    CHECK_INT(run->rows[0].source_line, 7);
    CHECK_TEXT(run->rows[0].tags_json, "[\"t\"]");
    CHECK_TEXT(run->rows[0].event_metadata_json, "[{},{\"n\":1}]");
    CHECK_INT(run->rows[0].exclusive_total, 11);
    CHECK(run->rows[0].has_statistics && !run->rows[0].has_aggregate);
    CHECK_INT(run->rows[0].statistics.total, 12);
    CHECK_REAL(run->rows[0].statistics.m2, 2.5, 0);
    CHECK(run->rows[1].event_metadata_json == NULL);
    CHECK_INT(run->rows[1].offset, 2);
    CHECK_INT(run->rows[2].offset, 3);
    CHECK_INT(run->rows[2].rank, 1);
    CHECK_INT(run->num_regions, 2);
    CHECK_TEXT(run->region_names[0], "solve");
    CHECK_TEXT(run->region_names[1], "io");
}

static void check_tables(const sp_store_description *run)
{
    CHECK_INT(run->num_metadata, 5);
    CHECK_INT(run->metadata[0].integer, 6);
    CHECK_REAL(run->metadata[1].real, 0.75, 0);
    CHECK_TEXT(run->metadata[2].text, "node-\xC3\xA9");
    CHECK_INT(run->metadata[3].list_length, 3);
    CHECK_TEXT(run->metadata[3].list[1], "");
    CHECK_TEXT(run->metadata[3].list[2], "mpi");
    CHECK_INT(run->metadata[4].kind, SP_VALUE_TEXT_LIST);
    CHECK_INT(run->metadata[4].list_length, 0);
    CHECK_INT(run->num_threads, 1);
    CHECK_INT(run->threads[0].native_id, 100);
    CHECK(run->threads[0].is_daemon);
    CHECK_TEXT(run->threads[0].name, "MainThread");
    CHECK_INT(run->num_tasks, 1);
    CHECK_INT(run->tasks[0].suspended_ns, 5);
    CHECK_TEXT(run->tasks[0].coroutine_name, "main");
    CHECK_INT(run->num_extras, 3);
    CHECK_TEXT(run->extras[0].name, "open_calls");
    CHECK_INT(run->extras[0].integers[1], -4);
    CHECK_REAL(run->extras[1].reals[0], 0.5, 0);
    CHECK_TEXT(run->extras[2].texts[1], "bc");
}

static void comes_back_as_written(void)
{
    void *image = NULL;
    size_t size = 0;
    write_two_ranks(&image, &size);
    sp_store_reader *reader = NULL;
    sp_error error = {0};
    if (!CHECK_INT(sp_image_open(image, size, &reader, &error), SP_OK))
        return;
    const sp_store_description *run = sp_image_reader.describe(reader);
    CHECK_INT(run->num_ranks, 6);
    CHECK_INT(run->num_calls, 4);
    CHECK_INT(run->columns, TIMES | 1u << SP_COLUMN_CALL_ID);
    check_rows(run);
    check_tables(run);

    int64_t values[2] = {0};
    CHECK_INT(sp_image_reader.read_calls(reader, 0, SP_COLUMN_START, 1, 1, values, &error), SP_OK);
    CHECK_INT(values[0], 140);
    CHECK_INT(sp_image_reader.read_calls(reader, 1, SP_COLUMN_DURATION, 0, 1, values, &error),
              SP_OK);
    CHECK_INT(values[0], 60);
    /* Rank 1 did not record ids. */
    CHECK_INT(sp_image_reader.read_calls(reader, 2, SP_COLUMN_CALL_ID, 0, 1, values, &error),
              SP_OK);
    CHECK_INT(values[0], -1);
    CHECK(sp_image_reader.borrow_calls(reader, 2, SP_COLUMN_CALL_ID) == NULL);
    const int64_t *ids = sp_image_reader.borrow_calls(reader, 0, SP_COLUMN_CALL_ID);
    if (CHECK(ids != NULL))
        CHECK_INT(ids[1], 2);
    CHECK_INT(sp_image_reader.read_calls(reader, 0, SP_COLUMN_AWAIT, 0, 1, values, &error),
              SP_ERR_NOT_FOUND);
    CHECK_INT(sp_image_reader.read_calls(reader, 0, SP_COLUMN_START, 1, 2, values, &error),
              SP_ERR_INVALID_ARGUMENT);
    sp_image_reader.close(reader);
}

static void totals_have_no_calls(void)
{
    void *image = NULL;
    size_t size = 0;
    sp_store_writer *writer = NULL;
    sp_error error = {0};
    sp_store_options options = {.size = sizeof options, .is_aggregate = true};
    CHECK_INT(sp_image_create(&options, &image, &size, &writer, &error), SP_OK);
    sp_row row = {.region = "hot", .rank = 0, .count = 5, .source_file = "", .source_text = "",
                  .tags_json = "[]", .has_aggregate = true,
                  .aggregate = {5, 50, 1, 30, -1}};
    CHECK_INT(sp_image_writer.begin_rank(writer, 0, &row, 1, 0, NULL, 0, NULL, 0, &error), SP_OK);
    CHECK_INT(sp_image_writer.commit(writer, &error), SP_OK);
    sp_store_reader *reader = NULL;
    if (!CHECK_INT(sp_image_open(image, size, &reader, &error), SP_OK))
        return;
    const sp_store_description *run = sp_image_reader.describe(reader);
    CHECK(run->is_aggregate);
    CHECK_INT(run->num_calls, 0);
    CHECK_INT(run->columns, 0);
    CHECK_INT(run->rows[0].aggregate.maximum, 30);
    sp_image_reader.close(reader);
}

static void order_of_calls_is_checked(void)
{
    void *image = NULL;
    size_t size = 0;
    sp_store_writer *writer = NULL;
    sp_error error = {0};
    sp_row row = {.region = "r", .rank = 0, .count = 2, .source_file = "", .source_text = "",
                  .tags_json = "[]"};
    CHECK_INT(sp_image_create(NULL, &image, &size, &writer, &error), SP_OK);
    CHECK_INT(sp_image_writer.begin_rank(writer, 1, &row, 1, TIMES, NULL, 0, NULL, 0, &error),
              SP_ERR_INVALID_ARGUMENT); /* the row is of rank 0 */
    CHECK_INT(sp_image_writer.begin_rank(writer, 0, &row, 1, 0, NULL, 0, NULL, 0, &error),
              SP_ERR_INVALID_ARGUMENT); /* calls without times */
    CHECK_INT(sp_image_writer.begin_rank(writer, 0, &row, 1, TIMES, NULL, 0, NULL, 0, &error),
              SP_OK);
    const int64_t three[3] = {0};
    const int64_t *piece[SP_COLUMN_COUNT] = {three, three};
    CHECK_INT(sp_image_writer.write_calls(writer, 3, piece, &error), SP_ERR_INVALID_ARGUMENT);
    CHECK_INT(sp_image_writer.write_calls(writer, 1, NO_COLUMNS, &error), SP_ERR_INVALID_ARGUMENT);
    CHECK_INT(sp_image_writer.write_calls(writer, 1, piece, &error), SP_OK);
    CHECK_INT(sp_image_writer.begin_rank(writer, 2, NULL, 0, 0, NULL, 0, NULL, 0, &error),
              SP_ERR_INVALID_ARGUMENT); /* one call of rank 0 is missing */
    CHECK_CONTAINS(error.text, "rank 0 announced 2 calls but gave 1");
    CHECK_INT(sp_image_writer.write_calls(writer, 1, piece, &error), SP_OK);
    CHECK_INT(sp_image_writer.begin_rank(writer, 0, NULL, 0, 0, NULL, 0, NULL, 0, &error),
              SP_ERR_INVALID_ARGUMENT);
    CHECK_CONTAINS(error.text, "twice");
    sp_image_writer.abort(writer);
    CHECK(image == NULL);
    CHECK_INT(sp_image_writer.create("x.h5", NULL, &writer, &error), SP_ERR_UNSUPPORTED);
}

static void try_open(const void *bytes, size_t size)
{
    void *copy = malloc(size == 0 ? 1 : size);
    memcpy(copy, bytes, size);
    sp_store_reader *reader = NULL;
    sp_error error = {0};
    int status = sp_image_open(copy, size, &reader, &error);
    CHECK(status == SP_OK || status == SP_ERR_DAMAGED || status == SP_ERR_NOT_A_PROFILE ||
          status == SP_ERR_NO_MEMORY);
    if (status != SP_OK)
        return;
    const sp_store_description *run = sp_image_reader.describe(reader);
    for (size_t row = 0; row < run->num_rows; row++) {
        int64_t value;
        for (int c = 0; c < SP_COLUMN_COUNT && run->rows[row].count > 0; c++)
            sp_image_reader.read_calls(reader, row, (sp_column)c, run->rows[row].count - 1, 1,
                                       &value, &error);
    }
    sp_image_reader.close(reader);
}

/* Every word replaced by values that claims are made of, and the image cut at every length. */
static void damage_is_noticed(void)
{
    void *image = NULL;
    size_t size = 0;
    write_two_ranks(&image, &size);
    const uint64_t claims[] = {0, 1, 2, UINT64_MAX, INT64_MAX, UINT64_C(1) << 61, size, size / 8};
    uint64_t *words = image;
    for (size_t i = 0; i < size / 8; i++) {
        uint64_t kept = words[i];
        for (size_t k = 0; k < sizeof claims / sizeof *claims; k++) {
            words[i] = claims[k];
            try_open(image, size);
        }
        words[i] = kept;
    }
    for (size_t length = 0; length < size; length++) {
        words[2] = length; /* so that the cut is not noticed by the total size alone */
        try_open(image, length);
    }
    free(image);
    sp_store_reader *reader = NULL;
    sp_error error = {0};
    CHECK_INT(sp_image_open(NULL, 0, &reader, &error), SP_ERR_NOT_A_PROFILE);
    CHECK_INT(sp_image_reader.open("x.h5", &reader, &error), SP_ERR_UNSUPPORTED);
}

int main(void)
{
    RUN(comes_back_as_written);
    RUN(totals_have_no_calls);
    RUN(order_of_calls_is_checked);
    RUN(damage_is_noticed);
    return check_result();
}
