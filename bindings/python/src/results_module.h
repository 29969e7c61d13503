/* What the files of the extension `_results` share: module state, the Run object, errors.
 *
 * The extension is a thin skin over scope_results.h: one Run object owns one sp_results handle, and
 * every number that Python shows comes out of it. Arrays cross as read-only buffers (Column) over
 * memory of the handle, which they keep alive.
 */
#ifndef SCOPE_PYTHON_RESULTS_MODULE_H
#define SCOPE_PYTHON_RESULTS_MODULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "image_capsule.h"
#include "scope_results.h"

typedef struct results_state {
    PyTypeObject *run_type;
    PyTypeObject *column_type;
    PyTypeObject *row_type;        /* struct sequences, see results_records.c */
    PyTypeObject *statistics_type;
    PyTypeObject *times_type;
    PyTypeObject *call_tree_type;
    PyTypeObject *thread_type;
    PyTypeObject *task_type;
    PyObject *corrupt_error;
    PyObject *schema_error;
    PyObject *nesting_error;
    PyObject *events_error;
} results_state;

/* A Run owns its handle. The lock serialises calls on the handle while the GIL is released; it is
 * never held while Python objects are made, because that could run other Python code. */
typedef struct run_object {
    PyObject_HEAD
    sp_results *results;
    PyThread_type_lock lock; /* that of `whole` in a part of a run */
    PyObject *whole;         /* the run that this one is a part of and reads through; or NULL */
    bool keeps_gil; /* calls are read through a library that other Python code may be using */
} run_object;

/* Element type of a Column. */
typedef enum column_format {
    COLUMN_INT64,
    COLUMN_UINT64,
    COLUMN_INT32,
    COLUMN_UINT32
} column_format;

results_state *results_state_of(PyObject *run_or_module_type);

/* ---- errors ---------------------------------------------------------------------------------*/

int results_errors_init(PyObject *module, results_state *state);
/* Raises what `status` means to Python; always returns NULL. */
PyObject *results_raise(const results_state *state, int status, const sp_error *error);

/* ---- records --------------------------------------------------------------------------------*/

int results_records_init(PyObject *module, results_state *state);
PyObject *results_row_record(const results_state *state, const sp_row *row, size_t region,
                             unsigned columns);
PyObject *results_statistics_record(const results_state *state, const sp_statistics *statistics);
PyObject *results_times_record(const results_state *state, const sp_run_times *times);
PyObject *results_thread_record(const results_state *state, const sp_thread_row *thread);
PyObject *results_task_record(const results_state *state, const sp_task_row *task);

/* ---- columns --------------------------------------------------------------------------------*/

int results_column_init(PyObject *module, results_state *state);
/* View of `count` elements at `data`, memory of `run`'s handle. */
PyObject *results_column_new(const results_state *state, run_object *run, const void *data,
                             size_t count, column_format format);

/* ---- the Run type ---------------------------------------------------------------------------*/

int results_run_init(PyObject *module, results_state *state);
/* Wraps a handle, which is closed when no object can be made for it. */
PyObject *results_run_wrap(PyTypeObject *type, sp_results *results);
void results_lock(run_object *run);
void results_unlock(run_object *run);
/* Around work on the handle that may take long: the lock, and the GIL released if that is safe. */
PyThreadState *results_enter(run_object *run);
void results_leave(run_object *run, PyThreadState *thread);
/* Whether the HDF5 library underneath is one that other Python code enters with the GIL alone. */
bool results_store_needs_gil(void);
/* Index from Python, checked against `limit`; -1 with IndexError set. */
Py_ssize_t results_index(PyObject *value, size_t limit, const char *what);

/* A list of ranks from Python: None means all (NULL, 0). Free with PyMem_Free. */
typedef struct rank_list {
    uint32_t *ranks;
    size_t count;
} rank_list;
int results_parse_ranks(PyObject *value, rank_list *out);

/* A list of strings from Python: None means NULL. The texts are borrowed from `owner`. Release with
 * results_release_texts. */
