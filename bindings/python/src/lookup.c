#include "lookup.h"

#include <structmember.h>

typedef struct lookup_object {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    profiler_object *profiler;
    PyObject *function; /* what documents it: name, signature, text */
    PyObject *owner;    /* the manager */
    PyObject *attributes;
    PyObject *weak_references;
} lookup_object;

static PyObject *lookup_parsed(profiler_object *profiler, PyObject *const *args, Py_ssize_t nargs,
                               PyObject *kwnames)
{
    static const char *const names[] = {"region_name", "functions", "tags"};
    PyObject *values[3] = {NULL, NULL, NULL};
    if (nargs > 3) {
        return PyErr_Format(PyExc_TypeError, "region() takes from 1 to 3 arguments, got %zd", nargs);
    }
    for (Py_ssize_t i = 0; i < nargs; i++) {
        values[i] = args[i];
    }
    Py_ssize_t num_keywords = kwnames != NULL ? PyTuple_GET_SIZE(kwnames) : 0;
    for (Py_ssize_t i = 0; i < num_keywords; i++) {
        PyObject *name = PyTuple_GET_ITEM(kwnames, i);
        size_t which = 0;
        while (which < 3 && PyUnicode_CompareWithASCIIString(name, names[which]) != 0) {
            which++;
        }
        if (which == 3) {
            return PyErr_Format(PyExc_TypeError, "region() got an unexpected keyword argument '%U'",
                                name);
        }
        if (values[which] != NULL) {
            return PyErr_Format(PyExc_TypeError, "region() got multiple values for argument '%U'",
                                name);
        }
        values[which] = args[nargs + i];
    }
    if (values[0] == NULL) {
        return PyErr_Format(PyExc_TypeError, "region() missing 1 required argument: 'region_name'");
    }
    PyObject *tags = values[2];
    PyObject *region = profiler_region(profiler, values[0], tags == Py_None ? NULL : tags, NULL);
    if (region != NULL && region_add_functions((region_object *)region, values[1]) < 0) {
        Py_CLEAR(region);
    }
    return region;
}

static PyObject *lookup_vectorcall(PyObject *self, PyObject *const *args, size_t nargsf,
                                   PyObject *kwnames)
{
    profiler_object *profiler = ((lookup_object *)self)->profiler;
    Py_ssize_t nargs = PyVectorcall_NARGS(nargsf);
    if (nargs == 1 && kwnames == NULL && PyUnicode_CheckExact(args[0])) {
        PyObject *region = PyDict_GetItemWithError(profiler->regions, args[0]);
        if (region != NULL) {
            return Py_NewRef(region);
        }
        if (PyErr_Occurred()) {
            return NULL;
        }
    }
    return lookup_parsed(profiler, args, nargs, kwnames);
}

static PyObject *lookup_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"profiler", "owner", "function", NULL};
    recorder_state *state = recorder_state_of(type);
    PyObject *profiler = NULL;
    PyObject *owner = NULL;
    PyObject *function = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!OO:Lookup", names, state->profiler_type,
                                     &profiler, &owner, &function)) {
        return NULL;
    }
    lookup_object *lookup = (lookup_object *)type->tp_alloc(type, 0);
    if (lookup == NULL) {
        return NULL;
    }
    lookup->vectorcall = lookup_vectorcall;
    lookup->profiler = (profiler_object *)Py_NewRef(profiler);
    lookup->owner = Py_NewRef(owner);
    lookup->function = Py_NewRef(function);
    lookup->attributes = PyDict_New();
    PyObject *doc = PyObject_GetAttrString(function, "__doc__");
    PyObject *module = PyObject_GetAttrString(function, "__module__");
    int failed = lookup->attributes == NULL || doc == NULL || module == NULL ||
                 PyDict_SetItemString(lookup->attributes, "__doc__", doc) < 0 ||
                 PyDict_SetItemString(lookup->attributes, "__module__", module) < 0;
    Py_XDECREF(doc);
    Py_XDECREF(module);
    if (failed) {
        Py_CLEAR(lookup);
    }
    return (PyObject *)lookup;
}

