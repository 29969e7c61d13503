/* names.h - what journal files are called and where they are found. */
#ifndef SP_STORE_JOURNAL_NAMES_H
#define SP_STORE_JOURNAL_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* Makes the journal file of an output, `folder` NULL: beside it: <name>.journal, or with a number or
 * (where others may write) something random before the ending. A folder that is missing is made.
 * Returns the descriptor and its path, which the caller frees; -1 with errno and in `out_tried` the
 * path that failed (free it; NULL: memory is short). */
int sp_journal_create_file(const char *output, const char *folder, char **out_path,
                           char **out_tried);

/* Whether a file of that name may be a journal of the output with this base name; of any output when
 * `base` is NULL. */
bool sp_journal_name_fits(const char *name, const char *base);

#endif
