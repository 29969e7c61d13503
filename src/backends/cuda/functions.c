#include "backends/cuda/functions.h"

#include "base/error.h"
#include "base/os/library.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { LIBRARIES = 4 };

typedef struct api {
    const char *name, *what;
    const char *libraries[LIBRARIES]; /* tried in this order, NULL behind the last */
    const char *functions[11];        /* in the order of sp_device_functions */
} api;

static const api apis[] = {
    {"cuda",
     "the NVIDIA driver",
     {"libcuda.so.1"},
     {"cuCtxGetCurrent", "cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2", "cuCtxSynchronize",
      "cuEventCreate", "cuEventDestroy_v2", "cuEventRecord", "cuEventQuery", "cuEventElapsedTime",
      "cuStreamIsCapturing", "cuThreadExchangeStreamCaptureMode"}},
    {"hip",
     "AMD's ROCm",
     {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"},
     {"hipCtxGetCurrent", "hipCtxPushCurrent", "hipCtxPopCurrent", "hipDeviceSynchronize",
      "hipEventCreateWithFlags", "hipEventDestroy", "hipEventRecord", "hipEventQuery",
      "hipEventElapsedTime", "hipStreamIsCapturing", "hipThreadExchangeStreamCaptureMode"}},
};

/* Of the library that the program has, or will get by that name. */
static void *open_library(const api *a, sp_error *error)
{
    sp_error first = {0};
    for (int i = 0; i < LIBRARIES && a->libraries[i] != NULL; i++) {
        void *library = sp_os_library_open_plain(a->libraries[i], i == 0 ? &first : NULL);
        if (library != NULL)
            return library;
    }
    sp_fail(error, SP_ERR_NO_MODULE, "GPU timing by '%s' needs %s: %s", a->name, a->what,
            first.text);
    return NULL;
}

static int take(const api *a, void *library, sp_device_functions *out, sp_error *error)
{
    enum { COUNT = sizeof a->functions / sizeof *a->functions, REQUIRED = COUNT - 2 };
    sp_os_function found[COUNT];
    for (int i = 0; i < COUNT; i++) {
        found[i] = sp_os_library_function(library, a->functions[i]);
        if (found[i] == NULL && i < REQUIRED)
            return sp_fail(
                error, SP_ERR_NO_MODULE,
                "GPU timing by '%s': the library of %s has no %s; it is too old or too new",
                a->name, a->what, a->functions[i]);
    }
    _Static_assert(sizeof *out == sizeof found, "as many functions as names");
    memcpy(out, found, sizeof *out);
    return SP_OK;
}

int sp_device_functions_load(const char *name, sp_device_functions *out, sp_error *error)
{
    for (size_t i = 0; i < sizeof apis / sizeof *apis; i++) {
        if (strcmp(apis[i].name, name) != 0)
            continue;
        void *library = open_library(&apis[i], error);
        return library == NULL ? SP_ERR_NO_MODULE : take(&apis[i], library, out, error);
    }
    return sp_fail(error, SP_ERR_NOT_FOUND,
                   "no GPU timing back end '%s' here; there are cuda and hip", name);
}
