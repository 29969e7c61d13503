/* What a region and a call can carry, and the questions a program can ask while it runs. */
#include <math.h>
#include <scope_profiler.h>
#include <stdio.h>
#include <string.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            printf("line %d: %s\n", __LINE__, #condition);                                         \
    } while (0)

static void tags(void)
{
    int solve = sp_region_tagged("solve", "numerics, hot path"), io = sp_region_tagged("io", "io");
    CHECK(sp_register_opt_in_tag("debug") == SP_OK);
    CHECK(sp_register_opt_in_tag("") == SP_ERR_INVALID_ARGUMENT);
    int debug = sp_region_tagged("inner", "numerics,debug"), plain = sp_region_tagged("plain", NULL);
    for (int i = 0; i < 2; i++) {
        sp_begin(solve);
        sp_begin(debug); /* off */
        sp_end(debug);
        sp_begin(io);
        sp_end(io);
        sp_end(solve);
    }
    CHECK(sp_num_calls(debug) == 0 && sp_num_calls(solve) == 2);
    CHECK(sp_enable_tags(" debug ") == SP_OK && sp_enable_tags(NULL) == SP_ERR_INVALID_ARGUMENT);
    sp_begin(debug);
    sp_end(debug);
    CHECK(sp_register_opt_in_tag("io") == SP_OK); /* regions that exist go off */
    sp_begin(io);
    sp_end(io);
    CHECK(sp_num_calls(debug) == 1 && sp_num_calls(io) == 2);
    sp_begin(plain);
    sp_end(plain);
}

static void metadata(void)
{
    int outer = sp_region("outer"), inner = sp_region("inner call");
    CHECK(sp_metadata_int("n", 1) == SP_ERR_UNMATCHED_END);
    for (int i = 0; i < 3; i++) {
        sp_begin(outer);
        CHECK(sp_metadata_int("step", i) == SP_OK);
        sp_begin(inner);
        CHECK(sp_metadata_double("residual", i == 1 ? NAN : 0.5) == SP_OK);
        CHECK(sp_metadata_string("ki\"nd", "\xc3\xbc\n") == SP_OK);
        CHECK(sp_metadata_string("", "x") == SP_ERR_INVALID_ARGUMENT);
        CHECK(sp_metadata_string("x", NULL) == SP_ERR_INVALID_ARGUMENT);
        if (i == 2)
            CHECK(sp_metadata_double("residual", 0.25) == SP_OK); /* in place of 0.5 */
        sp_end(inner);
        if (i == 2)
            CHECK(sp_metadata_int("last", INT64_MAX) == SP_OK); /* of outer again */
        sp_end(outer);
    }
}

static void pauses(void)
{
    int open = sp_region("open"), ignored = sp_region("ignored");
    sp_begin(open);
    sp_pause();
    sp_begin(ignored);
    CHECK(sp_metadata_int("lost", 1) == SP_OK);
    sp_end(ignored);
    sp_end(open);
    sp_begin(open);
    sp_resume();
    sp_end(open); /* its begin was ignored */
    sp_begin(open);
    sp_end(open);
    CHECK(sp_num_calls(open) == 2 && sp_num_calls(ignored) == 0 && sp_is_active());
}

static void questions(void)
{
    int region = sp_region("asked");
    sp_region_stats stats;
    CHECK(sp_get_region_stats(12345, &stats) == SP_ERR_INVALID_ARGUMENT);
    CHECK(sp_get_region_stats(region, NULL) == SP_ERR_INVALID_ARGUMENT);
    CHECK(sp_get_region_stats(region, &stats) == SP_OK && stats.calls == 0 && stats.total_ns == 0);
    int64_t before = sp_now_ns();
    sp_begin(region);
    sp_end(region);
    sp_begin(region);
    sp_end(region);
    int64_t after = sp_now_ns();
    CHECK(sp_get_region_stats(region, &stats) == SP_OK && stats.calls == 2);
    CHECK(stats.min_ns >= 0 && stats.min_ns <= stats.max_ns && stats.max_ns <= after - before);
    CHECK(stats.total_ns == stats.min_ns + stats.max_ns);
    sp_begin(region);
    CHECK(sp_get_region_stats(region, &stats) == SP_OK && stats.calls == 3);
    sp_end(region);
}

int main(void)
{
    CHECK(sp_metadata_int("early", 1) == SP_ERR_INACTIVE && sp_flush() == SP_ERR_INACTIVE);
    CHECK(strcmp(sp_last_error(), "") == 0);
    CHECK(sp_init("details", 0) == SP_OK);
    tags();
    metadata();
    pauses();
    CHECK(sp_flush() == SP_OK);
    CHECK(rename("details_rank00000.h5", "flushed.h5") == 0);
    questions();
    CHECK(sp_finalize() == SP_OK);
    CHECK(sp_init("forgotten", 0) == SP_OK);
    sp_begin(sp_region("gone"));
    sp_end(sp_region("gone"));
    CHECK(sp_reset() == SP_OK);
    sp_begin(sp_region("kept"));
    sp_end(sp_region("kept"));
    CHECK(sp_finalize() == SP_OK);
    return 0;
}
