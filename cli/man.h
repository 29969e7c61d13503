/* man.h - manual pages, made from the tables. */
#ifndef CLI_MAN_H
#define CLI_MAN_H

#include "command.h"

/* Prints the page of a command in the language of man(7), that of the program itself for NULL. */
void cli_print_man(const cli_command *command);

#endif
