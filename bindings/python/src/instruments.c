#include "instruments.h"

#include "recorder_module.h"

static void forget(PyObject *capsule)
{
    sp_instrument *table = PyCapsule_GetPointer(capsule, PY_INSTRUMENT_CAPSULE);
    if (table == NULL) {
        PyErr_Clear();
        return;
    }
    /* A context says that the recorder has taken it. */
    if (PyCapsule_GetContext(capsule) == NULL && table->release != NULL) {
        table->release(table->context);
    }
    PyMem_RawFree(table);
}

PyObject *instrument_capsule(const sp_instrument *table)
{
    sp_instrument *copy = PyMem_RawMalloc(sizeof *copy);
    PyObject *capsule = NULL;
    if (copy == NULL) {
        PyErr_NoMemory();
    } else {
        *copy = *table;
        capsule = PyCapsule_New(copy, PY_INSTRUMENT_CAPSULE, forget);
    }
    if (capsule == NULL) {
        PyMem_RawFree(copy);
        if (table->release != NULL) {
            table->release(table->context);
        }
    }
    return capsule;
}

/* The texts of a sequence; they belong to `*out_fast`. NULL with an exception. */
static const char **texts_of(PyObject *items, PyObject **out_fast)
{
    *out_fast = items == NULL ? PyTuple_New(0) : PySequence_Tuple(items);
    if (*out_fast == NULL) {
        return NULL;
    }
    Py_ssize_t count = PyTuple_GET_SIZE(*out_fast);
    const char **texts = PyMem_Calloc((size_t)count + 1, sizeof *texts);
    if (texts == NULL) {
        PyErr_NoMemory();
    }
    for (Py_ssize_t i = 0; texts != NULL && i < count; i++) {
        texts[i] = PyUnicode_AsUTF8(PyTuple_GET_ITEM(*out_fast, i));
        if (texts[i] == NULL) {
            PyMem_Free(texts);
            texts = NULL;
        }
    }
    if (texts == NULL) {
        Py_CLEAR(*out_fast);
    }
    return texts;
}

PyObject *instrument_open(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"name", "items", "keeps_calls", "with_kernel", NULL};
    const char *name;
    PyObject *items = NULL;
    PyObject *fast;
    int keeps_calls = 0;
    int with_kernel = 0;
    (void)module;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "s|Opp:open_instrument", names, &name, &items,
                                     &keeps_calls, &with_kernel)) {
        return NULL;
    }
    const char **texts = texts_of(items, &fast);
    if (texts == NULL) {
        return NULL;
    }
    sp_instrument_request request = {.size = sizeof request, .items = texts,
                                     .num_items = (size_t)PyTuple_GET_SIZE(fast),
                                     .keeps_calls = keeps_calls, .with_kernel = with_kernel};
    sp_instrument table;
    sp_error error = {.text = ""};
    int status = sp_binding_open_instrument(name, &request, &table, &error);
    PyMem_Free(texts);
    Py_DECREF(fast);
    if (status == SP_ERR_UNSUPPORTED) {
        PyErr_SetString(PyExc_RuntimeError, error.text);
        return NULL;
    }
    return status == SP_OK ? instrument_capsule(&table) : recorder_raise(status, &error);
}

int instruments_fill(PyObject *tuple, const sp_instrument **tables, size_t *out_count)
{
    Py_ssize_t count = tuple == NULL ? 0 : PyTuple_GET_SIZE(tuple);
    *out_count = 0;
    if (count > SP_INSTRUMENTS) {
        PyErr_Format(PyExc_ValueError, "%zd instruments; at most %d", count, SP_INSTRUMENTS);
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *capsule = PyTuple_GET_ITEM(tuple, i);
        const sp_instrument *table = PyCapsule_GetPointer(capsule, PY_INSTRUMENT_CAPSULE);
        if (table == NULL) {
            return -1;
        }
        if (PyCapsule_GetContext(capsule) != NULL) {
            PyErr_Format(PyExc_ValueError, "instrument '%s' was used before", table->name);
            return -1;
        }
        tables[(*out_count)++] = table;
    }
    return 0;
}

void instruments_taken(PyObject *tuple)
{
    Py_ssize_t count = tuple == NULL ? 0 : PyTuple_GET_SIZE(tuple);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *capsule = PyTuple_GET_ITEM(tuple, i);
        PyCapsule_SetContext(capsule, PyCapsule_GetPointer(capsule, PY_INSTRUMENT_CAPSULE));
    }
}
