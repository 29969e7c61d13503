/* What one lane has of the instruments: see instruments.h. */
#include "log/bytes.h"
#include "log/record.h"
#include "recorder/recording.h"
#include "recorder/stack.h"

#include <stdlib.h>
#include <string.h>

static void release(sp_lane_instruments *own)
{
    sp_instruments_let_go(own->set);
    free(own->begun);
    free(own->now);
    free(own->side);
    free(own);
}

/* NULL: memory is short. */
static sp_lane_instruments *make(const sp_lane *lane, sp_instruments *set)
{
    sp_lane_instruments *own = calloc(1, sizeof *own);
    if (own == NULL)
        return NULL;
    own->set = sp_instruments_hold(set);
    own->num_begun = lane->stack_room;
    own->begun = malloc((own->num_begun * set->num_values + 1) * sizeof *own->begun);
    own->now = malloc((set->num_values + 1) * sizeof *own->now);
    own->side = calloc(set->side_words + 1, sizeof *own->side);
    if (own->begun != NULL && own->now != NULL && own->side != NULL)
        return own;
    release(own);
    return NULL;
}

static void complain(sp_instruments *set, size_t i, const sp_error *error)
{
    unsigned bit = 1u << i;
    bool was_said = (atomic_fetch_or(&set->complaints, bit) & bit) != 0;
    if (!was_said && set->say != NULL)
        set->say(error->text);
}

void sp_lane_instruments_attach(sp_lane *lane)
{
    sp_recording *recording = lane->recording;
    sp_instruments *set = recording->instruments;
    if (set == NULL)
        return;
    sp_lane_instruments *own = make(lane, set);
    if (own == NULL) {
        sp_recording_lose(recording, SP_LOSS_COUNTERS, 1);
        return;
    }
    for (size_t i = 0; i < set->count; i++) {
        const sp_instrument *item = &set->items[i];
        sp_error error = {.text = ""};
        own->is_attached[i] = item->attach_thread == NULL ||
                              item->attach_thread(item->context, &own->states[i], &error);
        if (!own->is_attached[i])
            complain(set, i, &error);
    }
    lane->instruments = own;
}

void sp_lane_instruments_detach(sp_lane *lane)
{
    sp_lane_instruments *own = lane->instruments;
    lane->instruments = NULL;
    if (own == NULL)
        return;
    for (size_t i = 0; i < own->set->count; i++) {
        const sp_instrument *item = &own->set->items[i];
        if (own->is_attached[i] && item->detach_thread != NULL)
            item->detach_thread(item->context, own->states[i]);
    }
    release(own);
}

bool sp_lane_instruments_make_room(sp_lane *lane)
{
    sp_lane_instruments *own = lane->instruments;
    if (own == NULL || own->num_begun >= lane->stack_room)
        return true;
    size_t values = lane->stack_room * own->set->num_values;
    int64_t *grown = realloc(own->begun, (values + 1) * sizeof *grown);
    if (grown == NULL)
        return false;
    own->begun = grown;
    own->num_begun = lane->stack_room;
    return true;
}

/* What was read when the call of a frame began. */
static int64_t *begun_of(const sp_lane *lane, const sp_frame *frame)
{
    const sp_lane_instruments *own = lane->instruments;
    return own->begun + (size_t)(frame - lane->outermost) * own->set->num_values;
}

static sp_instrument_call call_of(const sp_frame *frame)
{
    uint32_t region = (uint32_t)sp_frame_key(frame);
    return (sp_instrument_call){.region = (int32_t)region,
                                .name = sp_names_get((int32_t)region),
                                .number = sp_frame_number(frame)};
}

void sp_lane_instruments_begin(sp_lane *lane, const sp_frame *frame)
{
    sp_lane_instruments *own = lane->instruments;
    if (own == NULL)
        return;
    sp_instrument_call call = call_of(frame);
    int64_t *values = begun_of(lane, frame);
    for (size_t i = 0; i < own->set->count; i++) {
        const sp_instrument *item = &own->set->items[i];
        if (own->is_attached[i] && item->begin != NULL)
            item->begin(item->context, own->states[i], &call);
        if (own->is_attached[i] && item->read != NULL)
            item->read(item->context, own->states[i], values);
        values += sp_instrument_width(item);
    }
}

