#include "results_module.h"

PyObject *run_column(PyObject *self, PyObject *const *args, Py_ssize_t nargs)
{
    run_object *run = (run_object *)self;
    results_state *state = results_state_of(self);
    if (nargs != 2) {
        return PyErr_Format(PyExc_TypeError, "column() takes 2 arguments, not %zd", nargs);
    }
    const Py_ssize_t row = results_index(args[0], sp_results_num_rows(run->results), "row");
    const Py_ssize_t column = row >= 0 ? results_index(args[1], SP_COLUMN_COUNT, "column") : -1;
    if (column < 0) {
        return NULL;
    }
    if (!(sp_results_row_columns(run->results, (size_t)row) & SP_COLUMN_BIT(column))) {
        Py_RETURN_NONE;
    }
    const int64_t *values = NULL;
    size_t count = 0;
    sp_error error = {0};
    int status;
    PyThreadState *thread = results_enter(run);
    status =
        sp_results_column(run->results, (size_t)row, (sp_column)column, &values, &count, &error);
    results_leave(run, thread);
    return status == SP_OK ? results_column_new(state, run, values, count, COLUMN_INT64)
                           : results_raise(state, status, &error);
}

PyObject *run_exclusive(PyObject *self, PyObject *arg)
{
    run_object *run = (run_object *)self;
    results_state *state = results_state_of(self);
    const Py_ssize_t row = results_index(arg, sp_results_num_rows(run->results), "row");
    if (row < 0) {
        return NULL;
    }
    const int64_t *values = NULL;
    size_t count = 0;
    sp_error error = {0};
    int status;
    PyThreadState *thread = results_enter(run);
    status = sp_results_exclusive(run->results, (size_t)row, &values, &count, &error);
    results_leave(run, thread);
    return status == SP_OK ? results_column_new(state, run, values, count, COLUMN_INT64)
                           : results_raise(state, status, &error);
}

static PyObject *call_tree_record(results_state *state, run_object *run, const sp_call_tree *tree)
{
    PyObject *record = PyStructSequence_New(state->call_tree_type);
    if (record == NULL) {
        return NULL;
    }
    const struct {
        const void *data;
        column_format format;
    } columns[] = {
        {tree->row, COLUMN_UINT32},         {tree->call_index, COLUMN_UINT64},
        {tree->start_ns, COLUMN_INT64},     {tree->end_ns, COLUMN_INT64},
        {tree->depth, COLUMN_INT32},        {tree->parent, COLUMN_INT64},
        {tree->exclusive_ns, COLUMN_INT64}, {tree->lane, COLUMN_INT64},
    };
    for (Py_ssize_t i = 0; i < 8; i++) {
        const bool is_absent = i == 7 && tree->lane == NULL;
        PyObject *column = is_absent ? Py_NewRef(Py_None)
                                     : results_column_new(state, run, columns[i].data, tree->count,
                                                          columns[i].format);
        if (column == NULL) {
            Py_DECREF(record);
            return NULL;
        }
        PyStructSequence_SetItem(record, i, column);
    }
    return record;
}

PyObject *run_call_tree(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"rank", "from_intervals", NULL};
    run_object *run = (run_object *)self;
    results_state *state = results_state_of(self);
    unsigned int rank;
    int from_intervals = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "I|p:call_tree", keywords, &rank,
                                     &from_intervals)) {
        return NULL;
    }
    sp_call_tree tree = {0};
    sp_error error = {0};
    int status;
    PyThreadState *thread = results_enter(run);
    status = from_intervals ? sp_results_reconstruct(run->results, rank, &tree, &error)
                            : sp_results_call_tree(run->results, rank, &tree, &error);
    results_leave(run, thread);
    return status == SP_OK ? call_tree_record(state, run, &tree)
                           : results_raise(state, status, &error);
}
