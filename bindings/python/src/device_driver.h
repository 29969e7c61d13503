/* device_driver.h - device times from an object of Python that makes events. */
#ifndef SCOPE_PYTHON_DEVICE_DRIVER_H
#define SCOPE_PYTHON_DEVICE_DRIVER_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* device_instrument(backend, sync_on_exit) */
PyObject *device_instrument(PyObject *module, PyObject *args);
#define DEVICE_INSTRUMENT_DOC                                                                      \
    "device_instrument(backend, sync_on_exit, /)\n--\n\n"                                          \
    "Instrument of device times, for configure(): `backend` is the name of a native one, or an "   \
    "object with record_event() and elapsed_time_ns(start, end)."

#endif
