/* functions.h - the few functions of a device library that events need. CUDA's driver and HIP have the same
 * ones under different names, with the same arguments. */
#ifndef SP_BACKENDS_CUDA_FUNCTIONS_H
#define SP_BACKENDS_CUDA_FUNCTIONS_H

#include "scope_plugin.h"

/* Statuses: 0 is fine. */
enum { SP_DEVICE_NOT_READY = 600 };

/* Mode in which asking about events does not spoil what another thread captures. */
enum { SP_CAPTURE_RELAXED = 2 };

typedef struct sp_device_functions {
    int (*context_current)(void **out_context);
    int (*context_push)(void *context);
    int (*context_pop)(void **out_context);
    int (*context_synchronize)(void);
    int (*event_create)(void **out_event, unsigned flags);
    int (*event_destroy)(void *event);
    int (*event_record)(void *event, void *stream);
    int (*event_query)(void *event);
    int (*event_elapsed)(float *out_ms, void *start, void *end);
    /* NULL: the library is older than that. */
    int (*stream_is_capturing)(void *stream, int *out_status);
    int (*exchange_capture_mode)(int *mode); /* of the calling thread; gives the one there was */
} sp_device_functions;

/* "cuda" or "hip". SP_ERR_NOT_FOUND: no such name; SP_ERR_NO_MODULE: its library cannot be loaded, or lacks a
 * function. The library stays loaded. */
int sp_device_functions_load(const char *name, sp_device_functions *out, sp_error *error);

#endif
