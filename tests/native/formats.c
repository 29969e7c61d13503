/* Kinds of files: chosen before the start, during the recording, per profiler; and what they are
 * called. */
#include <scope_profiler.h>
#include <stdio.h>
#include <string.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            printf("line %d: %s\n", __LINE__, #condition);                                         \
    } while (0)

static int ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), wanted = strlen(end);
    return length >= wanted && strcmp(text + length - wanted, end) == 0;
}

static void call(const char *name)
{
    int region = sp_region(name);
    sp_begin(region);
    sp_end(region);
}

static void chosen_before(void)
{
    CHECK(sp_set_output_format(SP_OUTPUT_TRACE) == SP_OK);
    CHECK(sp_current_output_format() == SP_OUTPUT_TRACE);
    CHECK(sp_init("before", 0) == SP_OK);
    CHECK(ends_with(sp_output_path(), "/before_rank00000.spt"));
    call("a");
    CHECK(sp_finalize() == SP_OK);
}

static void chosen_during(void)
{
    CHECK(sp_init("during.h5", 12) == SP_OK);
    CHECK(sp_current_output_format() == sp_default_output_format());
    call("b");
    CHECK(sp_set_output_format(SP_OUTPUT_TRACE) == SP_OK);
    CHECK(ends_with(sp_output_path(), "/during.h5_rank00012.spt"));
    CHECK(sp_set_output_format((sp_output_format)7) == SP_ERR_INVALID_ARGUMENT);
    if (sp_hdf5_available()) {
        CHECK(sp_set_output_format(SP_OUTPUT_HDF5) == SP_OK);
        CHECK(ends_with(sp_output_path(), "/during.h5_rank00012.h5"));
        CHECK(sp_set_output_format(SP_OUTPUT_TRACE) == SP_OK);
    } else {
        CHECK(sp_set_output_format(SP_OUTPUT_HDF5) == SP_ERR_UNSUPPORTED);
        CHECK(strstr(sp_profiler_last_error(sp_default_profiler()), "HDF5") != NULL);
        CHECK(sp_default_output_format() == SP_OUTPUT_TRACE);
    }
    CHECK(sp_finalize() == SP_OK);
}

static void chosen_for_one_profiler(void)
{
    sp_profiler *own = sp_create("own", 1);
    CHECK(sp_profiler_set_output_format(own, SP_OUTPUT_TRACE) == SP_OK);
    CHECK(sp_profiler_output_format(own) == SP_OUTPUT_TRACE);
    int region = SP_PROFILER_REGION_AT(own, "c");
    CHECK(sp_profiler_begin(own, region) == SP_OK && sp_profiler_end(own, region) == SP_OK);
    CHECK(sp_profiler_finalize(own) == SP_OK);
    CHECK(sp_profiler_set_output_format(own, SP_OUTPUT_TRACE) == SP_ERR_INACTIVE);
    sp_destroy(own);
}

static void totals_are_no_trace(void)
{
    CHECK(sp_set_aggregation(1) == SP_OK);
    if (sp_init("totals", 0) != SP_OK)
        return; /* without HDF5 */
    CHECK(sp_set_output_format(SP_OUTPUT_TRACE) == SP_ERR_UNSUPPORTED);
    CHECK(sp_set_aggregation(0) == SP_ERR_INVALID_ARGUMENT);
    CHECK(sp_set_aggregation(1) == SP_OK);
    CHECK(sp_finalize() == SP_OK); /* nothing was recorded, the file is there all the same */
    CHECK(remove("totals_rank00000.h5") == 0);
}

int main(void)
{
    chosen_before();
    chosen_during();
    chosen_for_one_profiler();
    totals_are_no_trace();
    return 0;
}
