/* scope_profiler.h - mark regions of a C or C++ program and record every call of them.
 *
 * C99, usable from C++. Link with libscope_profiler (needs libc and pthread only).
 *
 *     sp_init("solver", 0);
 *     int assemble = sp_region("assemble");
 *     sp_begin(assemble);
 *     ...
 *     sp_end(assemble);
 *     sp_finalize();                          writes solver_rank00000.h5
 *
 * Or by blocks, without handles:
 *
 *     void assemble(void)
 *     {
 *         SP_SCOPE("assemble");
 *         ...
 *     }                                       ends here, however the block is left
 *
 * Compiled with SP_DISABLE_PROFILING, everything here vanishes: no symbol, no library needed.
 *
 * Thread rules: every function may be called from any thread at any time, unless its comment says
 * otherwise. A call (one begin with its end) belongs to the thread that began it. Calls before
 * sp_init and after sp_finalize are harmless and cost a load and a branch.
 *
 * Units: every time is in integer nanoseconds of CLOCK_MONOTONIC.
 *
 * Ownership: strings passed in are copied. Strings returned belong to the library and stay valid
 * until the profiler is destroyed; those of the default profiler for the life of the process.
 */
#ifndef SCOPE_PROFILER_H
#define SCOPE_PROFILER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(SP_STATIC)
#define SP_API
#elif defined(__GNUC__)
#define SP_API __attribute__((visibility("default")))
#else
#define SP_API
#endif

/* Version of the native trace format (.spt) that SP_OUTPUT_TRACE writes. */
#define SP_FORMAT_VERSION 2

/* What sp_region answers while no profiler is active; begin and end ignore it. */
#define SP_INVALID_REGION (-1)

/* Status of an operation, generated from one table (name, value, text). The texts are what
 * sp_error_string returns. Values 0 to 7 are those of the published package and never change. */
#define SP_STATUS_TABLE(X)                                                                         \
    X(SP_OK, 0, "ok")                                                                              \
    X(SP_ERR_INACTIVE, 1, "profiler is not active")                                                \
    X(SP_ERR_NO_CLOCK, 2, "no monotonic clock available")                                          \
    X(SP_ERR_NO_MEMORY, 3, "out of memory")                                                        \
    X(SP_ERR_IO, 4, "output file could not be written")                                            \
    X(SP_ERR_UNMATCHED_END, 5, "no open call to end")                                              \
    X(SP_ERR_OPEN_SCOPES, 6, "a region is still open")                                             \
    X(SP_ERR_UNSUPPORTED, 7, "output format not available in this build")                          \
    X(SP_ERR_INVALID_ARGUMENT, 8, "invalid argument")                                              \
    X(SP_ERR_NOT_FOUND, 9, "not found")                                                            \
    X(SP_ERR_NOT_A_PROFILE, 10, "not a readable profile")                                          \
    X(SP_ERR_DAMAGED, 11, "profile is truncated or damaged")                                       \
    X(SP_ERR_SCHEMA, 12, "schema version is not supported")                                        \
    X(SP_ERR_NESTING, 13, "recorded calls are not properly nested")                                \
    X(SP_ERR_NO_MODULE, 14, "an optional module could not be loaded")                              \
    X(SP_ERR_NO_EVENTS, 15, "the file holds statistics only, no calls")                           \
    X(SP_ERR_OTHER_VERSION, 16, "another version of the profiler records in this process")

typedef enum sp_status {
#define SP_STATUS_ENUM(name, value, text) name = value,
    SP_STATUS_TABLE(SP_STATUS_ENUM)
#undef SP_STATUS_ENUM
    SP_STATUS_LIMIT_ /* keeps the enum an int for later additions; not a status */
} sp_status;

/* Kind of file that finalize writes. */
typedef enum sp_output_format {
    SP_OUTPUT_HDF5 = 0,
    SP_OUTPUT_TRACE = 1
} sp_output_format;

/* One independent recording: its own regions, calls and output file. */
typedef struct sp_profiler sp_profiler;

/* Totals of one region over the life of the profiler, in nanoseconds. `calls` counts the calls
 * entered, open ones included; the times cover the calls that ended. */
typedef struct sp_region_stats {
    int64_t calls;
    int64_t total_ns;
    int64_t min_ns;
    int64_t max_ns;
} sp_region_stats;

