#include "results_module.h"

#include <string.h>

/* ---- adding a row ---------------------------------------------------------------------------*/

/* Buffers of one row while it is added. */
typedef struct row_buffers {
    Py_buffer views[SP_COLUMN_COUNT];
    bool is_held[SP_COLUMN_COUNT];
    int64_t *durations; /* owned, made from starts and ends */
    const int64_t *columns[SP_COLUMN_COUNT];
    size_t count;
} row_buffers;

static void release_buffers(row_buffers *buffers)
{
    for (int c = 0; c < SP_COLUMN_COUNT; c++) {
        if (buffers->is_held[c]) {
            PyBuffer_Release(&buffers->views[c]);
        }
    }
    PyMem_Free(buffers->durations);
}

/* Holds `value` as column `c`; the first column decides the length of the row. */
static int hold_column(row_buffers *buffers, int c, PyObject *value)
{
    Py_buffer *view = &buffers->views[c];
    if (PyObject_GetBuffer(value, view, PyBUF_CONTIG_RO | PyBUF_FORMAT) < 0) {
        return -1;
    }
    buffers->is_held[c] = true;
    const char *format = view->format != NULL ? view->format : "B";
    if (view->ndim != 1 || view->itemsize != 8 || strchr("ql", format[0]) == NULL) {
        PyErr_Format(PyExc_TypeError, "column %d must be a one-dimensional int64 array", c);
        return -1;
    }
    const size_t count = (size_t)view->shape[0];
    if (c != SP_COLUMN_START && count != buffers->count) {
        PyErr_Format(PyExc_ValueError, "column %d has %zu values, the row has %zu calls", c, count,
                     buffers->count);
        return -1;
    }
    buffers->count = count;
    buffers->columns[c] = view->buf;
    return 0;
}

/* The DURATION slot first holds the ends; the differences replace them. */
static int subtract_starts(row_buffers *buffers)
{
    const int64_t *starts = buffers->columns[SP_COLUMN_START];
    const int64_t *ends = buffers->columns[SP_COLUMN_DURATION];
    buffers->durations = PyMem_New(int64_t, buffers->count > 0 ? buffers->count : 1);
    if (buffers->durations == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t i = 0; i < buffers->count; i++) {
        buffers->durations[i] = (int64_t)((uint64_t)ends[i] - (uint64_t)starts[i]);
    }
    buffers->columns[SP_COLUMN_DURATION] = buffers->durations;
    return 0;
}

static int hold_optional_columns(row_buffers *buffers, PyObject *columns)
{
    if (columns == Py_None) {
        return 0;
    }
    if (!PyDict_Check(columns)) {
        PyErr_SetString(PyExc_TypeError, "columns must be a dictionary");
        return -1;
    }
    PyObject *key, *value;
    Py_ssize_t position = 0;
    while (PyDict_Next(columns, &position, &key, &value)) {
        const Py_ssize_t c = results_index(key, SP_COLUMN_COUNT, "column");
        if (c < 0) {
            return -1;
        }
        if (c <= SP_COLUMN_DURATION) {
            PyErr_SetString(PyExc_ValueError, "times are given as starts and ends");
            return -1;
        }
        if (value != Py_None && hold_column(buffers, (int)c, value) < 0) {
            return -1;
        }
    }
    return 0;
}

static int parse_aggregate(PyObject *value, sp_row *row)
{
    sp_row_aggregate *aggregate = &row->aggregate;
    unsigned long long count;
    long long total, minimum, maximum, exclusive;
    if (value == Py_None) {
        return 0;
    }
    if (!PyTuple_Check(value) ||
        !PyArg_ParseTuple(value, "KLLLL;aggregate is (count, total, minimum, maximum, exclusive)",
                          &count, &total, &minimum, &maximum, &exclusive)) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_TypeError, "aggregate must be a tuple");
        }
        return -1;
    }
    *aggregate = (sp_row_aggregate){count, total, minimum, maximum, exclusive};
    row->has_aggregate = true;
    row->count = count;
    return 0;
}

