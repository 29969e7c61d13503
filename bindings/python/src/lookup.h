/* lookup.h - `region` of a manager: the region of a name, got or made.
 *
 * A plain callable without binding, kept as attribute of the class and of each manager, so that
 * `ProfileManager.region("x")` costs one call, one hash and one dictionary look-up.
 */
#ifndef SCOPE_PYTHON_LOOKUP_H
#define SCOPE_PYTHON_LOOKUP_H

#include "profiler.h"

int lookup_init(PyObject *module, recorder_state *state);

#endif
