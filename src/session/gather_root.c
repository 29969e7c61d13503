/* The part of rank 0. */
#include "session/gather_int.h"

#include "base/error.h"
#include "base/text.h"
#include "session/complaint.h"

#include <stdio.h>
#include <string.h>

const sp_gather_rank *sp_gather_ranks(const sp_gather *gather)
{
    return gather->ranks;
}

uint32_t sp_gather_num_nodes(const sp_gather *gather)
{
    uint32_t nodes = 0;
    for (uint32_t i = 0; i < gather->comm->num_ranks; i++) {
        uint32_t first = 0;
        while (first < i && (gather->ranks[first].is_missing ||
                             strcmp(gather->ranks[first].host_name, gather->ranks[i].host_name) != 0))
            first++;
        nodes += first == i && !gather->ranks[i].is_missing;
    }
    return nodes;
}

static int listen(sp_gather *gather, uint32_t rank, sp_error *error)
{
    const sp_communicator *comm = gather->comm;
    sp_gather_peer *peer = &gather->peers[rank];
    return comm->start_receive(comm->context, rank, SP_CHANNEL_CONTROL, &peer->in, sizeof peer->in,
                               &peer->receiving, error);
}

static int greet(sp_gather *gather, uint32_t rank, sp_error *error)
{
    sp_gather_peer *peer = &gather->peers[rank];
    sp_gather_rank *known = &gather->ranks[rank];
    if (strcmp(peer->in.version, sp_version()) != 0)
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT,
                       "rank %u records with scope-profiler %.31s, rank 0 with %s; use one version",
                       rank, peer->in.version, sp_version());
    known->start_ns = peer->in.number;
    memcpy(known->host_name, peer->in.host_name, sizeof known->host_name);
    known->host_name[sizeof known->host_name - 1] = '\0';
    peer->in.clock_domain[sizeof peer->in.clock_domain - 1] = '\0';
    sp_gather_control seen = sp_gather_message(gather, SP_GATHER_SEEN);
    return sp_gather_tell(gather, rank, peer, &seen, error);
}

/* Looks once whether a rank has said hello; counts it in `still_out` when not. */
static int look(sp_gather *gather, uint32_t rank, uint32_t *still_out, sp_error *error)
{
    const sp_communicator *comm = gather->comm;
    sp_gather_peer *peer = &gather->peers[rank];
    bool is_done = false;
    if (peer->receiving == NULL)
        return SP_OK;
    int status = comm->test(comm->context, peer->receiving, &is_done, error);
    *still_out += !is_done;
    if (status != SP_OK || is_done)
        peer->receiving = NULL;
    if (status != SP_OK || !is_done)
        return status;
    if (sp_gather_is_current(gather, &peer->in) && peer->in.kind == SP_GATHER_HELLO)
        return greet(gather, rank, error);
    *still_out += 1; /* left over from a publication that went on without it */
    return listen(gather, rank, error);
}

static void say_who_is_missing(sp_gather *gather, const sp_gather_wait *wait)
{
    enum { MOST = 20 };
    sp_text names = {0};
    uint32_t count = 0;
    for (uint32_t rank = 1; rank < gather->comm->num_ranks; rank++) {
        if (gather->peers[rank].receiving == NULL)
            continue;
        if (count < MOST)
            sp_text_format(&names, "%s%u", count == 0 ? "" : ", ", rank);
        count++;
    }
    sp_complain("waiting for rank%s %s%s of %u to finalize, %lld s so far", count == 1 ? "" : "s",
                names.bytes == NULL ? "?" : names.bytes, count > MOST ? ", ..." : "",
                gather->comm->num_ranks, (long long)sp_gather_waited_s(wait));
    sp_text_release(&names);
}

static void give_up_the_rest(sp_gather *gather)
{
    for (uint32_t rank = 1; rank < gather->comm->num_ranks; rank++) {
        sp_gather_peer *peer = &gather->peers[rank];
        if (peer->receiving == NULL)
            continue;
        gather->comm->cancel(gather->comm->context, peer->receiving);
        peer->receiving = NULL;
        gather->ranks[rank].is_missing = true;
    }
}

static int await_hellos(sp_gather *gather, sp_error *error)
{
    sp_gather_wait wait;
    sp_gather_wait_begin(gather, &wait, 1);
    for (;;) {
        uint32_t still_out = 0;
        int status = SP_OK;
        for (uint32_t rank = 1; rank < gather->comm->num_ranks && status == SP_OK; rank++)
            status = look(gather, rank, &still_out, error);
        if (status != SP_OK || still_out == 0)
            return status;
        if (sp_gather_wait_is_long(&wait))
            say_who_is_missing(gather, &wait);
        if (sp_gather_wait_step(&wait) == SP_GATHER_LATE) {
            give_up_the_rest(gather);
            return SP_OK;
        }
    }
}

int sp_gather_meet(sp_gather *gather, sp_error *error)
{
    sp_gather_rank *own = &gather->ranks[0];
    own->start_ns = gather->spec.start_ns;
    memcpy(own->host_name, gather->hello.host_name, sizeof own->host_name);
    int status = SP_OK;
    for (uint32_t rank = 1; rank < gather->comm->num_ranks && status == SP_OK; rank++)
        status = listen(gather, rank, error);
    if (status == SP_OK)
        status = await_hellos(gather, error);
    if (status == SP_OK)
        status = sp_gather_compare_clocks(gather, error);
    if (status != SP_OK)
        sp_gather_conclude(gather, status, error == NULL ? "" : error->text);
    return status;
}

