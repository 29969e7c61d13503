#include "memory.h"

#include "memory_hooks.h"

#include <inttypes.h>
#include <pthread.h>

/* ---- peaks ---------------------------------------------------------------------------------- */

/* An open call. `peak` is the highest level of the stretch before it began, which belongs to the calls
 * below; the stretch since is in the thread's counts, or in the call that was begun next. */
typedef struct open_call {
    uint64_t number;
    int64_t base, peak;
} open_call;

typedef struct peak_thread {
    struct peak_context *context;
    memory_counts *counts;
    open_call *open;
    size_t num_open, room_open;
    int64_t *peaks; /* by region, -1: never called */
    const char **names;
    size_t num_regions;
    struct peak_thread *next;
} peak_thread;

typedef struct peak_context {
    pthread_mutex_t lock;
    peak_thread *threads;
    peak_thread past; /* of threads that are gone */
} peak_context;

static int64_t level_of(const memory_counts *counts)
{
    return counts->allocated_bytes - counts->freed_bytes;
}

static bool make_region_room(peak_thread *thread, size_t region)
{
    if (region < thread->num_regions)
        return true;
    size_t wanted = (region + 1) * 2;
    int64_t *peaks = realloc(thread->peaks, wanted * sizeof *peaks);
    if (peaks != NULL)
        thread->peaks = peaks;
    const char **names = peaks == NULL ? NULL : realloc(thread->names, wanted * sizeof *names);
    if (names == NULL)
        return false;
    thread->names = names;
    for (size_t i = thread->num_regions; i < wanted; i++) {
        peaks[i] = -1;
        names[i] = NULL;
    }
    thread->num_regions = wanted;
    return true;
}

static void raise_peak(peak_thread *thread, size_t region, const char *name, int64_t peak)
{
    if (make_region_room(thread, region) && peak > thread->peaks[region]) {
        thread->peaks[region] = peak;
        thread->names[region] = name;
    }
}

static void release_thread(peak_thread *thread)
{
    free(thread->open);
    free(thread->peaks);
    free(thread->names);
}

static bool attach_peaks(void *context, void **out_state, sp_error *error)
{
    peak_context *peaks = context;
    peak_thread *thread = calloc(1, sizeof *thread);
    if (thread == NULL) {
        snprintf(error->text, sizeof error->text, "out of memory");
        return false;
    }
    thread->context = peaks;
    thread->counts = memory_counts_here();
    pthread_mutex_lock(&peaks->lock);
    thread->next = peaks->threads;
    peaks->threads = thread;
    pthread_mutex_unlock(&peaks->lock);
    *out_state = thread;
    return true;
}

static void move_peaks(peak_thread *into, const peak_thread *from)
{
    for (size_t i = 0; i < from->num_regions; i++)
        if (from->peaks[i] >= 0)
            raise_peak(into, i, from->names[i], from->peaks[i]);
}

static void detach_peaks(void *context, void *state)
{
    peak_context *peaks = context;
    peak_thread *thread = state;
    pthread_mutex_lock(&peaks->lock);
    peak_thread **link = &peaks->threads;
    while (*link != thread)
        link = &(*link)->next;
    *link = thread->next;
    move_peaks(&peaks->past, thread);
    pthread_mutex_unlock(&peaks->lock);
    release_thread(thread);
    free(thread);
}

/* Without memory the call is not followed, and its end finds nothing. */
static void begin_call(void *context, void *state, const sp_instrument_call *call)
{
    (void)context;
    peak_thread *thread = state;
    if (thread->num_open == thread->room_open) {
        size_t room = thread->room_open * 2 + 16;
        open_call *open = realloc(thread->open, room * sizeof *open);
        if (open == NULL)
            return;
        thread->open = open;
        thread->room_open = room;
    }
    int64_t level = level_of(thread->counts);
    thread->open[thread->num_open++] = (open_call){call->number, level, thread->counts->peak};
    thread->counts->peak = level;
}

/* Usually the innermost call ends. The stretch before it joins the one after it. */
static size_t end_call(void *context, void *state, const sp_instrument_call *call,
                       char payload[SP_INSTRUMENT_PAYLOAD])
{
    (void)payload;
    peak_context *peaks = context;
    peak_thread *thread = state;
    int64_t peak = thread->counts->peak;
    size_t i = thread->num_open;
    while (i > 0 && thread->open[i - 1].number != call->number) {
        i--;
        peak = thread->open[i].peak > peak ? thread->open[i].peak : peak;
    }
    if (i == 0)
        return 0;
    open_call ended = thread->open[i - 1];
    bool is_innermost = i == thread->num_open;
    int64_t *after = is_innermost ? &thread->counts->peak : &thread->open[i].peak;
    *after = ended.peak > *after ? ended.peak : *after;
    memmove(&thread->open[i - 1], &thread->open[i], (thread->num_open - i) * sizeof ended);
    thread->num_open--;
    pthread_mutex_lock(&peaks->lock);
    raise_peak(thread, (size_t)call->region, call->name, peak - ended.base);
    pthread_mutex_unlock(&peaks->lock);
    return 0;
}

