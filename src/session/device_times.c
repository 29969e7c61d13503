#include "session/device_times.h"

#include "base/error.h"
#include "base/number_bytes.h"
#include "base/os/clock.h"
#include "base/os/thread.h"
#include "base/vector.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* A call that is open, or has ended and waits for the device. */
typedef struct event_pair {
    uint64_t number; /* open: of the begin; ended: the ticket */
    void *start, *end;
} event_pair;

typedef SP_VECTOR(event_pair) pairs;
typedef SP_VECTOR(sp_device_time) time_list;
typedef SP_VECTOR(void *) event_list;

typedef struct device_thread device_thread;
struct device_thread {
    device_thread *next; /* in the list of all, under its lock */
    pairs open;          /* the owner alone */
    sp_mutex lock;       /* for the following; the owner leaves them to who collects */
    pairs waiting;       /* oldest at `first` */
    size_t first;
    time_list known; /* in no record yet */
    event_list idle;
};

typedef struct device_times {
    sp_device_driver driver;
    bool syncs_at_end;
    _Atomic uint64_t next_ticket;
    sp_mutex lock; /* for the following; taken before that of a thread */
    device_thread *threads;
    pairs orphans;    /* of threads that ended */
    time_list left;   /* likewise */
    event_list spare; /* of anybody */
    atomic_bool is_collecting; /* times stay out of payloads */
    /* By whoever publishes, one at a time. What was collected for one publication is offered to the next
     * once more: a call may have ended in between. */
    time_list collected;
    size_t num_earlier; /* of them for the publication before */
} device_times;

/* Keeps an event for later. Without memory for that it goes. */
static void keep_event(device_times *times, sp_mutex *lock, event_list *idle, void *event)
{
    if (event == NULL)
        return;
    sp_mutex_lock(lock);
    bool is_kept = sp_vector_reserve(idle, 1);
    if (is_kept)
        idle->items[idle->count++] = event;
    sp_mutex_unlock(lock);
    if (!is_kept)
        times->driver.destroy(times->driver.context, event);
}

static void *take_event(sp_mutex *lock, event_list *idle)
{
    sp_mutex_lock(lock);
    void *event = idle->count > 0 ? idle->items[--idle->count] : NULL;
    sp_mutex_unlock(lock);
    return event;
}

/* An event in the queue of the device, NULL: not now. */
static void *record(device_times *times, device_thread *thread)
{
    void *event = take_event(&thread->lock, &thread->idle);
    if (event == NULL)
        event = take_event(&times->lock, &times->spare);
    if (times->driver.record(times->driver.context, &event))
        return event;
    keep_event(times, &thread->lock, &thread->idle, event);
    return NULL;
}

/* ---- Pairs that wait -------------------------------------------------------------------------*/

static size_t num_waiting(device_thread *thread)
{
    sp_mutex_lock(&thread->lock);
    size_t count = thread->waiting.count - thread->first;
    sp_mutex_unlock(&thread->lock);
    return count;
}

static bool push_waiting(device_thread *thread, event_pair pair)
{
    sp_mutex_lock(&thread->lock);
    pairs *waiting = &thread->waiting;
    /* The room in front is used again when it is half of it all. */
    if (thread->first > 0 && thread->first >= waiting->count - thread->first) {
        waiting->count -= thread->first;
        memmove(waiting->items, waiting->items + thread->first,
                waiting->count * sizeof *waiting->items);
        thread->first = 0;
    }
    bool has_room = sp_vector_reserve(waiting, 1);
    if (has_room)
        waiting->items[waiting->count++] = pair;
    sp_mutex_unlock(&thread->lock);
    return has_room;
}

/* Takes the oldest pair. False: none waits. */
static bool pop_waiting(device_thread *thread, event_pair *out)
{
    sp_mutex_lock(&thread->lock);
    bool has = thread->first < thread->waiting.count;
    if (has)
        *out = thread->waiting.items[thread->first++];
    sp_mutex_unlock(&thread->lock);
    return has;
}

/* Puts the pair taken last back in its place, unless somebody has collected the rest meanwhile. */
static void unpop_waiting(device_thread *thread, const event_pair *pair)
{
    sp_mutex_lock(&thread->lock);
    bool has_place = thread->first > 0;
    if (has_place)
        thread->waiting.items[--thread->first] = *pair;
    sp_mutex_unlock(&thread->lock);
    if (!has_place)
        push_waiting(thread, *pair);
}

