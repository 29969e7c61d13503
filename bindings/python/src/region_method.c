#include "region_method.h"

#include "region.h"

#include <structmember.h>

typedef struct region_method {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyTypeObject *region_type;
    Py_ssize_t offset;
    const char *name;
    const char *text;
} region_method;

/* The bound function of `object`, borrowed; NULL with TypeError when it is no region. */
static PyObject *bound_function(const region_method *method, PyObject *object)
{
    if (Py_TYPE(object)->tp_base != method->region_type) {
        PyErr_Format(PyExc_TypeError, "descriptor '%s' requires a profile region, not '%.200s'",
                     method->name, Py_TYPE(object)->tp_name);
        return NULL;
    }
    PyObject *function = *(PyObject **)((char *)object + method->offset);
    if (function == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "this profile region was freed by the collector");
    }
    return function;
}

static PyObject *method_get(PyObject *self, PyObject *object, PyObject *type)
{
    (void)type;
    if (object == NULL || object == Py_None) {
        return Py_NewRef(self);
    }
    PyObject *function = bound_function((region_method *)self, object);
    return Py_XNewRef(function);
}

static PyObject *method_vectorcall(PyObject *self, PyObject *const *args, size_t nargsf,
                                   PyObject *kwnames)
{
    const region_method *method = (region_method *)self;
    Py_ssize_t nargs = PyVectorcall_NARGS(nargsf);
    if (nargs == 0) {
        return PyErr_Format(PyExc_TypeError, "descriptor '%s' needs a profile region as argument",
                            method->name);
    }
    PyObject *function = bound_function(method, args[0]);
    if (function == NULL) {
        return NULL;
    }
    return PyObject_Vectorcall(function, args + 1, (size_t)(nargs - 1), kwnames);
}

static PyObject *method_repr(PyObject *self)
{
    return PyUnicode_FromFormat("<method '%s' of profile regions>", ((region_method *)self)->name);
}

static PyObject *method_name(PyObject *self, void *closure)
{
    (void)closure;
    return PyUnicode_FromString(((region_method *)self)->name);
}

static PyObject *method_qualified_name(PyObject *self, void *closure)
{
    (void)closure;
    return PyUnicode_FromFormat("BaseProfileRegion.%s", ((region_method *)self)->name);
}

/* The constant starts with the signature, as documentation of builtins does. */
static PyObject *method_signature(PyObject *self, void *closure)
{
    (void)closure;
    const char *text = ((region_method *)self)->text;
    return PyUnicode_FromStringAndSize(text, strcspn(text, "\n"));
}

static PyObject *method_doc(PyObject *self, void *closure)
{
    (void)closure;
    return PyUnicode_FromString(strchr(((region_method *)self)->text, '\n') + 1);
}

static PyObject *method_objclass(PyObject *self, void *closure)
{
    (void)closure;
    return Py_NewRef((PyObject *)((region_method *)self)->region_type);
}

static int method_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((region_method *)self)->region_type);
    return 0;
}

static int method_clear(PyObject *self)
{
    Py_CLEAR(((region_method *)self)->region_type);
    return 0;
}

static void method_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    method_clear(self);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyMemberDef method_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(region_method, vectorcall), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef method_getset[] = {
    {"__name__", method_name, NULL, NULL, NULL},
    {"__qualname__", method_qualified_name, NULL, NULL, NULL},
    {"__text_signature__", method_signature, NULL, NULL, NULL},
    {"__doc__", method_doc, NULL, NULL, NULL},
    {"__objclass__", method_objclass, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot method_slots[] = {
    {Py_tp_descr_get, method_get},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_repr, method_repr},
    {Py_tp_members, method_members},
    {Py_tp_getset, method_getset},
    {Py_tp_traverse, method_traverse},
    {Py_tp_clear, method_clear},
    {Py_tp_dealloc, method_dealloc},
    {0, NULL},
};

static PyType_Spec method_spec = {
    .name = "scope_profiler._recorder.RegionMethod",
    .basicsize = sizeof(region_method),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
             Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = method_slots,
};

int region_method_init(recorder_state *state)
{
    state->region_method_type = (PyTypeObject *)PyType_FromSpec(&method_spec);
    return state->region_method_type == NULL ? -1 : 0;
}

PyObject *region_method_new(recorder_state *state, const char *name, const char *text,
                            Py_ssize_t offset)
{
    region_method *method =
        (region_method *)state->region_method_type->tp_alloc(state->region_method_type, 0);
    if (method == NULL) {
        return NULL;
    }
    method->vectorcall = method_vectorcall;
    method->region_type = (PyTypeObject *)Py_NewRef((PyObject *)state->region_type);
    method->offset = offset;
    method->name = name;
    method->text = text;
    return (PyObject *)method;
}
