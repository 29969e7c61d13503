/* linkage.h - whether a native program can record. */
#ifndef CLI_LINKAGE_H
#define CLI_LINKAGE_H

#include <stdbool.h>

/* True when the file is a binary that the system's loader starts (not a script). */
bool cli_is_binary(const char *path);

/* True when neither the binary nor a library that the loader would bring in holds the recorder.
 * False whenever that cannot be told. */
bool cli_lacks_recorder(const char *path);

/* Which MPI the loader would bring in for the binary: "openmpi", "mpich" or NULL. */
const char *cli_mpi_of(const char *path);

#endif
