#include "results_module.h"

static int results_exec(PyObject *module)
{
    results_state *state = PyModule_GetState(module);
    if (results_errors_init(module, state) < 0 || results_records_init(module, state) < 0 ||
        results_column_init(module, state) < 0) {
        return -1;
    }
    return results_run_init(module, state);
}

static int results_traverse(PyObject *module, visitproc visit, void *arg)
{
    results_state *state = PyModule_GetState(module);
    Py_VISIT(state->run_type);
    Py_VISIT(state->column_type);
    Py_VISIT(state->row_type);
    Py_VISIT(state->statistics_type);
    Py_VISIT(state->times_type);
    Py_VISIT(state->call_tree_type);
    Py_VISIT(state->thread_type);
    Py_VISIT(state->task_type);
    Py_VISIT(state->corrupt_error);
    Py_VISIT(state->schema_error);
    Py_VISIT(state->nesting_error);
    Py_VISIT(state->events_error);
    return 0;
}

static int results_clear(PyObject *module)
{
    results_state *state = PyModule_GetState(module);
    Py_CLEAR(state->run_type);
    Py_CLEAR(state->column_type);
    Py_CLEAR(state->row_type);
    Py_CLEAR(state->statistics_type);
    Py_CLEAR(state->times_type);
    Py_CLEAR(state->call_tree_type);
    Py_CLEAR(state->thread_type);
    Py_CLEAR(state->task_type);
    Py_CLEAR(state->corrupt_error);
    Py_CLEAR(state->schema_error);
    Py_CLEAR(state->nesting_error);
    Py_CLEAR(state->events_error);
    return 0;
}

static void results_free(void *module)
{
    results_clear(module);
}

#define KEYWORDS(function) (PyCFunction)(void (*)(void))(function), METH_VARARGS | METH_KEYWORDS

static PyMethodDef results_functions[] = {
    {"region_color", results_region_color, METH_O,
     "region_color($module, name, /)\n--\n\nThe colour of a region as '#rrggbb', by its name."},
    {"format_rows", KEYWORDS(results_format_rows),
     "format_rows($module, rows, exclusive_percent=False, columns=None, suppress_notes=False, "
     "color=False, title=None, file_path=None, total_time=None)\n--\n\n"
     "Rows of summary_rows as the text of a table."},
    {"format_cells", KEYWORDS(results_format_cells),
     "format_cells($module, rows, columns=None)\n--\n\n"
     "Rows of summary_rows as (key, header) pairs and lines of cells."},
    {"recover", results_recover, METH_VARARGS,
     "recover($module, path, choose, remove, /)\n--\n\n"
     "Makes profiles of what killed programs left; `choose` names each of them."},
    {"report", KEYWORDS(results_report),
     "report($module, runs, path, names=None, ranks=None, labels=None, sort='start', columns=None, "
     "charts=True, individual_reports=True)\n--\n\n"
     "Writes runs as a page for a browser."},
    {"compare", KEYWORDS(results_compare),
     "compare($module, a, b, names=None, ranks=None, metric='total', sort='delta', threshold=0.0, "
     "max_regression=0.0, fail_on_new=False, is_check=False, label_a=None, label_b=None, "
     "reduction='pooled')\n--\n\n"
     "Compares runs: rows, the row of the whole or None, whether it passes, the text."},
    {"compare_rows", KEYWORDS(results_compare_rows),
     "compare_rows($module, rows, metric='total', label_a=None, label_b=None)\n--\n\n"
     "The same of rows made elsewhere."},
    {"export_plot_data", KEYWORDS(results_export_plot_data),
     "export_plot_data($module, runs, kind, path, labels=None, names=None, ranks=None, "
     "as_json=False, reduction='pooled', metrics=(), sort_by=None, top=0, bins=0, "
     "imbalance_metric='total', x_field=None, start_time=0.0, end_time=0.0, min_duration=0.0, "
     "compact=False)\n--\n\n"
     "Writes the data behind a plot of these runs."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot results_slots[] = {
    {Py_mod_exec, results_exec},
#if PY_VERSION_HEX >= 0x030C0000
    {Py_mod_multiple_interpreters, Py_MOD_PER_INTERPRETER_GIL_SUPPORTED},
#endif
    {0, NULL},
};

static struct PyModuleDef results_definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "scope_profiler._results",
    .m_doc = "Finished runs, in C: a thin skin over the results library.",
    .m_size = sizeof(results_state),
    .m_methods = results_functions,
    .m_slots = results_slots,
    .m_traverse = results_traverse,
    .m_clear = results_clear,
    .m_free = results_free,
};

PyMODINIT_FUNC PyInit__results(void)
{
    return PyModuleDef_Init(&results_definition);
}
