/* Perf events on a machine that is made up: how events are grouped, read and scaled, and what is said when
 * they cannot be counted. Real software events are at the end. */
#include "check.h"

#include "backends/perf/counters.h"
#include "backends/perf/instrument.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

/* ---- A processor with so many counters ------------------------------------------------------- */

enum { MOST = 64, FIRST = 100 };

typedef struct counter {
    sp_os_perf_event event;
    int leader; /* descriptor; its own: it leads */
    bool is_open, is_mapped, counts;
} counter;

static counter counters[MOST];
static int num_counters, slots, level, refusal;
static bool with_pages, in_container, pages_fail;
static uint64_t enabled, running;
static int reads;

static bool is_hardware(const sp_os_perf_event *event)
{
    return event->type != SP_OS_PERF_SOFTWARE;
}

static int fake_open(const sp_os_perf_event *event, int leader)
{
    int used = 0;
    if (refusal != 0 && (refusal != EACCES || event->with_kernel))
        return -refusal;
    for (int i = 0; i < num_counters; i++)
        used += counters[i].is_open && counters[i].leader == leader;
    if (leader >= 0 && is_hardware(event) && used >= slots)
        return -EINVAL;
    int own = FIRST + num_counters;
    counters[num_counters++] =
        (counter){.event = *event, .leader = leader < 0 ? own : leader, .is_open = true};
    return own;
}

/* What is opened afterwards would not count. */
static void fake_start(int leader)
{
    CHECK_INT(counters[leader - FIRST].leader, leader);
    for (int i = 0; i < num_counters; i++)
        counters[i].counts = counters[i].counts || (counters[i].is_open && counters[i].leader == leader);
}

static uint64_t value_of(const counter *c)
{
    CHECK(c->counts);
    return 1000 * (c->event.config + 1) + (uint64_t)c->event.type;
}

static size_t fake_read(int descriptor, uint64_t *words, size_t count)
{
    size_t at = 3;
    reads++;
    for (int i = 0; i < num_counters; i++)
        if (counters[i].is_open && counters[i].leader == descriptor && at < count)
            words[at++] = value_of(&counters[i]);
    words[0] = at - 3;
    words[1] = enabled;
    words[2] = running;
    return at;
}

static void fake_close(int descriptor)
{
    CHECK(counters[descriptor - FIRST].is_open);
    counters[descriptor - FIRST].is_open = false;
}

static const void *fake_map(int descriptor)
{
    if (!with_pages)
        return NULL;
    counters[descriptor - FIRST].is_mapped = true;
    return &counters[descriptor - FIRST];
}

static void fake_unmap(const void *page)
{
    ((counter *)(uintptr_t)page)->is_mapped = false;
}

static bool fake_page(const void *page, uint64_t out[3])
{
    out[0] = value_of(page) + 7; /* told from what a read gives */
    out[1] = enabled;
    out[2] = running;
    return !pages_fail;
}

static int fake_level(void)
{
    return level;
}

static bool fake_container(void)
{
    return in_container;
}

static const sp_os_perf fake = {fake_open,  fake_start, fake_read,  fake_close,    fake_map,
                                fake_unmap, fake_page,  fake_level, fake_container};

static void reset(int num_slots)
{
    memset(counters, 0, sizeof counters);
    num_counters = refusal = reads = 0;
    slots = num_slots;
    level = 2;
    with_pages = in_container = pages_fail = false;
    enabled = 500;
    running = 250;
}

static int num_open(void)
{
    int count = 0;
    for (int i = 0; i < num_counters; i++)
        count += counters[i].is_open + counters[i].is_mapped;
    return count;
}

/* ---- Cases -----------------------------------------------------------------------------------*/

static const char *const mixed[] = {"cycles", "task-clock", "instructions", "branches", "r1a2"};

static void groups_that_fit(void)
{
    sp_perf_plan plan;
    reset(2);
    CHECK_INT(sp_perf_plan_make(&plan, &fake, mixed, 5, false, NULL), SP_OK);
    CHECK_INT(plan.num_groups, 3); /* two of hardware, one of software */
    CHECK(plan.takes_turns);
    CHECK_INT(plan.group_of[0], 0);
    CHECK_INT(plan.group_of[2], 0);
    CHECK_INT(plan.group_of[3], 1);
    CHECK_INT(plan.group_of[4], 1);
    CHECK_INT(plan.group_of[1], 2);
    CHECK_INT(num_open(), 0); /* finding out leaves nothing behind */
    CHECK_INT(plan.events[4].type, SP_OS_PERF_RAW);
    CHECK_INT(plan.events[4].config, 0x1a2);
}

