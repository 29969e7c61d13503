/* module.h - the HDF5 store, a module that is found and opened at first use. */
#ifndef SP_STORE_MODULE_H
#define SP_STORE_MODULE_H

#include "scope_plugin.h"

/* Table of the HDF5 store, kept for the life of the process; NULL with SP_ERR_NO_MODULE and, in the
 * text, what was tried. A failure is not remembered: the next call looks again. Any thread.
 *
 * Looked for, in this order: the folders of $SCOPE_PROFILER_MODULE_PATH (separated by colons);
 * scope-profiler/ beside the library or program that holds this code; ../lib/scope-profiler/ and
 * ../lib/python3.x/site-packages/scope_profiler/_core/lib/scope-profiler/ seen from the folder of
 * the program; the folder of the installation. */
const sp_store_table *sp_store_hdf5(sp_error *error);

/* Whether there is such a file, without opening it. */
bool sp_store_hdf5_is_there(void);

#endif
