/* trace_c_calls.h - calls of functions that are written in C, traced on request: those that the code of
 * a traced function makes of builtin functions and methods, which is what the interpreter tells profile
 * functions of. Mechanisms that hear of them bring them here.
 */
#ifndef SCOPE_PYTHON_TRACE_C_CALLS_H
#define SCOPE_PYTHON_TRACE_C_CALLS_H

#include "trace_mechanism.h"

/* Whether a callable is a builtin function or method. */
bool trace_c_is_function(PyObject *callable);
/* A call begins, made by code that is traced. `callable`: whatever is called. Neither function sets an
 * exception or loses one. */
void trace_c_begin(trace_session *session, PyObject *callable);
/* It ends, by return or exception: that of the innermost call, or of one that was not begun here. */
void trace_c_end(PyObject *callable);

#endif
