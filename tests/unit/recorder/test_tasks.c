/* Tasks that take turns on a thread, with a scripted clock: lanes, nesting and await times are worked
 * out by hand. */
#include "check.h"
#include "lane_reader.h"
#include "recorder_case.h"

#include "clock/clock.h"
#include "recorder/attach.h"

static sp_recording recording;
static uint32_t a, b, c;

enum { TASK = SP_RECORD_TASK_LANES, TASKS = 10000 };

static void start(size_t ring_words, size_t max_memory)
{
    sp_fake_tick = 100;
    case_start(&recording, ring_words, max_memory);
    a = case_region(&recording, "a");
    b = case_region(&recording, "b");
    c = case_region(&recording, "c");
}

static void begin_at(uint64_t tick, uint32_t region)
{
    sp_fake_tick = tick;
    CHECK_INT(case_begin(&recording, region), SP_OK);
}

static void end_at(uint64_t tick, uint32_t region)
{
    sp_fake_tick = tick;
    CHECK_INT(case_end(&recording, region), SP_OK);
}

static sp_task_step enter_at(uint64_t tick, sp_task_handle *task)
{
    sp_task_step step;
    sp_fake_tick = tick;
    sp_task_enter(&recording, task, &step);
    return step;
}

static void leave_at(uint64_t tick, sp_task_handle *task, const sp_task_step *step)
{
    sp_fake_tick = tick;
    sp_task_leave(&recording, task, step);
}

static sp_task_handle make(const char *name)
{
    sp_task_handle task;
    CHECK(sp_task_create(&recording, &task, SP_TASK_ASYNC, name, "co", 5));
    return task;
}

static void check_call(const read_run *run, size_t i, uint32_t lane, uint32_t region,
                       uint64_t start_tick, uint64_t end_tick, uint64_t number, int64_t parent,
                       uint64_t awaited)
{
    if (!CHECK(i < run->calls.count))
        return;
    const read_call *call = &run->calls.items[i];
    CHECK_INT(call->lane, lane);
    CHECK_INT(call->region, region);
    CHECK_INT(call->start, start_tick);
    CHECK_INT(call->end, end_tick);
    CHECK_INT(call->number, number);
    CHECK_INT(call->parent, parent);
    CHECK_INT(call->awaited, awaited);
    CHECK_INT(call->flags, 0);
}

/*        1000      1100      1200      1300      1400      1500
 * thread  c-----------------------------------------------------
 * one     .  a 1010 ... 1100)         (1200 b 1210-1220 ... a 1290)
 * two                    (1100 a 1120 ... 1200)        (1400 a 1480)
 */
static void two_tasks_that_interleave(void)
{
    start(0, SIZE_MAX / 2);
    begin_at(1000, c);
    sp_task_handle one = make("one"), two = make("two");
    sp_task_step step = enter_at(1005, &one);
    CHECK(sp_task_is_current(&recording));
    begin_at(1010, a);
    leave_at(1100, &one, &step);
    CHECK(!sp_task_is_current(&recording));
    step = enter_at(1105, &two);
    begin_at(1120, a);
    leave_at(1190, &two, &step);
    step = enter_at(1200, &one);
    begin_at(1210, b);
    end_at(1220, b);
    end_at(1290, a);
    leave_at(1295, &one, &step);
    sp_task_finish(&recording, &one);
    step = enter_at(1400, &two);
    end_at(1480, a);
    leave_at(1490, &two, &step);
    sp_task_finish(&recording, &two);
    end_at(1500, c);
    CHECK_INT(sp_recording_num_calls(&recording, a), 2);
    read_run run = read_recording(&recording);
    CHECK(!run.damaged);
    CHECK_INT(run.calls.count, 4);
    check_call(&run, 0, 0, c, 1000, 1500, 0, -1, 0);
    check_call(&run, 1, TASK, a, 1010, 1290, 0, -1, 100);       /* 1100 to 1200 */
    check_call(&run, 2, TASK, b, 1210, 1220, 1, 0, 0);
    check_call(&run, 3, TASK + 1, a, 1120, 1480, 0, -1, 210);   /* 1190 to 1400 */
    CHECK_INT(run.calls.items[1].exclusive, 280 - 10);
    const sp_task_info *info = recording.tasks.items[0];
    CHECK_INT(atomic_load(&info->steps), 2);
    CHECK_INT(atomic_load(&info->running), 95 + 95);
    CHECK_INT(atomic_load(&info->suspended), 100);
    CHECK_INT(atomic_load(&info->thread), 0);
    CHECK(atomic_load(&info->done_ns) >= 0);
    CHECK_INT(atomic_load(&recording.crossing), 0);
    sp_vector_release(&run.calls);
}

