/* Starting and ending a recording of native code. */
#include "base/error.h"
#include "base/os/file.h"
#include "base/text.h"
#include "session/complaint.h"
#include "session/environment.h"
#include "session/final_signals.h"
#include "session/instruments.h"
#include "session/native_run.h"
#include "session/native_values.h"
#include "session/tags.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_PREFIX "scope_profile"

static const int64_t SECOND_NS = INT64_C(1000000000);

/* A relative path counts from the folder that is current now. */
static void add_folder(sp_text *path, const char *given)
{
    char folder[PATH_MAX];
    if (given[0] != '/' && sp_os_current_folder(folder, sizeof folder))
        sp_text_format(path, "%s/", folder);
}

/* `rank` below 0: of all ranks together. */
static char *output_of_prefix(const char *prefix, int rank, sp_output_format format)
{
    sp_text path = {0};
    add_folder(&path, prefix);
    sp_text_add(&path, prefix);
    if (rank >= 0)
        sp_text_format(&path, "_rank%05d", rank);
    sp_text_add(&path, sp_output_suffix(format));
    return sp_text_take(&path);
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), wanted = strlen(end);
    return length >= wanted && strcmp(text + length - wanted, end) == 0;
}

static bool names_rank(const char *given)
{
    return strstr(given, "{rank}") != NULL || strstr(given, "{pid}") != NULL;
}

/* The path that a setting gives; with several ranks each gets its number before the suffix, which also
 * tells the format, unless the path says where it goes. `is_joint`: of all ranks together. */
static char *output_of_setting(const char *given, int rank, bool is_joint,
                               sp_output_format *out_format)
{
    char *filled = sp_native_fill_in(given, rank);
    if (filled == NULL)
        return NULL;
    sp_text path = {0};
    *out_format = ends_with(filled, ".spt") ? SP_OUTPUT_TRACE : SP_OUTPUT_HDF5;
    const char *suffix = sp_output_suffix(*out_format);
    size_t stem = strlen(filled) - (ends_with(filled, suffix) ? strlen(suffix) : 0);
    add_folder(&path, filled);
    sp_text_add_n(&path, filled, stem);
    if (!is_joint && !names_rank(given) && (rank > 0 || sp_environment_rank() >= 0))
        sp_text_format(&path, "_rank%05d", rank);
    sp_text_add(&path, filled + stem);
    free(filled);
    return sp_text_take(&path);
}

/* Formats that are made of a profile afterwards. */
static int check_format(const char *given, sp_error *error)
{
    static const char *const made[] = {".json", ".json.gz", ".html", ".htm"};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        if (ends_with(given, made[i]))
            return sp_fail(error, SP_ERR_UNSUPPORTED,
                           "native programs write .h5 and .spt, not '%s'; make it of one of them "
                           "with scope-profiler convert",
                           given);
    return SP_OK;
}

static int check_arguments(const char *prefix, int rank, sp_error *error)
{
    if (rank < 0)
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "rank %d is negative", rank);
    if (prefix[0] == '\0')
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT,
                       "the prefix of the output is empty; pass NULL for \"" DEFAULT_PREFIX "\"");
    return SP_OK;
}

/* What the values say of the file, and how much is kept. */
static void apply(const sp_setting_value values[], sp_settings *settings)
{
    const sp_setting_value *level = &values[SP_SETTING_HDF5_COMPRESSION_LEVEL];
    if (values[SP_SETTING_LABEL].is_given)
        settings->label = values[SP_SETTING_LABEL].text;
    settings->is_aggregate = settings->is_aggregate || values[SP_SETTING_AGGREGATION_MODE].flag;
    const char *detail = values[SP_SETTING_METADATA_DETAIL].text;
    settings->has_details = detail != NULL && strcmp(detail, "full") == 0;
    settings->track_threads = values[SP_SETTING_TRACK_THREADS].flag;
    if (values[SP_SETTING_JOURNAL].is_given)
        settings->journal = values[SP_SETTING_JOURNAL].text;
    if (values[SP_SETTING_JOURNAL_FLUSH].is_given)
        settings->journal_flush = (double)values[SP_SETTING_JOURNAL_FLUSH].integer;
    settings->max_memory = (size_t)values[SP_SETTING_MAX_MEMORY].integer;
    settings->checkpoint_interval = values[SP_SETTING_CHECKPOINT_INTERVAL].number;
    settings->on_full = values[SP_SETTING_ON_FULL].text;
    settings->store = (sp_store_options){
        .size = sizeof settings->store,
        .compression = values[SP_SETTING_HDF5_COMPRESSION].text,
        .compression_level = level->is_given ? (int)level->integer : -1,
        .chunk_size = (uint64_t)values[SP_SETTING_HDF5_CHUNK_SIZE].integer,
    };
}

/* Whether, and into which file, the ranks of a job publish together. */
static void choose_joint(const sp_setting_value values[], const char *prefix, int rank,
                         sp_settings *settings, char **out_path)
{
    const sp_setting_value *given = &values[SP_SETTING_FILE_PATH];
    const sp_setting_value *mode = &values[SP_SETTING_OUTPUT_MODE];
    sp_output_format format = settings->format;
    *out_path = given->is_given ? output_of_setting(given->text, rank, true, &format)
                                : output_of_prefix(prefix, -1, format);
    settings->joint_output = settings->output == NULL ? NULL : *out_path;
    settings->is_joint = *out_path != NULL && format == SP_OUTPUT_HDF5 &&
                         !(given->is_given && names_rank(given->text)) &&
                         !(mode->is_given && strcmp(mode->text, "per-rank") == 0);
    settings->timeout_ns = values[SP_SETTING_FINALIZE_TIMEOUT].integer * SECOND_NS;
}