typedef struct text_list {
    PyObject *owner;
    const char **texts;
    size_t count;
} text_list;
int results_parse_texts(PyObject *value, const char *what, text_list *out);
void results_release_texts(text_list *texts);

/* Several runs, borrowed from a tuple. */
enum { RESULTS_MAX_RUNS = 1000 };
typedef struct run_list {
    PyObject *owner; /* give back with Py_XDECREF */
    sp_results *results[RESULTS_MAX_RUNS];
    run_object *objects[RESULTS_MAX_RUNS];
    size_t count;
} run_list;
int results_take_runs(const results_state *state, PyObject *value, run_list *out);
/* Takes the locks of all runs of two lists, or gives them back; one that stands in both, or twice, is
 * taken once. The GIL is kept: the work is short, its numbers are mostly stored. */
void results_lock_runs(run_list *a, run_list *b, bool lock);

/* Methods of Run, grouped by file. */
/* results_calls.c */
PyObject *run_column(PyObject *self, PyObject *const *args, Py_ssize_t nargs);
PyObject *run_exclusive(PyObject *self, PyObject *arg);
PyObject *run_call_tree(PyObject *self, PyObject *args, PyObject *kwargs);
/* results_numbers.c */
PyObject *run_row_statistics(PyObject *self, PyObject *arg);
PyObject *run_region_statistics(PyObject *self, PyObject *const *args, Py_ssize_t nargs);
PyObject *run_percentiles(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *run_imbalance(PyObject *self, PyObject *const *args, Py_ssize_t nargs);
PyObject *run_times(PyObject *self, PyObject *ignored);
/* results_build.c */
PyObject *run_add_row(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *run_add_row_of(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *run_add_statistics_of(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *run_set_metadata(PyObject *self, PyObject *const *args, Py_ssize_t nargs);
PyObject *run_add_thread(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *run_add_task(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *run_set_num_ranks(PyObject *self, PyObject *arg);
PyObject *run_write(PyObject *self, PyObject *args, PyObject *kwargs);
/* results_summary.c */
PyObject *run_summary_rows(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *run_summary_text(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *run_line_profile_text(PyObject *self, PyObject *ignored);
PyObject *run_inspect(PyObject *self, PyObject *args, PyObject *kwargs);

/* results_part.c */
PyObject *run_narrow(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *run_left_out(PyObject *self, void *closure);
/* A part of `whole`, which it keeps alive; closed when no object can be made for it. */
PyObject *results_wrap_part(run_object *whole, sp_results *part);

/* results_export.c */
PyObject *run_import_native(PyTypeObject *type, PyObject *args);
PyObject *run_merge_native(PyObject *self, PyObject *other);
PyObject *run_export(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *run_extra_text(PyObject *self, PyObject *name);
PyObject *run_add_extra_text(PyObject *self, PyObject *args);
PyObject *run_extra_texts(PyObject *self, PyObject *name);
PyObject *run_extra_arrays(PyObject *self, PyObject *name);
PyObject *run_prof_bytes(PyObject *self, PyObject *args, PyObject *kwargs);

/* results_mpi.c */
PyObject *run_mpi(PyObject *self, PyObject *ignored);

/* results_arrow.c */
PyObject *run_arrow_stream(PyObject *self, PyObject *rows);

/* Functions of the module, results_table.c. */
PyObject *results_format_rows(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *results_report(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *results_compare(PyObject *module, PyObject *args, PyObject *kwargs);      /* results_compare.c */
PyObject *results_compare_rows(PyObject *module, PyObject *args, PyObject *kwargs); /* the same */
PyObject *results_region_color(PyObject *module, PyObject *name); /* results_plot.c */
PyObject *results_export_plot_data(PyObject *module, PyObject *args, PyObject *kwargs); /* results_plot.c */
PyObject *results_recover(PyObject *module, PyObject *args); /* results_recover.c */
PyObject *results_format_cells(PyObject *module, PyObject *args, PyObject *kwargs);

#endif
