/* settings.h - the table of settings of the recorder, for the Python half of the package. */
#ifndef SCOPE_PYTHON_SETTINGS_H
#define SCOPE_PYTHON_SETTINGS_H

#include "recorder_module.h"

#define SETTINGS_DOC                                                                               \
    "settings()\n--\n\nRows of the table: (name, kind, type, default, choices, group, field, help)."
PyObject *settings_rows(PyObject *module, PyObject *ignored);
/* combinations() */
PyObject *settings_combinations(PyObject *module, PyObject *ignored);
#define COMBINATIONS_DOC                                                                           \
    "combinations()\n--\n\nInstruments and modes by pairs: (instrument, mode, why not or None)."


#define CHECK_SETTINGS_DOC                                                                         \
    "check_settings(values, /)\n--\n\n"                                                            \
    "Every setting in its normal form, those that `values` lacks or has as None by their "         \
    "default.\n\nValues are of the kind of their setting: bool, int, str, tuple of str or any "    \
    "object.\nRaises ValueError for what is out of range or does not go together."
PyObject *settings_check(PyObject *module, PyObject *values);

#define UNKNOWN_SETTINGS_DOC                                                                       \
    "unknown_settings(names, group=None, /)\n--\n\n"                                               \
    "Text of the error about names that are no settings (no fields of the group)."
PyObject *settings_unknown(PyObject *module, PyObject *args);

#endif
