#include "decorated.h"

#include "details.h"
#include "json_text.h"
#include "lines.h"
#include "recursion.h"
#include "steps.h"
#include "trace.h"

#include <structmember.h>

/* ---- calls ---------------------------------------------------------------------------------- */

static inline PyObject *call_target(decorated_object *decorated, PyObject *const *args,
                                    size_t nargsf, PyObject *kwnames)
{
    return decorated->target_call(decorated->target, args, nargsf, kwnames);
}

static inline PyObject *record_call(decorated_object *decorated, PyObject *const *args,
                                    size_t nargsf, PyObject *kwnames)
{
    sp_binding_begin(decorated->recorder, decorated->id);
    PyObject *result = call_target(decorated, args, nargsf, kwnames);
    sp_binding_end(decorated->recorder, decorated->id);
    return result;
}

static __attribute__((noinline)) PyObject *call_deep(decorated_object *decorated, bool is_recorded,
                                                     PyObject *const *args, size_t nargsf,
                                                     PyObject *kwnames)
{
    recursion_level level;
    if (recursion_enter(&level) < 0) {
        return NULL;
    }
    PyObject *result = is_recorded ? record_call(decorated, args, nargsf, kwnames)
                                   : call_target(decorated, args, nargsf, kwnames);
    recursion_leave(&level);
    return result;
}

static PyObject *call_unrecorded(PyObject *self, PyObject *const *args, size_t nargsf,
                                 PyObject *kwnames)
{
    decorated_object *decorated = (decorated_object *)self;
    if (recursion_is_shallow()) {
        return call_target(decorated, args, nargsf, kwnames);
    }
    return call_deep(decorated, false, args, nargsf, kwnames);
}

static PyObject *call_recorded(PyObject *self, PyObject *const *args, size_t nargsf,
                               PyObject *kwnames)
{
    decorated_object *decorated = (decorated_object *)self;
    if (recursion_is_shallow()) {
        return record_call(decorated, args, nargsf, kwnames);
    }
    return call_deep(decorated, true, args, nargsf, kwnames);
}

static PyObject *call_detailed(PyObject *self, PyObject *const *args, size_t nargsf,
                               PyObject *kwnames)
{
    decorated_object *decorated = (decorated_object *)self;
    recursion_level level;
    call_details details;
    /* First: a function for the metadata may come back here, too. */
    if (recursion_enter(&level) < 0) {
        return NULL;
    }
    if (details_begin(&details, decorated, args, PyVectorcall_NARGS(nargsf), kwnames) < 0) {
        recursion_leave(&level);
        return NULL;
    }
    bool traces = decorated->traces && trace_enter(decorated->profiler);
    sp_binding_begin(decorated->recorder, decorated->id);
    PyObject *result = decorated->target_call(decorated->target, args, nargsf, kwnames);
    details_end(&details, result != NULL);
    if (traces) {
        trace_leave(decorated->profiler);
    }
    recursion_leave(&level);
    return result;
}

/* The outermost such call installs the tracer and removes it again. */
static PyObject *call_traced(PyObject *self, PyObject *const *args, size_t nargsf,
                             PyObject *kwnames)
{
    decorated_object *decorated = (decorated_object *)self;
    profiler_object *profiler = decorated->profiler;
    bool traces = trace_enter(profiler);
    PyObject *result = call_recorded(self, args, nargsf, kwnames);
    if (traces) {
        trace_leave(profiler);
    }
    return result;
}

/* The configuration may change inside the call. */
static PyObject *call_lined(PyObject *self, PyObject *const *args, size_t nargsf,
                            PyObject *kwnames)
{
    decorated_object *decorated = (decorated_object *)self;
    PyObject *lines = Py_NewRef(decorated->lines);
    lines_enter(lines, false);
    PyObject *result = decorated->timed_call(self, args, nargsf, kwnames);
    lines_leave(lines);
    Py_DECREF(lines);
    return result;
}

