#include "recorder/recording.h"

#include "clock/clock.h"

enum { SECOND_NS = 1000 * 1000 * 1000 };

/* Ticks of a second, from the rate known so far. */
static uint64_t second(const sp_timeline *timeline)
{
    sp_timeline_rate rate = sp_timeline_current_rate(timeline);
    if (rate.rate == 0)
        return SECOND_NS;
    __extension__ typedef unsigned __int128 wide;
    return (uint64_t)(((wide)SECOND_NS << SP_TIMELINE_RATE_BITS) / rate.rate);
}

/* Due after a second; in the first second already when the time since the last anchor is half of
 * all, so that the rate, poor at first, gets better as the run gets longer. */
static bool is_due(const sp_recording *recording, uint64_t now)
{
    sp_anchor first, last;
    if (!sp_timeline_first(&recording->timeline, &first) ||
        !sp_timeline_last(&recording->timeline, &last))
        return true;
    uint64_t since = now - last.tick;
    return now > last.tick &&
           (since * 2 > now - first.tick || since >= second(&recording->timeline));
}

void sp_recording_anchor(sp_recording *recording, bool always)
{
    if (!always && !is_due(recording, sp_tick_now()))
        return;
    sp_mutex_lock(&recording->clock_lock);
    if (always || is_due(recording, sp_tick_now())) {
        sp_anchor anchor;
        sp_anchor_take(&anchor);
        sp_timeline_add(&recording->timeline, &anchor);
        if (recording->sink->table->anchor != NULL)
            recording->sink->table->anchor(recording->sink, &anchor);
    }
    sp_mutex_unlock(&recording->clock_lock);
}

void sp_recording_anchor_lane(sp_lane *lane)
{
    if (!sp_clock_uses_counter()) {
        lane->anchor_due = UINT64_MAX;
        return;
    }
    /* Under the drain lock, because a start of the recording takes its timeline away. */
    sp_mutex_lock(&lane->lock);
    if (lane->generation != 0) {
        sp_recording *recording = lane->recording;
        uint64_t length = second(&recording->timeline);
        sp_anchor last = {0};
        sp_timeline_last(&recording->timeline, &last);
        if (sp_tick_now() - last.tick >= length) {
            sp_recording_anchor(recording, false);
            sp_timeline_last(&recording->timeline, &last);
        }
        lane->anchor_due = last.tick + length;
    } else {
        lane->anchor_due = UINT64_MAX;
    }
    sp_mutex_unlock(&lane->lock);
}
