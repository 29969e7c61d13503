/* How far the clocks of the ranks are apart. */
#include "session/gather_int.h"

#include <string.h>

enum { ROUND_TRIPS = 20 };

static int ask(sp_gather *gather, uint32_t rank, int64_t *out_shift, int64_t *out_error,
               sp_error *error)
{
    sp_gather_peer *peer = &gather->peers[rank];
    sp_gather_control ping = sp_gather_message(gather, SP_GATHER_PING);
    int64_t sent = sp_gather_now_ns(gather);
    int status = sp_gather_tell(gather, rank, peer, &ping, error);
    if (status == SP_OK)
        status = sp_gather_hear(gather, rank, peer, 1, error);
    int64_t trip = sp_gather_now_ns(gather) - sent;
    if (status == SP_OK && trip / 2 < *out_error) {
        *out_error = trip / 2;
        *out_shift = sent + trip / 2 - peer->in.number;
    }
    return status;
}

static int compare(sp_gather *gather, uint32_t rank, sp_error *error)
{
    sp_gather_rank *known = &gather->ranks[rank];
    int64_t shift = 0, most = INT64_MAX;
    int status = SP_OK;
    for (int i = 0; i < ROUND_TRIPS && status == SP_OK; i++)
        status = ask(gather, rank, &shift, &most, error);
    if (status == SP_GATHER_LATE)
        known->is_missing = true;
    if (status != SP_OK)
        return status == SP_GATHER_LATE ? SP_OK : status;
    known->shift.clock_ns = shift;
    known->clock_error_ns = most;
    return SP_OK;
}

int sp_gather_compare_clocks(sp_gather *gather, sp_error *error)
{
    int status = SP_OK;
    for (uint32_t rank = 1; rank < gather->comm->num_ranks && status == SP_OK; rank++) {
        sp_gather_rank *known = &gather->ranks[rank];
        const char *theirs = gather->peers[rank].in.clock_domain;
        if (known->is_missing)
            continue;
        if (theirs[0] == '\0' || strcmp(theirs, gather->hello.clock_domain) != 0)
            status = compare(gather, rank, error);
        known->shift.start_ns =
            known->start_ns + known->shift.clock_ns - gather->spec.start_ns;
    }
    return status;
}
