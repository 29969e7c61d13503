/* Settings from outside a native program, and the file that it may name itself. */
#include "session/native_values.h"

#include "base/error.h"
#include "base/os/file.h"
#include "base/os/host.h"
#include "base/os/process.h"
#include "base/text.h"
#include "session/complaint.h"
#include "session/copies.h"
#include "session/environment.h"
#include "session/profiler.h"
#include "session/setting_text.h"
#include "session/settings_file.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Absolute path of the file that the program names, NULL: none. Under the lock of the default profiler. */
static char *named_file;

/* What is no number becomes one that no setting takes, and is told as such. */
static void add_number(sp_environment_variable variable, sp_setting_value *value)
{
    const char *text = sp_environment_text(variable);
    double number;
    if (text != NULL)
        *value = (sp_setting_value){
            .is_given = true, .number = sp_setting_parse_number(text, &number) ? number : (double)NAN};
}

int sp_native_add_counters(sp_arena *arena, sp_setting_value values[SP_NUM_SETTINGS],
                           sp_error *error)
{
    const char *events = sp_environment_text(SP_ENVIRONMENT_PERF_EVENTS);
    if (sp_environment_text(SP_ENVIRONMENT_TRACK_CPU) != NULL)
        values[SP_SETTING_TRACK_CPU] = (sp_setting_value){
            .is_given = true, .flag = sp_environment_flag(SP_ENVIRONMENT_TRACK_CPU, false)};
    return events == NULL ? SP_OK
                          : sp_setting_parse(SP_SETTING_PERF_EVENTS, events, arena,
                                             &values[SP_SETTING_PERF_EVENTS], error);
}

/* Variables that stand for a setting. Others are for starting and ending, which are no settings, or
 * add to what the program says (the tags). */
static int add_environment(bool is_default, sp_arena *arena, sp_setting_value values[],
                           sp_error *error)
{
    if (sp_environment_text(SP_ENVIRONMENT_DISABLE) != NULL)
        values[SP_SETTING_DEACTIVATE_PROFILING] = (sp_setting_value){
            .is_given = true, .flag = sp_environment_flag(SP_ENVIRONMENT_DISABLE, false)};
    static const struct {
        sp_environment_variable variable;
        sp_setting_id setting;
    } texts[] = {{SP_ENVIRONMENT_JOURNAL, SP_SETTING_JOURNAL},
                 {SP_ENVIRONMENT_MAX_MEMORY, SP_SETTING_MAX_MEMORY},
                 {SP_ENVIRONMENT_ON_FULL, SP_SETTING_ON_FULL}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *text = sp_environment_text(texts[i].variable);
        if (text != NULL)
            values[texts[i].setting] = (sp_setting_value){.is_given = true, .text = text};
    }
    add_number(SP_ENVIRONMENT_CHECKPOINT_INTERVAL, &values[SP_SETTING_CHECKPOINT_INTERVAL]);
    int status = sp_native_add_counters(arena, values, error);
    if (!is_default || status != SP_OK)
        return status;
    if (sp_environment_text(SP_ENVIRONMENT_AGGREGATION) != NULL)
        values[SP_SETTING_AGGREGATION_MODE] = (sp_setting_value){
            .is_given = true, .flag = sp_environment_flag(SP_ENVIRONMENT_AGGREGATION, false)};
    const char *output = sp_environment_text(SP_ENVIRONMENT_OUTPUT);
    if (output != NULL) {
        values[SP_SETTING_FILE_PATH] = (sp_setting_value){.is_given = true, .text = output};
        values[SP_SETTING_DEACTIVATE_FILE_OUTPUT] = (sp_setting_value){.is_given = true};
    }
    const char *mode = sp_environment_text(SP_ENVIRONMENT_OUTPUT_MODE);
    if (mode != NULL)
        values[SP_SETTING_OUTPUT_MODE] = (sp_setting_value){.is_given = true, .text = mode};
    return SP_OK;
}

static int add_timeout(sp_arena *arena, sp_setting_value values[], sp_error *error)
{
    const char *timeout = sp_environment_text(SP_ENVIRONMENT_FINALIZE_TIMEOUT);
    return timeout == NULL ? SP_OK
                           : sp_setting_parse(SP_SETTING_FINALIZE_TIMEOUT, timeout, arena,
                                              &values[SP_SETTING_FINALIZE_TIMEOUT], error);
}

