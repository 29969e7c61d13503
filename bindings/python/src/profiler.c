#include "profiler.h"

#include "decorated.h"
#include "instruments.h"
#include "memory.h"
#include "memory_hooks.h"
#include "tasks.h"
#include "trace.h"

#include <stdlib.h>
#include <structmember.h>

/* ---- decorated functions and regions follow the configuration ------------------------------- */

/* All decorated functions, as a list that keeps them alive: making regions can run the collector. */
static PyObject *decorated_list(const profiler_object *profiler)
{
    Py_ssize_t count = 0;
    for (decorated_object *d = profiler->decorated; d != NULL; d = d->next) {
        count++;
    }
    PyObject *list = PyList_New(count);
    if (list == NULL) {
        return NULL;
    }
    /* PyList_New may have collected some; the list is newest first. */
    Py_ssize_t i = count;
    for (decorated_object *d = profiler->decorated; d != NULL && i > 0; d = d->next) {
        PyList_SET_ITEM(list, --i, Py_NewRef((PyObject *)d));
    }
    if (i > 0 && PyList_SetSlice(list, 0, i, NULL) < 0) {
        Py_CLEAR(list);
    }
    return list;
}

static int rebind_all(profiler_object *profiler)
{
    PyObject *list = decorated_list(profiler);
    int failed = list == NULL ? -1 : 0;
    for (Py_ssize_t i = 0; failed == 0 && i < PyList_GET_SIZE(list); i++) {
        failed = decorated_rebind((decorated_object *)PyList_GET_ITEM(list, i));
    }
    Py_XDECREF(list);
    return failed;
}

/* Ends every region of the configuration and starts an empty table. */
static int end_regions(profiler_object *profiler)
{
    PyObject *fresh = PyDict_New();
    PyObject *paths = PyDict_New();
    if (fresh == NULL || paths == NULL) {
        Py_XDECREF(fresh);
        Py_XDECREF(paths);
        return -1;
    }
    PyObject *old = profiler->regions;
    profiler->regions = fresh;
    Py_XSETREF(profiler->paths, paths);
    PyObject *list = old != NULL ? PyDict_Values(old) : NULL;
    for (Py_ssize_t i = 0; list != NULL && i < PyList_GET_SIZE(list); i++) {
        if (region_check(profiler->state, PyList_GET_ITEM(list, i))) {
            region_end((region_object *)PyList_GET_ITEM(list, i));
        }
    }
    int failed = old != NULL && list == NULL ? -1 : 0;
    Py_XDECREF(list);
    Py_XDECREF(old);
    return failed;
}

static int refresh_regions(profiler_object *profiler)
{
    PyObject *list = PyDict_Values(profiler->regions);
    int failed = list == NULL ? -1 : 0;
    for (Py_ssize_t i = 0; failed == 0 && i < PyList_GET_SIZE(list); i++) {
        if (!region_check(profiler->state, PyList_GET_ITEM(list, i))) {
            continue;
        }
        region_object *region = (region_object *)PyList_GET_ITEM(list, i);
        int wanted = region->is_exempt ? 1 : profiler_wants(profiler, region->tags);
        failed = wanted < 0 ? -1 : region_set_enabled(region, wanted == 1);
    }
    Py_XDECREF(list);
    return failed;
}

/* ---- configuring ---------------------------------------------------------------------------- */

static void set_reference(PyObject **slot, PyObject *value)
{
    Py_XSETREF(*slot, Py_NewRef(value));
}

static void stop(profiler_object *profiler)
{
    if (profiler->is_enabled) {
        sp_binding_deconfigure(profiler->recorder);
    }
    if (profiler->tracks_memory) {
        profiler->tracks_memory = false;
        memory_hooks_unuse();
        memory_hooks_tidy();
    }
    for (decorated_object *d = profiler->decorated; d != NULL; d = d->next) {
        decorated_unbind(d);
    }
    profiler->is_configured = false;
    profiler->is_enabled = false;
    profiler->tracks_tasks = false;
    Py_CLEAR(profiler->greenlets);
    set_reference(&profiler->config, Py_None);
    set_reference(&profiler->tag_filter, Py_None);
    set_reference(&profiler->locate, Py_None);
    set_reference(&profiler->lines, Py_None);
}

