/* Native traces: the bytes that are written, and everything a file may claim when it is read. */
#include "check.h"
#include "store/spt/spt.h"

#include <stdlib.h>
#include <unistd.h>

static const char path[] = "store-test.spt";

/* The run of docs/FORMATS.md in version 2, little-endian. */
static const unsigned char example[] = {
    'S', 'C', 'O', 'P', 'E', 'P', 'R', 'F', 2, 0, 0, 0, 0, 0, 0, 0, /* magic, version, rank */
    1, 0, 0, 0, 0, 0, 0, 0,                                         /* regions */
    5, 0, 0, 0, 's', 'o', 'l', 'v', 'e',                            /* name */
    8, 0, 0, 0, 's', 'o', 'l', 'v', 'e', 'r', '.', 'c', 7, 0, 0, 0, /* source, line */
    3, 0, 0, 0, 0, 0, 0, 0,                                         /* calls */
    10, 0, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0, 0, 0, 0, 0, 40, 0, 0, 0, 0, 0, 0, 0,
    15, 0, 0, 0, 0, 0, 0, 0, 33, 0, 0, 0, 0, 0, 0, 0, 55, 0, 0, 0, 0, 0, 0, 0,
};
enum { RANK_AT = 12, REGIONS_AT = 16, NAME_AT = 28, LINE_AT = 45, CALLS_AT = 49 };

#define COLUMNS (SP_COLUMN_BIT(SP_COLUMN_START) | SP_COLUMN_BIT(SP_COLUMN_DURATION))

static sp_error error;

static sp_row row_of(const char *region, uint64_t count)
{
    return (sp_row){.region = region, .count = count, .source_file = "", .source_text = "",
                    .source_line = -1, .tags_json = "[]", .exclusive_total = -1};
}

static sp_store_writer *begin(const sp_row *rows, size_t num_rows)
{
    sp_store_writer *writer = NULL;
    CHECK_INT(sp_spt_writer.create(path, NULL, &writer, &error), SP_OK);
    CHECK_INT(sp_spt_writer.begin_rank(writer, rows[0].rank, rows, num_rows, COLUMNS, NULL, 0, NULL,
                                       0, &error), SP_OK);
    return writer;
}

static int give(sp_store_writer *writer, const int64_t *starts, const int64_t *durations,
                size_t count)
{
    const int64_t *values[SP_COLUMN_COUNT] = {starts, durations};
    return sp_spt_writer.write_calls(writer, count, values, &error);
}

static size_t load(unsigned char *out, size_t room)
{
    FILE *file = fopen(path, "rb");
    size_t count = file == NULL ? 0 : fread(out, 1, room, file);
    if (file != NULL)
        fclose(file);
    return count;
}

static void save(const void *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL && fwrite(bytes, 1, count, file) == count);
    fclose(file);
}

static void save_example(void)
{
    save(example, sizeof example);
}

static void save_changed(size_t at, const void *bytes, size_t count)
{
    unsigned char copy[sizeof example];
    memcpy(copy, example, sizeof copy);
    memcpy(copy + at, bytes, count);
    save(copy, sizeof copy);
}

/* ---- Writing ---------------------------------------------------------------------------------*/

static bool is_little_endian(void)
{
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first == 1;
}

static void writes_the_example_byte_for_byte(void)
{
    const int64_t starts[] = {10, 20, 40}, durations[] = {5, 13, 15};
    unsigned char bytes[256];
    sp_row row = row_of("solve", 3);
    row.source_file = "solver.c";
    row.source_line = 7;
    if (!is_little_endian())
        return;
    sp_store_writer *writer = begin(&row, 1);
    CHECK_INT(give(writer, starts, durations, 3), SP_OK);
    CHECK_INT(sp_spt_writer.commit(writer, &error), SP_OK);
    CHECK_INT(load(bytes, sizeof bytes), sizeof example);
    CHECK(memcmp(bytes, example, sizeof example) == 0);
}