/* Settings that a file may share with Python programs and that do nothing here. */
static void tell_ignored(const char *path, const sp_setting_value values[])
{
    sp_text names = {0};
    for (size_t id = 0; id < SP_NUM_SETTINGS; id++) {
        const sp_setting *setting = sp_setting_at(id);
        if (setting->kind == SP_SETTING_FLAG && values[id].flag && !setting->is_native)
            sp_text_format(&names, "%s'%s'", names.length == 0 ? "" : ", ", setting->name);
    }
    if (names.length > 0 && !names.failed)
        sp_complain("%s: %s: not for native programs, left aside", path, names.bytes);
    sp_text_release(&names);
}

static int add_file(sp_arena *arena, sp_setting_value values[], sp_error *error)
{
    const char *path = sp_environment_text(SP_ENVIRONMENT_CONFIG);
    path = path == NULL ? named_file : path;
    if (path == NULL)
        return SP_OK;
    int status = sp_settings_file_read(path, arena, values, error);
    if (status == SP_OK)
        tell_ignored(path, values);
    return status;
}

int sp_native_gather(bool is_default, sp_arena *arena, sp_setting_value values[SP_NUM_SETTINGS],
                     sp_error *error)
{
    memset(values, 0, SP_NUM_SETTINGS * sizeof *values);
    int status = is_default ? add_file(arena, values, error) : SP_OK;
    if (status == SP_OK)
        status = add_environment(is_default, arena, values, error);
    if (status == SP_OK && is_default)
        status = add_timeout(arena, values, error);
    for (int id = 0; id < SP_NUM_SETTINGS && status == SP_OK; id++)
        status = sp_setting_check((sp_setting_id)id, &values[id], error);
    return status == SP_OK ? sp_setting_check_together(values, error) : status;
}

/* Reads it once, so that the caller hears of mistakes. */
static int check_file(const char *path, sp_error *error)
{
    sp_setting_value values[SP_NUM_SETTINGS] = {{.is_given = false}};
    sp_arena arena = {0};
    int status = sp_settings_file_read(path, &arena, values, error);
    sp_arena_release(&arena);
    return status;
}

static char *absolute(const char *path)
{
    char folder[PATH_MAX];
    sp_text text = {0};
    if (path[0] != '/' && sp_os_current_folder(folder, sizeof folder))
        sp_text_format(&text, "%s/", folder);
    sp_text_add(&text, path);
    return sp_text_take(&text);
}

int sp_configure_file(const char *path)
{
    SP_PASS_ON(sp_configure_file, (path));
    sp_profiler *profiler = sp_profiler_default();
    if (profiler == NULL)
        return SP_ERR_NO_MEMORY;
    int status = SP_OK;
    sp_mutex_lock(&profiler->lock);
    char *whole = path == NULL ? NULL : absolute(path);
    if (path != NULL)
        status = whole == NULL ? sp_fail_memory(&profiler->last_error, "naming a settings file")
                               : check_file(whole, &profiler->last_error);
    if (status == SP_OK) {
        free(named_file);
        named_file = whole;
    } else {
        free(whole);
    }
    sp_mutex_unlock(&profiler->lock);
    return status;
}

/* ---- Names of files ---------------------------------------------------------------------------*/

static const char *first_of(const char *variable, const char *other)
{
    const char *text = sp_os_environment(variable);
    if (text == NULL || text[0] == '\0')
        text = sp_os_environment(other);
    return text == NULL || text[0] == '\0' ? "0" : text;
}

/* What stands for the field at the beginning of `at`; NULL: it is none. */
static const char *value_of(const char *at, const char *const fields[][2], size_t *out_length)
{
    for (size_t i = 0; fields[i][0] != NULL; i++) {
        *out_length = strlen(fields[i][0]);
        if (strncmp(at, fields[i][0], *out_length) == 0)
            return fields[i][1];
    }
    return NULL;
}

char *sp_native_fill_in(const char *path, int rank)
{
    char of_rank[16], of_process[24], host[256];
    snprintf(of_rank, sizeof of_rank, "%d", rank);
    snprintf(of_process, sizeof of_process, "%lld", (long long)sp_os_process_id());
    if (!sp_os_host_name(host, sizeof host))
        strcpy(host, "localhost");
    const char *const fields[][2] = {
        {"{rank}", of_rank},
        {"{pid}", of_process},
        {"{host}", host},
        {"{job}", first_of("SLURM_JOB_ID", "PBS_JOBID")},
        {"{array}", first_of("SLURM_ARRAY_TASK_ID", "PBS_ARRAY_INDEX")},
        {NULL, NULL},
    };
    sp_text out = {0};
    while (*path != '\0') {
        size_t length = 1;
        const char *value = *path == '{' ? value_of(path, fields, &length) : NULL;
        if (value != NULL) {
            sp_text_add(&out, value);
        } else {
            length = 1;
            sp_text_add_n(&out, path, 1);
        }
        path += length;
    }
    sp_text_add(&out, "");
    return sp_text_take(&out);
}
