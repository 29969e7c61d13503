#include "settings.h"

#include <stdlib.h>
#include <string.h>

/* ---- rows -----------------------------------------------------------------------------------*/

static const char *kind_name(sp_setting_kind kind)
{
    static const char *const names[] = {
        [SP_SETTING_FLAG] = "flag",     [SP_SETTING_INTEGER] = "integer",
        [SP_SETTING_TEXT] = "text",     [SP_SETTING_PATH] = "path",
        [SP_SETTING_CHOICE] = "choice", [SP_SETTING_FILTER] = "filter",
        [SP_SETTING_EVENTS] = "events", [SP_SETTING_TAGS] = "tags",
        [SP_SETTING_OBJECT] = "object", [SP_SETTING_SIZE] = "size",
        [SP_SETTING_NUMBER] = "number",
    };
    return names[kind];
}

/* A checked value of a setting as Python sees it; `given`: what it was made of, handed back where
 * nothing about it changes. */
static PyObject *to_python(const sp_setting *setting, const sp_setting_value *value,
                           PyObject *given)
{
    bool is_fixed = setting->kind == SP_SETTING_CHOICE || setting->kind == SP_SETTING_FILTER;
    if (!value->is_given || (is_fixed && value->text == NULL)) {
        Py_RETURN_NONE;
    }
    if (setting->kind == SP_SETTING_SIZE) {
        return PyLong_FromLongLong(value->integer);
    }
    if (given != NULL && !is_fixed) {
        return Py_NewRef(given);
    }
    switch (setting->kind) {
    case SP_SETTING_FLAG: return PyBool_FromLong(value->flag);
    case SP_SETTING_INTEGER: return PyLong_FromLongLong(value->integer);
    case SP_SETTING_NUMBER: return PyFloat_FromDouble(value->number);
    case SP_SETTING_TAGS: return PyTuple_New(0);
    default: return PyUnicode_FromString(value->text);
    }
}

static PyObject *choices_of(const sp_setting *setting)
{
    Py_ssize_t count = 0;
    while (setting->choices != NULL && setting->choices[count] != NULL) {
        count++;
    }
    PyObject *tuple = PyTuple_New(count);
    for (Py_ssize_t i = 0; tuple != NULL && i < count; i++) {
        PyObject *choice = PyUnicode_FromString(setting->choices[i]);
        if (choice == NULL) {
            Py_CLEAR(tuple);
        } else {
            PyTuple_SET_ITEM(tuple, i, choice);
        }
    }
    return tuple;
}

static PyObject *row_of(sp_setting_id id)
{
    const sp_setting *setting = sp_setting_at(id);
    sp_setting_value initial = sp_setting_initial(id);
    PyObject *value = to_python(setting, &initial, NULL);
    PyObject *choices = choices_of(setting);
    if (value == NULL || choices == NULL) {
        Py_XDECREF(value);
        Py_XDECREF(choices);
        return NULL;
    }
    return Py_BuildValue("(sssNNzzs)", setting->name, kind_name(setting->kind), setting->type, value,
                         choices, setting->group, setting->field, setting->help);
}

PyObject *settings_rows(PyObject *module, PyObject *ignored)
{
    (void)module;
    (void)ignored;
    PyObject *rows = PyTuple_New(SP_NUM_SETTINGS);
    for (int id = 0; rows != NULL && id < SP_NUM_SETTINGS; id++) {
        PyObject *row = row_of((sp_setting_id)id);
        if (row == NULL) {
            Py_CLEAR(rows);
        } else {
            PyTuple_SET_ITEM(rows, id, row);
        }
    }
    return rows;
}

PyObject *settings_combinations(PyObject *module, PyObject *ignored)
{
    (void)module;
    (void)ignored;
    PyObject *rows = PyList_New(0);
    sp_combination pair;
    for (size_t i = 0; rows != NULL && sp_setting_combination_at(i, 0, &pair) == SP_OK; i++) {
        for (size_t k = 0; rows != NULL && sp_setting_combination_at(i, k, &pair) == SP_OK; k++) {
            PyObject *row = Py_BuildValue("(ssz)", pair.instrument->name, pair.mode->name,
                                          pair.reason);
            if (row == NULL || PyList_Append(rows, row) < 0) {
                Py_CLEAR(rows);
            }
            Py_XDECREF(row);
        }
    }
    return rows;
}

/* ---- checking -------------------------------------------------------------------------------*/

/* All the values, and what their texts are borrowed from. */
typedef struct given_settings {
    sp_setting_value values[SP_NUM_SETTINGS];
    PyObject *objects[SP_NUM_SETTINGS]; /* borrowed from the mapping, NULL: not given */
    PyObject *bytes[SP_NUM_SETTINGS];
    const char **items[SP_NUM_SETTINGS];
} given_settings;

static void release(given_settings *given)
{
    for (int id = 0; id < SP_NUM_SETTINGS; id++) {
        Py_XDECREF(given->bytes[id]);
        free((void *)given->items[id]);
    }
}

/* Borrows the text of a str, NULL with an exception set when it cannot be one for the recorder. */
static const char *text_of(const sp_setting *setting, PyObject *object)
{
    Py_ssize_t length;
    const char *text = PyUnicode_AsUTF8AndSize(object, &length);
    if (text != NULL && strlen(text) != (size_t)length) {
        PyErr_Format(PyExc_ValueError, "Profiling setting '%s' must not hold a NUL, got %R",
                     setting->name, object);
        return NULL;
    }
    return text;
}

