/* Instruments at begins and ends, with a scripted clock and scripted counters: what each call must get
 * is worked out by hand. */
#include "check.h"
#include "recorder_case.h"

#include "clock/clock.h"
#include "lane_reader.h"
#include "recorder/attach.h"

#include <pthread.h>

static sp_recording recording;
static uint32_t a, b;

/* ---- An instrument of our own ----------------------------------------------------------------*/

enum { VALUES = 2, MOST_EVENTS = 256 };

/* What `read` gives next. */
static int64_t meter[VALUES];
static int attached, detached, released;
static char events[MOST_EVENTS];

static void note(const char *text)
{
    size_t used = strlen(events);
    snprintf(events + used, sizeof events - used, "%s ", text);
}

static bool attach(void *context, void **out_state, sp_error *error)
{
    (void)error;
    attached++;
    *out_state = context;
    return true;
}

static void detach(void *context, void *state)
{
    CHECK(context == state);
    detached++;
}

static void read_meter(void *context, void *state, int64_t *values)
{
    CHECK(context == state);
    memcpy(values, meter, sizeof meter);
    note("read");
}

static void begin(void *context, void *state, const sp_instrument_call *call)
{
    char text[64];
    (void)context;
    (void)state;
    snprintf(text, sizeof text, "+%s%d", call->name, (int)call->number);
    note(text);
    sp_fake_tick += 1000; /* what a bracket takes lies before the call */
}

static size_t end(void *context, void *state, const sp_instrument_call *call,
                  char payload[SP_INSTRUMENT_PAYLOAD])
{
    char text[64];
    (void)context;
    (void)state;
    snprintf(text, sizeof text, "-%s%d", call->name, (int)call->number);
    note(text);
    sp_fake_tick += 1000;
    memcpy(payload, "p", 1);
    payload[1] = (char)('0' + call->number);
    return 2;
}

static void release(void *context)
{
    (void)context;
    released++;
}

static const char *const names[] = {"steps", "misses"};
static int context;

static const sp_instrument meters = {
    .size = sizeof meters, .version = SP_INSTRUMENT_VERSION, .name = "meters", .context = &context,
    .num_values = VALUES, .value_names = names, .attach_thread = attach, .detach_thread = detach,
    .read = read_meter, .release = release};

static const sp_instrument brackets = {
    .size = sizeof brackets, .version = SP_INSTRUMENT_VERSION, .name = "brackets",
    .begin = begin, .end = end, .release = release};

/* ---- Cases -----------------------------------------------------------------------------------*/

static void start_as(bool is_aggregate, const sp_instrument *const *tables, size_t count,
                     size_t ring_words, size_t max_memory)
{
    /* This thread lets go of what an earlier case gave it. */
    case_start(&recording, 0, SIZE_MAX / 2);
    a = case_region(&recording, "a");
    case_begin(&recording, a);
    case_end(&recording, a);
    sp_recording_settings settings = {
        .ring_words = ring_words, .max_memory = max_memory, .is_aggregate = is_aggregate};
    sp_fake_tick = 100;
    meter[0] = meter[1] = 0;
    attached = detached = released = 0;
    events[0] = '\0';
    CHECK_INT(sp_instruments_create(tables, count, NULL, &settings.instruments, NULL), SP_OK);
    CHECK_INT(sp_recording_start(&recording, &settings, NULL), SP_OK);
    a = case_region(&recording, "a");
    b = case_region(&recording, "b");
}

static void start(const sp_instrument *only)
{
    const sp_instrument *const tables[] = {only};
    start_as(false, tables, 1, 0, SIZE_MAX / 2);
}

/* The counters stand at these values when the next begin or end reads them. */
static void begin_with(int64_t steps, int64_t misses, uint32_t region)
{
    meter[0] = steps;
    meter[1] = misses;
    CHECK_INT(case_begin(&recording, region), SP_OK);
}

static void end_with(int64_t steps, int64_t misses, uint32_t region)
{
    meter[0] = steps;
    meter[1] = misses;
    CHECK_INT(case_end(&recording, region), SP_OK);
}

/* The values of the call that is the n-th to have ended. */
static void check_values(size_t n, uint32_t region, int64_t steps, int64_t misses)
{
    size_t count, seen = 0;
    const uint64_t *at = sp_drain_pending(sp_lane_of(&recording), &count), *stop = at + count;
    uint32_t last = 0;
    for (; at < stop; at += sp_record_words(at[0])) {
        if (sp_record_is_call(at[0]))
            last = sp_record_region(at[0]);
        if (sp_record_kind_of(at[0]) != SP_RECORD_SIDE || seen++ != n)
            continue;
        int64_t values[VALUES];
        uint32_t instrument;
        size_t used, bytes = sp_record_region(at[0]);
        const char *payload = (const char *)(at + 1);
        CHECK_INT(sp_record_depth(at[0]), SP_SIDE_COUNTERS);
        CHECK_INT(last, region);
        CHECK(sp_counters_instrument(payload, bytes, &instrument, &used));
        CHECK_INT(instrument, 0);
        if (!CHECK(sp_counters_get(payload, bytes, values, VALUES)))
            return;
        CHECK_INT(values[0], steps);
        CHECK_INT(values[1], misses);
        return;
    }
    CHECK(!"that many calls");
}