static int parse_statistics(PyObject *value, sp_row *row)
{
    sp_row_statistics *s = &row->statistics;
    unsigned long long calls, gpu_count;
    long long total, minimum, maximum, first, last, start_minimum, end_maximum, gpu_total;
    if (value == Py_None) {
        return 0;
    }
    if (!PyTuple_Check(value) ||
        !PyArg_ParseTuple(value,
                          "KLLLLLLLKLdd;statistics is (calls, total, minimum, maximum, first, "
                          "last, start_minimum, end_maximum, gpu_count, gpu_total, mean, m2)",
                          &calls, &total, &minimum, &maximum, &first, &last, &start_minimum,
                          &end_maximum, &gpu_count, &gpu_total, &s->mean, &s->m2)) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_TypeError, "statistics must be a tuple");
        }
        return -1;
    }
    s->total = total, s->minimum = minimum, s->maximum = maximum;
    s->first = first, s->last = last;
    s->start_minimum = start_minimum, s->end_maximum = end_maximum;
    s->gpu_count = gpu_count, s->gpu_total = gpu_total;
    row->has_statistics = true;
    row->count = calls;
    return 0;
}

/* A region has one row a rank: Python looks rows up by both. */
static int check_is_new(const sp_results *results, const sp_row *row)
{
    const int64_t region = sp_results_find_region(results, row->region);
    if (region < 0 || sp_results_find_row(results, (size_t)region, row->rank) < 0) {
        return 0;
    }
    PyErr_Format(PyExc_ValueError, "region '%s' has a row for rank %u already", row->region,
                 (unsigned)row->rank);
    return -1;
}

static PyObject *finish_add_row(run_object *run, const sp_row *row, const row_buffers *buffers)
{
    sp_error error = {0};
    int status;
    PyThreadState *thread = results_enter(run);
    status = sp_results_add_row(run->results, row, buffers->columns, &error);
    results_leave(run, thread);
    if (status != SP_OK) {
        return results_raise(results_state_of((PyObject *)run), status, &error);
    }
    return PyLong_FromSize_t(sp_results_num_rows(run->results) - 1);
}

PyObject *run_add_row(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {
        "region",          "rank",        "starts",      "ends",      "columns",
        "source_file",     "source_line", "source_text", "tags_json", "event_metadata_json",
        "exclusive_total", "aggregate",   "statistics",  NULL};
    const char *region, *source_file = NULL, *source_text = NULL, *tags = NULL, *metadata = NULL;
    unsigned int rank;
    PyObject *starts = Py_None, *ends = Py_None, *columns = Py_None, *line = Py_None;
    PyObject *aggregate = Py_None, *statistics = Py_None;
    long long exclusive_total = -1;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "sI|OOOzOzzzLOO:add_row", keywords, &region,
                                     &rank, &starts, &ends, &columns, &source_file, &line,
                                     &source_text, &tags, &metadata, &exclusive_total, &aggregate,
                                     &statistics)) {
        return NULL;
    }
    const long long source_line = line == Py_None ? -1 : PyLong_AsLongLong(line);
    if (source_line == -1 && PyErr_Occurred()) {
        return NULL;
    }
    sp_row row = {
        .region = region,
        .rank = rank,
        .source_file = source_file != NULL ? source_file : "",
        .source_text = source_text != NULL ? source_text : "",
        .source_line = source_line,
        .tags_json = tags != NULL ? tags : "[]",
        .event_metadata_json = metadata,
        .exclusive_total = exclusive_total,
    };
    row_buffers buffers = {0};
    PyObject *answer = NULL;
    bool is_good = parse_aggregate(aggregate, &row) == 0 && parse_statistics(statistics, &row) == 0;
    if (is_good && starts != Py_None) {
        is_good = hold_column(&buffers, SP_COLUMN_START, starts) == 0 &&
                  hold_column(&buffers, SP_COLUMN_DURATION, ends) == 0 &&
                  subtract_starts(&buffers) == 0 && hold_optional_columns(&buffers, columns) == 0;
        row.count = buffers.count;
    }
    if (is_good && check_is_new(((run_object *)self)->results, &row) == 0) {
        answer = finish_add_row((run_object *)self, &row, &buffers);
    }
    release_buffers(&buffers);
    return answer;
}

