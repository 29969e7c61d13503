#include "region_arrays.h"

#include "profiler.h"

typedef struct call_columns {
    int64_t *starts;
    int64_t *ends;
    size_t count;
} call_columns;

static void free_calls(call_columns *calls)
{
    free(calls->starts);
    free(calls->ends);
}

static bool has_calls(const region_object *region)
{
    return region->id >= 0 && !region->has_ended;
}

/* The calls that are not written yet, open ones with end 0; none for a region that is off or over. */
static int load_calls(const region_object *region, call_columns *out)
{
    *out = (call_columns){NULL, NULL, 0};
    if (!has_calls(region)) {
        return 0;
    }
    sp_error error;
    error.text[0] = '\0';
    int status = sp_binding_region_calls(region->profiler->recorder, region->id, &out->starts,
                                         &out->ends, &out->count, &error);
    if (status == SP_ERR_NO_EVENTS) {
        *out = (call_columns){NULL, NULL, 0};
        return 0;
    }
    if (status != SP_OK) {
        recorder_raise(status, &error);
        return -1;
    }
    return 0;
}

/* numpy array of `length` int64; `content` is filled by the caller before anyone else sees it. */
static PyObject *new_array(size_t length, int64_t **content, PyObject **out_bytes)
{
    *out_bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(length * sizeof(int64_t)));
    if (*out_bytes == NULL) {
        return NULL;
    }
    *content = (int64_t *)(void *)PyBytes_AS_STRING(*out_bytes);
    PyObject *numpy = PyImport_ImportModule("numpy");
    if (numpy == NULL) {
        Py_CLEAR(*out_bytes);
    }
    return numpy;
}

static PyObject *finish_array(PyObject *numpy, PyObject *bytes)
{
    PyObject *array = PyObject_CallMethod(numpy, "frombuffer", "Os", bytes, "int64");
    Py_DECREF(bytes);
    Py_DECREF(numpy);
    return array;
}

static PyObject *no_calls_array(void)
{
    int64_t *content = NULL;
    PyObject *bytes = NULL;
    PyObject *numpy = new_array(0, &content, &bytes);
    return numpy != NULL ? finish_array(numpy, bytes) : NULL;
}

/* buffer_limit doubled until `count` fits, as the published buffers grow. */
static size_t capacity_for(const region_object *region, size_t count)
{
    size_t capacity = 1;
    PyObject *limit = PyObject_GetAttrString(region->config, "buffer_limit");
    if (limit != NULL) {
        long value = PyLong_AsLong(limit);
        capacity = value > 0 ? (size_t)value : 1;
        Py_DECREF(limit);
    }
    PyErr_Clear();
    while (capacity < count) {
        capacity *= 2;
    }
    return capacity;
}

PyObject *region_get_ptr(PyObject *self, void *closure)
{
    (void)closure;
    call_columns calls;
    if (load_calls((region_object *)self, &calls) < 0) {
        return NULL;
    }
    free_calls(&calls);
    return PyLong_FromSize_t(calls.count);
}

PyObject *region_get_capacity(PyObject *self, void *closure)
{
    (void)closure;
    call_columns calls;
    if (load_calls((region_object *)self, &calls) < 0) {
        return NULL;
    }
    free_calls(&calls);
    return PyLong_FromSize_t(capacity_for((region_object *)self, calls.count));
}

/* One of the two time columns, filled up with zeros to the capacity. */
static PyObject *padded_times(region_object *region, bool want_ends)
{
    call_columns calls;
    if (load_calls(region, &calls) < 0) {
        return NULL;
    }
    size_t capacity = has_calls(region) ? capacity_for(region, calls.count) : 0;
    int64_t *content = NULL;
    PyObject *bytes = NULL;
    PyObject *numpy = new_array(capacity, &content, &bytes);
    if (numpy != NULL) {
        memset(content, 0, capacity * sizeof *content);
        if (calls.count > 0) {
            memcpy(content, want_ends ? calls.ends : calls.starts,
                   calls.count * sizeof *content);
        }
    }
    free_calls(&calls);
    return numpy != NULL ? finish_array(numpy, bytes) : NULL;
}

