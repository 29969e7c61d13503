#include "session/instruments.h"

#include "base/error.h"
#include "base/module.h"
#include "session/binding.h"
#include "session/complaint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool take(void *library, const char *path, void *context, sp_error *error)
{
    sp_instrument_entry *out = context;
    *out = (sp_instrument_entry)sp_os_library_function(library, SP_INSTRUMENT_SYMBOL);
    if (*out == NULL)
        sp_fail(error, SP_ERR_NO_MODULE, "'%s' is not an instrument", path);
    return *out != NULL;
}

int sp_binding_open_instrument(const char *name, const sp_instrument_request *request,
                               sp_instrument *out, sp_error *error)
{
    char file[64], what[64];
    sp_instrument_entry entry = NULL;
    snprintf(file, sizeof file, "scope_profiler_%s.so", name);
    snprintf(what, sizeof what, "instrument '%s', module", name);
    sp_module module = {.file = file, .what = what,
                        .asker = (sp_os_function)sp_binding_open_instrument,
                        .folder = SP_MODULE_FOLDER, .take = take, .context = &entry};
    if (strspn(name, "abcdefghijklmnopqrstuvwxyz_") != strlen(name) || strlen(name) > 32)
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "no instrument is called '%s'", name);
    int status = sp_module_open(&module, error);
    return status == SP_OK ? entry(request, out, error) : status;
}

typedef struct opened {
    sp_instrument tables[SP_INSTRUMENTS];
    const sp_instrument *pointers[SP_INSTRUMENTS];
    size_t count;
} opened;

static void add(opened *all, const char *name, const sp_instrument_request *request)
{
    sp_error error;
    sp_instrument *table = &all->tables[all->count];
    if (sp_binding_open_instrument(name, request, table, &error) == SP_OK)
        all->pointers[all->count++] = table;
    else
        sp_complain("%s; recording goes on without", error.text);
}

/* A tool names itself in the environment; without one nothing is opened. */
static void add_ranges(opened *all, const sp_instrument_request *request)
{
    const char *tool = getenv("NVTX_INJECTION64_PATH");
    if (tool != NULL && *tool != '\0')
        add(all, "nvtx", request);
}

/* Back ends of Python are not to be had here: "auto" is the first of the native ones. */
static void add_device(opened *all, const char *backend, bool syncs_at_end)
{
    sp_error error, other;
    bool is_any = backend == NULL || strcmp(backend, "auto") == 0;
    sp_instrument *table = &all->tables[all->count];
    int status = sp_binding_open_device(is_any ? "cuda" : backend, syncs_at_end, table, &error);
    if (status != SP_OK && is_any)
        status = sp_binding_open_device("hip", syncs_at_end, table, &other);
    if (status == SP_OK)
        all->pointers[all->count++] = table;
    else
        sp_complain("%s; recording goes on without", error.text);
}

/* Counters, and beside them what they were measured with. */
static void add_markers(opened *all)
{
    static const char *const environment[] = {"environment"};
    sp_instrument_request request = {.size = sizeof request};
    size_t before = all->count;
    add(all, "likwid", &request);
    request.items = environment;
    request.num_items = 1;
    if (all->count > before)
        add(all, "likwid", &request);
}

static void say(const char *text)
{
    sp_complain("%s", text);
}

sp_instruments *sp_instruments_of_settings(const sp_setting_value values[SP_NUM_SETTINGS])
{
    opened all = {.count = 0};
    const sp_setting_value *events = &values[SP_SETTING_PERF_EVENTS];
    sp_instrument_request request = {
        .size = sizeof request,
        .keeps_calls = values[SP_SETTING_COUNTERS_PER_CALL].flag,
        .with_kernel = values[SP_SETTING_PERF_EVENTS_KERNEL].flag,
    };
    if (values[SP_SETTING_TRACK_CPU].flag)
        add(&all, "cpu", &request);
    if (events->is_given && events->num_items > 0) {
        request.items = events->items;
        request.num_items = events->num_items;
        add(&all, "perf", &request);
    }
    if (values[SP_SETTING_USE_GPU_TIMING].flag)
        add_device(&all, values[SP_SETTING_GPU_TIMING_BACKEND].text,
                   values[SP_SETTING_GPU_SYNC_ON_EXIT].flag);
    if (values[SP_SETTING_USE_LIKWID].flag)
        add_markers(&all);
    if (values[SP_SETTING_USE_NVTX].flag)
        add_ranges(&all, &request);
    sp_instruments *set = NULL;
    sp_error error;
    if (all.count > 0 &&
        sp_instruments_create(all.pointers, all.count, say, &set, &error) != SP_OK)
        sp_complain("%s; recording goes on without", error.text);
    return set;
}
