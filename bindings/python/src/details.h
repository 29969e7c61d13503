/* details.h - metadata and outcome of a recorded call, as the JSON object stored beside it. */
#ifndef SCOPE_PYTHON_DETAILS_H
#define SCOPE_PYTHON_DETAILS_H

#include "decorated.h"

/* Of one call in progress. The recorder lives as long as `owner`, which the caller keeps alive. */
typedef struct call_details {
    sp_profiler *recorder;
    int32_t id;
    bool record_outcome;
    bool traces;
    PyObject *json; /* str, evaluated metadata; NULL: none */
} call_details;

/* Evaluates the metadata of a call before it runs. -1: the program's metadata function raised. */
int details_begin(call_details *details, const decorated_object *decorated, PyObject *const *args,
                  Py_ssize_t nargs, PyObject *kwnames);
/* Ends the call with its details; a live exception is left as it is. */
void details_end(call_details *details, bool succeeded);
void details_drop(call_details *details);

#endif