static int64_t ask(const device_times *times, const event_pair *pair)
{
    return times->driver.elapsed_ns(times->driver.context, pair->start, pair->end);
}

static bool is_done(const device_times *times, const event_pair *pair)
{
    return times->driver.is_done == NULL || times->driver.is_done(times->driver.context, pair->end);
}

static void note_known(device_times *times, device_thread *thread, const event_pair *pair)
{
    int64_t ns = ask(times, pair);
    keep_event(times, &thread->lock, &thread->idle, pair->start);
    keep_event(times, &thread->lock, &thread->idle, pair->end);
    sp_mutex_lock(&thread->lock);
    if (ns >= 0 && sp_vector_reserve(&thread->known, 1))
        thread->known.items[thread->known.count++] = (sp_device_time){pair->number, ns};
    sp_mutex_unlock(&thread->lock);
}

/* Asks for the oldest pairs, two at most: so what waits becomes less where the device keeps up. A driver
 * that cannot be asked without waiting is asked when very much waits. */
static void resolve_some(device_times *times, device_thread *thread)
{
    enum { AT_ONCE = 2 };
    event_pair pair;
    if (atomic_load_explicit(&times->is_collecting, memory_order_relaxed))
        return;
    if (times->driver.is_done == NULL && !times->syncs_at_end &&
        num_waiting(thread) < SP_DEVICE_PENDING - 1)
        return;
    for (int i = 0; i < AT_ONCE && pop_waiting(thread, &pair); i++) {
        if (!is_done(times, &pair)) {
            unpop_waiting(thread, &pair);
            return;
        }
        note_known(times, thread, &pair);
    }
}

/* ---- The instrument --------------------------------------------------------------------------*/

static bool attach_thread(void *context, void **out_state, sp_error *error)
{
    device_times *times = context;
    device_thread *thread = calloc(1, sizeof *thread);
    if (thread == NULL) {
        sp_fail_memory(error, "the device times of a thread");
        return false;
    }
    sp_mutex_reset(&thread->lock);
    sp_mutex_lock(&times->lock);
    thread->next = times->threads;
    times->threads = thread;
    sp_mutex_unlock(&times->lock);
    *out_state = thread;
    return true;
}

/* Moves what waits of a thread into `to`. Under the lock of the thread. */
static void move_waiting(device_thread *thread, pairs *to)
{
    size_t count = thread->waiting.count - thread->first;
    if (count == 0)
        return;
    if (!sp_vector_reserve(to, count))
        return;
    memcpy(to->items + to->count, thread->waiting.items + thread->first, count * sizeof *to->items);
    to->count += count;
    thread->waiting.count = thread->first = 0;
}

static void add_times(time_list *to, time_list *from)
{
    if (!sp_vector_reserve(to, from->count))
        return;
    if (from->count > 0)
        memcpy(to->items + to->count, from->items, from->count * sizeof *to->items);
    to->count += from->count;
    from->count = 0;
}

/* Under the lock of all. What finds no room is lost, and its events with it. */
static void leave_to_others(device_times *times, device_thread *thread)
{
    move_waiting(thread, &times->orphans);
    add_times(&times->left, &thread->known);
    size_t count = thread->idle.count;
    if (!sp_vector_reserve(&times->spare, count + thread->open.count))
        return;
    for (size_t i = 0; i < count; i++)
        times->spare.items[times->spare.count++] = thread->idle.items[i];
    for (size_t i = 0; i < thread->open.count; i++)
        times->spare.items[times->spare.count++] = thread->open.items[i].start;
}

static void detach_thread(void *context, void *state)
{
    device_times *times = context;
    device_thread *thread = state;
    sp_mutex_lock(&times->lock);
    device_thread **link = &times->threads;
    while (*link != thread)
        link = &(*link)->next;
    *link = thread->next;
    leave_to_others(times, thread);
    sp_mutex_unlock(&times->lock);
    sp_vector_release(&thread->open);
    sp_vector_release(&thread->waiting);
    sp_vector_release(&thread->known);
    sp_vector_release(&thread->idle);
    free(thread);
}

