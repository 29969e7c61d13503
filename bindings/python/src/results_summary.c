#include "results_module.h"

#include <math.h>
#include <stdlib.h>

static PyObject *seconds_or_none(double value)
{
    return isnan(value) ? Py_NewRef(Py_None) : PyFloat_FromDouble(value);
}

static int put(PyObject *dict, const char *key, PyObject *value)
{
    const int status = value != NULL ? PyDict_SetItemString(dict, key, value) : -1;
    Py_XDECREF(value);
    return status;
}

static PyObject *text_of(const char *text)
{
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "backslashreplace");
}

static int put_numbers(PyObject *dict, const sp_summary_row *row)
{
    const struct {
        const char *key;
        double value;
    } numbers[] = {
        {"total", row->total},
        {"coverage", row->coverage},
        {"exclusive", row->exclusive},
        {"avg", row->average},
        {"min", row->minimum},
        {"max", row->maximum},
        {"first", row->first},
        {"last", row->last},
        {"std", row->deviation},
        {"p50", row->p50},
        {"p95", row->p95},
        {"p99", row->p99},
        {"imbalance", row->imbalance},
        {"start", row->start},
        {"parent_coverage", row->parent_coverage},
        {"gpu_total", row->gpu_total},
        {"gpu_avg", row->gpu_average},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        const bool is_gpu = i >= 15;
        if (is_gpu && isnan(row->gpu_total)) {
            continue;
        }
        if (put(dict, numbers[i].key, seconds_or_none(numbers[i].value)) < 0) {
            return -1;
        }
    }
    return 0;
}

static PyObject *summary_row_dict(const sp_summary_row *row)
{
    PyObject *dict = PyDict_New();
    if (dict == NULL) {
        return NULL;
    }
    if (put(dict, "name", text_of(row->name)) < 0 ||
        put(dict, "call_path", text_of(row->call_path)) < 0 ||
        put(dict, "num_ranks", PyLong_FromSize_t(row->num_ranks)) < 0 ||
        put(dict, "calls", PyLong_FromUnsignedLongLong(row->calls)) < 0 ||
        put_numbers(dict, row) < 0 || put(dict, "depth", PyLong_FromLong(row->depth)) < 0 ||
        put(dict, "recursive", PyBool_FromLong(row->is_recursive)) < 0) {
        Py_DECREF(dict);
        return NULL;
    }
    return dict;
}

static PyObject *summary_rows(sp_summary *summary)
{
    const size_t count = sp_summary_num_rows(summary);
    PyObject *rows = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; rows != NULL && i < count; i++) {
        const sp_summary_row *entry = sp_summary_get_row(summary, i);
        PyObject *row = entry != NULL ? summary_row_dict(entry) : PyErr_NoMemory();
        if (row == NULL) {
            Py_CLEAR(rows);
            break;
        }
        PyList_SET_ITEM(rows, (Py_ssize_t)i, row);
    }
    return rows;
}

/* What a call of the summary functions asks for, with what keeps its pointers alive. */
typedef struct summary_request {
    sp_summary_options options;
    text_list names, columns;
    rank_list ranks;
} summary_request;

static void release_request(summary_request *request)
{
    results_release_texts(&request->names);
    results_release_texts(&request->columns);
    PyMem_Free(request->ranks.ranks);
}

static int parse_request(PyObject *self, PyObject *args, PyObject *kwargs, summary_request *out)
{
    static char *keywords[] = {"names",          "ranks", "sort",  "exclusive_percent", "columns",
                               "suppress_notes", "color", "title", "file_path",         "reduction",
                               "min_percent", NULL};
    PyObject *names = Py_None, *ranks = Py_None, *columns = Py_None;
    const char *sort = "start", *title = NULL, *file_path = NULL, *reduction = "pooled";
    int exclusive_percent = 0, suppress_notes = 0, color = 0;
    double min_percent = 0;
    *out = (summary_request){.options = {.size = sizeof out->options}};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OOspOppzzsd", keywords, &names, &ranks, &sort,
                                     &exclusive_percent, &columns, &suppress_notes, &color, &title,
                                     &file_path, &reduction, &min_percent)) {
        return -1;
    }
    sp_summary_options *options = &out->options;
    sp_error error = {0};
    int status = sp_summary_parse_sort(sort, &options->sort, &error);
    if (status == SP_OK) {
        status = sp_compare_parse_reduction(reduction, &options->reduction, &error);
    }
    if (status != SP_OK) {
        results_raise(results_state_of(self), status, &error);
        return -1;
    }
    if (results_parse_texts(names, "names", &out->names) < 0 ||
        results_parse_texts(columns, "columns", &out->columns) < 0 ||
        results_parse_ranks(ranks, &out->ranks) < 0) {
        release_request(out);
        return -1;
    }
    options->include_names = out->names.texts;
    options->num_include_names = out->names.count;
    options->columns = out->columns.texts;
    options->num_columns = out->columns.count;
    options->ranks = out->ranks.ranks;
    options->num_ranks = out->ranks.count;
    options->exclusive_percent = exclusive_percent;
    options->min_percent = min_percent;
    options->suppress_notes = suppress_notes;
    options->color = color;
    options->title = title;
    options->file_path = file_path;
    return 0;
}