typedef struct configuration {
    PyObject *config, *tag_filter, *locate, *lines;
    PyObject *output; /* bytes that the settings borrow, owned; NULL: none */
    PyObject *instruments; /* capsules, a tuple; NULL: none */
    PyObject *region_tags, *enable_tags; /* for native regions: tuples, whose texts are borrowed */
    const char *mode;
    int enabled, wants_text, traces, tracks_tasks, track_memory, track_threads;
    PyObject *greenlets; /* a weak dictionary, None */
    sp_binding_settings settings;
} configuration;

/* For a path, which may hold bytes that are no text, or None. */
static int convert_output(PyObject *object, void *out)
{
    if (object == Py_None) {
        return 1;
    }
    return PyUnicode_FSConverter(object, out);
}

/* The texts of a tuple of strings; the array is freed by release_tags. */
static int take_tags(PyObject *tuple, sp_binding_tags *out)
{
    Py_ssize_t count = tuple == NULL ? 0 : PyTuple_GET_SIZE(tuple);
    const char **items = PyMem_Calloc((size_t)count + 1, sizeof *items);
    *out = (sp_binding_tags){items, 0};
    if (items == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        items[i] = PyUnicode_AsUTF8(PyTuple_GET_ITEM(tuple, i));
        if (items[i] == NULL) {
            return -1;
        }
        out->count++;
    }
    return 0;
}

static void release_tags(sp_binding_tags *tags)
{
    PyMem_Free((void *)(uintptr_t)tags->items);
    tags->items = NULL;
}

/* Behind those that are there already. */
static int add_memory(const sp_instrument **tables, size_t *count)
{
    if (*count + MEMORY_INSTRUMENTS > SP_INSTRUMENTS) {
        PyErr_Format(PyExc_ValueError, "track_memory: %zu instruments and its %d are more than %d",
                     *count, MEMORY_INSTRUMENTS, SP_INSTRUMENTS);
        return -1;
    }
    if (memory_instruments(tables + *count) < 0) {
        return -1;
    }
    *count += MEMORY_INSTRUMENTS;
    return 0;
}

/* Begins the recorder's own configuration, tags included. */
static int configure_recorder(profiler_object *profiler, configuration *wanted)
{
    sp_error error;
    error.text[0] = '\0';
    const sp_instrument *tables[SP_INSTRUMENTS];
    sp_binding_settings *settings = &wanted->settings;
    settings->instruments = tables;
    settings->is_host = !profiler->owns_recorder;
    settings->host = PyInterpreterState_Get();
    int result = take_tags(wanted->region_tags, &settings->region_tags);
    if (result == 0) {
        result = take_tags(wanted->enable_tags, &settings->enable_tags);
    }
    if (result == 0) {
        result = instruments_fill(wanted->instruments, tables, &settings->num_instruments);
    }
    if (result == 0 && wanted->track_memory) {
        result = add_memory(tables, &settings->num_instruments);
    }
    if (result == 0) {
        int status = sp_binding_configure(profiler->recorder, settings, &error);
        instruments_taken(wanted->instruments);
        if (status != SP_OK) {
            recorder_raise(status, &error);
            result = -1;
        }
    }
    release_tags(&settings->region_tags);
    release_tags(&settings->enable_tags);
    return result;
}