static int lookup_traverse(PyObject *self, visitproc visit, void *arg)
{
    lookup_object *lookup = (lookup_object *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(lookup->profiler);
    Py_VISIT(lookup->owner);
    Py_VISIT(lookup->function);
    Py_VISIT(lookup->attributes);
    return 0;
}

static int lookup_clear(PyObject *self)
{
    lookup_object *lookup = (lookup_object *)self;
    Py_CLEAR(lookup->owner);
    Py_CLEAR(lookup->function);
    Py_CLEAR(lookup->attributes);
    return 0;
}

static void lookup_dealloc(PyObject *self)
{
    lookup_object *lookup = (lookup_object *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (lookup->weak_references != NULL) {
        PyObject_ClearWeakRefs(self);
    }
    lookup_clear(self);
    Py_CLEAR(lookup->profiler);
    type->tp_free(self);
    Py_DECREF(type);
}

/* inspect asks for this; it has loaded itself by then. */
static PyObject *lookup_signature(PyObject *self, void *closure)
{
    (void)closure;
    lookup_object *lookup = (lookup_object *)self;
    PyObject *inspect = PyImport_ImportModule("inspect");
    PyObject *bound = inspect != NULL && lookup->function != NULL
                          ? PyMethod_New(lookup->function, lookup->owner)
                          : NULL;
    PyObject *signature =
        bound != NULL ? PyObject_CallMethod(inspect, "signature", "O", bound) : NULL;
    Py_XDECREF(inspect);
    Py_XDECREF(bound);
    if (signature == NULL && !PyErr_Occurred()) {
        PyErr_SetString(PyExc_AttributeError, "__signature__");
    }
    return signature;
}

static PyObject *forward(PyObject *self, const char *name)
{
    PyObject *function = ((lookup_object *)self)->function;
    return PyObject_GetAttrString(function != NULL ? function : Py_None, name);
}

static PyObject *lookup_name(PyObject *self, void *closure)
{
    (void)closure;
    return forward(self, "__name__");
}

static PyObject *lookup_qualified_name(PyObject *self, void *closure)
{
    (void)closure;
    return forward(self, "__qualname__");
}

static PyObject *lookup_repr(PyObject *self)
{
    lookup_object *lookup = (lookup_object *)self;
    return PyUnicode_FromFormat("<bound method ProfileManager.region of %R>", lookup->owner);
}

static PyMemberDef lookup_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(lookup_object, vectorcall), READONLY, NULL},
    {"__dictoffset__", T_PYSSIZET, offsetof(lookup_object, attributes), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(lookup_object, weak_references), READONLY, NULL},
    {"__func__", T_OBJECT, offsetof(lookup_object, function), READONLY,
     "Plain function with the same meaning."},
    {"__self__", T_OBJECT, offsetof(lookup_object, owner), READONLY, "The manager."},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef lookup_getset[] = {
    {"__signature__", lookup_signature, NULL, NULL, NULL},
    {"__name__", lookup_name, NULL, NULL, NULL},
    {"__qualname__", lookup_qualified_name, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot lookup_slots[] = {
    {Py_tp_new, lookup_new},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_repr, lookup_repr},
    {Py_tp_members, lookup_members},
    {Py_tp_getset, lookup_getset},
    {Py_tp_traverse, lookup_traverse},
    {Py_tp_clear, lookup_clear},
    {Py_tp_dealloc, lookup_dealloc},
    {Py_tp_doc, "Lookup(profiler, owner, function)\n--\n\nThe region of a name, got or made."},
    {0, NULL},
};

static PyType_Spec lookup_spec = {
    .name = "scope_profiler._recorder.Lookup",
    .basicsize = sizeof(lookup_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .slots = lookup_slots,
};

int lookup_init(PyObject *module, recorder_state *state)
{
    state->lookup_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &lookup_spec, NULL);
    return state->lookup_type != NULL ? PyModule_AddType(module, state->lookup_type) : -1;
}
