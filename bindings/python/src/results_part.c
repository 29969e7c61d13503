/* results_part.c - a part of a run: without warm-up, within a window of time. */
#include "results_module.h"

#include <string.h>

/* Regions with how many of their calls are left out, from a mapping. */
typedef struct skip_list {
    sp_region_skip *skips;
    PyObject *items; /* keeps the names alive */
    size_t count;
} skip_list;

static void release_skips(skip_list *list)
{
    PyMem_Free(list->skips);
    Py_CLEAR(list->items);
}

static int parse_skips(PyObject *value, skip_list *out)
{
    *out = (skip_list){NULL, NULL, 0};
    if (value == Py_None) {
        return 0;
    }
    out->items = PyMapping_Items(value);
    if (out->items == NULL) {
        return -1;
    }
    const Py_ssize_t count = PyList_GET_SIZE(out->items);
    out->skips = PyMem_Calloc((size_t)count + 1, sizeof *out->skips);
    if (out->skips == NULL) {
        PyErr_NoMemory();
    }
    for (Py_ssize_t i = 0; out->skips != NULL && i < count; i++) {
        unsigned long long calls;
        if (!PyArg_ParseTuple(PyList_GET_ITEM(out->items, i), "sK", &out->skips[i].region, &calls)) {
            break;
        }
        out->skips[i].calls = calls;
        out->count++;
    }
    if (PyErr_Occurred()) {
        release_skips(out);
        return -1;
    }
    return 0;
}

PyObject *run_narrow(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"skip_calls", "skips", "after_region", "start_ns", "end_ns", NULL};
    run_object *run = (run_object *)self;
    unsigned long long skip_calls = 0;
    long long start = 0, end = 0;
    PyObject *skips = Py_None;
    skip_list list;
    sp_narrow_options options = {.size = sizeof options};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|KOzLL", keywords, &skip_calls, &skips,
                                     &options.after_region, &start, &end) ||
        parse_skips(skips, &list) < 0) {
        return NULL;
    }
    options.skip_calls = skip_calls;
    options.skips = list.skips;
    options.num_skips = list.count;
    options.start_ns = start;
    options.end_ns = end;
    sp_results *part = NULL;
    sp_error error = {0};
    PyThreadState *thread = results_enter(run);
    const int status = sp_results_narrow(run->results, &options, &part, &error);
    results_leave(run, thread);
    release_skips(&list);
    if (status != SP_OK) {
        /* A region that is not there is a wrong choice, not a missing file. */
        return results_raise(results_state_of(self), status == SP_ERR_NOT_FOUND
                                                         ? SP_ERR_INVALID_ARGUMENT : status, &error);
    }
    return results_wrap_part(run, part);
}

PyObject *run_left_out(PyObject *self, void *closure)
{
    (void)closure;
    const char *text = sp_results_left_out(((run_object *)self)->results);
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "backslashreplace");
}
