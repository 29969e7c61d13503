/* scope_profiler_functions.h - the functions of scope_profiler.h that record, as one list, for code that
 * passes calls on to a recorder which it finds at run time.
 *
 *     SP_FUNCTIONS(RESULT, VOID)
 *         RESULT(type, name, (parameters), (arguments), what it answers without a recorder)
 *         VOID(name, (parameters), (arguments))
 *
 * Whoever expands the answers defines SP_ABSENT_STATUS, the status of sp_init, and SP_ABSENT_TEXT, what
 * sp_last_error says.
 *
 * Entries are only ever added, at the end.
 */
#ifndef SCOPE_PROFILER_FUNCTIONS_H
#define SCOPE_PROFILER_FUNCTIONS_H

#include "scope_profiler.h"

/* A call that was not begun. */
static inline sp_call sp_no_call(void)
{
    sp_call call;
    call.region = SP_INVALID_REGION;
    call.recording = 0;
    return call;
}

static inline sp_scope sp_no_scope(sp_profiler *profiler, int region)
{
    sp_scope scope;
    scope.profiler = profiler;
    scope.region = region;
    scope.slot = -1;
    return scope;
}

#define SP_FUNCTIONS(RESULT, VOID)                                                                 \
    RESULT(int, sp_init, (const char *prefix, int rank), (prefix, rank), SP_ABSENT_STATUS)         \
    RESULT(int, sp_region, (const char *name), (name), SP_INVALID_REGION)                          \
    RESULT(int, sp_region_at, (const char *name, const char *file, int line), (name, file, line),  \
           SP_INVALID_REGION)                                                                      \
    VOID(sp_begin, (int region), (region))                                                         \
    VOID(sp_end, (int region), (region))                                                           \
    RESULT(sp_call, sp_site_begin, (sp_site *site, const char *name, const char *file, int line),  \
           (site, name, file, line), sp_no_call())                                                 \
    RESULT(sp_call, sp_call_begin, (int region), (region), sp_no_call())                           \
    VOID(sp_call_end, (const sp_call *call), (call))                                               \
    RESULT(int, sp_profiler_site,                                                                  \
           (sp_profiler *profiler, sp_site *site, const char *name, const char *file, int line),   \
           (profiler, site, name, file, line), SP_INVALID_REGION)                                  \
    RESULT(int, sp_region_tagged, (const char *name, const char *tags), (name, tags),              \
           SP_INVALID_REGION)                                                                      \
    RESULT(int, sp_profiler_region_tagged,                                                         \
           (sp_profiler *profiler, const char *name, const char *tags), (profiler, name, tags),    \
           SP_INVALID_REGION)                                                                      \
    RESULT(int, sp_register_opt_in_tag, (const char *tag), (tag), SP_ABSENT_STATUS)                \
    RESULT(int, sp_enable_tags, (const char *tags), (tags), SP_ABSENT_STATUS)                      \
    RESULT(int, sp_metadata_int, (const char *key, int64_t value), (key, value), SP_ERR_INACTIVE)  \
    RESULT(int, sp_metadata_double, (const char *key, double value), (key, value),                 \
           SP_ERR_INACTIVE)                                                                        \
    RESULT(int, sp_metadata_string, (const char *key, const char *value), (key, value),            \
           SP_ERR_INACTIVE)                                                                        \
    VOID(sp_pause, (void), ())                                                                     \
    VOID(sp_resume, (void), ())                                                                    \
    RESULT(int64_t, sp_num_calls, (int region), (region), 0)                                       \
    RESULT(int, sp_get_region_stats, (int region, sp_region_stats *out), (region, out),            \
           SP_ERR_INVALID_ARGUMENT)                                                                \
    RESULT(int, sp_reset, (void), (), SP_ERR_INACTIVE)                                             \
    RESULT(int, sp_is_active, (void), (), 0)                                                       \
    RESULT(int, sp_set_output_format, (sp_output_format format), (format), SP_ABSENT_STATUS)       \
    RESULT(sp_output_format, sp_current_output_format, (void), (), SP_OUTPUT_TRACE)                \
    RESULT(int, sp_set_aggregation, (int is_on), (is_on), SP_ABSENT_STATUS)                        \
    RESULT(const char *, sp_output_path, (void), (), "")                                           \
    RESULT(int, sp_flush, (void), (), SP_ERR_INACTIVE)                                             \
    RESULT(const char *, sp_last_error, (void), (), SP_ABSENT_TEXT)                                \
    RESULT(int, sp_set_quiet, (int is_quiet), (is_quiet), 0)                                       \
    RESULT(int, sp_finalize, (void), (), SP_ERR_INACTIVE)                                          \
    RESULT(sp_profiler *, sp_default_profiler, (void), (), 0)                                      \
    RESULT(sp_profiler *, sp_create, (const char *prefix, int rank), (prefix, rank), 0)            \
    VOID(sp_destroy, (sp_profiler *profiler), (profiler))                                          \
    RESULT(int, sp_profiler_region, (sp_profiler *profiler, const char *name), (profiler, name),   \
           SP_INVALID_REGION)                                                                      \
    RESULT(int, sp_profiler_region_at,                                                             \
           (sp_profiler *profiler, const char *name, const char *file, int line),                  \
           (profiler, name, file, line), SP_INVALID_REGION)                                        \
    RESULT(int, sp_profiler_begin, (sp_profiler *profiler, int region), (profiler, region),        \
           SP_ERR_INVALID_ARGUMENT)                                                                \
    RESULT(int, sp_profiler_end, (sp_profiler *profiler, int region), (profiler, region),          \
           SP_ERR_INVALID_ARGUMENT)                                                                \
    RESULT(int, sp_profiler_end_last, (sp_profiler *profiler), (profiler),                         \
           SP_ERR_INVALID_ARGUMENT)                                                                \
    RESULT(sp_scope, sp_profiler_scope_begin, (sp_profiler *profiler, int region),                 \
           (profiler, region), sp_no_scope(profiler, region))                                      \
    RESULT(int, sp_scope_end, (sp_scope scope), (scope), SP_ERR_INVALID_ARGUMENT)                  \
    VOID(sp_profiler_pause, (sp_profiler *profiler), (profiler))                                   \
    VOID(sp_profiler_resume, (sp_profiler *profiler), (profiler))                                  \
    RESULT(int, sp_profiler_reset, (sp_profiler *profiler), (profiler), SP_ERR_INVALID_ARGUMENT)   \
    RESULT(int, sp_profiler_get_region_stats,                                                      \
           (sp_profiler *profiler, int region, sp_region_stats *out), (profiler, region, out),     \
           SP_ERR_INVALID_ARGUMENT)                                                                \
    RESULT(int, sp_profiler_num_regions, (sp_profiler *profiler), (profiler), 0)                   \
    RESULT(const char *, sp_profiler_region_name, (sp_profiler *profiler, int i), (profiler, i),   \
           0)                                                                                      \
    RESULT(int, sp_profiler_flush, (sp_profiler *profiler), (profiler), SP_ERR_INVALID_ARGUMENT)   \
    RESULT(int, sp_profiler_finalize, (sp_profiler *profiler), (profiler),                         \
           SP_ERR_INVALID_ARGUMENT)                                                                \
    RESULT(int, sp_profiler_is_active, (sp_profiler *profiler), (profiler), 0)                     \
    RESULT(const char *, sp_profiler_output_path, (sp_profiler *profiler), (profiler), "")         \
    RESULT(const char *, sp_profiler_last_error, (sp_profiler *profiler), (profiler), "")          \
    RESULT(int, sp_profiler_set_output_format,                                                     \
           (sp_profiler *profiler, sp_output_format format), (profiler, format),                   \
           SP_ERR_INVALID_ARGUMENT)                                                                \
    RESULT(sp_output_format, sp_profiler_output_format, (sp_profiler *profiler), (profiler),       \
           SP_OUTPUT_TRACE)                                                                        \
    RESULT(int, sp_configure_file, (const char *path), (path), SP_ABSENT_STATUS)                   \
    VOID(sp_name_thread, (const char *name), (name))

#endif
