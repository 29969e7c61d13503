/* Messages and waiting: everything polls, because only so can a rank be given up that never answers. */
#include "session/gather_int.h"

#include "base/error.h"
#include "base/os/thread.h"
#include "clock/clock.h"

#include <stdlib.h>

static const int64_t SECOND_NS = INT64_C(1000000000), MINUTE_NS = INT64_C(60000000000);

void sp_gather_wait_begin(const sp_gather *gather, sp_gather_wait *wait, uint32_t patience)
{
    int64_t now = sp_clock_monotonic_ns(), timeout = gather->spec.timeout_ns;
    if (patience == SP_GATHER_BRIEFLY) {
        timeout = SECOND_NS;
        patience = 1;
    }
    bool is_bounded = timeout > 0 && timeout <= (INT64_MAX - now) / (int64_t)patience;
    *wait = (sp_gather_wait){
        .since_ns = now,
        .deadline_ns = is_bounded ? now + timeout * (int64_t)patience : 0,
        .next_word_ns = now + MINUTE_NS,
    };
}

int sp_gather_wait_step(sp_gather_wait *wait)
{
    enum { BUSY_STEPS = 200, LONGEST_US = 1000 };
    if (wait->deadline_ns > 0 && sp_clock_monotonic_ns() >= wait->deadline_ns)
        return SP_GATHER_LATE;
    wait->steps++;
    /* Ranks may outnumber cores: even a short wait lets others run. */
    unsigned us = wait->steps < BUSY_STEPS ? 1 : wait->steps - BUSY_STEPS;
    sp_os_thread_sleep_us((int)(us < LONGEST_US ? us : LONGEST_US));
    return SP_OK;
}

bool sp_gather_wait_is_long(sp_gather_wait *wait)
{
    int64_t now = sp_clock_monotonic_ns();
    if (now < wait->next_word_ns)
        return false;
    wait->next_word_ns = now + MINUTE_NS;
    return true;
}

int64_t sp_gather_waited_s(const sp_gather_wait *wait)
{
    return (sp_clock_monotonic_ns() - wait->since_ns) / SECOND_NS;
}

int sp_gather_await(sp_gather *gather, void *request, uint32_t patience, sp_error *error)
{
    const sp_communicator *comm = gather->comm;
    sp_gather_wait wait;
    sp_gather_wait_begin(gather, &wait, patience);
    for (;;) {
        bool is_done = false;
        int status = comm->test(comm->context, request, &is_done, error);
        if (status != SP_OK || is_done)
            return status;
        status = sp_gather_wait_step(&wait);
        if (status == SP_OK)
            continue;
        comm->cancel(comm->context, request);
        return status;
    }
}

static int settle_sending(sp_gather *gather, sp_gather_peer *peer, sp_error *error)
{
    if (peer->sending == NULL)
        return SP_OK;
    int status = sp_gather_await(gather, peer->sending, 1, error);
    peer->sending = NULL;
    if (status == SP_GATHER_LATE)
        peer->out = NULL; /* it belongs to the send, for good */
    return status;
}

int sp_gather_tell(sp_gather *gather, uint32_t to, sp_gather_peer *peer,
                   const sp_gather_control *message, sp_error *error)
{
    const sp_communicator *comm = gather->comm;
    int status = settle_sending(gather, peer, error);
    if (status != SP_OK)
        return status;
    if (peer->out == NULL)
        peer->out = malloc(sizeof *peer->out);
    if (peer->out == NULL)
        return sp_fail_memory(error, "a publication of several ranks");
    *peer->out = *message;
    status = comm->start_send(comm->context, to, SP_CHANNEL_CONTROL, peer->out, sizeof *peer->out,
                              &peer->sending, error);
    if (status != SP_OK)
        peer->sending = NULL;
    return status;
}

bool sp_gather_is_current(const sp_gather *gather, const sp_gather_control *message)
{
    return message->magic == SP_GATHER_MAGIC && message->round == gather->spec.round;
}

int sp_gather_hear(sp_gather *gather, uint32_t from, sp_gather_peer *peer, uint32_t patience,
                   sp_error *error)
{
    const sp_communicator *comm = gather->comm;
    int status;
    do {
        status = comm->start_receive(comm->context, from, SP_CHANNEL_CONTROL, &peer->in,
                                     sizeof peer->in, &peer->receiving, error);
        if (status == SP_OK)
            status = sp_gather_await(gather, peer->receiving, patience, error);
        peer->receiving = NULL;
    } while (status == SP_OK && !sp_gather_is_current(gather, &peer->in));
    return status;
}

sp_gather_control sp_gather_message(const sp_gather *gather, sp_gather_kind kind)
{
    return (sp_gather_control){.magic = SP_GATHER_MAGIC, .round = gather->spec.round, .kind = kind};
}

int64_t sp_gather_now_ns(const sp_gather *gather)
{
    return gather->comm->now_ns != NULL ? gather->comm->now_ns(gather->comm->context)
                                        : sp_clock_monotonic_ns();
}
