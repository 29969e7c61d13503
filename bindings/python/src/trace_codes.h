/* trace_codes.h - what the tracer knows of each code object, and of each C function: a hash from the
 * address that grows, and that an address leaves when what is there dies, because it will be
 * another's.
 *
 * Under the GIL. Looked into at every traced call.
 */
#ifndef SCOPE_PYTHON_TRACE_CODES_H
#define SCOPE_PYTHON_TRACE_CODES_H

#include "recorder_module.h"

typedef struct trace_code {
    const void *key; /* a code object, or what a C function is known by; NULL: a free slot */
    int32_t word;    /* region; TRACE_NOT: calls of it are not recorded; below: of a generator or
                        coroutine, see trace_code_region */
    int32_t body;    /* of those: offset in bytes of the instruction at which the body begins */
} trace_code;

enum { TRACE_NOT = -1 };

static inline bool trace_code_resumes(const trace_code *known)
{
    return known->word < TRACE_NOT;
}

static inline int32_t trace_code_region(const trace_code *known)
{
    return trace_code_resumes(known) ? TRACE_NOT - 1 - known->word : known->word;
}

typedef struct trace_codes {
    trace_code *slots;
    size_t mask; /* number of slots - 1 */
    size_t count;
    Py_ssize_t extra_index; /* where a code object keeps the word that tells of its death */
    size_t num_watches;
    PyObject *owners; /* {key of a C function: weak reference to its owner}; NULL: none yet */
    bool is_abandoned; /* no module any more; freed with the last code object */
} trace_codes;

/* NULL with MemoryError set. */
trace_codes *trace_codes_new(void);
void trace_codes_free(trace_codes *codes);
/* Adds a code object, or changes what is known of it. -1 without an exception: memory is short. */
int trace_codes_set(trace_codes *codes, PyCodeObject *code, int32_t region);
/* The same of a C function. `owner`: the object that its key lives as long as. */
int trace_codes_set_c(trace_codes *codes, const void *key, PyObject *owner, int32_t region);
/* Forgets everything; what was added stays watched. */
void trace_codes_clear(trace_codes *codes);

static inline size_t trace_codes_place(const trace_codes *codes, const void *key)
{
    uintptr_t bits = (uintptr_t)key >> 4;
    return (bits ^ bits >> 9) & codes->mask;
}

/* Where it is, unless it had to give way to another; for a quick look before trace_codes_find. */
static inline const trace_code *trace_codes_first(const trace_codes *codes, const void *key)
{
    return &codes->slots[trace_codes_place(codes, key)];
}

/* NULL: not met yet. Valid until the next change. */
static inline const trace_code *trace_codes_find(const trace_codes *codes, const void *key)
{
    size_t i = trace_codes_place(codes, key);
    while (codes->slots[i].key != key) {
        if (codes->slots[i].key == NULL) {
            return NULL;
        }
        i = (i + 1) & codes->mask;
    }
    return &codes->slots[i];
}

#endif