/* Paths may hold bytes that are no text. */
static int read_path(given_settings *given, sp_setting_id id, PyObject *object)
{
    PyObject *bytes = PyUnicode_EncodeFSDefault(object);
    if (bytes == NULL) {
        return -1;
    }
    given->bytes[id] = bytes;
    given->values[id].text = PyBytes_AS_STRING(bytes);
    if (strlen(given->values[id].text) != (size_t)PyBytes_GET_SIZE(bytes)) {
        PyErr_Format(PyExc_ValueError, "Profiling setting '%s' must name a file, got %R",
                     sp_setting_at(id)->name, object);
        return -1;
    }
    return 0;
}

static int read_integer(given_settings *given, sp_setting_id id, PyObject *object)
{
    int overflow;
    given->values[id].integer = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow != 0) {
        PyErr_Format(PyExc_ValueError, "%s is too large a number: %R", sp_setting_at(id)->name,
                     object);
    }
    return PyErr_Occurred() ? -1 : 0;
}

static int read_items(given_settings *given, sp_setting_id id, PyObject *tuple)
{
    if (!PyTuple_Check(tuple)) {
        PyErr_Format(PyExc_TypeError, "Profiling setting '%s' must be a tuple of str, got %R",
                     sp_setting_at(id)->name, tuple);
        return -1;
    }
    Py_ssize_t count = PyTuple_GET_SIZE(tuple);
    const char **items = calloc((size_t)count + 1, sizeof *items);
    if (items == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    given->items[id] = items;
    given->values[id].items = items;
    given->values[id].num_items = (size_t)count;
    for (Py_ssize_t i = 0; i < count; i++) {
        if ((items[i] = text_of(sp_setting_at(id), PyTuple_GET_ITEM(tuple, i))) == NULL) {
            return -1;
        }
    }
    return 0;
}

static int read_value(given_settings *given, sp_setting_id id, PyObject *object)
{
    const sp_setting *setting = sp_setting_at(id);
    sp_setting_value *value = &given->values[id];
    value->is_given = true;
    given->objects[id] = object;
    switch (setting->kind) {
    case SP_SETTING_OBJECT: return 0;
    case SP_SETTING_FLAG: value->flag = object == Py_True; return 0;
    case SP_SETTING_INTEGER: return read_integer(given, id, object);
    case SP_SETTING_NUMBER:
        value->number = PyFloat_AsDouble(object);
        return PyErr_Occurred() ? -1 : 0;
    case SP_SETTING_PATH: return read_path(given, id, object);
    case SP_SETTING_EVENTS:
    case SP_SETTING_TAGS: return read_items(given, id, object);
    default:
        value->text = text_of(setting, object);
        return value->text == NULL ? -1 : 0;
    }
}

static int read_values(given_settings *given, PyObject *mapping)
{
    for (int id = 0; id < SP_NUM_SETTINGS; id++) {
        PyObject *object = PyDict_GetItemString(mapping, sp_setting_at((size_t)id)->name);
        if (object == NULL || object == Py_None) {
            given->values[id] = sp_setting_initial((sp_setting_id)id);
        } else if (read_value(given, (sp_setting_id)id, object) < 0) {
            return -1;
        }
    }
    return 0;
}

static PyObject *normal_forms(const given_settings *given)
{
    PyObject *result = PyDict_New();
    for (int id = 0; result != NULL && id < SP_NUM_SETTINGS; id++) {
        const sp_setting *setting = sp_setting_at((size_t)id);
        PyObject *value = to_python(setting, &given->values[id], given->objects[id]);
        if (value == NULL || PyDict_SetItemString(result, setting->name, value) < 0) {
            Py_CLEAR(result);
        }
        Py_XDECREF(value);
    }
    return result;
}

PyObject *settings_check(PyObject *module, PyObject *values)
{
    (void)module;
    if (!PyDict_Check(values)) {
        return PyErr_Format(PyExc_TypeError, "a dict of settings is wanted, got %R", values);
    }
    given_settings given = {0};
    sp_error error;
    PyObject *result = NULL;
    int status = SP_OK;
    if (read_values(&given, values) == 0) {
        for (int id = 0; id < SP_NUM_SETTINGS && status == SP_OK; id++) {
            status = sp_setting_check((sp_setting_id)id, &given.values[id], &error);
        }
        if (status == SP_OK) {
            status = sp_setting_check_together(given.values, &error);
        }
        result = status == SP_OK ? normal_forms(&given) : recorder_raise(status, &error);
    }
    release(&given);
    return result;
}

/* ---- names ----------------------------------------------------------------------------------*/

PyObject *settings_unknown(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *listed;
    const char *group = NULL;
    if (!PyArg_ParseTuple(args, "O|z:unknown_settings", &listed, &group)) {
        return NULL;
    }
    PyObject *names = PySequence_Tuple(listed);
    Py_ssize_t count = names == NULL ? 0 : PyTuple_GET_SIZE(names);
    const char **texts = names == NULL ? NULL : calloc((size_t)count + 1, sizeof *texts);
    PyObject *result = NULL;
    sp_error error;
    Py_ssize_t i = 0;
    while (texts != NULL && i < count &&
           (texts[i] = PyUnicode_AsUTF8(PyTuple_GET_ITEM(names, i))) != NULL) {
        i++;
    }
    if (texts != NULL && i == count) {
        sp_setting_unknown(group, texts, (size_t)count, &error);
        /* A text that was cut may end within a character. */
        result = PyUnicode_DecodeUTF8(error.text, (Py_ssize_t)strlen(error.text),
                                      "backslashreplace");
    } else if (!PyErr_Occurred()) {
        PyErr_NoMemory();
    }
    free((void *)texts);
    Py_XDECREF(names);
    return result;
}
