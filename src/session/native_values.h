/* native_values.h - the settings of a recording that native code starts, beside what it says itself. */
#ifndef SP_SESSION_NATIVE_VALUES_H
#define SP_SESSION_NATIVE_VALUES_H

#include "base/arena.h"
#include "session/settings_table.h"

/* Fills `values` with what holds from outside the program, checked one by one and together; what
 * nobody sets is not given. The environment wins over the settings file, which is that of the
 * environment, else the one that the program named. Texts go to `arena` or live as long as the
 * environment. `is_default`: for the default profiler; others hear only whether profiling is off. Under
 * the lock of the profiler. */
int sp_native_gather(bool is_default, sp_arena *arena, sp_setting_value values[SP_NUM_SETTINGS],
                     sp_error *error);

/* The part of it that says what is counted, for runs that the environment alone describes. */
int sp_native_add_counters(sp_arena *arena, sp_setting_value values[SP_NUM_SETTINGS],
                           sp_error *error);

/* Path with {rank}, {pid}, {host}, {job} and {array} filled in; other braces stay. free() it; NULL: memory
 * is short. */
char *sp_native_fill_in(const char *path, int rank);

#endif