/* ---- rows of another run --------------------------------------------------------------------*/

/* A row with other fields than its source: the columns are handed on, add_row copies them. */
static int add_changed_row(sp_results *results, sp_results *from, size_t source, const sp_row *row,
                           sp_error *error)
{
    const int64_t *columns[SP_COLUMN_COUNT] = {NULL};
    const unsigned present = sp_results_row_columns(from, source);
    for (int c = 0; c < SP_COLUMN_COUNT; c++) {
        size_t count;
        if (present & SP_COLUMN_BIT(c)) {
            const int status =
                sp_results_column(from, source, (sp_column)c, &columns[c], &count, error);
            if (status != SP_OK) {
                return status;
            }
        }
    }
    return sp_results_add_row(results, row, columns, error);
}

/* Two runs are locked in the order of their addresses, so that two threads cannot wait for each
 * other. */
static void lock_both(run_object *a, run_object *b)
{
    results_lock(a < b ? a : b);
    results_lock(a < b ? b : a);
}

PyObject *run_add_row_of(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"run", "row", "region", "rank", "exclusive_total", NULL};
    run_object *run = (run_object *)self, *from;
    results_state *state = results_state_of(self);
    PyObject *row_arg, *rank_arg = Py_None, *exclusive_arg = Py_None;
    const char *region = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!O|zOO:add_row_of", keywords, state->run_type,
                                     &from, &row_arg, &region, &rank_arg, &exclusive_arg)) {
        return NULL;
    }
    const Py_ssize_t source = results_index(row_arg, sp_results_num_rows(from->results), "row");
    if (source < 0) {
        return NULL;
    }
    if (run == from) {
        PyErr_SetString(PyExc_ValueError, "a run cannot take over its own rows");
        return NULL;
    }
    sp_row row = *sp_results_row(from->results, (size_t)source);
    row.region = region != NULL ? region : row.region;
    if (rank_arg != Py_None) {
        row.rank = (uint32_t)PyLong_AsUnsignedLong(rank_arg);
    }
    if (exclusive_arg != Py_None) {
        row.exclusive_total = PyLong_AsLongLong(exclusive_arg);
    }
    if (PyErr_Occurred() || check_is_new(run->results, &row) < 0) {
        return NULL;
    }
    sp_error error = {0};
    lock_both(from, run);
    const int status = add_changed_row(run->results, from->results, (size_t)source, &row, &error);
    results_unlock(run);
    results_unlock(from);
    if (status != SP_OK) {
        return results_raise(state, status, &error);
    }
    return PyLong_FromSize_t(sp_results_num_rows(run->results) - 1);
}

/* ---- statistics only ------------------------------------------------------------------------*/

/* Copies what a run knows without its calls: metadata and lanes. */
static int copy_description(sp_results *to, const sp_results *from, sp_error *error)
{
    int status = SP_OK;
    for (size_t i = 0; status == SP_OK && i < sp_results_num_metadata(from); i++) {
        status = sp_results_set_metadata(to, sp_results_metadata(from, i), error);
    }
    for (size_t i = 0; status == SP_OK && i < sp_results_num_threads(from); i++) {
        status = sp_results_add_thread(to, sp_results_thread(from, i), error);
    }
    for (size_t i = 0; status == SP_OK && i < sp_results_num_tasks(from); i++) {
        status = sp_results_add_task(to, sp_results_task(from, i), error);
    }
    sp_results_set_num_ranks(to, sp_results_num_ranks(from));
    return status;
}

static bool is_selected(const char *name, const text_list *names)
{
    for (size_t i = 0; i < names->count; i++) {
        if (strcmp(names->texts[i], name) == 0) {
            return true;
        }
    }
    return names->texts == NULL;
}