/* Token of one open call, from sp_profiler_scope_begin. Valid on the thread that got it. */
typedef struct sp_scope {
    sp_profiler *profiler;
    int region;
    int64_t slot; /* begin number of the call on its thread, -1 when nothing was opened */
} sp_scope;

/* One open call of a block, from sp_site_begin or sp_call_begin. Valid on the thread that got it. */
typedef struct sp_call {
    int region;
    uint32_t recording; /* which recording of the process it belongs to */
} sp_call;

/* What a call site remembers of its region. Zeroed memory remembers nothing. */
typedef struct sp_site {
    uint64_t word;
} sp_site;

#define SP_JOIN_(a, b) a##b
#define SP_JOIN(a, b) SP_JOIN_(a, b)

#ifdef SP_DISABLE_PROFILING
#include "scope_profiler_disabled.h"
#else

/* Short text for a status, never NULL; "unknown status" for a value outside the table. */
SP_API const char *sp_error_string(int status);

/* Library version, e.g. "1.0.0". */
SP_API const char *sp_version(void);

/* ---- The default profiler -------------------------------------------------------------------*/

/* Starts recording. `prefix` names the output (<prefix>_rank<rank, five digits>.h5); NULL means
 * "scope_profile". `rank` >= 0. What is never finalized is written when the process exits. When a host (the Python module) already records in this process,
 * this joins that recording and the prefix is ignored. Returns SP_OK, SP_ERR_INVALID_ARGUMENT,
 * SP_ERR_NO_MEMORY. A second sp_init without sp_finalize also joins.
 *
 * There is one recorder in a process, however many copies of the library it loads: the first that is
 * used. Other copies of its version pass their calls on to it; those of another version record nothing,
 * say so once on standard error and answer SP_ERR_OTHER_VERSION. */
SP_API int sp_init(const char *prefix, int rank);

/* Handle of the region `name` (UTF-8, not empty), created at first use. SP_INVALID_REGION while
 * nothing is active or when the name is NULL or empty. The same name gives the same handle. */
SP_API int sp_region(const char *name);

/* The same, and remembers where the region was defined; the first site wins. */
SP_API int sp_region_at(const char *name, const char *file, int line);
#define SP_REGION_AT(name) sp_region_at((name), __FILE__, __LINE__)

/* Enters and leaves a region. No limit on depth or on open calls. sp_end closes the innermost open
 * call of that region on this thread; when other calls were opened inside and are still open, it
 * is recorded as a crossing call. An end without a begin is counted and reported once on stderr
 * (`sp_end('x') without a matching sp_begin`). */
SP_API void sp_begin(int region);
SP_API void sp_end(int region);

/* ---- Blocks ----------------------------------------------------------------------------------
 *
 * SP_SCOPE("name"); times the rest of the block. The name is a literal; each place where the macro
 * stands remembers the region, so that the cost is that of a handle. A place first reached before
 * sp_init comes alive with it.
 *
 * It needs the cleanup attribute (GCC, Clang, Intel: SP_HAS_SCOPE is 1). Elsewhere, or to end a call
 * before its block does:
 *
 *     SP_SCOPE_BEGIN(assembly, "assemble");   `assembly` names the pair within the block
 *     ...
 *     SP_SCOPE_END(assembly);                 must be reached: before each return, break and goto
 */
#define SP_SCOPE_BEGIN(label, name)                                                                \
    static sp_site SP_JOIN(sp_site_of_, label);                                                    \
    sp_call SP_JOIN(sp_call_of_, label) =                                                          \
        sp_site_begin(&SP_JOIN(sp_site_of_, label), "" name, __FILE__, __LINE__)
#define SP_SCOPE_END(label) sp_call_end(&SP_JOIN(sp_call_of_, label))

#if defined(__GNUC__)
#define SP_HAS_SCOPE 1
#define SP_SCOPE(name)                                                                             \
    static sp_site SP_JOIN(sp_site_in_line_, __LINE__);                                            \
    __attribute__((cleanup(sp_call_end), unused)) const sp_call SP_JOIN(sp_call_in_line_,          \
                                                                        __LINE__) =                \
        sp_site_begin(&SP_JOIN(sp_site_in_line_, __LINE__), "" name, __FILE__, __LINE__)
