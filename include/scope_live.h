/* scope_live.h - looking into a running program.
 *
 * Its journal and its rings are only read: the program is not stopped, not signalled, and may hang. A
 * refresh costs what was recorded since the one before; memory grows with regions, threads and depth
 * alone. Only the owner of a process can look into it.
 *
 * Link with libscope_results; threads, units, errors and ownership as in scope_results.h.
 */
#ifndef SCOPE_LIVE_H
#define SCOPE_LIVE_H

#include "scope_plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sp_live sp_live;

/* A recording that is under way on this machine. Texts live until the next refresh, or in
 * sp_live_find until the visitor returns. */
typedef struct sp_live_process {
    size_t size; /* sizeof(sp_live_process), set by the caller */
    int64_t pid, rank;
    const char *program, *output;
    int64_t started_at_ns;         /* since 1970 */
    int64_t elapsed_ns;            /* since the recording began */
    bool is_running;               /* false: the process has ended, what is shown is its last state */
    bool has_left;                 /* it has ended, and left what can be recovered */
    uint64_t calls, missing_calls; /* ended ones that are counted; those known to be missing */
} sp_live_process;

typedef struct sp_live_lane { /* a thread */
    size_t size;
    size_t process;   /* index */
    uint32_t lane;    /* its number in the recording */
    const char *name; /* "": not given */
    int64_t native_id; /* of the operating system, -1 unknown */
    uint64_t calls;
    size_t num_open;
} sp_live_lane;

typedef struct sp_live_call { /* one that is open */
    size_t size;
    const char *region;
    uint32_t depth;
    int64_t elapsed_ns, own_ns; /* since its begin; of it, not inside other calls */
} sp_live_call;

/* A region, over all processes. Times include open calls as far as they have come. */
typedef struct sp_live_region {
    size_t size;
    const char *name;
    uint64_t calls, open; /* that have ended; that are open */
    int64_t total_ns, own_ns;
    double calls_per_second; /* since the refresh before, at first since the begin */
    double share;            /* of its own time in that of all regions, in the same period */
} sp_live_region;

/* Visits the recordings of this user that are under way. */
SP_API void sp_live_find(void (*visit)(void *context, const sp_live_process *process), void *context);
/* The recordings of a process, with those of other processes (ranks) that have the same output. The
 * first refresh is done. SP_ERR_NOT_FOUND with a text that says why: no such process, no journal, ... */
SP_API int sp_live_open(int64_t pid, sp_live **out, sp_error *error);
/* The same for an output, a journal, a file of rings, or a folder of outputs. */
SP_API int sp_live_open_path(const char *path, sp_live **out, sp_error *error);
/* Brings everything up to date, processes that have joined included. SP_ERR_NO_MEMORY. */
SP_API int sp_live_refresh(sp_live *live, sp_error *error);
SP_API size_t sp_live_num_running(const sp_live *live);

/* Processes by rank, then number; their lanes; regions by share, largest first; open calls outermost
 * first. Fills `out` as far as its size; nothing when there is no such item. */
SP_API size_t sp_live_num_processes(const sp_live *live);
SP_API void sp_live_process_at(const sp_live *live, size_t i, sp_live_process *out);
SP_API size_t sp_live_num_lanes(const sp_live *live);
SP_API void sp_live_lane_at(const sp_live *live, size_t i, sp_live_lane *out);
SP_API void sp_live_call_at(const sp_live *live, size_t lane, size_t i, sp_live_call *out);
SP_API size_t sp_live_num_regions(const sp_live *live);
SP_API void sp_live_region_at(const sp_live *live, size_t i, sp_live_region *out);
/* All of it as one line of JSON (free() it); docs/guide/journal.md names the members. */
SP_API int sp_live_json(const sp_live *live, char **out_text, sp_error *error);
SP_API void sp_live_close(sp_live *live);

#ifdef __cplusplus
}
#endif
#endif
