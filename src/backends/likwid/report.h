/* report.h - what was counted, as the texts that a profile keeps (docs/FORMATS.md). */
#ifndef SP_BACKENDS_LIKWID_REPORT_H
#define SP_BACKENDS_LIKWID_REPORT_H

#include "backends/likwid/region.h"

/* Names as JSON, kept because LIKWID forgets them at the close of its markers. */
typedef struct likwid_group {
    int num_events;
    char *name, *events, *counters;
} likwid_group;

typedef struct likwid_groups {
    likwid_group *items;
    int count;
} likwid_groups;

/* While the markers are up. False: memory is short. */
bool sp_likwid_groups_take(likwid_groups *groups, const likwid_functions *likwid);
void sp_likwid_groups_release(likwid_groups *groups);

/* {"<rank>": {tag: counters}}; free() it. NULL: nothing was counted, or memory is short. */
char *sp_likwid_report(const likwid_groups *groups, likwid_thread *first, uint32_t rank);
/* {"<rank>": {variable: text}} of the variables whose names begin with LIKWID_; the same. */
char *sp_likwid_environment(uint32_t rank);

#endif
