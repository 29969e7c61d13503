#include "results/live.h"

#include "base/error.h"
#include "base/os/clock.h"
#include "base/os/journal_file.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define SECOND_NS 1e9

/* ---- Refresh ---------------------------------------------------------------------------------*/

static sp_live_row *row_of(sp_live *live, const sp_follow_region *region)
{
    sp_text made = {0};
    const char *name = region->name;
    if (name == NULL) {
        sp_text_format(&made, "region %u", region->region);
        name = made.failed ? "region" : made.bytes;
    }
    uint32_t i = sp_map_get(&live->row_index, name, strlen(name));
    if (i == SP_MAP_NONE) {
        const char *kept = sp_arena_text(&live->arena, name);
        i = (uint32_t)live->rows.count;
        if (kept != NULL && sp_vector_reserve(&live->rows, 1) && sp_vector_reserve(&live->order, 1) &&
            sp_map_add(&live->row_index, kept, strlen(kept), i)) {
            live->rows.items[live->rows.count++] = (sp_live_row){.name = kept};
            live->order.items[live->order.count++] = i;
        } else {
            live->is_short = true;
            i = SP_MAP_NONE;
        }
    }
    sp_text_release(&made);
    return i == SP_MAP_NONE ? NULL : &live->rows.items[i];
}

static sp_live_row *row_of_call(sp_live *live, const sp_follow *follow, uint32_t region)
{
    uint32_t i = sp_number_map_get(&follow->region_index, region);
    return i == SP_NUMBER_NONE ? NULL : row_of(live, &follow->regions.items[i]);
}

static void add_member(sp_live *live, const sp_follow *follow)
{
    for (size_t i = 0; i < follow->regions.count; i++) {
        const sp_follow_region *region = &follow->regions.items[i];
        sp_live_row *row = row_of(live, region);
        if (row == NULL)
            continue;
        row->calls += region->calls;
        row->total_ns += region->total_ns;
        row->own_ns += region->own_ns;
    }
    for (size_t i = 0; i < follow->lanes.count; i++)
        for (size_t k = 0; k < follow->lanes.items[i].open.count; k++) {
            const sp_follow_open *call = &follow->lanes.items[i].open.items[k];
            sp_live_row *row = row_of_call(live, follow, call->region);
            if (row == NULL)
                continue;
            row->open++;
            row->total_ns += call->elapsed_ns;
            row->own_ns += call->own_ns;
        }
}

static int64_t recent_own(const sp_live_row *row)
{
    return row->own_ns > row->own_before ? row->own_ns - row->own_before : 0;
}

/* When the period that rates are of began. */
static int64_t period_start(const sp_live *live, int64_t now_ns)
{
    int64_t start = now_ns;
    if (live->looked_ns > 0)
        return live->looked_ns;
    for (size_t i = 0; i < live->members.count; i++)
        if (live->members.items[i]->follow.owner.started_ns < start)
            start = live->members.items[i]->follow.owner.started_ns;
    return start;
}

static void rate_rows(sp_live *live, int64_t now_ns)
{
    double seconds = (double)(now_ns - period_start(live, now_ns)) / SECOND_NS;
    int64_t all = 0;
    for (size_t i = 0; i < live->rows.count; i++)
        all += recent_own(&live->rows.items[i]);
    for (size_t i = 0; i < live->rows.count; i++) {
        sp_live_row *row = &live->rows.items[i];
        uint64_t calls = row->calls > row->calls_before ? row->calls - row->calls_before : 0;
        row->calls_per_second = seconds > 0 ? (double)calls / seconds : 0;
        row->share = all > 0 ? (double)recent_own(row) / (double)all : 0;
    }
    live->looked_ns = now_ns;
}

/* Few rows change places from one refresh to the next. */
static void sort_rows(sp_live *live)
{
    for (size_t i = 1; i < live->order.count; i++) {
        uint32_t moved = live->order.items[i];
        const sp_live_row *row = &live->rows.items[moved];
        size_t at = i;
        for (; at > 0; at--) {
            const sp_live_row *other = &live->rows.items[live->order.items[at - 1]];
            if (other->share > row->share ||
                (!(other->share < row->share) &&
                 (other->own_ns > row->own_ns ||
                  (other->own_ns == row->own_ns && strcmp(other->name, row->name) <= 0))))
                break;
            live->order.items[at] = live->order.items[at - 1];
        }
        live->order.items[at] = moved;
    }
}

static int by_rank(const void *a, const void *b)
{
    const sp_owner_frame *x = &(*(sp_live_member *const *)a)->follow.owner;
    const sp_owner_frame *y = &(*(sp_live_member *const *)b)->follow.owner;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->owner.pid < y->owner.pid ? -1 : x->owner.pid > y->owner.pid;
}

static void list_lanes(sp_live *live)
{
    size_t count = 0;
    for (size_t i = 0; i < live->members.count; i++)
        count += live->members.items[i]->follow.lanes.count;
    void *grown = realloc(live->lanes, (count + 1) * sizeof *live->lanes);
    live->num_lanes = 0;
    if (grown == NULL) {
        live->is_short = true;
        return;
    }
    live->lanes = grown;
    for (size_t i = 0; i < live->members.count; i++) {
        const sp_follow *follow = &live->members.items[i]->follow;
        for (size_t k = 0; k < follow->lanes.count; k++) {
            const sp_follow_lane *lane = &follow->lanes.items[k];
            if (!lane->is_there || (lane->has_ended && lane->open.count == 0))
                continue;
            live->lanes[live->num_lanes].member = (uint32_t)i;
            live->lanes[live->num_lanes++].lane = (uint32_t)k;
        }
    }
}