static int parse_configuration(PyObject *args, PyObject *kwargs, configuration *out)
{
    static char *names[] = {"config",       "enabled",     "output",     "mode",
                            "rank",         "max_memory",  "compression", "compression_level",
                            "chunk_size",   "tag_filter",  "locate",     "wants_text",
                            "traces",       "region_tags", "enable_tags", "journal",
                            "journal_flush", "finalize_signals", "on_full", "checkpoint_interval",
                            "instruments",  "track_tasks", "greenlets",   "lines",
                            "track_memory", "track_threads", NULL};
    unsigned int rank = 0;
    Py_ssize_t max_memory = 0;
    Py_ssize_t chunk_size = 0;
    int level = -1;
    *out = (configuration){.mode = "time_only", .enabled = 1};
    out->config = out->tag_filter = out->locate = out->lines = out->greenlets = Py_None;
    out->settings.size = sizeof out->settings;
    out->settings.store.size = sizeof out->settings.store;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$pO&sInzinOOppO!O!zdzzdO!pOOpp:configure", names, &out->config,
                                     &out->enabled, convert_output, &out->output, &out->mode, &rank,
                                     &max_memory, &out->settings.store.compression, &level,
                                     &chunk_size, &out->tag_filter, &out->locate,
                                     &out->wants_text, &out->traces, &PyTuple_Type,
                                     &out->region_tags, &PyTuple_Type, &out->enable_tags,
                                     &out->settings.journal, &out->settings.journal_flush,
                                     &out->settings.finalize_signals,
                                     &out->settings.on_full,
                                     &out->settings.checkpoint_interval, &PyTuple_Type,
                                     &out->instruments, &out->tracks_tasks, &out->greenlets,
                                     &out->lines, &out->track_memory,
                                     &out->track_threads)) {
        return -1;
    }
    out->settings.output = out->output == NULL ? NULL : PyBytes_AS_STRING(out->output);
    out->settings.rank = rank;
    out->settings.max_memory = max_memory > 0 ? (size_t)max_memory : 0;
    out->settings.store.compression_level = level;
    out->settings.store.chunk_size = chunk_size > 0 ? (uint64_t)chunk_size : 0;
    return 0;
}

static int set_mode(profiler_object *profiler, configuration *wanted)
{
    static const struct {
        const char *name;
        region_mode mode;
    } modes[] = {{"time_only", REGION_TIME_ONLY},
                 {"aggregate", REGION_AGGREGATE},
                 {"threaded", REGION_THREADED},
                 {"lines", REGION_LINES},
                 {"full", REGION_FULL},
                 {"perf", REGION_PERF},
                 {"device", REGION_DEVICE},
                 {"device_ranges", REGION_DEVICE_RANGES},
                 {"ranges", REGION_RANGES}};
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        if (strcmp(modes[i].name, wanted->mode) == 0) {
            profiler->mode = modes[i].mode;
            wanted->settings.is_aggregate = profiler->mode == REGION_AGGREGATE;
            wanted->settings.store.is_aggregate = wanted->settings.is_aggregate;
            wanted->settings.track_threads = wanted->track_threads;
            wanted->settings.track_tasks = wanted->tracks_tasks;
            return 0;
        }
    }
    PyErr_Format(PyExc_ValueError, "configure(): unknown mode '%s'", wanted->mode);
    return -1;
}

static int start(profiler_object *profiler, configuration *wanted)
{
    if (set_mode(profiler, wanted) < 0 || end_regions(profiler) < 0) {
        return -1;
    }
    stop(profiler);
    if (wanted->enabled && configure_recorder(profiler, wanted) < 0) {
        return -1;
    }
    profiler->is_configured = true;
    profiler->is_enabled = wanted->enabled;
    profiler->tracks_memory = wanted->enabled && wanted->track_memory;
    if (profiler->tracks_memory) {
        memory_hooks_use();
    }
    profiler->wants_text = wanted->wants_text;
    profiler->traces = wanted->traces;
    profiler->tracks_tasks = wanted->tracks_tasks;
    profiler->num_greenlets = 0;
    Py_XSETREF(profiler->greenlets,
               wanted->greenlets == Py_None ? NULL : Py_NewRef(wanted->greenlets));
    set_reference(&profiler->config, wanted->config);
    set_reference(&profiler->tag_filter, wanted->tag_filter);
    set_reference(&profiler->locate, wanted->locate);
    set_reference(&profiler->lines, wanted->lines);
    return rebind_all(profiler);
}

