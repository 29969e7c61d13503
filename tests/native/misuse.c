/* What instrumented codes do wrong: none of it may crash, count wrongly or flood standard error. */
#include <scope_profiler.h>
#include <stdio.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            printf("line %d: %s\n", __LINE__, #condition);                                         \
    } while (0)

static void before_the_start(void)
{
    int early = sp_region("early");
    CHECK(early == SP_INVALID_REGION);
    CHECK(!sp_is_active());
    sp_begin(early);
    sp_end(early);
    sp_end(12345);
    sp_begin(-7);
    sp_end(2147483647);
}

static void first_run(void)
{
    CHECK(sp_init("misuse", 0) == SP_OK);
    CHECK(sp_set_output_format(SP_OUTPUT_TRACE) == SP_OK);
    int a = sp_region("a"), b = sp_region("b");
    CHECK(sp_region("") == SP_INVALID_REGION && sp_region(NULL) == SP_INVALID_REGION);
    for (int i = 0; i < 100000; i++) {
        sp_end(a); /* never begun */
        sp_begin(SP_INVALID_REGION);
        sp_end(SP_INVALID_REGION);
        sp_end(999999);
    }
    sp_begin(a);
    sp_end(a);
    sp_begin(a);
    sp_begin(b);
    sp_end(a); /* the two cross */
    sp_end(b);
    sp_begin(b); /* left open */
    CHECK(sp_finalize() == SP_ERR_OPEN_SCOPES);
    CHECK(!sp_is_active());
    CHECK(sp_num_calls(a) == 2 && sp_num_calls(b) == 2);
    sp_begin(a); /* after the end */
    sp_end(a);
    CHECK(sp_num_calls(a) == 2);
    CHECK(sp_finalize() == SP_ERR_INACTIVE); /* must not empty the file */
}

static void second_run(void)
{
    CHECK(sp_init("misuse-again", 3) == SP_OK);
    CHECK(sp_init("ignored", 0) == SP_OK); /* joins */
    sp_set_output_format(SP_OUTPUT_TRACE);
    int c = sp_region("c");
    sp_begin(c);
    sp_end(c);
    CHECK(sp_finalize() == SP_OK && sp_is_active()); /* leaves */
    CHECK(sp_finalize() == SP_OK && !sp_is_active());
    CHECK(sp_num_calls(c) == 1);
    CHECK(sp_init("negative", -1) == SP_ERR_INVALID_ARGUMENT);
}

int main(void)
{
    before_the_start();
    first_run();
    second_run();
    return 0;
}