static void read_by_the_system(void)
{
    sp_perf_plan plan;
    sp_perf_thread *thread;
    int64_t values[MOST] = {0};
    reset(2);
    sp_perf_plan_make(&plan, &fake, mixed, 5, false, NULL);
    CHECK_INT(sp_perf_thread_open(&plan, &thread, NULL), SP_OK);
    CHECK_INT(num_open(), 5);
    sp_perf_thread_read(&plan, thread, values);
    CHECK_INT(reads, 3); /* one a group */
    CHECK_INT(values[0], 1000);
    CHECK_INT(values[1], 2001);
    CHECK_INT(values[2], 2000);
    CHECK_INT(values[3], 5000);
    CHECK_INT(values[4], 1000 * 0x1a3 + 4);
    for (int group = 0; group < 3; group++) {
        CHECK_INT(values[5 + 2 * group], 500);
        CHECK_INT(values[6 + 2 * group], 250);
    }
    sp_perf_thread_close(&plan, thread);
    CHECK_INT(num_open(), 0);
}

static void read_by_pages(void)
{
    sp_perf_plan plan;
    sp_perf_thread *thread;
    int64_t values[MOST] = {0};
    reset(4);
    with_pages = true;
    sp_perf_plan_make(&plan, &fake, mixed, 3, false, NULL);
    sp_perf_thread_open(&plan, &thread, NULL);
    sp_perf_thread_read(&plan, thread, values);
    CHECK_INT(reads, 1); /* of the software events, which have no page */
    CHECK_INT(values[0], 1007);
    CHECK_INT(values[1], 2001);
    CHECK_INT(values[2], 2007);
    pages_fail = true; /* the counter is not in the processor now */
    sp_perf_thread_read(&plan, thread, values);
    CHECK_INT(reads, 3);
    CHECK_INT(values[0], 1000);
    sp_perf_thread_close(&plan, thread);
    CHECK_INT(num_open(), 0);
}

static void software_alone_takes_no_turns(void)
{
    static const char *const names[] = {"task-clock", "page-faults"};
    const sp_instrument_request request = {.size = sizeof request, .items = names, .num_items = 2};
    sp_instrument table;
    void *state;
    int64_t values[2] = {0};
    reset(0);
    CHECK_INT(sp_perf_instrument(&fake, &request, &table, NULL), SP_OK);
    CHECK_TEXT(table.name, "perf_events");
    CHECK_INT(table.num_values, 2);
    CHECK_INT(table.num_groups, 0);
    CHECK(table.attach_thread(table.context, &state, NULL));
    table.read(table.context, state, values);
    CHECK_INT(values[1], 3001);
    table.detach_thread(table.context, state);
    table.release(table.context);
    CHECK_INT(num_open(), 0);
}

static void user_mode_unless_asked(void)
{
    static const char *const names[] = {"cycles", "context-switches"};
    sp_perf_plan plan;
    reset(4);
    sp_perf_plan_make(&plan, &fake, names, 2, false, NULL);
    CHECK(!counters[0].event.with_kernel);
    CHECK(counters[1].event.with_kernel); /* it happens nowhere else */
    reset(4);
    sp_perf_plan_make(&plan, &fake, names, 2, true, NULL);
    CHECK(counters[0].event.with_kernel);
}

/* Where the kernel's part may not be counted, its accounts serve. */
static void accounts_stand_in(void)
{
    static const char *const names[] = {"cycles", "context-switches", "branches"};
    sp_perf_plan plan;
    sp_perf_thread *thread;
    int64_t values[MOST] = {0};
    reset(4);
    refusal = EACCES; /* of whatever counts in the kernel */
    CHECK_INT(sp_perf_plan_make(&plan, &fake, names, 3, false, NULL), SP_OK);
    CHECK(plan.is_usage[1] && !plan.is_usage[0] && !plan.is_usage[2]);
    CHECK_INT(sp_perf_thread_open(&plan, &thread, NULL), SP_OK);
    sp_perf_thread_read(&plan, thread, values);
    CHECK_INT(values[0], 1000);
    CHECK_INT(values[2], 5000);
    CHECK(values[1] >= 0 && values[1] < 1000000);
    CHECK_INT(values[3], 500); /* the times of the one group follow the values */
    sp_perf_thread_close(&plan, thread);
}

/* ---- What is said -----------------------------------------------------------------------------*/

static const char *refused_with(int errno_value, const char *event)
{
    static sp_error error;
    sp_perf_plan plan;
    refusal = errno_value;
    CHECK_INT(sp_perf_plan_make(&plan, &fake, &event, 1, true, &error), SP_ERR_UNSUPPORTED);
    CHECK_INT(num_open(), 0);
    return error.text;
}

