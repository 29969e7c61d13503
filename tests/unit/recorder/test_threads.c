/* Threads that come and go, pause from outside, look in, and several recordings at once; the real
 * clock. */
#include "check.h"
#include "lane_reader.h"
#include "recorder_case.h"

#include <pthread.h>

static sp_recording recording, second;
static uint32_t a, b;

static void start(void)
{
    case_start(&recording, 0, SIZE_MAX / 2);
    a = case_region(&recording, "a");
    b = case_region(&recording, "b");
}

enum { SHORT_THREADS = 10000, PAIRS = 20000, THREADS = 4 };

static void *one_call(void *argument)
{
    case_begin(&recording, a);
    case_end(&recording, a);
    return argument;
}

static void ten_thousand_short_threads(void)
{
    start();
    for (int i = 0; i < SHORT_THREADS; i++) {
        pthread_t thread;
        if (!CHECK(pthread_create(&thread, NULL, one_call, NULL) == 0))
            return;
        pthread_join(thread, NULL);
    }
    CHECK_INT(sp_recording_num_calls(&recording, a), SHORT_THREADS);
    CHECK_INT(recording.threads.count, SHORT_THREADS);
    CHECK(recording.lanes.count <= 2);
    CHECK(atomic_load(&recording.memory.used) < 16 * 1024 * 1024);
    const sp_thread_info *last = &recording.threads.items[SHORT_THREADS - 1];
    CHECK(last->native_id > 0);
    CHECK(last->end_ns >= last->start_ns);
    CHECK(last->cpu_ns > 0);
    read_run run = read_recording(&recording);
    CHECK_INT(run.calls.count, SHORT_THREADS);
    for (size_t i = 0; i < run.calls.count; i++)
        if (!CHECK_INT(run.calls.items[i].lane, i) || !CHECK_INT(run.calls.items[i].number, 0))
            break;
    sp_vector_release(&run.calls);
}

static void *many_pairs(void *argument)
{
    for (int i = 0; i < PAIRS; i++) {
        case_begin(&recording, a);
        case_begin(&recording, b);
        case_end(&recording, b);
        case_end(&recording, a);
    }
    return argument;
}

/* Others count and drain while threads record. */
static void looking_in(void)
{
    pthread_t threads[THREADS];
    start();
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, many_pairs, NULL);
    int64_t last = 0;
    for (int i = 0; i < 200; i++) {
        int64_t now = sp_recording_num_calls(&recording, a);
        CHECK(now >= last - THREADS && now <= (int64_t)THREADS * PAIRS);
        last = now;
        sp_open_calls open = {0};
        CHECK(sp_recording_open_calls(&recording, &open));
        CHECK(open.count <= 2 * THREADS);
        sp_vector_release(&open);
        sp_sum sum;
        sp_recording_sum(&recording, b, &sum);
        CHECK(sum.count <= (uint64_t)THREADS * PAIRS);
        sp_mutex_lock(&recording.lock);
        for (size_t k = 0; k < recording.lanes.count; k++) {
            sp_mutex_lock(&recording.lanes.items[k]->lock);
            sp_drain_other(recording.lanes.items[k]);
            sp_mutex_unlock(&recording.lanes.items[k]->lock);
        }
        sp_mutex_unlock(&recording.lock);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    read_run run = read_recording(&recording);
    CHECK(!run.damaged);
    CHECK_INT(run.calls.count, 2 * THREADS * PAIRS);
    CHECK_INT(sp_recording_num_calls(&recording, b), THREADS * PAIRS);
    for (size_t i = 0; i < run.calls.count; i++) {
        const read_call *call = &run.calls.items[i];
        bool is_a = call->number % 2 == 0;
        if (!CHECK(call->region == (is_a ? a : b) && call->depth == !is_a &&
                   call->parent == (is_a ? SP_RECORD_NO_PARENT : call->number - 1)))
            break;
    }
    sp_vector_release(&run.calls);
}

/* Pause and resume from outside: whatever falls in between, every call recorded is whole. */
static void pausing_from_outside(void)
{
    pthread_t threads[THREADS];
    start();
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, many_pairs, NULL);
    for (int i = 0; i < 300; i++) {
        sp_recording_pause(&recording);
        sp_recording_resume(&recording);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK_INT(atomic_load(&recording.unmatched_ends), 0);
    CHECK_INT(atomic_load(&recording.crossing), 0);
    CHECK_INT(atomic_load(&recording.lost[SP_LOSS_THREAD_EXIT]), 0);
    read_run run = read_recording(&recording);
    CHECK(!run.damaged);
    CHECK_INT(sp_recording_num_calls(&recording, a) + sp_recording_num_calls(&recording, b),
              run.calls.count);
    sp_vector_release(&run.calls);
}

