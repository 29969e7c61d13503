/* trouble.h - from the library's error stack to a caller's sp_error. */
#ifndef SP_STORE_HDF5_TROUBLE_H
#define SP_STORE_HDF5_TROUBLE_H

#include "scope_plugin.h"

/* Fills `error` with the formatted text, then why: the text of the errno that a system call inside
 * the library got, else the library's own innermost words. Returns `status`. */
int sp_hdf5_fail(sp_error *error, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* errno of the system call that failed inside the library, 0 when none did. */
int sp_hdf5_errno(void);

#endif
