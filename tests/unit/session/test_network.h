/* test_network.h - ranks that are threads: a communicator over queues in memory. Small messages are done
 * at once, large ones when they were received, as MPI libraries do it. A rank's link can be made to
 * fail or to swallow what it sends. */
#ifndef TEST_NETWORK_H
#define TEST_NETWORK_H

#include "scope_plugin.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { NETWORK_RANKS = 8, NETWORK_EAGER_BYTES = 4096, NETWORK_CHANNELS = 2 };

typedef struct network_message {
    struct network_message *next;
    const void *bytes; /* a copy, or the sender's while it waits */
    size_t size;
    int is_copy, is_received, is_swallowed;
} network_message;

typedef struct network_request {
    int is_send, is_done; /* done from the start: an eager send */
    network_message *sent; /* until it was received */
    network_message **queue;
    void *bytes;
    size_t room;
} network_request;

typedef struct network_link {
    sp_communicator communicator;
    int fail_data_at;    /* the so many-th data message cannot be sent; 0: none */
    int swallow_data_at; /* from that one on they get lost; 0: none */
    int num_data;
    int64_t clock_ns; /* by which this rank's clock is ahead */
} network_link;

static int network_sent[NETWORK_CHANNELS]; /* messages so far */
static pthread_mutex_t network_lock = PTHREAD_MUTEX_INITIALIZER;
static network_message *network_swallowed; /* they keep the memory that they were given for good */
static network_message *network_queues[NETWORK_CHANNELS][NETWORK_RANKS][NETWORK_RANKS];

static int network_send(void *context, uint32_t to, sp_channel channel, const void *bytes,
                        size_t size, void **out_request, sp_error *error)
{
    network_link *link = context;
    network_message *message = calloc(1, sizeof *message);
    network_request *request = calloc(1, sizeof *request);
    if (channel == SP_CHANNEL_DATA) {
        link->num_data++;
        message->is_swallowed =
            link->swallow_data_at > 0 && link->num_data >= link->swallow_data_at;
        if (link->num_data == link->fail_data_at) {
            free(message);
            free(request);
            if (error != NULL)
                strcpy(error->text, "the cable was cut");
            return SP_ERR_IO;
        }
    }
    message->bytes = bytes;
    message->size = size;
    if (size <= NETWORK_EAGER_BYTES) {
        message->bytes = memcpy(malloc(size), bytes, size);
        message->is_copy = 1;
    }
    request->is_send = 1;
    request->is_done = message->is_copy && !message->is_swallowed;
    request->sent = message;
    *out_request = request;
    pthread_mutex_lock(&network_lock);
    network_sent[channel]++;
    network_message **at = message->is_swallowed
                               ? &network_swallowed
                               : &network_queues[channel][link->communicator.rank][to];
    while (*at != NULL)
        at = &(*at)->next;
    *at = message;
    pthread_mutex_unlock(&network_lock);
    return SP_OK;
}

static int network_receive(void *context, uint32_t from, sp_channel channel, void *bytes,
                           size_t room, void **out_request, sp_error *error)
{
    const network_link *link = context;
    network_request *request = calloc(1, sizeof *request);
    (void)error;
    request->queue = &network_queues[channel][from][link->communicator.rank];
    request->bytes = bytes;
    request->room = room;
    *out_request = request;
    return SP_OK;
}

static void network_free(network_message *message)
{
    if (message->is_copy)
        free((void *)(uintptr_t)message->bytes);
    free(message);
}

/* Under the lock. */
static int network_take(network_request *request)
{
    network_message *message = *request->queue;
    if (message == NULL)
        return 0;
    if (message->size > request->room)
        abort();
    memcpy(request->bytes, message->bytes, message->size);
    *request->queue = message->next;
    message->is_received = 1;
    if (message->is_copy)
        network_free(message);
    return 1;
}

static int network_test(void *context, void *opaque, bool *out_done, sp_error *error)
{
    network_request *request = opaque;
    (void)context;
    (void)error;
    pthread_mutex_lock(&network_lock);
    if (!request->is_send) {
        *out_done = network_take(request);
    } else if (request->is_done) {
        *out_done = true;
    } else {
        *out_done = request->sent->is_received;
        if (*out_done)
            network_free(request->sent);
    }
    pthread_mutex_unlock(&network_lock);
    if (*out_done)
        free(request);
    return SP_OK;
}

static void network_cancel(void *context, void *request)
{
    (void)context;
    free(request);
}

static network_link network_join(uint32_t rank, uint32_t num_ranks)
{
    return (network_link){
        .communicator = {.size = sizeof(sp_communicator), .version = SP_COMMUNICATOR_VERSION,
                         .rank = rank, .num_ranks = num_ranks, .start_send = network_send,
                         .start_receive = network_receive, .test = network_test,
                         .cancel = network_cancel, .host_name = "one", .clock_domain = "one"}};
}

/* Forgets what was never received. */
static void network_clear(void)
{
    while (network_swallowed != NULL) {
        network_message *message = network_swallowed;
        network_swallowed = message->next;
        free((void *)(uintptr_t)message->bytes);
        free(message);
    }
    for (int c = 0; c < NETWORK_CHANNELS; c++)
        for (int from = 0; from < NETWORK_RANKS; from++)
            for (int to = 0; to < NETWORK_RANKS; to++) {
                network_message **at = &network_queues[c][from][to];
                while (*at != NULL) {
                    network_message *message = *at;
                    *at = message->next;
                    network_free(message);
                }
            }
}

#endif
