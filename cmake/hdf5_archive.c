/* Can a shared object be linked from the static HDF5 library? */
#include <hdf5.h>
#include <stdio.h>

FILE *__wrap_stdout, *__wrap_stderr;

int sp_probe(const char *path);

int sp_probe(const char *path)
{
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    return (int)H5Fclose(file);
}
