/* recursion.h - lets a C function that calls back into Python sit in a recursion without shortening
 * or crashing it.
 *
 * CPython 3.12 and 3.13 allow only some hundred to some thousand nested calls that pass through C,
 * whatever the recursion limit. A wrapper gives the unit of its level back, so that a decorated
 * function recurses as deep as an undecorated one, for as long as a quarter of the C stack is left.
 * CPython 3.10 and 3.11 do not look at the C stack at all and would crash. Both end here in the
 * RecursionError that Python itself raises. From 3.14 on the interpreter checks the stack itself.
 */
#ifndef SCOPE_PYTHON_RECURSION_H
#define SCOPE_PYTHON_RECURSION_H

#include "recorder_module.h"

#include <stdint.h>

#if PY_VERSION_HEX < 0x030e0000

/* The part of this thread's stack that may be used; `size` 0 until first asked for. */
typedef struct stack_range {
    uintptr_t lowest;
    uintptr_t size;
} stack_range;

extern __thread stack_range recursion_stack __attribute__((tls_model("initial-exec")));

/* Slow half: looks up the stack of a new thread, raises near its end. 0 to go on; `out_guarded`
 * tells whether this stack is one that we know. */
int recursion_check(uintptr_t here, bool *out_guarded);

/* What one run of the evaluation loop takes off the count. */
enum { RECURSION_UNITS = 2 };

typedef struct recursion_level {
    PyThreadState *thread; /* NULL: nothing was given back */
} recursion_level;

static inline PyThreadState *recursion_thread(void)
{
#if PY_VERSION_HEX >= 0x030d0000
    return PyThreadState_GetUnchecked();
#else
    return _PyThreadState_UncheckedGet();
#endif
}

/* 0, or -1 with RecursionError set. */
static inline int recursion_enter(recursion_level *level)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    bool is_guarded = true;
    level->thread = NULL;
    if (__builtin_expect(here - recursion_stack.lowest >= recursion_stack.size, 0) &&
        recursion_check(here, &is_guarded) < 0) {
        return -1;
    }
#if PY_VERSION_HEX >= 0x030c0000
    if (is_guarded) {
        level->thread = recursion_thread();
        level->thread->c_recursion_remaining += RECURSION_UNITS;
    }
#endif
    return 0;
}

static inline void recursion_leave(const recursion_level *level)
{
#if PY_VERSION_HEX >= 0x030c0000
    if (level->thread != NULL) {
        level->thread->c_recursion_remaining -= RECURSION_UNITS;
    }
#else
    (void)level;
#endif
}

#else

typedef struct recursion_level {
    char unused;
} recursion_level;

static inline int recursion_enter(recursion_level *level)
{
    (void)level;
    return 0;
}

static inline void recursion_leave(const recursion_level *level)
{
    (void)level;
}

#endif
#endif
