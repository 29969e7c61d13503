#include "json_text.h"

#include <math.h>

void json_text_init(json_text *text)
{
    text->data = text->local;
    text->length = 0;
    text->room = sizeof text->local;
}

void json_text_free(json_text *text)
{
    if (text->data != text->local) {
        free(text->data);
    }
    json_text_init(text);
}

static bool make_room(json_text *text, size_t more)
{
    if (text->room - text->length >= more) {
        return true;
    }
    size_t room = text->room * 2 + more;
    char *data = malloc(room);
    if (data == NULL) {
        return false;
    }
    memcpy(data, text->data, text->length);
    if (text->data != text->local) {
        free(text->data);
    }
    text->data = data;
    text->room = room;
    return true;
}

bool json_text_add(json_text *text, const char *bytes, size_t length)
{
    if (!make_room(text, length)) {
        return false;
    }
    memcpy(text->data + text->length, bytes, length);
    text->length += length;
    return true;
}

static bool add_quoted(json_text *text, const char *utf8, size_t length)
{
    if (!json_text_add(text, "\"", 1)) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)utf8[i];
        char escape[8] = {(char)c, 0};
        size_t size = 1;
        if (c == '"' || c == '\\') {
            escape[0] = '\\';
            escape[1] = (char)c;
            size = 2;
        } else if (c < 0x20) {
            size = (size_t)snprintf(escape, sizeof escape, "\\u%04x", c);
        }
        if (!json_text_add(text, escape, size)) {
            return false;
        }
    }
    return json_text_add(text, "\"", 1);
}

bool json_text_add_string(json_text *text, const char *utf8)
{
    return add_quoted(text, utf8, strlen(utf8));
}

static json_outcome add_integer(json_text *text, PyObject *value)
{
    int overflow = 0;
    long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow != 0) {
        return JSON_NEEDS_PYTHON;
    }
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%lld", number);
    return json_text_add(text, digits, (size_t)length) ? JSON_DONE : JSON_NO_MEMORY;
}

static json_outcome add_real(json_text *text, PyObject *value)
{
    double number = PyFloat_AS_DOUBLE(value);
    if (!isfinite(number)) {
        return json_text_add(text, "null", 4) ? JSON_DONE : JSON_NO_MEMORY;
    }
    char *digits = PyOS_double_to_string(number, 'r', 0, Py_DTSF_ADD_DOT_0, NULL);
    if (digits == NULL) {
        PyErr_Clear();
        return JSON_NO_MEMORY;
    }
    bool done = json_text_add(text, digits, strlen(digits));
    PyMem_Free(digits);
    return done ? JSON_DONE : JSON_NO_MEMORY;
}

static json_outcome add_text(json_text *text, PyObject *value)
{
    Py_ssize_t length = 0;
    const char *utf8 = PyUnicode_AsUTF8AndSize(value, &length);
    if (utf8 == NULL) {
        PyErr_Clear();
        return JSON_NEEDS_PYTHON;
    }
    return add_quoted(text, utf8, (size_t)length) ? JSON_DONE : JSON_NO_MEMORY;
}

static json_outcome add_value(json_text *text, PyObject *value)
{
    const char *word = value == Py_None    ? "null"
                       : value == Py_True  ? "true"
                       : value == Py_False ? "false"
                                           : NULL;
    if (word != NULL) {
        return json_text_add(text, word, strlen(word)) ? JSON_DONE : JSON_NO_MEMORY;
    }
    if (PyLong_CheckExact(value)) {
        return add_integer(text, value);
    }
    if (PyFloat_CheckExact(value)) {
        return add_real(text, value);
    }
    return PyUnicode_CheckExact(value) ? add_text(text, value) : JSON_NEEDS_PYTHON;
}

json_outcome json_text_mapping(json_text *text, PyObject *mapping)
{
    if (!PyDict_CheckExact(mapping)) {
        return JSON_NEEDS_PYTHON;
    }
    Py_ssize_t position = 0;
    PyObject *key = NULL;
    PyObject *value = NULL;
    bool is_first = true;
    if (!json_text_add(text, "{", 1)) {
        return JSON_NO_MEMORY;
    }
    while (PyDict_Next(mapping, &position, &key, &value)) {
        if (!PyUnicode_CheckExact(key)) {
            return JSON_NEEDS_PYTHON;
        }
        if (!is_first && !json_text_add(text, ", ", 2)) {
            return JSON_NO_MEMORY;
        }
        is_first = false;
        json_outcome outcome = add_text(text, key);
        if (outcome == JSON_DONE && !json_text_add(text, ": ", 2)) {
            outcome = JSON_NO_MEMORY;
        }
        if (outcome == JSON_DONE) {
            outcome = add_value(text, value);
        }
        if (outcome != JSON_DONE) {
            return outcome;
        }
    }
    return json_text_add(text, "}", 1) ? JSON_DONE : JSON_NO_MEMORY;
}

json_outcome json_text_strings(json_text *text, PyObject *strings)
{
    if (!json_text_add(text, "[", 1)) {
        return JSON_NO_MEMORY;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(strings); i++) {
        if (i > 0 && !json_text_add(text, ", ", 2)) {
            return JSON_NO_MEMORY;
        }
        json_outcome outcome = add_text(text, PyTuple_GET_ITEM(strings, i));
        if (outcome != JSON_DONE) {
            return outcome;
        }
    }
    return json_text_add(text, "]", 1) ? JSON_DONE : JSON_NO_MEMORY;
}

static PyObject *encode_in_python(PyObject *value)
{
    PyObject *module = PyImport_ImportModule("scope_profiler._json_values");
    if (module == NULL) {
        return NULL;
    }
    PyObject *json = PyObject_CallMethod(module, "encode", "O", value);
    Py_DECREF(module);
    return json;
}

PyObject *json_encode(PyObject *value)
{
    json_text text;
    json_text_init(&text);
    json_outcome outcome = PyTuple_CheckExact(value) ? json_text_strings(&text, value)
                                                     : json_text_mapping(&text, value);
    PyObject *json = NULL;
    if (outcome == JSON_DONE) {
        json = PyUnicode_FromStringAndSize(text.data, (Py_ssize_t)text.length);
    } else if (outcome == JSON_NEEDS_PYTHON) {
        json = encode_in_python(value);
    } else {
        PyErr_NoMemory();
    }
    json_text_free(&text);
    return json;
}