static void writes_pieces_of_any_size(void)
{
    enum { ROWS = 4, CALLS = 20000 };
    static const uint64_t counts[ROWS] = {7, 0, 12345, CALLS - 7 - 12345};
    static const char *const names[ROWS] = {"first", "empty", "second", "third"};
    static int64_t starts[CALLS], durations[CALLS], back[CALLS];
    sp_row rows[ROWS];
    for (size_t i = 0; i < CALLS; i++) {
        starts[i] = ((int64_t)1 << 53) + 3 * (int64_t)i + 1;
        durations[i] = (int64_t)(i % 3);
    }
    for (size_t i = 0; i < ROWS; i++) {
        rows[i] = row_of(names[i], counts[i]);
        rows[i].rank = 9;
    }
    sp_store_writer *writer = begin(rows, ROWS);
    for (size_t at = 0, piece = 1; at < CALLS; at += piece, piece = piece * 3 % 7001 + 1) {
        piece = piece < CALLS - at ? piece : CALLS - at;
        CHECK_INT(give(writer, starts + at, durations + at, piece), SP_OK);
    }
    CHECK_INT(sp_spt_writer.commit(writer, &error), SP_OK);

    sp_store_reader *reader = NULL;
    if (!CHECK_INT(sp_spt_reader.open(path, &reader, &error), SP_OK))
        return;
    const sp_store_description *run = sp_spt_reader.describe(reader);
    CHECK_INT(run->num_rows, 3); /* without calls: not written */
    CHECK_INT(run->num_calls, CALLS);
    CHECK_INT(run->rows[0].rank, 9);
    CHECK_TEXT(run->rows[1].region, "second");
    for (size_t row = 0, at = 0; row < 3; at += run->rows[row++].count) {
        size_t count = (size_t)run->rows[row].count;
        CHECK_INT(sp_spt_reader.read_calls(reader, row, SP_COLUMN_START, 0, count, back, &error),
                  SP_OK);
        CHECK(memcmp(back, starts + at, count * sizeof *back) == 0);
        CHECK_INT(sp_spt_reader.read_calls(reader, row, SP_COLUMN_DURATION, 2, count - 2, back,
                                           &error), SP_OK);
        CHECK(memcmp(back, durations + at + 2, (count - 2) * sizeof *back) == 0);
    }
    sp_spt_reader.close(reader);
}

static void refuses_what_has_no_place(void)
{
    sp_store_options totals = {.size = sizeof totals, .is_aggregate = true};
    sp_store_writer *writer = NULL;
    sp_row row = row_of("a", 0);
    CHECK_INT(sp_spt_writer.create(path, &totals, &writer, &error), SP_ERR_UNSUPPORTED);
    writer = begin(&row, 1);
    row.rank = 1;
    CHECK_INT(sp_spt_writer.begin_rank(writer, 1, &row, 1, COLUMNS, NULL, 0, NULL, 0, &error),
              SP_ERR_UNSUPPORTED);
    sp_spt_writer.abort(writer);
}

static void keeps_the_old_file_until_all_is_there(void)
{
    unsigned char bytes[256];
    const int64_t times[] = {1, 1};
    sp_row row = row_of("a", 2);
    save_example();
    sp_store_writer *writer = begin(&row, 1);
    CHECK_INT(give(writer, times, times, 1), SP_OK);
    CHECK_INT(sp_spt_writer.commit(writer, &error), SP_ERR_INVALID_ARGUMENT);
    CHECK_INT(load(bytes, sizeof bytes), sizeof example);
    CHECK_INT(sp_spt_writer.create("/proc/none/t.spt", NULL, &writer, &error), SP_ERR_IO);
}

static void writes_a_run_without_calls(void)
{
    sp_store_writer *writer = NULL;
    sp_store_reader *reader = NULL;
    CHECK_INT(sp_spt_writer.create(path, NULL, &writer, &error), SP_OK);
    CHECK_INT(sp_spt_writer.commit(writer, &error), SP_OK);
    if (!CHECK_INT(sp_spt_reader.open(path, &reader, &error), SP_OK))
        return;
    CHECK_INT(sp_spt_reader.describe(reader)->num_rows, 0);
    CHECK_INT(sp_spt_reader.describe(reader)->num_ranks, 1);
    sp_spt_reader.close(reader);
}