static PyObject *profiler_configure(PyObject *self, PyObject *args, PyObject *kwargs)
{
    profiler_object *profiler = (profiler_object *)self;
    configuration wanted;
    if (parse_configuration(args, kwargs, &wanted) < 0) {
        return NULL;
    }
    int failed = start(profiler, &wanted);
    Py_CLEAR(wanted.output);
    if (failed < 0) {
        return NULL;
    }
    trace_reconfigured(profiler);
    Py_RETURN_NONE;
}

static PyObject *profiler_deconfigure(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    profiler_object *profiler = (profiler_object *)self;
    if (end_regions(profiler) < 0) {
        return NULL;
    }
    trace_deconfigured(profiler);
    stop(profiler);
    Py_RETURN_NONE;
}

static PyObject *profiler_refresh(PyObject *self, PyObject *tag_filter)
{
    profiler_object *profiler = (profiler_object *)self;
    set_reference(&profiler->tag_filter, tag_filter);
    if (refresh_regions(profiler) < 0 || rebind_all(profiler) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* ---- methods -------------------------------------------------------------------------------- */

static PyObject *profiler_region_method(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"name", "tags", "file", "line", "always", NULL};
    profiler_object *profiler = (profiler_object *)self;
    PyObject *name = NULL;
    PyObject *tags = Py_None;
    PyObject *file = Py_None;
    int line = 0;
    int always = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OOi$p:region", names, &name, &tags, &file,
                                     &line, &always)) {
        return NULL;
    }
    region_site site = {NULL, NULL, 0};
    if (file != Py_None && profiler->is_enabled && profiler->locate != Py_None) {
        profiler_describe_site(profiler, file, line, &site);
    }
    PyObject *region = profiler_region(profiler, name, tags == Py_None ? NULL : tags, &site);
    region_site_clear(&site);
    if (region != NULL && always && profiler->is_enabled) {
        ((region_object *)region)->is_exempt = true;
        if (region_set_enabled((region_object *)region, true) < 0) {
            Py_CLEAR(region);
        }
    }
    return region;
}

static PyObject *profiler_decorate(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"function", "name", "tags", "metadata", "record_outcome", "kind",
                            "recursive", NULL};
    profiler_object *profiler = (profiler_object *)self;
    PyObject *function = NULL;
    PyObject *tags = Py_None;
    PyObject *metadata = Py_None;
    int record_outcome = 0;
    int kind = CALL_PLAIN;
    PyObject *recursive = Py_None;
    decorated_options options = {0};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|OOpiO:decorate", names, &function,
                                     &options.name, &tags, &metadata, &record_outcome, &kind,
                                     &recursive)) {
        return NULL;
    }
    if (profiler_check_name(options.name) < 0) {
        return NULL;
    }
    if (!PyCallable_Check(function)) {
        return PyErr_Format(PyExc_TypeError, "profile() needs a callable, got %R", function);
    }
    if (kind < CALL_PLAIN || kind > CALL_AWAITABLE) {
        return PyErr_Format(PyExc_ValueError, "decorate(): unknown kind %d", kind);
    }
    options.metadata = metadata == Py_None ? NULL : metadata;
    options.record_outcome = record_outcome != 0;
    options.kind = (call_kind)kind;
    options.traces = recursive == Py_None ? TRACES_AS_CONFIGURED
                                          : (PyObject_IsTrue(recursive) == 1 ? TRACES : TRACES_NOT);
    if (tags != Py_None) {
        options.tags = profiler_normal_tags(tags);
        if (options.tags == NULL) {
            return NULL;
        }
    }
    PyObject *decorated = decorated_new(profiler, function, &options);
    Py_XDECREF(options.tags);
    return decorated;
}