PyObject *region_get_start_times(PyObject *self, void *closure)
{
    (void)closure;
    return padded_times((region_object *)self, false);
}

PyObject *region_get_end_times(PyObject *self, void *closure)
{
    (void)closure;
    return padded_times((region_object *)self, true);
}

typedef enum derived_column {
    DURATIONS,
    RELATIVE_STARTS,
    RELATIVE_ENDS
} derived_column;

/* Leaves out the calls that are open. */
static void keep_closed(call_columns *calls)
{
    size_t kept = 0;
    for (size_t i = 0; i < calls->count; i++) {
        if (calls->ends[i] != 0) {
            calls->starts[kept] = calls->starts[i];
            calls->ends[kept++] = calls->ends[i];
        }
    }
    calls->count = kept;
}

/* Of the calls that ended. */
static PyObject *derived(region_object *region, derived_column which)
{
    call_columns calls;
    if (load_calls(region, &calls) < 0) {
        return NULL;
    }
    keep_closed(&calls);
    if (calls.count == 0) {
        free_calls(&calls);
        return no_calls_array();
    }
    int64_t origin = sp_binding_start_time_ns(region->profiler->recorder);
    int64_t *content = NULL;
    PyObject *bytes = NULL;
    PyObject *numpy = new_array(calls.count, &content, &bytes);
    for (size_t i = 0; numpy != NULL && i < calls.count; i++) {
        content[i] = which == DURATIONS         ? calls.ends[i] - calls.starts[i]
                     : which == RELATIVE_STARTS ? calls.starts[i] - origin
                                                : calls.ends[i] - origin;
    }
    free_calls(&calls);
    return numpy != NULL ? finish_array(numpy, bytes) : NULL;
}

PyObject *region_durations(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    return derived((region_object *)self, DURATIONS);
}

PyObject *region_relative_starts(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    return derived((region_object *)self, RELATIVE_STARTS);
}

PyObject *region_relative_ends(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    return derived((region_object *)self, RELATIVE_ENDS);
}

static int load_totals(const region_object *region, sp_row_aggregate *out)
{
    *out = (sp_row_aggregate){0, 0, 0, 0, 0};
    if (!has_calls(region)) {
        return 0;
    }
    int status = sp_binding_region_totals(region->profiler->recorder, region->id, out);
    if (status != SP_OK && status != SP_ERR_NOT_FOUND) {
        recorder_raise(status, NULL);
        return -1;
    }
    return 0;
}

/* Positions of the calls that are open, or of those that are not. */
static PyObject *slots(const region_object *region, bool want_open)
{
    call_columns calls;
    if (load_calls(region, &calls) < 0) {
        return NULL;
    }
    size_t count = 0;
    for (size_t i = 0; i < calls.count; i++) {
        count += (calls.ends[i] == 0) == want_open;
    }
    int64_t *content = NULL;
    PyObject *bytes = NULL;
    PyObject *numpy = new_array(count, &content, &bytes);
    size_t k = 0;
    for (size_t i = 0; numpy != NULL && i < calls.count; i++) {
        if ((calls.ends[i] == 0) == want_open) {
            content[k++] = (int64_t)i;
        }
    }
    free_calls(&calls);
    return numpy != NULL ? finish_array(numpy, bytes) : NULL;
}

PyObject *region_closed_slots(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    return slots((const region_object *)self, false);
}

PyObject *region_open_slots(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    return slots((const region_object *)self, true);
}

PyObject *region_aggregate(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    sp_row_aggregate totals;
    if (load_totals((region_object *)self, &totals) < 0) {
        return NULL;
    }
    return Py_BuildValue("{sKsLsLsLsL}", "count", (unsigned long long)totals.count, "total",
                         (long long)totals.total, "minimum", (long long)totals.minimum, "maximum",
                         (long long)totals.maximum, "exclusive", (long long)totals.exclusive);
}
