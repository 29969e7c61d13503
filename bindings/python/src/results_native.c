/* What native programs left behind, as runs. */
#include "results_module.h"

typedef struct path_list {
    PyObject *owner; /* list of the encoded paths */
    const char **paths;
    size_t count;
} path_list;

static void release_paths(path_list *list)
{
    PyMem_Free(list->paths);
    Py_CLEAR(list->owner);
}

/* 0, or -1 with an error; release_paths in either case. */
static int parse_paths(PyObject *value, path_list *out)
{
    *out = (path_list){PySequence_List(value), NULL, 0};
    if (out->owner == NULL) {
        return -1;
    }
    Py_ssize_t count = PyList_GET_SIZE(out->owner);
    out->paths = PyMem_Calloc((size_t)count + 1, sizeof *out->paths);
    if (out->paths == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *bytes = NULL;
        if (!PyUnicode_FSConverter(PyList_GET_ITEM(out->owner, i), &bytes) ||
            PyList_SetItem(out->owner, i, bytes) < 0) {
            return -1;
        }
        out->paths[out->count++] = PyBytes_AS_STRING(bytes);
    }
    return 0;
}

PyObject *run_import_native(PyTypeObject *type, PyObject *args)
{
    PyObject *paths = NULL;
    const char *label = NULL;
    if (!PyArg_ParseTuple(args, "O|z:import_native", &paths, &label)) {
        return NULL;
    }
    path_list list;
    if (parse_paths(paths, &list) < 0) {
        release_paths(&list);
        return NULL;
    }
    sp_results *results = NULL;
    sp_error error = {0};
    const bool keeps_gil = results_store_needs_gil();
    PyThreadState *thread = keeps_gil ? NULL : PyEval_SaveThread();
    const int status = sp_results_import(list.paths, list.count, label, &results, &error);
    if (thread != NULL) {
        PyEval_RestoreThread(thread);
    }
    release_paths(&list);
    if (status != SP_OK) {
        return results_raise(PyType_GetModuleState(type), status, &error);
    }
    PyObject *run = results_run_wrap(type, results);
    if (run != NULL) {
        ((run_object *)run)->keeps_gil = keeps_gil;
    }
    return run;
}

PyObject *run_merge_native(PyObject *self, PyObject *other)
{
    results_state *state = results_state_of(self);
    if (!PyObject_TypeCheck(other, state->run_type)) {
        PyErr_Format(PyExc_TypeError, "merge_native() needs a Run, not %s",
                     Py_TYPE(other)->tp_name);
        return NULL;
    }
    run_object *profile = (run_object *)self;
    run_object *native = (run_object *)other;
    if (profile == native) {
        PyErr_SetString(PyExc_ValueError, "a run cannot be merged with itself");
        return NULL;
    }
    sp_results *results = NULL;
    sp_error error = {0};
    run_object *first = profile < native ? profile : native; /* the same order for every thread */
    run_object *second = profile < native ? native : profile;
    results_lock(first);
    results_lock(second);
    const int status = sp_results_merge(profile->results, native->results, &results, &error);
    results_unlock(second);
    results_unlock(first);
    if (status != SP_OK) {
        return results_raise(state, status, &error);
    }
    PyObject *run = results_run_wrap(state->run_type, results);
    if (run != NULL) {
        ((run_object *)run)->keeps_gil = profile->keeps_gil || native->keeps_gil;
    }
    return run;
}
