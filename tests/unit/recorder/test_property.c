/* Random programs (nested, recursive, crossing, paused, several threads) against a model that keeps
 * plain lists: the same calls, numbers, parents, depths, flags and times, in any ring size, and in
 * aggregate mode the same totals. */
#include "check.h"
#include "lane_reader.h"

#include "clock/clock.h"
#include "recorder/fast.h"
#include "recorder/path.h"
#include "recorder/query.h"

#include <pthread.h>

enum { REGIONS = 6, DISABLED = REGIONS, MAX_STEPS = 400, MAX_THREADS = 4 };

typedef struct random_state {
    uint64_t value;
} random_state;

static uint32_t draw(random_state *random, uint32_t limit)
{
    random->value = random->value * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random->value >> 33) % limit;
}

/* ---- The model ------------------------------------------------------------------------------*/

typedef struct model_call {
    bool is_ignored;
    read_call call;
} model_call;

typedef struct model {
    model_call open[MAX_STEPS];
    size_t num_open;
    read_call ended[MAX_STEPS];
    size_t num_ended;
    uint64_t next_number, last_tick, unmatched, crossing;
    bool is_paused;
} model;

static model_call *innermost(model *m)
{
    for (size_t i = m->num_open; i-- > 0;)
        if (!m->open[i].is_ignored)
            return &m->open[i];
    return NULL;
}

/* Time passes for the innermost open call. */
static void pass(model *m, uint64_t tick)
{
    model_call *call = innermost(m);
    if (call != NULL)
        call->call.exclusive += (int64_t)(tick - m->last_tick);
    m->last_tick = tick;
}

static void model_begin(model *m, uint32_t region, uint32_t flags, uint64_t tick)
{
    if (m->is_paused) {
        m->open[m->num_open++] = (model_call){.is_ignored = true};
        return;
    }
    pass(m, tick);
    const model_call *parent = innermost(m);
    m->open[m->num_open++] = (model_call){
        .call = {.region = region, .flags = flags, .start = tick, .number = m->next_number++,
                 .depth = parent == NULL ? 0 : parent->call.depth + 1,
                 .parent = parent == NULL ? SP_RECORD_NO_PARENT : parent->call.number}};
}

static void model_end(model *m, uint32_t region, uint64_t tick)
{
    if (m->num_open > 0 && m->open[m->num_open - 1].is_ignored) {
        m->num_open--;
        return;
    }
    size_t at = m->num_open;
    while (at > 0 && (m->open[at - 1].is_ignored || m->open[at - 1].call.region != region))
        at--;
    if (at-- == 0) {
        m->unmatched++;
        return;
    }
    pass(m, tick);
    read_call call = m->open[at].call;
    call.end = tick;
    bool crosses = false;
    for (size_t i = at + 1; i < m->num_open; i++)
        if (!m->open[i].is_ignored) {
            m->open[i].call.flags |= SP_CALL_OUTLIVED;
            crosses = true;
        }
    call.flags |= crosses ? SP_CALL_CROSSING : 0;
    m->crossing += crosses;
    memmove(&m->open[at], &m->open[at + 1], (--m->num_open - at) * sizeof m->open[0]);
    m->ended[m->num_ended++] = call;
}

static void model_append(model *m, uint32_t region, uint64_t start, uint64_t end)
{
    m->ended[m->num_ended++] = (read_call){.region = region, .flags = SP_CALL_APPENDED,
                                           .start = start, .end = end,
                                           .number = m->next_number++,
                                           .parent = SP_RECORD_NO_PARENT,
                                           .exclusive = (int64_t)(end - start)};
}

/* ---- The program ----------------------------------------------------------------------------*/

typedef struct program {
    sp_recording *recording;
    const int32_t *regions; /* REGIONS that record and a disabled one */
    uint64_t seed;
    size_t steps;
    uint32_t lane;
    bool may_cross, may_pause;
    model model;
} program;

static void do_begin(program *p, uint32_t region)
{
    if (!sp_fast_begin(sp_recording_phase(p->recording), sp_lane_of(p->recording), region))
        sp_path_begin(p->recording, region, 0);
}

static void do_resume(program *p, uint32_t region)
{
    if (!sp_fast_begin_resumed(sp_recording_phase(p->recording), sp_lane_of(p->recording), region))
        sp_path_begin(p->recording, region, SP_CALL_RESUMPTION);
}

/* Either end is right for either kind of call. */
static void do_end_resumed(program *p, uint32_t region)
{
    if (!sp_fast_end_resumed(sp_recording_phase(p->recording), sp_lane_of(p->recording), region))
        sp_path_end(p->recording, region);
}

