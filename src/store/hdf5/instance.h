/* instance.h - the HDF5 library underneath: whose it is, and how it is entered and left.
 *
 * Two ways to have one, chosen by the build, each a file of its own. instance_private.c: a copy of
 * our own, linked into this module, which nothing else in the process can see or disturb.
 * instance_shared.c: the system's shared library, which the program may be using too; then
 * everything that is ours alone is put back when we leave.
 */
#ifndef SP_STORE_HDF5_INSTANCE_H
#define SP_STORE_HDF5_INSTANCE_H

#include "scope_plugin.h"

#include <hdf5.h>

/* Identifiers of the library's ready-made types and property classes. The headers' own names read
 * variables of the library, and with a shared one the loader may bind those to the wrong copy. */
typedef struct sp_hdf5_ids {
    /* Types of numbers in files: little-endian. */
    hid_t file_int64, file_uint64, file_uint32, file_int8, file_real;
    /* Types of numbers in memory. */
    hid_t int64, uint64, real;
    hid_t c_string;
    /* Property classes. */
    hid_t file_access, dataset_create, dataset_access, transfer, link_create, attribute_create;
} sp_hdf5_ids;

extern sp_hdf5_ids sp_hdf5;

/* Is the library the one that this module was compiled for? SP_ERR_NO_MODULE. Starts nothing. */
int sp_hdf5_instance_check(sp_error *error);
/* Once, before the first use. */
void sp_hdf5_instance_prepare(void);

/* May it be called while another thread of the program is inside HDF5? */
bool sp_hdf5_instance_is_thread_safe(void);

/* What is put back when the module leaves the library. */
typedef struct sp_hdf5_visit {
    hid_t errors;             /* the program's error stack */
    unsigned report_is_newer; /* which of the two kinds its handler is */
    H5E_auto1_t report1;
    H5E_auto2_t report2;
    void *report_data;
} sp_hdf5_visit;

/* Around every use: no messages on stderr, the ids filled in; then everything as it was. */
void sp_hdf5_instance_enter(sp_hdf5_visit *visit);
void sp_hdf5_instance_leave(sp_hdf5_visit *visit);

#endif
