#include "device_driver.h"

#include "instruments.h"
#include "recorder_module.h"

/* Bound methods of the object; those that it may lack are NULL. */
typedef struct python_driver {
    PyObject *record_event, *elapsed_time_ns, *record_again, *is_complete, *synchronize;
    char *name;
    bool has_complained; /* under the GIL */
} python_driver;

/* What a visit to the interpreter has to put back. */
typedef struct visit {
    PyGILState_STATE gil;
    PyObject *type, *value, *traceback;
} visit;

static bool is_leaving(void)
{
#if PY_VERSION_HEX >= 0x030D0000
    return !Py_IsInitialized() || Py_IsFinalizing();
#else
    return !Py_IsInitialized() || _Py_IsFinalizing();
#endif
}

/* False: the interpreter goes away. The program's exception is put aside, and what the object calls is no
 * call of the program's: it is not traced. */
static bool enter(visit *v)
{
    if (is_leaving()) {
        return false;
    }
    v->gil = PyGILState_Ensure();
    PyErr_Fetch(&v->type, &v->value, &v->traceback);
#if PY_VERSION_HEX >= 0x030B0000
    PyThreadState_EnterTracing(PyThreadState_Get());
#endif
    return true;
}

/* An exception of the object is said once and otherwise means "cannot tell". */
static void leave(python_driver *d, visit *v)
{
    if (PyErr_Occurred() && !d->has_complained) {
        d->has_complained = true;
        PyErr_WriteUnraisable(d->record_event);
    }
    PyErr_Clear();
#if PY_VERSION_HEX >= 0x030B0000
    PyThreadState_LeaveTracing(PyThreadState_Get());
#endif
    PyErr_Restore(v->type, v->value, v->traceback);
    PyGILState_Release(v->gil);
}

/* Under the GIL. An object that cannot use an event again gives it up for a new one. */
static PyObject *record_under_gil(python_driver *d, PyObject *event)
{
    if (event != NULL && d->record_again != NULL) {
        PyObject *result = PyObject_CallOneArg(d->record_again, event);
        bool is_recorded = result != NULL && result != Py_False;
        Py_XDECREF(result);
        return is_recorded ? Py_NewRef(event) : NULL;
    }
    PyObject *made = PyObject_CallNoArgs(d->record_event);
    if (made == Py_None) {
        Py_CLEAR(made);
    }
    return made;
}

static bool record(void *context, void **event)
{
    python_driver *d = context;
    visit v;
    if (!enter(&v)) {
        return false;
    }
    PyObject *recorded = record_under_gil(d, *event);
    if (recorded != NULL) {
        Py_XDECREF((PyObject *)*event);
        *event = recorded;
    }
    leave(d, &v);
    return recorded != NULL;
}

static bool is_done(void *context, void *event)
{
    python_driver *d = context;
    visit v;
    if (!enter(&v)) {
        return true;
    }
    PyObject *answer = PyObject_CallOneArg(d->is_complete, event);
    int is_true = answer == NULL ? -1 : PyObject_IsTrue(answer);
    Py_XDECREF(answer);
    leave(d, &v);
    return is_true != 0;
}

static int64_t elapsed_ns(void *context, void *start, void *end)
{
    python_driver *d = context;
    visit v;
    if (!enter(&v)) {
        return -1;
    }
    PyObject *answer = PyObject_CallFunctionObjArgs(d->elapsed_time_ns, start, end, NULL);
    PyObject *integer = answer == NULL ? NULL : PyNumber_Long(answer);
    int64_t ns = integer == NULL ? -1 : PyLong_AsLongLong(integer);
    Py_XDECREF(answer);
    Py_XDECREF(integer);
    leave(d, &v);
    return ns < 0 ? -1 : ns;
}

/* When the interpreter is gone, so are its objects. */
static void destroy(void *context, void *event)
{
    python_driver *d = context;
    visit v;
    if (enter(&v)) {
        Py_DECREF((PyObject *)event);
        leave(d, &v);
    }
}

static void synchronize(void *context)
{
    python_driver *d = context;
    visit v;
    if (enter(&v)) {
        Py_XDECREF(PyObject_CallNoArgs(d->synchronize));
        leave(d, &v);
    }
}

