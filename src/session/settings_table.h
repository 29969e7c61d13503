/* settings_table.h - every setting of a run, in one table: its name, what it takes, its default, what
 * is checked and one sentence of help. The keywords of the Python package, its option classes, settings
 * files, native programs and the documentation go by it.
 *
 * Not installed; exported to the language bindings of this tree under SCOPE_PROFILER_PRIVATE. Nothing
 * here keeps state: every function may be called from any thread at any time.
 *
 * A setting is meant by its number in the table (a sp_setting_id). What people write is found by
 * sp_setting_find ("hdf5_compression") or sp_setting_find_in ("hdf5", "compression"), becomes a
 * sp_setting_value of the kind of the setting and is checked by sp_setting_check, which also brings it
 * into its normal form; sp_setting_check_together then looks at all of them. Errors name the setting,
 * the value and what would do.
 */
#ifndef SP_SESSION_SETTINGS_TABLE_H
#define SP_SESSION_SETTINGS_TABLE_H

#include "scope_plugin.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* In the order in which documents list them. */
typedef enum sp_setting_id {
    SP_SETTING_FILE_PATH,
    SP_SETTING_LABEL,
    SP_SETTING_USE_LIKWID,
    SP_SETTING_PERF_EVENTS,
    SP_SETTING_PERF_EVENTS_KERNEL,
    SP_SETTING_TRACK_CPU,
    SP_SETTING_COUNTERS_PER_CALL,
    SP_SETTING_USE_LINE_PROFILER,
    SP_SETTING_USE_MEMRAY,
    SP_SETTING_MEMORY_PROFILE_PATH,
    SP_SETTING_MEMRAY_NATIVE_TRACES,
    SP_SETTING_MEMRAY_TRACE_PYTHON_ALLOCATORS,
    SP_SETTING_MEMRAY_FOLLOW_FORK,
    SP_SETTING_TRACK_MEMORY,
    SP_SETTING_DEACTIVATE_PROFILING,
    SP_SETTING_USE_NVTX,
    SP_SETTING_USE_GPU_TIMING,
    SP_SETTING_GPU_TIMING_BACKEND,
    SP_SETTING_GPU_SYNC_ON_EXIT,
    SP_SETTING_DEACTIVATE_FILE_OUTPUT,
    SP_SETTING_RECURSIVE_PROFILE,
    SP_SETTING_AGGREGATION_MODE,
    SP_SETTING_PROFILE_MPI_CALLS,
    SP_SETTING_TRACK_THREADS,
    SP_SETTING_TRACK_ASYNC,
    SP_SETTING_CAPTURE_REGION_SOURCE,
    SP_SETTING_METADATA_DETAIL,
    SP_SETTING_BUFFER_LIMIT,
    SP_SETTING_OUTPUT_MODE,
    SP_SETTING_FINALIZE_TIMEOUT,
    SP_SETTING_HDF5_COMPRESSION,
    SP_SETTING_HDF5_COMPRESSION_LEVEL,
    SP_SETTING_HDF5_CHUNK_SIZE,
    SP_SETTING_FINALIZE_SIGNALS,
    SP_SETTING_JOURNAL,
    SP_SETTING_JOURNAL_FLUSH,
    SP_SETTING_MAX_MEMORY,
    SP_SETTING_ON_FULL,
    SP_SETTING_CHECKPOINT_INTERVAL,
    SP_SETTING_ENABLE_TAGS,
    SP_NUM_SETTINGS
} sp_setting_id;

typedef enum sp_setting_kind {
    SP_SETTING_FLAG,
    SP_SETTING_INTEGER, /* within [lowest, highest] */
    SP_SETTING_SIZE,    /* an integer of bytes within [lowest, highest], from a text with a unit */
    SP_SETTING_NUMBER,  /* with a fraction, within [lowest, highest] */
    SP_SETTING_TEXT,
    SP_SETTING_PATH,    /* of a file; not empty */
    SP_SETTING_CHOICE,  /* one of `choices` exactly */
    SP_SETTING_FILTER,  /* one of `choices` in any case, blanks around it; "" and "none" mean none */
    SP_SETTING_EVENTS,  /* some of `choices`, at least one and none twice */
    SP_SETTING_TAGS,    /* any number of texts */
    SP_SETTING_OBJECT   /* of a language binding, which checks it */
} sp_setting_kind;

