/* files.h - the file arguments of reading commands. */
#ifndef CLI_FILES_H
#define CLI_FILES_H

#include "command.h"

#include "scope_results.h"

/* Expands patterns (*, ?, [...]) among the words from `first` on; a word that names an existing file
 * stays as it is. Returns false after an error line when a pattern matches nothing. Strings and array are
 * allocated; release with cli_release_files. */
bool cli_expand_files(const cli_arguments *arguments, size_t first, char ***out_files,
                      size_t *out_count);
/* The same for the words [first, end). */
bool cli_expand_words(const cli_arguments *arguments, size_t first, size_t end, char ***out_files,
                      size_t *out_count);
void cli_release_files(char **files, size_t count);

/* Opens a run, or prints one line that names the file and the trouble. Returns an exit code. */
int cli_open(const cli_command *command, const char *path, sp_results **out);

/* Prints the line for a failed operation on `path`; returns the exit code that goes with it. */
int cli_fail_on(const cli_command *command, const char *path, int status, const sp_error *error);

#endif
