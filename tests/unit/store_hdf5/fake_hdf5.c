/* A library with the names of HDF5 that counts every call: whoever means the real one must not end
 * up here. */
#include <stdint.h>

int fake_hdf5_calls(void);

static int calls;

int fake_hdf5_calls(void)
{
    return calls;
}

#define FAKE(name)                                                                                 \
    int64_t name(void);                                                                            \
    int64_t name(void)                                                                             \
    {                                                                                              \
        calls++;                                                                                   \
        return -1;                                                                                 \
    }

FAKE(H5open)
FAKE(H5close)
FAKE(H5get_libversion)
FAKE(H5check_version)
FAKE(H5dont_atexit)
FAKE(H5is_library_threadsafe)
FAKE(H5Fcreate)
FAKE(H5Fopen)
FAKE(H5Fclose)
FAKE(H5Fflush)
FAKE(H5Gcreate2)
FAKE(H5Gopen2)
FAKE(H5Gclose)
FAKE(H5Dcreate2)
FAKE(H5Dopen2)
FAKE(H5Dwrite)
FAKE(H5Dread)
FAKE(H5Dwrite_chunk)
FAKE(H5Dclose)
FAKE(H5Screate)
FAKE(H5Screate_simple)
FAKE(H5Sclose)
FAKE(H5Tcopy)
FAKE(H5Tcreate)
FAKE(H5Tclose)
FAKE(H5Pcreate)
FAKE(H5Pclose)
FAKE(H5Acreate2)
FAKE(H5Awrite)
FAKE(H5Aclose)
FAKE(H5Eget_current_stack)
FAKE(H5Eset_auto2)
FAKE(H5Zregister)

/* Variables that the library's headers refer to. */
int64_t H5T_STD_I64LE_g = -7, H5T_NATIVE_INT64_g = -7, H5T_C_S1_g = -7;
int64_t H5P_CLS_FILE_ACCESS_ID_g = -7, H5P_CLS_DATASET_CREATE_ID_g = -7;
