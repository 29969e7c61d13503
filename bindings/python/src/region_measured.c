#include "region_measured.h"

#include "region.h"

/* The Python half reads them from an image of what is not written yet. */
static PyObject *ask(PyObject *self, const char *function)
{
    region_object *region = (region_object *)self;
    /* Of a configuration that is over nothing is left. */
    PyObject *profiler = region->has_ended ? Py_None : (PyObject *)region->profiler;
    PyObject *module = PyImport_ImportModule("scope_profiler._region_values");
    PyObject *result =
        module != NULL ? PyObject_CallMethod(module, function, "OO", profiler, region->name) : NULL;
    Py_XDECREF(module);
    return result;
}

static PyObject *device_durations(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    return ask(self, "device_durations");
}

/* Long enough for capacity, as the times are. */
static PyObject *get_device_durations(PyObject *self, void *closure)
{
    (void)closure;
    PyObject *capacity = PyObject_GetAttrString(self, "capacity");
    PyObject *module = PyImport_ImportModule("scope_profiler._region_values");
    PyObject *durations = ask(self, "device_durations");
    PyObject *result = NULL;
    if (capacity != NULL && module != NULL && durations != NULL) {
        result = PyObject_CallMethod(module, "padded", "OO", durations, capacity);
    }
    Py_XDECREF(durations);
    Py_XDECREF(module);
    Py_XDECREF(capacity);
    return result;
}

static PyObject *event_totals(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    return ask(self, "event_totals");
}

static PyObject *get_threads(PyObject *self, void *closure)
{
    (void)closure;
    return ask(self, "threads");
}

static PyMethodDef device_methods[] = {
    {"get_gpu_durations_numpy", device_durations, METH_NOARGS,
     "get_gpu_durations_numpy($self, /)\n--\n\n"
     "Times of the device in ns of the finished calls, -1 where there is none. Waits for the device."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef device_attributes[] = {
    {"gpu_durations", get_device_durations, NULL,
     "Times of the device in ns, -1 where there is none; [:ptr] is meaningful.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef event_methods[] = {
    {"perf_event_totals", event_totals, METH_NOARGS,
     "perf_event_totals($self, /)\n--\n\nTotals of the events over the finished calls."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef thread_attributes[] = {
    {"threads", get_threads, NULL, "Threads with finished calls of the region, in order.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static const region_kind kinds[] = {
    {offsetof(recorder_state, threaded_region_type),
     "scope_profiler.region_profiler.ThreadedProfileRegion",
     "Region that records every call with its thread.", NULL, thread_attributes},
    {offsetof(recorder_state, perf_region_type),
     "scope_profiler.region_profiler.PerfEventProfileRegion",
     "Region that records every call and counts events of the system.", event_methods, NULL},
    {offsetof(recorder_state, device_region_type),
     "scope_profiler.region_profiler.CUDATimingProfileRegion",
     "Region that records every call and what a device takes for it.", device_methods,
     device_attributes},
    {offsetof(recorder_state, device_ranges_region_type),
     "scope_profiler.region_profiler.CUDATimingNVTXProfileRegion",
     "Region that records every call, what a device takes for it, and shows it to the device's tools.",
     device_methods, device_attributes},
};

const region_kind *region_measured_kinds(size_t *out_count)
{
    *out_count = sizeof kinds / sizeof *kinds;
    return kinds;
}
