/* native_files.h - the files that native programs left, among files and folders. */
#ifndef CLI_NATIVE_FILES_H
#define CLI_NATIVE_FILES_H

#include "command.h"

/* Traces and per-rank profiles that the words name, sorted, each once. A folder gives its *.spt and
 * *_rank<number>.h5 files, not those of its folders, so that a merged profile beside them is not taken;
 * a file that is named is taken whatever its name. Patterns are expanded. Returns CLI_OK, or an exit
 * code after an error line; release with cli_release_files. */
int cli_find_native_files(const cli_arguments *arguments, char ***out_files, size_t *out_count);

#endif
