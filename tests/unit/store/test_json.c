/* JSON profiles as the store reads them: rows, columns, odd values, wrong forms. */
#include "check.h"

#include "store/json/json_store.h"

#include <stdlib.h>
#include <unistd.h>

static char path[64];

static sp_store_reader *open_text(const char *text, int *out_status, sp_error *error)
{
    sp_store_reader *reader = NULL;
    snprintf(path, sizeof path, "test_json.%ld.json", (long)getpid());
    FILE *file = fopen(path, "wb");
    if (!CHECK(file != NULL && fwrite(text, 1, strlen(text), file) == strlen(text)))
        exit(1);
    fclose(file);
    *out_status = sp_json_store.open(path, &reader, error);
    unlink(path);
    return *out_status == SP_OK ? reader : NULL;
}

static sp_store_reader *open_fine(const char *text)
{
    int status;
    sp_error error = {0};
    sp_store_reader *reader = open_text(text, &status, &error);
    if (!CHECK_INT(status, SP_OK))
        fprintf(stderr, "%s\n", error.text);
    return reader;
}

#define HEAD "{\"format\": \"scope-profiler-profile\", \"format_version\": 1, "

static void reads_rows(void)
{
    sp_store_reader *reader = open_fine(
        HEAD "\"num_ranks\": 4, \"regions\": ["
        "{\"rank\": 3, \"end_times_ns\": [9007199254740994, 30], \"name\": \"a\\u00e9\", "
        "\"start_times_ns\": [9007199254740993, 10.0], \"call_ids\": [7, 8], \"tags\": [\"x\",\"y\"], "
        "\"event_metadata\": [{}, {\"n\":1}], \"source_file\": \"s.py\", \"source_lineno\": 5, "
        "\"exclusive_total_ns\": 11, \"unknown\": [{}]},"
        "{\"name\": \"b\", \"rank\": 0, \"start_times_ns\": [], \"end_times_ns\": []}]}");
    const sp_store_description *run = sp_json_store.describe(reader);
    CHECK_INT(run->num_ranks, 4);
    CHECK_INT(run->num_rows, 2);
    CHECK_INT(run->num_calls, 2);
    CHECK_TEXT(run->region_names[0], "a\xc3\xa9");
    const sp_row *row = &run->rows[0];
    CHECK_INT(row->rank, 3);
    CHECK_INT(row->count, 2);
    CHECK_TEXT(row->tags_json, "[\"x\", \"y\"]");
    CHECK_TEXT(row->event_metadata_json, "[{}, {\"n\": 1}]");
    CHECK_TEXT(row->source_file, "s.py");
    CHECK_INT(row->source_line, 5);
    CHECK_INT(row->exclusive_total, 11);
    CHECK_INT(run->row_columns[0], SP_COLUMN_BIT(SP_COLUMN_START) | SP_COLUMN_BIT(SP_COLUMN_DURATION) |
                                       SP_COLUMN_BIT(SP_COLUMN_CALL_ID));
    int64_t values[2];
    CHECK_INT(sp_json_store.read_calls(reader, 0, SP_COLUMN_START, 0, 2, values, NULL), SP_OK);
    CHECK(values[0] == INT64_C(9007199254740993) && values[1] == 10);
    CHECK_INT(sp_json_store.read_calls(reader, 0, SP_COLUMN_DURATION, 1, 1, values, NULL), SP_OK);
    CHECK_INT(values[0], 20);
    CHECK_INT(sp_json_store.read_calls(reader, 0, SP_COLUMN_AWAIT, 0, 2, values, NULL),
              SP_ERR_NOT_FOUND);
    CHECK_INT(sp_json_store.read_calls(reader, 0, SP_COLUMN_START, 1, 2, values, NULL),
              SP_ERR_INVALID_ARGUMENT);
    CHECK_INT(sp_json_store.borrow_calls(reader, 0, SP_COLUMN_CALL_ID)[1], 8);
    sp_json_store.close(reader);
}

static void reads_totals(void)
{
    sp_store_reader *reader = open_fine(
        HEAD "\"event_data_available\": false, \"regions\": ["
        "{\"name\": \"a\", \"rank\": 0, \"aggregate\": {\"count\": 3, \"total\": 60, \"minimum\": 10, "
        "\"maximum\": 30, \"first\": 20, \"last\": 30, \"start_minimum\": 5, \"end_maximum\": 99, "
        "\"exclusive\": 40, \"gpu_count\": 1, \"gpu_total\": 4, \"mean\": 20, \"m2\": 200.5}}]}");
    const sp_row *row = &sp_json_store.describe(reader)->rows[0];
    CHECK(row->has_statistics && !row->has_aggregate);
    CHECK_INT(row->count, 3);
    CHECK_INT(row->exclusive_total, 40);
    CHECK_INT(row->statistics.last, 30);
    CHECK_REAL(row->statistics.m2, 200.5, 0);
    sp_json_store.close(reader);
    reader = open_fine(HEAD "\"regions\": [{\"name\": \"a\", \"rank\": 0, \"aggregate\": "
                            "{\"count\": 3, \"total\": 60, \"minimum\": 10, \"maximum\": 30, "
                            "\"exclusive\": 40}}]}");
    row = &sp_json_store.describe(reader)->rows[0];
    CHECK(row->has_aggregate && !row->has_statistics);
    CHECK_INT(row->aggregate.total, 60);
    CHECK(sp_json_store.describe(reader)->is_aggregate);
    sp_json_store.close(reader);
}

