#include "lines.h"

#include "region.h"

PyObject *lines_new(PyObject *factory, PyObject *name)
{
    return PyObject_CallOneArg(factory, name);
}

void lines_enter(PyObject *lines, bool is_block)
{
    PyObject *done = PyObject_CallMethod(lines, "enter", "O", is_block ? Py_True : Py_False);
    if (done == NULL) {
        PyErr_WriteUnraisable(lines);
    }
    Py_XDECREF(done);
}

void lines_leave(PyObject *lines)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *done = PyObject_CallMethod(lines, "leave", NULL);
    if (done == NULL) {
        PyErr_WriteUnraisable(lines);
    }
    Py_XDECREF(done);
    PyErr_Restore(type, value, traceback);
}

int lines_add(PyObject *lines, PyObject *function, bool is_given)
{
    PyObject *done = PyObject_CallMethod(lines, "add_function", "OO", function,
                                         is_given ? Py_True : Py_False);
    Py_XDECREF(done);
    return done == NULL ? -1 : 0;
}

/* ---- LineProfilerRegion --------------------------------------------------------------------- */

/* Calls the method of that name of what times the lines; a region without it has none of these. */
static PyObject *forward(PyObject *self, const char *name, PyObject *args, PyObject *kwargs)
{
    PyObject *lines = ((region_object *)self)->lines;
    if (lines == NULL) {
        return PyErr_Format(PyExc_RuntimeError, "%s(): no lines of this region are timed", name);
    }
    PyObject *method = PyObject_GetAttrString(lines, name);
    PyObject *result = method != NULL ? PyObject_Call(method, args, kwargs) : NULL;
    Py_XDECREF(method);
    return result;
}

#define FORWARDED(name)                                                                            \
    static PyObject *region_##name(PyObject *self, PyObject *args, PyObject *kwargs)               \
    {                                                                                              \
        return forward(self, #name, args, kwargs);                                                 \
    }

FORWARDED(get_stats)
FORWARDED(print_stats)
FORWARDED(enter_frame)
FORWARDED(enter_timing_only)
FORWARDED(record_line_timing)
FORWARDED(manual_line_records)

#define METHOD(name, text)                                                                         \
    {                                                                                              \
#name, (PyCFunction)(void (*)(void))region_##name, METH_VARARGS | METH_KEYWORDS, text      \
    }

static PyMethodDef line_methods[] = {
    METHOD(get_stats, "get_stats($self, /)\n--\n\nLine timings, as line_profiler has them."),
    METHOD(print_stats, "print_stats($self, /, stream=None)\n--\n\nPrints the line timings."),
    METHOD(enter_frame,
           "enter_frame($self, /, frame=None)\n--\n\n"
           "Times the lines of a frame, the calling one by default, until the region is left."),
    METHOD(enter_timing_only,
           "enter_timing_only($self, /)\n--\n\nBegins a call whose lines are not timed."),
    METHOD(record_line_timing,
           "record_line_timing($self, /, filename, function, first_lineno, lineno, duration)\n--\n\n"
           "Adds one pass over a line, in ns; durations of 0 and less are dropped."),
    METHOD(manual_line_records,
           "manual_line_records($self, /, unit=1e-09)\n--\n\n"
           "Records of the lines that were not timed through line_profiler."),
    {NULL, NULL, 0, NULL},
};

PyTypeObject *lines_region_type(PyObject *module, recorder_state *state, PyType_Slot *shared)
{
    PyType_Slot slots[] = {
        shared[0],
        shared[1],
        {Py_tp_methods, line_methods},
        {Py_tp_doc, "Region that records every call and times lines."},
        {0, NULL},
    };
    PyType_Spec spec = {
        .name = "scope_profiler.region_profiler.LineProfilerRegion",
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