static bool is_rank_selected(uint32_t rank, const rank_list *ranks)
{
    for (size_t i = 0; i < ranks->count; i++) {
        if (ranks->ranks[i] == rank) {
            return true;
        }
    }
    return ranks->ranks == NULL;
}

/* SP_ERR_NOT_FOUND when a selected row carries no statistics. */
static int add_statistics_rows(sp_results *to, const sp_results *from, const text_list *names,
                               const rank_list *ranks, sp_error *error)
{
    const int64_t *const columns[SP_COLUMN_COUNT] = {NULL};
    for (size_t i = 0; i < sp_results_num_rows(from); i++) {
        const sp_row *row = sp_results_row(from, i);
        if (!is_selected(row->region, names) || !is_rank_selected(row->rank, ranks)) {
            continue;
        }
        if (!row->has_statistics && !row->has_aggregate) {
            return SP_ERR_NOT_FOUND;
        }
        const int status = sp_results_add_row(to, row, columns, error);
        if (status != SP_OK) {
            return status;
        }
    }
    return SP_OK;
}

PyObject *run_add_statistics_of(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"run", "regions", "ranks", NULL};
    run_object *run = (run_object *)self, *from;
    results_state *state = results_state_of(self);
    PyObject *names_arg = Py_None, *ranks_arg = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!|OO:add_statistics_of", keywords,
                                     state->run_type, &from, &names_arg, &ranks_arg)) {
        return NULL;
    }
    text_list names;
    rank_list ranks;
    if (results_parse_texts(names_arg, "regions", &names) < 0) {
        return NULL;
    }
    if (results_parse_ranks(ranks_arg, &ranks) < 0) {
        results_release_texts(&names);
        return NULL;
    }
    sp_error error = {0};
    lock_both(from, run);
    int status = copy_description(run->results, from->results, &error);
    if (status == SP_OK) {
        status = add_statistics_rows(run->results, from->results, &names, &ranks, &error);
    }
    results_unlock(run);
    results_unlock(from);
    results_release_texts(&names);
    PyMem_Free(ranks.ranks);
    if (status == SP_ERR_NOT_FOUND) {
        Py_RETURN_FALSE;
    }
    return status == SP_OK ? Py_NewRef(Py_True) : results_raise(state, status, &error);
}

/* ---- metadata, lanes, ranks -----------------------------------------------------------------*/

/* Fills kind and value of `entry`; `texts` holds the list if the value is one. */
static int parse_metadata_value(PyObject *value, sp_metadata_entry *entry, text_list *texts)
{
    if (PyLong_Check(value)) {
        entry->kind = SP_VALUE_INTEGER;
        entry->integer = PyLong_AsLongLong(value);
        return PyErr_Occurred() ? -1 : 0;
    }
    if (PyFloat_Check(value)) {
        entry->kind = SP_VALUE_REAL;
        entry->real = PyFloat_AS_DOUBLE(value);
        return 0;
    }
    if (PyUnicode_Check(value)) {
        entry->kind = SP_VALUE_TEXT;
        entry->text = PyUnicode_AsUTF8(value);
        return entry->text != NULL ? 0 : -1;
    }
    if (!PyList_Check(value) && !PyTuple_Check(value)) {
        PyErr_Format(PyExc_TypeError, "metadata '%s' must be int, float, str or a list of str",
                     entry->key);
        return -1;
    }
    if (results_parse_texts(value, "list elements of metadata", texts) < 0) {
        return -1;
    }
    entry->kind = SP_VALUE_TEXT_LIST;
    entry->list = texts->texts;
    entry->list_length = texts->count;
    return 0;
}

PyObject *run_set_metadata(PyObject *self, PyObject *const *args, Py_ssize_t nargs)
{
    run_object *run = (run_object *)self;
    if (nargs != 2 || !PyUnicode_Check(args[0])) {
        PyErr_SetString(PyExc_TypeError, "set_metadata() takes a key (str) and a value");
        return NULL;
    }
    sp_metadata_entry entry = {.key = PyUnicode_AsUTF8(args[0])};
    text_list texts = {NULL, NULL, 0};
    if (entry.key == NULL || parse_metadata_value(args[1], &entry, &texts) < 0) {
        return NULL;
    }
    sp_error error = {0};
    results_lock(run);
    const int status = sp_results_set_metadata(run->results, &entry, &error);
    results_unlock(run);
    results_release_texts(&texts);
    if (status != SP_OK) {
        return results_raise(results_state_of(self), status, &error);
    }
    Py_RETURN_NONE;
}

