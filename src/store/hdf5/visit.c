#include "store/hdf5/visit.h"

#include "base/error.h"
#include "base/os/thread.h"
#include "store/hdf5/filter.h"

#include <stdatomic.h>

static sp_mutex mutex = SP_MUTEX_INIT;
static atomic_bool is_inside; /* some thread holds the mutex */
static bool is_broken;        /* forked from a process that was inside */

/* A child that was forked while another thread was inside has a library that stopped half way. */
static void after_fork_in_child(void)
{
    if (!atomic_load(&is_inside))
        return;
    is_broken = true;
    sp_mutex_reset(&mutex);
}

void sp_hdf5_enter(sp_hdf5_visitor *visitor)
{
    static bool is_prepared;
    sp_mutex_lock(&mutex);
    atomic_store(&is_inside, true);
    sp_os_file_signal_hold(&visitor->signal);
    if (!is_prepared)
        sp_hdf5_instance_prepare();
    sp_hdf5_instance_enter(&visitor->instance);
    if (!is_prepared) {
        sp_hdf5_filters_register();
        sp_os_at_fork(NULL, NULL, after_fork_in_child);
        is_prepared = true;
    }
}

void sp_hdf5_leave(sp_hdf5_visitor *visitor)
{
    sp_hdf5_instance_leave(&visitor->instance);
    sp_os_file_signal_restore(&visitor->signal);
    atomic_store(&is_inside, false);
    sp_mutex_unlock(&mutex);
}

int sp_hdf5_check_usable(sp_error *error)
{
    if (!is_broken)
        return SP_OK;
    return sp_fail(error, SP_ERR_NO_MODULE,
                   "HDF5 cannot be used here: this process was forked while a thread of its parent "
                   "was reading or writing a profile");
}
