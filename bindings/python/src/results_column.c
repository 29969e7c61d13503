#include "results_module.h"

/* Read-only, one-dimensional buffer over memory of a run. numpy.frombuffer makes an array of it
 * without a copy; the array keeps the Column, the Column keeps the Run. */
typedef struct column_object {
    PyObject_HEAD
    run_object *run;
    const void *data;
    Py_ssize_t shape;
    Py_ssize_t stride;
    column_format format;
} column_object;

static const struct {
    const char *format;
    Py_ssize_t size;
} column_formats[] = {
    [COLUMN_INT64] = {"q", 8},
    [COLUMN_UINT64] = {"Q", 8},
    [COLUMN_INT32] = {"i", 4},
    [COLUMN_UINT32] = {"I", 4},
};

static int column_traverse(column_object *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->run);
    return 0;
}

static void column_dealloc(column_object *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Py_XDECREF(self->run);
    type->tp_free(self);
    Py_DECREF(type);
}

static Py_ssize_t column_length(column_object *self)
{
    return self->shape;
}

static PyObject *column_item(column_object *self, Py_ssize_t i)
{
    if (i < 0 || i >= self->shape) {
        PyErr_SetString(PyExc_IndexError, "column index out of range");
        return NULL;
    }
    switch (self->format) {
    case COLUMN_UINT64:
        return PyLong_FromUnsignedLongLong(((const uint64_t *)self->data)[i]);
    case COLUMN_INT32:
        return PyLong_FromLong(((const int32_t *)self->data)[i]);
    case COLUMN_UINT32:
        return PyLong_FromUnsignedLong(((const uint32_t *)self->data)[i]);
    default:
        return PyLong_FromLongLong(((const int64_t *)self->data)[i]);
    }
}

static PyObject *column_format_text(column_object *self, void *closure)
{
    (void)closure;
    return PyUnicode_FromString(column_formats[self->format].format);
}

static int column_getbuffer(column_object *self, Py_buffer *view, int flags)
{
    static int64_t nothing; /* an empty column has no memory, but a buffer needs an address */
    if (flags & PyBUF_WRITABLE) {
        PyErr_SetString(PyExc_BufferError, "a column of a profile is read-only");
        view->obj = NULL;
        return -1;
    }
    view->buf = self->shape > 0 ? (void *)self->data : (void *)&nothing;
    view->obj = Py_NewRef((PyObject *)self);
    view->itemsize = self->stride;
    view->len = self->shape * self->stride;
    view->readonly = 1;
    view->ndim = 1;
    view->format = flags & PyBUF_FORMAT ? (char *)column_formats[self->format].format : NULL;
    view->shape = flags & PyBUF_ND ? &self->shape : NULL;
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? &self->stride : NULL;
    view->suboffsets = NULL;
    view->internal = NULL;
    return 0;
}

static PyGetSetDef column_getset[] = {
    {"format", (getter)column_format_text, NULL, "Element type as in the module struct.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot column_slots[] = {
    {Py_tp_doc, "Read-only buffer over one column of a run."},
    {Py_tp_traverse, column_traverse},
    {Py_tp_dealloc, column_dealloc},
    {Py_tp_getset, column_getset},
    {Py_sq_length, column_length},
    {Py_sq_item, column_item},
    {Py_bf_getbuffer, column_getbuffer},
    {0, NULL},
};

static PyType_Spec column_spec = {
    .name = "scope_profiler._results.Column",
    .basicsize = sizeof(column_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE |
             Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = column_slots,
};

int results_column_init(PyObject *module, results_state *state)
{
    state->column_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &column_spec, NULL);
    return state->column_type == NULL ? -1 : PyModule_AddType(module, state->column_type);
}

PyObject *results_column_new(const results_state *state, run_object *run, const void *data,
                             size_t count, column_format format)
{
    column_object *self = (column_object *)state->column_type->tp_alloc(state->column_type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->run = (run_object *)Py_NewRef((PyObject *)run);
    self->data = data;
    self->shape = (Py_ssize_t)count;
    self->stride = column_formats[format].size;
    self->format = format;
    return (PyObject *)self;
}
