/* visit.h - entering the library: one thread at a time, and everything as before afterwards. */
#ifndef SP_STORE_HDF5_VISIT_H
#define SP_STORE_HDF5_VISIT_H

#include "base/os/file_signal.h"
#include "store/hdf5/instance.h"

typedef struct sp_hdf5_visitor {
    sp_hdf5_visit instance;
    sp_os_file_signal signal;
} sp_hdf5_visitor;

/* Around every use of the library. */
void sp_hdf5_enter(sp_hdf5_visitor *visitor);
void sp_hdf5_leave(sp_hdf5_visitor *visitor);

/* After entering, before something is opened: SP_ERR_NO_MODULE in a process that was forked while
 * another thread was inside. */
int sp_hdf5_check_usable(sp_error *error);

#endif
