/* A program that starts a recording only if told so, enters two regions and exits with one still
 * open. What becomes of it is up to the environment. */
#include <scope_profiler.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "init") == 0 && sp_init("plain", 2) != SP_OK)
        return 1;
    int closed = sp_region("closed"), open = sp_region_tagged("open", "quiet");
    sp_register_opt_in_tag("quiet");
    sp_begin(closed);
    sp_begin(open);
    sp_end(closed);
    if (argc > 2 && sp_finalize() != SP_OK)
        return 3;
    exit(0);
}
