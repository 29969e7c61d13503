#include "clock/clock.h"
#include "recorder/attach.h"
#include "recorder/call_record.h"
#include "recorder/inside.h"
#include "recorder/stack.h"

#include <errno.h>

static bool records(const sp_recording *recording, uint32_t region)
{
    return sp_region_state_is_on(sp_region_table_state(&recording->regions, region));
}

/* An end that found no open call. Calls that an earlier configuration left open on this thread may
 * still end without being a mistake. */
static int unmatched(sp_recording *recording, sp_lane *lane, uint32_t region)
{
    if (!records(recording, region))
        return sp_region_table_state(&recording->regions, region) == SP_REGION_DISABLED
                   ? SP_OK
                   : SP_ERR_INVALID_ARGUMENT;
    if (lane != NULL && lane->abandoned > 0) {
        lane->abandoned--;
        return SP_OK;
    }
    atomic_fetch_add_explicit(&recording->unmatched_ends, 1, memory_order_relaxed);
    return SP_ERR_UNMATCHED_END;
}

/* The same on a thread that has recorded nothing in this configuration. */
static int unmatched_without_lane(sp_recording *recording, uint32_t region)
{
    const sp_lane *earlier = sp_lane_of(recording);
    bool is_due = earlier->recording == recording && sp_stack_count_due(earlier) > 0;
    if (is_due || sp_thread_is_occupied())
        return SP_OK;
    return unmatched(recording, NULL, region);
}

static int finish(sp_recording *recording, sp_lane *lane, sp_frame *frame, uint64_t now,
                  const sp_attachment *side)
{
    int saved_errno = errno;
    bool crossed;
    if (sp_lane_instruments_finish(lane, frame))
        now = sp_tick_now();
    sp_lane_instruments_end(lane, frame);
    sp_frame *top = sp_call_finish(lane, sp_top(lane), frame, now, side, &crossed);
    if (crossed)
        atomic_fetch_add_explicit(&recording->crossing, 1, memory_order_relaxed);
    if (now >= lane->anchor_due)
        sp_recording_anchor_lane(lane);
    sp_leave_with(lane, top);
    errno = saved_errno;
    return crossed ? SP_ERR_OPEN_SCOPES : SP_OK;
}

/* On a lane that was entered: takes off a call begun while paused. */
static int end_ignored(sp_lane *lane, sp_frame *top)
{
    sp_leave_with(lane, sp_stack_unignore(lane, top));
    return SP_OK;
}

int sp_path_end_with(sp_recording *recording, uint32_t region, const sp_attachment *side)
{
    if (!sp_is_recording(recording))
        return SP_ERR_INACTIVE;
    sp_lane *lane = sp_current_lane(recording);
    if (lane == NULL)
        return unmatched_without_lane(recording, region);
    if (!sp_try_enter(lane))
        return SP_OK;
    sp_frame *top = sp_settled_top(lane);
    if (sp_frame_key(top) == SP_KEY_IGNORED && records(recording, region))
        return end_ignored(lane, top);
    uint64_t now = sp_tick_now();
    sp_frame *frame = sp_stack_find(lane, top, region);
    if (frame == NULL) {
        int status = unmatched(recording, lane, region);
        sp_lane_leave(lane);
        return status;
    }
    finish(recording, lane, frame, now, side);
    return SP_OK;
}

int sp_path_end(sp_recording *recording, uint32_t region)
{
    return sp_path_end_with(recording, region, NULL);
}

/* On a lane that was entered: ends the call of `frame`, if there is one. */
static int end_frame(sp_recording *recording, sp_lane *lane, sp_frame *frame, uint64_t now)
{
    if (frame != NULL)
        return finish(recording, lane, frame, now, NULL);
    sp_lane_leave(lane);
    return SP_ERR_UNMATCHED_END;
}

