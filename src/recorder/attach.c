#include "recorder/attach.h"

#include "base/os/clock.h"
#include "base/os/pages.h"
#include "clock/clock.h"
#include "recorder/drain.h"
#include "recorder/lane_counts.h"
#include "recorder/lane_counters.h"
#include "recorder/fast.h"
#include "recorder/stack.h"
#include "recorder/task.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Nothing gets past the first look at these: a path is always under way in them. */
static sp_thread no_thread;
static sp_frame no_frame = {.key = SP_KEY_BOTTOM};
#define REFUSING_LANE                                                                              \
    {                                                                                              \
        .is_inside = true, .top = &no_frame, .outermost = &no_frame + 1, .thread = &no_thread      \
    }

sp_lane sp_lane_dummy = REFUSING_LANE;
/* What a thread's pointer holds while it gets a lane or has the lock of a recording: a signal handler
 * that records at that moment could do neither. */
static sp_lane occupied = REFUSING_LANE;

_Thread_local sp_lane *sp_lane_current = &sp_lane_dummy;

static _Atomic uint64_t newest_stamp;

static void thread_ends(void *value);

static void make_idle(sp_thread *thread)
{
    sp_lane *idle = &thread->idle;
    atomic_init(&idle->is_inside, true);
    atomic_init(&idle->top, &no_frame);
    idle->outermost = &no_frame + 1;
    idle->thread = thread;
}

/* The calling thread's own; made at first use. `lane`: what its pointer holds. */
static sp_thread *thread_of(const sp_lane *lane)
{
    if (lane->thread != &no_thread)
        return lane->thread;
    sp_thread *thread = aligned_alloc(alignof(sp_thread), sizeof *thread);
    if (thread == NULL)
        return NULL;
    memset((void *)thread, 0, sizeof *thread);
    thread->native_id = sp_os_thread_id();
    thread->ident = -1;
    make_idle(thread);
    if (!sp_os_thread_set(thread, thread_ends)) {
        free(thread);
        return NULL;
    }
    return thread;
}

static bool make_slot(sp_thread *thread, uint32_t slot)
{
    if (slot < thread->num_lanes)
        return true;
    uint32_t count = slot + 4;
    sp_lane **lanes = realloc(thread->lanes, count * sizeof(sp_lane *));
    if (lanes == NULL)
        return false;
    for (uint32_t i = thread->num_lanes; i < count; i++)
        lanes[i] = &sp_lane_dummy;
    thread->lanes = lanes;
    thread->num_lanes = count;
    return true;
}

void sp_lane_free(sp_lane *lane)
{
    sp_tasks_drop(lane);
    sp_stack_release(lane);
    sp_lane_instruments_detach(lane);
    sp_sums_release(&lane->sums);
    sp_counter_sums_release(&lane->counters);
    sp_sums_release(&lane->unkept);
    sp_lane_release_counts(lane);
    sp_resolver_release(&lane->nesting);
    if (lane->free_room != NULL) {
        lane->free_room(lane, lane->room_bytes);
        return;
    }
    sp_os_pages_free(lane->words, lane->num_words * sizeof *lane->words);
    free(lane);
}

/* A lane, its first stack and its ring in one piece of memory that outlives the process; NULL: the
 * sink has none. */
static sp_lane *allocate_in_room(const sp_recording *recording)
{
    const sp_sink_table *table = recording->sink->table;
    size_t stack = sizeof(sp_lane), ring = stack + SP_STACK_FIRST_ROOM * sizeof(sp_frame);
    sp_sink_room room = {
        .bytes = ring + recording->ring_words * sizeof(uint64_t),
        .state = offsetof(sp_lane, state),
        .head = offsetof(sp_lane, head),
        .top = offsetof(sp_lane, top),
        .outermost = offsetof(sp_lane, outermost),
        .lane = offsetof(sp_lane, index),
        .waiting = offsetof(sp_lane, own),
        .waiting_step = sizeof(sp_strand),
        .num_waiting = 1,
        .ring = ring,
        .stack = stack,
        .ring_words = recording->ring_words,
        .stack_frames = SP_STACK_FIRST_ROOM,
    };
    sp_lane *lane = table->take_room == NULL ? NULL : table->take_room(recording->sink, &room);
    if (lane == NULL)
        return NULL;
    lane->free_room = table->free_room;
    lane->room_bytes = room.bytes;
    lane->words = (uint64_t *)((char *)lane + ring);
    lane->num_words = recording->ring_words;
    sp_stack_adopt_first(lane, (sp_frame *)((char *)lane + stack));
    return lane;
}

static sp_lane *allocate(const sp_recording *recording)
{
    sp_lane *lane = allocate_in_room(recording);
    if (lane == NULL) {
        lane = aligned_alloc(alignof(sp_lane), sizeof *lane);
        if (lane == NULL)
            return NULL;
        memset((void *)lane, 0, sizeof *lane);
    }
    atomic_init(&lane->is_inside, false);
    sp_mutex_reset(&lane->lock);
    return lane;
}

