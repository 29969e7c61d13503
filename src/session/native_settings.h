/* native_settings.h - what native code sets before sp_init starts its recording. */
#ifndef SP_SESSION_NATIVE_SETTINGS_H
#define SP_SESSION_NATIVE_SETTINGS_H

#include "session/profiler.h"

typedef struct sp_native_settings {
    bool has_format; /* else the default of the build */
    sp_output_format format;
    bool is_aggregate;
} sp_native_settings;

/* For the next sp_init; under the lock of the default profiler. */
extern sp_native_settings sp_native_next;

/* What the name of a file of that format ends with. */
const char *sp_output_suffix(sp_output_format format);

#endif