/* Whoever started the program asked for it, and the program may not look at the status. */
static int refuse_parallel(sp_error *error)
{
    sp_error own;
    error = error == NULL ? &own : error;
    int status = sp_fail(error, SP_ERR_UNSUPPORTED,
                         "output_mode 'parallel' needs an HDF5 that is built with MPI, which this "
                         "one is not; 'direct' hands the calls of all ranks to rank 0");
    sp_complain("recording does not start: %s", error->text);
    return status;
}

static int want_signals(const sp_setting_value values[], sp_error *error)
{
    const sp_setting_value *wanted = &values[SP_SETTING_FINALIZE_SIGNALS];
    return wanted->is_given ? sp_final_signals_want(wanted->items, wanted->num_items, error)
                            : sp_final_signals_want_text(
                                  sp_environment_text(SP_ENVIRONMENT_FINALIZE_SIGNALS), error);
}

static int start(sp_profiler *profiler, const sp_native_settings *native, const char *prefix,
                 int rank, const sp_setting_value values[], sp_error *error)
{
    const sp_setting_value *given = &values[SP_SETTING_FILE_PATH];
    bool is_in_memory = values[SP_SETTING_DEACTIVATE_FILE_OUTPUT].flag;
    const char *slash = strrchr(prefix, '/');
    sp_settings settings = {
        .label = slash == NULL ? prefix : slash + 1,
        .rank = (uint32_t)rank,
        .format = native->has_format ? native->format : sp_default_output_format(),
        .is_aggregate = native->is_aggregate,
        .journal_flush = -1,
    };
    apply(values, &settings);
    int status = given->is_given ? check_format(given->text, error) : SP_OK;
    if (status != SP_OK)
        return status;
    char *joint;
    char *path = given->is_given ? output_of_setting(given->text, rank, false, &settings.format)
                                 : output_of_prefix(prefix, rank, settings.format);
    settings.output = is_in_memory ? NULL : path;
    choose_joint(values, prefix, rank, &settings, &joint);
    if (path == NULL)
        status = sp_fail_memory(error, "starting a recording");
    else if (settings.format == SP_OUTPUT_TRACE && settings.is_aggregate)
        status = sp_fail(error, SP_ERR_UNSUPPORTED,
                         "a native trace holds calls, and aggregation keeps totals only; totals "
                         "need a build with HDF5");
    else if (values[SP_SETTING_OUTPUT_MODE].is_given &&
             strcmp(values[SP_SETTING_OUTPUT_MODE].text, "parallel") == 0 &&
             sp_job_launched_size() > 1)
        status = refuse_parallel(error);
    else
        status = want_signals(values, error);
    if (status == SP_OK) {
        settings.instruments = sp_instruments_of_settings(values);
        status = sp_profiler_start(profiler, &settings, error);
    }
    free(path);
    free(joint);
    return status;
}

/* Of the default profiler: no host asks for any, a settings file may. */
static int take_tags(const sp_setting_value *enabled, sp_error *error)
{
    static const sp_binding_tags none = {NULL, 0};
    sp_binding_tags tags = {enabled->items, enabled->num_items};
    return sp_tags_filter(&none, &tags, error);
}

int sp_native_start(sp_profiler *profiler, const sp_native_settings *native, const char *prefix,
                    int rank, sp_error *error)
{
    sp_setting_value values[SP_NUM_SETTINGS];
    sp_arena texts = {0};
    sp_error trouble = {0};
    prefix = prefix == NULL ? DEFAULT_PREFIX : prefix;
    int status = sp_native_gather(profiler == &sp_default, &texts, values, &trouble);
    if (status != SP_OK) { /* whoever wrote the program did not write these settings */
        sp_complain("recording does not start: %s", trouble.text);
        if (error != NULL)
            *error = trouble;
    }
    profiler->is_muted = status == SP_OK && values[SP_SETTING_DEACTIVATE_PROFILING].flag;
    if (status == SP_OK)
        status = check_arguments(prefix, rank, error);
    if (status == SP_OK && profiler == &sp_default)
        status = take_tags(&values[SP_SETTING_ENABLE_TAGS], error);
    if (status == SP_OK && !profiler->is_muted)
        status = start(profiler, native, prefix, rank, values, error);
    sp_arena_release(&texts);
    return status;
}

int sp_native_finalize(sp_profiler *profiler, sp_error *error)
{
    sp_recording *recording = &profiler->recording;
    sp_phase phase = sp_recording_phase(recording);
    sp_binding_report report;
    sp_job job;
    sp_recording_stop(recording);
    bool is_joint = sp_job_open(&job, profiler);
    int status = is_joint
                     ? sp_profiler_publish_jointly(profiler, &job, false, false, &report, error)
                     : sp_profiler_publish_native(profiler, false, false, &report, error);
    if (is_joint)
        sp_job_close(&job);
    else if (status == SP_OK)
        sp_job_say_alone(profiler);
    if (status != SP_OK) {
        sp_recording_continue(recording, phase);
        return status;
    }
    free(report.image);
    if (report.calls_open > 0) {
        sp_profiler_report_open(profiler);
        const char *output = profiler->settings.output;
        status = sp_fail(error, SP_ERR_OPEN_SCOPES, "%llu call(s) still open are left out of %s",
                         (unsigned long long)report.calls_open,
                         output == NULL ? "the run" : output);
    }
    sp_profiler_stop(profiler);
    return status;
}