static void begin(void *context, void *state, const sp_instrument_call *call)
{
    device_times *times = context;
    device_thread *thread = state;
    if (!sp_vector_reserve(&thread->open, 1))
        return;
    if (num_waiting(thread) >= SP_DEVICE_PENDING)
        return;
    void *event = record(times, thread);
    if (event != NULL)
        thread->open.items[thread->open.count++] =
            (event_pair){.number = call->number, .start = event};
}

/* Calls may end in any order; nearly always it is the last one. */
static event_pair *find_open(device_thread *thread, uint64_t number)
{
    for (size_t i = thread->open.count; i-- > 0;)
        if (thread->open.items[i].number == number)
            return &thread->open.items[i];
    return NULL;
}

static bool take_open(device_thread *thread, uint64_t number, event_pair *out)
{
    event_pair *found = find_open(thread, number);
    if (found == NULL)
        return false;
    *out = *found;
    const event_pair *behind = thread->open.items + thread->open.count--;
    memmove(found, found + 1, (size_t)(behind - found - 1) * sizeof *found);
    return true;
}

/* True: the call waits for the device, under `out_ticket`. */
static bool wait_for_device(device_times *times, device_thread *thread, uint64_t number,
                            uint64_t *out_ticket)
{
    event_pair pair;
    if (!take_open(thread, number, &pair))
        return false;
    if (pair.end == NULL)
        pair.end = record(times, thread);
    pair.number = atomic_fetch_add_explicit(&times->next_ticket, 1, memory_order_relaxed);
    *out_ticket = pair.number;
    if (pair.end != NULL && push_waiting(thread, pair))
        return true;
    keep_event(times, &thread->lock, &thread->idle, pair.start);
    keep_event(times, &thread->lock, &thread->idle, pair.end);
    return false;
}

/* Ticket plus one, then times that are known, as many as there is room for. */
static size_t put_payload(const device_times *times, device_thread *thread, uint64_t own,
                          char *payload)
{
    enum { PAIR_BYTES = 2 * SP_NUMBER_BYTES };
    uint8_t *first = (uint8_t *)payload, *at = sp_put_number(first, own);
    sp_mutex_lock(&thread->lock);
    size_t count = 0;
    bool is_free = !atomic_load_explicit(&times->is_collecting, memory_order_relaxed);
    while (is_free && count < thread->known.count &&
           at + PAIR_BYTES <= first + SP_INSTRUMENT_PAYLOAD) {
        at = sp_put_number(at, thread->known.items[count].ticket);
        at = sp_put_number(at, (uint64_t)thread->known.items[count].ns);
        count++;
    }
    thread->known.count -= count;
    if (count > 0)
        memmove(thread->known.items, thread->known.items + count,
                thread->known.count * sizeof *thread->known.items);
    sp_mutex_unlock(&thread->lock);
    return own == 0 && count == 0 ? 0 : (size_t)(at - first);
}

static size_t end(void *context, void *state, const sp_instrument_call *call, char *payload)
{
    device_times *times = context;
    device_thread *thread = state;
    uint64_t ticket = 0;
    bool is_timed = wait_for_device(times, thread, call->number, &ticket);
    resolve_some(times, thread);
    return put_payload(times, thread, is_timed ? ticket + 1 : 0, payload);
}

/* The event goes first: what the program does while it waits is no time of the device. */
static void finish(void *context, void *state, const sp_instrument_call *call)
{
    device_times *times = context;
    event_pair *pair = find_open(state, call->number);
    if (pair != NULL)
        pair->end = record(times, state);
    times->driver.synchronize(times->driver.context);
}

/* ---- Publication -----------------------------------------------------------------------------*/

/* Everything that waits, of all threads, those that ended included; what is known goes to what was collected.
 * What finds no room stays where it is. */
static pairs gather(device_times *times)
{
    sp_mutex_lock(&times->lock);
    pairs all = times->orphans;
    times->orphans = (pairs){0};
    add_times(&times->collected, &times->left);
    for (device_thread *thread = times->threads; thread != NULL; thread = thread->next) {
        sp_mutex_lock(&thread->lock);
        move_waiting(thread, &all);
        add_times(&times->collected, &thread->known);
        sp_mutex_unlock(&thread->lock);
    }
    sp_mutex_unlock(&times->lock);
    return all;
}

