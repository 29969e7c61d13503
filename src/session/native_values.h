/* native_values.h - the settings of a recording that native code starts, beside what it says itself. */
#ifndef SP_SESSION_NATIVE_VALUES_H
#define SP_SESSION_NATIVE_VALUES_H

#include "session/settings_table.h"

/* Fills `values` with what holds from outside the program, checked one by one and together; what
 * nobody sets is not given. Texts live as long as the environment. `is_default`: for the default
 * profiler; others hear only whether profiling is off. Under the lock of the profiler. */
int sp_native_gather(bool is_default, sp_setting_value values[SP_NUM_SETTINGS], sp_error *error);

#endif