static void do_end(program *p, uint32_t region)
{
    if (!sp_fast_end(sp_recording_phase(p->recording), sp_lane_of(p->recording), region))
        sp_path_end(p->recording, region);
}

static uint32_t region_to_end(program *p, random_state *random)
{
    model *m = &p->model;
    if (m->num_open == 0 || (p->may_cross && draw(random, 12) == 0))
        return (uint32_t)p->regions[draw(random, REGIONS)];
    return m->open[m->num_open - 1].is_ignored ? (uint32_t)p->regions[draw(random, REGIONS)]
                                               : m->open[m->num_open - 1].call.region;
}

static void pause_or_resume(program *p)
{
    p->model.is_paused = !p->model.is_paused;
    if (p->model.is_paused)
        sp_recording_pause(p->recording);
    else
        sp_recording_resume(p->recording);
}

/* Someone else looks in: hands on what the ring holds. */
static void interfere(program *p)
{
    sp_lane *lane = sp_lane_of(p->recording);
    if (lane->recording != p->recording)
        return;
    sp_mutex_lock(&lane->lock);
    sp_drain_other(lane);
    sp_mutex_unlock(&lane->lock);
}

static void step(program *p, random_state *random)
{
    uint32_t what = draw(random, 44), region = (uint32_t)p->regions[draw(random, REGIONS)];
    sp_fake_tick += 1 + draw(random, 50);
    if (what < 18) {
        model_begin(&p->model, region, 0, sp_fake_tick);
        do_begin(p, region);
    } else if (what == 18 || what >= 41) {
        model_begin(&p->model, region, SP_CALL_RESUMPTION, sp_fake_tick);
        do_resume(p, region);
    } else if (what == 19) {
        model_append(&p->model, region, sp_fake_tick - 20, sp_fake_tick - 3);
        sp_path_append(p->recording, region, (int64_t)sp_fake_tick - 20,
                       (int64_t)sp_fake_tick - 3);
    } else if (what == 20 && p->may_pause) {
        pause_or_resume(p);
    } else if (what == 21) {
        interfere(p);
    } else if (what == 22) {
        do_begin(p, (uint32_t)p->regions[DISABLED]);
        do_end(p, (uint32_t)p->regions[DISABLED]);
    } else {
        region = region_to_end(p, random);
        model_end(&p->model, region, sp_fake_tick);
        if (draw(random, 3) == 0)
            do_end_resumed(p, region);
        else
            do_end(p, region);
    }
}

static void *run_program(void *argument)
{
    program *p = argument;
    random_state random = {p->seed};
    sp_fake_tick = 1000;
    do_begin(p, (uint32_t)p->regions[0]);
    p->lane = sp_lane_of(p->recording)->index;
    model_begin(&p->model, (uint32_t)p->regions[0], 0, 1000);
    for (size_t i = 0; i < p->steps; i++)
        step(p, &random);
    if (p->model.is_paused)
        pause_or_resume(p);
    while (p->model.num_open > 0) {
        uint32_t region = region_to_end(p, &random);
        sp_fake_tick += 7;
        model_end(&p->model, region, sp_fake_tick);
        do_end(p, region);
    }
    return NULL;
}

/* ---- Comparing ------------------------------------------------------------------------------*/

static bool same_call(const read_call *a, const read_call *b, const char **what)
{
    *what = a->number != b->number     ? "number"
            : a->region != b->region   ? "region"
            : a->start != b->start     ? "start"
            : a->end != b->end         ? "end"
            : a->depth != b->depth     ? "depth"
            : a->parent != b->parent   ? "parent"
            : a->flags != b->flags     ? "flags"
            : a->exclusive != b->exclusive ? "exclusive"
                                           : NULL;
    return *what == NULL;
}

static bool compare_lane(const read_run *run, program *p, uint64_t seed)
{
    qsort(p->model.ended, p->model.num_ended, sizeof(read_call), read_order);
    size_t first = 0;
    while (first < run->calls.count && run->calls.items[first].lane != p->lane)
        first++;
    for (size_t i = 0; i < p->model.num_ended; i++) {
        const char *what = "missing";
        bool same = first + i < run->calls.count &&
                    run->calls.items[first + i].lane == p->lane &&
                    same_call(&run->calls.items[first + i], &p->model.ended[i], &what);
        if (!same) {
            fprintf(stderr, "seed %llu, lane %u, call %zu: %s\n", (unsigned long long)seed,
                    p->lane, i, what);
            return false;
        }
    }
    return true;
}

