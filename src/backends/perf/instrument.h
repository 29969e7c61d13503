/* instrument.h - perf events as an instrument; the system may be another one, for tests. */
#ifndef SP_BACKENDS_PERF_INSTRUMENT_H
#define SP_BACKENDS_PERF_INSTRUMENT_H

#include "base/os/perf.h"
#include "scope_plugin.h"

int sp_perf_instrument(const sp_os_perf *system, const sp_instrument_request *request,
                       sp_instrument *out, sp_error *error);

#endif
