#include "results_module.h"

/* Named tuples of the module. Each pairs its field table with the function that fills it, in the
 * same order. */

static PyStructSequence_Field row_fields[] = {
    {"region", "index of the region"},
    {"rank", "MPI rank"},
    {"count", "number of calls"},
    {"columns", "bit mask of the columns present"},
    {"source_file", "None when unknown"},
    {"source_line", "None when unknown"},
    {"source_text", "None when unknown"},
    {"tags_json", "JSON list of strings"},
    {"event_metadata_json", "JSON list with one object a call, None when not recorded"},
    {"exclusive_total", "ns, -1 when not computed"},
    {"m2", "variance times count as stored, ns squared; None without stored statistics"},
    {"aggregate", "(count, total, minimum, maximum, exclusive) of a totals-only run, or None"},
    {NULL, NULL},
};
static PyStructSequence_Desc row_desc = {"scope_profiler._results.Row",
                                         "One (rank, region) row of a run.", row_fields, 12};

static PyStructSequence_Field statistics_fields[] = {
    {"calls", "number of calls"},
    {"total", "ns"},
    {"minimum", "ns"},
    {"maximum", "ns"},
    {"first", "duration of the first call, ns"},
    {"last", "duration of the last call, ns"},
    {"start_minimum", "absolute ns"},
    {"end_maximum", "absolute ns"},
    {"exclusive", "ns, -1 when not known"},
    {"mean", "ns"},
    {"deviation", "population standard deviation, ns"},
    {"gpu_calls", "calls that have a device time"},
    {"gpu_total", "ns"},
    {NULL, NULL},
};
static PyStructSequence_Desc statistics_desc = {"scope_profiler._results.Statistics",
                                                "Statistics of one row or pooled; durations in ns.",
                                                statistics_fields, 13};

static PyStructSequence_Field times_fields[] = {
    {"start", "absolute ns or None"},
    {"first_entry", "absolute ns or None"},
    {"last_exit", "absolute ns or None"},
    {"finalize", "absolute ns or None"},
    {NULL, NULL},
};
static PyStructSequence_Desc times_desc = {"scope_profiler._results.Times", "Times of a run.",
                                           times_fields, 4};

static PyStructSequence_Field call_tree_fields[] = {
    {"row", "Column: row that the call belongs to"},
    {"call_index", "Column: position in that row"},
    {"start_ns", "Column: absolute ns"},
    {"end_ns", "Column: absolute ns"},
    {"depth", "Column: 0 for a root"},
    {"parent", "Column: index into these columns, -1 for a root"},
    {"exclusive_ns", "Column: ns"},
    {"lane", "Column, or None without lanes"},
    {NULL, NULL},
};
static PyStructSequence_Desc call_tree_desc = {"scope_profiler._results.CallTree",
                                               "All calls of one rank in call order.",
                                               call_tree_fields, 8};

static PyStructSequence_Field thread_fields[] = {
    {"rank", NULL},     {"index", NULL},  {"ident", NULL},  {"native_id", NULL}, {"daemon", NULL},
    {"start_ns", NULL}, {"end_ns", NULL}, {"cpu_ns", NULL}, {"name", NULL},      {NULL, NULL},
};
static PyStructSequence_Desc thread_desc = {
    "scope_profiler._results.Thread",
    "One thread of a rank; times relative to the start of the run.", thread_fields, 9};

static PyStructSequence_Field task_fields[] = {
    {"rank", NULL},    {"index", NULL}, {"thread_index", NULL}, {"created_ns", NULL},
    {"done_ns", NULL}, {"steps", NULL}, {"running_ns", NULL},   {"suspended_ns", NULL},
    {"kind", NULL},    {"name", NULL},  {"coro_name", NULL},    {NULL, NULL},
};
static PyStructSequence_Desc task_desc = {
    "scope_profiler._results.Task", "One task of a rank; times relative to the start of the run.",
    task_fields, 11};

