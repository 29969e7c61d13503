/* part.h - the options that leave calls out of a profile: warm-up, and what is outside of a window of
 * time. */
#ifndef CLI_PART_H
#define CLI_PART_H

#include "command.h"

#include "scope_results.h"

/* Rows of an option table. */
#define CLI_PART_OPTIONS                                                                           \
    {.name = "skip-calls", .kind = CLI_VALUE, .value_name = "[REGION=]N",                          \
     .help = "leave out warm-up: the first N calls of each region that has more, or of REGION; may " \
             "be repeated"},                                                                       \
    {.name = "warmup", .kind = CLI_VALUE, .value_name = "REGION",                                  \
     .help = "leave out what was before the last call of REGION had ended"},                       \
    {.name = "from", .kind = CLI_VALUE, .value_name = "SECONDS",                                   \
     .help = "leave out what was before, counted from the first entry"},                           \
    {.name = "to", .kind = CLI_VALUE, .value_name = "SECONDS", .help = "leave out what was after"}

/* Opens the part of a profile that these options leave, or prints one line that names the file and the
 * trouble. Returns an exit code. */
int cli_open_part(const cli_arguments *arguments, const char *path, sp_results **out);

#endif
