/* Stands in for the library of a device: libcuda.so.1, or (FAKE_HIP) libamdhip64.so. Time on the device is what
 * the test says: fake_work() gives it work, fake_run() lets it come to events. Everything that is not as the
 * real libraries want it counts as an error of the caller. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef FAKE_HIP
#define NAME(cuda, hip) hip
#else
#define NAME(cuda, hip) cuda
#endif

#define API __attribute__((visibility("default")))

enum { NOT_READY = 600, INVALID = 1, NO_CONTEXT = 201, CAPTURING = 906, DEPTH = 16 };

typedef struct event {
    void *context;
    double ms; /* when the device comes to it */
    uint64_t turn; /* place in the queue, 0: not recorded */
    int is_alive;
    struct event *before; /* made before it */
} event;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static double device_ms;
static uint64_t queued, reached;
static long created, alive, most_alive, recorded, mistakes, synchronized;
static int runs_at_once = 1, fail_records, is_capturing;
static event *newest;
static void *gone;
static _Thread_local void *contexts[DEPTH];
static _Thread_local int depth, capture_mode;

static void *current(void)
{
    return depth > 0 ? contexts[depth - 1] : NULL;
}

/* ---- For tests -------------------------------------------------------------------------------*/

API void fake_context(void *context);
API void fake_work(double ms);
API void fake_run(void);
API void fake_hold(int holds);
API void fake_fail_records(int count);
API void fake_capture(int captures);
API void fake_lose_context(void *context);
API long fake_count(const char *what);

/* Current on this thread, NULL: none. */
void fake_context(void *context)
{
    depth = context != NULL;
    contexts[0] = context;
}

void fake_work(double ms)
{
    pthread_mutex_lock(&lock);
    device_ms += ms;
    pthread_mutex_unlock(&lock);
}

void fake_run(void)
{
    pthread_mutex_lock(&lock);
    reached = queued;
    pthread_mutex_unlock(&lock);
}

/* While it is held, the device comes to events at fake_run() alone. */
void fake_hold(int holds)
{
    runs_at_once = !holds;
}

void fake_fail_records(int count)
{
    fail_records = count;
}

void fake_capture(int captures)
{
    is_capturing = captures;
}

void fake_lose_context(void *context)
{
    gone = context;
}

long fake_count(const char *what)
{
    return strcmp(what, "created") == 0        ? created
           : strcmp(what, "alive") == 0        ? alive
           : strcmp(what, "most alive") == 0   ? most_alive
           : strcmp(what, "recorded") == 0     ? recorded
           : strcmp(what, "synchronized") == 0 ? synchronized
                                               : mistakes;
}

/* ---- The library -----------------------------------------------------------------------------*/

static int wrong(void)
{
    mistakes++;
    return INVALID;
}

API int NAME(cuCtxGetCurrent, hipCtxGetCurrent)(void **out);
API int NAME(cuCtxPushCurrent_v2, hipCtxPushCurrent)(void *context);
API int NAME(cuCtxPopCurrent_v2, hipCtxPopCurrent)(void **out);
API int NAME(cuCtxSynchronize, hipDeviceSynchronize)(void);
API int NAME(cuEventCreate, hipEventCreateWithFlags)(event **out, unsigned flags);
API int NAME(cuEventDestroy_v2, hipEventDestroy)(event *e);
API int NAME(cuEventRecord, hipEventRecord)(event *e, void *stream);
API int NAME(cuEventQuery, hipEventQuery)(event *e);
API int NAME(cuEventElapsedTime, hipEventElapsedTime)(float *ms, const event *start,
                                                      const event *end);
API int NAME(cuStreamIsCapturing, hipStreamIsCapturing)(void *stream, int *out);
API int NAME(cuThreadExchangeStreamCaptureMode, hipThreadExchangeStreamCaptureMode)(int *mode);

int NAME(cuCtxGetCurrent, hipCtxGetCurrent)(void **out)
{
    *out = current();
    return 0;
}

int NAME(cuCtxPushCurrent_v2, hipCtxPushCurrent)(void *context)
{
    if (context == NULL || depth == DEPTH)
        return wrong();
    if (context == gone)
        return NO_CONTEXT;
    contexts[depth++] = context;
    return 0;
}

int NAME(cuCtxPopCurrent_v2, hipCtxPopCurrent)(void **out)
{
    if (depth == 0)
        return wrong();
    *out = contexts[--depth];
    return 0;
}

int NAME(cuCtxSynchronize, hipDeviceSynchronize)(void)
{
    if (current() == NULL)
        return wrong();
    synchronized++;
    fake_run();
    return 0;
}

int NAME(cuEventCreate, hipEventCreateWithFlags)(event **out, unsigned flags)
{
    if (current() == NULL || flags != 0)
        return wrong();
    pthread_mutex_lock(&lock);
    *out = calloc(1, sizeof **out);
    **out = (event){.context = current(), .is_alive = 1, .before = newest};
    newest = *out;
    created++;
    alive++;
    most_alive = alive > most_alive ? alive : most_alive;
    pthread_mutex_unlock(&lock);
    return 0;
}

static __attribute__((destructor)) void forget_events(void)
{
    while (newest != NULL) {
        event *e = newest;
        newest = e->before;
        free(e);
    }
}

/* Kept, so that a use after it is seen. */
int NAME(cuEventDestroy_v2, hipEventDestroy)(event *e)
{
    if (!e->is_alive || current() != e->context)
        return wrong();
    pthread_mutex_lock(&lock);
    e->is_alive = 0;
    alive--;
    pthread_mutex_unlock(&lock);
    return 0;
}

int NAME(cuEventRecord, hipEventRecord)(event *e, void *stream)
{
    if (!e->is_alive || current() != e->context || stream != NULL || is_capturing)
        return wrong();
    if (fail_records > 0) {
        fail_records--;
        return INVALID;
    }
    pthread_mutex_lock(&lock);
    e->ms = device_ms;
    e->turn = ++queued;
    reached = runs_at_once ? queued : reached;
    recorded++;
    pthread_mutex_unlock(&lock);
    return 0;
}

int NAME(cuEventQuery, hipEventQuery)(event *e)
{
    if (!e->is_alive || current() != e->context || (is_capturing && capture_mode != 2))
        return wrong();
    pthread_mutex_lock(&lock);
    int status = e->turn <= reached ? 0 : NOT_READY;
    pthread_mutex_unlock(&lock);
    return status;
}

int NAME(cuEventElapsedTime, hipEventElapsedTime)(float *ms, const event *start, const event *end)
{
    if (!start->is_alive || !end->is_alive || start->turn == 0 || end->turn == 0)
        return wrong();
    pthread_mutex_lock(&lock);
    *ms = (float)(end->ms - start->ms);
    int status = end->turn <= reached && start->turn <= reached ? 0 : NOT_READY;
    pthread_mutex_unlock(&lock);
    return status;
}

int NAME(cuStreamIsCapturing, hipStreamIsCapturing)(void *stream, int *out)
{
    *out = 0;
    return stream != NULL ? wrong() : is_capturing ? CAPTURING : 0;
}

int NAME(cuThreadExchangeStreamCaptureMode, hipThreadExchangeStreamCaptureMode)(int *mode)
{
    int before = capture_mode;
    capture_mode = *mode;
    *mode = before;
    return 0;
}
