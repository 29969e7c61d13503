/* What the system accounts for a thread, as an instrument: its CPU time, which tells working from waiting,
 * how often it let the processor go or lost it, and its page faults. Both are one call of the system. */
#include "base/error.h"
#include "base/os/clock.h"
#include "base/os/perf.h"

static const char *const names[] = {"cpu_ns", "waits", "preemptions", "minor_faults",
                                    "major_faults"};
enum { CPU_NS, WAITS, PREEMPTIONS, MINOR_FAULTS, MAJOR_FAULTS, NUM_VALUES };

static void read_values(void *context, void *state, int64_t *values)
{
    sp_os_thread_usage usage = {0};
    (void)context;
    (void)state;
    sp_os_thread_usage_read(&usage);
    values[CPU_NS] = sp_os_thread_cpu_ns();
    values[WAITS] = usage.waits;
    values[PREEMPTIONS] = usage.preemptions;
    values[MINOR_FAULTS] = usage.minor_faults;
    values[MAJOR_FAULTS] = usage.major_faults;
}

int sp_instrument_module(const sp_instrument_request *request, sp_instrument *out,
                         sp_error *error);

__attribute__((visibility("default"))) int
sp_instrument_module(const sp_instrument_request *request, sp_instrument *out, sp_error *error)
{
    if (sp_os_thread_cpu_ns() < 0)
        return sp_fail(error, SP_ERR_UNSUPPORTED,
                       "track_cpu: this system does not tell the CPU time of a thread; leave it out");
    *out = (sp_instrument){
        .size = sizeof *out,
        .version = SP_INSTRUMENT_VERSION,
        .name = "cpu",
        .num_values = NUM_VALUES,
        .value_names = names,
        .keeps_calls = request->keeps_calls,
        .read = read_values,
    };
    return SP_OK;
}