/* A call waits from where it is left open: outer ones longer than inner ones. */
static void awaits_of_nested_calls(void)
{
    start(0, SIZE_MAX / 2);
    sp_task_handle task = make("t");
    sp_task_step step = enter_at(1000, &task);
    begin_at(1001, a);
    leave_at(1010, &task, &step);
    step = enter_at(1030, &task); /* 20 */
    begin_at(1031, b);
    leave_at(1040, &task, &step);
    step = enter_at(1045, &task); /* 5 */
    begin_at(1046, c);
    end_at(1047, c);
    end_at(1050, b);
    leave_at(1060, &task, &step);
    step = enter_at(1061, &task); /* 1 */
    end_at(1070, a);
    leave_at(1080, &task, &step);
    read_run run = read_recording(&recording);
    CHECK_INT(run.calls.count, 3);
    check_call(&run, 0, TASK, a, 1001, 1070, 0, -1, 26);
    check_call(&run, 1, TASK, b, 1031, 1050, 1, 0, 5);
    check_call(&run, 2, TASK, c, 1046, 1047, 2, 1, 0);
    sp_vector_release(&run.calls);
}

/* An eager task runs its first step inside the one that makes it, which goes on to run. */
static void a_step_inside_a_step(void)
{
    start(0, SIZE_MAX / 2);
    sp_task_handle outer = make("outer"), inner = make("inner");
    sp_task_step step = enter_at(1000, &outer);
    begin_at(1010, a);
    sp_task_step eager = enter_at(1020, &inner);
    begin_at(1030, b);
    end_at(1040, b);
    leave_at(1050, &inner, &eager);
    end_at(1060, a);
    leave_at(1070, &outer, &step);
    read_run run = read_recording(&recording);
    check_call(&run, 0, TASK, a, 1010, 1060, 0, -1, 0);
    check_call(&run, 1, TASK + 1, b, 1030, 1040, 0, -1, 0);
    CHECK_INT(atomic_load(&recording.tasks.items[0]->steps), 1);
    CHECK_INT(atomic_load(&recording.tasks.items[0]->running), 70);
    sp_vector_release(&run.calls);
}

static void open_calls_of_every_task(void)
{
    start(0, SIZE_MAX / 2);
    begin_at(1000, c);
    sp_task_handle one = make("one"), two = make("two");
    sp_task_step step = enter_at(1010, &one);
    begin_at(1020, a);
    begin_at(1030, b);
    leave_at(1040, &one, &step);
    step = enter_at(1050, &two);
    begin_at(1060, b);
    sp_fake_tick = 1100;
    sp_open_calls open = {0};
    CHECK(sp_recording_open_calls(&recording, &open));
    CHECK_INT(sp_recording_num_calls(&recording, b), 2);
    if (CHECK_INT(open.count, 4)) {
        CHECK_INT(open.items[0].lane, TASK + 1); /* what has the lane comes first */
        CHECK_INT(open.items[0].awaited, 0);
        CHECK_INT(open.items[1].lane, 0);
        CHECK_INT(open.items[2].lane, TASK);
        CHECK_INT(open.items[2].depth, 0);
        CHECK_INT(open.items[2].awaited, 60);
        CHECK_INT(open.items[3].depth, 1);
        CHECK_INT(open.items[3].parent, 0);
    }
    sp_vector_release(&open);
    leave_at(1110, &two, &step);
    /* Done without ending its call: nobody will. */
    sp_task_finish(&recording, &two);
    CHECK_INT(atomic_load(&recording.lost[SP_LOSS_THREAD_EXIT]), 1);
    end_at(1200, c);
}

/* Stacks of finished tasks are used again. */
static void ten_thousand_tasks_alive(void)
{
    static sp_task_handle tasks[TASKS];
    start(0, SIZE_MAX / 2);
    uint64_t tick = 1000;
    for (int i = 0; i < TASKS; i++) {
        tasks[i] = make("t");
        sp_task_step step = enter_at(tick++, &tasks[i]);
        begin_at(tick++, a);
        leave_at(tick++, &tasks[i], &step);
    }
    for (int i = 0; i < TASKS; i++) {
        sp_task_step step = enter_at(tick++, &tasks[i]);
        end_at(tick++, a);
        leave_at(tick++, &tasks[i], &step);
        sp_task_finish(&recording, &tasks[i]);
    }
    sp_lane *lane = sp_lane_of(&recording);
    size_t slots = lane->tasks.count;
    CHECK(slots >= TASKS && slots < TASKS + 100);
    for (int i = 0; i < TASKS; i++) {
        sp_task_handle task = make("later");
        sp_task_step step = enter_at(tick++, &task);
        begin_at(tick++, b);
        end_at(tick++, b);
        leave_at(tick++, &task, &step);
        sp_task_finish(&recording, &task);
    }
    CHECK_INT(lane->tasks.count, slots);
    read_run run = read_recording(&recording);
    CHECK(!run.damaged);
    if (CHECK_INT(run.calls.count, 2 * TASKS))
        for (int i = 0; i < 2 * TASKS; i++)
            if (!CHECK_INT(run.calls.items[i].lane, TASK + i) ||
                !CHECK_INT(run.calls.items[i].number, 0))
                break;
    /* Suspended between its two steps: three ticks for each task between them, less its own. */
    CHECK_INT(run.calls.items[0].awaited, 3 * TASKS - 2);
    sp_vector_release(&run.calls);
}

