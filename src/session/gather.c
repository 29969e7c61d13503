/* The part that every rank has, and that of the ranks which send. */
#include "session/gather_int.h"

#include "base/error.h"
#include "base/os/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void copy_text(char *out, size_t room, const char *text)
{
    snprintf(out, room, "%s", text == NULL ? "" : text);
}

static void introduce(sp_gather *gather)
{
    const sp_communicator *comm = gather->comm;
    sp_gather_control *hello = &gather->hello;
    *hello = sp_gather_message(gather, SP_GATHER_HELLO);
    hello->number = gather->spec.start_ns;
    copy_text(hello->version, sizeof hello->version, sp_version());
    if (comm->host_name != NULL)
        copy_text(hello->host_name, sizeof hello->host_name, comm->host_name);
    else
        sp_os_host_name(hello->host_name, sizeof hello->host_name);
    if (comm->clock_domain != NULL)
        copy_text(hello->clock_domain, sizeof hello->clock_domain, comm->clock_domain);
    else
        sp_os_clock_domain(hello->clock_domain, sizeof hello->clock_domain);
}

bool sp_gather_is_root(const sp_gather *gather)
{
    return gather->comm->rank == 0;
}

static int check(const sp_communicator *comm, sp_error *error)
{
    if (comm->version == SP_COMMUNICATOR_VERSION && comm->num_ranks > 0 &&
        comm->rank < comm->num_ranks)
        return SP_OK;
    return sp_fail(error, SP_ERR_INVALID_ARGUMENT,
                   "a communicator of version %u with rank %u of %u is none", comm->version,
                   comm->rank, comm->num_ranks);
}

int sp_gather_open(const sp_gather_spec *spec, sp_gather **out, sp_error *error)
{
    int status = check(spec->communicator, error);
    if (status != SP_OK)
        return status;
    bool is_root = spec->communicator->rank == 0;
    size_t num_peers = is_root ? spec->communicator->num_ranks : 1;
    sp_gather *gather = calloc(1, sizeof *gather);
    if (gather == NULL)
        return sp_fail_memory(error, "a publication of several ranks");
    gather->spec = *spec;
    gather->comm = spec->communicator;
    gather->peers = calloc(num_peers, sizeof *gather->peers);
    gather->ranks = is_root ? calloc(num_peers, sizeof *gather->ranks) : NULL;
    gather->data = malloc(sizeof *gather->data);
    if (gather->peers == NULL || gather->data == NULL || (is_root && gather->ranks == NULL)) {
        sp_gather_close(gather);
        return sp_fail_memory(error, "a publication of several ranks");
    }
    introduce(gather);
    status = is_root ? sp_gather_meet(gather, error)
                     : sp_gather_tell(gather, 0, &gather->peers[0], &gather->hello, error);
    if (status == SP_OK)
        *out = gather;
    else
        sp_gather_close(gather);
    return status;
}

/* A message that does not go out, because nobody waits for it, keeps its memory. */
static void close_peer(sp_gather *gather, sp_gather_peer *peer)
{
    const sp_communicator *comm = gather->comm;
    if (peer->receiving != NULL)
        comm->cancel(comm->context, peer->receiving);
    if (peer->sending != NULL &&
        sp_gather_await(gather, peer->sending, SP_GATHER_BRIEFLY, NULL) == SP_GATHER_LATE)
        return;
    free(peer->out);
}

void sp_gather_close(sp_gather *gather)
{
    if (gather == NULL)
        return;
    size_t num_peers = gather->ranks != NULL ? gather->comm->num_ranks : 1;
    for (size_t i = 0; gather->peers != NULL && i < num_peers; i++)
        close_peer(gather, &gather->peers[i]);
    free(gather->peers);
    free(gather->ranks);
    free(gather->data);
    free(gather);
}

/* ---- a rank that sends -----------------------------------------------------------------------*/

static int verdict(const sp_gather_control *message, sp_error *error)
{
    if (message->status == SP_OK || message->status == SP_GATHER_AGAIN)
        return message->status;
    return sp_fail(error, message->status, "%s", message->text);
}

static int rank_0_is_silent(sp_gather *gather, sp_error *error)
{
    gather->is_silent = true;
    return sp_fail(error, SP_ERR_IO,
                   "rank 0 did not write the profile within %g s of this rank's finalize",
                   (double)gather->spec.timeout_ns / 1e9);
}

/* The next message that is no question about the time. */
static int await_message(sp_gather *gather, sp_error *error)
{
    sp_gather_peer *root = &gather->peers[0];
    for (;;) {
        /* Once it has answered, every other rank may have its turn before. */
        uint32_t patience = gather->is_seen ? gather->comm->num_ranks + 1 : 1;
        int status = sp_gather_hear(gather, 0, root, patience, error);
        if (status == SP_GATHER_LATE)
            return rank_0_is_silent(gather, error);
        if (status != SP_OK)
            return status;
        if (root->in.kind == SP_GATHER_SEEN)
            gather->is_seen = true;
        else if (root->in.kind != SP_GATHER_PING)
            return SP_OK;
        else {
            sp_gather_control pong = sp_gather_message(gather, SP_GATHER_PONG);
            pong.number = sp_gather_now_ns(gather);
            status = sp_gather_tell(gather, 0, root, &pong, error);
            if (status != SP_OK)
                return status;
        }
    }
}

int sp_gather_await_turn(sp_gather *gather, sp_error *error)
{
    int status = await_message(gather, error);
    if (status != SP_OK || gather->peers[0].in.kind == SP_GATHER_GO)
        return status;
    status = verdict(&gather->peers[0].in, error);
    return status == SP_GATHER_AGAIN ? sp_gather_await_turn(gather, error) : status;
}

static int send_data(sp_gather *gather, sp_gather_kind kind, const void *bytes, size_t size,
                     sp_error *error)
{
    const sp_communicator *comm = gather->comm;
    sp_gather_data *data = gather->data;
    void *request;
    data->magic = SP_GATHER_MAGIC;
    data->round = gather->spec.round;
    data->kind = (uint32_t)kind;
    data->num_bytes = (uint32_t)size;
    memcpy(data->bytes, bytes, size);
    int status = comm->start_send(comm->context, 0, SP_CHANNEL_DATA, data,
                                  offsetof(sp_gather_data, bytes) + size, &request, error);
    if (status == SP_OK)
        status = sp_gather_await(gather, request, 2, error);
    if (status != SP_GATHER_LATE)
        return status;
    gather->data = malloc(sizeof *data); /* the old one belongs to the send, for good */
    if (gather->data == NULL)
        return sp_fail_memory(error, "a publication of several ranks");
    return rank_0_is_silent(gather, error);
}

static int send_piece(void *context, const void *bytes, size_t size, sp_error *error)
{
    return send_data(context, SP_GATHER_PIECE, bytes, size, error);
}

sp_relay_sender sp_gather_sender(sp_gather *gather)
{
    return (sp_relay_sender){.send = send_piece, .context = gather};
}

void sp_gather_give_up(sp_gather *gather, const char *text)
{
    enum { MOST = 500 };
    if (!gather->is_silent && gather->data != NULL)
        send_data(gather, SP_GATHER_FAILED, text, strnlen(text, MOST), NULL);
}

int sp_gather_await_verdict(sp_gather *gather, sp_error *error)
{
    int status = send_data(gather, SP_GATHER_LAST, "", 0, error);
    if (status == SP_OK)
        status = await_message(gather, error);
    return status == SP_OK ? verdict(&gather->peers[0].in, error) : status;
}
