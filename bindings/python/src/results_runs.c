/* results_runs.c - several runs at once. */
#include "results_module.h"

int results_take_runs(const results_state *state, PyObject *value, run_list *out)
{
    out->owner = PySequence_Tuple(value);
    if (out->owner == NULL) {
        return -1;
    }
    out->count = (size_t)PyTuple_GET_SIZE(out->owner);
    if (out->count > RESULTS_MAX_RUNS) {
        PyErr_Format(PyExc_ValueError, "more than %d runs", RESULTS_MAX_RUNS);
        return -1;
    }
    for (size_t i = 0; i < out->count; i++) {
        PyObject *item = PyTuple_GET_ITEM(out->owner, (Py_ssize_t)i);
        if (Py_TYPE(item) != state->run_type) {
            PyErr_Format(PyExc_TypeError, "runs must be Run objects, not %s", Py_TYPE(item)->tp_name);
            return -1;
        }
        out->objects[i] = (run_object *)item;
        out->results[i] = ((run_object *)item)->results;
    }
    return 0;
}

void results_lock_runs(run_list *a, run_list *b, bool lock)
{
    for (size_t i = 0; i < a->count + b->count; i++) {
        run_object *run = i < a->count ? a->objects[i] : b->objects[i - a->count];
        bool is_first = true;
        for (size_t j = 0; j < i && is_first; j++) {
            is_first = run != (j < a->count ? a->objects[j] : b->objects[j - a->count]);
        }
        if (is_first && lock) {
            results_lock(run);
        } else if (is_first) {
            results_unlock(run);
        }
    }
}