static void read_all(sp_lane_instruments *own)
{
    int64_t *values = own->now;
    for (size_t i = 0; i < own->set->count; i++) {
        const sp_instrument *item = &own->set->items[i];
        if (own->is_attached[i] && item->read != NULL)
            item->read(item->context, own->states[i], values);
        values += sp_instrument_width(item);
    }
}

static void add_side(sp_lane_instruments *own, sp_side_kind kind, size_t bytes)
{
    uint64_t *words = own->side + own->side_used;
    words[0] = sp_record_first(SP_RECORD_SIDE, (uint32_t)bytes, kind);
    memset((char *)(words + 1) + bytes, 0, (8 - bytes % 8) % 8);
    own->side_used += sp_record_words(words[0]);
}

static void add_values(sp_lane_instruments *own, size_t i, int64_t *now, const int64_t *begun)
{
    size_t width = sp_instrument_width(&own->set->items[i]);
    for (size_t k = 0; k < width; k++)
        now[k] = (int64_t)((uint64_t)now[k] - (uint64_t)begun[k]);
    uint8_t *at = (uint8_t *)(own->side + own->side_used + 1);
    add_side(own, SP_SIDE_COUNTERS, sp_counters_put(at, (uint32_t)i, now, width));
}

static void end_bracket(sp_lane_instruments *own, size_t i, const sp_instrument_call *call)
{
    const sp_instrument *item = &own->set->items[i];
    char payload[SP_INSTRUMENT_PAYLOAD];
    size_t bytes = item->end(item->context, own->states[i], call, payload);
    if (bytes == 0 || bytes > sizeof payload)
        return;
    uint8_t *first = (uint8_t *)(own->side + own->side_used + 1), *at = first;
    bool is_own = item->payload_kind == SP_PAYLOAD_OWN;
    if (is_own)
        at = sp_put_number(at, i);
    memcpy(at, payload, bytes);
    add_side(own, is_own ? SP_SIDE_PAYLOAD : SP_SIDE_DEVICE, (size_t)(at - first) + bytes);
}

bool sp_lane_instruments_finish(sp_lane *lane, const sp_frame *frame)
{
    const sp_lane_instruments *own = lane->instruments;
    if (own == NULL || !own->set->has_finish)
        return false;
    const sp_instrument_call call = call_of(frame);
    for (size_t i = 0; i < own->set->count; i++) {
        const sp_instrument *item = &own->set->items[i];
        if (own->is_attached[i] && item->finish != NULL)
            item->finish(item->context, own->states[i], &call);
    }
    return true;
}

void sp_lane_instruments_end(sp_lane *lane, const sp_frame *frame)
{
    sp_lane_instruments *own = lane->instruments;
    if (own == NULL)
        return;
    own->side_used = 0;
    read_all(own);
    const sp_instrument_call call = call_of(frame);
    const int64_t *begun = begun_of(lane, frame);
    size_t at = own->set->num_values;
    for (size_t i = own->set->count; i-- > 0;) {
        const sp_instrument *item = &own->set->items[i];
        at -= sp_instrument_width(item);
        if (!own->is_attached[i])
            continue;
        if (item->end != NULL)
            end_bracket(own, i, &call);
        if (item->read != NULL)
            add_values(own, i, own->now + at, begun + at);
    }
}

void sp_lane_instruments_drop(sp_lane *lane, const sp_frame *frame)
{
    sp_lane_instruments_end(lane, frame);
    if (lane->instruments != NULL)
        lane->instruments->side_used = 0;
}

void sp_lane_instruments_catch_up(sp_lane *lane)
{
    if (lane->instruments == NULL || !sp_lane_instruments_make_room(lane))
        return;
    const sp_frame *top = atomic_load_explicit(&lane->top, memory_order_relaxed);
    for (sp_frame *frame = lane->outermost; frame <= top; frame++) {
        if (!sp_frame_is_call(frame))
            continue;
        sp_frame_set_key(frame, sp_frame_key(frame) | SP_KEY_SLOW);
        sp_lane_instruments_begin(lane, frame);
    }
}
