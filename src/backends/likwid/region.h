/* region.h - what LIKWID has counted, by thread and region, as far as calls have ended. */
#ifndef SP_BACKENDS_LIKWID_REGION_H
#define SP_BACKENDS_LIKWID_REGION_H

#include "backends/likwid/library.h"
#include "base/os/thread.h"
#include "base/vector.h"

enum { LIKWID_EVENTS_MOST = 64 };

/* A region on one thread. LIKWID knows one start and one stop of it, so of a recursion only the outermost
 * call counts. */
typedef struct likwid_region {
    const char *name;    /* NULL: not called on this thread */
    unsigned depth;      /* calls that are open */
    bool is_started;     /* the outermost of them is measured */
    uint64_t missed;     /* outermost calls that LIKWID did not take */
    int processor, group, count, num_events;
    double seconds;
    double *events; /* num_events; NULL: no call has ended */
} likwid_region;

typedef struct likwid_thread {
    sp_mutex lock; /* of all regions: the thread writes, a publication reads */
    struct likwid_thread *next;
    SP_VECTOR(likwid_region) regions; /* by number of the region */
} likwid_thread;

/* On the thread. Nothing is measured when memory is short. */
void sp_likwid_begin(const likwid_functions *likwid, likwid_thread *thread,
                     const sp_instrument_call *call);
void sp_likwid_end(const likwid_functions *likwid, likwid_thread *thread,
                   const sp_instrument_call *call);
/* The thread ends: what is open stops. */
void sp_likwid_stop_open(const likwid_functions *likwid, likwid_thread *thread);

#endif
