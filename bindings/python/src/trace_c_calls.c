#include "trace_c_calls.h"

#include "trace_thread.h"

#include <string.h>

static const PyMethodDef *definition_of(PyObject *callable)
{
    if (PyCFunction_Check(callable)) {
        return ((PyCFunctionObject *)callable)->m_ml;
    }
    if (Py_IS_TYPE(callable, &PyMethodDescr_Type)) {
        return ((PyMethodDescrObject *)callable)->d_method;
    }
    return NULL;
}

/* All types share one definition of __new__, bound to the type. */
static bool is_new(PyObject *callable, const PyMethodDef *definition)
{
    if (!PyCFunction_Check(callable)) {
        return false;
    }
    PyObject *self = ((PyCFunctionObject *)callable)->m_self;
    return self != NULL && PyType_Check(self) && strcmp(definition->ml_name, "__new__") == 0;
}

/* What a C function is known by: its entry in the table of a module or class, which is the same
 * whatever object it is called on. NULL: it is no C function. */
static const void *key_of(PyObject *callable)
{
    const PyMethodDef *definition = definition_of(callable);
    if (definition != NULL && is_new(callable, definition)) {
        return ((PyCFunctionObject *)callable)->m_self;
    }
    return definition;
}

bool trace_c_is_function(PyObject *callable)
{
    return definition_of(callable) != NULL;
}

/* ---- who defines a method -------------------------------------------------------------------- */

static bool is_defined_by(PyObject *entry, const PyMethodDef *definition)
{
    if (Py_IS_TYPE(entry, &PyMethodDescr_Type) || Py_IS_TYPE(entry, &PyClassMethodDescr_Type)) {
        return ((PyMethodDescrObject *)entry)->d_method == definition;
    }
    if (!Py_IS_TYPE(entry, &PyStaticMethod_Type)) {
        return false;
    }
    PyObject *function = PyObject_GetAttrString(entry, "__func__");
    bool is_same = function != NULL && definition_of(function) == definition;
    Py_XDECREF(function);
    return is_same;
}

static PyObject *names_of(PyTypeObject *type)
{
#if PY_VERSION_HEX >= 0x030c0000
    return PyType_GetDict(type);
#else
    return Py_XNewRef(type->tp_dict);
#endif
}

/* The class among the bases of a type that has the definition; borrowed, NULL: none. */
static PyObject *definer_among(const PyTypeObject *type, const PyMethodDef *definition)
{
    PyObject *bases = type->tp_mro;
    for (Py_ssize_t i = 0; bases != NULL && i < PyTuple_GET_SIZE(bases); i++) {
        PyObject *base = PyTuple_GET_ITEM(bases, i);
        PyObject *names = PyType_Check(base) ? names_of((PyTypeObject *)base) : NULL;
        PyObject *entry =
            names != NULL ? PyDict_GetItemString(names, definition->ml_name) : NULL;
        bool is_it = entry != NULL && is_defined_by(entry, definition);
        Py_XDECREF(names);
        if (is_it) {
            return base;
        }
    }
    return NULL;
}

/* Borrowed; NULL: no class does, it is a function. */
static PyObject *find_definer(PyObject *callable)
{
    const PyMethodDef *definition = definition_of(callable);
    if (!PyCFunction_Check(callable)) {
        return (PyObject *)PyDescr_TYPE(callable);
    }
    PyObject *self = ((PyCFunctionObject *)callable)->m_self;
    if (self == NULL || PyModule_Check(self)) {
        return NULL;
    }
    if (is_new(callable, definition)) {
        return self;
    }
    PyObject *found = NULL;
    if (PyType_Check(self)) {
        found = definer_among((PyTypeObject *)self, definition);
    }
    return found != NULL ? found : definer_among(Py_TYPE(self), definition);
}

static int32_t resolve(trace_session *session, const void *key, PyObject *callable)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    int32_t region = trace_resolve_c(session, key, callable, find_definer(callable));
    PyErr_Restore(type, value, traceback);
    return region;
}

/* ---- beginnings and ends ---------------------------------------------------------------------- */

void trace_c_begin(trace_session *session, PyObject *callable)
{
    const void *key = key_of(callable);
    if (key == NULL) {
        return;
    }
    const trace_code *known = trace_codes_find(session->codes, key);
    int32_t region = known != NULL ? known->word : resolve(session, key, callable);
    trace_thread *thread = region == TRACE_NOT ? NULL : trace_thread_get();
    if (thread != NULL) {
        trace_thread_begin(thread, session, key, region, false);
    }
}

void trace_c_end(PyObject *callable)
{
    const void *key = key_of(callable);
    trace_thread *thread = trace_thread_current;
    if (key != NULL && trace_thread_is_innermost(thread, key)) {
        trace_thread_end(thread);
    }
}
