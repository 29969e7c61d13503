/* A storm of calls, to be killed: storm OUTPUT TRUTH THREADS SEED [SECONDS]. What each thread does is
 * counted in the file TRUTH, which the death of the process does not undo: before and after each begin
 * and end, so that whoever reads it knows within a call what had happened. */
#include <fcntl.h>
#include <pthread.h>
#include <scope_profiler.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { MOST_THREADS = 16, MOST_DEPTH = 200 };

/* Of one thread, in the order in which docs of the test unpack it. */
typedef struct truth {
    _Atomic uint64_t begins_tried, begun, ends_tried, ended;
    uint64_t room[4];
} truth;

static truth *truths;
static uint64_t seed;
static atomic_bool is_over;

static uint32_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static void do_begin(truth *t, int region)
{
    atomic_fetch_add_explicit(&t->begins_tried, 1, memory_order_relaxed);
    sp_begin(region);
    atomic_fetch_add_explicit(&t->begun, 1, memory_order_relaxed);
}

static void do_end(truth *t, int region)
{
    atomic_fetch_add_explicit(&t->ends_tried, 1, memory_order_relaxed);
    sp_end(region);
    atomic_fetch_add_explicit(&t->ended, 1, memory_order_relaxed);
}

/* Nests at random; now and then a call ends below its callee, or carries metadata. */
static void *storm(void *given)
{
    int thread = (int)(intptr_t)given, regions[4], stack[MOST_DEPTH], depth = 0;
    uint64_t random = seed * 1000 + (uint64_t)thread;
    truth *t = &truths[thread];
    for (int i = 0; i < 4; i++) {
        char name[40];
        snprintf(name, sizeof name, "thread %d region %d", thread, i);
        regions[i] = sp_region(name);
    }
    while (!atomic_load_explicit(&is_over, memory_order_relaxed)) {
        uint32_t choice = next_random(&random) % 64;
        if (choice == 0 && depth > 0)
            sp_metadata_int("step", (long long)random);
        else if (choice == 1 && depth > 1 && stack[depth - 1] != stack[depth - 2]) {
            do_end(t, stack[depth - 2]);
            stack[depth - 2] = stack[depth - 1];
            depth--;
        } else if (depth == 0 || (choice < 33 && depth < MOST_DEPTH)) {
            stack[depth] = regions[next_random(&random) % 4];
            do_begin(t, stack[depth++]);
        } else {
            do_end(t, stack[--depth]);
        }
    }
    while (depth > 0)
        do_end(t, stack[--depth]);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[MOST_THREADS];
    if (argc < 5)
        return 2;
    int count = atoi(argv[3]);
    seed = strtoull(argv[4], NULL, 10);
    int file = open(argv[2], O_RDWR | O_CREAT, 0600);
    if (ftruncate(file, sizeof(truth) * MOST_THREADS) != 0)
        return 2;
    truths = mmap(NULL, sizeof(truth) * MOST_THREADS, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (sp_init(argv[1], 0) != SP_OK)
        return 2;
    for (int i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, storm, (void *)(intptr_t)i);
    puts("go");
    fflush(stdout);
    double seconds = argc > 5 ? atof(argv[5]) : 30;
    nanosleep(&(struct timespec){(time_t)seconds, (long)((seconds - (int)seconds) * 1e9)}, NULL);
    atomic_store(&is_over, true);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    return sp_finalize() == SP_OK ? 0 : 1;
}
