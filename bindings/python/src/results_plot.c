/* results_plot.c - the data behind plots of several runs. */
#include "results_module.h"

#include <string.h>

/* What a call asks for, with what keeps its pointers alive. */
typedef struct plot_request {
    sp_export_options selection;
    sp_plot_options options;
    sp_plot_kind kind;
    sp_metric sort_by;
    sp_metric *metrics;
    text_list labels, names, metric_names;
    rank_list ranks;
    PyObject *path; /* bytes */
} plot_request;

static void release_request(plot_request *request)
{
    results_release_texts(&request->labels);
    results_release_texts(&request->names);
    results_release_texts(&request->metric_names);
    PyMem_Free(request->ranks.ranks);
    PyMem_Free(request->metrics);
    Py_CLEAR(request->path);
}

/* Names of the library's choices as its numbers. */
static int parse_choices(plot_request *request, const char *kind, const char *reduction,
                         const char *sort_by, const char *imbalance, sp_error *error)
{
    sp_plot_options *options = &request->options;
    int status = sp_plot_parse_kind(kind, &request->kind, error);
    if (status == SP_OK) {
        status = sp_compare_parse_reduction(reduction, &options->reduction, error);
    }
    if (status == SP_OK) {
        status = sp_compare_parse_metric(imbalance, &options->imbalance_metric, error);
    }
    for (size_t i = 0; status == SP_OK && i < request->metric_names.count; i++) {
        status = sp_compare_parse_metric(request->metric_names.texts[i], &request->metrics[i], error);
    }
    options->metrics = request->metrics;
    options->num_metrics = request->metric_names.count;
    options->sort_by_name = sort_by != NULL && strcmp(sort_by, "name") == 0;
    if (status == SP_OK && sort_by != NULL && !options->sort_by_name) {
        status = sp_compare_parse_metric(sort_by, &request->sort_by, error);
        options->sort_by = &request->sort_by;
    }
    return status;
}

static int parse_lists(plot_request *request, PyObject *labels, PyObject *names, PyObject *ranks,
                       PyObject *metrics)
{
    if (results_parse_texts(labels, "labels", &request->labels) < 0 ||
        results_parse_texts(names, "names", &request->names) < 0 ||
        results_parse_texts(metrics, "metrics", &request->metric_names) < 0 ||
        results_parse_ranks(ranks, &request->ranks) < 0) {
        return -1;
    }
    request->metrics = PyMem_Calloc(request->metric_names.count + 1, sizeof *request->metrics);
    if (request->metrics == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    request->selection = (sp_export_options){
        .size = sizeof request->selection, .include_names = request->names.texts,
        .num_include_names = request->names.count, .ranks = request->ranks.ranks,
        .num_ranks = request->ranks.count};
    request->options.selection = &request->selection;
    return 0;
}

static PyObject *export_runs(PyObject *module, PyObject *given, plot_request *request, int status,
                             sp_error *error)
{
    const results_state *state = PyModule_GetState(module);
    run_list *lists = PyMem_Calloc(2, sizeof *lists); /* the second stays empty */
    PyObject *answer = NULL;
    if (lists == NULL) {
        return PyErr_NoMemory();
    }
    if (results_take_runs(state, given, &lists[0]) < 0) {
        Py_XDECREF(lists[0].owner);
        PyMem_Free(lists);
        return NULL;
    }
    if (status == SP_OK && request->labels.texts != NULL &&
        request->labels.count != lists[0].count) {
        PyErr_SetString(PyExc_ValueError, "labels must match the number of profiling files.");
    } else {
        if (status == SP_OK) {
            results_lock_runs(&lists[0], &lists[1], true);
            status = sp_export_plot_data(lists[0].results, request->labels.texts, lists[0].count,
                                         request->kind, &request->options,
                                         PyBytes_AS_STRING(request->path), error);
            results_lock_runs(&lists[0], &lists[1], false);
        }
        /* What is not there to export is a wrong choice, not a missing file. */
        answer = status == SP_OK
                     ? Py_NewRef(Py_None)
                     : results_raise(state, status == SP_ERR_NOT_FOUND ? SP_ERR_INVALID_ARGUMENT
                                                                       : status, error);
    }
    Py_XDECREF(lists[0].owner);
    PyMem_Free(lists);
    return answer;
}

PyObject *results_export_plot_data(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {
        "runs", "kind", "path", "labels", "names", "ranks", "as_json", "reduction", "metrics",
        "sort_by", "top", "bins", "imbalance_metric", "x_field", "start_time", "end_time",
        "min_duration", "compact", NULL};
    plot_request request = {.options = {.size = sizeof request.options}};
    sp_plot_options *options = &request.options;
    PyObject *runs, *labels = Py_None, *names = Py_None, *ranks = Py_None, *metrics = Py_None;
    const char *kind, *reduction = "pooled", *sort_by = NULL, *imbalance = "total";
    int as_json = 0, compact = 0;
    Py_ssize_t top = 0, bins = 0;
    if (!PyArg_ParseTupleAndKeywords(
            args, kwargs, "OsO&|OOOpsOznnszdddp", keywords, &runs, &kind, PyUnicode_FSConverter,
            &request.path, &labels, &names, &ranks, &as_json, &reduction, &metrics, &sort_by, &top,
            &bins, &imbalance, &options->x_field, &options->start_time, &options->end_time,
            &options->min_duration, &compact)) {
        return NULL;
    }
    PyObject *answer = NULL;
    if (top < 0 || bins < 0) {
        PyErr_SetString(PyExc_ValueError, "top and bins must not be negative");
    } else if (parse_lists(&request, labels, names, ranks, metrics) == 0) {
        sp_error error = {0};
        options->as_json = as_json;
        options->compact = compact;
        options->top = (size_t)top;
        options->bins = (size_t)bins;
        const int status = parse_choices(&request, kind, reduction, sort_by, imbalance, &error);
        answer = export_runs(module, runs, &request, status, &error);
    }
    release_request(&request);
    return answer;
}

PyObject *results_region_color(PyObject *module, PyObject *name)
{
    char color[SP_COLOR_TEXT];
    (void)module;
    /* A name with half a character in it has a colour as well. */
    PyObject *bytes = PyUnicode_AsEncodedString(name, "utf-8", "replace");
    if (bytes == NULL) {
        return NULL;
    }
    sp_plot_region_color(PyBytes_AS_STRING(bytes), color);
    Py_DECREF(bytes);
    return PyUnicode_FromString(color);
}
