/* linkage_unknown.c - for systems whose programs are not ELF files: nothing can be told. */
#include "linkage.h"

bool cli_is_binary(const char *path)
{
    (void)path;
    return false;
}

bool cli_lacks_recorder(const char *path)
{
    (void)path;
    return false;
}

const char *cli_mpi_of(const char *path)
{
    (void)path;
    return NULL;
}
