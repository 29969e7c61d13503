#include "results_module.h"

PyObject *run_row_statistics(PyObject *self, PyObject *arg)
{
    run_object *run = (run_object *)self;
    results_state *state = results_state_of(self);
    const Py_ssize_t row = results_index(arg, sp_results_num_rows(run->results), "row");
    if (row < 0) {
        return NULL;
    }
    sp_statistics statistics = {0};
    sp_error error = {0};
    int status;
    PyThreadState *thread = results_enter(run);
    status = sp_results_row_statistics(run->results, (size_t)row, &statistics, &error);
    results_leave(run, thread);
    return status == SP_OK ? results_statistics_record(state, &statistics)
                           : results_raise(state, status, &error);
}

/* Parses (region[, ranks]) of the pooled functions. */
static int parse_region(run_object *run, const char *name, PyObject *const *args, Py_ssize_t nargs,
                        size_t *out_region, rank_list *out_ranks)
{
    if (nargs < 1 || nargs > 2) {
        PyErr_Format(PyExc_TypeError, "%s() takes 1 or 2 arguments, not %zd", name, nargs);
        return -1;
    }
    const Py_ssize_t region =
        results_index(args[0], sp_results_num_regions(run->results), "region");
    if (region < 0) {
        return -1;
    }
    *out_region = (size_t)region;
    return results_parse_ranks(nargs == 2 ? args[1] : NULL, out_ranks);
}

PyObject *run_region_statistics(PyObject *self, PyObject *const *args, Py_ssize_t nargs)
{
    run_object *run = (run_object *)self;
    results_state *state = results_state_of(self);
    size_t region;
    rank_list ranks;
    if (parse_region(run, "region_statistics", args, nargs, &region, &ranks) < 0) {
        return NULL;
    }
    sp_statistics statistics = {0};
    sp_error error = {0};
    int status;
    PyThreadState *thread = results_enter(run);
    status = sp_results_region_statistics(run->results, region, ranks.ranks, ranks.count,
                                          &statistics, &error);
    results_leave(run, thread);
    PyMem_Free(ranks.ranks);
    return status == SP_OK ? results_statistics_record(state, &statistics)
                           : results_raise(state, status, &error);
}

PyObject *run_imbalance(PyObject *self, PyObject *const *args, Py_ssize_t nargs)
{
    run_object *run = (run_object *)self;
    size_t region;
    rank_list ranks;
    if (parse_region(run, "imbalance", args, nargs, &region, &ranks) < 0) {
        return NULL;
    }
    double ratio = 0;
    sp_error error = {0};
    int status;
    PyThreadState *thread = results_enter(run);
    status = sp_results_imbalance(run->results, region, ranks.ranks, ranks.count, &ratio, &error);
    results_leave(run, thread);
    PyMem_Free(ranks.ranks);
    return status == SP_OK ? PyFloat_FromDouble(ratio)
                           : results_raise(results_state_of(self), status, &error);
}

/* The percents and room for the answers in one block: count doubles each. */
static double *parse_percents(PyObject *value, size_t *out_count)
{
    PyObject *items = PySequence_Fast(value, "percents must be a sequence of numbers");
    if (items == NULL) {
        return NULL;
    }
    const Py_ssize_t count = PySequence_Fast_GET_SIZE(items);
    double *percents = PyMem_New(double, 2 * count + 1);
    if (percents == NULL) {
        PyErr_NoMemory();
    }
    for (Py_ssize_t i = 0; percents != NULL && i < count; i++) {
        percents[i] = PyFloat_AsDouble(PySequence_Fast_GET_ITEM(items, i));
        if (percents[i] == -1.0 && PyErr_Occurred()) {
            PyMem_Free(percents);
            percents = NULL;
        }
    }
    Py_DECREF(items);
    *out_count = (size_t)count;
    return percents;
}

static PyObject *doubles_to_tuple(const double *values, size_t count)
{
    PyObject *tuple = PyTuple_New((Py_ssize_t)count);
    for (size_t i = 0; tuple != NULL && i < count; i++) {
        PyObject *value = PyFloat_FromDouble(values[i]);
        if (value == NULL) {
            Py_CLEAR(tuple);
            break;
        }
        PyTuple_SET_ITEM(tuple, (Py_ssize_t)i, value);
    }
    return tuple;
}

PyObject *run_percentiles(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"region", "percents", "ranks", NULL};
    run_object *run = (run_object *)self;
    PyObject *region_arg, *percents_arg, *ranks_arg = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|O:percentiles", keywords, &region_arg,
                                     &percents_arg, &ranks_arg)) {
        return NULL;
    }
    const Py_ssize_t region =
        results_index(region_arg, sp_results_num_regions(run->results), "region");
    rank_list ranks;
    if (region < 0 || results_parse_ranks(ranks_arg, &ranks) < 0) {
        return NULL;
    }
    size_t count = 0;
    double *percents = parse_percents(percents_arg, &count);
    PyObject *answer = NULL;
    if (percents != NULL) {
        sp_error error = {0};
        int status;
        PyThreadState *thread = results_enter(run);
        status = sp_results_percentiles(run->results, (size_t)region, ranks.ranks, ranks.count,
                                        percents, count, percents + count, &error);
        results_leave(run, thread);
        if (status == SP_OK) {
            answer = doubles_to_tuple(percents + count, count);
        } else if (status == SP_ERR_NO_EVENTS) {
            answer = Py_NewRef(Py_None);
        } else {
            results_raise(results_state_of(self), status, &error);
        }
    }
    PyMem_Free(percents);
    PyMem_Free(ranks.ranks);
    return answer;
}

PyObject *run_times(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    run_object *run = (run_object *)self;
    results_state *state = results_state_of(self);
    sp_run_times times = {0};
    sp_error error = {0};
    int status;
    PyThreadState *thread = results_enter(run);
    status = sp_results_times(run->results, &times, &error);
    results_leave(run, thread);
    return status == SP_OK ? results_times_record(state, &times)
                           : results_raise(state, status, &error);
}
