/* region_method.h - the descriptors behind `__enter__` and `__exit__` of a region.
 *
 * With ordinary methods every `with` creates two bound builtin functions. This descriptor hands out
 * functions that the region keeps, so a `with` allocates nothing. Looked up on the class it gives
 * itself, and it can be called with the region as first argument, as any method can.
 */
#ifndef SCOPE_PYTHON_REGION_METHOD_H
#define SCOPE_PYTHON_REGION_METHOD_H

#include "recorder_module.h"

int region_method_init(recorder_state *state);

/* `offset`: where in a region_object the bound function lies. The strings must be constants. */
PyObject *region_method_new(recorder_state *state, const char *name, const char *text,
                            Py_ssize_t offset);

#endif
