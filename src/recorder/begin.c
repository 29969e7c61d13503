#include "clock/clock.h"
#include "recorder/attach.h"
#include "recorder/inside.h"
#include "recorder/lane_counts.h"
#include "recorder/path.h"
#include "recorder/stack.h"

#include <errno.h>

/* A due anchor comes before the event, so that a jump of the clock never lies between them. */
static uint64_t tick_after_anchor(sp_lane *lane)
{
    uint64_t now = sp_tick_now();
    if (now < lane->anchor_due)
        return now;
    sp_recording_anchor_lane(lane);
    return sp_tick_now();
}

/* `state`: RECORD, or COUNTED. */
static int begin(sp_recording *recording, sp_lane *lane, uint32_t region, uint32_t flags,
                 sp_region_state state)
{
    if (!sp_try_enter(lane)) {
        sp_recording_lose(recording, SP_LOSS_SIGNAL_REENTRY, 1);
        return SP_OK;
    }
    sp_frame *top = sp_settled_top(lane);
    if (sp_recording_phase(recording) == SP_PHASE_PAUSED) {
        sp_leave_with(lane, sp_stack_ignore(lane, top));
        return SP_OK;
    }
    if (!sp_stack_make_room(lane, &top) || !sp_lane_instruments_make_room(lane)) {
        sp_recording_lose(recording, SP_LOSS_OUT_OF_MEMORY, 1);
        sp_leave_with(lane, sp_stack_ignore(lane, top));
        return SP_ERR_NO_MEMORY;
    }
    if (state == SP_REGION_COUNTED && sp_lane_count(lane, region)) {
        sp_leave_with(lane, sp_stack_ignore(lane, top));
        return SP_OK;
    }
    sp_frame *frame = sp_stack_push(lane, top, region, flags);
    sp_lane_instruments_begin(lane, frame);
    uint64_t now = tick_after_anchor(lane);
    sp_frame_set_extra(frame, now);
    atomic_store_explicit(&frame->start, now, memory_order_relaxed);
    sp_leave_with(lane, frame);
    return SP_OK;
}

int sp_path_begin(sp_recording *recording, uint32_t region, uint32_t flags)
{
    if (!sp_is_recording(recording))
        return SP_ERR_INACTIVE;
    sp_region_state state = sp_region_table_state(&recording->regions, region);
    if (!sp_region_state_is_on(state))
        return state == SP_REGION_DISABLED ? SP_OK : SP_ERR_INVALID_ARGUMENT;
    sp_lane *lane = sp_current_lane(recording);
    int saved_errno = errno;
    if (lane == NULL)
        lane = sp_lane_attach(recording);
    int status = lane == NULL ? SP_ERR_NO_MEMORY : begin(recording, lane, region, flags, state);
    errno = saved_errno;
    return status;
}

int sp_path_begin_token(sp_recording *recording, uint32_t region, int64_t *out_token)
{
    const sp_lane *lane = sp_current_lane(recording);
    uint64_t before = lane == NULL ? 0 : lane->next_number;
    int status = sp_path_begin(recording, region, 0);
    bool is_known = sp_region_state_is_on(sp_region_table_state(&recording->regions, region));
    *out_token = SP_PATH_NOTHING;
    lane = sp_current_lane(recording);
    if (status != SP_OK || lane == NULL || !is_known)
        return status;
    if (lane->next_number != before)
        *out_token = sp_token_make(lane, before);
    else if (sp_frame_key(sp_top(lane)) == SP_KEY_IGNORED)
        *out_token = SP_PATH_IGNORED;
    return status;
}

void sp_lane_anchor_begin(sp_lane *lane)
{
    if (!sp_try_enter(lane))
        return;
    sp_recording_anchor_lane(lane);
    atomic_store_explicit(&sp_top(lane)->start, sp_tick_now(), memory_order_relaxed);
    sp_lane_leave(lane);
}

void sp_lane_anchor_end(sp_lane *lane)
{
    if (!sp_try_enter(lane))
        return;
    sp_recording_anchor_lane(lane);
    sp_lane_leave(lane);
}
