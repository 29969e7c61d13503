/* The library linked into this module, all its symbols hidden. */
#include "store/hdf5/instance.h"

#include <stdio.h>

/* Distributions build the archive of the library for programs: it reads these two variables of the
 * C library in a way that a shared object cannot. The linker sends it here instead (--wrap). */
FILE *__wrap_stdout, *__wrap_stderr;
extern FILE *__real_stdout, *__real_stderr;

sp_hdf5_ids sp_hdf5;

static void fill_ids(void)
{
    sp_hdf5 = (sp_hdf5_ids){
        .file_int64 = H5T_STD_I64LE,
        .file_uint64 = H5T_STD_U64LE,
        .file_uint32 = H5T_STD_U32LE,
        .file_int8 = H5T_STD_I8LE,
        .file_real = H5T_IEEE_F64LE,
        .int64 = H5T_NATIVE_INT64,
        .uint64 = H5T_NATIVE_UINT64,
        .real = H5T_NATIVE_DOUBLE,
        .c_string = H5T_C_S1,
        .file_access = H5P_FILE_ACCESS,
        .dataset_create = H5P_DATASET_CREATE,
        .dataset_access = H5P_DATASET_ACCESS,
        .transfer = H5P_DATASET_XFER,
        .link_create = H5P_LINK_CREATE,
        .attribute_create = H5P_ATTRIBUTE_CREATE,
    };
}

int sp_hdf5_instance_check(sp_error *error)
{
    (void)error;
    return SP_OK;
}

void sp_hdf5_instance_prepare(void)
{
    __wrap_stdout = __real_stdout;
    __wrap_stderr = __real_stderr;
    /* Profiles are also written while the program exits, after handlers that were set late. */
    H5dont_atexit();
    H5open();
    /* A filter found on disk would be linked to another instance of the library. */
    H5PLset_loading_state(0);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    fill_ids();
}

bool sp_hdf5_instance_is_thread_safe(void)
{
    return true; /* nobody else is in it, and the module lets one thread in at a time */
}

void sp_hdf5_instance_enter(sp_hdf5_visit *visit)
{
    (void)visit;
}

void sp_hdf5_instance_leave(sp_hdf5_visit *visit)
{
    (void)visit;
    H5Eclear2(H5E_DEFAULT);
}