/* There is no room for a while: each lane's own numbers come out right afterwards. */
static void numbers_after_losses(void)
{
    start(SP_RING_MIN_WORDS, 1000);
    sp_task_handle one = make("one"), two = make("two");
    uint64_t tick = 1000;
    sp_task_step step = enter_at(tick++, &one);
    begin_at(tick++, a);
    leave_at(tick++, &one, &step);
    step = enter_at(tick++, &two);
    begin_at(tick++, a);
    leave_at(tick++, &two, &step);
    for (int i = 0; i < 2000; i++) {
        sp_task_handle *task = i % 2 == 0 ? &one : &two;
        if (i == 1000)
            atomic_store(&recording.memory.limit, SIZE_MAX / 2);
        step = enter_at(tick++, task);
        begin_at(tick++, b);
        end_at(tick++, b);
        leave_at(tick++, task, &step);
    }
    for (int i = 0; i < 2; i++) {
        sp_task_handle *task = i % 2 == 0 ? &one : &two;
        step = enter_at(tick++, task);
        end_at(tick++, a);
        leave_at(tick++, task, &step);
    }
    size_t lost = atomic_load(&recording.lost[SP_LOSS_MEMORY_FULL]);
    CHECK(lost > 800);
    read_run run = read_recording(&recording);
    CHECK(!run.damaged);
    CHECK_INT(run.lost, lost);
    CHECK_INT(run.calls.count + lost, 2002);
    size_t at = 0;
    for (uint32_t lane = TASK; lane < TASK + 2; lane++) {
        CHECK_INT(run.calls.items[at].lane, lane);
        CHECK_INT(run.calls.items[at].number, 0); /* its outer call */
        size_t own = 1;
        while (at + own < run.calls.count && run.calls.items[at + own].lane == lane)
            own++;
        /* Of its 1000 inner calls the last ones are there. */
        for (size_t i = 1; i < own; i++)
            if (!CHECK_INT(run.calls.items[at + i].number, 1001 - own + i) ||
                !CHECK_INT(run.calls.items[at + i].parent, 0))
                break;
        at += own;
    }
    CHECK_INT(at, run.calls.count);
    sp_vector_release(&run.calls);
}

/* What a handle stands for goes with its configuration. */
static void a_task_of_an_earlier_configuration(void)
{
    start(0, SIZE_MAX / 2);
    sp_task_handle task = make("t");
    sp_task_step step = enter_at(1000, &task);
    begin_at(1010, a);
    start(0, SIZE_MAX / 2);
    begin_at(2000, b);
    end_at(2010, b);
    leave_at(2020, &task, &step);
    step = enter_at(2030, &task);
    CHECK_INT(step.stamp, 0);
    begin_at(2040, b);
    leave_at(2050, &task, &step);
    sp_task_finish(&recording, &task);
    end_at(2060, b);
    read_run run = read_recording(&recording);
    CHECK_INT(run.calls.count, 2);
    check_call(&run, 0, 0, b, 2000, 2010, 0, -1, 0);
    check_call(&run, 1, 0, b, 2040, 2060, 1, -1, 0);
    sp_vector_release(&run.calls);
}

/* Greenlets hand over to each other, and to the thread. */
static void greenlets_switch(void)
{
    start(0, SIZE_MAX / 2);
    begin_at(1000, c);
    sp_task_handle one, two;
    CHECK(sp_task_create(&recording, &one, SP_TASK_GREENLET, "one", "", 5));
    CHECK(sp_task_create(&recording, &two, SP_TASK_GREENLET, "two", "", 5));
    sp_fake_tick = 1010;
    sp_task_switch(&recording, NULL, &one);
    begin_at(1020, a);
    sp_fake_tick = 1030;
    sp_task_switch(&recording, &one, &two);
    begin_at(1040, a);
    sp_fake_tick = 1050;
    sp_task_switch(&recording, &two, &one);
    end_at(1060, a);
    sp_fake_tick = 1070;
    sp_task_switch(&recording, &one, NULL);
    end_at(1080, c);
    sp_fake_tick = 1090;
    sp_task_switch(&recording, NULL, &two);
    end_at(1100, a);
    sp_fake_tick = 1110;
    sp_task_switch(&recording, &two, NULL);
    read_run run = read_recording(&recording);
    CHECK_INT(run.calls.count, 3);
    check_call(&run, 0, 0, c, 1000, 1080, 0, -1, 0);
    check_call(&run, 1, TASK, a, 1020, 1060, 0, -1, 20);
    check_call(&run, 2, TASK + 1, a, 1040, 1100, 0, -1, 40);
    sp_vector_release(&run.calls);
}

int main(void)
{
    CHECK(sp_recording_init(&recording));
    RUN(two_tasks_that_interleave);
    RUN(awaits_of_nested_calls);
    RUN(a_step_inside_a_step);
    RUN(open_calls_of_every_task);
    RUN(ten_thousand_tasks_alive);
    RUN(numbers_after_losses);
    RUN(a_task_of_an_earlier_configuration);
    RUN(greenlets_switch);
    sp_recording_release(&recording);
    return check_result();
}
