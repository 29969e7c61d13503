/* An NVTX tool that writes down what it is told, one line each, into the file $NVTX_TOOL_LOG:
 *
 *     domain <number> <name>
 *     string <number> <text>
 *     start <range> thread <n> domain <number> colour <argb> payload <n> name <text>
 *     end <range> thread <n>
 *
 * Threads are numbered in the order in which they turn up. With NVTX_TOOL_REFUSES=1 it does not start, with
 * NVTX_TOOL_REFUSES=strings it keeps no strings, with NVTX_TOOL_REFUSES=ranges it takes no ranges. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void (*function)(void);

/* As NVIDIA's header of version 3 lays them out. */
typedef struct callbacks {
    size_t size;
    int (*slots)(int module, function ***out, unsigned *count);
} callbacks;

typedef struct version_info {
    size_t size;
    uint32_t version, reserved;
    void (*set_version)(uint32_t version);
} version_info;

typedef struct attributes {
    uint16_t version, size;
    uint32_t category;
    int32_t colour_type;
    uint32_t colour;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t message_type;
    const void *message;
} attributes;

typedef struct named {
    int number;
    char name[256];
} named;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *out;
static int num_domains, num_strings, num_threads;
static uint64_t num_ranges;
static __thread int thread;

static int thread_number(void)
{
    return thread != 0 ? thread : (thread = ++num_threads);
}

static named *new_name(int number, const char *name)
{
    named *n = calloc(1, sizeof *n);
    n->number = number;
    snprintf(n->name, sizeof n->name, "%s", name);
    return n;
}

static void *create_domain(const char *name)
{
    pthread_mutex_lock(&lock);
    named *domain = new_name(++num_domains, name);
    fprintf(out, "domain %d %s\n", domain->number, name);
    pthread_mutex_unlock(&lock);
    return domain;
}

static void *register_string(void *domain, const char *text)
{
    (void)domain;
    pthread_mutex_lock(&lock);
    named *string = new_name(++num_strings, text);
    fprintf(out, "string %d %s\n", string->number, text);
    pthread_mutex_unlock(&lock);
    return string;
}

static const char *message(const attributes *a)
{
    return a->message_type == 1   ? a->message
           : a->message_type == 3 ? ((const named *)a->message)->name
                                  : "?";
}

static uint64_t range_start(void *domain, const attributes *a)
{
    pthread_mutex_lock(&lock);
    uint64_t range = ++num_ranges;
    if (a->version != 3 || a->size != 48 || a->colour_type != 1 || a->payload_type != 1)
        fprintf(out, "odd attributes\n");
    fprintf(out, "start %llu thread %d domain %d colour %08x payload %llu name %s\n",
            (unsigned long long)range, thread_number(),
            domain == NULL ? 0 : ((named *)domain)->number, a->colour,
            (unsigned long long)a->payload, message(a));
    pthread_mutex_unlock(&lock);
    return 100 + range;
}

static void range_end(void *domain, uint64_t range)
{
    (void)domain;
    pthread_mutex_lock(&lock);
    fprintf(out, "end %llu thread %d\n", (unsigned long long)range - 100, thread_number());
    pthread_mutex_unlock(&lock);
}

int InitializeInjectionNvtx2(const void *(*tables)(uint32_t id));

int InitializeInjectionNvtx2(const void *(*tables)(uint32_t id))
{
    const char *refuses = getenv("NVTX_TOOL_REFUSES"), *path = getenv("NVTX_TOOL_LOG");
    const callbacks *table = tables(1);
    const version_info *info = tables(3);
    function **slots = NULL;
    unsigned count = 0;
    refuses = refuses == NULL ? "" : refuses;
    if (strcmp(refuses, "1") == 0 || path == NULL || (out = fopen(path, "w")) == NULL)
        return 0;
    setvbuf(out, NULL, _IOLBF, 0);
    if (tables(2) != NULL || info == NULL || info->version != 3 ||
        table->slots(2, &slots, &count) != 0)
        fprintf(out, "odd tables\n");
    info->set_version(3);
    if (!table->slots(5, &slots, &count) || count < 15)
        return 0;
    if (strcmp(refuses, "ranges") == 0)
        return 1;
    *slots[2] = (function)range_start;
    *slots[3] = (function)range_end;
    *slots[12] = (function)create_domain;
    if (strcmp(refuses, "strings") != 0)
        *slots[10] = (function)register_string;
    return 1;
}
