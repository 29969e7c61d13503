/* c_pair - cost of one begin+end pair from C.
 *
 *   floor-ticks   two bare tick reads            floor-call   two empty calls into another library
 *   off           before sp_init                 record       recording in memory
 *   nest          the same, five levels deep     paused       while paused
 *   threads-1/2   one thread, two at once (ns a pair of each thread)
 *   journal       recording into a journal, 20 million calls; journal-bytes: its bytes a call */
#include "ticks.h"

#include "scope_profiler.h"
#include "session/binding.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

void bench_empty_begin(int region);
void bench_empty_end(int region);

enum { PAIRS = 4000000, REPEATS = 9, NEST = 5, JOURNAL_ROUNDS = 5 };

static double floor_call(void)
{
    double start = sample_now();
    for (int i = 0; i < PAIRS; i++) {
        bench_empty_begin(0);
        bench_empty_end(0);
    }
    return (sample_now() - start) / PAIRS;
}

static double pairs(int region)
{
    double start = sample_now();
    for (int i = 0; i < PAIRS; i++) {
        sp_begin(region);
        sp_end(region);
    }
    return (sample_now() - start) / PAIRS;
}

static double nest(const int regions[NEST])
{
    double start = sample_now();
    for (int i = 0; i < PAIRS / NEST; i++) {
        for (int d = 0; d < NEST; d++)
            sp_begin(regions[d]);
        for (int d = NEST - 1; d >= 0; d--)
            sp_end(regions[d]);
    }
    return (sample_now() - start) / (PAIRS / NEST * NEST);
}

typedef struct worker {
    pthread_barrier_t *barrier;
    int region;
    double ns;
} worker;

static void *work(void *argument)
{
    worker *self = argument;
    pthread_barrier_wait(self->barrier);
    self->ns = pairs(self->region);
    return NULL;
}

static double on_threads(int count, int region)
{
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, NULL, (unsigned)count);
    worker workers[2];
    pthread_t threads[2];
    for (int i = 0; i < count; i++) {
        workers[i] = (worker){.barrier = &barrier, .region = region};
        pthread_create(&threads[i], NULL, work, &workers[i]);
    }
    double sum = 0;
    for (int i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
        sum += workers[i].ns;
    }
    pthread_barrier_destroy(&barrier);
    return sum / count;
}

/* In a folder of its own, which is gone afterwards. */
static int journal_rows(sp_profiler *profiler, sp_binding_settings *settings,
                        const sp_binding_region_spec *spec)
{
    char folder[] = "/tmp/bench_pair_XXXXXX", output[64], journal[80];
    struct stat status;
    sp_error error;
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(output, sizeof output, "%s/pair.h5", folder);
    snprintf(journal, sizeof journal, "%s.journal", output);
    settings->output = output;
    if (sp_binding_configure(profiler, settings, &error) != SP_OK) {
        fprintf(stderr, "c_pair: %s\n", error.text);
        return 1;
    }
    int region = sp_binding_intern("r0", 2, NULL);
    sp_binding_set_region(profiler, region, spec, NULL);
    for (int r = 0; r < REPEATS; r++) {
        double ns = 0;
        sample_print("journal-floor", r, bench_two_ticks(PAIRS));
        for (int round = 0; round < JOURNAL_ROUNDS; round++)
            ns += pairs(region) / JOURNAL_ROUNDS;
        sample_print("journal", r, ns);
        if (stat(journal, &status) == 0)
            sample_print("journal-bytes", r,
                         (double)status.st_size / ((double)PAIRS * JOURNAL_ROUNDS));
        sp_profiler_reset(profiler); /* and the next one has the same name */
    }
    sp_binding_deconfigure(profiler);
    rmdir(folder);
    return 0;
}

int main(void)
{
    for (int r = 0; r < REPEATS; r++) {
        sample_print("off-floor-call", r, floor_call());
        sample_print("off", r, pairs(0));
    }
    sp_profiler *profiler = sp_binding_default();
    sp_binding_settings settings = {.size = sizeof settings, .store.size = sizeof settings.store};
    sp_error error;
    if (sp_binding_configure(profiler, &settings, &error) != SP_OK) {
        fprintf(stderr, "c_pair: %s\n", error.text);
        return 1;
    }
    int regions[NEST];
    sp_binding_region_spec spec = {.size = sizeof spec, .enabled = true};
    for (int d = 0; d < NEST; d++) {
        char name[8];
        int length = snprintf(name, sizeof name, "r%d", d);
        regions[d] = sp_binding_intern(name, (size_t)length, NULL);
        sp_binding_set_region(profiler, regions[d], &spec, NULL);
    }
    for (int r = 0; r < REPEATS; r++) {
        sample_print("floor-ticks", r, bench_two_ticks(PAIRS));
        sample_print("record", r, pairs(regions[0]));
        sp_profiler_reset(profiler);
        sample_print("nest", r, nest(regions));
        sp_profiler_reset(profiler);
        sample_print("threads-1", r, on_threads(1, regions[0]));
        sample_print("threads-2", r, on_threads(2, regions[0]));
        sp_profiler_reset(profiler);
        sp_binding_pause(profiler);
        sample_print("floor-call", r, floor_call());
        sample_print("paused", r, pairs(regions[0]));
        sp_binding_unpause(profiler);
    }
    sp_binding_deconfigure(profiler);
    return journal_rows(profiler, &settings, &spec);
}
