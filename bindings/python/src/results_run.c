#include "results_module.h"

#include <string.h>

results_state *results_state_of(PyObject *self)
{
    return PyType_GetModuleState(Py_TYPE(self));
}

void results_lock(run_object *run)
{
    if (!PyThread_acquire_lock(run->lock, NOWAIT_LOCK)) {
        Py_BEGIN_ALLOW_THREADS
        PyThread_acquire_lock(run->lock, WAIT_LOCK);
        Py_END_ALLOW_THREADS
    }
}

void results_unlock(run_object *run)
{
    PyThread_release_lock(run->lock);
}

PyThreadState *results_enter(run_object *run)
{
    results_lock(run);
    return run->keeps_gil ? NULL : PyEval_SaveThread();
}

void results_leave(run_object *run, PyThreadState *thread)
{
    if (thread != NULL) {
        PyEval_RestoreThread(thread);
    }
    results_unlock(run);
}

bool results_store_needs_gil(void)
{
    sp_store_info info;
    return sp_results_hdf5_info(&info, NULL) == SP_OK && !info.is_thread_safe;
}

Py_ssize_t results_index(PyObject *value, size_t limit, const char *what)
{
    const Py_ssize_t index = PyNumber_AsSsize_t(value, PyExc_IndexError);
    if (index == -1 && PyErr_Occurred()) {
        return -1;
    }
    if (index < 0 || (size_t)index >= limit) {
        PyErr_Format(PyExc_IndexError, "%s %zd is out of range, the run has %zu", what, index,
                     limit);
        return -1;
    }
    return index;
}

int results_parse_ranks(PyObject *value, rank_list *out)
{
    *out = (rank_list){NULL, 0};
    if (value == NULL || value == Py_None) {
        return 0;
    }
    PyObject *items = PySequence_Fast(value, "ranks must be a sequence of integers");
    if (items == NULL) {
        return -1;
    }
    const Py_ssize_t count = PySequence_Fast_GET_SIZE(items);
    out->ranks = PyMem_New(uint32_t, count > 0 ? count : 1); /* not NULL: that means all */
    out->count = (size_t)count;
    if (out->ranks == NULL) {
        PyErr_NoMemory();
    }
    for (Py_ssize_t i = 0; i < count && !PyErr_Occurred(); i++) {
        const long long rank = PyLong_AsLongLong(PySequence_Fast_GET_ITEM(items, i));
        if (!PyErr_Occurred() && (rank < 0 || rank > (long long)UINT32_MAX)) {
            PyErr_Format(PyExc_ValueError, "rank %lld is not a rank", rank);
        }
        out->ranks[i] = (uint32_t)rank;
    }
    Py_DECREF(items);
    if (PyErr_Occurred()) {
        PyMem_Free(out->ranks);
        *out = (rank_list){NULL, 0};
        return -1;
    }
    return 0;
}

int results_parse_texts(PyObject *value, const char *what, text_list *out)
{
    *out = (text_list){NULL, NULL, 0};
    if (value == NULL || value == Py_None) {
        return 0;
    }
    PyObject *items = PySequence_Tuple(value);
    if (items == NULL) {
        return -1;
    }
    const Py_ssize_t count = PyTuple_GET_SIZE(items);
    *out = (text_list){items, PyMem_New(const char *, count > 0 ? count : 1), (size_t)count};
    if (out->texts == NULL) {
        PyErr_NoMemory();
    }
    for (Py_ssize_t i = 0; i < count && !PyErr_Occurred(); i++) {
        PyObject *item = PyTuple_GET_ITEM(items, i);
        if (!PyUnicode_Check(item)) {
            PyErr_Format(PyExc_TypeError, "%s must be strings, not %s", what,
                         Py_TYPE(item)->tp_name);
        } else {
            out->texts[i] = PyUnicode_AsUTF8(item);
        }
    }
    if (PyErr_Occurred()) {
        results_release_texts(out);
        return -1;
    }
    return 0;
}