/* ---- Reading ---------------------------------------------------------------------------------*/

static void check_example(const char *source, int64_t line)
{
    int64_t values[3] = {0};
    sp_store_reader *reader = NULL;
    if (!CHECK_INT(sp_spt_reader.open(path, &reader, &error), SP_OK))
        return;
    const sp_store_description *run = sp_spt_reader.describe(reader);
    CHECK_INT(run->num_rows, 1);
    CHECK_TEXT(run->rows[0].region, "solve");
    CHECK_TEXT(run->rows[0].source_file, source);
    CHECK_INT(run->rows[0].source_line, line);
    CHECK_INT(run->rows[0].count, 3);
    CHECK_INT(sp_spt_reader.read_calls(reader, 0, SP_COLUMN_START, 0, 3, values, &error), SP_OK);
    CHECK(values[0] == 10 && values[1] == 20 && values[2] == 40);
    CHECK_INT(sp_spt_reader.read_calls(reader, 0, SP_COLUMN_DURATION, 1, 2, values, &error), SP_OK);
    CHECK(values[0] == 13 && values[1] == 15);
    CHECK_INT(sp_spt_reader.read_calls(reader, 0, SP_COLUMN_CALL_ID, 0, 1, values, &error),
              SP_ERR_NOT_FOUND);
    CHECK_INT(sp_spt_reader.read_calls(reader, 0, SP_COLUMN_START, 1, 3, values, &error),
              SP_ERR_INVALID_ARGUMENT);
    CHECK_INT(sp_spt_reader.read_calls(reader, 1, SP_COLUMN_START, 0, 0, values, &error),
              SP_ERR_INVALID_ARGUMENT);
    sp_spt_reader.close(reader);
}

/* Appends a number of `size` bytes in the given order. */
static size_t put(unsigned char *out, size_t at, int64_t value, size_t size, bool is_big)
{
    for (size_t i = 0; i < size; i++)
        out[at + (is_big ? size - 1 - i : i)] = (unsigned char)((uint64_t)value >> 8 * i);
    return at + size;
}

static void save_version(int version, bool is_big)
{
    static const int64_t times[] = {10, 20, 40, 15, 33, 55};
    unsigned char bytes[256] = "SCOPEPRF";
    size_t at = put(bytes, put(bytes, put(bytes, 8, version, 4, is_big), 0, 4, is_big), 1, 8, is_big);
    at = put(bytes, at, 5, 4, is_big);
    memcpy(bytes + at, "solve", 5);
    at += 5;
    if (version == 2) {
        at = put(bytes, at, 8, 4, is_big);
        memcpy(bytes + at, "solver.c", 8);
        at = put(bytes, at + 8, 7, 4, is_big);
    }
    at = put(bytes, at, 3, 8, is_big);
    for (size_t i = 0; i < 6; i++)
        at = put(bytes, at, times[i], 8, is_big);
    save(bytes, at);
}

static void reads_both_versions_and_byte_orders(void)
{
    for (int big = 0; big < 2; big++) {
        save_version(1, big);
        check_example("", -1);
        save_version(2, big);
        check_example("solver.c", 7);
    }
}

static int open_status(void)
{
    sp_store_reader *reader = NULL;
    int status = sp_spt_reader.open(path, &reader, &error);
    if (status == SP_OK)
        sp_spt_reader.close(reader);
    return status;
}