static void *leaves_calls_open(void *argument)
{
    case_begin(&recording, a);
    case_begin(&recording, b);
    case_begin(&recording, b);
    case_end(&recording, b);
    return argument;
}

static void thread_dies_with_open_calls(void)
{
    pthread_t thread;
    start();
    pthread_create(&thread, NULL, leaves_calls_open, NULL);
    pthread_join(thread, NULL);
    CHECK_INT(sp_recording_num_calls(&recording, a), 1);
    CHECK_INT(sp_recording_num_calls(&recording, b), 2);
    CHECK_INT(atomic_load(&recording.lost[SP_LOSS_THREAD_EXIT]), 2);
    one_call(NULL); /* takes the lane over, with an empty stack */
    read_run run = read_recording(&recording);
    CHECK_INT(run.calls.count, 2);
    CHECK_INT(run.calls.items[1].depth, 0);
    sp_vector_release(&run.calls);
}

static void *both(void *argument)
{
    for (int i = 0; i < 1000; i++) {
        case_begin(&recording, a);
        case_begin(&second, b);
        case_end(&recording, a);
        case_end(&second, b);
    }
    return argument;
}

static void several_recordings(void)
{
    pthread_t threads[THREADS];
    start();
    case_start(&second, 0, SIZE_MAX / 2);
    case_region(&second, "b");
    CHECK(recording.slot != second.slot);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, both, NULL);
    both(NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK_INT(sp_recording_num_calls(&recording, a), 1000 * (THREADS + 1));
    CHECK_INT(sp_recording_num_calls(&recording, b), 0);
    CHECK_INT(sp_recording_num_calls(&second, b), 1000 * (THREADS + 1));
    CHECK_INT(atomic_load(&recording.crossing) + atomic_load(&second.crossing), 0);
}

static atomic_bool go_on;

static void *until_told(void *argument)
{
    while (atomic_load(&go_on)) {
        case_begin(&second, b);
        case_end(&second, b);
    }
    return argument;
}

/* A recording starts again and again under threads that record; each start counts from zero. */
static void restarting_under_threads(void)
{
    pthread_t threads[THREADS];
    atomic_store(&go_on, true);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, until_told, NULL);
    for (int i = 0; i < 50; i++) {
        case_start(&second, SP_RING_MIN_WORDS * 4, SIZE_MAX / 2);
        CHECK_INT(case_region(&second, "b"), b);
        sched_yield();
    }
    atomic_store(&go_on, false);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    read_run run = read_recording(&second);
    CHECK(!run.damaged);
    CHECK_INT(run.calls.count, sp_recording_num_calls(&second, b));
    sp_vector_release(&run.calls);
}

static atomic_int num_ending;

static void *one_call_of_second(void *argument)
{
    case_begin(&second, b);
    case_end(&second, b);
    atomic_fetch_add(&num_ending, 1);
    return argument;
}

/* A recording starts again while threads that recorded are ending. */
static void restarting_while_threads_end(void)
{
    for (int i = 0; i < 2000; i++) {
        pthread_t threads[2];
        atomic_store(&num_ending, 0);
        for (int j = 0; j < 2; j++)
            if (!CHECK(pthread_create(&threads[j], NULL, one_call_of_second, NULL) == 0))
                return;
        while (atomic_load(&num_ending) < 2)
            sched_yield();
        case_start(&second, SP_RING_MIN_WORDS * 4, SIZE_MAX / 2);
        if (!CHECK_INT(case_region(&second, "b"), b))
            return;
        for (int j = 0; j < 2; j++)
            pthread_join(threads[j], NULL);
    }
}

int main(void)
{
    CHECK(sp_recording_init(&recording));
    CHECK(sp_recording_init(&second));
    RUN(ten_thousand_short_threads);
    RUN(looking_in);
    RUN(pausing_from_outside);
    RUN(thread_dies_with_open_calls);
    RUN(several_recordings);
    RUN(restarting_under_threads);
    RUN(restarting_while_threads_end);
    sp_recording_release(&second);
    sp_recording_release(&recording);
    return check_result();
}