void results_release_texts(text_list *texts)
{
    PyMem_Free(texts->texts);
    Py_CLEAR(texts->owner);
    texts->texts = NULL;
}

/* ---- life -----------------------------------------------------------------------------------*/

PyObject *results_run_wrap(PyTypeObject *type, sp_results *results)
{
    run_object *self = (run_object *)type->tp_alloc(type, 0);
    if (self != NULL) {
        self->results = results;
        self->lock = PyThread_allocate_lock();
        if (self->lock != NULL) {
            return (PyObject *)self;
        }
        self->results = NULL;
        Py_DECREF(self);
        PyErr_NoMemory();
    }
    sp_results_close(results);
    return NULL;
}

PyObject *results_wrap_part(run_object *whole, sp_results *part)
{
    PyTypeObject *type = Py_TYPE(whole);
    run_object *self = (run_object *)type->tp_alloc(type, 0);
    if (self == NULL) {
        sp_results_close(part);
        return NULL;
    }
    self->results = part;
    self->lock = whole->lock;
    self->keeps_gil = whole->keeps_gil;
    self->whole = Py_NewRef((PyObject *)whole);
    return (PyObject *)self;
}

static PyObject *run_open(PyTypeObject *type, PyObject *path)
{
    PyObject *bytes = NULL;
    if (!PyUnicode_FSConverter(path, &bytes)) {
        return NULL;
    }
    sp_results *results = NULL;
    sp_error error = {0};
    const bool keeps_gil = results_store_needs_gil();
    PyThreadState *thread = keeps_gil ? NULL : PyEval_SaveThread();
    const int status = sp_results_open(PyBytes_AS_STRING(bytes), &results, &error);
    if (thread != NULL) {
        PyEval_RestoreThread(thread);
    }
    Py_DECREF(bytes);
    if (status != SP_OK) {
        return results_raise(PyType_GetModuleState(type), status, &error);
    }
    PyObject *run = results_run_wrap(type, results);
    if (run != NULL) {
        ((run_object *)run)->keeps_gil = keeps_gil;
    }
    return run;
}

static PyObject *run_from_image(PyTypeObject *type, PyObject *capsule)
{
    py_image *image = PyCapsule_GetPointer(capsule, PY_IMAGE_CAPSULE);
    if (image == NULL) {
        return NULL;
    }
    if (image->data == NULL) {
        PyErr_SetString(PyExc_ValueError, "the image was already opened");
        return NULL;
    }
    void *data = image->data;
    image->data = NULL; /* the library owns it from here, also when it fails */
    sp_results *results = NULL;
    sp_error error = {0};
    const int status = sp_results_open_image(data, image->size, &results, &error);
    if (status != SP_OK) {
        return results_raise(PyType_GetModuleState(type), status, &error);
    }
    return results_run_wrap(type, results);
}

static PyObject *run_create(PyTypeObject *type, PyObject *ignored)
{
    (void)ignored;
    sp_results *results = NULL;
    sp_error error = {0};
    const int status = sp_results_create(&results, &error);
    if (status != SP_OK) {
        return results_raise(PyType_GetModuleState(type), status, &error);
    }
    return results_run_wrap(type, results);
}

static int run_traverse(run_object *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->whole);
    return 0;
}

static void run_dealloc(run_object *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    sp_results_close(self->results);
    if (self->lock != NULL && self->whole == NULL) {
        PyThread_free_lock(self->lock);
    }
    Py_XDECREF(self->whole);
    type->tp_free(self);
    Py_DECREF(type);
}

/* ---- what is in it --------------------------------------------------------------------------*/

static PyObject *get_num_ranks(run_object *self, void *closure)
{
    (void)closure;
    return PyLong_FromUnsignedLong(sp_results_num_ranks(self->results));
}

static PyObject *get_schema(run_object *self, void *closure)
{
    (void)closure;
    return PyLong_FromLong(sp_results_schema(self->results));
}