typedef struct sp_setting {
    const char *name;
    sp_setting_kind kind;
    const char *type;          /* as documents show it, in the words of Python */
    const char *initial;       /* the default as text; NULL: off, none or empty, as the kind has it */
    const char *const *choices; /* NULL-terminated; NULL: not by choices */
    int64_t lowest, highest;   /* of an integer, a size or a number */
    const char *group, *field; /* where it stands in an option group or sub-table; NULL: in none */
    bool is_native;            /* holds for programs in C, C++ and Fortran, too */
    const char *help;          /* one sentence */
} sp_setting;

/* A value of a setting. Texts are borrowed: as long as whoever made the value says. */
typedef struct sp_setting_value {
    bool is_given;   /* false: as if nobody had set it */
    bool flag;       /* FLAG */
    int64_t integer; /* INTEGER, SIZE */
    double number;   /* NUMBER */
    const char *text; /* TEXT, PATH, CHOICE; SIZE as given; FILTER, where NULL is none */
    const char *const *items; /* EVENTS, TAGS */
    size_t num_items;
} sp_setting_value;

/* The row of a setting; NULL past the end of the table. Rows live for ever. */
SP_API const sp_setting *sp_setting_at(size_t id);

/* The setting of that name, or that a field of a group means; -1: there is none. */
SP_API int sp_setting_find(const char *name);
SP_API int sp_setting_find_in(const char *group, const char *field);
/* Whether an option group is called so. */
SP_API bool sp_setting_is_group(const char *name);

/* The error about names that are no settings, each with its closest relative: "Unknown profiling
 * setting(s): 'use_likwd' (did you mean 'use_likwid'?)". `group`: they are fields of that group; NULL:
 * they stand beside settings and groups. Returns SP_ERR_INVALID_ARGUMENT. */
SP_API int sp_setting_unknown(const char *group, const char *const *names, size_t count,
                              sp_error *error);

/* The default, in normal form; its texts live for ever. `is_given` is false when that is none. */
SP_API sp_setting_value sp_setting_initial(sp_setting_id id);

/* Checks a value of the setting's kind and brings it into its normal form in place; texts of CHOICE
 * and FILTER then are the table's own. A value that is not given passes.
 * SP_ERR_INVALID_ARGUMENT with a text otherwise. */
SP_API int sp_setting_check(sp_setting_id id, sp_setting_value *value, sp_error *error);

/* Checks what one setting asks of others, of values that passed sp_setting_check. */
SP_API int sp_setting_check_together(const sp_setting_value values[SP_NUM_SETTINGS],
                                     sp_error *error);

/* An instrument and a mode, and why they do not combine; NULL: they do. Every pair of the two lists, each
 * from 0 on; SP_ERR_NOT_FOUND past their ends. */
typedef struct sp_combination {
    const sp_setting *instrument, *mode;
    const char *reason;
} sp_combination;

SP_API int sp_setting_combination_at(size_t instrument, size_t mode, sp_combination *out);
/* The part of sp_setting_check_together that goes by them. */
int sp_setting_combinations_check(const sp_setting_value values[SP_NUM_SETTINGS], sp_error *error);

/* The error about a value of another kind; `shown`: the value as the user wrote it. "Profiling setting
 * 'label' must be a string, got 3". Returns SP_ERR_INVALID_ARGUMENT. */
SP_API int sp_setting_wrong_kind(sp_setting_id id, const char *shown, sp_error *error);

#ifdef __cplusplus
}
#endif
#endif
