/* The default profiler through the public functions, with its file. */
#include "session_case.h"

static void before_init(void)
{
    CHECK_INT(sp_region("early"), SP_INVALID_REGION);
    sp_begin(SP_INVALID_REGION);
    sp_end(SP_INVALID_REGION);
    sp_begin(0);
    sp_end(0);
    sp_end(INT32_MAX);
    sp_begin(-7);
    CHECK(!sp_is_active());
    CHECK_INT(sp_num_calls(0), 0);
    CHECK_INT(sp_num_calls(-1), 0);
    CHECK_INT(sp_finalize(), SP_ERR_INACTIVE);
    CHECK_TEXT(sp_output_path(), "");
    CHECK(sp_default_profiler() == NULL);
    CHECK_INT(sp_init("x", -1), SP_ERR_INVALID_ARGUMENT);
    CHECK_INT(sp_init("", 0), SP_ERR_INVALID_ARGUMENT);
    CHECK(!sp_is_active());
}

static void whole_run(void)
{
    CHECK_INT(sp_init("out/run", 3), SP_OK);
    CHECK(sp_is_active());
    CHECK(sp_default_profiler() != NULL);
    CHECK_CONTAINS(sp_output_path(), "/out/run_rank00003.h5");
    CHECK_INT(sp_output_path()[0], '/');
    CHECK_INT(chdir("/"), 0); /* the path was settled at sp_init */
    int a = SP_REGION_AT("assemble"), b = sp_region("solve");
    CHECK_INT(sp_region("assemble"), a);
    CHECK_INT(sp_region(""), SP_INVALID_REGION);
    CHECK_INT(sp_region(NULL), SP_INVALID_REGION);
    int64_t before = sp_now_ns();
    for (int i = 0; i < 3; i++) {
        sp_begin(a);
        sp_begin(b);
        sp_end(b);
        sp_end(a);
    }
    int64_t after = sp_now_ns();
    CHECK_INT(sp_num_calls(a), 3);
    CHECK_INT(sp_num_calls(12345), 0);
    CHECK_INT(sp_finalize(), SP_OK);
    CHECK_INT(chdir(case_folder), 0);
    CHECK(!sp_is_active());
    sp_begin(a);
    sp_end(a);
    CHECK_INT(sp_num_calls(a), 3);
    CHECK_INT(sp_finalize(), SP_ERR_INACTIVE);

    case_run run = case_open("out/run_rank00003.h5", NULL);
    if (!CHECK(run.description != NULL))
        return;
    CHECK_INT(case_calls(&run, "assemble"), 3);
    CHECK_INT(case_calls(&run, "solve"), 3);
    const sp_row *row = case_row(&run, "assemble", NULL);
    CHECK_TEXT(row->source_file, "test_default.c");
    CHECK(row->source_line > 0);
    CHECK_INT(row->rank, 3);
    for (uint64_t i = 0; i < 3; i++) {
        int64_t start = case_value(&run, "assemble", SP_COLUMN_START, i);
        int64_t end = start + case_value(&run, "assemble", SP_COLUMN_DURATION, i);
        CHECK(start >= before && end <= after);
        CHECK_INT(case_value(&run, "solve", SP_COLUMN_PARENT_ID, i),
                  case_value(&run, "assemble", SP_COLUMN_CALL_ID, i));
        CHECK(case_value(&run, "solve", SP_COLUMN_START, i) >= start);
    }
    CHECK_TEXT(case_metadata(&run, "source")->text, "native");
    CHECK_TEXT(case_metadata(&run, "source_language")->text, "c");
    CHECK_TEXT(case_metadata(&run, "label")->text, "run");
    CHECK_INT(case_metadata(&run, "mpi_rank")->integer, 3);
    CHECK(case_metadata(&run, "start_time_ns")->integer <= before);
    CHECK(case_metadata(&run, "finalize_time_ns")->integer >= after);
    CHECK_INT(strlen(case_metadata(&run, "timestamp")->text), 32);
    CHECK(case_metadata(&run, "user") == NULL && case_metadata(&run, "hostname") == NULL);
    CHECK(!(run.description->columns & SP_COLUMN_BIT(SP_COLUMN_THREAD_ID)));
    case_close(&run);
}

/* No folder of the machine anywhere in the bytes. */
static void file_tells_no_paths(void)
{
    static char bytes[200000];
    FILE *file = fopen("out/run_rank00003.h5", "rb");
    if (!CHECK(file != NULL))
        return;
    size_t length = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    CHECK(memmem(bytes, length, case_folder, strlen(case_folder)) == NULL);
    char host[256];
    gethostname(host, sizeof host);
    if (strlen(host) > 5)
        CHECK(memmem(bytes, length, host, strlen(host)) == NULL);
}

