#include "thread_names.h"

#include <stdlib.h>

/* Threading's own table of threads by ident: new reference, or NULL with or without an error. */
static PyObject *active_threads(void)
{
    PyObject *name = PyUnicode_FromString("threading");
    PyObject *threading = name != NULL ? PyImport_GetModule(name) : NULL;
    PyObject *active = threading != NULL ? PyObject_GetAttrString(threading, "_active") : NULL;
    if (active != NULL && !PyDict_Check(active)) {
        Py_CLEAR(active);
    }
    Py_XDECREF(threading);
    Py_XDECREF(name);
    return active;
}

/* The entry of threading's own table, borrowed from nothing: new reference or NULL. Asking
 * threading.current_thread() instead would invent an entry for a foreign thread. */
static PyObject *find_thread(unsigned long ident)
{
    PyObject *active = active_threads();
    PyObject *key = active != NULL ? PyLong_FromUnsignedLong(ident) : NULL;
    PyObject *thread = key != NULL ? PyDict_GetItemWithError(active, key) : NULL;
    Py_XINCREF(thread);
    Py_XDECREF(key);
    Py_XDECREF(active);
    return thread;
}

/* The plain attributes, because the properties over them are Python code: a program that traces
 * itself would see it run. */
static void pass_on(sp_profiler *profiler, PyObject *thread, unsigned long ident)
{
    PyObject *name = PyObject_GetAttrString(thread, "_name");
    PyObject *daemon = name != NULL ? PyObject_GetAttrString(thread, "_daemonic") : NULL;
    const char *text = daemon != NULL && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
    if (text != NULL) {
        sp_binding_name_thread(profiler, text, (int64_t)ident, PyObject_IsTrue(daemon) == 1);
    }
    Py_XDECREF(daemon);
    Py_XDECREF(name);
}

void name_new_thread(sp_profiler *profiler)
{
    if (PyGILState_GetThisThreadState() == NULL || !PyGILState_Check()) {
        return;
    }
    PyObject *type = NULL;
    PyObject *value = NULL;
    PyObject *traceback = NULL;
    PyErr_Fetch(&type, &value, &traceback);
    unsigned long ident = PyThread_get_thread_ident();
    PyObject *thread = find_thread(ident);
    if (thread != NULL) {
        pass_on(profiler, thread, ident);
        Py_DECREF(thread);
    } else {
        /* Only the main thread exists without the module threading. */
        PyObject *module_name = PyUnicode_FromString("threading");
        PyObject *module = module_name != NULL ? PyImport_GetModule(module_name) : NULL;
        if (module == NULL) {
            sp_binding_name_thread(profiler, "MainThread", (int64_t)ident, false);
        }
        Py_XDECREF(module);
        Py_XDECREF(module_name);
    }
    PyErr_Clear();
    PyErr_Restore(type, value, traceback);
}

/* Counts the threads of all interpreters; the first `room` of them go into `idents`. */
static size_t list_states(int64_t *idents, size_t room)
{
    size_t count = 0;
    for (PyInterpreterState *interpreter = PyInterpreterState_Head(); interpreter != NULL;
         interpreter = PyInterpreterState_Next(interpreter)) {
        for (PyThreadState *state = PyInterpreterState_ThreadHead(interpreter); state != NULL;
             state = PyThreadState_Next(state)) {
            if (count < room) {
                idents[count] = (int64_t)state->thread_id;
            }
            count++;
        }
    }
    return count < room || room == 0 ? count : room;
}

int64_t *running_threads(size_t *count)
{
    PyObject *active = active_threads();
    PyErr_Clear();
    size_t room = list_states(NULL, 0) + 1;
    size_t num_active = active == NULL ? 0 : (size_t)PyDict_GET_SIZE(active);
    int64_t *idents = malloc((room + num_active) * sizeof *idents);
    *count = 0;
    if (idents != NULL) {
        *count = list_states(idents, room);
        Py_ssize_t position = 0;
        PyObject *key = NULL;
        while (num_active-- > 0 && PyDict_Next(active, &position, &key, NULL)) {
            idents[(*count)++] = (int64_t)PyLong_AsUnsignedLongMask(key);
            PyErr_Clear();
        }
    }
    Py_XDECREF(active);
    return idents;
}
