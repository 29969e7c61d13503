/* region_measured.h - classes of regions that tell more of their calls than times. */
#ifndef SCOPE_PYTHON_REGION_MEASURED_H
#define SCOPE_PYTHON_REGION_MEASURED_H

#include "recorder_module.h"

typedef struct region_kind {
    size_t field; /* of recorder_state, where the class goes */
    const char *full_name, *text;
    PyMethodDef *methods;    /* NULL: none of its own */
    PyGetSetDef *attributes; /* likewise */
} region_kind;

const region_kind *region_measured_kinds(size_t *out_count);

#endif
