/* driver.h - events of CUDA's driver, or of HIP, for the recorder. */
#ifndef SP_BACKENDS_CUDA_DRIVER_H
#define SP_BACKENDS_CUDA_DRIVER_H

#include "scope_plugin.h"

/* See sp_device_entry. The device itself is left alone: nothing is initialised, no context is made. Events go
 * into the default stream of the context that is current on the thread; without one there are none. */
SP_API int sp_device_module(const char *name, sp_device_driver *out, sp_error *error);

#endif
