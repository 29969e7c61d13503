/* region_arrays.h - what a region tells about its calls: arrays, slots, totals. Cold: everything is
 * decoded from the recorder when asked for. */
#ifndef SCOPE_PYTHON_REGION_ARRAYS_H
#define SCOPE_PYTHON_REGION_ARRAYS_H

#include "region.h"

PyObject *region_get_ptr(PyObject *self, void *closure);
PyObject *region_get_capacity(PyObject *self, void *closure);
PyObject *region_get_start_times(PyObject *self, void *closure);
PyObject *region_get_end_times(PyObject *self, void *closure);
PyObject *region_durations(PyObject *self, PyObject *ignored);
PyObject *region_relative_starts(PyObject *self, PyObject *ignored);
PyObject *region_relative_ends(PyObject *self, PyObject *ignored);
PyObject *region_open_slots(PyObject *self, PyObject *ignored);
PyObject *region_closed_slots(PyObject *self, PyObject *ignored);
PyObject *region_aggregate(PyObject *self, PyObject *ignored);

#endif