static bool wait_until_done(const device_times *times, const event_pair *pair, int64_t deadline)
{
    enum { PAUSE_US = 200 };
    while (!is_done(times, pair)) {
        if (sp_os_monotonic_ns() >= deadline)
            return false;
        sp_os_thread_sleep_us(PAUSE_US);
    }
    return true;
}

static void collect_pair(device_times *times, const event_pair *pair, int64_t deadline)
{
    int64_t ns = wait_until_done(times, pair, deadline) ? ask(times, pair) : -1;
    keep_event(times, &times->lock, &times->spare, pair->start);
    keep_event(times, &times->lock, &times->spare, pair->end);
    if (ns >= 0 && sp_vector_reserve(&times->collected, 1))
        times->collected.items[times->collected.count++] = (sp_device_time){pair->number, ns};
}

static const sp_device_time *collect(void *context, size_t *out_count)
{
    device_times *times = context;
    atomic_store(&times->is_collecting, out_count == NULL);
    if (out_count == NULL)
        return NULL;
    int64_t deadline = sp_os_monotonic_ns() + SP_DEVICE_TIMEOUT_NS;
    pairs all = gather(times);
    for (size_t i = 0; i < all.count; i++)
        collect_pair(times, &all.items[i], deadline);
    sp_vector_release(&all);
    *out_count = times->collected.count;
    return times->collected.items;
}

static void drop_collected(void *context)
{
    device_times *times = context;
    time_list *collected = &times->collected;
    size_t count = collected->count - times->num_earlier;
    if (times->num_earlier > 0)
        memmove(collected->items, collected->items + times->num_earlier,
                count * sizeof *collected->items);
    collected->count = times->num_earlier = count;
}

/* ---- Its life --------------------------------------------------------------------------------*/

static void release(void *context)
{
    device_times *times = context;
    const sp_device_driver *driver = &times->driver;
    for (size_t i = 0; i < times->orphans.count; i++) {
        driver->destroy(driver->context, times->orphans.items[i].start);
        driver->destroy(driver->context, times->orphans.items[i].end);
    }
    for (size_t i = 0; i < times->spare.count; i++)
        driver->destroy(driver->context, times->spare.items[i]);
    sp_vector_release(&times->orphans);
    sp_vector_release(&times->spare);
    sp_vector_release(&times->left);
    sp_vector_release(&times->collected);
    if (driver->release != NULL)
        driver->release(driver->context);
    free(times);
}

static sp_instrument instrument_of(device_times *times)
{
    return (sp_instrument){
        .size = sizeof(sp_instrument),
        .version = SP_INSTRUMENT_VERSION,
        .name = "device_times",
        .context = times,
        .attach_thread = attach_thread,
        .detach_thread = detach_thread,
        .begin = begin,
        .end = end,
        .finish = times->syncs_at_end ? finish : NULL,
        .payload_kind = SP_PAYLOAD_DEVICE_TIMES,
        .device_times = collect,
        .device_times_taken = drop_collected,
        .release = release,
    };
}

int sp_device_times_create(const sp_device_driver *driver, bool syncs_at_end, sp_instrument *out,
                           sp_error *error)
{
    device_times *times = calloc(1, sizeof *times);
    int status = times == NULL ? sp_fail_memory(error, "the device times") : SP_OK;
    if (status == SP_OK && driver->version != SP_DEVICE_VERSION)
        status = sp_fail(error, SP_ERR_INVALID_ARGUMENT,
                         "a device driver of version %u: this recorder takes version %u",
                         driver->version, SP_DEVICE_VERSION);
    if (status == SP_OK && syncs_at_end && driver->synchronize == NULL)
        status =
            sp_fail(error, SP_ERR_INVALID_ARGUMENT,
                    "gpu_sync_on_exit needs a GPU timing back end with synchronize(), and '%s' has "
                    "none",
                    driver->name);
    if (status != SP_OK) {
        if (driver->release != NULL)
            driver->release(driver->context);
        free(times);
        return status;
    }
    memcpy(&times->driver, driver,
           driver->size < sizeof times->driver ? driver->size : sizeof times->driver);
    times->syncs_at_end = syncs_at_end;
    sp_mutex_reset(&times->lock);
    *out = instrument_of(times);
    return SP_OK;
}