/* ---- what they come to ---------------------------------------------------------------------- */

typedef struct text {
    char *bytes;
    size_t used, room;
    bool failed;
} text;

static void add(text *out, const char *bytes, size_t count)
{
    if (out->used + count + 1 > out->room) {
        size_t room = (out->used + count + 1) * 2;
        char *more = realloc(out->bytes, room);
        out->failed = out->failed || more == NULL;
        if (more == NULL)
            return;
        out->bytes = more;
        out->room = room;
    }
    memcpy(out->bytes + out->used, bytes, count);
    out->used += count;
    out->bytes[out->used] = '\0';
}

static void add_string(text *out, const char *string)
{
    add(out, "\"", 1);
    for (; *string != '\0'; string++) {
        char escaped[8];
        unsigned char byte = (unsigned char)*string;
        if (byte < 0x20)
            add(out, escaped, (size_t)snprintf(escaped, sizeof escaped, "\\u%04x", byte));
        else if (byte == '"' || byte == '\\')
            add(out, escaped, (size_t)snprintf(escaped, sizeof escaped, "\\%c", byte));
        else
            add(out, string, 1);
    }
    add(out, "\"", 1);
}

/* {"<rank>": {"<region>": bytes}}. Peaks stay: a checkpoint must not take them from the last file. */
static char *peaks_text(void *context, uint32_t rank)
{
    peak_context *peaks = context;
    text out = {0};
    char number[32];
    bool has_any = false;
    add(&out, number, (size_t)snprintf(number, sizeof number, "{\"%" PRIu32 "\": {", rank));
    pthread_mutex_lock(&peaks->lock);
    for (peak_thread *thread = peaks->threads; thread != NULL; thread = thread->next) {
        move_peaks(&peaks->past, thread);
        for (size_t i = 0; i < thread->num_regions; i++)
            thread->peaks[i] = -1;
    }
    for (size_t i = 0; i < peaks->past.num_regions; i++) {
        if (peaks->past.peaks[i] < 0)
            continue;
        add(&out, ", ", has_any ? 2 : 0);
        add_string(&out, peaks->past.names[i]);
        add(&out, number,
            (size_t)snprintf(number, sizeof number, ": %" PRId64, peaks->past.peaks[i]));
        has_any = true;
    }
    pthread_mutex_unlock(&peaks->lock);
    add(&out, "}}", 2);
    if (out.failed || !has_any) {
        free(out.bytes);
        return NULL;
    }
    return out.bytes;
}

static void release_peaks(void *context)
{
    peak_context *peaks = context;
    release_thread(&peaks->past);
    pthread_mutex_destroy(&peaks->lock);
    free(peaks);
}

/* ---- counts --------------------------------------------------------------------------------- */

static const char *const value_names[] = {"allocated_bytes", "allocations", "freed_bytes", "frees"};
enum { NUM_VALUES = sizeof value_names / sizeof value_names[0] };

static bool attach_counts(void *context, void **out_state, sp_error *error)
{
    (void)context;
    (void)error;
    *out_state = memory_counts_here();
    return true;
}

static void read_counts(void *context, void *state, int64_t *values)
{
    (void)context;
    const memory_counts *counts = state;
    values[0] = counts->allocated_bytes;
    values[1] = counts->allocations;
    values[2] = counts->freed_bytes;
    values[3] = counts->frees;
}

int memory_instruments(const sp_instrument *out[MEMORY_INSTRUMENTS])
{
    static const sp_instrument counter = {
        .size = sizeof counter, .version = SP_INSTRUMENT_VERSION, .name = "memory",
        .num_values = NUM_VALUES, .value_names = value_names, .attach_thread = attach_counts,
        .read = read_counts};
    static sp_instrument peaks = {
        .size = sizeof peaks, .version = SP_INSTRUMENT_VERSION, .name = "memory_peak",
        .attach_thread = attach_peaks, .detach_thread = detach_peaks, .begin = begin_call,
        .end = end_call, .results = peaks_text, .release = release_peaks};
    peak_context *context = calloc(1, sizeof *context);
    if (context == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    pthread_mutex_init(&context->lock, NULL);
    peaks.context = context; /* the recorder copies the table when it is configured, under the GIL */
    out[0] = &peaks;
    out[1] = &counter;
    return 0;
}