static bool make_ring(sp_lane *lane, size_t words)
{
    if (lane->num_words == words)
        return true;
    sp_os_pages_free(lane->words, lane->num_words * sizeof *lane->words);
    lane->num_words = 0;
    lane->words = sp_os_pages_alloc(words * sizeof *lane->words);
    if (lane->words == NULL)
        return false;
    lane->num_words = words;
    return true;
}

/* A lane of this configuration whose thread has ended; NULL: there is none. Under the lock. */
static sp_lane *find_free(const sp_recording *recording)
{
    for (size_t i = recording->lanes.count; i-- > 0;)
        if (recording->lanes.items[i]->thread == NULL)
            return recording->lanes.items[i];
    return NULL;
}

void sp_thread_info_name(sp_thread_info *info)
{
    char name[SP_OS_THREAD_NAME];
    if (info->name == NULL && info->end_ns < 0 && sp_os_thread_name(info->native_id, name))
        info->name = strdup(name);
}

/* Hands an entry of the table to a sink that wants it. Under the lock. */
static void tell_thread(const sp_recording *recording, size_t lane)
{
    if (recording->sink->table->thread != NULL)
        recording->sink->table->thread(recording->sink, (uint32_t)lane,
                                       &recording->threads.items[lane]);
}

/* Appends the thread to the table of those that recorded. Under the lock. */
static bool enlist(sp_recording *recording, const sp_thread *thread)
{
    if (!sp_vector_reserve(&recording->threads, 1))
        return false;
    sp_thread_info *info = &recording->threads.items[recording->threads.count++];
    *info = (sp_thread_info){.native_id = thread->native_id,
                             .ident = thread->ident,
                             .is_daemon = thread->is_daemon,
                             .start_ns = sp_clock_monotonic_ns(),
                             .end_ns = -1,
                             .cpu_ns = -1,
                             .name = thread->name == NULL ? NULL : strdup(thread->name)};
    tell_thread(recording, recording->threads.count - 1);
    return true;
}

/* Brings a lane that is new to the configuration into it. Under the lock. */
static bool admit(sp_recording *recording, sp_lane *lane)
{
    sp_sink *sink = recording->sink;
    lane->is_instrumented = recording->instruments != NULL;
    if (!sp_vector_reserve(&recording->lanes, 1) || !make_ring(lane, recording->ring_words) ||
        !sp_stack_init(lane))
        return false;
    lane->ring = (uint32_t)recording->lanes.count;
    lane->sink = sink->table->open_ring(sink, lane->ring);
    if (lane->sink == NULL)
        return false;
    lane->state.ring = lane->ring;
    lane->state.calls = 0;
    lane->num_calls = 0;
    lane->published = lane->words;
    lane->limit = sp_lane_full_limit(lane);
    atomic_store_explicit(&lane->head, lane->words, memory_order_release);
    recording->lanes.items[recording->lanes.count++] = lane;
    return true;
}

/* Hands a lane that the configuration has over to a thread. Under the lock. */
static void assign(sp_recording *recording, sp_lane *lane, sp_thread *thread)
{
    lane->recording = recording;
    lane->thread = thread;
    lane->next_number = 0;
    lane->is_losing = false;
    lane->index = (uint32_t)recording->threads.count - 1;
    lane->thread_index = lane->told = lane->packed = lane->index;
    lane->packed_slot = 0;
    lane->strand = &lane->own;
    lane->own.index = lane->index;
    lane->own.slot = 0;
    lane->own.lost = 0;
    lane->stamp = atomic_fetch_add_explicit(&newest_stamp, 1, memory_order_relaxed) + 1;
    lane->state.lane = lane->index;
    lane->anchor_due = 0;
    lane->generation = atomic_load_explicit(&recording->generation, memory_order_relaxed);
    lane->attached_to = lane->generation;
    atomic_store_explicit(&lane->states, recording->regions.states, memory_order_release);
}

/* `own`: the lane this thread had in an earlier configuration, NULL: none. Under the lock. */
static sp_lane *find_lane(sp_recording *recording, sp_lane *own)
{
    sp_lane *lane = own != NULL ? NULL : find_free(recording);
    if (lane != NULL)
        return lane;
    if (own != NULL)
        sp_tasks_drop(own);
    uint64_t abandoned = own != NULL ? own->abandoned + sp_stack_count_due(own) : 0;
    /* Memory that other processes look at belongs to one configuration. */
    bool is_kept = own != NULL && own->free_room == NULL &&
                   recording->sink->table->take_room == NULL;
    lane = is_kept ? own : allocate(recording);
    if (lane == NULL)
        return NULL;
    lane->abandoned = abandoned;
    if (admit(recording, lane)) {
        if (own != NULL && !is_kept)
            sp_lane_free(own);
        return lane;
    }
    if (!is_kept)
        sp_lane_free(lane);
    return NULL;
}

