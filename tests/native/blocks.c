/* Blocks: SP_SCOPE ends however its block is left, SP_SCOPE_BEGIN and END pair up, and a place that
 * was reached too early or in an earlier recording comes alive with the next one. */
#include <scope_profiler.h>
#include <stdio.h>

#if !SP_HAS_SCOPE
#error "this compiler has the cleanup attribute"
#endif

static int leaf(int way)
{
    SP_SCOPE("leaf");
    if (way == 0)
        return 1;
    for (int i = 0; i < 2; i++) {
        SP_SCOPE("loop");
        if (way == 1)
            break;
        if (way == 2)
            continue;
        goto out;
    }
    return 2;
out:
    return 3;
}

static void pair(int leaves_early)
{
    SP_SCOPE_BEGIN(whole, "whole");
    SP_SCOPE_BEGIN(part, "part");
    SP_SCOPE_END(part);
    if (leaves_early) {
        SP_SCOPE_END(whole);
        return;
    }
    SP_SCOPE_END(whole);
}

static void all(void)
{
    SP_SCOPE("all");
    for (int way = 0; way < 4; way++)
        leaf(way);
    pair(0);
    pair(1);
}

/* Ends belong to the recording that their begin belongs to. */
static void across_recordings(void)
{
    SP_SCOPE("across");
    sp_finalize(); /* says that "across" is open */
    sp_init("second", 0);
    sp_begin(sp_region("across"));
    {
        SP_SCOPE("inside");
    }
    sp_end(sp_region("across"));
}

int main(void)
{
    all(); /* nothing records yet */
    sp_set_output_format(SP_OUTPUT_TRACE);
    sp_init("first", 0);
    all();
    across_recordings();
    sp_set_output_format(SP_OUTPUT_TRACE);
    all();
    if (sp_finalize() != SP_OK)
        printf("%s\n", sp_last_error());
    return 0;
}
