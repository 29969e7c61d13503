#include "details.h"

#include "json_text.h"

int details_begin(call_details *details, const decorated_object *decorated, PyObject *const *args,
                  Py_ssize_t nargs, PyObject *kwnames)
{
    details->recorder = decorated->recorder;
    details->id = decorated->id;
    details->record_outcome = decorated->record_outcome;
    details->traces = decorated->traces;
    details->json = NULL;
    if (decorated->metadata == NULL) {
        return 0;
    }
    if (PyUnicode_Check(decorated->metadata)) {
        details->json = Py_NewRef(decorated->metadata);
        return 0;
    }
    PyObject *mapping = PyObject_Vectorcall(decorated->metadata, args, (size_t)nargs, kwnames);
    if (mapping == NULL) {
        return -1;
    }
    if (mapping != Py_None) {
        details->json = json_encode(mapping);
        /* Makes the UTF-8 form now: at the end of the call an exception may be live. */
        if (details->json == NULL || PyUnicode_AsUTF8(details->json) == NULL) {
            Py_CLEAR(details->json);
        }
    }
    Py_DECREF(mapping);
    return PyErr_Occurred() ? -1 : 0;
}

/* Last part of the name of the live exception's class. */
static const char *exception_name(void)
{
    PyObject *type = PyErr_Occurred();
    if (type == NULL || !PyType_Check(type)) {
        return "unknown";
    }
    const char *name = ((PyTypeObject *)type)->tp_name;
    const char *dot = strrchr(name, '.');
    return dot != NULL ? dot + 1 : name;
}

/* {"a": 1} + outcome -> {"a": 1, "status": "ok"}. No Python objects are made, because an exception
 * may be live. */
static bool add_outcome(json_text *text, bool succeeded)
{
    text->length--; /* the closing brace */
    bool done = (text->length == 1 || json_text_add(text, ", ", 2)) &&
                json_text_add(text, "\"status\": ", 10) &&
                json_text_add_string(text, succeeded ? "ok" : "error");
    if (done && !succeeded) {
        done = json_text_add(text, ", \"exception\": ", 15) &&
               json_text_add_string(text, exception_name());
    }
    return done && json_text_add(text, "}", 1);
}

void details_end(call_details *details, bool succeeded)
{
    if (details->json == NULL && !details->record_outcome) {
        sp_binding_end(details->recorder, details->id);
        return;
    }
    json_text text;
    json_text_init(&text);
    Py_ssize_t length = 2;
    const char *json =
        details->json != NULL ? PyUnicode_AsUTF8AndSize(details->json, &length) : "{}";
    bool complete = json != NULL && json_text_add(&text, json, (size_t)length) &&
                    (!details->record_outcome || add_outcome(&text, succeeded));
    if (complete) {
        sp_binding_end_with_metadata(details->recorder, details->id, text.data, text.length);
    } else {
        sp_binding_end(details->recorder, details->id);
    }
    json_text_free(&text);
    details_drop(details);
}

void details_drop(call_details *details)
{
    Py_CLEAR(details->json);
}
