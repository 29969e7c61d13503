/* Profiles of recordings that did not end well. */
#include "results_module.h"

#include <string.h>

/* What Python is told of a recording. NULL with an error. */
static PyObject *describe(const sp_recovery_info *info, size_t number, size_t count)
{
    const bool is_complete = info->has_rings && info->missing_calls == 0 && info->damaged_rings == 0;
    return Py_BuildValue(
        "{s:n,s:n,s:O&,s:O&,s:s,s:s,s:L,s:L,s:L,s:O,s:O,s:O,s:K,s:K,s:K}", "number",
        (Py_ssize_t)number, "count", (Py_ssize_t)count, "output", PyUnicode_DecodeFSDefault,
        info->output, "journal", PyUnicode_DecodeFSDefault, info->journal, "host", info->host,
        "program", info->program, "pid", (long long)info->pid, "rank", (long long)info->rank,
        "started_at_ns", (long long)info->started_at_ns, "is_running",
        info->is_running ? Py_True : Py_False, "is_complete", is_complete ? Py_True : Py_False,
        "has_rings", info->has_rings ? Py_True : Py_False, "num_calls",
        (unsigned long long)info->num_calls, "num_open", (unsigned long long)info->num_open,
        "missing_calls", (unsigned long long)info->missing_calls);
}

static bool ends_in(const char *path, const char *ending)
{
    const size_t length = strlen(path), size = strlen(ending);
    return length > size && PyOS_stricmp(path + length - size, ending) == 0;
}

static int write_one(sp_recovery *recovery, size_t i, const char *path, bool removes, sp_error *error)
{
    sp_results *run = NULL;
    int status;
    if (ends_in(path, ".json") || ends_in(path, ".json.gz")) {
        status = sp_recovery_open(recovery, i, &run, error);
        if (status == SP_OK) {
            status = sp_export_json(run, NULL, path, error);
            sp_results_close(run);
        }
    } else {
        status = sp_recovery_write(recovery, i, path, NULL, error);
    }
    return status == SP_OK && removes ? sp_recovery_remove(recovery, i, error) : status;
}

/* One recording: what is known of it, with the path of its profile. NULL with an error. */
static PyObject *recover_one(PyObject *module, sp_recovery *recovery, size_t i, PyObject *choose,
                             bool removes)
{
    sp_recovery_info info = {.size = sizeof info};
    sp_error error = {0};
    const results_state *state = PyModule_GetState(module);
    PyThreadState *thread = PyEval_SaveThread();
    int status = sp_recovery_describe(recovery, i, &info, &error);
    PyEval_RestoreThread(thread);
    if (status != SP_OK) {
        return results_raise(state, status, &error);
    }
    PyObject *told = describe(&info, i, sp_recovery_count(recovery));
    PyObject *chosen = told == NULL ? NULL : PyObject_CallOneArg(choose, told);
    PyObject *path = NULL;
    if (chosen == NULL || !PyUnicode_FSConverter(chosen, &path) ||
        PyDict_SetItemString(told, "path", chosen) < 0) {
        Py_XDECREF(path);
        Py_XDECREF(chosen);
        Py_XDECREF(told);
        return NULL;
    }
    thread = results_store_needs_gil() ? NULL : PyEval_SaveThread();
    status = write_one(recovery, i, PyBytes_AS_STRING(path), removes, &error);
    if (thread != NULL) {
        PyEval_RestoreThread(thread);
    }
    Py_DECREF(path);
    Py_DECREF(chosen);
    if (status != SP_OK) {
        Py_DECREF(told);
        return results_raise(state, status, &error);
    }
    return told;
}

PyObject *results_recover(PyObject *module, PyObject *args)
{
    PyObject *path = NULL, *choose = NULL;
    int removes = 0;
    if (!PyArg_ParseTuple(args, "O&Op:recover", PyUnicode_FSConverter, &path, &choose, &removes)) {
        return NULL;
    }
    sp_recovery *recovery = NULL;
    sp_error error = {0};
    PyThreadState *thread = PyEval_SaveThread();
    const int status = sp_recovery_search(PyBytes_AS_STRING(path), &recovery, &error);
    PyEval_RestoreThread(thread);
    Py_DECREF(path);
    if (status != SP_OK) {
        return results_raise(PyModule_GetState(module), status, &error);
    }
    PyObject *all = PyList_New(0);
    const size_t count = sp_recovery_count(recovery);
    for (size_t i = 0; i < count && all != NULL; i++) {
        PyObject *one = recover_one(module, recovery, i, choose, removes != 0);
        if (one == NULL || PyList_Append(all, one) < 0) {
            Py_CLEAR(all);
        }
        Py_XDECREF(one);
    }
    sp_recovery_release(recovery);
    return all;
}
