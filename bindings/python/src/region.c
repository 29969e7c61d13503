#include "region.h"

#include "decorated.h"
#include "json_text.h"
#include "lines.h"
#include "profiler.h"
#include "region_arrays.h"
#include "region_measured.h"
#include "region_method.h"

#include <structmember.h>

/* ---- entering and leaving ------------------------------------------------------------------- */

static PyObject *recording_enter(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    region_object *region = (region_object *)self;
    sp_binding_begin(region->recorder, region->id);
    return Py_NewRef(self);
}

/* The recorder can be gone when the configuration changed inside the block. */
static PyObject *recording_exit(PyObject *self, PyObject *const *args, Py_ssize_t nargs)
{
    (void)args;
    (void)nargs;
    region_object *region = (region_object *)self;
    if (region->recorder != NULL) {
        sp_binding_end(region->recorder, region->id);
    }
    Py_RETURN_NONE;
}

static PyObject *lined_enter(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    region_object *region = (region_object *)self;
    lines_enter(region->lines, true);
    sp_binding_begin(region->recorder, region->id);
    return Py_NewRef(self);
}

static PyObject *lined_exit(PyObject *self, PyObject *const *args, Py_ssize_t nargs)
{
    PyObject *done = recording_exit(self, args, nargs);
    lines_leave(((region_object *)self)->lines);
    return done;
}

static PyObject *disabled_enter(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    return Py_NewRef(self);
}

static PyObject *disabled_exit(PyObject *self, PyObject *const *args, Py_ssize_t nargs)
{
    (void)self;
    (void)args;
    (void)nargs;
    Py_RETURN_NONE;
}

#define ENTER_TEXT "($self, /)\n--\n\nBegins a call of the region and returns the region."
#define EXIT_TEXT                                                                                  \
    "($self, exc_type=None, exc_value=None, traceback=None, /)\n--\n\n"                            \
    "Ends the call; exceptions pass."

/* Constant in use; PyCFunction_New wants them writable. */
static PyMethodDef enter_recording = {"__enter__", recording_enter, METH_NOARGS,
                                      "__enter__" ENTER_TEXT};
static PyMethodDef exit_recording = {"__exit__", (PyCFunction)(void (*)(void))recording_exit,
                                     METH_FASTCALL, "__exit__" EXIT_TEXT};
static PyMethodDef enter_lined = {"__enter__", lined_enter, METH_NOARGS, "__enter__" ENTER_TEXT};
static PyMethodDef exit_lined = {"__exit__", (PyCFunction)(void (*)(void))lined_exit,
                                 METH_FASTCALL, "__exit__" EXIT_TEXT};
static PyMethodDef enter_disabled = {"__enter__", disabled_enter, METH_NOARGS,
                                     "__enter__" ENTER_TEXT};
static PyMethodDef exit_disabled = {"__exit__", (PyCFunction)(void (*)(void))disabled_exit,
                                    METH_FASTCALL, "__exit__" EXIT_TEXT};

static int bind(region_object *region, bool enabled)
{
    PyMethodDef *first = enabled ? &enter_recording : &enter_disabled;
    PyMethodDef *last = enabled ? &exit_recording : &exit_disabled;
    if (enabled && region->lines != NULL) {
        first = &enter_lined;
        last = &exit_lined;
    }
    PyObject *enter = PyCFunction_New(first, (PyObject *)region);
    PyObject *leave = PyCFunction_New(last, (PyObject *)region);
    if (enter == NULL || leave == NULL) {
        Py_XDECREF(enter);
        Py_XDECREF(leave);
        return -1;
    }
    Py_XSETREF(region->enter, enter);
    Py_XSETREF(region->exit, leave);
    return 0;
}

/* ---- life ----------------------------------------------------------------------------------- */

static PyTypeObject *enabled_type(const profiler_object *profiler)
{
    switch (profiler->mode) {
    case REGION_AGGREGATE: return profiler->state->aggregate_region_type;
    case REGION_THREADED: return profiler->state->threaded_region_type;
    case REGION_LINES: return profiler->state->line_region_type;
    case REGION_FULL: return profiler->state->full_region_type;
    case REGION_PERF: return profiler->state->perf_region_type;
    case REGION_DEVICE: return profiler->state->device_region_type;
    case REGION_DEVICE_RANGES: return profiler->state->device_ranges_region_type;
    case REGION_RANGES: return profiler->state->ranges_region_type;
    default: return profiler->state->time_only_region_type;
    }
}