static sp_lane *join(sp_recording *recording, sp_thread *thread)
{
    sp_lane **slot = &thread->lanes[recording->slot];
    sp_lane *lane = NULL;
    sp_mutex_lock(&recording->lock);
    if (sp_recording_phase(recording) != SP_PHASE_OFF &&
        enlist(recording, thread)) {
        lane = find_lane(recording, *slot == &sp_lane_dummy ? NULL : *slot);
        if (lane != NULL)
            assign(recording, lane, thread);
        else
            free(recording->threads.items[--recording->threads.count].name);
    }
    sp_mutex_unlock(&recording->lock);
    if (lane != NULL)
        *slot = lane;
    return lane;
}

bool sp_thread_is_occupied(void)
{
    return sp_lane_current == &occupied;
}

sp_lane *sp_thread_occupy(void)
{
    sp_lane *before = sp_lane_current;
    sp_lane_current = &occupied;
    atomic_signal_fence(memory_order_seq_cst);
    return before;
}

void sp_thread_vacate(sp_lane *before)
{
    atomic_signal_fence(memory_order_seq_cst);
    sp_lane_current = before;
}

sp_lane *sp_recording_lock(sp_recording *recording)
{
    sp_lane *before = sp_thread_occupy();
    sp_mutex_lock(&recording->lock);
    return before;
}

void sp_recording_unlock(sp_recording *recording, sp_lane *before)
{
    sp_mutex_unlock(&recording->lock);
    sp_thread_vacate(before);
}

sp_lane *sp_lane_attach(sp_recording *recording)
{
    sp_lane *before = sp_lane_current;
    if (before == &occupied) {
        sp_recording_lose(recording, SP_LOSS_SIGNAL_REENTRY, 1);
        return NULL;
    }
    sp_lane_current = &occupied;
    atomic_signal_fence(memory_order_seq_cst);
    sp_lane *lane = NULL;
    sp_thread *thread = thread_of(before);
    if (thread != NULL && make_slot(thread, recording->slot)) {
        /* Instruments are told without a lock, which their code could want. */
        sp_lane *earlier = thread->lanes[recording->slot];
        if (earlier != &sp_lane_dummy)
            sp_lane_instruments_detach(earlier);
        lane = join(recording, thread);
        if (lane != NULL && lane->is_instrumented)
            sp_lane_instruments_attach(lane);
    }
    atomic_signal_fence(memory_order_seq_cst);
    bool has_default = thread != NULL && thread->num_lanes > 0 &&
                       thread->lanes[0] != &sp_lane_dummy;
    sp_lane_current = has_default ? thread->lanes[0] : thread != NULL ? &thread->idle : before;
    if (lane == NULL && sp_recording_phase(recording) != SP_PHASE_OFF)
        sp_recording_lose(recording, SP_LOSS_OUT_OF_MEMORY, 1);
    if (lane != NULL && recording->on_thread != NULL)
        recording->on_thread(recording);
    return lane;
}

void sp_recording_adopt_instruments(sp_recording *recording, sp_instruments *instruments)
{
    sp_lane *lane = sp_lane_of(recording);
    sp_lane *own = sp_recording_lock(recording);
    bool is_first = recording->instruments == NULL;
    if (is_first)
        recording->instruments = instruments;
    bool has_lane = is_first && lane->recording == recording &&
                    lane->attached_to == recording->generation;
    sp_mutex_unlock(&recording->lock);
    if (has_lane) {
        lane->is_instrumented = true;
        sp_lane_instruments_attach(lane);
        sp_lane_instruments_catch_up(lane);
        sp_stack_settle_ceiling(lane);
    }
    sp_thread_vacate(own);
    if (!is_first)
        sp_instruments_let_go(instruments);
}

void sp_lane_give_up(sp_lane *lane, const sp_frame *frame, const sp_frame *top)
{
    for (; frame <= top; frame++) {
        if (!sp_frame_is_call(frame))
            continue;
        sp_sum *sum = sp_sums_cell(&lane->sums, (uint32_t)sp_frame_key(frame));
        if (sum != NULL)
            sum->opened++;
        sp_recording_lose(lane->recording, SP_LOSS_THREAD_EXIT, 1);
    }
}

