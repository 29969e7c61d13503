/* binding.h - what a language binding that lives in the same process may use of the recorder beyond
 * the public header. Not installed; exported under the version node SCOPE_PROFILER_PRIVATE.
 *
 * A profiler is an object that outlives its configurations. configure() starts one (fresh regions,
 * fresh calls, the clock origin), publish() hands on what was recorded, deconfigure() ends it.
 * Region ids are process-wide: the same name has the same id in every profiler, for ever.
 *
 * Thread rules: every function from any thread, except that configure, deconfigure and destroy of
 * one profiler must not run at the same time as each other (the Python module holds the GIL there).
 * begin/end take no lock.
 */
#ifndef SP_SESSION_BINDING_H
#define SP_SESSION_BINDING_H

#include "scope_plugin.h"
#include "scope_profiler.h"
#include "session/settings_table.h" /* which settings there are; a part of this interface */

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sp_binding_tags {
    const char *const *items;
    size_t count;
} sp_binding_tags;

/* Settings of one configuration; zero-initialise and set `size`. */
typedef struct sp_binding_settings {
    size_t size;
    const char *output;   /* absolute path of the HDF5 file, NULL: in memory only */
    uint32_t rank;        /* of this process */
    bool is_aggregate;    /* totals only, no calls kept */
    bool track_threads;   /* thread ids and the thread table in the file even for one thread */
    bool track_tasks;     /* await times and the task table, too */
    bool is_host;         /* default profiler only: native sp_init joins, sp_finalize leaves */
    const void *host;     /* who that is: an address of its own; another host is refused */
    size_t max_memory;    /* bytes for packed calls, 0: the default */
    /* For the regions of native code in the default profiler; bindings filter their own. With
     * `region_tags` only those with one of these tags record. `enable_tags`: opt-in tags that are on,
     * "*" all. */
    sp_binding_tags region_tags, enable_tags;
    sp_store_options store;
    const char *journal;  /* "auto" or NULL: beside the output, "off", or a folder */
    double journal_flush; /* seconds between drains by the helper thread; 0: the default, below: none */
    const char *on_full; /* a choice of that setting, or NULL: what happens at max_memory */
    double checkpoint_interval; /* seconds between profiles written while it records; 0: none */
    const char *finalize_signals; /* names, separated by commas; for the life of the process */
    /* What is measured at every call, first to last (scope_plugin.h). They are released once, also when
     * configuring fails. */
    const sp_instrument *const *instruments;
    size_t num_instruments;
} sp_binding_settings;

/* How a region is set up within one configuration. Strings are copied; NULL: keep or unknown. */
typedef struct sp_binding_region_spec {
    size_t size;
    bool enabled;
    const char *source_file; /* the first site wins; NULL: none given */
    int64_t source_line;
    const char *source_text;
    const char *tags_json; /* JSON list of strings; NULL: untouched */
} sp_binding_region_spec;

/* What publish did. */
typedef struct sp_binding_report {
    uint64_t calls_written;
    uint64_t calls_open;     /* still open, left out */
    uint64_t calls_crossing; /* ended out of order, recorded and flagged */
    uint64_t calls_lost;     /* out of memory, signal re-entry, end of their thread: in no number */
    uint64_t calls_unkept;   /* of a full memory: in the totals or counts, without a row */
    uint64_t calls_partial;  /* rows without their metadata or counters */
    uint64_t unmatched_ends;
    bool several_threads;    /* more than one thread recorded */
    bool is_root;            /* this process has written: alone, or for the ranks of the job */
    uint32_t num_missing;    /* ranks that did not answer in time; their calls are not in it */
    bool has_native;         /* native code joined with sp_init, or defined a region */
    void *image;             /* in-memory image when asked for; the caller passes it on or frees it */
    size_t image_size;
} sp_binding_report;

/* Calls in metadata scopes: every call that lies wholly inside [start_ns, end_ns] on that thread gets the
 * JSON object `json`, later entries winning over earlier ones. `thread` -1: on any; -2 - N: in task N,
 * wherever it runs; INT64_MIN: on threads, not in tasks, that no entry names. */
typedef struct sp_binding_metadata_scope {
    int64_t start_ns, end_ns;
    int64_t thread;
    const char *json;
} sp_binding_metadata_scope;

typedef struct sp_binding_publication {
    size_t size;
    const sp_metadata_entry *metadata;
    size_t num_metadata;
    const sp_binding_metadata_scope *scopes;
    size_t num_scopes;
    bool want_image;  /* give the image too (always in memory when the run has no output) */
    bool image_only;  /* the image, and no file whatever the configuration's output */
    bool keep_calls;  /* do not consume: the next publication holds them again */
    bool with_open_calls; /* nothing follows: open calls become rows that end now */
    /* The ranks that publish together, rank 0 for all: every rank calls publish, in the same order of
     * publications and with equal settings. NULL: this process alone. */
    const sp_communicator *communicator;
    int64_t timeout_ns; /* how long a rank may keep the others waiting; 0: for ever */
    const char *output; /* of this publication, in place of the configuration's; NULL: that one */
    const sp_extra *extras; /* arrays of this rank that go along */
    size_t num_extras;
} sp_binding_publication;