/* Gives the region what times its lines, if the configuration has such a thing. */
static int add_lines(region_object *region)
{
    PyObject *factory = region->profiler->lines;
    if (factory == Py_None) {
        return 0;
    }
    PyObject *lines = lines_new(factory, region->name);
    if (lines == NULL) {
        return -1;
    }
    if (lines == Py_None) {
        Py_CLEAR(lines);
    }
    region->lines = lines;
    return 0;
}

int region_add_functions(region_object *region, PyObject *functions)
{
    if (region->lines == NULL || functions == NULL || functions == Py_None) {
        return 0;
    }
    PyObject *list = PySequence_Tuple(functions);
    int failed = list == NULL ? -1 : 0;
    for (Py_ssize_t i = 0; failed == 0 && i < PyTuple_GET_SIZE(list); i++) {
        failed = lines_add(region->lines, PyTuple_GET_ITEM(list, i), true);
    }
    Py_XDECREF(list);
    return failed;
}

/* Tells the recorder about the region. */
static int announce(region_object *region, bool enabled)
{
    profiler_object *profiler = region->profiler;
    sp_error error;
    error.text[0] = '\0';
    if (region->id < 0) {
        Py_ssize_t length = 0;
        const char *name = PyUnicode_AsUTF8AndSize(region->name, &length);
        if (name == NULL) {
            return -1;
        }
        region->id = sp_binding_intern(name, (size_t)length, &error);
        if (region->id < 0) {
            recorder_raise(error.status, &error);
            return -1;
        }
    }
    PyObject *json = json_encode(region->tags);
    if (json == NULL) {
        return -1;
    }
    sp_binding_region_spec spec = {.size = sizeof spec, .enabled = enabled};
    spec.tags_json = PyUnicode_AsUTF8(json);
    if (region->source_file != NULL) {
        spec.source_file = PyUnicode_AsUTF8(region->source_file);
        spec.source_line = region->source_line;
    }
    if (region->source_text != NULL) {
        spec.source_text = PyUnicode_AsUTF8(region->source_text);
    }
    int failed = -1;
    if (!PyErr_Occurred()) {
        int status = sp_binding_set_region(profiler->recorder, region->id, &spec, &error);
        if (status == SP_OK) {
            failed = 0;
        } else {
            recorder_raise(status, &error);
        }
    }
    Py_DECREF(json);
    return failed;
}

region_object *region_new(profiler_object *profiler, PyObject *name, PyObject *tags, bool enabled,
                          const region_site *site)
{
    recorder_state *state = profiler->state;
    PyTypeObject *type = enabled ? enabled_type(profiler) : state->disabled_region_type;
    region_object *region = (region_object *)type->tp_alloc(type, 0);
    if (region == NULL) {
        return NULL;
    }
    region->id = -1;
    region->profiler = (profiler_object *)Py_NewRef((PyObject *)profiler);
    region->config = Py_NewRef(profiler->config);
    region->name = Py_NewRef(name);
    region->tags = Py_NewRef(tags);
    region->source_file = Py_XNewRef(site->file);
    region->source_text = Py_XNewRef(site->text);
    region->source_line = site->line;
    /* Without a recording configuration the recorder need not know the name. */
    if ((profiler->is_enabled && add_lines(region) < 0) || bind(region, enabled) < 0 ||
        (profiler->is_enabled && announce(region, enabled) < 0)) {
        Py_DECREF(region);
        return NULL;
    }
    if (enabled) {
        region->recorder = profiler->recorder;
    }
    return region;
}

bool region_is_enabled(const region_object *region)
{
    return Py_TYPE(region) != region->profiler->state->disabled_region_type;
}

int region_set_enabled(region_object *region, bool enabled)
{
    if (region->has_ended || enabled == region_is_enabled(region)) {
        return 0;
    }
    if (announce(region, enabled) < 0 || bind(region, enabled) < 0) {
        return -1;
    }
    /* Kept when switched off: a call that is open now ends through the function it got at entry. */
    region->recorder = region->profiler->recorder;
    PyTypeObject *old = Py_TYPE(region);
    PyTypeObject *type = enabled ? enabled_type(region->profiler)
                                 : region->profiler->state->disabled_region_type;
    Py_INCREF(type);
    Py_SET_TYPE(region, type);
    Py_DECREF(old);
    return 0;
}

void region_end(region_object *region)
{
    if (region->has_ended) {
        return;
    }
    if (region->id >= 0) {
        region->final_calls = sp_binding_num_calls(region->profiler->recorder, region->id);
    }
    region->has_ended = true;
    region->recorder = NULL;
    if (region_is_enabled(region) && bind(region, false) < 0) {
        PyErr_WriteUnraisable((PyObject *)region);
    }
}

