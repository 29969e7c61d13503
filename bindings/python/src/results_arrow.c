/* results_arrow.c - calls as a stream of record batches, one a (rank, region) row, in the C stream
 * interface of Apache Arrow. The structures below are its ABI, as its specification lays them down.
 *
 * Times and ids are the memory of the run, which a batch keeps alive; only what is the same for a whole
 * row (its name, its rank) and the call index are made. A consumer may release from any thread. */
#include "results_module.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct ArrowSchema {
    const char *format;
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

enum { FLAG_NULLABLE = 2, MAX_FIELDS = 3 + SP_COLUMN_COUNT };

static const char *const column_names[SP_COLUMN_COUNT] = {
    "start_ns", "duration_ns", "call_id", "parent_id", "thread", "task", "await_ns",
    "gpu_duration_ns"};

/* ---- Memory ---------------------------------------------------------------------------------*/

/* What an array or a schema holds: one block, and the Python objects that its buffers belong to. */
typedef struct holder {
    PyObject *owner; /* NULL: none */
    const void *buffers[3];
    struct ArrowArray *array_children[MAX_FIELDS];
    struct ArrowSchema *schema_children[MAX_FIELDS];
    void *memory;
} holder;

static void drop_owner(PyObject *owner)
{
    if (owner != NULL && Py_IsInitialized()) {
        PyGILState_STATE state = PyGILState_Ensure();
        Py_DECREF(owner);
        PyGILState_Release(state);
    }
}

static void release_array(struct ArrowArray *array)
{
    holder *held = array->private_data;
    for (int64_t i = 0; i < array->n_children; i++) {
        if (array->children[i]->release != NULL) {
            array->children[i]->release(array->children[i]);
        }
        free(array->children[i]);
    }
    if (array->dictionary != NULL) {
        if (array->dictionary->release != NULL) {
            array->dictionary->release(array->dictionary);
        }
        free(array->dictionary);
    }
    drop_owner(held->owner);
    free(held->memory);
    free(held);
    array->release = NULL;
}

static void release_schema(struct ArrowSchema *schema)
{
    for (int64_t i = 0; i < schema->n_children; i++) {
        if (schema->children[i]->release != NULL) {
            schema->children[i]->release(schema->children[i]);
        }
        free(schema->children[i]);
    }
    if (schema->dictionary != NULL) {
        if (schema->dictionary->release != NULL) {
            schema->dictionary->release(schema->dictionary);
        }
        free(schema->dictionary);
    }
    free(schema->private_data);
    schema->release = NULL;
}

/* Starts an array; false when memory is short. `owner` is borrowed, a reference is taken. */
static bool begin_array(struct ArrowArray *array, int64_t length, int64_t buffers, PyObject *owner)
{
    holder *held = calloc(1, sizeof *held);
    *array = (struct ArrowArray){0};
    if (held == NULL) {
        return false;
    }
    held->owner = Py_XNewRef(owner);
    *array = (struct ArrowArray){.length = length, .n_buffers = buffers, .buffers = held->buffers,
                                 .children = held->array_children, .release = release_array,
                                 .private_data = held};
    return true;
}

static bool begin_schema(struct ArrowSchema *schema, const char *format, const char *name)
{
    holder *held = calloc(1, sizeof *held);
    *schema = (struct ArrowSchema){0};
    if (held == NULL) {
        return false;
    }
    *schema = (struct ArrowSchema){.format = format, .name = name,
                                   .children = held->schema_children, .release = release_schema,
                                   .private_data = held};
    return true;
}

/* Appends an empty child; NULL when memory is short. */
static struct ArrowArray *add_child_array(struct ArrowArray *parent)
{
    struct ArrowArray *child = calloc(1, sizeof *child);
    if (child != NULL) {
        parent->children[parent->n_children++] = child;
    }
    return child;
}

static struct ArrowSchema *add_child_schema(struct ArrowSchema *parent)
{
    struct ArrowSchema *child = calloc(1, sizeof *child);
    if (child != NULL) {
        parent->children[parent->n_children++] = child;
    }
    return child;
}

/* ---- The stream -----------------------------------------------------------------------------*/

typedef struct stream_state {
    run_object *run; /* owned */
    size_t *rows, count, next;
    unsigned columns;    /* those that any row has */
    PyObject *offsets;   /* bytes: int32 offsets of the region names */
    PyObject *names;     /* bytes: the names */
    int32_t num_names;
    sp_error error;
} stream_state;