/* Why this copy of the library cannot be the recorder, because another one in the process is it; NULL:
 * it is, from now on. First call of a binding. */
SP_API const char *sp_binding_refusal(void);
/* The default profiler of the process (created at first use), or a new independent one. */
SP_API sp_profiler *sp_binding_default(void);
SP_API sp_profiler *sp_binding_create(void);
SP_API void sp_binding_destroy(sp_profiler *profiler);

/* Opens the instrument of the module scope_profiler_<name>.so and fills in its table, for `instruments`
 * of a configuration. SP_ERR_NO_MODULE, or what the instrument says. */
SP_API int sp_binding_open_instrument(const char *name, const sp_instrument_request *request,
                                      sp_instrument *out, sp_error *error);

/* Fills in the instrument of device times, for `instruments` of a configuration: from a driver (scope_plugin.h),
 * which is released once, also when this fails, or from that of a name, "cuda" or "hip". `syncs_at_end`: a
 * call ends only when the device has done what it was given. */
SP_API int sp_binding_device_instrument(const sp_device_driver *driver, bool syncs_at_end,
                                        sp_instrument *out, sp_error *error);
SP_API int sp_binding_open_device(const char *name, bool syncs_at_end, sp_instrument *out,
                                  sp_error *error);

/* Starts a configuration, dropping what an earlier one recorded and did not publish (a default
 * profiler that native code started first is taken over with its calls). */
SP_API int sp_binding_configure(sp_profiler *profiler, const sp_binding_settings *settings,
                                sp_error *error);
/* What the files say of the run that are written without the binding: checkpoints, and the profile of a
 * process that a signal ends. Copied; for this configuration. Start and end are added. */
SP_API void sp_binding_set_metadata(sp_profiler *profiler, const sp_metadata_entry *entries,
                                    size_t count);
/* Ends it; calls of every region become no-ops. */
SP_API void sp_binding_deconfigure(sp_profiler *profiler);
SP_API bool sp_binding_is_recording(const sp_profiler *profiler);
/* Moment of configure, ns of CLOCK_MONOTONIC. */
SP_API int64_t sp_binding_start_time_ns(const sp_profiler *profiler);
/* Grows with every configure and deconfigure of any profiler of the process. */
SP_API uint64_t sp_binding_generation(void);

/* Id of the name (interned for ever), whether or not anything is configured; -1 when memory is
 * short or the name is empty or holds a NUL (`length` bytes), with `error` filled. */
SP_API int32_t sp_binding_intern(const char *name, size_t length, sp_error *error);
SP_API const char *sp_binding_region_name(int32_t region);
/* Makes the region known to this configuration, or updates it. */
SP_API int sp_binding_set_region(sp_profiler *profiler, int32_t region,
                                 const sp_binding_region_spec *spec, sp_error *error);

/* The hot pair. A region that this configuration does not know or has disabled is ignored; an end
 * without a begin is counted. Ids must come from sp_binding_intern. */
SP_API void sp_binding_begin(sp_profiler *profiler, int32_t region);
SP_API void sp_binding_end(sp_profiler *profiler, int32_t region);
/* The pair that a generator or coroutine step uses: flags the interval as a resumption. The end does
 * what sp_binding_end does, and is the fast one for such an interval. */
SP_API void sp_binding_resume(sp_profiler *profiler, int32_t region);
SP_API void sp_binding_end_resumed(sp_profiler *profiler, int32_t region);
/* As sp_binding_end, but a call shorter than `least_ns` in which no other call was recorded leaves
 * no trace; its time stays with its parent. True: it left none. */
SP_API bool sp_binding_end_unless_shorter(sp_profiler *profiler, int32_t region, int64_t least_ns);
/* Ends a call and attaches its metadata, a JSON object. */
SP_API void sp_binding_end_with_metadata(sp_profiler *profiler, int32_t region, const char *json,
                                         size_t length);
/* Whether the default profiler records calls that this thread makes; false while the thread publishes
 * with other ranks, and when another copy of the library records. */
SP_API bool sp_binding_takes_calls(void);
/* Begins a call for a library that stands between the program and another one, such as MPI; sp_call_end
 * ends it. Records into the default profiler. `site` remembers the region, which gets `tags` (separated
 * by commas) when it is new; `members`: its metadata, as the members of a JSON object, "" for none. */
SP_API sp_call sp_binding_call_begin(sp_site *site, const char *name, const char *tags,
                                     const char *members);
/* Adds a finished call with these exact times; it has no parent. */
SP_API int sp_binding_append(sp_profiler *profiler, int32_t region, int64_t start_ns,
                             int64_t end_ns);

