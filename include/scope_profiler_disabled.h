/* scope_profiler_disabled.h - scope_profiler.h for programs compiled with SP_DISABLE_PROFILING: the same
 * names, with nothing behind them. No symbol is made and no library needed. Every call answers what
 * a recording would that goes well and holds nothing.
 */
#ifndef SCOPE_PROFILER_H

#ifndef SP_DISABLE_PROFILING
#define SP_DISABLE_PROFILING
#endif
#include "scope_profiler.h" /* and this file again, in the place of the real functions */

#elif !defined(SCOPE_PROFILER_DISABLED_H)
#define SCOPE_PROFILER_DISABLED_H

#if defined(__GNUC__)
#define SP_NOTHING static __inline __attribute__((always_inline, unused))
#else
#define SP_NOTHING static inline
#endif

#define SP_HAS_SCOPE 1
#define SP_SCOPE(name) ((void)0)
#define SP_SCOPE_BEGIN(label, name) ((void)0)
#define SP_SCOPE_END(label) ((void)0)
#define SP_REGION_AT(name) SP_INVALID_REGION
#define SP_PROFILER_REGION_AT(profiler, name) SP_INVALID_REGION

SP_NOTHING const char *sp_error_string(int status) { (void)status; return ""; }
SP_NOTHING const char *sp_version(void) { return ""; }
SP_NOTHING int sp_init(const char *prefix, int rank) { (void)prefix; (void)rank; return SP_OK; }
SP_NOTHING int sp_region(const char *name) { (void)name; return SP_INVALID_REGION; }
SP_NOTHING int sp_region_at(const char *name, const char *file, int line)
{
    (void)name;
    (void)file;
    (void)line;
    return SP_INVALID_REGION;
}
SP_NOTHING void sp_begin(int region) { (void)region; }
SP_NOTHING void sp_end(int region) { (void)region; }
SP_NOTHING sp_call sp_site_begin(sp_site *site, const char *name, const char *file, int line)
{
    (void)site;
    (void)name;
    (void)file;
    (void)line;
    sp_call nothing = {SP_INVALID_REGION, 0};
    return nothing;
}
SP_NOTHING sp_call sp_call_begin(int region)
{
    (void)region;
    sp_call nothing = {SP_INVALID_REGION, 0};
    return nothing;
}
SP_NOTHING void sp_call_end(const sp_call *call) { (void)call; }
SP_NOTHING int sp_profiler_site(sp_profiler *profiler, sp_site *site, const char *name,
                                const char *file, int line)
{
    (void)profiler;
    (void)site;
    (void)name;
    (void)file;
    (void)line;
    return SP_INVALID_REGION;
}
SP_NOTHING int sp_region_tagged(const char *name, const char *tags)
{
    (void)name;
    (void)tags;
    return SP_INVALID_REGION;
}
SP_NOTHING int sp_profiler_region_tagged(sp_profiler *profiler, const char *name,
                                         const char *tags)
{
    (void)profiler;
    (void)name;
    (void)tags;
    return SP_INVALID_REGION;
}
SP_NOTHING int sp_register_opt_in_tag(const char *tag) { (void)tag; return SP_OK; }
SP_NOTHING int sp_enable_tags(const char *tags) { (void)tags; return SP_OK; }
SP_NOTHING int sp_metadata_int(const char *key, int64_t value)
{
    (void)key;
    (void)value;
    return SP_OK;
}
SP_NOTHING int sp_metadata_double(const char *key, double value)
{
    (void)key;
    (void)value;
    return SP_OK;
}
SP_NOTHING int sp_metadata_string(const char *key, const char *value)
{
    (void)key;
    (void)value;
    return SP_OK;
}
SP_NOTHING void sp_pause(void) {}
SP_NOTHING void sp_resume(void) {}
SP_NOTHING int64_t sp_num_calls(int region) { (void)region; return 0; }
SP_NOTHING int sp_get_region_stats(int region, sp_region_stats *out)
{
    (void)region;
    (void)out;
    return SP_ERR_INACTIVE;
}
SP_NOTHING int sp_reset(void) { return SP_OK; }
SP_NOTHING int64_t sp_now_ns(void) { return 0; }
SP_NOTHING int sp_is_active(void) { return 0; }
SP_NOTHING int sp_set_output_format(sp_output_format format) { (void)format; return SP_OK; }
SP_NOTHING sp_output_format sp_current_output_format(void) { return SP_OUTPUT_HDF5; }
SP_NOTHING void sp_name_thread(const char *name) { (void)name; }
SP_NOTHING int sp_configure_file(const char *path) { (void)path; return SP_OK; }
SP_NOTHING int sp_set_aggregation(int is_on) { (void)is_on; return SP_OK; }
SP_NOTHING const char *sp_output_path(void) { return ""; }
SP_NOTHING int sp_flush(void) { return SP_OK; }
SP_NOTHING const char *sp_last_error(void) { return ""; }
SP_NOTHING int sp_set_quiet(int is_quiet) { return is_quiet; }
SP_NOTHING int sp_finalize(void) { return SP_OK; }
SP_NOTHING sp_profiler *sp_default_profiler(void) { return NULL; }
/* Not NULL, which would mean that memory is short. */
SP_NOTHING sp_profiler *sp_create(const char *prefix, int rank)
{
    union {
        intptr_t number;
        sp_profiler *profiler;
    } some = {1};
    (void)prefix;
    (void)rank;
    return some.profiler;
}
SP_NOTHING void sp_destroy(sp_profiler *profiler) { (void)profiler; }
SP_NOTHING int sp_profiler_region(sp_profiler *profiler, const char *name)
{
    (void)profiler;
    (void)name;
    return SP_INVALID_REGION;
}
SP_NOTHING int sp_profiler_region_at(sp_profiler *profiler, const char *name, const char *file,
                                     int line)
{
    (void)profiler;
    (void)name;
    (void)file;
    (void)line;
    return SP_INVALID_REGION;
}
SP_NOTHING int sp_profiler_begin(sp_profiler *profiler, int region)
{
    (void)profiler;
    (void)region;
    return SP_OK;
}
SP_NOTHING int sp_profiler_end(sp_profiler *profiler, int region)
{
    (void)profiler;
    (void)region;
    return SP_OK;
}
SP_NOTHING int sp_profiler_end_last(sp_profiler *profiler) { (void)profiler; return SP_OK; }
SP_NOTHING sp_scope sp_profiler_scope_begin(sp_profiler *profiler, int region)
{
    (void)profiler;
    (void)region;
    sp_scope nothing = {NULL, SP_INVALID_REGION, -1};
    return nothing;
}
SP_NOTHING int sp_scope_end(sp_scope scope) { (void)scope; return SP_OK; }
SP_NOTHING void sp_profiler_pause(sp_profiler *profiler) { (void)profiler; }
SP_NOTHING void sp_profiler_resume(sp_profiler *profiler) { (void)profiler; }
SP_NOTHING int sp_profiler_reset(sp_profiler *profiler) { (void)profiler; return SP_OK; }
SP_NOTHING int sp_profiler_get_region_stats(sp_profiler *profiler, int region,
                                            sp_region_stats *out)
{
    (void)profiler;
    (void)region;
    (void)out;
    return SP_ERR_INACTIVE;
}
SP_NOTHING int sp_profiler_num_regions(sp_profiler *profiler) { (void)profiler; return 0; }
SP_NOTHING const char *sp_profiler_region_name(sp_profiler *profiler, int i)
{
    (void)profiler;
    (void)i;
    return NULL;
}
SP_NOTHING int sp_profiler_flush(sp_profiler *profiler) { (void)profiler; return SP_OK; }
SP_NOTHING int sp_profiler_finalize(sp_profiler *profiler) { (void)profiler; return SP_OK; }
SP_NOTHING int sp_profiler_is_active(sp_profiler *profiler) { (void)profiler; return 0; }
SP_NOTHING const char *sp_profiler_output_path(sp_profiler *profiler)
{
    (void)profiler;
    return "";
}
SP_NOTHING const char *sp_profiler_last_error(sp_profiler *profiler)
{
    (void)profiler;
    return "";
}
SP_NOTHING int sp_profiler_set_output_format(sp_profiler *profiler, sp_output_format format)
{
    (void)profiler;
    (void)format;
    return SP_OK;
}
SP_NOTHING sp_output_format sp_profiler_output_format(sp_profiler *profiler)
{
    (void)profiler;
    return SP_OUTPUT_HDF5;
}
SP_NOTHING int sp_hdf5_available(void) { return 0; }
SP_NOTHING sp_output_format sp_default_output_format(void) { return SP_OUTPUT_HDF5; }

#endif