static void notices_every_cut_and_every_extra_byte(void)
{
    unsigned char longer[sizeof example + 2] = {0};
    for (size_t size = 0; size < sizeof example; size++) {
        save(example, size);
        CHECK_INT(open_status(), SP_ERR_DAMAGED);
        CHECK_CONTAINS(error.text, size < SP_SPT_HEADER_BYTES ? "too short" : "truncated trace file");
        CHECK_CONTAINS(error.text, path);
    }
    memcpy(longer, example, sizeof example);
    save(longer, sizeof longer);
    CHECK_INT(open_status(), SP_ERR_DAMAGED);
    CHECK_CONTAINS(error.text, "2 trailing byte(s)");
}

static void checks_every_claim(void)
{
    static const unsigned char minus[8] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    static const unsigned char huge[8] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f};
    static const size_t places[] = {REGIONS_AT, CALLS_AT};
    for (size_t i = 0; i < 2; i++) {
        save_changed(places[i], minus, 8);
        CHECK_INT(open_status(), SP_ERR_DAMAGED);
        CHECK_CONTAINS(error.text, "truncated trace file");
        save_changed(places[i], huge, 8);
        CHECK_INT(open_status(), SP_ERR_DAMAGED);
        CHECK_CONTAINS(error.text, "truncated trace file");
    }
    save_changed(NAME_AT - 4, minus, 4);
    CHECK_INT(open_status(), SP_ERR_DAMAGED);
    save_changed(NAME_AT - 4, huge + 4, 4);
    CHECK_INT(open_status(), SP_ERR_DAMAGED);
    save_changed(RANK_AT, minus, 4);
    CHECK_INT(open_status(), SP_ERR_DAMAGED);
    CHECK_CONTAINS(error.text, "rank -1");
    save_changed(NAME_AT, "", 1);
    CHECK_INT(open_status(), SP_ERR_DAMAGED);
    CHECK_CONTAINS(error.text, "zero byte");
    save_changed(LINE_AT, minus, 4);
    check_example("solver.c", -1);
}

static void names_what_is_wrong_with_foreign_files(void)
{
    save_changed(0, "scopeprf", 8);
    CHECK_INT(open_status(), SP_ERR_NOT_A_PROFILE);
    CHECK_CONTAINS(error.text, "not a scope-profiler Fortran trace");
    save_changed(8, "\x09", 1);
    CHECK_INT(open_status(), SP_ERR_SCHEMA);
    CHECK_CONTAINS(error.text, "unsupported trace format version 9");
    unlink(path);
    CHECK_INT(open_status(), SP_ERR_NOT_FOUND);
}

static void refuses_a_region_that_appears_twice(void)
{
    unsigned char twice[2 * sizeof example];
    size_t region = sizeof example - SP_SPT_HEADER_BYTES;
    memcpy(twice, example, sizeof example);
    memcpy(twice + sizeof example, example + SP_SPT_HEADER_BYTES, region);
    twice[REGIONS_AT] = 2;
    save(twice, sizeof example + region);
    CHECK_INT(open_status(), SP_ERR_DAMAGED);
    CHECK_CONTAINS(error.text, "'solve' appears twice");
}

static void reads_wrong_utf8_as_replacement_characters(void)
{
    sp_store_reader *reader = NULL;
    save_changed(NAME_AT + 1, "\xff", 1);
    if (!CHECK_INT(sp_spt_reader.open(path, &reader, &error), SP_OK))
        return;
    CHECK_TEXT(sp_spt_reader.describe(reader)->rows[0].region, "s\xEF\xBF\xBDlve");
    sp_spt_reader.close(reader);
}

int main(void)
{
    RUN(writes_the_example_byte_for_byte);
    RUN(writes_pieces_of_any_size);
    RUN(refuses_what_has_no_place);
    RUN(keeps_the_old_file_until_all_is_there);
    RUN(writes_a_run_without_calls);
    RUN(reads_both_versions_and_byte_orders);
    RUN(notices_every_cut_and_every_extra_byte);
    RUN(checks_every_claim);
    RUN(names_what_is_wrong_with_foreign_files);
    RUN(refuses_a_region_that_appears_twice);
    RUN(reads_wrong_utf8_as_replacement_characters);
    unlink(path);
    return check_result();
}
