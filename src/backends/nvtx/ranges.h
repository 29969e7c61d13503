/* ranges.h - the instrument that shows calls in an NVTX tool. */
#ifndef SP_BACKENDS_NVTX_RANGES_H
#define SP_BACKENDS_NVTX_RANGES_H

#include "scope_plugin.h"

/* SP_ERR_NOT_FOUND: no tool is attached, so there is nothing to do. Else see sp_nvtx_tool. `request` may be
 * NULL, nothing in it matters here. */
SP_API int sp_instrument_module(const sp_instrument_request *request, sp_instrument *out,
                                sp_error *error);

#endif
