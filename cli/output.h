/* output.h - text that a command writes to a file or to standard output. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include "command.h"

/* Writes `text` to `path`, "-" is standard output. Returns an exit code, after an error line when it
 * failed. */
int cli_write_text(const cli_command *command, const char *path, const char *text);

#endif
