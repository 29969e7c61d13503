/* json_text.h - a growing JSON text for small metadata objects. Plain memory, no Python objects, so
 * that it can be used while an exception is live. */
#ifndef SCOPE_PYTHON_JSON_TEXT_H
#define SCOPE_PYTHON_JSON_TEXT_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>

typedef struct json_text {
    char *data; /* `local` or malloc'ed */
    size_t length;
    size_t room;
    char local[256];
} json_text;

typedef enum json_outcome {
    JSON_DONE,
    JSON_NEEDS_PYTHON, /* holds a value that only the encoder in Python knows */
    JSON_NO_MEMORY
} json_outcome;

void json_text_init(json_text *text);
void json_text_free(json_text *text);
/* False when memory is short. */
bool json_text_add(json_text *text, const char *bytes, size_t length);
bool json_text_add_string(json_text *text, const char *utf8);
/* A dict with str keys whose values are None, bool, int, float or str. */
json_outcome json_text_mapping(json_text *text, PyObject *mapping);
/* A tuple of str. */
json_outcome json_text_strings(json_text *text, PyObject *strings);

/* The same for any mapping, list or tuple, as a new str; NULL with an exception set. Values that
 * JSON lacks become text. */
PyObject *json_encode(PyObject *value);

#endif