static void compare_sums(sp_recording *recording, const program *programs, size_t threads)
{
    for (uint32_t r = 0; r < REGIONS; r++) {
        sp_sum sum, expected = {0};
        uint32_t region = (uint32_t)programs[0].regions[r];
        sp_recording_sum(recording, region, &sum);
        for (size_t t = 0; t < threads; t++)
            for (size_t i = 0; i < programs[t].model.num_ended; i++) {
                const read_call *call = &programs[t].model.ended[i];
                int64_t ns = (int64_t)(call->end - call->start);
                if (call->region != region)
                    continue;
                expected.minimum = expected.count == 0 || ns < expected.minimum ? ns : expected.minimum;
                expected.maximum = ns > expected.maximum ? ns : expected.maximum;
                expected.total += ns;
                expected.count++;
                expected.resumptions += (call->flags & SP_CALL_RESUMPTION) != 0;
                expected.exclusive += recording->is_aggregate ? call->exclusive : 0;
            }
        CHECK_INT(sum.count, expected.count);
        CHECK_INT(sum.total, expected.total);
        CHECK_INT(sum.minimum, expected.minimum);
        CHECK_INT(sum.maximum, expected.maximum);
        CHECK_INT(sum.resumptions, expected.resumptions);
        CHECK_INT(sum.exclusive, expected.exclusive);
        CHECK_INT(sp_recording_num_calls(recording, region), (int64_t)expected.count);
    }
}

static sp_recording recording;
static int32_t regions[REGIONS + 1];

static void start(size_t ring_words, bool is_aggregate)
{
    sp_recording_settings settings = {.ring_words = ring_words, .max_memory = SIZE_MAX / 2,
                                      .is_aggregate = is_aggregate};
    sp_fake_tick = 500;
    CHECK_INT(sp_recording_start(&recording, &settings, NULL), SP_OK);
    for (int i = 0; i <= REGIONS; i++) {
        char name[16];
        snprintf(name, sizeof name, "region %d", i);
        regions[i] = sp_names_intern(name, strlen(name), NULL);
        sp_region_table_set(&recording.regions, regions[i],
                            i == DISABLED ? SP_REGION_DISABLED : SP_REGION_RECORD);
    }
}

static bool one_program(uint64_t seed, size_t threads, bool is_aggregate)
{
    random_state random = {seed};
    static program programs[MAX_THREADS];
    memset(programs, 0, sizeof programs);
    start(SP_RING_MIN_WORDS + draw(&random, 200), is_aggregate);
    uint64_t unmatched = 0, crossing = 0;
    size_t num_calls = 0;
    pthread_t handles[MAX_THREADS];
    for (size_t t = 0; t < threads; t++) {
        programs[t] = (program){.recording = &recording, .regions = regions,
                                .seed = seed * 31 + t, .steps = 20 + draw(&random, 300),
                                .may_cross = draw(&random, 3) > 0,
                                .may_pause = threads == 1 && draw(&random, 2) > 0};
        if (threads == 1)
            run_program(&programs[t]);
        else
            pthread_create(&handles[t], NULL, run_program, &programs[t]);
    }
    for (size_t t = 0; threads > 1 && t < threads; t++)
        pthread_join(handles[t], NULL);
    compare_sums(&recording, programs, threads);
    read_run run = read_recording(&recording);
    bool same = CHECK(!run.damaged) && CHECK_INT(run.lost, 0);
    for (size_t t = 0; t < threads && same; t++) {
        same = is_aggregate || compare_lane(&run, &programs[t], seed);
        unmatched += programs[t].model.unmatched;
        crossing += programs[t].model.crossing;
        num_calls += programs[t].model.num_ended;
    }
    if (same) {
        CHECK_INT(run.calls.count, is_aggregate ? 0 : num_calls);
        CHECK_INT(atomic_load(&recording.unmatched_ends), unmatched);
        CHECK_INT(atomic_load(&recording.crossing), crossing);
    }
    sp_vector_release(&run.calls);
    sp_recording_stop(&recording);
    return same;
}

static void single_thread(void)
{
    for (uint64_t seed = 1; seed <= 400; seed++)
        if (!CHECK(one_program(seed, 1, false)))
            return;
}

static void several_threads(void)
{
    for (uint64_t seed = 1000; seed < 1100; seed++)
        if (!CHECK(one_program(seed, MAX_THREADS, false)))
            return;
}

static void totals_only(void)
{
    for (uint64_t seed = 2000; seed < 2100; seed++)
        if (!CHECK(one_program(seed, 1 + seed % MAX_THREADS, true)))
            return;
}

int main(void)
{
    CHECK(sp_recording_init(&recording));
    RUN(single_thread);
    RUN(several_threads);
    RUN(totals_only);
    sp_recording_release(&recording);
    return check_result();
}
