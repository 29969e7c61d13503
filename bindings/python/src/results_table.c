#include "results_module.h"

#include <math.h>

/* Tables of rows that Python hands in: dictionaries as region_rows() makes them. */

/* Number under `key`; NaN where it is missing or None. */
static double number_of(PyObject *row, const char *key)
{
    PyObject *value = PyDict_GetItemString(row, key); /* borrowed */
    return value == NULL || value == Py_None ? (double)NAN : PyFloat_AsDouble(value);
}

static long long integer_of(PyObject *row, const char *key)
{
    PyObject *value = PyDict_GetItemString(row, key); /* borrowed */
    return value == NULL || value == Py_None ? 0 : PyLong_AsLongLong(value);
}

/* The texts are borrowed from the dictionary. */
static int parse_row(PyObject *row, sp_summary_row *out)
{
    if (!PyDict_Check(row)) {
        PyErr_SetString(PyExc_TypeError, "rows must be dictionaries");
        return -1;
    }
    PyObject *name = PyDict_GetItemString(row, "name"); /* borrowed */
    if (name == NULL || !PyUnicode_Check(name)) {
        PyErr_SetString(PyExc_ValueError, "a row needs a name");
        return -1;
    }
    *out = (sp_summary_row){
        .name = PyUnicode_AsUTF8(name),
        .num_ranks = (size_t)integer_of(row, "num_ranks"),
        .calls = (uint64_t)integer_of(row, "calls"),
        .total = number_of(row, "total"),
        .coverage = number_of(row, "coverage"),
        .exclusive = number_of(row, "exclusive"),
        .average = number_of(row, "avg"),
        .minimum = number_of(row, "min"),
        .maximum = number_of(row, "max"),
        .first = number_of(row, "first"),
        .last = number_of(row, "last"),
        .deviation = number_of(row, "std"),
        .p50 = number_of(row, "p50"),
        .p95 = number_of(row, "p95"),
        .p99 = number_of(row, "p99"),
        .imbalance = number_of(row, "imbalance"),
        .depth = (int)integer_of(row, "depth"),
        .is_recursive = integer_of(row, "recursive") != 0,
        .start = number_of(row, "start"),
        .parent_coverage = number_of(row, "parent_coverage"),
        .gpu_total = number_of(row, "gpu_total"),
        .gpu_average = number_of(row, "gpu_avg"),
    };
    return PyErr_Occurred() ? -1 : 0;
}

static sp_summary *make_table(const results_state *state, PyObject *rows_arg,
                              const sp_summary_options *options, double total)
{
    PyObject *items = PySequence_Fast(rows_arg, "rows must be a sequence");
    if (items == NULL) {
        return NULL;
    }
    const Py_ssize_t count = PySequence_Fast_GET_SIZE(items);
    sp_summary_row *rows = PyMem_New(sp_summary_row, count + 1);
    if (rows == NULL) {
        PyErr_NoMemory();
    }
    for (Py_ssize_t i = 0; i < count && !PyErr_Occurred(); i++) {
        parse_row(PySequence_Fast_GET_ITEM(items, i), &rows[i]);
    }
    sp_summary *summary = NULL;
    if (!PyErr_Occurred()) {
        sp_error error = {0};
        const int status =
            sp_summary_from_rows(rows, (size_t)count, options, total, &summary, &error);
        if (status != SP_OK) {
            results_raise(state, status, &error);
        }
    }
    PyMem_Free(rows);
    Py_DECREF(items);
    return summary;
}

PyObject *results_format_rows(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {
        "rows",      "exclusive_percent", "columns", "suppress_notes", "color", "title",
        "file_path", "total_time",        NULL};
    PyObject *rows, *columns_arg = Py_None, *total_arg = Py_None;
    const char *title = NULL, *file_path = NULL;
    int exclusive_percent = 0, suppress_notes = 0, color = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|pOppzzO:format_rows", keywords, &rows,
                                     &exclusive_percent, &columns_arg, &suppress_notes, &color,
                                     &title, &file_path, &total_arg)) {
        return NULL;
    }
    const double total = total_arg == Py_None ? (double)NAN : PyFloat_AsDouble(total_arg);
    text_list columns;
    if (PyErr_Occurred() || results_parse_texts(columns_arg, "columns", &columns) < 0) {
        return NULL;
    }
    const sp_summary_options options = {
        .size = sizeof options,
        .exclusive_percent = exclusive_percent,
        .columns = columns.texts,
        .num_columns = columns.count,
        .suppress_notes = suppress_notes,
        .color = color,
        .title = title,
        .file_path = file_path,
    };
    sp_summary *summary = make_table(PyModule_GetState(module), rows, &options, total);
    results_release_texts(&columns);
    if (summary == NULL) {
        return NULL;
    }
    const char *text = sp_summary_text(summary);
    PyObject *answer = text != NULL ? PyUnicode_FromString(text) : PyErr_NoMemory();
    sp_summary_free(summary);
    return answer;
}

/* ([(key, header), ...], [[cell, ...], ...]) */
static PyObject *cells_to_lists(const sp_summary_cells *cells)
{
    PyObject *columns = PyList_New(0), *lines = PyList_New(0);
    for (size_t c = 0; c < cells->num_columns && !PyErr_Occurred(); c++) {
        PyObject *pair = Py_BuildValue("(ss)", cells->keys[c], cells->headers[c]);
        if (pair != NULL) {
            PyList_Append(columns, pair);
            Py_DECREF(pair);
        }
    }
    const char *text = cells->texts;
    for (size_t line = 0; line < cells->num_lines && !PyErr_Occurred(); line++) {
        PyObject *row = PyList_New(0);
        for (size_t c = 0; c < cells->num_columns && !PyErr_Occurred(); c++) {
            PyObject *cell = PyUnicode_FromString(text);
            text += strlen(text) + 1;
            if (cell != NULL) {
                PyList_Append(row, cell);
                Py_DECREF(cell);
            }
        }
        if (row != NULL) {
            PyList_Append(lines, row);
            Py_DECREF(row);
        }
    }
    if (PyErr_Occurred()) {
        Py_XDECREF(columns);
        Py_XDECREF(lines);
        return NULL;
    }
    return Py_BuildValue("(NN)", columns, lines);
}

PyObject *results_format_cells(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"rows", "columns", NULL};
    const results_state *state = PyModule_GetState(module);
    PyObject *rows, *columns_arg = Py_None;
    text_list columns;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:format_cells", keywords, &rows,
                                     &columns_arg) ||
        results_parse_texts(columns_arg, "columns", &columns) < 0) {
        return NULL;
    }
    const sp_summary_options options = {
        .size = sizeof options, .columns = columns.texts, .num_columns = columns.count};
    sp_summary *summary = make_table(state, rows, &options, (double)NAN);
    results_release_texts(&columns);
    if (summary == NULL) {
        return NULL;
    }
    sp_summary_cells cells;
    sp_error error = {0};
    const int status = sp_summary_get_cells(summary, &cells, &error);
    PyObject *answer =
        status == SP_OK ? cells_to_lists(&cells) : results_raise(state, status, &error);
    sp_summary_free(summary);
    return answer;
}
