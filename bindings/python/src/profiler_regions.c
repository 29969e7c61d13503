#include "profiler.h"

void region_site_clear(region_site *site)
{
    Py_CLEAR(site->file);
    Py_CLEAR(site->text);
}

void profiler_describe_site(profiler_object *profiler, PyObject *file, int line,
                            region_site *site)
{
    if (!profiler->wants_text) {
        PyObject *known = PyDict_GetItemWithError(profiler->paths, file);
        if (known != NULL) {
            site->file = Py_NewRef(known);
            site->line = line;
            return;
        }
    }
    PyObject *answer = PyObject_CallFunction(profiler->locate, "Oi", file, line);
    if (answer != NULL && PyTuple_Check(answer) && PyTuple_GET_SIZE(answer) == 2 &&
        PyUnicode_Check(PyTuple_GET_ITEM(answer, 0))) {
        site->file = Py_NewRef(PyTuple_GET_ITEM(answer, 0));
        site->line = line;
        if (PyUnicode_Check(PyTuple_GET_ITEM(answer, 1))) {
            site->text = Py_NewRef(PyTuple_GET_ITEM(answer, 1));
        }
        PyDict_SetItem(profiler->paths, file, site->file);
    }
    Py_XDECREF(answer);
    if (PyErr_Occurred()) {
        PyErr_WriteUnraisable(profiler->locate);
    }
}

int profiler_locate(profiler_object *profiler, PyCodeObject *code, region_site *site)
{
    *site = (region_site){NULL, NULL, 0};
    if (profiler->locate == Py_None) {
        return 0;
    }
    if (code != NULL) {
        profiler_describe_site(profiler, code->co_filename, code->co_firstlineno, site);
        return 0;
    }
    PyFrameObject *frame = PyEval_GetFrame();
    if (frame != NULL) {
        PyCodeObject *running = PyFrame_GetCode(frame);
        profiler_describe_site(profiler, running->co_filename, PyFrame_GetLineNumber(frame), site);
        Py_DECREF(running);
    }
    return 0;
}

PyObject *profiler_normal_tags(PyObject *tags)
{
    if (PyUnicode_Check(tags)) {
        return PyTuple_Pack(1, tags);
    }
    PyObject *tuple = PySequence_Tuple(tags);
    if (tuple == NULL && PyErr_ExceptionMatches(PyExc_TypeError) && Py_TYPE(tags)->tp_iter == NULL) {
        return PyErr_Format(PyExc_TypeError, "tags must be an iterable of strings, got %R", tags);
    }
    for (Py_ssize_t i = 0; tuple != NULL && i < PyTuple_GET_SIZE(tuple); i++) {
        PyObject *tag = PyTuple_GET_ITEM(tuple, i);
        if (!PyUnicode_Check(tag)) {
            PyErr_Format(PyExc_TypeError, "tags must be strings, got %R", tag);
            Py_CLEAR(tuple);
        }
    }
    return tuple;
}

/* 1: the same set of tags, 0: another, -1: error. */
static int same_tags(PyObject *old, PyObject *tags)
{
    PyObject *left = PyFrozenSet_New(old);
    PyObject *right = PyFrozenSet_New(tags);
    int same = left != NULL && right != NULL ? PyObject_RichCompareBool(left, right, Py_EQ) : -1;
    Py_XDECREF(left);
    Py_XDECREF(right);
    return same;
}

static PyObject *known_region(region_object *region, PyObject *tags)
{
    if (tags == NULL) {
        return Py_NewRef((PyObject *)region);
    }
    PyObject *tuple = profiler_normal_tags(tags);
    if (tuple == NULL) {
        return NULL;
    }
    int same = same_tags(region->tags, tuple);
    if (same == 0) {
        PyErr_Format(PyExc_ValueError, "region %R already has tags %R; cannot reuse it with %R",
                     region->name, region->tags, tuple);
    }
    Py_DECREF(tuple);
    return same == 1 ? Py_NewRef((PyObject *)region) : NULL;
}

int profiler_wants(const profiler_object *profiler, PyObject *tags)
{
    if (!profiler->is_enabled) {
        return 0;
    }
    if (profiler->tag_filter == Py_None) {
        return 1;
    }
    PyObject *answer = PyObject_CallOneArg(profiler->tag_filter, tags);
    if (answer == NULL) {
        return -1;
    }
    int wanted = PyObject_IsTrue(answer);
    Py_DECREF(answer);
    return wanted;
}

int profiler_check_name(PyObject *name)
{
    if (!PyUnicode_Check(name)) {
        PyErr_Format(PyExc_TypeError, "region_name must be a string, got %.200s",
                     Py_TYPE(name)->tp_name);
        return -1;
    }
    if (PyUnicode_GET_LENGTH(name) == 0) {
        PyErr_SetString(PyExc_ValueError, "region_name must not be empty");
        return -1;
    }
    if (PyUnicode_FindChar(name, 0, 0, PyUnicode_GET_LENGTH(name), 1) >= 0) {
        PyErr_Format(PyExc_ValueError, "region_name %R holds a NUL character", name);
        return -1;
    }
    /* Lone surrogates have no UTF-8 form: UnicodeEncodeError, a ValueError. */
    return PyUnicode_AsUTF8(name) == NULL ? -1 : 0;
}

static PyObject *make_region(profiler_object *profiler, PyObject *name, PyObject *tags,
                             const region_site *site)
{
    int wanted = profiler_wants(profiler, tags);
    if (wanted < 0) {
        return NULL;
    }
    region_site found = {NULL, NULL, 0};
    if (site == NULL && profiler->is_enabled) {
        profiler_locate(profiler, NULL, &found);
    }
    PyObject *region = (PyObject *)region_new(profiler, name, tags, wanted == 1,
                                              site != NULL ? site : &found);
    region_site_clear(&found);
    if (region != NULL && PyDict_SetItem(profiler->regions, name, region) < 0) {
        Py_CLEAR(region);
    }
    return region;
}

PyObject *profiler_region(profiler_object *profiler, PyObject *name, PyObject *tags,
                          const region_site *site)
{
    if (profiler_check_name(name) < 0) {
        return NULL;
    }
    PyObject *known = PyDict_GetItemWithError(profiler->regions, name);
    if (known != NULL) {
        if (!region_check(profiler->state, known)) {
            return PyErr_Format(PyExc_TypeError, "the table of regions holds %R as %R", known, name);
        }
        return known_region((region_object *)known, tags);
    }
    if (PyErr_Occurred()) {
        return NULL;
    }
    PyObject *tuple = tags == NULL ? PyTuple_New(0) : profiler_normal_tags(tags);
    if (tuple == NULL) {
        return NULL;
    }
    PyObject *exact = PyUnicode_FromObject(name);
    PyObject *region = exact != NULL ? make_region(profiler, exact, tuple, site) : NULL;
    Py_XDECREF(exact);
    Py_DECREF(tuple);
    return region;
}
