/* results_report.c - runs as a page for a browser. */
#include "results_module.h"

#include <stdlib.h>

/* What a call asks for, with what keeps its pointers alive. */
typedef struct report_request {
    sp_report_options options;
    text_list names, labels, columns;
    rank_list ranks;
    PyObject *path;  /* bytes */
    PyObject *owner; /* tuple of the runs */
    sp_results **results;
    size_t num_runs;
} report_request;

static void release_request(report_request *request)
{
    results_release_texts(&request->names);
    results_release_texts(&request->labels);
    results_release_texts(&request->columns);
    PyMem_Free(request->ranks.ranks);
    PyMem_Free(request->results);
    Py_CLEAR(request->path);
    Py_CLEAR(request->owner);
}

static int take_runs(const results_state *state, PyObject *runs, report_request *out)
{
    out->owner = PySequence_Tuple(runs);
    if (out->owner == NULL) {
        return -1;
    }
    out->num_runs = (size_t)PyTuple_GET_SIZE(out->owner);
    out->results = PyMem_Calloc(out->num_runs + 1, sizeof *out->results);
    if (out->results == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t i = 0; i < out->num_runs; i++) {
        PyObject *item = PyTuple_GET_ITEM(out->owner, (Py_ssize_t)i);
        if (Py_TYPE(item) != state->run_type) {
            PyErr_Format(PyExc_TypeError, "runs must be Run objects, not %s", Py_TYPE(item)->tp_name);
            return -1;
        }
        out->results[i] = ((run_object *)item)->results;
    }
    return 0;
}

static int take_lists(PyObject *names, PyObject *labels, PyObject *columns, PyObject *ranks,
                      report_request *out)
{
    if (results_parse_texts(names, "names", &out->names) < 0 ||
        results_parse_texts(labels, "labels", &out->labels) < 0 ||
        results_parse_texts(columns, "columns", &out->columns) < 0 ||
        results_parse_ranks(ranks, &out->ranks) < 0) {
        return -1;
    }
    if (out->labels.texts != NULL && out->labels.count != out->num_runs) {
        PyErr_Format(PyExc_ValueError, "labels must match the number of runs: %zu for %zu",
                     out->labels.count, out->num_runs);
        return -1;
    }
    out->options.include_names = out->names.texts;
    out->options.num_include_names = out->names.count;
    out->options.labels = out->labels.texts;
    out->options.columns = out->columns.texts;
    out->options.num_columns = out->columns.count;
    out->options.ranks = out->ranks.ranks;
    out->options.num_ranks = out->ranks.count;
    return 0;
}

/* Takes or gives back the locks of all runs; one that is there twice is taken once. The GIL is kept:
 * with it released, two reports of the same runs in another order could wait for each other. */
static void lock_all(const report_request *request, bool lock)
{
    for (size_t i = 0; i < request->num_runs; i++) {
        PyObject *run = PyTuple_GET_ITEM(request->owner, (Py_ssize_t)i);
        bool is_first = true;
        for (size_t j = 0; j < i && is_first; j++) {
            is_first = PyTuple_GET_ITEM(request->owner, (Py_ssize_t)j) != run;
        }
        if (is_first && lock) {
            results_lock((run_object *)run);
        } else if (is_first) {
            results_unlock((run_object *)run);
        }
    }
}

PyObject *results_report(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"runs", "path",    "names",  "ranks",              "labels",
                               "sort", "columns", "charts", "individual_reports", NULL};
    report_request request = {.options = {.size = sizeof request.options}};
    PyObject *runs, *names = Py_None, *ranks = Py_None, *labels = Py_None, *columns = Py_None;
    const char *sort = "start";
    int charts = 1, individual = 1;
    sp_error error = {0};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO&|OOOsOpp", keywords, &runs,
                                     PyUnicode_FSConverter, &request.path, &names, &ranks, &labels,
                                     &sort, &columns, &charts, &individual)) {
        return NULL;
    }
    const results_state *state = PyModule_GetState(module);
    int status = sp_summary_parse_sort(sort, &request.options.sort, &error);
    if (status != SP_OK) {
        release_request(&request);
        return results_raise(state, status, &error);
    }
    if (take_runs(state, runs, &request) < 0 ||
        take_lists(names, labels, columns, ranks, &request) < 0) {
        release_request(&request);
        return NULL;
    }
    request.options.no_charts = !charts;
    request.options.no_individual_reports = !individual;
    lock_all(&request, true);
    status = sp_export_report(request.results, request.num_runs, &request.options,
                              PyBytes_AS_STRING(request.path), &error);
    lock_all(&request, false);
    release_request(&request);
    if (status != SP_OK) {
        return results_raise(state, status, &error);
    }
    Py_RETURN_NONE;
}
