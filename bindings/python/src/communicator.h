/* communicator.h - the ranks of a job through an mpi4py communicator. Its functions take the GIL when
 * they are called, so the publication runs without it, and other threads go on. */
#ifndef SCOPE_PYTHON_COMMUNICATOR_H
#define SCOPE_PYTHON_COMMUNICATOR_H

#include "recorder_module.h"

typedef struct py_communicator {
    sp_communicator table;
    PyObject *comm; /* borrowed */
    PyObject *error; /* the first exception on the way, NULL: none */
} py_communicator;

/* Fills `out`, which must stay where it is. -1 with an exception set. */
int communicator_fill(py_communicator *out, PyObject *comm);

/* With the GIL, after the publication: True with the exception set when one came up on the way. */
bool communicator_raise(py_communicator *communicator);

#endif