static PyObject *profiler_decorated_names(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    PyObject *list = decorated_list((profiler_object *)self);
    for (Py_ssize_t i = 0; list != NULL && i < PyList_GET_SIZE(list); i++) {
        decorated_object *decorated = (decorated_object *)PyList_GET_ITEM(list, i);
        PyObject *name = Py_NewRef(decorated->name);
        PyList_SetItem(list, i, name);
    }
    return list;
}

/* Forgets every decorated function: later configurations leave it alone. */
static PyObject *profiler_forget_decorated(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    profiler_object *profiler = (profiler_object *)self;
    while (profiler->decorated != NULL) {
        decorated_object *first = profiler->decorated;
        profiler->decorated = first->next;
        first->link = NULL;
        first->next = NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *region_name_object(int32_t region)
{
    const char *name = sp_binding_region_name(region);
    return PyUnicode_DecodeUTF8(name, (Py_ssize_t)strlen(name), "replace");
}

/* [(name, calls entered)] of every region of the configuration, native ones included. */
static PyObject *profiler_call_counts(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    profiler_object *profiler = (profiler_object *)self;
    PyObject *list = PyList_New(0);
    size_t count = profiler->is_enabled ? sp_binding_num_regions(profiler->recorder) : 0;
    for (size_t i = 0; list != NULL && i < count; i++) {
        int32_t region = sp_binding_region_at(profiler->recorder, i);
        PyObject *item = Py_BuildValue("(NL)", region_name_object(region),
                                       (long long)sp_binding_num_calls(profiler->recorder, region));
        if (item == NULL || PyList_Append(list, item) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(item);
    }
    return list;
}

static PyObject *profiler_finished_calls(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    profiler_object *profiler = (profiler_object *)self;
    unsigned long long total = 0;
    size_t count = profiler->is_enabled ? sp_binding_num_regions(profiler->recorder) : 0;
    for (size_t i = 0; i < count; i++) {
        sp_row_aggregate totals = {0, 0, 0, 0, 0};
        int32_t region = sp_binding_region_at(profiler->recorder, i);
        if (sp_binding_region_totals(profiler->recorder, region, &totals) == SP_OK) {
            total += totals.count;
        }
    }
    return PyLong_FromUnsignedLongLong(total);
}

/* Names of the regions open on this thread, innermost last. */
static PyObject *profiler_open_regions(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    profiler_object *profiler = (profiler_object *)self;
    size_t count =
        profiler->is_enabled ? sp_binding_open_regions(profiler->recorder, NULL, 0) : 0;
    int32_t *regions = PyMem_Calloc(count + 1, sizeof *regions);
    if (regions == NULL) {
        return PyErr_NoMemory();
    }
    if (count > 0) {
        size_t now = sp_binding_open_regions(profiler->recorder, regions, count);
        count = now < count ? now : count;
    }
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list != NULL && i < count; i++) {
        PyObject *name = region_name_object(regions[i]);
        if (name == NULL) {
            Py_CLEAR(list);
            break;
        }
        PyList_SET_ITEM(list, (Py_ssize_t)i, name);
    }
    PyMem_Free(regions);
    return list;
}

static PyObject *profiler_pause(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    sp_binding_pause(((profiler_object *)self)->recorder);
    Py_RETURN_NONE;
}

static PyObject *profiler_resume(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    sp_binding_unpause(((profiler_object *)self)->recorder);
    Py_RETURN_NONE;
}

static PyObject *get_is_paused(PyObject *self, void *closure)
{
    (void)closure;
    profiler_object *profiler = (profiler_object *)self;
    return PyBool_FromLong(profiler->is_enabled && sp_binding_is_paused(profiler->recorder));
}

static PyObject *get_start_time(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromLongLong(sp_binding_start_time_ns(((profiler_object *)self)->recorder));
}

static PyObject *get_pair_cost(PyObject *self, void *closure)
{
    (void)closure;
    return PyFloat_FromDouble(sp_binding_pair_cost_ns(((profiler_object *)self)->recorder));
}

static PyObject *get_is_enabled(PyObject *self, void *closure)
{
    (void)closure;
    return PyBool_FromLong(((profiler_object *)self)->is_enabled);
}

/* ---- life ----------------------------------------------------------------------------------- */

static PyObject *profiler_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"default", NULL};
    int is_default = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|p:Profiler", names, &is_default)) {
        return NULL;
    }
    profiler_object *profiler = (profiler_object *)type->tp_alloc(type, 0);
    if (profiler == NULL) {
        return NULL;
    }
    profiler->state = recorder_state_of(type);
    profiler->owns_recorder = !is_default;
    profiler->recorder = is_default ? sp_binding_default() : sp_binding_create();
    profiler->config = Py_NewRef(Py_None);
    profiler->tag_filter = Py_NewRef(Py_None);
    profiler->locate = Py_NewRef(Py_None);
    profiler->lines = Py_NewRef(Py_None);
    profiler->regions = PyDict_New();
    profiler->paths = PyDict_New();
    if (profiler->recorder == NULL || profiler->regions == NULL || profiler->paths == NULL) {
        Py_DECREF(profiler);
        return PyErr_NoMemory();
    }
    profiler->next = profiler->state->profilers;
    profiler->link = &profiler->state->profilers;
    if (profiler->next != NULL) {
        profiler->next->link = &profiler->next;
    }
    profiler->state->profilers = profiler;
    return (PyObject *)profiler;
}