/* What a thread leaves behind: its last records, its sums, the calls that nobody will end. */
static void collect(sp_recording *recording, sp_lane *lane, int64_t now_ns, int64_t cpu_ns)
{
    sp_drain_other(lane);
    sp_lane_collect_counts(lane);
    sp_tasks_drop(lane);
    sp_lane_give_up(lane, lane->outermost, atomic_load_explicit(&lane->top, memory_order_relaxed));
    uint64_t lost = sp_sums_move(&recording->past, &lane->sums) +
                    sp_sums_move(&recording->unkept, &lane->unkept);
    sp_lane_move_counters(lane, &recording->past_counters);
    if (lost > 0)
        sp_recording_lose(recording, SP_LOSS_OUT_OF_MEMORY, lost);
    sp_resolver_release(&lane->nesting);
    sp_thread_info *info = &recording->threads.items[lane->thread_index];
    sp_thread_info_name(info);
    info->end_ns = now_ns;
    info->cpu_ns = cpu_ns;
    tell_thread(recording, lane->thread_index);
    sp_ring_empty_begin(lane);
    lane->published = lane->words;
    atomic_store_explicit(&lane->head, lane->words, memory_order_release);
    sp_ring_empty_end(lane);
    lane->abandoned = 0;
    lane->thread = NULL;
    sp_stack_init(lane);
}

/* The list of recordings is locked: the lane's recording stays as long as the lane belongs to it. It
 * may start again before its own lock is taken, and then the lane belongs to nobody. */
static void retire(sp_lane *lane, int64_t now_ns, int64_t cpu_ns)
{
    sp_recordings_lock();
    sp_mutex_lock(&lane->lock);
    bool belongs = lane->generation != 0;
    sp_mutex_unlock(&lane->lock);
    if (belongs) {
        sp_recording *recording = lane->recording;
        sp_mutex_lock(&recording->lock);
        sp_mutex_lock(&lane->lock);
        belongs = lane->generation != 0;
        if (belongs)
            collect(recording, lane, now_ns, cpu_ns);
        sp_mutex_unlock(&lane->lock);
        sp_mutex_unlock(&recording->lock);
    }
    sp_recordings_unlock();
    if (!belongs)
        sp_lane_free(lane);
}

static void thread_ends(void *value)
{
    sp_thread *thread = value;
    int64_t now_ns = sp_clock_monotonic_ns(), cpu_ns = sp_os_thread_cpu_ns();
    sp_lane_current = &occupied;
    atomic_signal_fence(memory_order_seq_cst);
    for (uint32_t i = 0; i < thread->num_lanes; i++)
        if (thread->lanes[i] != &sp_lane_dummy)
            sp_lane_instruments_detach(thread->lanes[i]);
    for (uint32_t i = 0; i < thread->num_lanes; i++)
        if (thread->lanes[i] != &sp_lane_dummy)
            retire(thread->lanes[i], now_ns, cpu_ns);
    free(thread->lanes);
    free(thread->name);
    free(thread);
    atomic_signal_fence(memory_order_seq_cst);
    sp_lane_current = &sp_lane_dummy;
}

static sp_lane *before_fork;

void sp_thread_fork_prepare(void)
{
    before_fork = sp_lane_current;
    sp_lane_current = &occupied;
    atomic_signal_fence(memory_order_seq_cst);
}

void sp_thread_fork_parent(void)
{
    atomic_signal_fence(memory_order_seq_cst);
    sp_lane_current = before_fork;
}

void sp_thread_forget(void)
{
    sp_lane_current = &sp_lane_dummy;
    sp_os_thread_set(NULL, thread_ends);
}

/* The calling thread's own, which is kept; NULL: memory is short, or a signal handler asks whose thread is
 * about to get one. */
static sp_thread *own_thread(void)
{
    if (sp_thread_is_occupied())
        return NULL;
    sp_thread *thread = thread_of(sp_lane_current);
    if (thread != NULL && sp_lane_current->thread == &no_thread)
        sp_lane_current = &thread->idle;
    return thread;
}

void sp_thread_rename(sp_recording *recording, const char *name)
{
    const sp_thread *thread = own_thread();
    if (thread != NULL)
        sp_thread_describe(recording, name, thread->ident, thread->is_daemon);
}

void sp_thread_describe(sp_recording *recording, const char *name, int64_t ident, bool is_daemon)
{
    sp_thread *thread = own_thread();
    if (thread == NULL)
        return;
    char *copy = name == NULL ? NULL : strdup(name);
    free(thread->name);
    thread->name = copy;
    thread->ident = ident;
    thread->is_daemon = is_daemon;
    const sp_lane *lane = sp_lane_of(recording);
    sp_lane *own = sp_recording_lock(recording);
    if (lane->recording == recording && lane->generation == recording->generation) {
        sp_thread_info *info = &recording->threads.items[lane->thread_index];
        free(info->name);
        info->name = copy == NULL ? NULL : strdup(copy);
        info->ident = ident;
        info->is_daemon = is_daemon;
        tell_thread(recording, lane->thread_index);
    }
    sp_recording_unlock(recording, own);
}