PyObject *run_add_thread(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"rank",     "index",  "ident",  "native_id", "daemon",
                               "start_ns", "end_ns", "cpu_ns", "name",      NULL};
    run_object *run = (run_object *)self;
    unsigned int rank;
    long long index, ident, native_id, start_ns, end_ns, cpu_ns;
    int is_daemon;
    const char *name;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "ILLLpLLLs:add_thread", keywords, &rank, &index,
                                     &ident, &native_id, &is_daemon, &start_ns, &end_ns, &cpu_ns,
                                     &name)) {
        return NULL;
    }
    const sp_thread_row thread = {rank,     index,  ident,  native_id, is_daemon,
                                  start_ns, end_ns, cpu_ns, name};
    sp_error error = {0};
    results_lock(run);
    const int status = sp_results_add_thread(run->results, &thread, &error);
    results_unlock(run);
    if (status != SP_OK) {
        return results_raise(results_state_of(self), status, &error);
    }
    Py_RETURN_NONE;
}

PyObject *run_add_task(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"rank",    "index", "thread_index", "created_ns",
                               "done_ns", "steps", "running_ns",   "suspended_ns",
                               "kind",    "name",  "coro_name",    NULL};
    run_object *run = (run_object *)self;
    unsigned int rank;
    long long index, thread_index, created_ns, done_ns, steps, running_ns, suspended_ns;
    const char *kind, *name, *coroutine;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "ILLLLLLLsss:add_task", keywords, &rank, &index,
                                     &thread_index, &created_ns, &done_ns, &steps, &running_ns,
                                     &suspended_ns, &kind, &name, &coroutine)) {
        return NULL;
    }
    const sp_task_row task = {rank,       index,        thread_index, created_ns, done_ns,  steps,
                              running_ns, suspended_ns, kind,         name,       coroutine};
    sp_error error = {0};
    results_lock(run);
    const int status = sp_results_add_task(run->results, &task, &error);
    results_unlock(run);
    if (status != SP_OK) {
        return results_raise(results_state_of(self), status, &error);
    }
    Py_RETURN_NONE;
}

PyObject *run_set_num_ranks(PyObject *self, PyObject *arg)
{
    run_object *run = (run_object *)self;
    const unsigned long num_ranks = PyLong_AsUnsignedLong(arg);
    if (PyErr_Occurred()) {
        return NULL;
    }
    results_lock(run);
    sp_results_set_num_ranks(run->results, (uint32_t)num_ranks);
    results_unlock(run);
    Py_RETURN_NONE;
}

/* ---- writing --------------------------------------------------------------------------------*/

PyObject *run_write(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"path", "compression", "compression_level", "chunk_size", NULL};
    run_object *run = (run_object *)self;
    PyObject *path = NULL;
    const char *compression = NULL;
    int level = -1;
    unsigned long long chunk_size = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&|ziK:write", keywords, PyUnicode_FSConverter,
                                     &path, &compression, &level, &chunk_size)) {
        return NULL;
    }
    const sp_store_options options = {
        .size = sizeof options,
        .compression = compression,
        .compression_level = level,
        .chunk_size = chunk_size,
        .is_aggregate = sp_results_is_aggregate(run->results),
    };
    sp_error error = {0};
    int status;
    run->keeps_gil = run->keeps_gil || results_store_needs_gil();
    PyThreadState *thread = results_enter(run);
    status = sp_results_write(run->results, PyBytes_AS_STRING(path), &options, &error);
    results_leave(run, thread);
    Py_DECREF(path);
    if (status != SP_OK) {
        return results_raise(results_state_of(self), status, &error);
    }
    Py_RETURN_NONE;
}