static void look(sp_live *live, sp_live_member *member)
{
    if (member->is_final)
        return;
    member->state = sp_os_owner_look(&member->owner);
    live->is_short |= !sp_follow_look(&member->follow);
    member->is_final = member->state != SP_OS_OWNER_ALIVE;
}

int sp_live_refresh(sp_live *live, sp_error *error)
{
    live->is_short = false;
    sp_live_find_more(live);
    if (live->members.count > 1)
        qsort(live->members.items, live->members.count, sizeof(sp_live_member *), by_rank);
    for (size_t i = 0; i < live->rows.count; i++) {
        sp_live_row *row = &live->rows.items[i];
        *row = (sp_live_row){.name = row->name, .calls_before = row->calls,
                             .own_before = row->own_ns};
    }
    for (size_t i = 0; i < live->members.count; i++) {
        look(live, live->members.items[i]);
        add_member(live, &live->members.items[i]->follow);
    }
    rate_rows(live, sp_os_monotonic_ns());
    sort_rows(live);
    list_lanes(live);
    return live->is_short ? sp_fail_memory(error, "looking into a running program") : SP_OK;
}

/* ---- Questions -------------------------------------------------------------------------------*/

/* The caller may know fewer members. */
static void give(void *out, const void *info, size_t known, size_t size)
{
    size_t bytes = known < size ? known : size;
    memcpy((char *)out + sizeof(size_t), (const char *)info + sizeof(size_t),
           bytes > sizeof(size_t) ? bytes - sizeof(size_t) : 0);
}

size_t sp_live_num_running(const sp_live *live)
{
    size_t count = 0;
    for (size_t i = 0; i < live->members.count; i++)
        count += live->members.items[i]->state == SP_OS_OWNER_ALIVE;
    return count;
}

size_t sp_live_num_processes(const sp_live *live)
{
    return live->members.count;
}

static bool has_name(int descriptor)
{
    uint64_t size;
    bool is_named = false;
    return descriptor >= 0 && sp_os_journal_look(descriptor, &size, &is_named) && is_named;
}

void sp_live_process_at(const sp_live *live, size_t i, sp_live_process *out)
{
    if (i >= live->members.count)
        return;
    const sp_live_member *member = live->members.items[i];
    const sp_follow *follow = &member->follow;
    const sp_owner_frame *owner = &follow->owner;
    bool is_running = member->state == SP_OS_OWNER_ALIVE;
    bool is_left = has_name(follow->rings);
    for (size_t k = 0; k < follow->files.count; k++)
        is_left = is_left || has_name(follow->files.items[k].descriptor);
    sp_live_process info = {
        .pid = owner->owner.pid, .rank = owner->rank, .program = owner->owner.program,
        .output = owner->output.bytes, .started_at_ns = owner->started_at_ns,
        .elapsed_ns = follow->now_ns - owner->started_ns, .is_running = is_running,
        .has_left = !is_running && is_left, .calls = follow->num_calls,
        .missing_calls = follow->missing_calls};
    give(out, &info, out->size, sizeof info);
}

size_t sp_live_num_lanes(const sp_live *live)
{
    return live->num_lanes;
}

static const sp_follow_lane *lane_at(const sp_live *live, size_t i)
{
    return &live->members.items[live->lanes[i].member]->follow.lanes.items[live->lanes[i].lane];
}

void sp_live_lane_at(const sp_live *live, size_t i, sp_live_lane *out)
{
    if (i >= live->num_lanes)
        return;
    const sp_follow_lane *lane = lane_at(live, i);
    sp_live_lane info = {.process = live->lanes[i].member, .lane = live->lanes[i].lane,
                         .name = lane->name, .native_id = lane->native_id, .calls = lane->calls,
                         .num_open = lane->open.count};
    give(out, &info, out->size, sizeof info);
}

void sp_live_call_at(const sp_live *live, size_t lane, size_t i, sp_live_call *out)
{
    if (lane >= live->num_lanes || i >= lane_at(live, lane)->open.count)
        return;
    const sp_follow *follow = &live->members.items[live->lanes[lane].member]->follow;
    const sp_follow_open *call = &lane_at(live, lane)->open.items[i];
    uint32_t region = sp_number_map_get(&follow->region_index, call->region);
    const char *name = region == SP_NUMBER_NONE ? NULL : follow->regions.items[region].name;
    sp_live_call info = {.region = name == NULL ? "?" : name, .depth = call->depth,
                         .elapsed_ns = call->elapsed_ns, .own_ns = call->own_ns};
    give(out, &info, out->size, sizeof info);
}

size_t sp_live_num_regions(const sp_live *live)
{
    return live->order.count;
}

void sp_live_region_at(const sp_live *live, size_t i, sp_live_region *out)
{
    if (i >= live->order.count)
        return;
    const sp_live_row *row = &live->rows.items[live->order.items[i]];
    sp_live_region info = {.name = row->name, .calls = row->calls, .open = row->open,
                           .total_ns = row->total_ns, .own_ns = row->own_ns,
                           .calls_per_second = row->calls_per_second, .share = row->share};
    give(out, &info, out->size, sizeof info);
}

void sp_live_close(sp_live *live)
{
    if (live == NULL)
        return;
    for (size_t i = 0; i < live->members.count; i++) {
        sp_follow_release(&live->members.items[i]->follow);
        free(live->members.items[i]);
    }
    sp_vector_release(&live->members);
    sp_vector_release(&live->outputs);
    sp_vector_release(&live->folders);
    sp_vector_release(&live->rows);
    sp_vector_release(&live->order);
    sp_map_release(&live->row_index);
    free(live->lanes);
    sp_arena_release(&live->arena);
    free(live);
}
