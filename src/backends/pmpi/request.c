/* Persistent requests that send: what a start of theirs sends is known only from their making. */
#include "backends/pmpi/pmpi.h"
#include "base/json.h"
#include "base/number_map.h"
#include "base/os/thread.h"
#include "base/vector.h"

typedef struct message {
    int64_t bytes;
    int peer, tag, to; /* `to` below 0: to nobody */
    uint32_t comm;
    bool is_known; /* the request has not been freed */
} message;

static sp_mutex lock = SP_MUTEX_INIT;
static sp_number_map places; /* request to position in `messages`; freed ones keep their place */
static SP_VECTOR(message) messages;

static uint64_t key_of(MPI_Request request)
{
    return (uint64_t)(uintptr_t)request;
}

void sp_pmpi_request_made(MPI_Request request, int64_t bytes, int dest, int tag, MPI_Comm comm)
{
    const sp_pmpi_comm *known = sp_pmpi_comm_of(comm);
    message made = {.bytes = bytes < 0 ? 0 : bytes,
                    .peer = sp_pmpi_rank(dest),
                    .tag = tag,
                    .to = sp_pmpi_world_rank(known, dest),
                    .comm = known == NULL ? 0 : known->id,
                    .is_known = true};
    sp_mutex_lock(&lock);
    uint32_t place = sp_number_map_get(&places, key_of(request));
    if (place == SP_NUMBER_NONE && sp_vector_reserve(&messages, 1) &&
        sp_number_map_set(&places, key_of(request), (uint32_t)messages.count))
        place = (uint32_t)messages.count++;
    if (place != SP_NUMBER_NONE)
        messages.items[place] = made;
    sp_mutex_unlock(&lock);
}

void sp_pmpi_request_freed(MPI_Request request)
{
    sp_mutex_lock(&lock);
    uint32_t place = sp_number_map_get(&places, key_of(request));
    if (place != SP_NUMBER_NONE)
        messages.items[place].is_known = false;
    sp_mutex_unlock(&lock);
}

/* NULL: it sends nothing. */
static const message *message_of(MPI_Request request)
{
    uint32_t place = sp_number_map_get(&places, key_of(request));
    const message *found = place == SP_NUMBER_NONE ? NULL : &messages.items[place];
    return found != NULL && found->is_known && found->to >= 0 ? found : NULL;
}

static void add(sp_text *list, int64_t value)
{
    sp_text_add(list, list->length > 0 ? ", " : "[");
    sp_json_integer(list, value);
}

/* One message as the call of a send has it, several as lists of the same length. */
void sp_pmpi_note_start(sp_pmpi_note *note, int count, const MPI_Request *requests)
{
    sp_text receivers = {0}, sizes = {0};
    const message *last = NULL;
    int num_sent = 0;
    if (!note->is_wanted || requests == NULL)
        return;
    sp_mutex_lock(&lock);
    for (int i = 0; i < count; i++) {
        const message *sent = message_of(requests[i]);
        if (sent == NULL)
            continue;
        last = sent;
        num_sent++;
        add(&receivers, sent->to);
        add(&sizes, sent->bytes);
    }
    if (num_sent == 1) {
        sp_pmpi_note_bytes(note, last->bytes);
        sp_pmpi_note_integer(note, "peer", last->peer);
        sp_pmpi_note_integer(note, "tag", last->tag);
        sp_pmpi_note_integer(note, "comm", last->comm);
        sp_pmpi_note_integer(note, "to", last->to);
    } else if (num_sent > 1) {
        sp_text_format(&note->members, "\"bytes\": %s], \"to\": %s]", sizes.bytes, receivers.bytes);
    }
    sp_mutex_unlock(&lock);
    sp_text_release(&receivers);
    sp_text_release(&sizes);
}
