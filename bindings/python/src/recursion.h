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

/* Address of this thread's stack from which on upwards there is nothing to do, the highest there is
 * until first asked for. What lies beyond the top is a stack of another kind, where nothing is done
 * either. */
extern __thread uintptr_t recursion_shallow_from __attribute__((tls_model("initial-exec")));

static inline bool recursion_is_shallow(void)
{
    return __builtin_expect((uintptr_t)__builtin_frame_address(0) >= recursion_shallow_from, 1);
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