/* The call only makes the generator or coroutine; its steps are what is recorded. */
static PyObject *make_steps(decorated_object *decorated, PyObject *const *args, size_t nargsf,
                            PyObject *kwnames)
{
    call_details details;
    if (details_begin(&details, decorated, args, PyVectorcall_NARGS(nargsf), kwnames) < 0) {
        return NULL;
    }
    PyObject *inner = decorated->target_call(decorated->target, args, nargsf, kwnames);
    if (inner == NULL) {
        details_drop(&details);
        return NULL;
    }
    return steps_new(decorated, inner, &details);
}

static PyObject *call_stepwise(PyObject *self, PyObject *const *args, size_t nargsf,
                               PyObject *kwnames)
{
    recursion_level level;
    if (recursion_is_shallow()) {
        return make_steps((decorated_object *)self, args, nargsf, kwnames);
    }
    if (recursion_enter(&level) < 0) {
        return NULL;
    }
    PyObject *steps = make_steps((decorated_object *)self, args, nargsf, kwnames);
    recursion_leave(&level);
    return steps;
}

/* ---- binding to the configuration ----------------------------------------------------------- */

void decorated_unbind(decorated_object *decorated)
{
    decorated->vectorcall = call_unrecorded;
    Py_CLEAR(decorated->lines);
}

/* The call by its kind, and around it what times its lines. */
static int choose_call(decorated_object *decorated, const region_object *region)
{
    if (decorated->kind != CALL_PLAIN) {
        decorated->vectorcall = call_stepwise;
    } else if (decorated->metadata != NULL || decorated->record_outcome) {
        decorated->vectorcall = call_detailed;
    } else {
        decorated->vectorcall = decorated->traces ? call_traced : call_recorded;
    }
    if (region->lines == NULL) {
        return 0;
    }
    decorated->lines = Py_NewRef(region->lines);
    if (decorated->kind == CALL_PLAIN) {
        decorated->timed_call = decorated->vectorcall;
        decorated->vectorcall = call_lined;
    }
    return lines_add(decorated->lines, decorated->target, false);
}

int decorated_rebind(decorated_object *decorated)
{
    profiler_object *profiler = decorated->profiler;
    decorated_unbind(decorated);
    if (!profiler->is_enabled) {
        return 0;
    }
    region_site site = {NULL, NULL, 0};
    PyObject *code = PyFunction_Check(decorated->target) ? PyFunction_GET_CODE(decorated->target)
                                                         : NULL;
    if (code != NULL && profiler_locate(profiler, (PyCodeObject *)code, &site) < 0) {
        return -1;
    }
    region_object *region =
        (region_object *)profiler_region(profiler, decorated->name, decorated->tags, &site);
    region_site_clear(&site);
    if (region == NULL) {
        return -1;
    }
    int failed = 0;
    if (region_is_enabled(region)) {
        decorated->id = region->id;
        decorated->traces = decorated->wants_tracing == TRACES ||
                            (decorated->wants_tracing == TRACES_AS_CONFIGURED && profiler->traces);
        failed = choose_call(decorated, region);
    }
    Py_DECREF(region);
    return failed;
}

static void link_to(decorated_object *decorated, profiler_object *profiler)
{
    decorated->next = profiler->decorated;
    decorated->link = &profiler->decorated;
    if (decorated->next != NULL) {
        decorated->next->link = &decorated->next;
    }
    profiler->decorated = decorated;
}

static void unlink_from_profiler(decorated_object *decorated)
{
    if (decorated->link == NULL) {
        return;
    }
    *decorated->link = decorated->next;
    if (decorated->next != NULL) {
        decorated->next->link = decorated->link;
    }
    decorated->link = NULL;
    decorated->next = NULL;
}

/* ---- making one ----------------------------------------------------------------------------- */

/* What functools.wraps would copy and attribute look-up would not find through the target, because
 * the type has attributes of these names itself. */
static int fill_attributes(decorated_object *decorated)
{
    static const char *const names[] = {"__module__", "__doc__"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        PyObject *value = PyObject_GetAttrString(decorated->target, names[i]);
        if (value == NULL) {
            if (!PyErr_ExceptionMatches(PyExc_AttributeError)) {
                return -1;
            }
            PyErr_Clear();
            value = Py_NewRef(Py_None);
        }
        int failed = PyDict_SetItemString(decorated->attributes, names[i], value);
        Py_DECREF(value);
        if (failed < 0) {
            return -1;
        }
    }
    return PyDict_SetItemString(decorated->attributes, "__wrapped__", decorated->target);
}