static void values_of_a_call_are_differences(void)
{
    start(&meters);
    begin_with(100, 7, a);
    begin_with(130, 8, b);
    end_with(150, 8, b);
    end_with(1100, 3, a);
    check_values(0, b, 20, 0);
    check_values(1, a, 1000, -4);
    CHECK_INT(attached, 1);
    CHECK_TEXT(events, "read read read read ");
}

static void a_deep_stack_keeps_its_values(void)
{
    enum { DEPTH = 200 };
    start(&meters);
    for (int i = 0; i < DEPTH; i++)
        begin_with(i, 2 * i, a);
    for (int i = DEPTH; i-- > 0;)
        end_with(1000, 1000, a);
    for (int i = 0; i < DEPTH; i++)
        check_values((size_t)i, a, 1000 - (DEPTH - 1 - i), 1000 - 2 * (DEPTH - 1 - i));
}

static void crossing_calls_get_their_own(void)
{
    start(&meters);
    begin_with(10, 0, a);
    begin_with(20, 0, b);
    end_with(50, 1, a); /* b is still open */
    begin_with(60, 2, a);
    end_with(65, 3, a);
    end_with(90, 5, b);
    check_values(0, a, 40, 1);
    check_values(1, a, 5, 1);
    check_values(2, b, 70, 5);
}

static void a_pause_balances(void)
{
    start(&brackets);
    case_begin(&recording, a);
    sp_recording_pause(&recording);
    case_begin(&recording, b);
    case_end(&recording, b);
    case_begin(&recording, b);
    sp_recording_resume(&recording);
    case_begin(&recording, b);
    case_end(&recording, b);
    case_end(&recording, b);
    case_end(&recording, a);
    CHECK_TEXT(events, "+a0 +b1 -b1 -a0 ");
}

static void what_brackets_take_is_outside(void)
{
    start(&brackets);
    sp_fake_tick = 5000;
    case_begin(&recording, a);
    sp_fake_tick = 7000;
    case_end(&recording, a);
    size_t count;
    const uint64_t *words = sp_drain_pending(sp_lane_of(&recording), &count);
    if (!CHECK_INT(count, SP_RECORD_CALL_WORDS + 2))
        return;
    CHECK_INT(words[1], 6000);
    CHECK_INT(words[2], 7000);
    CHECK_INT(words[3], sp_record_first(SP_RECORD_SIDE, 3, SP_SIDE_PAYLOAD));
    CHECK(memcmp(words + 4, "\0p0\0\0\0\0\0", 8) == 0);
}

static void brackets_nest(void)
{
    const sp_instrument *const tables[] = {&brackets, &meters, &brackets};
    start_as(false, tables, 3, 0, SIZE_MAX / 2);
    case_begin(&recording, a);
    case_end(&recording, a);
    CHECK_TEXT(events, "+a0 read +a0 read -a0 -a0 ");
}

static int64_t find_sum(const sp_counter_sums *sums, uint32_t region, size_t value, uint64_t *calls)
{
    for (size_t i = 0; i < sums->items.count; i++) {
        const sp_counter_sum *sum = &sums->items.items[i];
        if (sum->region != region)
            continue;
        *calls = sum->calls;
        return sums->values.items[sum->first + value];
    }
    return -1;
}

static void aggregate_mode_sums(void)
{
    const sp_instrument *const tables[] = {&meters};
    sp_counter_sums sums = {0};
    sp_sums times = {0};
    uint64_t calls = 0;
    start_as(true, tables, 1, SP_RING_MIN_WORDS, SIZE_MAX / 2);
    for (int i = 1; i <= 100; i++) {
        begin_with(i, 0, a);
        end_with(2 * i, 3, a); /* i more, and 3 */
    }
    sp_recording_take_sums(&recording, &times);
    sp_recording_take_counters(&recording, &sums);
    CHECK_INT(find_sum(&sums, a, 0, &calls), 5050);
    CHECK_INT(find_sum(&sums, a, 1, &calls), 300);
    CHECK_INT(calls, 100);
    sp_counter_sums_release(&sums);
    sp_sums_release(&times);
}

/* Calls that memory had no room for lose their times, not their counters. */
static void lost_calls_are_counted(void)
{
    const sp_instrument *const tables[] = {&meters};
    sp_counter_sums sums = {0};
    uint64_t calls = 0;
    start_as(false, tables, 1, SP_RING_MIN_WORDS, 0);
    for (int i = 0; i < 100; i++) {
        begin_with(0, 0, a);
        end_with(10, 1, a);
    }
    sp_lane *lane = sp_lane_of(&recording);
    sp_mutex_lock(&lane->lock);
    sp_drain_other(lane);
    sp_mutex_unlock(&lane->lock);
    sp_recording_take_counters(&recording, &sums);
    CHECK_INT(find_sum(&sums, a, 0, &calls), 1000);
    CHECK_INT(calls, 100);
    sp_counter_sums_release(&sums);
}

