#include "recorder/end_shorter.h"

#include "clock/clock.h"
#include "recorder/inside.h"
#include "recorder/path.h"
#include "recorder/stack.h"

/* ns of a span that ends now. Before the second anchor no rate is known; one is measured then. */
static int64_t span_ns(const sp_recording *recording, uint64_t start, uint64_t now)
{
    sp_timeline_rate rate = sp_timeline_current_rate(&recording->timeline);
    if (rate.rate != 0)
        return sp_timeline_scale(&rate, now - start);
    sp_anchor first;
    if (!sp_timeline_first(&recording->timeline, &first) || now <= first.tick)
        return INT64_MAX;
    double elapsed_ns = (double)(sp_clock_monotonic_ns() - first.ns);
    return (int64_t)((double)(now - start) * (elapsed_ns / (double)(now - first.tick)));
}

/* Nothing was begun after the call, nobody gave it metadata, and its record would be an ordinary one. */
static bool can_vanish(const sp_lane *lane, const sp_frame *frame, uint32_t region)
{
    uint64_t key = sp_frame_key(frame), flags = key >> SP_KEY_FLAGS_SHIFT & SP_KEY_FLAGS_MASK;
    return sp_frame_is_call(frame) && (uint32_t)key == region &&
           (flags & ~(uint64_t)SP_CALL_RESUMPTION) == 0 && (key & SP_KEY_NOTED) == 0 &&
           sp_frame_number(frame) + 1 == lane->next_number;
}

bool sp_path_end_unless_shorter(sp_recording *recording, uint32_t region, int64_t least_ns)
{
    sp_lane *lane = sp_is_recording(recording) ? sp_current_lane(recording) : NULL;
    bool vanishes = false;
    if (lane != NULL && sp_try_enter(lane)) {
        uint64_t now = sp_tick_now();
        sp_frame *top = sp_settled_top(lane);
        if (can_vanish(lane, top, region)) {
            uint64_t start = sp_frame_start(top);
            vanishes = now < start || span_ns(recording, start, now) < least_ns;
        }
        if (vanishes) {
            sp_lane_instruments_drop(lane, top);
            lane->next_number--;
            sp_frame_set_key(top, SP_KEY_ENDED);
            top = sp_stack_settle(lane, top);
        }
        sp_leave_with(lane, top);
    }
    if (!vanishes)
        sp_path_end(recording, region);
    return vanishes;
}
