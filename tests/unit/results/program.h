/* program.h - random programs of a few threads, whose calls and parents are known. */
#ifndef TESTS_RESULTS_PROGRAM_H
#define TESTS_RESULTS_PROGRAM_H

#include "results/run.h"

enum { MAX_CALLS = 400, MAX_REGIONS = 6, MAX_LANES = 3 };

static const char *const program_regions[MAX_REGIONS] = {"a", "b", "c", "d", "e", "f"};

static uint64_t state = 20240607;

static uint32_t dice(uint32_t sides)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33) % sides;
}

typedef struct program_call {
    int64_t start, end;
    int lane, region, parent; /* parent: index of the call, -1 none */
    int id;
} program_call;

typedef struct program {
    program_call calls[MAX_CALLS];
    int count, lanes, regions;
} program;

/* Each lane begins and ends calls in turn. The clock stands still now and then (`coarse`), so that
 * intervals touch, vanish and coincide. */
static void run_lane(program *p, int lane, int calls, uint32_t coarse)
{
    int open[MAX_CALLS], depth = 0;
    int64_t now = dice(50);
    for (int begun = 0; begun < calls || depth > 0;) {
        now += dice(coarse) == 0 ? 1 + dice(5) : 0;
        if (begun < calls && (depth == 0 || dice(2) == 0)) {
            program_call *call = &p->calls[p->count];
            *call = (program_call){.start = now, .lane = lane, .region = (int)dice(MAX_REGIONS),
                                   .parent = depth == 0 ? -1 : open[depth - 1], .id = p->count};
            open[depth++] = p->count++;
            begun++;
        } else {
            p->calls[open[--depth]].end = now;
        }
    }
}

static void make_program(program *p, uint32_t coarse)
{
    p->count = 0;
    p->lanes = 1 + (int)dice(MAX_LANES);
    for (int lane = 0; lane < p->lanes; lane++)
        run_lane(p, lane, 1 + (int)dice(MAX_CALLS / MAX_LANES), coarse);
}

/* Position of call a before call b in a row: by start, then as recorded. */
static int compare_in_row(const void *a, const void *b)
{
    const run_call *x = a, *y = b;
    return x->start != y->start ? (x->start < y->start ? -1 : 1)
                                : (x->id > y->id) - (x->id < y->id);
}

static sp_results *build_run(const program *p, bool with_ids, int64_t first_id, int64_t stride)
{
    sp_results *run = run_new();
    int columns = RUN_THREADS | (with_ids ? RUN_IDS : 0);
    for (int region = 0; region < MAX_REGIONS; region++) {
        run_call calls[MAX_CALLS];
        size_t count = 0;
        for (int i = 0; i < p->count; i++)
            if (p->calls[i].region == region)
                calls[count++] = (run_call){
                    p->calls[i].start, p->calls[i].end, first_id + stride * i,
                    p->calls[i].parent < 0 ? -1 : first_id + stride * p->calls[i].parent,
                    p->calls[i].lane, -1};
        qsort(calls, count, sizeof *calls, compare_in_row);
        CHECK_INT(run_add_calls(run, program_regions[region], 0, calls, count, columns), SP_OK);
    }
    return run;
}

#endif
