#include "store/module.h"

#include "base/error.h"
#include "base/module.h"
#include "base/os/thread.h"

static bool take(void *library, const char *path, void *context, sp_error *error)
{
    const sp_store_table **out = context;
    sp_store_entry entry = (sp_store_entry)sp_os_library_function(library, SP_STORE_SYMBOL);
    if (entry == NULL) {
        sp_fail(error, SP_ERR_NO_MODULE, "'%s' is not a store module", path);
        return false;
    }
    const sp_store_table *table = entry(error);
    if (table == NULL)
        return false;
    /* Entries are only ever added, so a newer table serves and an older one does not. */
    if (table->version != SP_STORE_VERSION ||
        table->size < offsetof(sp_store_table, library_version)) {
        sp_fail(error, SP_ERR_NO_MODULE, "'%s' belongs to another version of the profiler", path);
        return false;
    }
    *out = table;
    return true;
}

static sp_module module_into(const sp_store_table **out)
{
    return (sp_module){.file = "scope_profiler_hdf5.so",
                       .what = "HDF5 module",
                       .asker = (sp_os_function)sp_store_hdf5,
                       .folder = SP_MODULE_FOLDER,
                       .take = take,
                       .context = out};
}

bool sp_store_hdf5_is_there(void)
{
    sp_module module = module_into(NULL);
    return sp_module_is_there(&module);
}

const sp_store_table *sp_store_hdf5(sp_error *error)
{
    static sp_mutex mutex = SP_MUTEX_INIT;
    static const sp_store_table *table;
    sp_mutex_lock(&mutex);
    if (table == NULL) {
        sp_module module = module_into(&table);
        sp_module_open(&module, error);
    }
    const sp_store_table *found = table;
    sp_mutex_unlock(&mutex);
    return found;
}
