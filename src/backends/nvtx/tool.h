/* tool.h - the NVTX tool of this process, if there is one. */
#ifndef SP_BACKENDS_NVTX_TOOL_H
#define SP_BACKENDS_NVTX_TOOL_H

#include "backends/nvtx/protocol.h"
#include "scope_plugin.h"

/* What the tool takes. Each may be NULL but the first two. */
typedef struct nvtx_tool {
    nvtx_range_start range_start;
    nvtx_range_end range_end;
    nvtx_register_string register_string;
    nvtx_domain *domain; /* of this profiler; a tool may have none */
} nvtx_tool;

/* Loads the tool that the environment names; once in the life of the process, a tool stays. NULL with
 * SP_ERR_NOT_FOUND: none is named, or it does not want ranges; SP_ERR_NO_MODULE: it cannot be loaded. */
const nvtx_tool *sp_nvtx_tool(sp_error *error);

#endif