static void *on_a_thread(void *unused)
{
    (void)unused;
    begin_with(5, 5, a);
    return NULL; /* the call stays open */
}

static void threads_attach_and_detach(void)
{
    pthread_t thread;
    start(&meters);
    begin_with(0, 0, b);
    end_with(1, 1, b);
    pthread_create(&thread, NULL, on_a_thread, NULL);
    pthread_join(thread, NULL);
    CHECK_INT(attached, 2);
    CHECK_INT(detached, 1);
    CHECK_INT(released, 0);
}

/* The set goes with the last lane that was attached to it. */
static void released_with_its_last_holder(void)
{
    start(&meters);
    begin_with(0, 0, b);
    end_with(1, 1, b);
    sp_recording_settings plain = {.max_memory = SIZE_MAX / 2};
    sp_recording_start(&recording, &plain, NULL);
    CHECK_INT(released, 0);
    b = case_region(&recording, "b");
    begin_with(0, 0, b);
    end_with(1, 1, b);
    CHECK_INT(detached, 1);
    CHECK_INT(released, 1);
    size_t count;
    sp_drain_pending(sp_lane_of(&recording), &count);
    CHECK_INT(count, SP_RECORD_CALL_WORDS); /* and the lane is on the fast path again */
    CHECK(sp_lane_of(&recording)->ceiling != NULL);
}

static void taken_over_while_running(void)
{
    const sp_instrument *const tables[] = {&meters, &brackets};
    sp_instruments *set;
    case_start(&recording, 0, SIZE_MAX / 2);
    a = case_region(&recording, "a");
    b = case_region(&recording, "b");
    begin_with(0, 0, a);
    meter[0] = 40;
    events[0] = '\0';
    sp_instruments_create(tables, 2, NULL, &set, NULL);
    sp_recording_adopt_instruments(&recording, set);
    begin_with(50, 0, b);
    end_with(55, 0, b);
    end_with(100, 9, a);
    CHECK_TEXT(events, "read +a0 read +b1 read -b1 read -a0 ");
    size_t count;
    const uint64_t *words = sp_drain_pending(sp_lane_of(&recording), &count);
    const uint64_t *stop = words + count;
    int64_t values[VALUES] = {0};
    for (; words < stop; words += sp_record_words(words[0]))
        if (sp_record_depth(words[0]) == SP_SIDE_COUNTERS)
            sp_counters_get((const char *)(words + 1), sp_record_region(words[0]), values, VALUES);
    CHECK_INT(values[0], 60); /* since the moment of taking over */
    CHECK_INT(values[1], 9);
}

static bool refuse(void *context_, void **out_state, sp_error *error)
{
    (void)context_;
    (void)out_state;
    snprintf(error->text, sizeof error->text, "no meter on this machine");
    return false;
}

static int said;

static void say(const char *text)
{
    said++;
    CHECK_TEXT(text, "no meter on this machine");
}

static void a_thread_may_be_refused(void)
{
    sp_instrument refusing = meters;
    const sp_instrument *const tables[] = {&refusing};
    refusing.attach_thread = refuse;
    sp_recording_settings settings = {.max_memory = SIZE_MAX / 2};
    sp_instruments_create(tables, 1, say, &settings.instruments, NULL);
    sp_recording_start(&recording, &settings, NULL);
    a = case_region(&recording, "a");
    begin_with(0, 0, a);
    end_with(1, 1, a);
    pthread_t thread;
    pthread_create(&thread, NULL, on_a_thread, NULL);
    pthread_join(thread, NULL);
    CHECK_INT(said, 1);
    size_t count;
    sp_drain_pending(sp_lane_of(&recording), &count);
    CHECK_INT(count, SP_RECORD_CALL_WORDS);
}

static void bad_tables_are_refused(void)
{
    sp_instrument bad = meters;
    const sp_instrument *const tables[] = {&brackets, &bad};
    sp_instruments *set = NULL;
    sp_error error;
    released = 0;
    bad.name = "no name";
    CHECK_INT(sp_instruments_create(tables, 2, NULL, &set, &error), SP_ERR_INVALID_ARGUMENT);
    CHECK_CONTAINS(error.text, "'no name'");
    CHECK_INT(released, 2);
    bad.name = "meters";
    bad.read = NULL;
    CHECK_INT(sp_instruments_create(tables, 2, NULL, &set, &error), SP_ERR_INVALID_ARGUMENT);
    CHECK_CONTAINS(error.text, "2 values");
    CHECK(set == NULL);
}

int main(void)
{
    sp_recording_init(&recording);
    RUN(values_of_a_call_are_differences);
    RUN(a_deep_stack_keeps_its_values);
    RUN(crossing_calls_get_their_own);
    RUN(a_pause_balances);
    RUN(what_brackets_take_is_outside);
    RUN(brackets_nest);
    RUN(aggregate_mode_sums);
    RUN(lost_calls_are_counted);
    RUN(threads_attach_and_detach);
    RUN(released_with_its_last_holder);
    RUN(taken_over_while_running);
    RUN(a_thread_may_be_refused);
    RUN(bad_tables_are_refused);
    return check_result();
}
