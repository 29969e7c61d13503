/* lines.h - line timings of a region: told to begin and end with its calls. What times is Python code
 * around the package line_profiler (scope_profiler/_lines.py); here is only where it is called. */
#ifndef SCOPE_PYTHON_LINES_H
#define SCOPE_PYTHON_LINES_H

#include "recorder_module.h"

/* What times the lines of a region of this name, from the configuration's `factory`. None: nothing
 * does. NULL with an exception set. */
PyObject *lines_new(PyObject *factory, PyObject *name);

/* Trouble in them is reported as unraisable: a call of the program goes on. `is_block`: the lines of
 * the calling Python frame are meant where the region names no functions. */
void lines_enter(PyObject *lines, bool is_block);
/* A live exception stays. */
void lines_leave(PyObject *lines);
/* Registers a function; `is_given`: the program names it (then one without lines is a TypeError). */
int lines_add(PyObject *lines, PyObject *function, bool is_given);

/* Makes and publishes LineProfilerRegion. */
PyTypeObject *lines_region_type(PyObject *module, recorder_state *state, PyType_Slot *shared);

#endif