static void joins(void)
{
    CHECK_INT(sp_init("first", 0), SP_OK);
    CHECK_INT(sp_init("second", 1), SP_OK);
    CHECK_CONTAINS(sp_output_path(), "/first_rank00000.h5");
    int a = sp_region("a");
    CHECK_INT(sp_num_calls(a), 0); /* of this run */
    sp_begin(a);
    sp_end(a);
    CHECK_INT(sp_finalize(), SP_OK);
    CHECK(sp_is_active());
    CHECK(!case_exists("first_rank00000.h5"));
    CHECK_INT(sp_finalize(), SP_OK);
    CHECK(!sp_is_active());
    CHECK(case_exists("first_rank00000.h5"));
    CHECK(!case_exists("second_rank00001.h5"));
}

static void misuse_is_told_once(void)
{
    case_catch_stderr();
    CHECK_INT(sp_init("misuse", 0), SP_OK);
    int a = sp_region("a"), b = sp_region("b");
    for (int i = 0; i < 1000; i++) {
        sp_end(a);
        sp_end(999999);
        sp_begin(-1);
    }
    sp_begin(a);
    sp_end(a);
    sp_begin(b);
    sp_begin(b);
    sp_end(b);
    int status = sp_finalize();
    const char *printed = case_printed();
    CHECK_INT(status, SP_ERR_OPEN_SCOPES);
    CHECK_INT(case_count(printed, "\n"), 2);
    CHECK_CONTAINS(printed, "sp_end('a') without a matching sp_begin");
    CHECK_CONTAINS(printed, "region 'b' still open at sp_finalize (depth 1)");
    CHECK(!sp_is_active());
    case_run run = case_open("misuse_rank00000.h5", NULL);
    CHECK_INT(case_calls(&run, "a"), 1);
    CHECK_INT(case_calls(&run, "b"), 1);
    CHECK_INT(case_value(&run, "b", SP_COLUMN_PARENT_ID, 0), -1);
    case_close(&run);
}

static void nothing_is_lost_when_it_cannot_be_written(void)
{
    FILE *file = fopen("blocked", "w"); /* where a folder is needed */
    fclose(file);
    CHECK_INT(sp_init("blocked/run", 0), SP_OK);
    int a = sp_region("a");
    sp_begin(a);
    sp_end(a);
    case_catch_stderr();
    int status = sp_finalize();
    CHECK_CONTAINS(case_printed(), "blocked");
    CHECK_INT(status, SP_ERR_IO);
    CHECK_CONTAINS(sp_profiler_last_error(sp_default_profiler()), "blocked");
    CHECK(sp_is_active());
    sp_begin(a);
    sp_end(a);
    CHECK_INT(unlink("blocked"), 0);
    CHECK_INT(sp_finalize(), SP_OK);
    case_run run = case_open("blocked/run_rank00000.h5", NULL);
    CHECK_INT(case_calls(&run, "a"), 2);
    case_close(&run);
}

static void formats(void)
{
    CHECK_INT(sp_default_output_format(), SP_OUTPUT_HDF5);
    CHECK_INT(sp_current_output_format(), SP_OUTPUT_HDF5);
    CHECK_INT(sp_set_output_format(SP_OUTPUT_HDF5), SP_OK);
    CHECK_INT(sp_set_output_format((sp_output_format)7), SP_ERR_INVALID_ARGUMENT);
    CHECK_INT(sp_current_output_format(), SP_OUTPUT_HDF5);
    CHECK_TEXT(sp_error_string(SP_ERR_UNSUPPORTED), "output format not available in this build");
    CHECK_TEXT(sp_error_string(99), "unknown status");
}

static void default_prefix(void)
{
    CHECK_INT(sp_init(NULL, 0), SP_OK);
    CHECK_INT(sp_finalize(), SP_OK);
    CHECK(case_exists("scope_profile_rank00000.h5"));
}

int main(void)
{
    if (!sp_hdf5_available())
        return 0; /* built without it: tests of the binding cover the rest */
    case_enter_folder();
    RUN(before_init);
    RUN(whole_run);
    RUN(file_tells_no_paths);
    RUN(joins);
    RUN(misuse_is_told_once);
    RUN(nothing_is_lost_when_it_cannot_be_written);
    RUN(formats);
    RUN(default_prefix);
    case_leave_folder();
    return check_result();
}