/* Pausing: the calls open at that moment end normally, later ones are ignored and balanced. */
SP_API void sp_binding_pause(sp_profiler *profiler);
SP_API void sp_binding_unpause(sp_profiler *profiler);
SP_API bool sp_binding_is_paused(const sp_profiler *profiler);
/* Regions open on this thread, innermost last; returns how many there are, fills at most `room`. */
SP_API size_t sp_binding_open_regions(sp_profiler *profiler, int32_t *regions, size_t room);

/* Names the calling thread in the thread table. `ident`: the language's own id. */
SP_API void sp_binding_name_thread(sp_profiler *profiler, const char *name, int64_t ident,
                                   bool is_daemon);
/* `hook` runs once on every thread that starts to record for a profiler, just before its first call
 * is recorded (with track_threads on the thread that configures, while it does), so that the binding
 * can name the thread. One for the process; NULL: none. */
typedef void (*sp_binding_thread_hook)(sp_profiler *profiler);
SP_API void sp_binding_on_new_thread(sp_binding_thread_hook hook);

/* Tasks: rows of the task table that take turns on the threads; see recorder/task.h, whose functions
 * these are. A handle is zeroed memory of that many bytes, of one profiler. */
typedef struct sp_binding_task {
    uint64_t words[4];
} sp_binding_task;
typedef struct sp_binding_step {
    uint64_t words[2];
} sp_binding_step;
/* False: nothing records, or memory is short. `is_greenlet`: of that kind. */
SP_API bool sp_binding_task_create(sp_profiler *profiler, sp_binding_task *task, bool is_greenlet,
                                   const char *name, const char *coroutine, int64_t created_ns);
SP_API void sp_binding_task_rename(sp_profiler *profiler, const sp_binding_task *task,
                                   const char *name);
SP_API void sp_binding_task_enter(sp_profiler *profiler, sp_binding_task *task,
                                  sp_binding_step *out_step);
SP_API void sp_binding_task_leave(sp_profiler *profiler, sp_binding_task *task,
                                  const sp_binding_step *step);
SP_API void sp_binding_task_finish(sp_profiler *profiler, sp_binding_task *task);
/* NULL: what is not followed. */
SP_API void sp_binding_task_switch(sp_profiler *profiler, sp_binding_task *from,
                                   sp_binding_task *to);
/* Whether the handle stands for a row of the configuration that runs now. */
SP_API bool sp_binding_task_is_known(sp_profiler *profiler, const sp_binding_task *task);
/* Whether the calling thread makes a step of a task. */
SP_API bool sp_binding_in_task(sp_profiler *profiler);
/* Numbers of the calling thread and, in a step, of its task, as published; -1: it has none. */
SP_API void sp_binding_where(sp_profiler *profiler, int64_t *out_thread, int64_t *out_task);
/* Number of a task, -1 when it is not of the configuration that runs now. */
SP_API int64_t sp_binding_task_number(sp_profiler *profiler, const sp_binding_task *task);

/* Waits, not for long, until the threads that recorded are no more than these, by their idents: a
 * thread that the language has joined may still be about to end for the system. Without the GIL. */
SP_API void sp_binding_await_threads(sp_profiler *profiler, const int64_t *running, size_t count);

/* Calls entered since configure, all threads, undrained ones and open ones included. */
SP_API int64_t sp_binding_num_calls(sp_profiler *profiler, int32_t region);
/* Regions of this configuration, in order of creation. */
SP_API size_t sp_binding_num_regions(sp_profiler *profiler);
SP_API int32_t sp_binding_region_at(sp_profiler *profiler, size_t i);

/* Calls of one region that are not published yet, those of the rings and open ones included, sorted by
 * start; an end of 0 marks an open call. Absolute ns. The two arrays are malloc'ed, the caller frees
 * them. Exact for calls of this thread, a snapshot of the others. SP_ERR_NO_EVENTS in aggregate
 * mode. */
SP_API int sp_binding_region_calls(sp_profiler *profiler, int32_t region, int64_t **starts,
                                   int64_t **ends, size_t *count, sp_error *error);
/* Totals of the closed calls since configure: also in aggregate mode. exclusive -1 unknown. */
SP_API int sp_binding_region_totals(sp_profiler *profiler, int32_t region, sp_row_aggregate *out);

/* Writes the file (when the configuration has an output) and consumes the closed calls unless told
 * otherwise. On failure everything stays recoverable in memory. Blocks; call it without the GIL. */
SP_API int sp_binding_publish(sp_profiler *profiler, const sp_binding_publication *what,
                              sp_binding_report *report, sp_error *error);

/* Cost of one begin+end pair in ns as measured at configure. */
SP_API double sp_binding_pair_cost_ns(const sp_profiler *profiler);

#ifdef __cplusplus
}
#endif
#endif
