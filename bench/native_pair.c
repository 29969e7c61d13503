/* native_pair - cost of one call from native code as users write it, C here, C++ and Fortran from their
 * files; and ten million calls in a loop nest of depth 5 on two threads.
 *
 *   floor-ticks     two bare tick reads          floor-call    two empty calls into another library
 *   off-X           before sp_init               record-X      recording in memory
 *   nest            ns a call, five levels deep, 10 million calls on two threads at once
 *
 * with X: c-block (SP_SCOPE), cpp-scope (sp::Scope), cpp-block (SP_PROFILE_SCOPE), fortran (sp_begin,
 * sp_end of the module). */
#include "ticks.h"

#include "scope_profiler.h"

#include <pthread.h>
#include <stdlib.h>

void bench_empty_begin(int region);
void bench_empty_end(int region);
/* In native_pair.cpp and native_pair.f90. `region`: a handle, of Fortran's numbering there. */
void bench_cpp_scopes(int count, int region);
void bench_cpp_blocks(int count);
void bench_fortran_pairs(int count, int region);

enum { PAIRS = 2000000, REPEATS = 9, DEPTH = 5, NEST_CALLS = 10000000, THREADS = 2 };

static void c_blocks(int count, int region)
{
    (void)region;
    for (int i = 0; i < count; i++) {
        SP_SCOPE("c block");
    }
}

static void cpp_blocks(int count, int region)
{
    (void)region;
    bench_cpp_blocks(count);
}

static void empty_calls(int count, int region)
{
    for (int i = 0; i < count; i++) {
        bench_empty_begin(region);
        bench_empty_end(region);
    }
}

static double timed(void (*run)(int count, int region), int region)
{
    double start = sample_now();
    run(PAIRS, region);
    return (sample_now() - start) / PAIRS;
}

typedef struct worker {
    pthread_barrier_t *barrier;
    int regions[DEPTH];
    double ns;
} worker;

static void *nest(void *argument)
{
    worker *self = argument;
    int rounds = NEST_CALLS / THREADS / DEPTH;
    pthread_barrier_wait(self->barrier);
    double start = sample_now();
    for (int i = 0; i < rounds; i++) {
        for (int d = 0; d < DEPTH; d++)
            sp_begin(self->regions[d]);
        for (int d = DEPTH - 1; d >= 0; d--)
            sp_end(self->regions[d]);
    }
    self->ns = (sample_now() - start) / ((double)rounds * DEPTH);
    return NULL;
}

static double nest_on_threads(void)
{
    static const char *const names[DEPTH] = {"solve", "sweep", "row", "cell", "flux"};
    pthread_barrier_t barrier;
    pthread_t threads[THREADS];
    worker workers[THREADS];
    double sum = 0;
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        workers[i].barrier = &barrier;
        for (int d = 0; d < DEPTH; d++)
            workers[i].regions[d] = sp_region(names[d]);
        pthread_create(&threads[i], NULL, nest, &workers[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        sum += workers[i].ns;
    }
    pthread_barrier_destroy(&barrier);
    return sum / THREADS;
}

static const struct {
    const char *off, *record;
    void (*run)(int count, int region);
    int first; /* what the language numbers its regions from */
} languages[] = {
    {"off-c-block", "record-c-block", c_blocks, 0},
    {"off-cpp-scope", "record-cpp-scope", bench_cpp_scopes, 0},
    {"off-cpp-block", "record-cpp-block", cpp_blocks, 0},
#ifdef BENCH_FORTRAN
    {"off-fortran", "record-fortran", bench_fortran_pairs, 1},
#endif
};
enum { LANGUAGES = sizeof languages / sizeof *languages };

int main(int argc, char **argv)
{
    for (int r = 0; r < REPEATS; r++) {
        sample_print("floor-call", r, timed(empty_calls, 0));
        for (int i = 0; i < LANGUAGES; i++)
            sample_print(languages[i].off, r, timed(languages[i].run, 0));
    }
    sp_set_output_format(SP_OUTPUT_TRACE);
    if (sp_init(argc > 1 ? argv[1] : "/dev/null/none", 0) != SP_OK)
        return 1;
    int region = sp_region("pair");
    for (int r = 0; r < REPEATS; r++) {
        sample_print("floor-ticks", r, bench_two_ticks(PAIRS));
        for (int i = 0; i < LANGUAGES; i++) {
            sample_print(languages[i].record, r,
                         timed(languages[i].run, region + languages[i].first));
            sp_reset();
        }
        sample_print("nest", r, nest_on_threads());
        sp_reset();
    }
    sp_set_quiet(1); /* nothing is written */
    exit(0);
}