/* Under the GIL. */
static void free_driver(python_driver *d)
{
    Py_XDECREF(d->record_event);
    Py_XDECREF(d->elapsed_time_ns);
    Py_XDECREF(d->record_again);
    Py_XDECREF(d->is_complete);
    Py_XDECREF(d->synchronize);
    PyMem_RawFree(d->name);
    PyMem_RawFree(d);
}

static void release(void *context)
{
    if (!is_leaving()) {
        PyGILState_STATE gil = PyGILState_Ensure();
        free_driver(context);
        PyGILState_Release(gil);
    }
}

/* A callable attribute, new reference; NULL without an exception: it has none. */
static PyObject *method(PyObject *backend, const char *name)
{
    PyObject *found = PyObject_GetAttrString(backend, name);
    if (found == NULL) {
        PyErr_Clear();
    } else if (!PyCallable_Check(found)) {
        Py_CLEAR(found);
    }
    return found;
}

static char *name_of(PyObject *backend)
{
    PyObject *name = PyObject_GetAttrString(backend, "name");
    const char *text = name == NULL || !PyUnicode_Check(name) ? NULL : PyUnicode_AsUTF8(name);
    if (text == NULL) {
        PyErr_Clear();
        text = Py_TYPE(backend)->tp_name;
    }
    char *copy = PyMem_RawMalloc(strlen(text) + 1);
    if (copy != NULL) {
        strcpy(copy, text);
    }
    Py_XDECREF(name);
    return copy;
}

/* NULL with an exception. */
static python_driver *make_driver(PyObject *backend)
{
    python_driver *d = PyMem_RawCalloc(1, sizeof *d);
    if (d == NULL || (d->name = name_of(backend)) == NULL) {
        PyMem_RawFree(d);
        PyErr_NoMemory();
        return NULL;
    }
    d->record_event = method(backend, "record_event");
    d->elapsed_time_ns = method(backend, "elapsed_time_ns");
    d->record_again = method(backend, "record_again");
    d->is_complete = method(backend, "is_complete");
    d->synchronize = method(backend, "synchronize");
    if (d->record_event != NULL && d->elapsed_time_ns != NULL) {
        return d;
    }
    PyErr_Format(PyExc_TypeError,
                 "gpu_timing_backend must be a name or an object with record_event() and "
                 "elapsed_time_ns(start, end), got %R",
                 backend);
    free_driver(d);
    return NULL;
}

static int open_python(PyObject *backend, bool syncs, sp_instrument *out, sp_error *error)
{
    python_driver *d = make_driver(backend);
    if (d == NULL) {
        return -1;
    }
    sp_device_driver driver = {
        .size = sizeof driver,
        .version = SP_DEVICE_VERSION,
        .name = d->name,
        .context = d,
        .record = record,
        .is_done = d->is_complete == NULL ? NULL : is_done,
        .elapsed_ns = elapsed_ns,
        .destroy = destroy,
        .synchronize = d->synchronize == NULL ? NULL : synchronize,
        .release = release,
    };
    return sp_binding_device_instrument(&driver, syncs, out, error);
}

PyObject *device_instrument(PyObject *module, PyObject *args)
{
    PyObject *backend;
    int syncs;
    sp_instrument table;
    sp_error error = {.text = ""};
    (void)module;
    if (!PyArg_ParseTuple(args, "Op:device_instrument", &backend, &syncs)) {
        return NULL;
    }
    int status;
    if (PyUnicode_Check(backend)) {
        const char *name = PyUnicode_AsUTF8(backend);
        if (name == NULL) {
            return NULL;
        }
        status = sp_binding_open_device(name, syncs, &table, &error);
    } else {
        status = open_python(backend, syncs, &table, &error);
    }
    if (status < 0) {
        return NULL;
    }
    if (status == SP_ERR_NO_MODULE) {
        PyErr_SetString(PyExc_RuntimeError, error.text);
        return NULL;
    }
    return status == SP_OK ? instrument_capsule(&table) : recorder_raise(status, &error);
}
