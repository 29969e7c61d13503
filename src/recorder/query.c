#include "recorder/query.h"

#include "clock/clock.h"
#include "log/record.h"
#include "recorder/drain.h"
#include "recorder/lane_counts.h"
#include "recorder/lane_sums.h"
#include "recorder/stack.h"
#include "recorder/task.h"

/* Under the drain lock. */
static int64_t count_open(const sp_lane *lane, uint32_t region)
{
    int64_t count = 0;
    sp_strand_view view;
    for (size_t i = 0; sp_lane_view(lane, i, &view); i++)
        for (const sp_frame *frame = view.outermost; frame <= view.top; frame++)
            count += (uint32_t)sp_frame_key(frame) == region && sp_frame_is_call(frame);
    return count;
}

static int64_t count_pending(const sp_lane *lane, uint32_t region)
{
    size_t words;
    const uint64_t *at = sp_drain_pending(lane, &words), *end = at + words;
    int64_t count = 0;
    for (; at < end; at += sp_record_words(at[0])) {
        sp_record_kind kind = sp_record_kind_of(at[0]);
        bool is_call = kind == SP_RECORD_CALL || kind == SP_RECORD_CALL_MARKED;
        count += is_call && sp_record_region(at[0]) == region;
    }
    return count;
}

static int64_t count_summed(const sp_sums *sums, uint32_t region)
{
    const sp_sum *sum = sp_sums_find(sums, region);
    return sum == NULL ? 0 : (int64_t)(sum->count + sum->opened + sum->untimed);
}

int64_t sp_recording_num_calls(sp_recording *recording, uint32_t region)
{
    sp_lane *own = sp_recording_lock(recording);
    int64_t count = count_summed(&recording->past, region) +
                    count_summed(&recording->published, region);
    for (size_t i = 0; i < recording->lanes.count; i++) {
        sp_lane *lane = recording->lanes.items[i];
        sp_mutex_lock(&lane->lock);
        sp_lane_update_sums(lane);
        sp_lane_collect_counts(lane);
        count += count_summed(&lane->sums, region) + count_pending(lane, region) +
                 count_open(lane, region);
        sp_mutex_unlock(&lane->lock);
    }
    sp_recording_unlock(recording, own);
    return count;
}

static bool is_among(int64_t ident, const int64_t *idents, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (idents[i] == ident)
            return true;
    return false;
}

bool sp_recording_has_other_thread(sp_recording *recording, const int64_t *idents, size_t count)
{
    bool has_other = false;
    sp_mutex_lock(&recording->lock);
    for (size_t i = 0; i < recording->threads.count && !has_other; i++) {
        const sp_thread_info *info = &recording->threads.items[i];
        has_other = info->end_ns < 0 && info->ident != -1 && !is_among(info->ident, idents, count);
    }
    sp_mutex_unlock(&recording->lock);
    return has_other;
}

/* In aggregate mode a drain costs no memory, so the sums are brought up to date; otherwise what is
 * still in the ring is added up aside. */
static void add_lane(sp_recording *recording, sp_lane *lane, uint32_t region, sp_sum *out)
{
    sp_sums pending = {0};
    sp_lane_collect_counts(lane);
    if (recording->is_aggregate) {
        sp_drain_other(lane);
    } else {
        sp_lane_update_sums(lane);
        size_t words;
        const uint64_t *at = sp_drain_pending(lane, &words);
        sp_sums_add_words(&pending, at, words, &recording->timeline, NULL);
    }
    const sp_sum *found[2] = {sp_sums_find(&lane->sums, region), sp_sums_find(&pending, region)};
    for (int i = 0; i < 2; i++)
        if (found[i] != NULL)
            sp_sum_add(out, found[i]);
    sp_sums_release(&pending);
}

void sp_recording_sum(sp_recording *recording, uint32_t region, sp_sum *out)
{
    *out = SP_SUM_EMPTY;
    sp_lane *own = sp_recording_lock(recording);
    sp_recording_anchor(recording, false);
    const sp_sum *past[2] = {sp_sums_find(&recording->past, region),
                             sp_sums_find(&recording->published, region)};
    for (int i = 0; i < 2; i++)
        if (past[i] != NULL)
            sp_sum_add(out, past[i]);
    for (size_t i = 0; i < recording->lanes.count; i++) {
        sp_lane *lane = recording->lanes.items[i];
        sp_mutex_lock(&lane->lock);
        add_lane(recording, lane, region, out);
        sp_mutex_unlock(&lane->lock);
    }
    sp_recording_unlock(recording, own);
    if (out->count == 0)
        out->minimum = out->maximum = 0;
}

static void move_sums(sp_recording *recording, sp_sums *to, sp_sums *from)
{
    uint64_t lost = sp_sums_move(to, from);
    if (lost > 0)
        sp_recording_lose(recording, SP_LOSS_OUT_OF_MEMORY, lost);
}

void sp_recording_take_sums(sp_recording *recording, sp_sums *out)
{
    sp_lane *own = sp_recording_lock(recording);
    sp_recording_anchor(recording, false);
    move_sums(recording, out, &recording->past);
    for (size_t i = 0; i < recording->lanes.count; i++) {
        sp_lane *lane = recording->lanes.items[i];
        sp_mutex_lock(&lane->lock);
        sp_drain_other(lane);
        sp_lane_update_sums(lane);
        move_sums(recording, out, &lane->sums);
        sp_mutex_unlock(&lane->lock);
    }
    sp_recording_unlock(recording, own);
}

void sp_recording_put_sums(sp_recording *recording, sp_sums *sums, bool are_published)
{
    sp_lane *own = sp_recording_lock(recording);
    move_sums(recording, are_published ? &recording->published : &recording->past, sums);
    sp_recording_unlock(recording, own);
}

static bool add_open_calls(const sp_strand_view *view, uint64_t now, sp_open_calls *out)
{
    for (const sp_frame *frame = view->outermost; frame <= view->top; frame++) {
        uint64_t key = sp_frame_key(frame);
        if (!sp_frame_is_call(frame))
            continue;
        if (!sp_vector_reserve(out, 1))
            return false;
        out->items[out->count++] = (sp_open_call){
            .lane = view->index,
            .region = (uint32_t)key,
            .depth = sp_frame_depth_from(view->outermost, frame),
            .flags = (uint32_t)(key >> SP_KEY_FLAGS_SHIFT) & SP_KEY_FLAGS_MASK,
            .number = sp_frame_number(frame),
            .parent = sp_stack_parent_from(view->outermost, frame),
            .start = sp_frame_start(frame),
            .outer_from = sp_frame_outer_from(frame),
            .awaited = sp_task_awaited(view, frame, now),
        };
    }
    return true;
}

bool sp_lane_open_calls(sp_lane *lane, sp_open_calls *out)
{
    uint64_t now = sp_tick_now();
    sp_strand_view view;
    for (size_t i = 0; sp_lane_view(lane, i, &view); i++)
        if (!add_open_calls(&view, now, out))
            return false;
    return true;
}

bool sp_recording_open_calls(sp_recording *recording, sp_open_calls *out)
{
    bool fits = true;
    sp_lane *own = sp_recording_lock(recording);
    for (size_t i = 0; i < recording->lanes.count && fits; i++) {
        sp_lane *lane = recording->lanes.items[i];
        sp_mutex_lock(&lane->lock);
        fits = sp_lane_open_calls(lane, out);
        sp_mutex_unlock(&lane->lock);
    }
    sp_recording_unlock(recording, own);
    return fits;
}
