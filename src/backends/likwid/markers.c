#include "backends/likwid/markers.h"

#include "backends/likwid/report.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

/* One recording. */
typedef struct markers {
    const likwid_functions *likwid;
    likwid_groups groups;
    sp_mutex lock;
    likwid_thread *first; /* all threads that were ever attached; ends at the one attached first */
} markers;

static struct {
    sp_mutex lock;
    /* The markers were started here; closed at exit, but in no forked child. */
    bool is_ours, is_watched;
    bool is_closed_here; /* else whoever collects the results closes them */
} started = {.lock = SP_MUTEX_INIT};

/* likwid-perfctr reads what this writes once the program has ended. */
static void close_at_exit(void)
{
    const likwid_functions *likwid = sp_likwid_library(NULL);
    if (likwid != NULL && started.is_ours && started.is_closed_here)
        likwid->close();
}

static void leave_to_parent(void)
{
    started.is_ours = false;
}

static const char *missing_variable(void)
{
    static const char *const names[] = {"LIKWID_MODE", "LIKWID_FILEPATH", "LIKWID_EVENTS",
                                        "LIKWID_THREADS"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]) == NULL)
            return names[i];
    return NULL;
}

static int start_markers(const likwid_functions *likwid, sp_error *error)
{
    const char *missing = missing_variable();
    bool may_be_up = missing == NULL && sp_likwid_library_was_there();
    if (started.is_ours || (may_be_up && likwid->num_groups() > 0))
        return SP_OK;
    if (missing != NULL)
        return sp_fail(error, SP_ERR_UNSUPPORTED,
                       "use_likwid: %s is not set, so nothing is counted; run the program under "
                       "likwid-perfctr with markers on, as in 'likwid-perfctr -C 0 -g CLOCK -m "
                       "<program>'",
                       missing);
    likwid->init();
    if (likwid->num_groups() < 1)
        return sp_fail(error, SP_ERR_UNSUPPORTED,
                       "use_likwid: LIKWID cannot count LIKWID_EVENTS='%.200s' here; its own lines "
                       "above say why, and 'likwid-perfctr -i' what this machine has",
                       getenv("LIKWID_EVENTS"));
    if (!started.is_watched &&
        (atexit(close_at_exit) != 0 || !sp_os_at_fork(NULL, NULL, leave_to_parent)))
        return sp_fail_memory(error, "the end of LIKWID's markers");
    started.is_watched = started.is_ours = true;
    return SP_OK;
}

/* Whether the list of processors ("0,2,5") has that one. */
static bool is_in(const char *list, long processor)
{
    while (list != NULL && *list != '\0') {
        char *end;
        if (strtol(list, &end, 10) == processor && end != list)
            return true;
        list = strchr(list, ',');
        list = list == NULL ? NULL : list + 1;
    }
    return false;
}

static bool attach_thread(void *context, void **out_state, sp_error *error)
{
    markers *m = context;
    const char *processors = getenv("LIKWID_THREADS");
    m->likwid->init_thread();
    int processor = m->likwid->processor();
    if (processors != NULL && !is_in(processors, processor)) {
        sp_fail(error, SP_ERR_UNSUPPORTED,
                "use_likwid: a thread runs on processor %d, and likwid-perfctr measures %s; name it "
                "with -C, which also pins threads",
                processor, processors);
        return false;
    }
    likwid_thread *thread = calloc(1, sizeof *thread);
    if (thread == NULL) {
        sp_fail_memory(error, "the LIKWID regions of a thread");
        return false;
    }
    sp_mutex_reset(&thread->lock);
    sp_mutex_lock(&m->lock);
    likwid_thread **last = &m->first;
    while (*last != NULL)
        last = &(*last)->next;
    *last = thread;
    sp_mutex_unlock(&m->lock);
    *out_state = thread;
    return true;
}

static void detach_thread(void *context, void *state)
{
    const markers *m = context;
    sp_likwid_stop_open(m->likwid, state);
}

static void begin(void *context, void *state, const sp_instrument_call *call)
{
    const markers *m = context;
    sp_likwid_begin(m->likwid, state, call);
}

static size_t end(void *context, void *state, const sp_instrument_call *call, char *payload)
{
    const markers *m = context;
    (void)payload;
    sp_likwid_end(m->likwid, state, call);
    return 0;
}

static char *results(void *context, uint32_t rank)
{
    markers *m = context;
    sp_mutex_lock(&m->lock);
    char *text = sp_likwid_report(&m->groups, m->first, rank);
    sp_mutex_unlock(&m->lock);
    return text;
}

static char *nothing(void *context, uint32_t rank)
{
    (void)context;
    (void)rank;
    return NULL;
}

static char *environment(void *context, uint32_t rank)
{
    (void)context;
    return sp_likwid_environment(rank);
}

static void release(void *context)
{
    markers *m = context;
    for (likwid_thread *thread = m->first, *next; thread != NULL; thread = next) {
        next = thread->next;
        for (size_t i = 0; i < thread->regions.count; i++)
            free(thread->regions.items[i].events);
        sp_vector_release(&thread->regions);
        free(thread);
    }
    sp_likwid_groups_release(&m->groups);
    free(m);
}

static int open_markers(bool has_results, sp_instrument *out, sp_error *error)
{
    sp_error trouble = {0};
    const likwid_functions *likwid = sp_likwid_library(&trouble);
    if (likwid == NULL)
        return sp_fail(error, trouble.status, "%s", trouble.text);
    sp_mutex_lock(&started.lock);
    int status = start_markers(likwid, error);
    started.is_closed_here = started.is_closed_here || has_results;
    sp_mutex_unlock(&started.lock);
    if (status != SP_OK)
        return status;
    markers *m = calloc(1, sizeof *m);
    if (m == NULL)
        return sp_fail_memory(error, "LIKWID's markers");
    m->likwid = likwid;
    sp_mutex_reset(&m->lock);
    if (!sp_likwid_groups_take(&m->groups, likwid)) {
        release(m);
        return sp_fail_memory(error, "the names of LIKWID's events");
    }
    *out = (sp_instrument){
        .size = sizeof *out,
        .version = SP_INSTRUMENT_VERSION,
        .name = "likwid",
        .context = m,
        .attach_thread = attach_thread,
        .detach_thread = detach_thread,
        .begin = begin,
        .end = end,
        .results = has_results ? results : nothing,
        .release = release,
    };
    return SP_OK;
}

int sp_instrument_module(const sp_instrument_request *request, sp_instrument *out, sp_error *error)
{
    const char *item = request == NULL || request->num_items == 0 ? NULL : request->items[0];
    if (item == NULL || strcmp(item, "markers") == 0)
        return open_markers(item == NULL, out, error);
    if (strcmp(item, "environment") != 0)
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT,
                       "instrument 'likwid' knows no '%s'; there are 'markers' and 'environment'",
                       item);
    *out = (sp_instrument){
        .size = sizeof *out,
        .version = SP_INSTRUMENT_VERSION,
        .name = "likwid_environment",
        .results = environment,
    };
    return SP_OK;
}
