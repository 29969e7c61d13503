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
static void forget(trace_codes *codes, const PyCodeObject *code)
{
    const trace_code *found = trace_codes_find(codes, code);
    if (found == NULL) {
        return;
    }
    size_t gap = (size_t)(found - codes->slots);
    codes->count--;
    for (size_t i = (gap + 1) & codes->mask; codes->slots[i].code != NULL;
         i = (i + 1) & codes->mask) {
        size_t wanted = trace_codes_place(codes, codes->slots[i].code);
        if (((i - wanted) & codes->mask) >= ((i - gap) & codes->mask)) {
            codes->slots[gap] = codes->slots[i];
            gap = i;
        }
    }
    codes->slots[gap].code = NULL;
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

/* ---- the table ------------------------------------------------------------------------------ */

static trace_code *free_slot(const trace_codes *codes, const PyCodeObject *code)
{
    size_t i = trace_codes_place(codes, code);
    while (codes->slots[i].code != NULL) {
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
        if (old[i].code != NULL) {
            *free_slot(codes, old[i].code) = old[i];
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

int trace_codes_set(trace_codes *codes, PyCodeObject *code, int32_t region)
{
    trace_code *slot = (trace_code *)trace_codes_find(codes, code);
    if (slot == NULL) {
        if (codes->count * 2 >= codes->mask && grow(codes) < 0 && codes->count >= codes->mask) {
            return -1;
        }
        slot = free_slot(codes, code);
        codes->count++;
        watch_code(codes, code);
    }
    *slot = (trace_code){code, region, 0};
    if (region != TRACE_NOT && resumes(code)) {
        slot->word = TRACE_NOT - 1 - region;
        slot->body = find_body(code);
    }
    return 0;
}