static PyObject *get_is_aggregate(run_object *self, void *closure)
{
    (void)closure;
    return PyBool_FromLong(sp_results_is_aggregate(self->results));
}

static PyObject *get_has_statistics_only(run_object *self, void *closure)
{
    (void)closure;
    for (size_t i = 0; i < sp_results_num_rows(self->results); i++) {
        const sp_row *row = sp_results_row(self->results, i);
        if (row->count > 0 && !row->has_aggregate && sp_results_row_columns(self->results, i) == 0) {
            Py_RETURN_TRUE;
        }
    }
    Py_RETURN_FALSE;
}

static PyObject *get_num_calls(run_object *self, void *closure)
{
    (void)closure;
    return PyLong_FromUnsignedLongLong(sp_results_num_calls(self->results));
}

static PyObject *get_num_rows(run_object *self, void *closure)
{
    (void)closure;
    return PyLong_FromSize_t(sp_results_num_rows(self->results));
}

static PyObject *get_file_bytes(run_object *self, void *closure)
{
    (void)closure;
    return PyLong_FromUnsignedLongLong(sp_results_file_bytes(self->results));
}

static PyObject *get_path(run_object *self, void *closure)
{
    (void)closure;
    return PyUnicode_DecodeFSDefault(sp_results_path(self->results));
}

static PyObject *decode(const char *text)
{
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "backslashreplace");
}

static PyObject *get_region_names(run_object *self, void *closure)
{
    (void)closure;
    const size_t count = sp_results_num_regions(self->results);
    PyObject *names = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; names != NULL && i < count; i++) {
        PyObject *name = decode(sp_results_region_name(self->results, i));
        if (name == NULL) {
            Py_CLEAR(names);
            break;
        }
        PyList_SET_ITEM(names, (Py_ssize_t)i, name);
    }
    return names;
}

static PyObject *metadata_value(const sp_metadata_entry *entry)
{
    switch (entry->kind) {
    case SP_VALUE_INTEGER:
        return PyLong_FromLongLong(entry->integer);
    case SP_VALUE_REAL:
        return PyFloat_FromDouble(entry->real);
    case SP_VALUE_TEXT:
        return decode(entry->text);
    case SP_VALUE_TEXT_LIST:
        break;
    }
    PyObject *list = PyList_New((Py_ssize_t)entry->list_length);
    for (size_t i = 0; list != NULL && i < entry->list_length; i++) {
        PyObject *text = decode(entry->list[i]);
        if (text == NULL) {
            Py_CLEAR(list);
            break;
        }
        PyList_SET_ITEM(list, (Py_ssize_t)i, text);
    }
    return list;
}

static PyObject *run_metadata(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    const sp_results *results = ((run_object *)self)->results;
    PyObject *metadata = PyDict_New();
    const size_t count = sp_results_num_metadata(results);
    for (size_t i = 0; metadata != NULL && i < count; i++) {
        const sp_metadata_entry *entry = sp_results_metadata(results, i);
        PyObject *key = decode(entry->key);
        PyObject *value = key != NULL ? metadata_value(entry) : NULL;
        if (value == NULL || PyDict_SetItem(metadata, key, value) < 0) {
            Py_CLEAR(metadata);
        }
        Py_XDECREF(key);
        Py_XDECREF(value);
    }
    return metadata;
}

static PyObject *run_row(PyObject *self, PyObject *arg)
{
    const sp_results *results = ((run_object *)self)->results;
    const Py_ssize_t row = results_index(arg, sp_results_num_rows(results), "row");
    if (row < 0) {
        return NULL;
    }
    return results_row_record(results_state_of(self), sp_results_row(results, (size_t)row),
                              sp_results_row_region(results, (size_t)row),
                              sp_results_row_columns(results, (size_t)row));
}

