/* progress.h - a bar on standard error while work takes longer than a second. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "scope_results.h"

/* Shows the bar for work on this run. Nothing happens when standard error is no terminal, unless
 * SCOPE_PROFILER_PROGRESS says "always"; "never" switches it off. */
void cli_show_progress(sp_results *results);
/* Takes the bar away, before something is printed. */
void cli_hide_progress(void);

#endif
