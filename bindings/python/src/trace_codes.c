#include "trace_codes.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 1024 };

/* ---- the death of code objects -------------------------------------------------------------- */

typedef struct watch {
    trace_codes *codes;
    PyCodeObject *code;
} watch;

static void release(trace_codes *codes)
{
    free(codes->slots);
    free(codes);
}

/* Closes the gap, so that a look-up still stops at the first free slot. */
static void forget(trace_codes *codes, const void *key)
{
    const trace_code *found = trace_codes_find(codes, key);
    if (found == NULL) {
        return;
    }
    size_t gap = (size_t)(found - codes->slots);
    codes->count--;
    for (size_t i = (gap + 1) & codes->mask; codes->slots[i].key != NULL;
         i = (i + 1) & codes->mask) {
        size_t wanted = trace_codes_place(codes, codes->slots[i].key);
        if (((i - wanted) & codes->mask) >= ((i - gap) & codes->mask)) {
            codes->slots[gap] = codes->slots[i];
            gap = i;
        }
    }
    codes->slots[gap].key = NULL;
}

static void code_dies(void *extra)
{
    watch *told = extra;
    if (told == NULL) {
        return;
    }
    trace_codes *codes = told->codes;
    codes->num_watches--;
    if (!codes->is_abandoned) {
        forget(codes, told->code);
    } else if (codes->num_watches == 0) {
        release(codes);
    }
    free(told);
}

/* A code object that cannot be watched is kept alive instead. */
static void watch_code(trace_codes *codes, PyCodeObject *code)
{
    void *known = NULL;
    if (codes->extra_index >= 0 &&
        _PyCode_GetExtra((PyObject *)code, codes->extra_index, &known) == 0) {
        if (known != NULL) {
            return;
        }
        watch *told = malloc(sizeof *told);
        if (told != NULL) {
            *told = (watch){codes, code};
            if (_PyCode_SetExtra((PyObject *)code, codes->extra_index, told) == 0) {
                codes->num_watches++;
                return;
            }
            free(told);
        }
    }
    PyErr_Clear();
    Py_INCREF(code);
}

/* ---- the death of C functions --------------------------------------------------------------- */

typedef struct owner_watch {
    trace_codes *codes;
    const void *key;
} owner_watch;

static const char watch_name[] = "scope_profiler watch of a C function";

static void free_watch(PyObject *capsule)
{
    free(PyCapsule_GetPointer(capsule, watch_name));
}

static PyObject *owner_dies(PyObject *capsule, PyObject *reference)
{
    (void)reference;
    const owner_watch *told = PyCapsule_GetPointer(capsule, watch_name);
    forget(told->codes, told->key);
    PyObject *number = PyLong_FromVoidPtr((void *)told->key);
    if (number == NULL || PyDict_DelItem(told->codes->owners, number) < 0) {
        PyErr_Clear();
    }
    Py_XDECREF(number);
    Py_RETURN_NONE;
}

static PyMethodDef owner_dies_method = {"_trace_owner_dies", owner_dies, METH_O, NULL};

/* A new weak reference that tells of the death of the owner. */
static PyObject *refer_to(trace_codes *codes, const void *key, PyObject *owner)
{
    owner_watch *told = malloc(sizeof *told);
    PyObject *capsule = told == NULL ? NULL : PyCapsule_New(told, watch_name, free_watch);
    if (capsule == NULL) {
        free(told);
        return NULL;
    }
    *told = (owner_watch){codes, key};
    PyObject *callback = PyCFunction_New(&owner_dies_method, capsule);
    PyObject *reference = callback == NULL ? NULL : PyWeakref_NewRef(owner, callback);
    Py_XDECREF(callback);
    Py_DECREF(capsule);
    return reference;
}

/* An owner that cannot be watched is kept alive instead. */
static void watch_owner(trace_codes *codes, const void *key, PyObject *owner)
{
    if (codes->owners == NULL) {
        codes->owners = PyDict_New();
    }
    PyObject *number = codes->owners == NULL ? NULL : PyLong_FromVoidPtr((void *)key);
    if (number != NULL && PyDict_GetItem(codes->owners, number) == NULL) {
        PyObject *reference = refer_to(codes, key, owner);
        PyErr_Clear();
        PyDict_SetItem(codes->owners, number, reference != NULL ? reference : owner);
        Py_XDECREF(reference);
    }
    Py_XDECREF(number);
    PyErr_Clear();
}

