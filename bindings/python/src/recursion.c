#include "recursion.h"

#if PY_VERSION_HEX < 0x030e0000

#include <pthread.h>

__thread stack_range recursion_stack __attribute__((tls_model("initial-exec")));

/* Upper three quarters of the calling thread's stack; false when the system does not say. */
static bool find_stack(stack_range *out)
{
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) {
        return false;
    }
    void *base = NULL;
    size_t size = 0;
    int failed = pthread_attr_getstack(&attributes, &base, &size);
    pthread_attr_destroy(&attributes);
    if (failed != 0 || size == 0) {
        return false;
    }
    out->lowest = (uintptr_t)base + size / 4;
    out->size = size - size / 4;
    return true;
}

int recursion_check(uintptr_t here, bool *out_guarded)
{
    *out_guarded = false;
    if (recursion_stack.size == 0 && !find_stack(&recursion_stack)) {
        return 0;
    }
    if (here - recursion_stack.lowest < recursion_stack.size) {
        *out_guarded = true;
        return 0;
    }
    /* Below the upper three quarters, but still on this stack? Elsewhere means a stack that another
     * library switched to, of which nothing is known. */
    uintptr_t reserve = recursion_stack.size / 3;
    if (recursion_stack.lowest - here > reserve) {
        return 0;
    }
    PyErr_SetString(PyExc_RecursionError,
                    "maximum recursion depth exceeded: three quarters of the C stack are in use");
    return -1;
}

#endif
