/* store_info.c - what is known of the store module that readers load. */
#include "base/os/library.h"
#include "scope_results.h"
#include "store/module.h"

#include <stdio.h>

int sp_results_hdf5_info(sp_store_info *out, sp_error *error)
{
    const sp_store_table *table = sp_store_hdf5(error);
    sp_store_info info = {0};
    if (table == NULL)
        return SP_ERR_NO_MODULE;
    if (!sp_os_folder_of((sp_os_function)table->open, info.module_folder,
                         sizeof info.module_folder))
        info.module_folder[0] = '\0';
    if (table->library_version != NULL)
        snprintf(info.library_version, sizeof info.library_version, "%s",
                 table->library_version());
    info.is_thread_safe = table->is_thread_safe();
    *out = info;
    return SP_OK;
}