#else
#define SP_HAS_SCOPE 0
#endif

/* Begins a call of the region `name`, which `site` remembers from the first time on. */
SP_API sp_call sp_site_begin(sp_site *site, const char *name, const char *file, int line);
/* Begins a call of a region that is known. */
SP_API sp_call sp_call_begin(int region);
/* Ends the innermost open call of that region; nothing when none was begun, or when another
 * recording has started since. */
SP_API void sp_call_end(const sp_call *call);
/* Handle of the region `name` of a profiler, which `site` remembers from the first time on. */
SP_API int sp_profiler_site(sp_profiler *profiler, sp_site *site, const char *name, const char *file,
                            int line);

/* ---- Tags and metadata -----------------------------------------------------------------------*/

/* As sp_region, with tags: names separated by commas, kept in the file. NULL and "": none. */
SP_API int sp_region_tagged(const char *name, const char *tags);
SP_API int sp_profiler_region_tagged(sp_profiler *profiler, const char *name, const char *tags);

/* Regions with this tag are off from now on unless it is enabled, also those that exist: for
 * libraries whose regions only their authors want to see. SP_ERR_INVALID_ARGUMENT, SP_ERR_NO_MEMORY. */
SP_API int sp_register_opt_in_tag(const char *tag);
/* Enables opt-in tags (separated by commas, "*": all) for the rest of the process, beside those of
 * the environment variable SCOPE_PROFILER_ENABLE_TAGS. */
SP_API int sp_enable_tags(const char *tags);

/* Gives the innermost open call of this thread a piece of metadata; a key given again replaces the
 * value. SP_ERR_INACTIVE, SP_ERR_UNMATCHED_END when no call is open, SP_ERR_INVALID_ARGUMENT. */
SP_API int sp_metadata_int(const char *key, int64_t value);
SP_API int sp_metadata_double(const char *key, double value);
SP_API int sp_metadata_string(const char *key, const char *value);

/* ---- While it records ------------------------------------------------------------------------*/

/* Between the two, calls that begin are ignored; calls that were open end normally. */
SP_API void sp_pause(void);
SP_API void sp_resume(void);

/* Calls entered so far in `region`, all threads; 0 for an unknown handle. Also after sp_finalize. */
SP_API int64_t sp_num_calls(int region);

/* Totals of a region, also after sp_finalize. SP_ERR_INVALID_ARGUMENT for an unknown handle. */
SP_API int sp_get_region_stats(int region, sp_region_stats *out);

/* Forgets the recorded calls; open calls go on. */
SP_API int sp_reset(void);

/* Names the calling thread in the thread table of the file. Threads that nobody names have the name that
 * the system knows them by. NULL takes the name away. */
SP_API void sp_name_thread(const char *name);

/* Nanoseconds of CLOCK_MONOTONIC now. */
SP_API int64_t sp_now_ns(void);

/* 1 while the default profiler records, else 0. */
SP_API int sp_is_active(void);

/* Chooses the kind of file: before sp_init for the next recording, or while one goes on. The
 * default is HDF5, and a native trace (.spt) where the HDF5 module is missing. A host that this
 * process joined keeps its own file. SP_ERR_UNSUPPORTED when this build lacks the format. */
SP_API int sp_set_output_format(sp_output_format format);
SP_API sp_output_format sp_current_output_format(void);

/* Names a TOML file with the settings of the recordings that sp_init starts from now on; NULL: none. The
 * file is that of the Python package: a table [profiling] with sub-tables, or its entries at the top.
 * The environment wins over it: SCOPE_PROFILER_CONFIG names another file, other variables single
 * settings. `file_path` wins over the prefix of sp_init. A relative path counts from the folder that is
 * current now; the file is read once now, and at each start. SP_ERR_IO and SP_ERR_INVALID_ARGUMENT with
 * what is wrong in sp_last_error; SP_ERR_NO_MODULE when the TOML module is missing. */
SP_API int sp_configure_file(const char *path);

/* Whether the next recording keeps totals instead of every call; before sp_init.
 * SP_ERR_INVALID_ARGUMENT while a recording of the other kind goes on. */
SP_API int sp_set_aggregation(int is_on);

