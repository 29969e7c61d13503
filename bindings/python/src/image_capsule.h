/* image_capsule.h - how an in-memory run crosses from the extension that records to the one that
 * reads: a capsule whose pointer is a malloc'ed py_image. Whoever takes the data sets it to NULL;
 * the capsule frees the rest. */
#ifndef SCOPE_PYTHON_IMAGE_CAPSULE_H
#define SCOPE_PYTHON_IMAGE_CAPSULE_H

#include <stddef.h>

#define PY_IMAGE_CAPSULE "scope_profiler.image"

typedef struct py_image {
    void *data;
    size_t size;
} py_image;

#endif
