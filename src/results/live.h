/* live.h - recordings that are followed together. Inside this layer.
 *
 * live.c       what is asked of them
 * live_find.c  which ones they are */
#ifndef SP_RESULTS_LIVE_H
#define SP_RESULTS_LIVE_H

#include "base/arena.h"
#include "base/map.h"
#include "base/os/owner.h"
#include "base/vector.h"
#include "scope_live.h"
#include "store/journal/find.h"
#include "store/journal/follow.h"

typedef struct sp_live_member {
    sp_follow follow;
    sp_os_owner owner;
    sp_os_owner_state state;
    bool is_final; /* it has ended, and that was looked at */
} sp_live_member;

typedef struct sp_live_row {
    const char *name;
    uint64_t calls, open, calls_before;
    int64_t total_ns, own_ns, own_before;
    double calls_per_second, share;
} sp_live_row;

struct sp_live {
    sp_arena arena; /* names of regions, outputs */
    SP_VECTOR(sp_live_member *) members;
    SP_VECTOR(const char *) outputs; /* of which further processes may come */
    SP_VECTOR(const char *) folders; /* of the journals of each, "": beside it */
    sp_map row_index;
    SP_VECTOR(sp_live_row) rows;
    SP_VECTOR(uint32_t) order;
    struct {
        uint32_t member, lane;
    } *lanes;
    size_t num_lanes;
    int64_t looked_ns; /* at the refresh before; 0: none */
    bool is_short;     /* memory was */
};

/* A file of a recording that is under way, or of one that is followed. Also a visitor. */
void sp_live_take(void *live, const sp_journal_found *found);
/* Further files, and processes with the same outputs. */
void sp_live_find_more(sp_live *live);

#endif