static void keeps_odd_metadata_aside(void)
{
    sp_store_reader *reader = open_fine(
        HEAD "\"metadata\": {\"i\": 7, \"r\": 2.0, \"t\": \"x\", \"l\": [\"a\", \"b\"], \"none\": null, "
             "\"yes\": true, \"deep\": {\"k\": [1]}, \"big\": 123456789012345678901, \"e\": []}, "
             "\"regions\": [], \"likwid\": {\"0\": {}}}");
    const sp_store_description *run = sp_json_store.describe(reader);
    CHECK_INT(run->num_metadata, 9);
    CHECK_INT(run->metadata[0].kind, SP_VALUE_INTEGER);
    CHECK_INT(run->metadata[1].kind, SP_VALUE_REAL);
    CHECK_INT(run->metadata[3].kind, SP_VALUE_TEXT_LIST);
    CHECK_INT(run->metadata[3].list_length, 2);
    CHECK(run->metadata[4].kind == SP_VALUE_REAL && isnan(run->metadata[4].real));
    CHECK_INT(run->metadata[5].integer, 1);
    CHECK_TEXT(run->metadata[6].text, "{\"k\": [1]}");
    CHECK_TEXT(run->metadata[7].text, "123456789012345678901");
    CHECK_INT(run->metadata[8].list_length, 0);
    CHECK_INT(run->num_extras, 2);
    CHECK_TEXT(run->extras[0].name, "json_metadata");
    CHECK_TEXT(run->extras[0].texts[0],
               "{\"yes\": true, \"deep\": {\"k\": [1]}, \"big\": 123456789012345678901}");
    CHECK_TEXT(run->extras[1].texts[0], "{\"0\": {}}");
    sp_json_store.close(reader);
}

static void reads_lanes(void)
{
    sp_store_reader *reader = open_fine(
        HEAD "\"regions\": [], \"threads\": {\"2\": [{\"index\": 0, \"name\": \"Main\", \"ident\": 5, "
             "\"native_id\": 6, \"daemon\": true, \"start_ns\": 0, \"end_ns\": -1, \"cpu_ns\": 9}]}, "
             "\"tasks\": {\"2\": [{\"index\": 1, \"kind\": \"task\", \"name\": \"T\", "
             "\"coro_name\": \"m.c\", \"thread_index\": 0, \"created_ns\": 1, \"done_ns\": 2, "
             "\"steps\": 3, \"running_ns\": 4, \"suspended_ns\": 5}]}}");
    const sp_store_description *run = sp_json_store.describe(reader);
    CHECK_INT(run->num_threads, 1);
    CHECK_INT(run->threads[0].rank, 2);
    CHECK_TEXT(run->threads[0].name, "Main");
    CHECK(run->threads[0].is_daemon && run->threads[0].cpu_ns == 9);
    CHECK_INT(run->num_tasks, 1);
    CHECK_TEXT(run->tasks[0].coroutine_name, "m.c");
    CHECK_INT(run->tasks[0].suspended_ns, 5);
    sp_json_store.close(reader);
}

static void refuses_what_is_no_profile(void)
{
    static const struct {
        const char *text;
        int status;
        const char *says;
    } cases[] = {
        {"{}", SP_ERR_NOT_A_PROFILE, "is not a scope-profiler JSON profile"},
        {"{\"format\": \"other\"}", SP_ERR_NOT_A_PROFILE, "is not a scope-profiler JSON profile"},
        {"{\"format\"", SP_ERR_NOT_A_PROFILE, "it ends early at byte 9"},
        {HEAD "\"regions\": [1]}", SP_ERR_NOT_A_PROFILE, "regions holds something else than objects"},
        {HEAD "\"regions\": [{\"rank\": 0}]}", SP_ERR_NOT_A_PROFILE, "a region has no name"},
        {HEAD "\"regions\": [{\"name\": \"a\\u0000b\", \"rank\": 0}]}", SP_ERR_NOT_A_PROFILE, "a NUL"},
        {HEAD "\"regions\": [{\"name\": \"a\", \"rank\": -1}]}", SP_ERR_NOT_A_PROFILE, "has no rank"},
        {HEAD "\"regions\": [{\"name\": \"a\", \"rank\": 0, \"start_times_ns\": [1], "
              "\"end_times_ns\": [1, 2]}]}",
         SP_ERR_NOT_A_PROFILE, "region 'a' on rank 0 has 1 starts, but 2 values of end_times_ns"},
        {HEAD "\"regions\": [{\"name\": \"a\", \"rank\": 0, \"start_times_ns\": [1.5]}]}",
         SP_ERR_NOT_A_PROFILE, "start_times_ns is not a whole number"},
        {HEAD "\"regions\": [{\"name\": \"a\", \"rank\": 0, \"start_times_ns\": [99999999999999999999]}]}",
         SP_ERR_NOT_A_PROFILE, "not a whole number of 64 bits"},
        {HEAD "\"regions\": [{\"name\": \"a\", \"rank\": 0}, {\"name\": \"a\", \"rank\": 0}]}",
         SP_ERR_NOT_A_PROFILE, "region 'a' is there twice for rank 0"},
        {"{\"format\": \"scope-profiler-profile\", \"format_version\": 7, \"regions\": 5}",
         SP_ERR_SCHEMA, "format version 7"},
        {"{\"format\": \"scope-profiler-profile\", \"format_version\": 7}", SP_ERR_SCHEMA,
         "Upgrade scope-profiler"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sp_error error = {0};
        int status;
        CHECK(open_text(cases[i].text, &status, &error) == NULL);
        CHECK_INT(status, cases[i].status);
        CHECK_CONTAINS(error.text, cases[i].says);
        CHECK_CONTAINS(error.text, path);
    }
}

int main(void)
{
    RUN(reads_rows);
    RUN(reads_totals);
    RUN(keeps_odd_metadata_aside);
    RUN(reads_lanes);
    RUN(refuses_what_is_no_profile);
    return check_result();
}
