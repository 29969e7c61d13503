/* devices.c - device times for bindings and native programs: from a driver, or from that of a module. */
#include "base/error.h"
#include "base/module.h"
#include "session/binding.h"
#include "session/device_times.h"

int sp_binding_device_instrument(const sp_device_driver *driver, bool syncs_at_end,
                                 sp_instrument *out, sp_error *error)
{
    return sp_device_times_create(driver, syncs_at_end, out, error);
}

static bool take(void *library, const char *path, void *context, sp_error *error)
{
    sp_device_entry *out = context;
    *out = (sp_device_entry)sp_os_library_function(library, SP_DEVICE_SYMBOL);
    if (*out == NULL)
        sp_fail(error, SP_ERR_NO_MODULE, "'%s' has no devices", path);
    return *out != NULL;
}

int sp_binding_open_device(const char *name, bool syncs_at_end, sp_instrument *out, sp_error *error)
{
    sp_device_entry entry = NULL;
    sp_device_driver driver;
    sp_module module = {.file = "scope_profiler_cuda.so",
                        .what = "GPU timing module",
                        .asker = (sp_os_function)sp_binding_open_device,
                        .folder = SP_MODULE_FOLDER,
                        .take = take,
                        .context = &entry};
    int status = sp_module_open(&module, error);
    if (status == SP_OK)
        status = entry(name, &driver, error);
    return status == SP_OK ? sp_device_times_create(&driver, syncs_at_end, out, error) : status;
}
