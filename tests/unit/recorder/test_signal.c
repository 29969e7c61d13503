/* A signal handler that records, fired as fast as it goes at a thread that records. Whatever it
 * interrupts, calls stay whole and every one is either recorded or counted as lost. */
#include "check.h"
#include "lane_reader.h"
#include "recorder_case.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

static sp_recording recording;
static uint32_t work, handler;
static volatile sig_atomic_t handled;

static void on_signal(int number)
{
    (void)number;
    int before = errno;
    case_begin(&recording, handler);
    case_end(&recording, handler);
    if (errno == before)
        handled++;
}

static void handler_records_too(void)
{
    case_start(&recording, SP_RING_MIN_WORDS * 8, SIZE_MAX / 2);
    work = case_region(&recording, "work");
    handler = case_region(&recording, "handler");
    signal(SIGALRM, on_signal);
    struct itimerval every = {.it_interval = {0, 100}, .it_value = {0, 100}};
    setitimer(ITIMER_REAL, &every, NULL);
    int64_t pairs = 0;
    while (handled < 2000 && pairs < 20000000) {
        errno = EXDEV;
        case_begin(&recording, work);
        case_begin(&recording, work);
        case_end(&recording, work);
        case_end(&recording, work);
        pairs += 2;
        if (errno != EXDEV)
            break;
    }
    CHECK_INT(errno, EXDEV);
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
    signal(SIGALRM, SIG_DFL);
    CHECK_INT(sp_recording_num_calls(&recording, work), pairs);
    CHECK_INT(sp_recording_num_calls(&recording, handler) +
                  (int64_t)atomic_load(&recording.lost[SP_LOSS_SIGNAL_REENTRY]),
              handled);
    CHECK_INT(atomic_load(&recording.unmatched_ends), 0);
    CHECK_INT(atomic_load(&recording.crossing), 0);
    read_run run = read_recording(&recording);
    CHECK(!run.damaged);
    for (size_t i = 0; i < run.calls.count; i++)
        if (!CHECK_INT(run.calls.items[i].number, i))
            break;
    sp_vector_release(&run.calls);
}

/* The ring is full often, so that the handler drains it: while the program asks, it must not. */
static void handler_interrupts_questions(void)
{
    case_start(&recording, SP_RING_MIN_WORDS, SIZE_MAX / 2);
    work = case_region(&recording, "work");
    handler = case_region(&recording, "handler");
    case_begin(&recording, work);
    case_end(&recording, work);
    handled = 0;
    signal(SIGALRM, on_signal);
    struct itimerval every = {.it_interval = {0, 100}, .it_value = {0, 100}};
    setitimer(ITIMER_REAL, &every, NULL);
    for (int i = 0; handled < 2000 && i < 20000000; i++) {
        sp_sum sum;
        sp_open_calls open = {0};
        sp_recording_num_calls(&recording, work);
        sp_recording_sum(&recording, work, &sum);
        sp_recording_open_calls(&recording, &open);
        sp_vector_release(&open);
    }
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
    signal(SIGALRM, SIG_DFL);
    CHECK(handled >= 2000);
    CHECK_INT(sp_recording_num_calls(&recording, work), 1);
    CHECK_INT(sp_recording_num_calls(&recording, handler) +
                  (int64_t)atomic_load(&recording.lost[SP_LOSS_SIGNAL_REENTRY]),
              handled);
    CHECK_INT(atomic_load(&recording.unmatched_ends), 0);
}

int main(void)
{
    CHECK(sp_recording_init(&recording));
    RUN(handler_records_too);
    RUN(handler_interrupts_questions);
    sp_recording_release(&recording);
    return check_result();
}
