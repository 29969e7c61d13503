/* replace.h - putting a file in place in one step: it is written under another name beside the
 * target, and takes the target's name only when it is complete and on the disk. Whatever happens
 * before that, the file that was there stays as it was. */
#ifndef SP_BASE_OS_REPLACE_H
#define SP_BASE_OS_REPLACE_H

#include "scope_plugin.h"

typedef struct sp_os_replacement {
    char *target;    /* the final name */
    char *temporary; /* .<name>.<random>.tmp in the same folder; write here */
    int descriptor;  /* of the temporary, open for reading and writing, closed on exec */
} sp_os_replacement;

/* Creates the temporary, and the folder of the target when it is missing. A target that exists and
 * is not a regular file is refused. SP_ERR_IO with the errno, SP_ERR_NO_MEMORY. */
int sp_os_replacement_open(sp_os_replacement *out, const char *target, sp_error *error);

/* Gives the temporary its final name, safe against a power cut. Ends the replacement either way;
 * on failure the temporary is gone. */
int sp_os_replacement_commit(sp_os_replacement *replacement, sp_error *error);

/* Removes the temporary. Zeroed memory and a second call are fine. */
void sp_os_replacement_abort(sp_os_replacement *replacement);

#endif