static int set_metadata(decorated_object *decorated, PyObject *metadata)
{
    if (metadata == NULL || metadata == Py_None) {
        return 0;
    }
    if (PyCallable_Check(metadata)) {
        decorated->metadata = Py_NewRef(metadata);
        return 0;
    }
    decorated->metadata = json_encode(metadata);
    return decorated->metadata == NULL ? -1 : 0;
}

PyObject *decorated_new(profiler_object *profiler, PyObject *target,
                        const decorated_options *options)
{
    recorder_state *state = profiler->state;
    bool binds = (Py_TYPE(target)->tp_flags & Py_TPFLAGS_METHOD_DESCRIPTOR) != 0;
    PyTypeObject *type = binds ? state->function_type : state->callable_type;
    decorated_object *decorated = (decorated_object *)type->tp_alloc(type, 0);
    if (decorated == NULL) {
        return NULL;
    }
    vectorcallfunc direct = PyVectorcall_Function(target);
    decorated->vectorcall = call_unrecorded;
    decorated->target = Py_NewRef(target);
    decorated->target_call = direct != NULL ? direct : PyObject_Vectorcall;
    decorated->profiler = (profiler_object *)Py_NewRef((PyObject *)profiler);
    decorated->recorder = profiler->recorder;
    decorated->id = -1;
    decorated->kind = options->kind;
    decorated->record_outcome = options->record_outcome;
    decorated->wants_tracing = options->traces;
    decorated->name = Py_NewRef(options->name);
    decorated->tags = Py_XNewRef(options->tags);
    decorated->attributes = PyDict_New();
    if (decorated->attributes == NULL || fill_attributes(decorated) < 0 ||
        set_metadata(decorated, options->metadata) < 0 || decorated_rebind(decorated) < 0) {
        Py_DECREF(decorated);
        return NULL;
    }
    link_to(decorated, profiler);
    trace_forget_function(profiler, target);
    return (PyObject *)decorated;
}