/* One (rank, row) pair per row, grouped by region and sorted by rank inside a region. */
static PyObject *run_rows_by_region(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    const sp_results *results = ((run_object *)self)->results;
    const size_t num_regions = sp_results_num_regions(results);
    PyObject *groups = PyList_New((Py_ssize_t)num_regions);
    for (size_t i = 0; groups != NULL && i < num_regions; i++) {
        PyObject *group = PyList_New(0);
        if (group == NULL) {
            Py_CLEAR(groups);
        } else {
            PyList_SET_ITEM(groups, (Py_ssize_t)i, group);
        }
    }
    const size_t num_rows = sp_results_num_rows(results);
    for (size_t row = 0; groups != NULL && row < num_rows; row++) {
        PyObject *pair = Py_BuildValue("(kn)", (unsigned long)sp_results_row(results, row)->rank,
                                       (Py_ssize_t)row);
        PyObject *group = PyList_GET_ITEM(groups, (Py_ssize_t)sp_results_row_region(results, row));
        if (pair == NULL || PyList_Append(group, pair) < 0) {
            Py_CLEAR(groups);
        }
        Py_XDECREF(pair);
    }
    for (size_t i = 0; groups != NULL && i < num_regions; i++) {
        if (PyList_Sort(PyList_GET_ITEM(groups, (Py_ssize_t)i)) < 0) {
            Py_CLEAR(groups);
        }
    }
    return groups;
}

static PyObject *run_threads(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    const sp_results *results = ((run_object *)self)->results;
    const size_t count = sp_results_num_threads(results);
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list != NULL && i < count; i++) {
        PyObject *record =
            results_thread_record(results_state_of(self), sp_results_thread(results, i));
        if (record == NULL) {
            Py_CLEAR(list);
            break;
        }
        PyList_SET_ITEM(list, (Py_ssize_t)i, record);
    }
    return list;
}

static PyObject *run_tasks(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    const sp_results *results = ((run_object *)self)->results;
    const size_t count = sp_results_num_tasks(results);
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list != NULL && i < count; i++) {
        PyObject *record = results_task_record(results_state_of(self), sp_results_task(results, i));
        if (record == NULL) {
            Py_CLEAR(list);
            break;
        }
        PyList_SET_ITEM(list, (Py_ssize_t)i, record);
    }
    return list;
}

/* ---- type -----------------------------------------------------------------------------------*/

#define FASTCALL(function) (PyCFunction)(void (*)(void))(function), METH_FASTCALL
#define KEYWORDS(function) (PyCFunction)(void (*)(void))(function), METH_VARARGS | METH_KEYWORDS