PyObject *run_summary_rows(PyObject *self, PyObject *args, PyObject *kwargs)
{
    run_object *run = (run_object *)self;
    summary_request request;
    if (parse_request(self, args, kwargs, &request) < 0) {
        return NULL;
    }
    request.options.with_percentiles = true;
    sp_summary *summary = NULL;
    sp_error error = {0};
    int status;
    PyThreadState *thread = results_enter(run);
    status = sp_summary_create(run->results, &request.options, &summary, &error);
    results_leave(run, thread);
    release_request(&request);
    if (status != SP_OK) {
        return results_raise(results_state_of(self), status, &error);
    }
    PyObject *rows = summary_rows(summary);
    sp_summary_free(summary);
    return rows;
}

PyObject *run_summary_text(PyObject *self, PyObject *args, PyObject *kwargs)
{
    run_object *run = (run_object *)self;
    summary_request request;
    if (parse_request(self, args, kwargs, &request) < 0) {
        return NULL;
    }
    sp_summary *summary = NULL;
    const char *text = NULL;
    sp_error error = {0};
    int status;
    PyThreadState *thread = results_enter(run);
    status = sp_summary_create(run->results, &request.options, &summary, &error);
    if (status == SP_OK) {
        text = sp_summary_text(summary);
        status = text != NULL ? SP_OK : SP_ERR_NO_MEMORY;
    }
    results_leave(run, thread);
    release_request(&request);
    PyObject *answer =
        status == SP_OK ? text_of(text) : results_raise(results_state_of(self), status, &error);
    sp_summary_free(summary);
    return answer;
}

/* The first four arguments by position, those of the summary by name. */
PyObject *run_inspect(PyObject *self, PyObject *args, PyObject *kwargs)
{
    run_object *run = (run_object *)self;
    PyObject *sources;
    text_list source_names;
    summary_request request;
    int wants_metadata, wants_regions, full;
    if (!PyArg_ParseTuple(args, "pppO:inspect", &wants_metadata, &wants_regions, &full, &sources) ||
        results_parse_texts(sources, "sources", &source_names) < 0) {
        return NULL;
    }
    PyObject *none = PyTuple_New(0);
    const int failed = none == NULL ? -1 : parse_request(self, none, kwargs, &request);
    Py_XDECREF(none);
    if (failed < 0) {
        results_release_texts(&source_names);
        return NULL;
    }
    const sp_inspection_options options = {
        .size = sizeof options,
        .summary = &request.options,
        .hide_metadata = !wants_metadata,
        .hide_regions = !wants_regions,
        .full = full != 0,
        .sources = source_names.texts,
        .num_sources = source_names.count,
    };
    char *text = NULL;
    sp_error error = {0};
    PyThreadState *thread = results_enter(run);
    const int status = sp_results_inspect(run->results, &options, &text, &error);
    results_leave(run, thread);
    release_request(&request);
    results_release_texts(&source_names);
    if (status != SP_OK) {
        return results_raise(results_state_of(self), status, &error);
    }
    PyObject *answer = text_of(text);
    free(text);
    return answer;
}

PyObject *run_line_profile_text(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    run_object *run = (run_object *)self;
    char *text = NULL;
    sp_error error = {0};
    PyThreadState *thread = results_enter(run);
    const int status = sp_results_line_tables(run->results, NULL, NULL, NULL, &text, &error);
    results_leave(run, thread);
    if (status != SP_OK) {
        return results_raise(results_state_of(self), status, &error);
    }
    PyObject *answer = text_of(text);
    free(text);
    return answer;
}
