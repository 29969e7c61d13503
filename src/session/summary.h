/* summary.h - printing the summary of a run that has just been published. */
#ifndef SP_SESSION_SUMMARY_H
#define SP_SESSION_SUMMARY_H

#include <stddef.h>

/* Of the file `path`, or (NULL) of the image, which is taken over. Opens the results library; goes to
 * standard output, to standard error when that is no terminal. Trouble is one line there. */
void sp_summary_print(const char *path, void *image, size_t image_size);

#endif