static void refusals_say_what_to_do(void)
{
    reset(4);
    level = 4;
    const char *text = refused_with(EACCES, "cycles");
    CHECK_CONTAINS(text, "'cycles'");
    CHECK_CONTAINS(text, "/proc/sys/kernel/perf_event_paranoid is 4");
    CHECK_CONTAINS(text, "sysctl kernel.perf_event_paranoid=2");
    level = 2;
    text = refused_with(EACCES, "cycles");
    CHECK_CONTAINS(text, "/proc/sys/kernel/perf_event_paranoid at 2");
    CHECK_CONTAINS(text, "perf_events_kernel off");
    in_container = true;
    CHECK_CONTAINS(refused_with(EPERM, "cycles"), "--cap-add=PERFMON");
    in_container = false;
    CHECK_CONTAINS(refused_with(ENOENT, "cycles"), "virtual machines");
    CHECK_CONTAINS(refused_with(ENOENT, "cycles"), "task-clock");
    CHECK_CONTAINS(refused_with(EOPNOTSUPP, "r1"), "no such counter");
    CHECK_CONTAINS(refused_with(ENOSYS, "cycles"), "no perf_event_open");
    CHECK_CONTAINS(refused_with(EMFILE, "cycles"), "ulimit -n");
    CHECK_CONTAINS(refused_with(EBUSY, "cycles"), "another program");
    CHECK_CONTAINS(refused_with(EINVAL, "cycles"), "leave it out");
    CHECK_CONTAINS(refused_with(EPERM, "cpu-migrations"), "'cpu-migrations'");
}

static void a_later_thread_may_be_refused(void)
{
    sp_perf_plan plan;
    sp_perf_thread *thread = NULL;
    sp_error error;
    reset(4);
    sp_perf_plan_make(&plan, &fake, mixed, 5, false, NULL);
    refusal = EMFILE;
    CHECK_INT(sp_perf_thread_open(&plan, &thread, &error), SP_ERR_UNSUPPORTED);
    CHECK_CONTAINS(error.text, "no descriptors");
    CHECK(thread == NULL);
    CHECK_INT(num_open(), 0);
}

static void unknown_names(void)
{
    static const char *const bad[] = {"cyclops", "r", "rxyz", "r00000000000000001", ""};
    sp_perf_plan plan;
    sp_error error;
    reset(4);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_INT(sp_perf_plan_make(&plan, &fake, &bad[i], 1, false, &error),
                  SP_ERR_INVALID_ARGUMENT);
        CHECK_CONTAINS(error.text, bad[i]);
    }
    CHECK_INT(sp_perf_plan_make(&plan, &fake, NULL, 0, false, NULL), SP_ERR_INVALID_ARGUMENT);
}

/* ---- This machine -----------------------------------------------------------------------------*/

static void touch_pages(size_t pages)
{
    enum { PAGE = 4096 };
    char *memory = aligned_alloc(PAGE, pages * PAGE);
    for (size_t i = 0; i < pages; i++)
        ((volatile char *)memory)[i * PAGE] = 1;
    free(memory);
}

static void software_events_of_this_machine(void)
{
    static const char *const names[] = {"task-clock", "page-faults", "context-switches"};
    enum { PAGES = 8192 };
    sp_perf_plan plan;
    sp_perf_thread *thread;
    sp_error error = {.text = ""};
    int64_t before[3], after[3];
    if (!CHECK_INT(sp_perf_plan_make(&plan, &sp_os_perf_system, names, 3, false, &error), SP_OK) ||
        !CHECK_INT(sp_perf_thread_open(&plan, &thread, &error), SP_OK)) {
        fprintf(stderr, "%s\n", error.text);
        return;
    }
    sp_perf_thread_read(&plan, thread, before);
    touch_pages(PAGES);
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    sp_perf_thread_read(&plan, thread, after);
    CHECK(after[0] > before[0]);
    /* At least one for every 2 MiB, and in pages of 4 KiB one each. */
    CHECK(after[1] - before[1] >= PAGES / 512);
    CHECK(after[2] > before[2]);
    sp_perf_thread_close(&plan, thread);
}

int main(void)
{
    RUN(groups_that_fit);
    RUN(read_by_the_system);
    RUN(read_by_pages);
    RUN(software_alone_takes_no_turns);
    RUN(user_mode_unless_asked);
    RUN(accounts_stand_in);
    RUN(refusals_say_what_to_do);
    RUN(a_later_thread_may_be_refused);
    RUN(unknown_names);
    RUN(software_events_of_this_machine);
    return check_result();
}
