/* process.h - the running process: its number, its environment, lines on standard error. */
#ifndef SP_BASE_OS_PROCESS_H
#define SP_BASE_OS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

int64_t sp_os_process_id(void);

/* Value of an environment variable; NULL when it is not set. */
const char *sp_os_environment(const char *name);

/* All of it, "NAME=value" each, NULL at the end; as the program has it now. */
char *const *sp_os_environment_all(void);

/* The words of the command, separated by blanks. False when it cannot be read; a longer one is cut. */
bool sp_os_command_line(char *out, size_t room);
int64_t sp_os_user_id(void);

/* Writes one line to standard error in one call, whatever the program has done with stdio. */
void sp_os_print_line(const char *text, size_t length);

/* What the machine is, without its name: "Linux-6.1.0-x86_64". False when it does not fit. */
bool sp_os_platform(char *out, size_t room);

/* System, name of the machine, release, version and kind of processor. False when it does not fit. */
bool sp_os_system_name(char *out, size_t room);

bool sp_os_is_terminal(FILE *stream);

#endif