/* ---- one rank after the other ----------------------------------------------------------------*/

/* The next message of the rank whose turn it is, into gather->data. */
static int receive_data(sp_gather *gather, sp_error *error)
{
    const sp_communicator *comm = gather->comm;
    sp_gather_data *data = gather->data;
    int status;
    do {
        void *request;
        status = comm->start_receive(comm->context, gather->source, SP_CHANNEL_DATA, data,
                                     sizeof *data, &request, error);
        if (status == SP_OK)
            status = sp_gather_await(gather, request, 1, error);
    } while (status == SP_OK &&
             (data->magic != SP_GATHER_MAGIC || data->round != gather->spec.round));
    gather->is_turn_over = status != SP_OK || data->kind != SP_GATHER_PIECE;
    return status;
}

static int receive_piece(void *context, const void **out_bytes, size_t *out_size, sp_error *error)
{
    sp_gather *gather = context;
    const sp_gather_data *data = gather->data;
    int status = receive_data(gather, error);
    if (status != SP_OK)
        return status;
    if (data->num_bytes > sizeof data->bytes)
        return sp_fail(error, SP_ERR_DAMAGED, "it sent a piece of %u bytes", data->num_bytes);
    if (data->kind == SP_GATHER_FAILED)
        return sp_fail(error, SP_ERR_IO, "%.*s", (int)data->num_bytes, (const char *)data->bytes);
    if (data->kind == SP_GATHER_LAST)
        return sp_fail(error, SP_ERR_DAMAGED, "its calls end before they are complete");
    *out_bytes = data->bytes;
    *out_size = data->num_bytes;
    return SP_OK;
}

/* Whatever became of the stream, the rank goes on sending until it is through. */
static int await_end_of_turn(sp_gather *gather, sp_error *error)
{
    int status = SP_OK;
    while (!gather->is_turn_over && status == SP_OK)
        status = receive_data(gather, error);
    return status;
}

static int take_over(sp_gather *gather, uint32_t rank, const sp_assemble_output *outputs,
                     size_t num_outputs, sp_error *error)
{
    const sp_relay_receiver from = {.receive = receive_piece, .context = gather};
    sp_gather_control go = sp_gather_message(gather, SP_GATHER_GO);
    sp_error cause = {0};
    gather->source = rank;
    gather->is_turn_over = false;
    int status = sp_gather_tell(gather, rank, &gather->peers[rank], &go, &cause);
    if (status == SP_OK) {
        status = sp_relay_replay(&from, &gather->ranks[rank].shift, outputs, num_outputs, &cause);
        int rest = await_end_of_turn(gather, NULL);
        status = status == SP_OK ? rest : status;
    }
    if (status == SP_OK)
        return SP_OK;
    if (status == SP_GATHER_LATE) {
        gather->ranks[rank].is_missing = true;
        return SP_GATHER_AGAIN;
    }
    return sp_fail(error, status, "rank %u could not write profiling data: %.900s", rank,
                   cause.text);
}

/* How its times were moved, for whoever wants them raw. */
static int write_clock(const sp_gather *gather, uint32_t rank, const sp_assemble_output *outputs,
                       size_t num_outputs, sp_error *error)
{
    const sp_gather_rank *known = &gather->ranks[rank];
    const sp_extra extras[] = {
        {.name = "clock_shift_ns", .rank = rank, .length = 1, .integers = &known->shift.clock_ns},
        {.name = "clock_error_ns", .rank = rank, .length = 1, .integers = &known->clock_error_ns},
    };
    int status = SP_OK;
    for (size_t i = 0; i < num_outputs && known->clock_error_ns > 0; i++)
        for (size_t e = 0; e < sizeof extras / sizeof *extras && status == SP_OK; e++)
            status = outputs[i].table->write_extra(outputs[i].writer, &extras[e], error);
    return status;
}

int sp_gather_collect(sp_gather *gather, const sp_assemble_output *outputs, size_t num_outputs,
                      sp_error *error)
{
    int status = SP_OK;
    for (uint32_t rank = 1; rank < gather->comm->num_ranks && status == SP_OK; rank++)
        if (!gather->ranks[rank].is_missing) {
            status = take_over(gather, rank, outputs, num_outputs, error);
            if (status == SP_OK)
                status = write_clock(gather, rank, outputs, num_outputs, error);
        }
    return status;
}

void sp_gather_conclude(sp_gather *gather, int status, const char *text)
{
    sp_gather_control verdict = sp_gather_message(gather, SP_GATHER_VERDICT);
    sp_gather_control too_late = verdict;
    verdict.status = status;
    snprintf(verdict.text, sizeof verdict.text, "%s", text);
    too_late.status = SP_ERR_IO;
    snprintf(too_late.text, sizeof too_late.text,
             "rank 0 wrote the profile without this rank, which did not answer for %g s; its calls "
             "are kept",
             (double)gather->spec.timeout_ns / 1e9);
    for (uint32_t rank = 1; rank < gather->comm->num_ranks; rank++) {
        bool is_missing = gather->ranks[rank].is_missing;
        if (!is_missing || status != SP_GATHER_AGAIN)
            sp_gather_tell(gather, rank, &gather->peers[rank], is_missing ? &too_late : &verdict,
                           NULL);
    }
}
