/* Why an event cannot be counted, and what to do about it. */
#include "backends/perf/counters.h"

#include "base/error.h"

#include <errno.h>

static int not_allowed(const sp_os_perf *system, const sp_perf_event *event, int errno_value,
                       sp_error *error)
{
    int level = system->paranoid_level();
    if (errno_value == EPERM && system->is_container())
        return sp_fail(error, SP_ERR_UNSUPPORTED,
                       "perf event '%s': this container forbids perf_event_open; start it with "
                       "--cap-add=PERFMON (or --security-opt seccomp=unconfined), and see that "
                       "/proc/sys/kernel/perf_event_paranoid (now %d) is at most 2 on its host",
                       event->name, level);
    if (level > 2)
        return sp_fail(error, SP_ERR_UNSUPPORTED,
                       "perf event '%s': no permission, because /proc/sys/kernel/perf_event_paranoid "
                       "is %d; an administrator can set it to 2 (sysctl kernel.perf_event_paranoid=2), "
                       "or give the program CAP_PERFMON",
                       event->name, level);
    return sp_fail(error, SP_ERR_UNSUPPORTED,
                   "perf event '%s': no permission; with /proc/sys/kernel/perf_event_paranoid at %d the "
                   "kernel's part is not for everyone: count without it (perf_events_kernel off), have "
                   "it set to 1 (sysctl kernel.perf_event_paranoid=1), or use CAP_PERFMON",
                   event->name, level);
}

int sp_perf_refused(const sp_os_perf *system, const sp_perf_event *event, int errno_value,
                    sp_error *error)
{
    bool is_software = event->type == SP_OS_PERF_SOFTWARE;
    switch (errno_value) {
    case EACCES:
    case EPERM:
        return not_allowed(system, event, errno_value, error);
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
        if (is_software)
            break;
        return sp_fail(error, SP_ERR_UNSUPPORTED,
                       "perf event '%s': the processor has no such counter here, as in most virtual "
                       "machines; count software events (task-clock, page-faults, context-switches), or "
                       "run on a machine that shows its counters ('perf stat -e %s true' tells)",
                       event->name, event->name);
    case ENOSYS:
        return sp_fail(error, SP_ERR_UNSUPPORTED,
                       "perf event '%s': this system has no perf_event_open (it is no Linux, its kernel "
                       "was built without, or a sandbox hides it); leave perf_events out",
                       event->name);
    case EMFILE:
    case ENFILE:
        return sp_fail(error, SP_ERR_UNSUPPORTED,
                       "perf event '%s': no descriptors are left, and every thread takes one an event; "
                       "raise the limit (ulimit -n) or count fewer events",
                       event->name);
    case EBUSY:
        return sp_fail(error, SP_ERR_UNSUPPORTED,
                       "perf event '%s': another program has the counters for itself; end it, or leave "
                       "perf_events out",
                       event->name);
    default:
        break;
    }
    return sp_fail_errno(error, SP_ERR_UNSUPPORTED, errno_value,
                         "perf event '%s' cannot be counted on this machine; leave it out",
                         event->name);
}
