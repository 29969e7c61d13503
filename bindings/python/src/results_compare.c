/* results_compare.c - two sides of runs, region by region. */
#include "results_module.h"

#include <math.h>
#include <stdlib.h>

static PyObject *number_or_none(double value)
{
    if (isnan(value)) {
        Py_RETURN_NONE;
    }
    return PyFloat_FromDouble(value);
}

static PyObject *row_dict(const sp_compare_row *row, bool has_repeats)
{
    PyObject *dict = Py_BuildValue(
        "{sNsNsNsdsNsO}", "name", PyUnicode_DecodeUTF8(row->name, (Py_ssize_t)strlen(row->name), "replace"),
        "a", number_or_none(row->a), "b", number_or_none(row->b), "delta", row->delta, "pct",
        number_or_none(row->percent), "violation", row->is_violation ? Py_True : Py_False);
    if (dict == NULL || !has_repeats) {
        return dict;
    }
    PyObject *more = Py_BuildValue(
        "{sNsNsNsNsNsNsN}", "spread_a", number_or_none(row->spread_a), "spread_b",
        number_or_none(row->spread_b), "low", number_or_none(row->low), "high",
        number_or_none(row->high), "confidence", number_or_none(row->confidence), "p_value",
        number_or_none(row->p_value), "false_discovery_rate", number_or_none(row->rate));
    if (more == NULL || PyDict_Update(dict, more) < 0) {
        Py_CLEAR(dict);
    }
    Py_XDECREF(more);
    return dict;
}

/* (rows, row of the whole or None, whether it passes, text) */
static PyObject *describe(const sp_comparison *comparison, PyObject *text)
{
    const sp_compare_row *whole = sp_comparison_whole(comparison);
    const size_t count = sp_comparison_num_rows(comparison);
    PyObject *rows = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; rows != NULL && i < count; i++) {
        PyObject *row = row_dict(sp_comparison_get_row(comparison, i), whole != NULL);
        if (row == NULL) {
            Py_CLEAR(rows);
            break;
        }
        PyList_SET_ITEM(rows, (Py_ssize_t)i, row);
    }
    PyObject *total = whole != NULL ? row_dict(whole, true) : Py_NewRef(Py_None);
    if (rows == NULL || total == NULL) {
        Py_XDECREF(rows);
        Py_XDECREF(total);
        Py_DECREF(text);
        return NULL;
    }
    return Py_BuildValue("(NNON)", rows, total,
                         sp_comparison_passes(comparison) ? Py_True : Py_False, text);
}

static PyObject *finish(PyObject *module, int status, const sp_error *error,
                        sp_comparison *comparison)
{
    sp_error trouble = {0};
    char *text = NULL;
    PyObject *answer = NULL;
    if (status == SP_OK) {
        status = sp_comparison_format(comparison, SP_COMPARE_TEXT, &text, &trouble);
        error = &trouble;
    }
    if (status != SP_OK) {
        answer = results_raise(PyModule_GetState(module), status, error);
    } else {
        PyObject *unicode = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
        answer = unicode != NULL ? describe(comparison, unicode) : NULL;
    }
    free(text);
    sp_comparison_free(comparison);
    return answer;
}

static int parse_names(const char *metric, const char *sort, const char *reduction,
                       PyObject *module, sp_compare_options *options)
{
    sp_error error = {0};
    int status = sp_compare_parse_metric(metric, &options->metric, &error);
    if (status == SP_OK) {
        status = sp_compare_parse_sort(sort, &options->sort, &error);
    }
    if (status == SP_OK) {
        status = sp_compare_parse_reduction(reduction, &options->reduction, &error);
    }
    if (status != SP_OK) {
        results_raise(PyModule_GetState(module), status, &error);
        return -1;
    }
    return 0;
}

static PyObject *compare_sides(PyObject *module, run_list *a, run_list *b, PyObject *names,
                               PyObject *ranks, sp_compare_options *options)
{
    text_list chosen_names = {NULL, NULL, 0};
    rank_list chosen_ranks = {NULL, 0};
    if (results_parse_texts(names, "names", &chosen_names) < 0 ||
        results_parse_ranks(ranks, &chosen_ranks) < 0) {
        results_release_texts(&chosen_names);
        return NULL;
    }
    options->include_names = chosen_names.texts;
    options->num_include_names = chosen_names.count;
    options->ranks = chosen_ranks.ranks;
    options->num_ranks = chosen_ranks.count;
    sp_comparison *comparison = NULL;
    sp_error error = {0};
    results_lock_runs(a, b, true);
    const int status = sp_comparison_create(a->results, a->count, b->results, b->count, options,
                                            &comparison, &error);
    results_lock_runs(a, b, false);
    results_release_texts(&chosen_names);
    PyMem_Free(chosen_ranks.ranks);
    return finish(module, status, &error, comparison);
}