static int profiler_traverse(PyObject *self, visitproc visit, void *arg)
{
    profiler_object *profiler = (profiler_object *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(profiler->regions);
    Py_VISIT(profiler->config);
    Py_VISIT(profiler->tag_filter);
    Py_VISIT(profiler->locate);
    Py_VISIT(profiler->lines);
    Py_VISIT(profiler->paths);
    Py_VISIT(profiler->greenlets);
    return 0;
}

static int profiler_clear(PyObject *self)
{
    profiler_object *profiler = (profiler_object *)self;
    if (profiler->regions != NULL) {
        PyDict_Clear(profiler->regions);
    }
    set_reference(&profiler->config, Py_None);
    set_reference(&profiler->tag_filter, Py_None);
    set_reference(&profiler->locate, Py_None);
    set_reference(&profiler->lines, Py_None);
    return 0;
}

static void profiler_dealloc(PyObject *self)
{
    profiler_object *profiler = (profiler_object *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (profiler->link != NULL) {
        *profiler->link = profiler->next;
        if (profiler->next != NULL) {
            profiler->next->link = profiler->link;
        }
    }
    if (profiler->weak_references != NULL) {
        PyObject_ClearWeakRefs(self);
    }
    if (profiler->tracks_memory) {
        memory_hooks_unuse();
        memory_hooks_tidy();
    }
    Py_CLEAR(profiler->regions);
    Py_CLEAR(profiler->config);
    Py_CLEAR(profiler->tag_filter);
    Py_CLEAR(profiler->locate);
    Py_CLEAR(profiler->lines);
    Py_CLEAR(profiler->paths);
    Py_CLEAR(profiler->greenlets);
    free(profiler->folded_calls);
    if (profiler->owns_recorder && profiler->recorder != NULL) {
        sp_binding_destroy(profiler->recorder);
    }
    type->tp_free(self);
    Py_DECREF(type);
}

static PyMethodDef profiler_methods[] = {
    {"configure", (PyCFunction)(void (*)(void))profiler_configure, METH_VARARGS | METH_KEYWORDS,
     "Starts a configuration: fresh regions, fresh calls, decorated functions bound to it."},
    {"deconfigure", profiler_deconfigure, METH_NOARGS, "Ends the configuration."},
    {"refresh", profiler_refresh, METH_O, "Applies another tag filter to everything that exists."},
    {"region", (PyCFunction)(void (*)(void))profiler_region_method, METH_VARARGS | METH_KEYWORDS,
     "Region of that name, with the place of its definition given."},
    {"decorate", (PyCFunction)(void (*)(void))profiler_decorate, METH_VARARGS | METH_KEYWORDS,
     "Wraps a callable so that every call is recorded."},
    {"decorated_names", profiler_decorated_names, METH_NOARGS,
     "Region names of the decorated functions, oldest first."},
    {"forget_decorated", profiler_forget_decorated, METH_NOARGS,
     "Leaves the decorated functions out of later configurations."},
    {"call_counts", profiler_call_counts, METH_NOARGS,
     "Names and entered calls of all regions of the configuration."},
    {"finished_calls", profiler_finished_calls, METH_NOARGS,
     "How many calls have ended in this configuration."},
    {"open_regions", profiler_open_regions, METH_NOARGS,
     "Names of the regions open on this thread, innermost last."},
    {"pause", profiler_pause, METH_NOARGS, "Stops recording until resume()."},
    {"resume", profiler_resume, METH_NOARGS, "Records again after pause()."},
    {"follow", tasks_follow, METH_O,
     "The object to run in the place of a coroutine that is to have a lane of its own."},
    {"where", tasks_where, METH_NOARGS,
     "Numbers of the calling thread and of the task whose step it makes; -1: none."},
    {"task_number", tasks_number, METH_O, "Number of the task that what follow() gave runs, or -1."},
    {"greenlet_switched", (PyCFunction)(void (*)(void))tasks_switched, METH_FASTCALL,
     "For greenlet.settrace: a thread goes on with another greenlet."},
    {"set_metadata", profiler_set_metadata, METH_O,
     "set_metadata($self, metadata, /)\n--\n\n"
     "Says of the run what files tell that are written without Python, such as checkpoints."},
    {"publish", (PyCFunction)(void (*)(void))profiler_publish, METH_VARARGS | METH_KEYWORDS,
     "Writes what was recorded, or hands it over in memory; returns a dict of counts."},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef profiler_members[] = {
    {"regions", T_OBJECT, offsetof(profiler_object, regions), READONLY,
     "Regions of the configuration by name."},
    {"config", T_OBJECT, offsetof(profiler_object, config), READONLY,
     "The configuration, None without one."},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(profiler_object, weak_references), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef profiler_getset[] = {
    {"is_enabled", get_is_enabled, NULL, "Whether the configuration records.", NULL},
    {"is_paused", get_is_paused, NULL, "Whether recording is paused.", NULL},
    {"start_time_ns", get_start_time, NULL, "Start of the configuration, monotonic ns.", NULL},
    {"pair_cost_ns", get_pair_cost, NULL, "Measured cost of one begin and end, ns.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot profiler_slots[] = {
    {Py_tp_new, profiler_new},
    {Py_tp_methods, profiler_methods},
    {Py_tp_members, profiler_members},
    {Py_tp_getset, profiler_getset},
    {Py_tp_traverse, profiler_traverse},
    {Py_tp_clear, profiler_clear},
    {Py_tp_dealloc, profiler_dealloc},
    {Py_tp_doc, "Profiler(default=False)\n--\n\nThe native half of a manager."},
    {0, NULL},
};

static PyType_Spec profiler_spec = {
    .name = "scope_profiler._recorder.Profiler",
    .basicsize = sizeof(profiler_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .slots = profiler_slots,
};

int profiler_init(PyObject *module, recorder_state *state)
{
    state->profiler_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &profiler_spec, NULL);
    return state->profiler_type != NULL ? PyModule_AddType(module, state->profiler_type) : -1;
}
