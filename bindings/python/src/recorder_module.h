/* What the files of the extension `_recorder` share: module state and the objects.
 *
 * The extension is the hot half of the package: everything that runs once per call is here and
 * talks to the recorder through session/binding.h. A manager of the Python half owns one Profiler;
 * a Profiler owns the regions of its current configuration and knows the functions decorated
 * through it.
 */
#ifndef SCOPE_PYTHON_RECORDER_MODULE_H
#define SCOPE_PYTHON_RECORDER_MODULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "session/binding.h"

typedef struct profiler_object profiler_object;

typedef struct recorder_state {
    PyTypeObject *profiler_type;
    PyTypeObject *lookup_type;
    PyTypeObject *region_method_type;
    PyTypeObject *region_type; /* BaseProfileRegion, parent of those below */
    PyTypeObject *disabled_region_type;
    PyTypeObject *time_only_region_type;
    PyTypeObject *aggregate_region_type;
    PyTypeObject *threaded_region_type;
    PyTypeObject *line_region_type;
    PyTypeObject *full_region_type;
    PyTypeObject *perf_region_type;
    PyTypeObject *device_region_type;
    PyTypeObject *device_ranges_region_type;
    PyTypeObject *ranges_region_type;
    PyTypeObject *function_type; /* decorated: a function, binds to instances */
    PyTypeObject *callable_type; /* decorated: another callable, binds as that one does */
    PyTypeObject *generator_type;
    PyTypeObject *coroutine_type;
    PyTypeObject *async_generator_type;
    PyTypeObject *awaitable_type;
    PyTypeObject *task_type; /* what a followed task runs */
    PyTypeObject *trace_callback_type; /* NULL where the mechanism needs none */
    profiler_object *profilers; /* all alive, linked */
    PyObject *module;           /* borrowed */
    struct trace_state *trace;
    void *trace_mechanism; /* the mechanism's own */
} recorder_state;

/* Which family of region a configuration makes. */
typedef enum region_mode {
    REGION_TIME_ONLY,
    REGION_AGGREGATE,
    REGION_THREADED,
    REGION_LINES,
    REGION_FULL,          /* LIKWID */
    REGION_PERF,
    REGION_DEVICE,
    REGION_DEVICE_RANGES, /* and NVTX */
    REGION_RANGES
} region_mode;

recorder_state *recorder_state_of(PyTypeObject *type);

/* Raises what a failed status of the recorder means to Python; always returns NULL. */
PyObject *recorder_raise(int status, const sp_error *error);

#endif