static int region_traverse(PyObject *self, visitproc visit, void *arg)
{
    region_object *region = (region_object *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(region->enter);
    Py_VISIT(region->exit);
    Py_VISIT(region->profiler);
    Py_VISIT(region->config);
    Py_VISIT(region->lines);
    return 0;
}

/* The bound functions stay: whoever still holds the region may enter it. They and the region form a
 * cycle, which is broken here through the other references. */
static int region_clear(PyObject *self)
{
    region_object *region = (region_object *)self;
    region->recorder = NULL;
    Py_CLEAR(region->enter);
    Py_CLEAR(region->exit);
    Py_CLEAR(region->config);
    return 0;
}

static void region_dealloc(PyObject *self)
{
    region_object *region = (region_object *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (region->weak_references != NULL) {
        PyObject_ClearWeakRefs(self);
    }
    region_clear(self);
    Py_CLEAR(region->profiler);
    Py_CLEAR(region->name);
    Py_CLEAR(region->lines);
    Py_CLEAR(region->tags);
    Py_CLEAR(region->source_file);
    Py_CLEAR(region->source_text);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyObject *region_repr(PyObject *self)
{
    const char *name = strrchr(Py_TYPE(self)->tp_name, '.');
    return PyUnicode_FromFormat("<%s %R>", name + 1, ((region_object *)self)->name);
}

/* ---- methods -------------------------------------------------------------------------------- */

/* The Python half knows what a call of a function gives. -1: an exception is set. */
static int kind_of(PyObject *function)
{
    PyObject *module = PyImport_ImportModule("scope_profiler._decorating");
    PyObject *kind = module != NULL ? PyObject_CallMethod(module, "kind_of", "O", function) : NULL;
    int number = kind != NULL ? (int)PyLong_AsLong(kind) : -1;
    Py_XDECREF(kind);
    Py_XDECREF(module);
    return number;
}

static PyObject *region_wrap(PyObject *self, PyObject *function)
{
    region_object *region = (region_object *)self;
    if (!PyCallable_Check(function)) {
        return PyErr_Format(PyExc_TypeError, "wrap() needs a callable, got %R", function);
    }
    if (!region_is_enabled(region)) {
        return Py_NewRef(function);
    }
    int kind = kind_of(function);
    if (kind < 0) {
        return NULL;
    }
    decorated_options options = {
        .name = region->name, .tags = region->tags, .kind = (call_kind)kind};
    return decorated_new(region->profiler, function, &options);
}

/* A time in ns; what is behind the point of a float is left out. */
static long long time_of(PyObject *value)
{
    if (!PyFloat_Check(value)) {
        return PyLong_AsLongLong(value);
    }
    PyObject *whole = PyNumber_Long(value);
    long long time = whole != NULL ? PyLong_AsLongLong(whole) : -1;
    Py_XDECREF(whole);
    return time;
}

static PyObject *region_append(PyObject *self, PyObject *const *args, Py_ssize_t nargs)
{
    region_object *region = (region_object *)self;
    if (nargs != 2) {
        return PyErr_Format(PyExc_TypeError, "append() takes start and end in ns, got %zd arguments",
                            nargs);
    }
    long long start = time_of(args[0]);
    long long end = start == -1 && PyErr_Occurred() ? -1 : time_of(args[1]);
    if (PyErr_Occurred()) {
        return NULL;
    }
    if (end < start) {
        return PyErr_Format(PyExc_ValueError, "append(): end %lld lies before start %lld", end,
                            start);
    }
    if (region->recorder != NULL && region_is_enabled(region)) {
        int status = sp_binding_append(region->recorder, region->id, start, end);
        if (status != SP_OK) {
            return recorder_raise(status, NULL);
        }
    }
    Py_RETURN_NONE;
}

static PyObject *region_set_source(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"source_file", "source_lineno", "source_text", NULL};
    region_object *region = (region_object *)self;
    PyObject *file = NULL;
    PyObject *text = Py_None;
    long line = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "Ul|O:set_source", names, &file, &line, &text)) {
        return NULL;
    }
    if (text != Py_None && !PyUnicode_Check(text)) {
        return PyErr_Format(PyExc_TypeError, "set_source(): source_text must be str or None");
    }
    if (region->source_file != NULL) {
        Py_RETURN_NONE;
    }
    region->source_file = Py_NewRef(file);
    region->source_line = line;
    if (text != Py_None) {
        region->source_text = Py_NewRef(text);
    }
    if (region->id >= 0 && !region->has_ended && announce(region, region_is_enabled(region)) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* Without line profiling there is nothing to do. */
static PyObject *region_add_function(PyObject *self, PyObject *function)
{
    region_object *region = (region_object *)self;
    if (region->lines != NULL && lines_add(region->lines, function, true) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* The recorder itself consumes what was written. */
static PyObject *region_mark_written(PyObject *self, PyObject *ignored)
{
    (void)self;
    (void)ignored;
    Py_RETURN_NONE;
}

/* ---- attributes ----------------------------------------------------------------------------- */

static PyObject *get_num_calls(PyObject *self, void *closure)
{
    (void)closure;
    region_object *region = (region_object *)self;
    if (region->has_ended || region->id < 0) {
        return PyLong_FromLongLong(region->final_calls);
    }
    return PyLong_FromLongLong(sp_binding_num_calls(region->profiler->recorder, region->id));
}

static PyObject *or_none(PyObject *value)
{
    return Py_NewRef(value != NULL ? value : Py_None);
}

static PyObject *get_source_file(PyObject *self, void *closure)
{
    (void)closure;
    return or_none(((region_object *)self)->source_file);
}

static PyObject *get_source_text(PyObject *self, void *closure)
{
    (void)closure;
    return or_none(((region_object *)self)->source_text);
}

static PyObject *get_source_line(PyObject *self, void *closure)
{
    (void)closure;
    const region_object *region = (region_object *)self;
    return region->source_file != NULL ? PyLong_FromLong(region->source_line) : or_none(NULL);
}

static PyObject *get_has_source(PyObject *self, void *closure)
{
    (void)closure;
    return PyBool_FromLong(((region_object *)self)->source_file != NULL);
}

static PyGetSetDef region_getset[] = {
    {"num_calls", get_num_calls, NULL, "Calls entered in this configuration.", NULL},
    {"source_file", get_source_file, NULL, "File of the definition, or None.", NULL},
    {"source_lineno", get_source_line, NULL, "Line of the definition, or None.", NULL},
    {"source_text", get_source_text, NULL, "Source of the definition, or None.", NULL},
    {"has_source", get_has_source, NULL, "Whether the definition site is known.", NULL},
    {"ptr", region_get_ptr, NULL, "Calls that are not written yet, open ones included.", NULL},
    {"capacity", region_get_capacity, NULL, "Length of start_times and end_times.", NULL},
    {"start_times", region_get_start_times, NULL,
     "Absolute start times in ns; [:ptr] is meaningful.", NULL},
    {"end_times", region_get_end_times, NULL,
     "Absolute end times in ns, 0 for an open call; [:ptr] is meaningful.",
     NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef region_members[] = {
    {"region_name", T_OBJECT, offsetof(region_object, name), READONLY, "Name of the region."},
    {"config", T_OBJECT, offsetof(region_object, config), READONLY,
     "Configuration that made the region."},
    {"tags", T_OBJECT, offsetof(region_object, tags), READONLY, "Tags, in the order given."},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(region_object, weak_references), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyMethodDef region_methods[] = {
    {"wrap", region_wrap, METH_O,
     "wrap($self, function, /)\n--\n\nReturns the function with every call recorded in this region."},
    {"append", (PyCFunction)(void (*)(void))region_append, METH_FASTCALL,
     "append($self, start, end, /)\n--\n\nAdds a finished call; absolute times in ns."},
    {"set_source", (PyCFunction)(void (*)(void))region_set_source, METH_VARARGS | METH_KEYWORDS,
     "set_source($self, source_file, source_lineno, source_text=None)\n--\n\n"
     "Names the definition site; the first one given stays."},
    {"add_function", region_add_function, METH_O,
     "add_function($self, function, /)\n--\n\nRegisters a function for line timings."},
    {"mark_written", region_mark_written, METH_NOARGS,
     "mark_written($self, /)\n--\n\nTells that the finished calls were written."},
    {"get_durations_numpy", region_durations, METH_NOARGS,
     "get_durations_numpy($self, /)\n--\n\nDurations in ns of the finished calls."},
    {"get_start_times_numpy", region_relative_starts, METH_NOARGS,
     "get_start_times_numpy($self, /)\n--\n\nStart times in ns since the start of the run."},
    {"get_end_times_numpy", region_relative_ends, METH_NOARGS,
     "get_end_times_numpy($self, /)\n--\n\nEnd times in ns since the start of the run."},
    {"open_slots", region_open_slots, METH_NOARGS,
     "open_slots($self, /)\n--\n\nPositions of the calls that are still open."},
    {"closed_slots", region_closed_slots, METH_NOARGS,
     "closed_slots($self, /)\n--\n\nPositions of the finished calls."},
    {"get_aggregate", region_aggregate, METH_NOARGS,
     "get_aggregate($self, /)\n--\n\nTotals in ns: count, total, minimum, maximum, exclusive."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot base_slots[] = {
    {Py_tp_traverse, region_traverse},
    {Py_tp_clear, region_clear},
    {Py_tp_dealloc, region_dealloc},
    {Py_tp_repr, region_repr},
    {Py_tp_members, region_members},
    {Py_tp_getset, region_getset},
    {Py_tp_methods, region_methods},
    {Py_tp_doc, "Parent of all regions: a named part of a program, used in a with statement."},
    {0, NULL},
};

static PyType_Spec base_spec = {
    .name = "scope_profiler.region_profiler.BaseProfileRegion",
    .basicsize = sizeof(region_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE |
             Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = base_slots,
};

/* The methods are descriptors of our own, so they are set after the type exists. */
static int add_protocol(recorder_state *state)
{
    PyObject *type = (PyObject *)state->region_type;
    PyObject *enter = region_method_new(state, "__enter__", ENTER_TEXT,
                                        offsetof(region_object, enter));
    PyObject *leave = region_method_new(state, "__exit__", EXIT_TEXT,
                                        offsetof(region_object, exit));
    int failed = enter == NULL || leave == NULL ||
                 PyObject_SetAttrString(type, "__enter__", enter) < 0 ||
                 PyObject_SetAttrString(type, "__exit__", leave) < 0;
    Py_XDECREF(enter);
    Py_XDECREF(leave);
    return failed ? -1 : 0;
}

/* A class of regions with the methods and attributes that it has beside those of its parent. */
static PyTypeObject *make_kind(PyObject *module, recorder_state *state, const region_kind *kind)
{
    static PyMethodDef no_methods[] = {{NULL, NULL, 0, NULL}};
    static PyGetSetDef no_attributes[] = {{NULL, NULL, NULL, NULL, NULL}};
    PyType_Slot slots[] = {
        {Py_tp_traverse, region_traverse},
        {Py_tp_clear, region_clear},
        {Py_tp_methods, kind->methods != NULL ? kind->methods : no_methods},
        {Py_tp_getset, kind->attributes != NULL ? kind->attributes : no_attributes},
        {Py_tp_doc, (void *)(uintptr_t)kind->text},
        {0, NULL},
    };
    PyType_Spec spec = {
        .name = kind->full_name,
        .basicsize = sizeof(region_object),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
        .slots = slots,
    };
    PyTypeObject *type =
        (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, (PyObject *)state->region_type);
    if (type != NULL && PyModule_AddType(module, type) < 0) {
        Py_CLEAR(type);
    }
    return type;
}

#define KIND(field, class, description)                                                            \
    {                                                                                              \
        offsetof(recorder_state, field), "scope_profiler.region_profiler." class, description,     \
            NULL, NULL                                                                             \
    }

/* Of the classes that tell nothing beside times. */
static const region_kind plain_kinds[] = {
    KIND(disabled_region_type, "DisabledProfileRegion", "Region that records nothing."),
    KIND(time_only_region_type, "TimeOnlyProfileRegion",
         "Region that records start and end of every call."),
    KIND(aggregate_region_type, "AggregateProfileRegion",
         "Region that keeps totals instead of calls."),
    KIND(full_region_type, "FullProfileRegion",
         "Region that records every call and marks it for hardware counters."),
    KIND(ranges_region_type, "NVTXProfileRegion",
         "Region that records every call and shows it to the tools of a device."),
};

static int add_kinds(PyObject *module, recorder_state *state, const region_kind *kinds,
                     size_t count)
{
    for (size_t i = 0; i < count; i++) {
        PyTypeObject *type = make_kind(module, state, &kinds[i]);
        if (type == NULL) {
            return -1;
        }
        *(PyTypeObject **)(void *)((char *)state + kinds[i].field) = type;
    }
    return 0;
}

int region_init(PyObject *module, recorder_state *state)
{
    size_t num_measured = 0;
    const region_kind *measured = region_measured_kinds(&num_measured);
    state->region_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &base_spec, NULL);
    if (state->region_type == NULL || PyModule_AddType(module, state->region_type) < 0 ||
        add_protocol(state) < 0 ||
        add_kinds(module, state, plain_kinds, sizeof plain_kinds / sizeof *plain_kinds) < 0 ||
        add_kinds(module, state, measured, num_measured) < 0) {
        return -1;
    }
    PyType_Slot shared[] = {{Py_tp_traverse, region_traverse}, {Py_tp_clear, region_clear}};
    state->line_region_type = lines_region_type(module, state, shared);
    return state->line_region_type != NULL ? 0 : -1;
}
