/* What the module exports. */
#include "backends/perf/instrument.h"

int sp_instrument_module(const sp_instrument_request *request, sp_instrument *out,
                         sp_error *error);

__attribute__((visibility("default"))) int
sp_instrument_module(const sp_instrument_request *request, sp_instrument *out, sp_error *error)
{
    return sp_perf_instrument(&sp_os_perf_system, request, out, error);
}
