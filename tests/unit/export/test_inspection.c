/* A run as `inspect` shows it, from a run built by hand. */
#include "check.h"

#include "scope_results.h"

#include <stdlib.h>

#define TEN "0123456789"
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN

static sp_results *make_run(void)
{
    static const char *const modules[] = {"gcc/12", "hdf5\n1"};
    const sp_metadata_entry entries[] = {
        {.key = "flavour", .kind = SP_VALUE_TEXT, .text = "sweet"},
        {.key = "start_time_ns", .kind = SP_VALUE_INTEGER, .integer = 1000000000},
        {.key = "finalize_time_ns", .kind = SP_VALUE_INTEGER, .integer = 4500000000},
        {.key = "label", .kind = SP_VALUE_TEXT, .text = "run \033[1m"},
        {.key = "hostname", .kind = SP_VALUE_TEXT, .text = HUNDRED},
        {.key = "SLURM_JOB_ID", .kind = SP_VALUE_TEXT, .text = "7"},
        {.key = "total_cores", .kind = SP_VALUE_INTEGER, .integer = 8},
        {.key = "mpi_size", .kind = SP_VALUE_INTEGER, .integer = 2},
        {.key = "MODULEPATH", .kind = SP_VALUE_TEXT, .text = "/m"},
        {.key = "scale", .kind = SP_VALUE_REAL, .real = 0.1},
        {.key = "gap", .kind = SP_VALUE_REAL, .real = NAN},
        {.key = "modules", .kind = SP_VALUE_TEXT_LIST, .list = modules, .list_length = 2},
    };
    const int64_t starts[] = {1500000000}, durations[] = {2000000000};
    const int64_t *columns[SP_COLUMN_COUNT] = {starts, durations};
    const sp_row row = {.region = "solve", .count = 1, .source_file = "s.py", .source_line = 3,
                        .source_text = "def solve():\n\treturn\t1\n", .tags_json = "[]",
                        .exclusive_total = -1};
    sp_results *results = NULL;
    CHECK_INT(sp_results_create(&results, NULL), SP_OK);
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        CHECK_INT(sp_results_set_metadata(results, &entries[i], NULL), SP_OK);
    CHECK_INT(sp_results_add_row(results, &row, columns, NULL), SP_OK);
    sp_results_set_num_ranks(results, 2);
    return results;
}

static void lays_out_metadata(void)
{
    sp_results *results = make_run();
    const sp_inspection_options options = {.size = sizeof options, .hide_regions = true};
    char *text = NULL;
    CHECK_INT(sp_results_inspect(results, &options, &text, NULL), SP_OK);
    CHECK_TEXT(text,
               "======================================="
               "=======================================\n"
               "run \\x1b[1m - (in memory)\n"
               "2 rank(s), 1 region(s), 0.00 MiB, 2.000000 s wall clock, "
               "3.500000 s total (setup to finalize)\n"
               "\nRun\n"
               "  label             run \\x1b[1m\n"
               "  start_time_ns     1000000000\n"
               "  finalize_time_ns  4500000000\n"
               "\nSystem\n"
               "  hostname  " TEN TEN TEN TEN TEN TEN TEN TEN TEN "012345 […]\n"
               "\nParallelism\n"
               "  mpi_size     2\n"
               "  total_cores  8\n"
               "\nSlurm\n"
               "  SLURM_JOB_ID  7\n"
               "\nEnvironment\n"
               "  MODULEPATH  /m\n"
               "\nOther\n"
               "  flavour  sweet\n"
               "  scale    0.1\n"
               "  gap      nan\n"
               "\nModules (2)\n"
               "  gcc/12\n"
               "  hdf5\\n1\n");
    free(text);
    sp_results_close(results);
}

static void shows_sources(void)
{
    static const char *const names[] = {"solve", "lost"};
    sp_results *results = make_run();
    const sp_inspection_options options = {.size = sizeof options, .hide_regions = true,
                                           .hide_metadata = true, .sources = names,
                                           .num_sources = 2};
    char *text = NULL;
    CHECK_INT(sp_results_inspect(results, &options, &text, NULL), SP_OK);
    CHECK_CONTAINS(text, "\nSource (2)\n"
                         "  solve  (s.py:3)\n"
                         "    def solve():\n"
                         "        return    1\n"
                         "  lost  no such region; the regions are: solve\n");
    free(text);
    sp_results_close(results);
}

static void forwards_a_bad_pattern(void)
{
    static const char *const patterns[] = {"("};
    sp_results *results = make_run();
    const sp_summary_options summary = {.size = sizeof summary, .include = patterns,
                                        .num_include = 1};
    const sp_inspection_options options = {.size = sizeof options, .summary = &summary};
    char *text = NULL;
    sp_error error = {0};
    CHECK_INT(sp_results_inspect(results, &options, &text, &error), SP_ERR_INVALID_ARGUMENT);
    CHECK(text == NULL);
    CHECK_CONTAINS(error.text, "(");
    sp_results_close(results);
}

static void writes_metadata_as_json(void)
{
    sp_results *results = make_run(), *empty = NULL;
    sp_results *runs[2];
    char *text = NULL;
    CHECK_INT(sp_results_create(&empty, NULL), SP_OK);
    runs[0] = empty;
    runs[1] = results;
    CHECK_INT(sp_results_metadata_json(runs, 2, &text, NULL), SP_OK);
    CHECK_CONTAINS(text, "{\n  \"files\": [\n"
                         "    {\n      \"file_path\": \"\",\n      \"num_ranks\": 0,\n"
                         "      \"metadata\": {}\n    },\n"
                         "    {\n      \"file_path\": \"\",\n      \"num_ranks\": 2,\n"
                         "      \"metadata\": {\n        \"flavour\": \"sweet\",\n");
    CHECK_CONTAINS(text, "        \"label\": \"run \\u001b[1m\",\n");
    CHECK_CONTAINS(text, "        \"hostname\": \"" HUNDRED "\",\n");
    CHECK_CONTAINS(text, "        \"gap\": null,\n"
                         "        \"modules\": [\n          \"gcc/12\",\n          \"hdf5\\n1\"\n"
                         "        ]\n      }\n    }\n  ]\n}\n");
    free(text);
    CHECK_INT(sp_results_metadata_json(NULL, 0, &text, NULL), SP_OK);
    CHECK_TEXT(text, "{\n  \"files\": []\n}\n");
    free(text);
    sp_results_close(empty);
    sp_results_close(results);
}

int main(void)
{
    RUN(lays_out_metadata);
    RUN(shows_sources);
    RUN(forwards_a_bad_pattern);
    RUN(writes_metadata_as_json);
    return check_result();
}
