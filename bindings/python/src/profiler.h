/* profiler.h - the native half of one manager: a recorder, the regions of its configuration, the
 * functions decorated through it. */
#ifndef SCOPE_PYTHON_PROFILER_H
#define SCOPE_PYTHON_PROFILER_H

#include "region.h"

typedef struct decorated_object decorated_object;

struct profiler_object {
    PyObject_HEAD
    recorder_state *state;
    sp_profiler *recorder;
    bool owns_recorder;
    bool is_configured;
    bool is_enabled;      /* configured, and recording wanted */
    region_mode mode;
    PyObject *regions;    /* dict name -> region, replaced by every configuration */
    PyObject *config;     /* the configuration object, None */
    PyObject *tag_filter; /* callable(tags) -> bool, None: every region is enabled */
    PyObject *locate;     /* callable(file, line) -> (path, text or None), None: nothing stored */
    PyObject *lines;      /* callable(name) -> what times the lines of a region, None: nothing does */
    PyObject *paths;      /* file name as compiled -> path as stored, while texts are not wanted */
    bool wants_text;
    bool tracks_tasks;    /* tasks and greenlets have lanes of their own */
    PyObject *greenlets;  /* weak dict greenlet -> capsule of its task; NULL: not followed */
    size_t num_greenlets; /* that were followed in this configuration */
    bool tracks_memory;   /* the allocators are hooked for it */
    bool traces;          /* functions decorated without a word about it trace what they call */
    uint64_t *folded_calls; /* by region id: traced calls too short to be recorded; NULL: none */
    size_t num_folded;
    decorated_object *decorated; /* linked, borrowed */
    profiler_object *next;       /* of the module's list */
    profiler_object **link;
    PyObject *weak_references;
};

int profiler_init(PyObject *module, recorder_state *state);

/* Get or create; new reference. `tags` NULL: not given. `site` NULL: the calling Python frame. */
PyObject *profiler_region(profiler_object *profiler, PyObject *name, PyObject *tags,
                          const region_site *site);
/* Fills `site` with the place of a code object or of the calling frame (code NULL); the fields are
 * new references. */
int profiler_locate(profiler_object *profiler, PyCodeObject *code, region_site *site);
void region_site_clear(region_site *site);
/* The same for a place that is known. Trouble costs the place, not the program. */
void profiler_describe_site(profiler_object *profiler, PyObject *file, int line,
                            region_site *site);

/* Raises for a name that cannot be stored. */
int profiler_check_name(PyObject *name);
/* Tags as a tuple of str; NULL with an exception set. */
PyObject *profiler_normal_tags(PyObject *tags);
/* Whether a region with these tags is recorded: 1, 0, or -1 with an exception set. */
int profiler_wants(const profiler_object *profiler, PyObject *tags);

/* publish, in publish.c */
PyObject *profiler_publish(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *profiler_set_metadata(PyObject *self, PyObject *metadata);

#endif
