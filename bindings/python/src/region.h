/* region.h - one named region of one configuration, used as a context manager. */
#ifndef SCOPE_PYTHON_REGION_H
#define SCOPE_PYTHON_REGION_H

#include "recorder_module.h"

typedef struct region_object {
    PyObject_HEAD
    PyObject *enter; /* builtin functions bound to this region; __enter__ and __exit__ hand them out */
    PyObject *exit;
    sp_profiler *recorder; /* NULL: disabled, or its configuration has ended */
    int32_t id;            /* -1: never known to the recorder */
    bool has_ended;        /* its configuration is over, the counts are frozen */
    bool is_exempt;        /* from the tag filter */
    int64_t final_calls;
    profiler_object *profiler;
    PyObject *config;
    PyObject *name;
    PyObject *tags; /* tuple */
    PyObject *lines; /* what times its lines, NULL: nothing does */
    PyObject *source_file; /* str or NULL */
    PyObject *source_text;
    long source_line;
    PyObject *weak_references;
} region_object;

/* Where a region was first asked for; all NULL and 0 when not known. */
typedef struct region_site {
    PyObject *file;
    PyObject *text;
    long line;
} region_site;

int region_init(PyObject *module, recorder_state *state);

/* Programs get the table of regions itself and may put anything into it. */
static inline bool region_check(const recorder_state *state, PyObject *object)
{
    return Py_TYPE(object)->tp_base == state->region_type;
}

/* New region of `profiler`; `enabled` false makes a disabled one. */
region_object *region_new(profiler_object *profiler, PyObject *name, PyObject *tags, bool enabled,
                          const region_site *site);
/* Switches recording of a region on or off, its class included. */
int region_set_enabled(region_object *region, bool enabled);
bool region_is_enabled(const region_object *region);
/* Registers the functions of an iterable for line timings; nothing without these. */
int region_add_functions(region_object *region, PyObject *functions);
/* Freezes the counts and cuts the connection to the recorder. */
void region_end(region_object *region);

#endif