/* ---- the table ------------------------------------------------------------------------------ */

static trace_code *free_slot(const trace_codes *codes, const void *key)
{
    size_t i = trace_codes_place(codes, key);
    while (codes->slots[i].key != NULL) {
        i = (i + 1) & codes->mask;
    }
    return &codes->slots[i];
}

static int grow(trace_codes *codes)
{
    trace_code *old = codes->slots;
    size_t old_slots = codes->mask + 1;
    trace_code *slots = calloc(old_slots * 2, sizeof *slots);
    if (slots == NULL) {
        return -1;
    }
    codes->slots = slots;
    codes->mask = old_slots * 2 - 1;
    for (size_t i = 0; i < old_slots; i++) {
        if (old[i].key != NULL) {
            *free_slot(codes, old[i].key) = old[i];
        }
    }
    free(old);
    return 0;
}

trace_codes *trace_codes_new(void)
{
    trace_codes *codes = calloc(1, sizeof *codes);
    trace_code *slots = codes == NULL ? NULL : calloc(FIRST_SLOTS, sizeof *slots);
    if (slots == NULL) {
        free(codes);
        PyErr_NoMemory();
        return NULL;
    }
    codes->slots = slots;
    codes->mask = FIRST_SLOTS - 1;
    codes->extra_index = _PyEval_RequestCodeExtraIndex(code_dies);
    return codes;
}

void trace_codes_free(trace_codes *codes)
{
    codes->is_abandoned = true;
    Py_CLEAR(codes->owners);
    if (codes->num_watches == 0) {
        release(codes);
    }
}

void trace_codes_clear(trace_codes *codes)
{
    memset(codes->slots, 0, (codes->mask + 1) * sizeof *codes->slots);
    codes->count = 0;
}

/* Generators and coroutines are told apart where it is up to us to tell a start from a resumption: from
 * 3.12 on the interpreter does. */
static bool resumes(const PyCodeObject *code)
{
#if PY_VERSION_HEX >= 0x030c0000
    (void)code;
    return false;
#else
    return (code->co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR)) != 0;
#endif
}

/* On 3.11 a generator function first runs up to RETURN_GENERATOR, which makes the generator; its body
 * begins two instructions later, with RESUME. On 3.10 it begins with the code. */
static int32_t find_body(const PyCodeObject *code)
{
    int32_t body = 0;
#if PY_VERSION_HEX >= 0x030b0000 && PY_VERSION_HEX < 0x030c0000
    enum { RETURN_GENERATOR = 75, INSTRUCTION = 2 };
    const unsigned char *bytes = (const unsigned char *)code->co_code_adaptive;
    int32_t size = (int32_t)Py_SIZE(code) * INSTRUCTION;
    while (body < size && bytes[body] != RETURN_GENERATOR) {
        body += INSTRUCTION;
    }
    body += 2 * INSTRUCTION;
#else
    (void)code;
#endif
    return body;
}

/* The slot of a key that is in use now, new or not. NULL: memory is short. */
static trace_code *take_slot(trace_codes *codes, const void *key, bool *out_is_new)
{
    trace_code *slot = (trace_code *)trace_codes_find(codes, key);
    *out_is_new = slot == NULL;
    if (slot == NULL) {
        if (codes->count * 2 >= codes->mask && grow(codes) < 0 && codes->count >= codes->mask) {
            return NULL;
        }
        slot = free_slot(codes, key);
        slot->key = key;
        codes->count++;
    }
    return slot;
}

int trace_codes_set(trace_codes *codes, PyCodeObject *code, int32_t region)
{
    bool is_new;
    trace_code *slot = take_slot(codes, code, &is_new);
    if (slot == NULL) {
        return -1;
    }
    *slot = (trace_code){code, region, 0};
    if (region != TRACE_NOT && resumes(code)) {
        slot->word = TRACE_NOT - 1 - region;
        slot->body = find_body(code);
    }
    if (is_new) {
        watch_code(codes, code);
    }
    return 0;
}

int trace_codes_set_c(trace_codes *codes, const void *key, PyObject *owner, int32_t region)
{
    bool is_new;
    trace_code *slot = take_slot(codes, key, &is_new);
    if (slot == NULL) {
        return -1;
    }
    *slot = (trace_code){key, region, 0};
    if (is_new) {
        watch_owner(codes, key, owner);
    }
    return 0;
}