/* Path of the file that sp_finalize writes (the host's file when joined). */
SP_API const char *sp_output_path(void);

/* Writes what is closed and goes on recording; later files hold only what ended since. When this
 * process's recording belongs to a host, it does nothing and returns SP_OK. */
SP_API int sp_flush(void);

/* Text of the last error, "" when there was none. */
SP_API const char *sp_last_error(void);

/* Whether the library keeps quiet: else it says each kind of trouble once, in one line on standard
 * error. Returns what was set before. */
SP_API int sp_set_quiet(int is_quiet);

/* Writes the file and stops. SP_OK; SP_ERR_INACTIVE when nothing was active; SP_ERR_OPEN_SCOPES
 * when calls were still open (they alone are left out, the file is written); SP_ERR_IO or
 * SP_ERR_NO_MODULE when nothing could be written: the data stay and sp_finalize may be called
 * again. When this process's recording belongs to a host, it only leaves and returns SP_OK. */
SP_API int sp_finalize(void);

/* The default profiler as an instance; NULL before the first sp_init. */
SP_API sp_profiler *sp_default_profiler(void);

/* ---- Independent profilers ------------------------------------------------------------------*/

/* New profiler, recording at once; NULL when memory is short. The same arguments as sp_init. */
SP_API sp_profiler *sp_create(const char *prefix, int rank);

/* Frees it; nothing is written. No other thread may be inside one of its functions. NULL is fine. */
SP_API void sp_destroy(sp_profiler *profiler);

SP_API int sp_profiler_region(sp_profiler *profiler, const char *name);
SP_API int sp_profiler_region_at(sp_profiler *profiler, const char *name, const char *file,
                                 int line);
#define SP_PROFILER_REGION_AT(profiler, name)                                                      \
    sp_profiler_region_at((profiler), (name), __FILE__, __LINE__)

/* As sp_begin and sp_end. Return SP_OK, SP_ERR_INACTIVE, SP_ERR_INVALID_ARGUMENT (a handle that
 * this profiler does not know), SP_ERR_UNMATCHED_END. */
SP_API int sp_profiler_begin(sp_profiler *profiler, int region);
SP_API int sp_profiler_end(sp_profiler *profiler, int region);

/* Leaves the region opened last on this thread. */
SP_API int sp_profiler_end_last(sp_profiler *profiler);

/* Explicit token: sp_scope_end closes exactly that call, and answers SP_ERR_OPEN_SCOPES when calls
 * opened later were still open (it is then recorded as crossing), SP_ERR_UNMATCHED_END when it was
 * closed before. */
SP_API sp_scope sp_profiler_scope_begin(sp_profiler *profiler, int region);
SP_API int sp_scope_end(sp_scope scope);

SP_API void sp_profiler_pause(sp_profiler *profiler);
SP_API void sp_profiler_resume(sp_profiler *profiler);

/* Forgets the recorded calls; open calls go on. */
SP_API int sp_profiler_reset(sp_profiler *profiler);

SP_API int sp_profiler_get_region_stats(sp_profiler *profiler, int region, sp_region_stats *out);
SP_API int sp_profiler_num_regions(sp_profiler *profiler);
/* Name of the i-th region of this profiler in order of creation, NULL outside the range. */
SP_API const char *sp_profiler_region_name(sp_profiler *profiler, int i);

/* Writes what is closed and goes on recording; later files hold only what ended since. */
SP_API int sp_profiler_flush(sp_profiler *profiler);
/* Writes and stops; statuses of sp_finalize. */
SP_API int sp_profiler_finalize(sp_profiler *profiler);

SP_API int sp_profiler_is_active(sp_profiler *profiler);
SP_API const char *sp_profiler_output_path(sp_profiler *profiler);
/* Text of the last error of this profiler, "" when there was none. */
SP_API const char *sp_profiler_last_error(sp_profiler *profiler);
SP_API int sp_profiler_set_output_format(sp_profiler *profiler, sp_output_format format);
SP_API sp_output_format sp_profiler_output_format(sp_profiler *profiler);

/* 1 when the HDF5 module can be loaded. */
SP_API int sp_hdf5_available(void);
SP_API sp_output_format sp_default_output_format(void);

#endif /* SP_DISABLE_PROFILING */

#ifdef __cplusplus
}
#endif
#endif
