/* The system's shared library: the program may use the same instance, before, after and, in other
 * threads, at the same time. It is never closed, and no default of it is changed. */
#include "store/hdf5/instance.h"

#include "base/error.h"
#include "base/os/library.h"

#include <string.h>

sp_hdf5_ids sp_hdf5;

/* A program linked to the library may hold its own copy of these variables, which is the one that
 * the library fills in, while our references, bound deeply, see the original that stays unset. A
 * variable that holds no identifier of the wanted kind is therefore looked up from the program. */
static hid_t pick(hid_t own, H5I_type_t kind, const char *variable)
{
    if (own > 0 && H5Iget_type(own) == kind)
        return own;
    const void *other = sp_os_program_variable(variable);
    if (other != NULL)
        memcpy(&own, other, sizeof own);
    return own;
}

#define TYPE(name) pick(name##_g, H5I_DATATYPE, #name "_g")
#define CLASS(name) pick(H5P_CLS_##name##_ID_g, H5I_GENPROP_CLS, "H5P_CLS_" #name "_ID_g")

static void fill_ids(void)
{
    sp_hdf5 = (sp_hdf5_ids){
        .file_int64 = TYPE(H5T_STD_I64LE),
        .file_uint64 = TYPE(H5T_STD_U64LE),
        .file_uint32 = TYPE(H5T_STD_U32LE),
        .file_int8 = TYPE(H5T_STD_I8LE),
        .file_real = TYPE(H5T_IEEE_F64LE),
        .int64 = TYPE(H5T_NATIVE_INT64),
        .uint64 = TYPE(H5T_NATIVE_UINT64),
        .real = TYPE(H5T_NATIVE_DOUBLE),
        .c_string = TYPE(H5T_C_S1),
        .file_access = CLASS(FILE_ACCESS),
        .dataset_create = CLASS(DATASET_CREATE),
        .dataset_access = CLASS(DATASET_ACCESS),
        .transfer = CLASS(DATASET_XFER),
        .link_create = CLASS(LINK_CREATE),
        .attribute_create = CLASS(ATTRIBUTE_CREATE),
    };
}

int sp_hdf5_instance_check(sp_error *error)
{
    unsigned major = 0, minor = 0, release = 0;
    /* The only call that every version answers in the same way. */
    H5get_libversion(&major, &minor, &release);
    if (major == H5_VERS_MAJOR && minor == H5_VERS_MINOR && release == H5_VERS_RELEASE)
        return SP_OK;
    return sp_fail(error, SP_ERR_NO_MODULE,
                   "the HDF5 library in this process is version %u.%u.%u, but the HDF5 module was "
                   "built for %d.%d.%d; build the profiler against the library that is used",
                   major, minor, release, H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE);
}

void sp_hdf5_instance_prepare(void)
{
    /* The library starts at its first call, with the program's settings. */
}

bool sp_hdf5_instance_is_thread_safe(void)
{
    hbool_t safe = 0;
    return H5is_library_threadsafe(&safe) >= 0 && safe;
}

void sp_hdf5_instance_enter(sp_hdf5_visit *visit)
{
    /* First, because every other call clears it. */
    visit->errors = H5Eget_current_stack();
    visit->report_is_newer = 1;
    visit->report1 = NULL;
    visit->report2 = NULL;
    visit->report_data = NULL;
    H5Eauto_is_v2(H5E_DEFAULT, &visit->report_is_newer);
    if (visit->report_is_newer)
        H5Eget_auto2(H5E_DEFAULT, &visit->report2, &visit->report_data);
    else
        H5Eget_auto1(&visit->report1, &visit->report_data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    /* At each visit: a program that closes the library and uses it again gets new identifiers. */
    fill_ids();
}

void sp_hdf5_instance_leave(sp_hdf5_visit *visit)
{
    if (visit->report_is_newer)
        H5Eset_auto2(H5E_DEFAULT, visit->report2, visit->report_data);
    else
        H5Eset_auto1(visit->report1, visit->report_data);
    if (visit->errors >= 0)
        H5Eset_current_stack(visit->errors);
}
