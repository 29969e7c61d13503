/* Names far longer than any limit, which differ in the last byte alone. */
#include <scope_profiler.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    static char a[5000], b[5000];
    memset(a, 'n', sizeof a - 1);
    memcpy(b, a, sizeof b);
    b[sizeof b - 2] = 'm';
    if (sp_init("long", 0) != SP_OK)
        return 1;
    int region_a = sp_region(a), region_b = sp_region(b), again = sp_region(a);
    if (region_a != again || region_a == region_b)
        puts("wrong handles");
    for (int i = 0; i < 3; i++) {
        sp_begin(region_a);
        sp_end(region_a);
    }
    sp_begin(region_b);
    sp_end(region_b);
    const char *name = sp_profiler_region_name(sp_default_profiler(), 1);
    if (name == NULL || strcmp(name, b) != 0)
        puts("wrong name");
    if (sp_finalize() != SP_OK)
        puts("not finalized");
    return 0;
}
