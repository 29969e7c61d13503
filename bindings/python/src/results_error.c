#include "results_module.h"

/* Exceptions live under the public module that documents them; they are made here because this is
 * where statuses of the library become exceptions. */
int results_errors_init(PyObject *module, results_state *state)
{
    const struct {
        PyObject **slot;
        PyObject *base;
        const char *name, *full_name, *doc;
    } table[] = {
        {&state->corrupt_error, PyExc_OSError, "CorruptProfileError",
         "scope_profiler.h5reader.CorruptProfileError",
         "A file is not a profile, or it is truncated or damaged. The text names the file."},
        {&state->schema_error, PyExc_ValueError, "HDF5SchemaError",
         "scope_profiler.h5schema.HDF5SchemaError",
         "The schema version of a profile is not valid or newer than this package reads."},
        {&state->nesting_error, PyExc_ValueError, "NestingError",
         "scope_profiler.call_stack.NestingError",
         "Recorded calls of one lane overlap without nesting, so they form no call stack."},
        {&state->events_error, PyExc_RuntimeError, "EventDataUnavailableError",
         "scope_profiler.region.EventDataUnavailableError",
         "Single calls were asked for, but only the stored statistics were read."},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        PyObject *error =
            PyErr_NewExceptionWithDoc(table[i].full_name, table[i].doc, table[i].base, NULL);
        if (error == NULL) {
            return -1;
        }
        *table[i].slot = error;
        if (PyModule_AddObjectRef(module, table[i].name, error) < 0) {
            return -1;
        }
    }
    return 0;
}

/* errno first if there is one, so that Python picks the subclass of OSError that callers test for.
 * The text may hold bytes of a path that are no text, or end within a character. */
static PyObject *raise_text(PyObject *type, int system_errno, const char *text)
{
    PyObject *message = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "backslashreplace");
    PyObject *arguments = message;
    if (message != NULL && system_errno != 0) {
        arguments = Py_BuildValue("(iN)", system_errno, message);
    }
    if (arguments != NULL) {
        PyErr_SetObject(type, arguments);
        Py_DECREF(arguments);
    }
    return NULL;
}

PyObject *results_raise(const results_state *state, int status, const sp_error *error)
{
    const char *text =
        error != NULL && error->text[0] != '\0' ? error->text : sp_error_string(status);
    PyObject *type = PyExc_RuntimeError;
    switch (status) {
    case SP_ERR_NO_MEMORY:
        return PyErr_NoMemory();
    case SP_ERR_IO:
        if (error != NULL && error->system_errno != 0) {
            return raise_text(PyExc_OSError, error->system_errno, error->text);
        }
        type = PyExc_OSError;
        break;
    case SP_ERR_NOT_FOUND:
        type = PyExc_FileNotFoundError;
        break;
    case SP_ERR_NO_MODULE:
        type = PyExc_OSError;
        break;
    case SP_ERR_NOT_A_PROFILE:
    case SP_ERR_DAMAGED:
        type = state->corrupt_error;
        break;
    case SP_ERR_SCHEMA:
        type = state->schema_error;
        break;
    case SP_ERR_NESTING:
        type = state->nesting_error;
        break;
    case SP_ERR_NO_EVENTS:
        type = state->events_error;
        break;
    case SP_ERR_INVALID_ARGUMENT:
    case SP_ERR_UNSUPPORTED:
        type = PyExc_ValueError;
        break;
    default:
        break;
    }
    return raise_text(type, 0, text);
}
