#include "recursion.h"

#if PY_VERSION_HEX < 0x030e0000

#include <pthread.h>

typedef struct stack_zone {
    uintptr_t lowest;
    uintptr_t size;
} stack_zone;

__thread uintptr_t recursion_shallow_from __attribute__((tls_model("initial-exec"))) = UINTPTR_MAX;

/* The whole stack of this thread; size 0 until known, 1 when the system does not say. */
static __thread stack_zone whole_stack __attribute__((tls_model("initial-exec")));

enum {
    /* So much stack holds only a part of the 1,500 units that 3.12 allows: a level of evaluation
     * takes two and some 500 bytes. */
    SHALLOW_BYTES = 64 * 1024,
    /* What one run of the evaluation loop takes off the count. */
    UNITS_OF_LEVEL = 2
};

static void find_stack(void)
{
    whole_stack = (stack_zone){0, 1};
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) {
        return;
    }
    void *base = NULL;
    size_t size = 0;
    if (pthread_attr_getstack(&attributes, &base, &size) == 0 && size > 4) {
        whole_stack = (stack_zone){(uintptr_t)base, size};
        uintptr_t shallow = size - size / 4;
#if PY_VERSION_HEX >= 0x030c0000
        shallow = shallow < SHALLOW_BYTES ? shallow : SHALLOW_BYTES;
#endif
        recursion_shallow_from = (uintptr_t)base + size - shallow;
    }
    pthread_attr_destroy(&attributes);
}

#if PY_VERSION_HEX >= 0x030c0000

static void give_back(recursion_level *level)
{
#if PY_VERSION_HEX >= 0x030d0000
    level->thread = PyThreadState_GetUnchecked();
#else
    level->thread = _PyThreadState_UncheckedGet();
#endif
    level->thread->c_recursion_remaining += UNITS_OF_LEVEL;
}

static void take_again(const recursion_level *level)
{
    level->thread->c_recursion_remaining -= UNITS_OF_LEVEL;
}

#else

static void give_back(recursion_level *level)
{
    (void)level;
}

static void take_again(const recursion_level *level)
{
    (void)level;
}

#endif

int recursion_enter(recursion_level *level)
{
    level->thread = NULL;
    if (whole_stack.size == 0) {
        find_stack();
    }
    uintptr_t room = (uintptr_t)__builtin_frame_address(0) - whole_stack.lowest;
    if (room >= whole_stack.size) {
        /* A stack that another library switched to: nothing is known about it. */
        return 0;
    }
    if (room < whole_stack.size / 4) {
        PyErr_SetString(PyExc_RecursionError, "maximum recursion depth exceeded: three quarters "
                                              "of the C stack are in use");
        return -1;
    }
    give_back(level);
    return 0;
}

void recursion_leave(const recursion_level *level)
{
    if (level->thread != NULL) {
        take_again(level);
    }
}

#endif
