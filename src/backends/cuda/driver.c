#include "backends/cuda/driver.h"

#include "backends/cuda/functions.h"
#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct driver {
    sp_device_functions call;
} driver;

/* An event belongs to the context in which it was made. */
typedef struct device_event {
    void *handle, *context;
} device_event;

static void *current_context(const driver *d)
{
    void *context = NULL;
    return d->call.context_current(&context) == 0 ? context : NULL;
}

/* Events in a queue that is being captured would become a part of what is captured, or spoil it. */
static bool is_capturing(const driver *d)
{
    int status = 0;
    return d->call.stream_is_capturing != NULL &&
           (d->call.stream_is_capturing(NULL, &status) != 0 || status != 0);
}

/* What a visit to a context has to put back. */
typedef struct visit {
    bool has_pushed;
    int capture_mode;
} visit;

static void exchange_mode(const driver *d, int *mode)
{
    if (d->call.exchange_capture_mode != NULL && d->call.exchange_capture_mode(mode) != 0)
        *mode = SP_CAPTURE_RELAXED;
}

/* Makes a context current on this thread, which may be another one than that of the call, or have none.
 * False: the context is gone. */
static bool enter(const driver *d, void *context, visit *v)
{
    *v = (visit){.has_pushed = current_context(d) != context, .capture_mode = SP_CAPTURE_RELAXED};
    if (v->has_pushed && d->call.context_push(context) != 0)
        return false;
    exchange_mode(d, &v->capture_mode);
    return true;
}

static void leave(const driver *d, visit *v)
{
    void *popped;
    exchange_mode(d, &v->capture_mode);
    if (v->has_pushed)
        d->call.context_pop(&popped);
}

static void destroy(void *context, void *event)
{
    const driver *d = context;
    device_event *e = event;
    visit v;
    if (enter(d, e->context, &v)) {
        d->call.event_destroy(e->handle);
        leave(d, &v);
    }
    free(e);
}

/* In the current context. NULL: memory or the device refuses. */
static device_event *create(const driver *d, void *current)
{
    visit v;
    device_event *event = malloc(sizeof *event);
    if (event == NULL || !enter(d, current, &v)) {
        free(event);
        return NULL;
    }
    event->context = current;
    int status = d->call.event_create(&event->handle, 0);
    leave(d, &v);
    if (status == 0)
        return event;
    free(event);
    return NULL;
}

static bool record(void *context, void **event)
{
    const driver *d = context;
    void *current = current_context(d);
    if (current == NULL || is_capturing(d))
        return false;
    device_event *e = *event;
    if (e != NULL && e->context != current) {
        destroy(context, e);
        e = NULL;
    }
    if (e == NULL)
        e = create(d, current);
    *event = e;
    return e != NULL && d->call.event_record(e->handle, NULL) == 0;
}

/* An event that will never be done has a trouble that its elapsed time tells. */
static bool is_done(void *context, void *event)
{
    const driver *d = context;
    const device_event *e = event;
    visit v;
    if (!enter(d, e->context, &v))
        return true;
    int status = d->call.event_query(e->handle);
    leave(d, &v);
    return status != SP_DEVICE_NOT_READY;
}

static int64_t elapsed_ns(void *context, void *start, void *end)
{
    const driver *d = context;
    const device_event *from = start, *to = end;
    float ms = -1;
    visit v;
    if (from->context != to->context || !enter(d, to->context, &v))
        return -1;
    int status = d->call.event_elapsed(&ms, from->handle, to->handle);
    leave(d, &v);
    return status == 0 && ms >= 0 && ms < INFINITY ? llround((double)ms * 1e6) : -1;
}

static void synchronize(void *context)
{
    const driver *d = context;
    if (current_context(d) != NULL && !is_capturing(d))
        d->call.context_synchronize();
}

static void release(void *context)
{
    free(context);
}

int sp_device_module(const char *name, sp_device_driver *out, sp_error *error)
{
    driver *d = calloc(1, sizeof *d);
    if (d == NULL)
        return sp_fail_memory(error, "a GPU timing back end");
    int status = sp_device_functions_load(name, &d->call, error);
    if (status != SP_OK) {
        free(d);
        return status;
    }
    *out = (sp_device_driver){
        .size = sizeof *out,
        .version = SP_DEVICE_VERSION,
        .name = strcmp(name, "hip") == 0 ? "hip" : "cuda",
        .context = d,
        .record = record,
        .is_done = is_done,
        .elapsed_ns = elapsed_ns,
        .destroy = destroy,
        .synchronize = synchronize,
        .release = release,
    };
    return SP_OK;
}
