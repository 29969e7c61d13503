/* export_names.h - how the files of an export are called. */
#ifndef CLI_EXPORT_NAMES_H
#define CLI_EXPORT_NAMES_H

#include "scope_results.h"

/* "<folder>/profile[_<label>]<ending>", the label only where there are several runs; numbered when
 * `taken` holds that name already. Allocated; also in `taken`. */
typedef struct cli_names {
    char **items;
    size_t count;
} cli_names;

char *cli_export_name(cli_names *taken, const char *folder, sp_results *results, bool is_one_of_many,
                      const char *ending);
void cli_release_names(cli_names *taken);

#endif