int results_records_init(PyObject *module, results_state *state)
{
    const struct {
        PyTypeObject **slot;
        PyStructSequence_Desc *desc;
    } table[] = {
        {&state->row_type, &row_desc},       {&state->statistics_type, &statistics_desc},
        {&state->times_type, &times_desc},   {&state->call_tree_type, &call_tree_desc},
        {&state->thread_type, &thread_desc}, {&state->task_type, &task_desc},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        *table[i].slot = PyStructSequence_NewType(table[i].desc);
        if (*table[i].slot == NULL || PyModule_AddType(module, *table[i].slot) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Fills a record from values that were just made; a NULL among them fails the whole record. */
static PyObject *fill_record(PyTypeObject *type, PyObject *const *values, Py_ssize_t count)
{
    PyObject *record = PyStructSequence_New(type);
    bool is_complete = record != NULL;
    for (Py_ssize_t i = 0; i < count; i++) {
        is_complete = is_complete && values[i] != NULL;
        if (record != NULL) {
            PyStructSequence_SetItem(record, i, values[i]);
        } else {
            Py_XDECREF(values[i]);
        }
    }
    if (!is_complete) {
        Py_CLEAR(record);
    }
    return record;
}

/* Text from a file: bytes that are not UTF-8 stay visible instead of failing the read. */
static PyObject *text_of(const char *text)
{
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "backslashreplace");
}

static PyObject *text_or_none(const char *text)
{
    return text == NULL || text[0] == '\0' ? Py_NewRef(Py_None) : text_of(text);
}

static PyObject *time_or_none(int64_t value)
{
    return value < 0 ? Py_NewRef(Py_None) : PyLong_FromLongLong(value);
}

PyObject *results_row_record(const results_state *state, const sp_row *row, size_t region,
                             unsigned columns)
{
    const sp_row_aggregate *aggregate = &row->aggregate;
    const bool has_metadata =
        row->event_metadata_json != NULL && strcmp(row->event_metadata_json, "[]") != 0;
    PyObject *const values[] = {
        PyLong_FromSize_t(region),
        PyLong_FromUnsignedLong(row->rank),
        PyLong_FromUnsignedLongLong(row->count),
        PyLong_FromUnsignedLong(columns),
        text_or_none(row->source_file),
        time_or_none(row->source_line),
        text_or_none(row->source_text),
        text_of(row->tags_json != NULL ? row->tags_json : "[]"),
        text_or_none(has_metadata ? row->event_metadata_json : NULL),
        PyLong_FromLongLong(row->exclusive_total),
        row->has_statistics ? PyFloat_FromDouble(row->statistics.m2) : Py_NewRef(Py_None),
        row->has_aggregate
            ? Py_BuildValue("(KLLLL)", (unsigned long long)aggregate->count,
                            (long long)aggregate->total, (long long)aggregate->minimum,
                            (long long)aggregate->maximum, (long long)aggregate->exclusive)
            : Py_NewRef(Py_None),
    };
    return fill_record(state->row_type, values, 12);
}

PyObject *results_statistics_record(const results_state *state, const sp_statistics *statistics)
{
    PyObject *const values[] = {
        PyLong_FromUnsignedLongLong(statistics->calls),
        PyLong_FromLongLong(statistics->total),
        PyLong_FromLongLong(statistics->minimum),
        PyLong_FromLongLong(statistics->maximum),
        PyLong_FromLongLong(statistics->first),
        PyLong_FromLongLong(statistics->last),
        PyLong_FromLongLong(statistics->start_minimum),
        PyLong_FromLongLong(statistics->end_maximum),
        PyLong_FromLongLong(statistics->exclusive),
        PyFloat_FromDouble(statistics->mean),
        PyFloat_FromDouble(statistics->deviation),
        PyLong_FromUnsignedLongLong(statistics->gpu_calls),
        PyLong_FromLongLong(statistics->gpu_total),
    };
    return fill_record(state->statistics_type, values, 13);
}

PyObject *results_times_record(const results_state *state, const sp_run_times *times)
{
    PyObject *const values[] = {
        time_or_none(times->start),
        time_or_none(times->first_entry),
        time_or_none(times->last_exit),
        time_or_none(times->finalize),
    };
    return fill_record(state->times_type, values, 4);
}

PyObject *results_thread_record(const results_state *state, const sp_thread_row *thread)
{
    PyObject *const values[] = {
        PyLong_FromUnsignedLong(thread->rank),
        PyLong_FromLongLong(thread->index),
        PyLong_FromLongLong(thread->ident),
        PyLong_FromLongLong(thread->native_id),
        PyBool_FromLong(thread->is_daemon),
        PyLong_FromLongLong(thread->start_ns),
        PyLong_FromLongLong(thread->end_ns),
        PyLong_FromLongLong(thread->cpu_ns),
        text_of(thread->name != NULL ? thread->name : ""),
    };
    return fill_record(state->thread_type, values, 9);
}

PyObject *results_task_record(const results_state *state, const sp_task_row *task)
{
    PyObject *const values[] = {
        PyLong_FromUnsignedLong(task->rank),
        PyLong_FromLongLong(task->index),
        PyLong_FromLongLong(task->thread_index),
        PyLong_FromLongLong(task->created_ns),
        PyLong_FromLongLong(task->done_ns),
        PyLong_FromLongLong(task->steps),
        PyLong_FromLongLong(task->running_ns),
        PyLong_FromLongLong(task->suspended_ns),
        text_of(task->kind != NULL ? task->kind : ""),
        text_of(task->name != NULL ? task->name : ""),
        text_of(task->coroutine_name != NULL ? task->coroutine_name : ""),
    };
    return fill_record(state->task_type, values, 11);
}
