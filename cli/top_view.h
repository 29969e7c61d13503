/* top_view.h - a running program as text. */
#ifndef CLI_TOP_VIEW_H
#define CLI_TOP_VIEW_H

#include "scope_live.h"

#include <stdbool.h>
#include <stddef.h>

enum { CLI_TOP_REGIONS = 15 };

typedef struct cli_top_options {
    size_t regions; /* how many at most */
    size_t columns; /* of the terminal, 0: any */
    bool has_color;
} cli_top_options;

/* On standard output. */
void cli_top_print(const sp_live *live, const cli_top_options *options);

#endif
