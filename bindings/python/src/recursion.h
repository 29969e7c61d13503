/* recursion.h - lets a C function that calls back into Python sit in a recursion without shortening
 * or crashing it.
 *
 * CPython 3.12 and 3.13 allow only some hundred to some thousand nested calls that pass through C,
 * whatever the recursion limit. A wrapper gives the units of its level back, so that a decorated
 * function recurses as deep as an undecorated one, for as long as a quarter of the C stack is left.
 * CPython 3.10 and 3.11 do not look at the C stack at all and would crash. Both end here in the
 * RecursionError that Python itself raises. From 3.14 on the interpreter checks the stack itself.
 *
 * Near the top of the stack there is nothing to do, which one comparison finds out:
 *
 *     if (recursion_is_shallow()) { ...call...; return; }
 *     recursion_level level;
 *     if (recursion_enter(&level) < 0) return NULL;
 *     ...call...
 *     recursion_leave(&level);
 */
#ifndef SCOPE_PYTHON_RECURSION_H
#define SCOPE_PYTHON_RECURSION_H

#include "recorder_module.h"

#include <stdint.h>

typedef struct recursion_level {
    PyThreadState *thread; /* NULL: nothing was given back */
} recursion_level;

#if PY_VERSION_HEX < 0x030e0000

/* Addresses of this thread's stack at which nothing is to be done; empty until first asked for. */
typedef struct stack_zone {
    uintptr_t lowest;
    uintptr_t size;
} stack_zone;

extern __thread stack_zone recursion_shallow_zone __attribute__((tls_model("initial-exec")));

static inline bool recursion_is_shallow(void)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    return __builtin_expect(here - recursion_shallow_zone.lowest < recursion_shallow_zone.size, 1);
}

/* 0, or -1 with RecursionError set. */
int recursion_enter(recursion_level *level);
void recursion_leave(const recursion_level *level);

#else

static inline bool recursion_is_shallow(void)
{
    return true;
}

static inline int recursion_enter(recursion_level *level)
{
    level->thread = NULL;
    return 0;
}

static inline void recursion_leave(const recursion_level *level)
{
    (void)level;
}

#endif
#endif
