#include "results_module.h"

#include <math.h>

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

static PyObject *summary_rows(const sp_summary *summary)
{
    const size_t count = sp_summary_num_rows(summary);
    PyObject *rows = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; rows != NULL && i < count; i++) {
        PyObject *row = summary_row_dict(sp_summary_get_row(summary, i));
        if (row == NULL) {
            Py_CLEAR(rows);
            break;
        }
        PyList_SET_ITEM(rows, (Py_ssize_t)i, row);
    }
    return rows;
}

static PyObject *make_summary(run_object *run, const sp_summary_options *options)
{
    sp_summary *summary = NULL;
    const char *text = NULL;
    sp_error error = {0};
    int status;
    results_lock(run);
    Py_BEGIN_ALLOW_THREADS
    status = sp_summary_create(run->results, options, &summary, &error);
    if (status == SP_OK) {
        text = sp_summary_text(summary);
    }
    Py_END_ALLOW_THREADS
    results_unlock(run);
    if (status != SP_OK) {
        return results_raise(results_state_of((PyObject *)run), status, &error);
    }
    PyObject *rows = summary_rows(summary);
    PyObject *answer = rows != NULL ? Py_BuildValue("(NN)", rows, text_of(text)) : NULL;
    sp_summary_free(summary);
    return answer;
}

PyObject *run_summary(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"names",          "ranks", "sort",  "exclusive_percent", "columns",
                               "suppress_notes", "color", "title", "file_path",         NULL};
    PyObject *names_arg = Py_None, *ranks_arg = Py_None, *columns_arg = Py_None;
    const char *sort = "start", *title = NULL, *file_path = NULL;
    int exclusive_percent = 0, suppress_notes = 0, color = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OOspOppzz:summary", keywords, &names_arg,
                                     &ranks_arg, &sort, &exclusive_percent, &columns_arg,
                                     &suppress_notes, &color, &title, &file_path)) {
        return NULL;
    }
    sp_summary_options options = {
        .size = sizeof options,
        .exclusive_percent = exclusive_percent,
        .suppress_notes = suppress_notes,
        .color = color,
        .title = title,
        .file_path = file_path,
    };
    sp_error error = {0};
    const int status = sp_summary_parse_sort(sort, &options.sort, &error);
    if (status != SP_OK) {
        return results_raise(results_state_of(self), status, &error);
    }
    text_list names = {NULL, NULL, 0}, columns = {NULL, NULL, 0};
    rank_list ranks = {NULL, 0};
    PyObject *answer = NULL;
    if (results_parse_texts(names_arg, "names", &names) == 0 &&
        results_parse_texts(columns_arg, "columns", &columns) == 0 &&
        results_parse_ranks(ranks_arg, &ranks) == 0) {
        options.include_names = names.texts;
        options.num_include_names = names.count;
        options.columns = columns.texts;
        options.num_columns = columns.count;
        options.ranks = ranks.ranks;
        options.num_ranks = ranks.count;
        answer = make_summary((run_object *)self, &options);
    }
    results_release_texts(&names);
    results_release_texts(&columns);
    PyMem_Free(ranks.ranks);
    return answer;
}