static PyMethodDef run_methods[] = {
    {"open", (PyCFunction)run_open, METH_O | METH_CLASS,
     "open($type, path, /)\n--\n\nOpens a profile; its kind is seen from its content."},
    {"from_image", (PyCFunction)run_from_image, METH_O | METH_CLASS,
     "from_image($type, capsule, /)\n--\n\nTakes over an in-memory image of the recorder."},
    {"create", (PyCFunction)run_create, METH_NOARGS | METH_CLASS,
     "create($type, /)\n--\n\nAn empty run to fill with add_row."},
    {"import_native", (PyCFunction)run_import_native, METH_VARARGS | METH_CLASS,
     "import_native($type, paths, label=None, /)\n--\n\n"
     "Reads the files that the ranks of a native program left as one run."},
    {"merge_native", run_merge_native, METH_O,
     "merge_native($self, run, /)\n--\n\nA new run with the rows of both and this one's metadata."},
    {"metadata", run_metadata, METH_NOARGS,
     "metadata($self, /)\n--\n\nMetadata as a new dictionary."},
    {"row", run_row, METH_O, "row($self, row, /)\n--\n\nDescription of one (rank, region) row."},
    {"rows_by_region", run_rows_by_region, METH_NOARGS,
     "rows_by_region($self, /)\n--\n\nFor each region the list of its (rank, row) pairs."},
    {"threads", run_threads, METH_NOARGS, "threads($self, /)\n--\n\nThread table."},
    {"tasks", run_tasks, METH_NOARGS, "tasks($self, /)\n--\n\nTask table."},
    {"column", FASTCALL(run_column),
     "column($self, row, column, /)\n--\n\nOne column of one row, None when not recorded."},
    {"exclusive", run_exclusive, METH_O,
     "exclusive($self, row, /)\n--\n\nExclusive ns of every call of a row."},
    {"call_tree", KEYWORDS(run_call_tree),
     "call_tree($self, rank, from_intervals=False)\n--\n\nAll calls of a rank in call order."},
    {"row_statistics", run_row_statistics, METH_O,
     "row_statistics($self, row, /)\n--\n\nStatistics of one row."},
    {"region_statistics", FASTCALL(run_region_statistics),
     "region_statistics($self, region, ranks=None, /)\n--\n\nStatistics pooled over ranks."},
    {"percentiles", KEYWORDS(run_percentiles),
     "percentiles($self, region, percents, ranks=None)\n--\n\n"
     "Percentiles of the durations in ns, None for a run without calls."},
    {"imbalance", FASTCALL(run_imbalance),
     "imbalance($self, region, ranks=None, /)\n--\n\nSlowest over mean of the rank totals."},
    {"times", run_times, METH_NOARGS, "times($self, /)\n--\n\nTimes of the run in ns."},
    {"mpi", run_mpi, METH_NOARGS,
     "mpi($self, /)\n--\n\n"
     "Calls of MPI: (rank, calls, ns, imbalance, transfer) of ranks, (from, to, messages, bytes) of links, "
     "(name, kind, calls, bytes, ns, imbalance, transfer) of operations."},
    {"add_row", KEYWORDS(run_add_row),
     "add_row($self, region, rank, starts=None, ends=None, columns=None, source_file=None, "
     "source_line=None, source_text=None, tags_json=None, event_metadata_json=None, "
     "exclusive_total=-1, aggregate=None, statistics=None)\n--\n\n"
     "Appends a row from int64 buffers; columns maps column numbers to buffers."},
    {"add_row_of", KEYWORDS(run_add_row_of),
     "add_row_of($self, run, row, region=None, rank=None, exclusive_total=None)\n--\n\n"
     "Appends a row of another run, on request renamed or moved to a rank."},
    {"add_statistics_of", KEYWORDS(run_add_statistics_of),
     "add_statistics_of($self, run, regions=None, ranks=None)\n--\n\n"
     "Takes over metadata, lanes and stored statistics, but no call; False when a row has no "
     "statistics."},
    {"set_metadata", FASTCALL(run_set_metadata),
     "set_metadata($self, key, value, /)\n--\n\nvalue: int, float, str or list of str."},
    {"add_thread", KEYWORDS(run_add_thread),
     "add_thread($self, rank, index, ident, native_id, daemon, start_ns, end_ns, cpu_ns, name)"
     "\n--\n\nAppends a row to the thread table."},
    {"add_task", KEYWORDS(run_add_task),
     "add_task($self, rank, index, thread_index, created_ns, done_ns, steps, running_ns, "
     "suspended_ns, kind, name, coro_name)\n--\n\nAppends a row to the task table."},
    {"narrow", KEYWORDS(run_narrow),
     "narrow($self, skip_calls=0, skips=None, after_region=None, start_ns=0, end_ns=0)\n--\n\n"
     "A part of the run as a run of its own; it reads through this one."},
    {"set_num_ranks", run_set_num_ranks, METH_O,
     "set_num_ranks($self, num_ranks, /)\n--\n\nNumber of ranks, also of those without rows."},
    {"write", KEYWORDS(run_write),
     "write($self, path, compression=None, compression_level=-1, chunk_size=0)\n--\n\n"
     "Writes the run as an HDF5 profile; the file appears whole or not at all."},
    {"summary_rows", KEYWORDS(run_summary_rows),
     "summary_rows($self, names=None, ranks=None, sort='start', exclusive_percent=False, "
     "columns=None, suppress_notes=False, color=False, title=None, file_path=None, reduction='pooled')\n--\n\n"
     "Rows of the summary table as dictionaries."},
    {"summary_text", KEYWORDS(run_summary_text),
     "summary_text($self, names=None, ranks=None, sort='start', exclusive_percent=False, "
     "columns=None, suppress_notes=False, color=False, title=None, file_path=None, reduction='pooled')\n--\n\n"
     "The summary table with the box below it."},
    {"line_profile_text", run_line_profile_text, METH_NOARGS,
     "line_profile_text($self, /)\n--\n\nLine timings, a table a function."},
    {"inspect", KEYWORDS(run_inspect),
     "inspect($self, metadata, regions, full, sources, /, *, names=None, ranks=None, sort='start', "
     "exclusive_percent=False, columns=None, suppress_notes=False, color=False, title=None, "
     "file_path=None)\n--\n\n"
     "Title, sizes, metadata by section, summary table and sources of regions as one text."},
    {"export", KEYWORDS(run_export),
     "export($self, kind, path, names=None, ranks=None, rank=0, label=None, indent=0, "
     "metadata_json=None, more_json=None, width=0.0, threshold=0.0, call_paths=True, "
     "scalable=True, statistics_only=False)\n--\n\n"
     "Writes the run as a file of another tool."},
    {"extra_text", run_extra_text, METH_O,
     "extra_text($self, name, /)\n--\n\nThe text of an extra array that holds one; else None."},
    {"add_extra_text", run_add_extra_text, METH_VARARGS,
     "add_extra_text($self, name, rank, text, /)\n--\n\nAdds an extra array that holds one text."},
    {"extra_arrays", run_extra_arrays, METH_O,
     "extra_arrays($self, name, /)\n--\n\nThe extra arrays of that name, (rank, list of values) each."},
    {"extra_texts", run_extra_texts, METH_O,
     "extra_texts($self, name, /)\n--\n\nThe texts of all extra arrays of that name."},
    {"arrow_stream", run_arrow_stream, METH_O,
     "arrow_stream($self, rows, /)\n--\n\nCalls of these rows as a capsule of an Arrow stream."},
    {"prof_bytes", KEYWORDS(run_prof_bytes),
     "prof_bytes($self, rank, names=None, label=None, call_paths=True)\n--\n\n"
     "One rank as the marshalled statistics of cProfile."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef run_getset[] = {
    {"num_ranks", (getter)get_num_ranks, NULL, "Number of ranks of the run.", NULL},
    {"schema", (getter)get_schema, NULL, "Schema of the file, 0 without a file.", NULL},
    {"is_aggregate", (getter)get_is_aggregate, NULL, "Whether the run kept totals only.", NULL},
    {"has_statistics_only", (getter)get_has_statistics_only, NULL,
     "Whether some row has statistics of calls that are not there.", NULL},
    {"num_calls", (getter)get_num_calls, NULL, "Number of calls over all rows.", NULL},
    {"num_rows", (getter)get_num_rows, NULL, "Number of (rank, region) rows.", NULL},
    {"file_bytes", (getter)get_file_bytes, NULL, "Size of the file, 0 without a file.", NULL},
    {"path", (getter)get_path, NULL, "Path of the file, '' without a file.", NULL},
    {"left_out", run_left_out, NULL, "What a part of a run lacks, '' of a whole one.", NULL},
    {"region_names", (getter)get_region_names, NULL, "Names in table order.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot run_slots[] = {
    {Py_tp_doc, "A finished run: one handle of the results library."},
    {Py_tp_traverse, run_traverse},
    {Py_tp_dealloc, run_dealloc},
    {Py_tp_methods, run_methods},
    {Py_tp_getset, run_getset},
    {0, NULL},
};

static PyType_Spec run_spec = {
    .name = "scope_profiler._results.Run",
    .basicsize = sizeof(run_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE |
             Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = run_slots,
};

int results_run_init(PyObject *module, results_state *state)
{
    state->run_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &run_spec, NULL);
    return state->run_type == NULL ? -1 : PyModule_AddType(module, state->run_type);
}