static int stream_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    const stream_state *state = stream->private_data;
    bool done = begin_schema(out, "+s", "");
    struct ArrowSchema *child = done ? add_child_schema(out) : NULL;
    done = child != NULL && begin_schema(child, "i", "name");
    if (done) {
        child->dictionary = calloc(1, sizeof *child->dictionary);
        done = child->dictionary != NULL && begin_schema(child->dictionary, "u", "");
    }
    child = done ? add_child_schema(out) : NULL;
    done = child != NULL && begin_schema(child, "I", "rank");
    child = done ? add_child_schema(out) : NULL;
    done = child != NULL && begin_schema(child, "l", "call_index");
    for (int c = 0; done && c < SP_COLUMN_COUNT; c++) {
        if (!(state->columns & SP_COLUMN_BIT(c))) {
            continue;
        }
        child = add_child_schema(out);
        done = child != NULL && begin_schema(child, "l", column_names[c]);
        if (done && c > SP_COLUMN_DURATION) {
            child->flags = FLAG_NULLABLE;
        }
    }
    if (!done && out->release != NULL) {
        out->release(out);
    }
    return done ? 0 : ENOMEM;
}

/* The dictionary of names, shared by all batches. */
static bool make_names(struct ArrowArray *names, const stream_state *state)
{
    PyObject *owner = PyTuple_Pack(2, state->offsets, state->names);
    bool done = owner != NULL && begin_array(names, state->num_names, 3, owner);
    Py_XDECREF(owner);
    if (done) {
        names->buffers[1] = PyBytes_AS_STRING(state->offsets);
        names->buffers[2] = PyBytes_AS_STRING(state->names);
    }
    return done;
}

/* The columns that are made: name, rank, call index. */
static bool make_constants(struct ArrowArray *batch, const stream_state *state, size_t row)
{
    const size_t count = (size_t)batch->length;
    const uint32_t values[] = {(uint32_t)sp_results_row_region(state->run->results, row),
                               sp_results_row(state->run->results, row)->rank};
    for (int field = 0; field < 3; field++) {
        struct ArrowArray *child = add_child_array(batch);
        void *memory = malloc(count * sizeof(int64_t) + 1);
        if (child == NULL || memory == NULL || !begin_array(child, batch->length, 2, NULL)) {
            free(memory);
            return false;
        }
        ((holder *)child->private_data)->memory = memory;
        child->buffers[1] = memory;
        for (size_t i = 0; i < count; i++) {
            if (field < 2) {
                ((uint32_t *)memory)[i] = values[field];
            } else {
                ((int64_t *)memory)[i] = (int64_t)i;
            }
        }
        if (field == 0) {
            child->dictionary = calloc(1, sizeof *child->dictionary);
            if (child->dictionary == NULL || !make_names(child->dictionary, state)) {
                return false;
            }
        }
    }
    return true;
}

/* A column of the run, or nothing but nulls where the row lacks it. */
static int make_column(struct ArrowArray *batch, stream_state *state, size_t row, sp_column column)
{
    const int64_t *values = NULL;
    size_t count = 0;
    struct ArrowArray *child = add_child_array(batch);
    if (child == NULL || !begin_array(child, batch->length, 2, (PyObject *)state->run)) {
        return SP_ERR_NO_MEMORY;
    }
    if (sp_results_row_columns(state->run->results, row) & SP_COLUMN_BIT(column)) {
        const int status = sp_results_column(state->run->results, row, column, &values, &count,
                                             &state->error);
        child->buffers[1] = values;
        return status;
    }
    holder *held = child->private_data;
    held->memory = calloc((size_t)batch->length + 1, sizeof(int64_t));
    child->null_count = batch->length;
    child->buffers[0] = child->buffers[1] = held->memory; /* bits and values are all zero */
    return held->memory == NULL ? SP_ERR_NO_MEMORY : SP_OK;
}

static int make_batch(stream_state *state, size_t row, struct ArrowArray *out)
{
    const sp_row *of = sp_results_row(state->run->results, row);
    int status = SP_OK;
    if (!begin_array(out, (int64_t)of->count, 1, NULL)) {
        return SP_ERR_NO_MEMORY;
    }
    if (!make_constants(out, state, row)) {
        status = SP_ERR_NO_MEMORY;
    }
    for (int c = 0; status == SP_OK && c < SP_COLUMN_COUNT; c++) {
        if (state->columns & SP_COLUMN_BIT(c)) {
            status = make_column(out, state, row, (sp_column)c);
        }
    }
    if (status != SP_OK) {
        out->release(out);
    }
    return status;
}