int sp_path_end_last(sp_recording *recording)
{
    if (!sp_is_recording(recording))
        return SP_ERR_INACTIVE;
    sp_lane *lane = sp_current_lane(recording);
    if (lane == NULL)
        return SP_ERR_UNMATCHED_END;
    if (!sp_try_enter(lane))
        return SP_OK;
    sp_frame *top = sp_settled_top(lane);
    if (sp_frame_key(top) == SP_KEY_IGNORED)
        return end_ignored(lane, top);
    uint64_t now = sp_tick_now();
    return end_frame(recording, lane, sp_stack_call(lane, top), now);
}

int sp_path_end_token(sp_recording *recording, int64_t token)
{
    if (!sp_is_recording(recording))
        return SP_ERR_INACTIVE;
    sp_lane *lane = sp_current_lane(recording);
    if (lane == NULL || token == SP_PATH_NOTHING)
        return SP_ERR_UNMATCHED_END;
    if (!sp_try_enter(lane))
        return SP_OK;
    uint64_t now = sp_tick_now();
    if (token == SP_PATH_IGNORED)
        return end_ignored(lane, sp_settled_top(lane));
    sp_frame *frame = NULL;
    if (sp_token_is_of(lane, token))
        frame = sp_stack_find_number(lane, sp_settled_top(lane), sp_token_number(token));
    return end_frame(recording, lane, frame, now);
}

/* On a lane that was entered. */
static int note(sp_lane *lane, sp_frame *top, const char *key, const char *value)
{
    sp_frame *frame = sp_stack_call(lane, top);
    if (sp_frame_key(top) == SP_KEY_IGNORED)
        return SP_OK;
    if (frame == NULL)
        return SP_ERR_UNMATCHED_END;
    if (!sp_notes_set(&lane->notes, sp_frame_number(frame), key, value)) {
        sp_recording_lose(lane->recording, SP_LOSS_METADATA, 1);
        return SP_ERR_NO_MEMORY;
    }
    sp_frame_set_key(frame, sp_frame_key(frame) | SP_KEY_NOTED);
    return SP_OK;
}

int sp_path_note(sp_recording *recording, const char *key, const char *value)
{
    if (!sp_is_recording(recording))
        return SP_ERR_INACTIVE;
    int saved_errno = errno;
    sp_lane *lane = sp_current_lane(recording);
    if (lane == NULL)
        return SP_ERR_UNMATCHED_END;
    if (!sp_try_enter(lane))
        return SP_OK;
    int status = note(lane, sp_settled_top(lane), key, value);
    sp_lane_leave(lane);
    errno = saved_errno;
    return status;
}

int sp_path_append(sp_recording *recording, uint32_t region, int64_t start_ns, int64_t end_ns)
{
    if (!sp_is_recording(recording))
        return SP_ERR_INACTIVE;
    sp_region_state state = sp_region_table_state(&recording->regions, region);
    if (state == SP_REGION_DISABLED)
        return SP_OK;
    if (!sp_region_state_is_on(state) || end_ns < start_ns)
        return SP_ERR_INVALID_ARGUMENT;
    int saved_errno = errno;
    sp_lane *lane = sp_current_lane(recording);
    if (lane == NULL)
        lane = sp_lane_attach(recording);
    if (lane == NULL || !sp_try_enter(lane)) {
        errno = saved_errno;
        return lane == NULL ? SP_ERR_NO_MEMORY : SP_OK;
    }
    sp_call_append(lane, sp_settled_top(lane), region, start_ns, end_ns);
    sp_lane_leave(lane);
    errno = saved_errno;
    return SP_OK;
}

size_t sp_path_open_regions(sp_recording *recording, int32_t *regions, size_t room)
{
    const sp_lane *lane = sp_current_lane(recording);
    if (lane == NULL || !sp_is_recording(recording))
        return 0;
    size_t count = 0;
    const sp_frame *top = sp_top(lane);
    for (const sp_frame *frame = lane->outermost; frame <= top; frame++) {
        if (!sp_frame_is_call(frame))
            continue;
        if (count < room)
            regions[count] = (int32_t)(uint32_t)sp_frame_key(frame);
        count++;
    }
    return count;
}
