/* A stranger's program: three regions, one of them twice inside another, one file. */
#include <scope_profiler.h>

#include <stdio.h>

int main(int argc, char **argv)
{
    if (argc != 2 || sp_init(argv[1], 0) != SP_OK) {
        fprintf(stderr, "usage: record PREFIX\n");
        return 2;
    }
    const int outer = sp_region("outer");
    const int inner = sp_region("inner");
    sp_begin(outer);
    for (int i = 0; i < 2; i++) {
        sp_begin(inner);
        sp_end(inner);
    }
    sp_end(outer);
    const int status = sp_finalize();
    if (status != SP_OK)
        fprintf(stderr, "record: %s\n", sp_error_string(status));
    return status == SP_OK ? 0 : 1;
}
