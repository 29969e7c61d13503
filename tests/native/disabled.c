/* Compiled with SP_DISABLE_PROFILING and linked to nothing: every name is there, nothing is left. */
#include <scope_profiler.h>
#include <stdio.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            printf("line %d: %s\n", __LINE__, #condition), failed = 1;                             \
    } while (0)

static int failed;

static int block(void)
{
    SP_SCOPE("block");
    SP_SCOPE_BEGIN(label, "pair");
    SP_SCOPE_END(label);
    return 1;
}

static void default_profiler(void)
{
    sp_region_stats stats;
    CHECK(sp_init("off", 0) == SP_OK && !sp_is_active());
    int region = sp_region("a"), tagged = sp_region_tagged("b", "t"), at = SP_REGION_AT("c");
    CHECK(region == SP_INVALID_REGION && tagged == SP_INVALID_REGION && at == SP_INVALID_REGION);
    sp_begin(region);
    sp_call call = sp_call_begin(region);
    sp_call_end(&call);
    sp_metadata_int("n", 1);
    sp_metadata_double("x", 1.0);
    sp_metadata_string("s", "t");
    sp_end(region);
    sp_pause();
    sp_resume();
    CHECK(block() == 1 && sp_num_calls(region) == 0);
    CHECK(sp_get_region_stats(region, &stats) != SP_OK);
    CHECK(sp_set_output_format(SP_OUTPUT_TRACE) == SP_OK && sp_set_aggregation(1) == SP_OK);
    CHECK(sp_enable_tags("*") == SP_OK && sp_register_opt_in_tag("t") == SP_OK);
    CHECK(sp_flush() == SP_OK && sp_reset() == SP_OK && sp_finalize() == SP_OK);
    CHECK(sp_default_profiler() == NULL && sp_output_path()[0] == '\0');
}

static void own_profiler(void)
{
    sp_profiler *own = sp_create("own", 0);
    CHECK(own != NULL);
    int region = sp_profiler_region(own, "a");
    CHECK(sp_profiler_begin(own, region) == SP_OK && sp_profiler_end(own, region) == SP_OK);
    CHECK(sp_scope_end(sp_profiler_scope_begin(own, region)) == SP_OK);
    CHECK(sp_profiler_finalize(own) == SP_OK);
    sp_destroy(own);
}

int main(void)
{
    default_profiler();
    own_profiler();
    return failed;
}