static int decorated_traverse(PyObject *self, visitproc visit, void *arg)
{
    decorated_object *decorated = (decorated_object *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(decorated->target);
    Py_VISIT(decorated->metadata);
    Py_VISIT(decorated->lines);
    Py_VISIT(decorated->attributes);
    Py_VISIT(decorated->profiler);
    return 0;
}

/* The target goes last and the profiler stays until the end: the object may still be called. */
static int decorated_clear(PyObject *self)
{
    decorated_object *decorated = (decorated_object *)self;
    unlink_from_profiler(decorated);
    decorated_unbind(decorated);
    decorated->target_call = PyObject_Vectorcall;
    Py_CLEAR(decorated->metadata);
    Py_CLEAR(decorated->attributes);
    Py_SETREF(decorated->target, Py_NewRef(Py_None));
    return 0;
}

static void decorated_dealloc(PyObject *self)
{
    decorated_object *decorated = (decorated_object *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    unlink_from_profiler(decorated);
    if (decorated->weak_references != NULL) {
        PyObject_ClearWeakRefs(self);
    }
    Py_CLEAR(decorated->metadata);
    Py_CLEAR(decorated->lines);
    Py_CLEAR(decorated->attributes);
    Py_CLEAR(decorated->target);
    Py_CLEAR(decorated->name);
    Py_CLEAR(decorated->tags);
    Py_CLEAR(decorated->profiler);
    type->tp_free(self);
    Py_DECREF(type);
}

/* ---- standing in for the target ------------------------------------------------------------- */

static PyObject *decorated_getattro(PyObject *self, PyObject *name)
{
    PyObject *value = PyObject_GenericGetAttr(self, name);
    if (value == NULL && PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear();
        value = PyObject_GetAttr(((decorated_object *)self)->target, name);
    }
    return value;
}

/* isinstance(f, types.FunctionType) holds for a decorated function, so that tools which sort
 * callables by class (inspect, pydoc, doctest, mocks) treat it as the function it stands for. */
static PyObject *decorated_class(PyObject *self, void *closure)
{
    (void)closure;
    PyObject *target = ((decorated_object *)self)->target;
    return Py_NewRef(PyFunction_Check(target) ? (PyObject *)&PyFunction_Type
                                              : (PyObject *)Py_TYPE(self));
}

static PyObject *decorated_repr(PyObject *self)
{
    return PyUnicode_FromFormat("<profiled %R>", ((decorated_object *)self)->target);
}

static PyObject *decorated_get(PyObject *self, PyObject *object, PyObject *type)
{
    (void)type;
    if (object == NULL || object == Py_None) {
        return Py_NewRef(self);
    }
    return PyMethod_New(self, object);
}

/* Binds when the target does: a decorated builtin or partial in a class body is called without the
 * instance, as it would be undecorated. */
static PyObject *callable_get(PyObject *self, PyObject *object, PyObject *type)
{
    PyObject *target = ((decorated_object *)self)->target;
    descrgetfunc target_get = Py_TYPE(target)->tp_descr_get;
    if (target_get == NULL || object == NULL || object == Py_None) {
        return Py_NewRef(self);
    }
    PyObject *bound = target_get(target, object, type);
    if (bound == NULL) {
        return NULL;
    }
    bool is_bound = bound != target;
    Py_DECREF(bound);
    return is_bound ? PyMethod_New(self, object) : Py_NewRef(self);
}

/* By reference, as functions are: the qualified name, found again in __module__. */
static PyObject *decorated_reduce(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    return PyObject_GetAttrString(self, "__qualname__");
}

static PyMethodDef decorated_methods[] = {
    {"__reduce__", decorated_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef decorated_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(decorated_object, vectorcall), READONLY, NULL},
    {"__dictoffset__", T_PYSSIZET, offsetof(decorated_object, attributes), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(decorated_object, weak_references), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef decorated_getset[] = {
    {"__class__", decorated_class, NULL, NULL, NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

#define COMMON_SLOTS                                                                               \
    {Py_tp_call, PyVectorcall_Call}, {Py_tp_traverse, decorated_traverse},                         \
        {Py_tp_clear, decorated_clear}, {Py_tp_dealloc, decorated_dealloc},                        \
        {Py_tp_getattro, decorated_getattro}, {Py_tp_setattro, PyObject_GenericSetAttr},           \
        {Py_tp_repr, decorated_repr}, {Py_tp_methods, decorated_methods},                          \
        {Py_tp_members, decorated_members}, {Py_tp_getset, decorated_getset}

static PyType_Slot function_slots[] = {
    COMMON_SLOTS,
    {Py_tp_descr_get, decorated_get},
    {0, NULL},
};

static PyType_Slot callable_slots[] = {
    COMMON_SLOTS,
    {Py_tp_descr_get, callable_get},
    {0, NULL},
};

enum {
    COMMON_FLAGS = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                   Py_TPFLAGS_DISALLOW_INSTANTIATION
};

static PyType_Spec function_spec = {
    .name = "scope_profiler._recorder.ProfiledFunction",
    .basicsize = sizeof(decorated_object),
    .flags = COMMON_FLAGS | Py_TPFLAGS_METHOD_DESCRIPTOR,
    .slots = function_slots,
};

static PyType_Spec callable_spec = {
    .name = "scope_profiler._recorder.ProfiledCallable",
    .basicsize = sizeof(decorated_object),
    .flags = COMMON_FLAGS,
    .slots = callable_slots,
};

int decorated_init(PyObject *module, recorder_state *state)
{
    state->function_type =
        (PyTypeObject *)PyType_FromModuleAndSpec(module, &function_spec, NULL);
    state->callable_type =
        (PyTypeObject *)PyType_FromModuleAndSpec(module, &callable_spec, NULL);
    if (state->function_type == NULL || state->callable_type == NULL) {
        return -1;
    }
    return PyModule_AddType(module, state->function_type) < 0 ||
                   PyModule_AddType(module, state->callable_type) < 0
               ? -1
               : 0;
}
