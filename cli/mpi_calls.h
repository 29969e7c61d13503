/* mpi_calls.h - recording the calls of MPI that a native program makes. */
#ifndef CLI_MPI_CALLS_H
#define CLI_MPI_CALLS_H

#include "command.h"

/* Makes the loader put the recording library of the program's MPI first, in this process's environment.
 * An exit code; on failure it was said what is missing. `path` of the program, `word` as it was given. */
int cli_record_mpi_calls(const cli_command *command, const char *path, const char *word);

#endif
