/* settings_file.h - settings from a TOML file, for programs without Python. What it accepts and what it
 * says is what the Python package does. */
#ifndef SP_SESSION_SETTINGS_FILE_H
#define SP_SESSION_SETTINGS_FILE_H

#include "base/arena.h"
#include "session/settings_table.h"

/* Reads the settings of a file into `values`: those that it names, checked one by one and together. They stand in the
 * table [profiling], or at the top where there is none; the sub-tables have the fields of the option
 * groups. Texts go to `arena`. SP_ERR_INVALID_ARGUMENT (with the file and what is wrong), SP_ERR_IO,
 * SP_ERR_NO_MODULE, SP_ERR_NO_MEMORY; values are then partly set. */
int sp_settings_file_read(const char *path, sp_arena *arena,
                          sp_setting_value values[SP_NUM_SETTINGS], sp_error *error);

#endif