PyObject *results_compare(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"a",        "b",      "names",          "ranks",       "metric",
                               "sort",     "threshold", "max_regression", "fail_on_new", "is_check",
                               "label_a", "label_b", "reduction", NULL};
    PyObject *a_runs, *b_runs, *names = Py_None, *ranks = Py_None, *answer = NULL;
    const char *metric = "total", *sort = "delta", *reduction = "pooled";
    int fail_on_new = 0, is_check = 0;
    sp_compare_options options = {.size = sizeof options};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|OOssddppzzs", keywords, &a_runs, &b_runs,
                                     &names, &ranks, &metric, &sort, &options.threshold,
                                     &options.max_regression, &fail_on_new, &is_check,
                                     &options.label_a, &options.label_b, &reduction) ||
        parse_names(metric, sort, reduction, module, &options) < 0) {
        return NULL;
    }
    options.fail_on_new = fail_on_new;
    options.is_check = is_check;
    run_list *sides = PyMem_Calloc(2, sizeof *sides);
    if (sides == NULL) {
        return PyErr_NoMemory();
    }
    const results_state *state = PyModule_GetState(module);
    if (results_take_runs(state, a_runs, &sides[0]) == 0 && results_take_runs(state, b_runs, &sides[1]) == 0) {
        answer = compare_sides(module, &sides[0], &sides[1], names, ranks, &options);
    }
    Py_XDECREF(sides[0].owner);
    Py_XDECREF(sides[1].owner);
    PyMem_Free(sides);
    return answer;
}

/* ---- Rows made elsewhere --------------------------------------------------------------------*/

static int take_number(PyObject *row, const char *key, double *out)
{
    PyObject *value = PyMapping_GetItemString(row, key);
    if (value == NULL) {
        return -1;
    }
    *out = value == Py_None ? (double)NAN : PyFloat_AsDouble(value);
    Py_DECREF(value);
    return PyErr_Occurred() ? -1 : 0;
}

/* The name is borrowed from `*out_name`. */
static int take_row(PyObject *row, sp_compare_row *out, PyObject **out_name)
{
    *out = (sp_compare_row){0};
    *out_name = PyMapping_GetItemString(row, "name");
    out->name = *out_name != NULL ? PyUnicode_AsUTF8(*out_name) : NULL;
    if (out->name == NULL || take_number(row, "a", &out->a) < 0 ||
        take_number(row, "b", &out->b) < 0 || take_number(row, "delta", &out->delta) < 0 ||
        take_number(row, "pct", &out->percent) < 0) {
        return -1;
    }
    out->is_in_a = !isnan(out->a);
    out->is_in_b = !isnan(out->b);
    return 0;
}

PyObject *results_compare_rows(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"rows", "metric", "label_a", "label_b", NULL};
    PyObject *given;
    const char *metric = "total";
    sp_compare_options options = {.size = sizeof options};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|szz", keywords, &given, &metric,
                                     &options.label_a, &options.label_b) ||
        parse_names(metric, "delta", "pooled", module, &options) < 0) {
        return NULL;
    }
    PyObject *items = PySequence_Tuple(given);
    if (items == NULL) {
        return NULL;
    }
    const size_t count = (size_t)PyTuple_GET_SIZE(items);
    sp_compare_row *rows = PyMem_Calloc(count + 1, sizeof *rows);
    PyObject **names = PyMem_Calloc(count + 1, sizeof *names);
    bool fits = rows != NULL && names != NULL;
    if (!fits) {
        PyErr_NoMemory();
    }
    for (size_t i = 0; fits && i < count; i++) {
        fits = take_row(PyTuple_GET_ITEM(items, (Py_ssize_t)i), &rows[i], &names[i]) == 0;
    }
    PyObject *answer = NULL;
    if (fits) {
        sp_comparison *comparison = NULL;
        sp_error error = {0};
        const int status = sp_comparison_from_rows(rows, count, &options, &comparison, &error);
        answer = finish(module, status, &error, comparison);
    }
    for (size_t i = 0; names != NULL && i < count; i++) {
        Py_XDECREF(names[i]);
    }
    PyMem_Free(names);
    PyMem_Free(rows);
    Py_DECREF(items);
    return answer;
}