static int stream_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    stream_state *state = stream->private_data;
    int status = SP_OK;
    *out = (struct ArrowArray){0}; /* released: the end */
    if (state->next == state->count) {
        return 0;
    }
    PyGILState_STATE gil = PyGILState_Ensure();
    results_lock(state->run);
    status = make_batch(state, state->rows[state->next], out);
    results_unlock(state->run);
    PyGILState_Release(gil);
    state->next += status == SP_OK;
    return status == SP_OK ? 0 : status == SP_ERR_NO_MEMORY ? ENOMEM : EIO;
}

static const char *stream_error(struct ArrowArrayStream *stream)
{
    const stream_state *state = stream->private_data;
    return state->error.text[0] != '\0' ? state->error.text : NULL;
}

static void free_state(stream_state *state)
{
    Py_XDECREF(state->run);
    Py_XDECREF(state->offsets);
    Py_XDECREF(state->names);
    free(state->rows);
    free(state);
}

static void release_stream(struct ArrowArrayStream *stream)
{
    if (Py_IsInitialized()) {
        PyGILState_STATE gil = PyGILState_Ensure();
        free_state(stream->private_data);
        PyGILState_Release(gil);
    }
    stream->release = NULL;
}

/* ---- Python ---------------------------------------------------------------------------------*/

static void free_capsule(PyObject *capsule)
{
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    if (stream != NULL && stream->release != NULL) {
        stream->release(stream);
    }
    free(stream);
}

/* Offsets and bytes of all region names. */
static int collect_names(stream_state *state)
{
    const sp_results *results = state->run->results;
    const size_t count = sp_results_num_regions(results);
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        bytes += strlen(sp_results_region_name(results, i));
    }
    if (bytes > INT32_MAX || count > INT32_MAX) {
        PyErr_SetString(PyExc_OverflowError, "the names of the regions take more than 2 GiB");
        return -1;
    }
    state->offsets = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)((count + 1) * sizeof(int32_t)));
    state->names = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)bytes);
    if (state->offsets == NULL || state->names == NULL) {
        return -1;
    }
    char *offset = PyBytes_AS_STRING(state->offsets), *name = PyBytes_AS_STRING(state->names);
    int32_t at = 0;
    for (size_t i = 0; i <= count; i++) {
        memcpy(offset + i * sizeof at, &at, sizeof at);
        if (i < count) {
            const char *text = sp_results_region_name(results, i);
            memcpy(name + at, text, strlen(text));
            at += (int32_t)strlen(text);
        }
    }
    state->num_names = (int32_t)count;
    return 0;
}

static int collect_rows(stream_state *state, PyObject *rows)
{
    PyObject *items = PySequence_Tuple(rows);
    if (items == NULL) {
        return -1;
    }
    const size_t limit = sp_results_num_rows(state->run->results);
    const Py_ssize_t count = PyTuple_GET_SIZE(items);
    state->columns = SP_COLUMN_BIT(SP_COLUMN_START) | SP_COLUMN_BIT(SP_COLUMN_DURATION);
    state->rows = malloc(((size_t)count + 1) * sizeof *state->rows);
    if (state->rows == NULL) {
        PyErr_NoMemory();
    }
    for (Py_ssize_t i = 0; i < count && !PyErr_Occurred(); i++) {
        const Py_ssize_t row = results_index(PyTuple_GET_ITEM(items, i), limit, "row");
        if (row < 0) {
            break;
        }
        const sp_row *of = sp_results_row(state->run->results, (size_t)row);
        const unsigned columns = sp_results_row_columns(state->run->results, (size_t)row);
        if (of->has_aggregate || of->count == 0) {
            continue;
        }
        if (columns == 0) {
            results_raise(results_state_of((PyObject *)state->run), SP_ERR_NO_EVENTS, NULL);
            break;
        }
        state->columns |= columns;
        state->rows[state->count++] = (size_t)row;
    }
    Py_DECREF(items);
    return PyErr_Occurred() ? -1 : 0;
}

PyObject *run_arrow_stream(PyObject *self, PyObject *rows)
{
    stream_state *state = calloc(1, sizeof *state);
    struct ArrowArrayStream *stream = calloc(1, sizeof *stream);
    PyObject *capsule = NULL;
    if (state == NULL || stream == NULL) {
        free(state);
        free(stream);
        return PyErr_NoMemory();
    }
    state->run = (run_object *)Py_NewRef(self);
    if (collect_rows(state, rows) == 0 && collect_names(state) == 0) {
        capsule = PyCapsule_New(stream, "arrow_array_stream", free_capsule);
    }
    if (capsule == NULL) {
        free_state(state);
        free(stream);
        return NULL;
    }
    *stream = (struct ArrowArrayStream){.get_schema = stream_schema, .get_next = stream_next,
                                        .get_last_error = stream_error, .release = release_stream,
                                        .private_data = state};
    return capsule;
}
