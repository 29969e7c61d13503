#include "communicator.h"
#include "image_capsule.h"
#include "profiler.h"
#include "thread_names.h"

/* ---- arguments ------------------------------------------------------------------------------ */

static int fill_list(sp_metadata_entry *entry, PyObject *list)
{
    Py_ssize_t count = PyList_GET_SIZE(list);
    const char **texts = PyMem_Calloc((size_t)count + 1, sizeof *texts);
    if (texts == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    entry->kind = SP_VALUE_TEXT_LIST;
    entry->list = texts;
    entry->list_length = (size_t)count;
    for (Py_ssize_t i = 0; i < count; i++) {
        texts[i] = PyUnicode_AsUTF8(PyList_GET_ITEM(list, i));
        if (texts[i] == NULL) {
            return -1;
        }
    }
    return 0;
}

static int fill_entry(sp_metadata_entry *entry, PyObject *key, PyObject *value)
{
    entry->key = PyUnicode_AsUTF8(key);
    if (entry->key == NULL) {
        return -1;
    }
    if (PyLong_Check(value)) {
        entry->kind = SP_VALUE_INTEGER;
        entry->integer = PyLong_AsLongLong(value);
    } else if (PyFloat_Check(value)) {
        entry->kind = SP_VALUE_REAL;
        entry->real = PyFloat_AS_DOUBLE(value);
    } else if (PyUnicode_Check(value)) {
        entry->kind = SP_VALUE_TEXT;
        entry->text = PyUnicode_AsUTF8(value);
    } else if (PyList_Check(value)) {
        return fill_list(entry, value);
    } else {
        PyErr_Format(PyExc_TypeError, "metadata %R must be int, float, str or list of str, got %R",
                     key, value);
    }
    return PyErr_Occurred() ? -1 : 0;
}

static void free_metadata(sp_metadata_entry *entries, size_t count)
{
    for (size_t i = 0; entries != NULL && i < count; i++) {
        PyMem_Free((void *)(uintptr_t)entries[i].list);
    }
    PyMem_Free(entries);
}

/* The texts belong to the objects in `metadata`, which the caller holds. */
static int fill_metadata(PyObject *metadata, sp_binding_publication *what)
{
    Py_ssize_t position = 0;
    PyObject *key = NULL;
    PyObject *value = NULL;
    sp_metadata_entry *entries =
        PyMem_Calloc((size_t)PyDict_GET_SIZE(metadata) + 1, sizeof *entries);
    if (entries == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    what->metadata = entries;
    while (PyDict_Next(metadata, &position, &key, &value)) {
        what->num_metadata++;
        if (fill_entry(&entries[what->num_metadata - 1], key, value) < 0) {
            return -1;
        }
    }
    return 0;
}

PyObject *profiler_set_metadata(PyObject *self, PyObject *metadata)
{
    sp_binding_publication what = {.size = sizeof what};
    if (!PyDict_Check(metadata)) {
        return PyErr_Format(PyExc_TypeError, "set_metadata() needs a dict, got %R", metadata);
    }
    int failed = fill_metadata(metadata, &what);
    if (failed == 0) {
        sp_profiler *recorder = ((profiler_object *)self)->recorder;
        Py_BEGIN_ALLOW_THREADS
        sp_binding_set_metadata(recorder, what.metadata, what.num_metadata);
        Py_END_ALLOW_THREADS
    }
    free_metadata((sp_metadata_entry *)(uintptr_t)what.metadata, what.num_metadata);
    return failed == 0 ? Py_NewRef(Py_None) : NULL;
}

static int fill_scopes(PyObject *scopes, sp_binding_publication *what)
{
    Py_ssize_t count = PyList_GET_SIZE(scopes);
    sp_binding_metadata_scope *entries = PyMem_Calloc((size_t)count + 1, sizeof *entries);
    if (entries == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    what->scopes = entries;
    what->num_scopes = (size_t)count;
    for (Py_ssize_t i = 0; i < count; i++) {
        long long start = 0;
        long long end = 0;
        long long thread = -1;
        if (!PyArg_ParseTuple(PyList_GET_ITEM(scopes, i), "LLLs", &start, &end, &thread,
                              &entries[i].json)) {
            return -1;
        }
        entries[i].start_ns = start;
        entries[i].end_ns = end;
        entries[i].thread = thread;
    }
    return 0;
}

/* [(name, JSON text)] as arrays of one text each; the texts belong to the tuples. */
static int fill_extras(PyObject *list, uint32_t rank, sp_binding_publication *what,
                       const char *const **out_texts)
{
    Py_ssize_t count = PyList_GET_SIZE(list);
    sp_extra *extras = PyMem_Calloc((size_t)count + 1, sizeof *extras);
    const char **texts = PyMem_Calloc((size_t)count + 1, sizeof *texts);
    what->extras = extras;
    *out_texts = texts;
    if (extras == NULL || texts == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        extras[i] = (sp_extra){.rank = rank, .length = 1, .texts = &texts[i]};
        if (!PyArg_ParseTuple(PyList_GET_ITEM(list, i), "ss", &extras[i].name, &texts[i])) {
            return -1;
        }
        what->num_extras++;
    }
    return 0;
}

/* ---- the result ----------------------------------------------------------------------------- */

static void free_image_capsule(PyObject *capsule)
{
    py_image *image = PyCapsule_GetPointer(capsule, PY_IMAGE_CAPSULE);
    if (image != NULL) {
        free(image->data);
        free(image);
    }
}

/* Takes over the image; None when there is none. */
static PyObject *image_capsule(sp_binding_report *report)
{
    if (report->image == NULL) {
        return Py_NewRef(Py_None);
    }
    py_image *image = malloc(sizeof *image);
    if (image == NULL) {
        free(report->image);
        return PyErr_NoMemory();
    }
    *image = (py_image){.data = report->image, .size = report->image_size};
    PyObject *capsule = PyCapsule_New(image, PY_IMAGE_CAPSULE, free_image_capsule);
    if (capsule == NULL) {
        free(image->data);
        free(image);
    }
    return capsule;
}

static PyObject *report_as_dict(sp_binding_report *report)
{
    PyObject *capsule = image_capsule(report);
    if (capsule == NULL) {
        return NULL;
    }
    return Py_BuildValue("{sKsKsKsKsKsKsKsOsOsOsIsN}", "calls_written",
                         (unsigned long long)report->calls_written, "calls_open",
                         (unsigned long long)report->calls_open, "calls_crossing",
                         (unsigned long long)report->calls_crossing, "calls_lost",
                         (unsigned long long)report->calls_lost, "calls_unkept",
                         (unsigned long long)report->calls_unkept, "calls_partial",
                         (unsigned long long)report->calls_partial, "unmatched_ends",
                         (unsigned long long)report->unmatched_ends, "several_threads",
                         report->several_threads ? Py_True : Py_False, "has_native",
                         report->has_native ? Py_True : Py_False, "is_root",
                         report->is_root ? Py_True : Py_False, "missing_ranks",
                         (unsigned)report->num_missing, "image", capsule);
}

/* Without the GIL: what takes its time. */
static int publish(profiler_object *profiler, const sp_binding_publication *what,
                   sp_binding_report *report, sp_error *error)
{
    size_t num_running = 0;
    int64_t *running = running_threads(&num_running);
    int status = SP_OK;
    Py_BEGIN_ALLOW_THREADS
    if (running != NULL) {
        sp_binding_await_threads(profiler->recorder, running, num_running);
        free(running);
    }
    status = sp_binding_publish(profiler->recorder, what, report, error);
    Py_END_ALLOW_THREADS
    return status;
}

PyObject *profiler_publish(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"metadata",   "scopes",          "want_image",
                            "keep_calls", "with_open_calls", "comm", "timeout",
                            "extras",     "rank",            "image_only", NULL};
    profiler_object *profiler = (profiler_object *)self;
    PyObject *metadata = NULL;
    PyObject *scopes = NULL;
    PyObject *comm = Py_None;
    PyObject *extras = NULL;
    unsigned int rank = 0;
    double timeout = 0;
    int want_image = 0;
    int keep_calls = 0;
    int with_open_calls = 0;
    int image_only = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!O!|$pppOdO!Ip:publish", names, &PyDict_Type,
                                     &metadata, &PyList_Type, &scopes, &want_image, &keep_calls,
                                     &with_open_calls, &comm, &timeout, &PyList_Type,
                                     &extras, &rank, &image_only)) {
        return NULL;
    }
    sp_binding_publication what = {.size = sizeof what};
    py_communicator communicator = {.error = NULL};
    what.want_image = want_image;
    what.image_only = image_only;
    what.keep_calls = keep_calls;
    what.with_open_calls = with_open_calls;
    what.timeout_ns = (int64_t)(timeout * 1e9);
    if (comm != Py_None) {
        if (communicator_fill(&communicator, comm) < 0) {
            return NULL;
        }
        what.communicator = &communicator.table;
    }
    PyObject *result = NULL;
    const char *const *texts = NULL;
    if (fill_metadata(metadata, &what) == 0 && fill_scopes(scopes, &what) == 0 &&
        (extras == NULL || fill_extras(extras, rank, &what, &texts) == 0)) {
        sp_binding_report report = {0};
        sp_error error;
        error.text[0] = '\0';
        int status = publish(profiler, &what, &report, &error);
        bool is_raised = communicator_raise(&communicator) && status != SP_OK;
        if (status == SP_OK) {
            PyErr_Clear();
            result = report_as_dict(&report);
        } else if (!is_raised) {
            recorder_raise(status, &error);
        }
    }
    free_metadata((sp_metadata_entry *)(uintptr_t)what.metadata, what.num_metadata);
    PyMem_Free((void *)(uintptr_t)what.scopes);
    PyMem_Free((void *)(uintptr_t)what.extras);
    PyMem_Free((void *)(uintptr_t)texts);
    return result;
}
