/* show.h - opening a file with the program that the desktop has for it. */
#ifndef CLI_SHOW_H
#define CLI_SHOW_H

#include "command.h"

/* $BROWSER, else xdg-open, else open, started on its own. Returns an exit code, after an error line
 * when none of them can be started. */
int cli_show(const cli_command *command, const char *path);

#endif
