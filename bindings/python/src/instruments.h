/* instruments.h - instruments in Python: capsules whose pointer is a malloc'ed sp_instrument. Whatever
 * makes one may hand it to Profiler.configure(instruments=...), which takes it over; the capsule frees
 * and releases what nobody took. */
#ifndef SCOPE_PYTHON_INSTRUMENTS_H
#define SCOPE_PYTHON_INSTRUMENTS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "session/binding.h"

#define PY_INSTRUMENT_CAPSULE "scope_profiler.instrument"

/* A capsule around a copy of the table; NULL with an exception, and the table is released. */
PyObject *instrument_capsule(const sp_instrument *table);

/* open_instrument(name, items=(), keeps_calls=False, with_kernel=False) */
PyObject *instrument_open(PyObject *module, PyObject *args, PyObject *kwargs);
#define OPEN_INSTRUMENT_DOC                                                                        \
    "open_instrument(name, items=(), keeps_calls=False, with_kernel=False)\n--\n\n"                \
    "Opens an instrument of the library, for configure(); RuntimeError says why it cannot measure."

/* Instruments of a tuple of capsules, up to SP_INSTRUMENTS; -1 with an exception. They stay the capsules'
 * until instruments_taken. */
int instruments_fill(PyObject *tuple, const sp_instrument **tables, size_t *out_count);
/* The recorder has taken them over. */
void instruments_taken(PyObject *tuple);

#endif
