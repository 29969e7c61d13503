/* From the words of a ring to what a store is given: by hand, and random programs against a naive
 * reckoning, at several memory budgets. */
#include "check.h"

#include "../call_model.h"
#include "log/pack.h"
#include "recording_store.h"
#include "store/assemble.h"

enum { RINGS = 2, ID_BASE = 500 };

static const char *const names[] = {"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7"};

static bool look_up(const void *context, uint32_t region, sp_assemble_region *out)
{
    (void)context;
    if (region >= 8)
        return false;
    *out = (sp_assemble_region){.name = names[region], .source_line = -1};
    return true;
}

/* The blocks of a publication: the records of lanes 0 and 2 in ring 0, of lane 1 in ring 1, cut at
 * random places. */
typedef struct rings {
    SP_VECTOR(uint64_t) words[RINGS];
    SP_VECTOR(size_t) records[RINGS];
    SP_VECTOR(sp_assemble_block) blocks;
} rings;

static void split(rings *r, const model *m, uint32_t first_lane)
{
    uint32_t lane = first_lane, lane_of_ring[RINGS] = {UINT32_MAX, UINT32_MAX};
    for (size_t i = 0; i < m->records.count; i++) {
        size_t at = m->records.items[i];
        size_t count = sp_record_words(m->words.items[at]);
        if (sp_record_kind_of(m->words.items[at]) == SP_RECORD_LANE) {
            lane = sp_record_region(m->words.items[at]);
            continue;
        }
        uint32_t ring = lane % RINGS;
        if (lane_of_ring[ring] != lane) {
            MODEL_PUSH(r->records[ring], r->words[ring].count);
            MODEL_PUSH(r->words[ring], sp_record_first(SP_RECORD_LANE, lane, 0));
            lane_of_ring[ring] = lane;
        }
        MODEL_PUSH(r->records[ring], r->words[ring].count);
        for (size_t w = 0; w < count; w++)
            MODEL_PUSH(r->words[ring], m->words.items[at + w]);
    }
}

static void pack_rings(rings *r, model *m)
{
    for (uint32_t ring = 0; ring < RINGS; ring++) {
        uint32_t lane = 0;
        for (size_t from = 0; from < r->records[ring].count;) {
            size_t to = from + 1 + (size_t)model_random(m, 200);
            const uint64_t *words = r->words[ring].items;
            size_t count = r->records[ring].count;
            to = to > count ? count : to;
            /* A side record stays with its call. */
            while (to < count &&
                   sp_record_kind_of(words[r->records[ring].items[to]]) == SP_RECORD_SIDE)
                to++;
            size_t begin = r->records[ring].items[from];
            size_t end = to < count ? r->records[ring].items[to] : r->words[ring].count;
            size_t room = sp_pack_bound(end - begin);
            sp_assemble_block block = {.bytes = malloc(room)};
            sp_pack pack;
            sp_pack_begin(&pack, (void *)(uintptr_t)block.bytes, room, ring, lane, 0);
            CHECK(sp_pack_words(&pack, words + begin, end - begin));
            block.size = sp_pack_end(&pack);
            lane = pack.lane;
            MODEL_PUSH(r->blocks, block);
            from = to;
        }
    }
}

static void release_rings(rings *r)
{
    for (size_t i = 0; i < r->blocks.count; i++)
        free((void *)(uintptr_t)r->blocks.items[i].bytes);
    for (int i = 0; i < RINGS; i++) {
        sp_vector_release(&r->words[i]);
        sp_vector_release(&r->records[i]);
    }
    sp_vector_release(&r->blocks);
}

/* ---- The naive reckoning ---------------------------------------------------------------------*/

typedef struct naive_call {
    model_call call;
    int64_t id, start, duration;
} naive_call;

static int by_lane_and_number(const void *left, const void *right)
{
    const naive_call *a = left, *b = right;
    if (a->call.lane != b->call.lane)
        return a->call.lane < b->call.lane ? -1 : 1;
    return a->call.number < b->call.number ? -1 : 1;
}

static int by_start_and_id(const void *left, const void *right)
{
    const naive_call *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return a->id < b->id ? -1 : 1;
}

/* The calls of a model with their ids, in order of those. */
static naive_call *naive_calls(const model *m, int64_t id_base)
{
    naive_call *calls = malloc((m->calls.count + 1) * sizeof *calls);
    for (size_t i = 0; i < m->calls.count; i++) {
        calls[i].call = m->calls.items[i];
        calls[i].start = model_ns(m->calls.items[i].start);
        calls[i].duration = model_ns(m->calls.items[i].end) - calls[i].start;
    }
    qsort(calls, m->calls.count, sizeof *calls, by_lane_and_number);
    for (size_t i = 0; i < m->calls.count; i++)
        calls[i].id = id_base + (int64_t)i;
    return calls;
}

static int64_t naive_parent(const naive_call *calls, size_t count, const model_call *child)
{
    for (size_t i = 0; i < count && child->parent != SP_RECORD_NO_PARENT; i++)
        if (calls[i].call.lane == child->lane && calls[i].call.number == child->parent)
            return calls[i].id;
    return -1;
}

typedef struct naive_row {
    const naive_call *calls[4096];
    size_t count;
} naive_row;

static int by_first_call(const void *left, const void *right)
{
    const naive_row *a = left, *b = right;
    if (a->count == 0 || b->count == 0)
        return (a->count == 0) - (b->count == 0);
    return by_start_and_id(a->calls[0], b->calls[0]);
}

static void check_statistics(const sp_row *row, const naive_row *naive)
{
    const sp_row_statistics *s = &row->statistics;
    int64_t total = 0, exclusive = 0, end_maximum = INT64_MIN;
    int64_t minimum = INT64_MAX, maximum = INT64_MIN;
    bool knows_exclusive = true;
    for (size_t i = 0; i < naive->count; i++) {
        const naive_call *c = naive->calls[i];
        total += c->duration;
        exclusive += c->call.exclusive;
        knows_exclusive = knows_exclusive && c->call.exclusive >= 0;
        minimum = c->duration < minimum ? c->duration : minimum;
        maximum = c->duration > maximum ? c->duration : maximum;
        end_maximum =
            c->start + c->duration > end_maximum ? c->start + c->duration : end_maximum;
    }
    double mean = (double)total / (double)naive->count, m2 = 0;
    for (size_t i = 0; i < naive->count; i++)
        m2 += ((double)naive->calls[i]->duration - mean) *
              ((double)naive->calls[i]->duration - mean);
    CHECK(row->has_statistics);
    CHECK_INT(s->total, total);
    CHECK_INT(s->minimum, minimum);
    CHECK_INT(s->maximum, maximum);
    CHECK_INT(s->first, naive->calls[0]->duration);
    CHECK_INT(s->last, naive->calls[naive->count - 1]->duration);
    CHECK_INT(s->start_minimum, naive->calls[0]->start);
    CHECK_INT(s->end_maximum, end_maximum);
    CHECK_REAL(s->mean, mean, 1e-12 * (mean + 1));
    CHECK_REAL(s->m2, m2, 1e-9 * (m2 + 1));
    if (knows_exclusive)
        CHECK_INT(row->exclusive_total, exclusive);
}

static void check_metadata(const sp_row *row, const naive_row *naive)
{
    char expected[4096 * 16] = "[";
    bool has_any = false;
    for (size_t i = 0; i < naive->count; i++) {
        const char *text = naive->calls[i]->call.metadata;
        has_any = has_any || text[0] != '\0';
        if (i > 0)
            strcat(expected, ", ");
        strcat(expected, text[0] != '\0' ? text : "{}");
    }
    strcat(expected, "]");
    if (has_any)
        CHECK_TEXT(row->event_metadata_json, expected);
    else
        CHECK(row->event_metadata_json == NULL);
}

static void check_rows(const sp_store_writer *w, const naive_call *calls, size_t count,
                       const int64_t *threads)
{
    static naive_row rows[8];
    for (int i = 0; i < 8; i++)
        rows[i].count = 0;
    naive_call *sorted = malloc((count + 1) * sizeof *sorted);
    memcpy(sorted, calls, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_start_and_id);
    for (size_t i = 0; i < count; i++) {
        naive_row *row = &rows[sorted[i].call.region];
        row->calls[row->count++] = &sorted[i];
    }
    qsort(rows, 8, sizeof *rows, by_first_call);
    size_t num_rows = 0, at = 0;
    for (; num_rows < 8 && rows[num_rows].count > 0; num_rows++) {
    }
    if (!CHECK_INT(w->rows.count, num_rows) || !CHECK_INT(w->count, count))
        num_rows = 0;
    for (size_t r = 0; r < num_rows; r++) {
        const sp_row *row = &w->rows.items[r];
        CHECK_TEXT(row->region, names[rows[r].calls[0]->call.region]);
        CHECK_INT(row->count, rows[r].count);
        CHECK_INT(row->offset, at);
        check_statistics(row, &rows[r]);
        check_metadata(row, &rows[r]);
        for (size_t i = 0; i < rows[r].count; i++, at++) {
            const naive_call *c = rows[r].calls[i];
            CHECK_INT(w->values[SP_COLUMN_START][at], c->start);
            CHECK_INT(w->values[SP_COLUMN_DURATION][at], c->duration);
            CHECK_INT(w->values[SP_COLUMN_CALL_ID][at], c->id);
            CHECK_INT(w->values[SP_COLUMN_PARENT_ID][at], naive_parent(calls, count, &c->call));
            if (w->values[SP_COLUMN_THREAD_ID] != NULL)
                CHECK_INT(w->values[SP_COLUMN_THREAD_ID][at], threads[c->call.lane]);
        }
    }
    free(sorted);
}

static void check_flags(const sp_store_writer *w, const naive_call *calls, size_t count)
{
    const sp_extra *ids = recording_find(w, "call_flag_ids");
    const sp_extra *flags = recording_find(w, "call_flags");
    size_t flagged = 0;
    for (size_t i = 0; i < count; i++)
        flagged += calls[i].call.flags != 0;
    CHECK((ids != NULL) == (flagged > 0) && (flags != NULL) == (flagged > 0));
    if (ids == NULL || flags == NULL || !CHECK_INT(ids->length, flagged))
        return;
    for (size_t i = 0; i < flagged; i++) {
        size_t at = (size_t)(ids->integers[i] - calls[0].id);
        if (CHECK(at < count))
            CHECK_INT(flags->integers[i], calls[at].call.flags);
    }
}

/* ---- Random programs ------------------------------------------------------------------------*/

static const int64_t lane_threads[MODEL_LANES] = {0, 1, 0};

typedef struct run {
    model m;
    sp_assemble_lane lanes[MODEL_LANES];
    sp_resolver *states;
    SP_VECTOR(sp_assemble_open_call) open;
} run;

static void list_open_calls(run *r)
{
    r->open.count = 0;
    for (uint32_t lane = 0; lane < MODEL_LANES; lane++) {
        const model_lane *l = &r->m.lanes[lane];
        for (size_t i = 0; i < l->stack.count; i++) {
            const model_frame *f = &l->stack.items[i];
            sp_assemble_open_call open = {
                .lane = lane, .region = f->region, .depth = f->depth, .flags = f->flags,
                .number = f->number, .parent = f->parent, .start_tick = f->start,
                .outer_from_tick = f->outer_from};
            MODEL_PUSH(r->open, open);
        }
    }
}

static sp_assembly assembly_of(const run *r, const rings *blocks, size_t budget)
{
    return (sp_assembly){.id_base = ID_BASE, .memory_budget = budget,
                         .blocks = blocks->blocks.items, .num_blocks = blocks->blocks.count,
                         .lanes = r->lanes, .num_lanes = MODEL_LANES,
                         .open_calls = r->open.items, .num_open_calls = r->open.count,
                         .ticks = model_ticks, .region = look_up};
}

/* Publishes what the model recorded at several budgets and compares each time. */
static void publish(run *r, uint32_t first_lane, bool is_last)
{
    static const size_t budgets[] = {0, 40000, 12000, 1};
    rings blocks = {0};
    split(&blocks, &r->m, first_lane);
    pack_rings(&blocks, &r->m);
    list_open_calls(r);
    uint64_t now = r->m.now;
    if (is_last) /* the model ends them itself, innermost first, and flags them */
        for (uint32_t lane = MODEL_LANES; lane-- > 0;)
            while (r->m.lanes[lane].stack.count > 0)
                model_close(&r->m, lane, r->m.lanes[lane].stack.count - 1, SP_CALL_OPEN);
    naive_call *naive = naive_calls(&r->m, ID_BASE);
    sp_assembly_result result = {0};
    for (size_t b = 0; b < sizeof budgets / sizeof *budgets; b++) {
        sp_store_writer writer = {0};
        sp_assemble_output output = {&recording_store, &writer};
        sp_assembly assembly = assembly_of(r, &blocks, budgets[b]);
        assembly.with_open_calls = is_last;
        assembly.now_tick = now;
        assembly.outputs = &output;
        assembly.num_outputs = 1;
        sp_error error = {0};
        sp_assembly_result_release(&result);
        if (CHECK_INT(sp_assemble(&assembly, &result, &error), SP_OK)) {
            check_rows(&writer, naive, r->m.calls.count, lane_threads);
            check_flags(&writer, naive, r->m.calls.count);
            CHECK_INT(result.num_calls, r->m.calls.count);
            CHECK_INT(result.next_id, ID_BASE + (int64_t)r->m.calls.count);
        } else {
            fprintf(stderr, "%s\n", error.text);
        }
        CHECK(budgets[b] != 1 || writer.largest_piece <= 64);
        recording_release(&writer);
    }
    for (int i = 0; r->states != NULL && i < MODEL_LANES; i++)
        sp_resolver_release(&r->states[i]);
    free(r->states);
    r->states = result.states;
    free(result.rows);
    for (int i = 0; i < MODEL_LANES; i++)
        r->lanes[i].state = &r->states[i];
    free(naive);
    release_rings(&blocks);
    model_forget(&r->m);
}

static void random_runs(const model_habits *habits, uint64_t seeds, size_t steps)
{
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        run r = {.states = NULL};
        model_begin(&r.m, seed, UINT64_C(1) << 63);
        for (int i = 0; i < MODEL_LANES; i++)
            r.lanes[i] = (sp_assemble_lane){.thread = lane_threads[i], .task = -1};
        for (int part = 0; part < 3; part++) {
            uint32_t lane = r.m.lane;
            model_run(&r.m, steps, habits);
            publish(&r, lane, part == 2);
        }
        for (int i = 0; i < MODEL_LANES; i++)
            sp_resolver_release(&r.states[i]);
        free(r.states);
        sp_vector_release(&r.open);
        model_release(&r.m);
    }
}

static void regular_programs_agree(void)
{
    const model_habits regular = {.open = 50, .close = 46, .switch_lane = 6, .metadata = 0,
                                  .regions = 8, .depth = 30, .time_step = 40};
    random_runs(&regular, 12, 1500);
}

static void irregular_programs_agree(void)
{
    const model_habits irregular = {.open = 45, .close = 40, .crossing = 6, .resumption = 4,
                                    .append = 3, .switch_lane = 6, .drain = 1, .metadata = 15,
                                    .regions = 5, .depth = 15, .time_step = 40};
    random_runs(&irregular, 20, 900);
}

static void one_huge_row_agrees(void)
{
    const model_habits recursive = {.open = 50, .close = 50, .switch_lane = 3, .metadata = 5,
                                    .regions = 1, .depth = 60, .time_step = 9};
    random_runs(&recursive, 6, 3000);
}

static void lossy_programs_agree(void)
{
    const model_habits lossy = {.open = 45, .close = 45, .crossing = 2, .lose = 2,
                                .switch_lane = 5, .regions = 4, .depth = 10, .time_step = 50};
    random_runs(&lossy, 10, 800);
}

/* ---- By hand --------------------------------------------------------------------------------*/

/* One block of one lane from words. */
static int assemble_words(const uint64_t *words, size_t count, sp_assembly *assembly,
                          sp_store_writer *writer, sp_assembly_result *result, sp_error *error)
{
    static uint8_t buffer[1 << 14];
    static const sp_assemble_lane lane = {.thread = 4, .task = -1};
    sp_pack pack;
    sp_pack_begin(&pack, buffer, sizeof buffer, 0, 0, 0);
    CHECK(sp_pack_words(&pack, words, count));
    sp_assemble_block block = {.bytes = buffer, .size = sp_pack_end(&pack)};
    sp_assemble_output output = {&recording_store, writer};
    assembly->blocks = &block;
    assembly->num_blocks = 1;
    assembly->lanes = &lane;
    assembly->num_lanes = 1;
    assembly->ticks = model_ticks;
    assembly->region = look_up;
    assembly->outputs = &output;
    assembly->num_outputs = 1;
    return sp_assemble(assembly, result, error);
}

static const uint64_t zero = UINT64_C(1) << 63; /* model ns 0 */

static void a_small_nest_by_hand(void)
{
    /* r1 [0,100] { r2 [10,30] { "a": 1 }, r2 [40,45] }, then r1 [200,201]. */
    uint64_t words[32] = {sp_record_first(SP_RECORD_CALL, 2, 1), zero + 10, zero + 30};
    size_t n = 3;
    words[n++] = sp_record_first(SP_RECORD_SIDE, 8, SP_SIDE_METADATA);
    memcpy(&words[n++], "{\"a\": 1}", 8);
    const uint64_t more[] = {sp_record_first(SP_RECORD_CALL, 2, 1), zero + 40,  zero + 45,
                             sp_record_first(SP_RECORD_CALL, 1, 0), zero,       zero + 100,
                             sp_record_first(SP_RECORD_CALL, 1, 0), zero + 200, zero + 201};
    memcpy(words + n, more, sizeof more);
    sp_store_writer w = {0};
    sp_assembly assembly = {.rank = 3};
    sp_assembly_result result = {0};
    CHECK_INT(assemble_words(words, n + 9, &assembly, &w, &result, NULL), SP_OK);
    CHECK_INT(w.columns, 1 | 2 | 4 | 8);
    CHECK_INT(w.count, 4);
    const int64_t expected[4][4] = {
        {0, 200, 10, 40}, {100, 1, 20, 5}, {0, 3, 1, 2}, {-1, -1, 0, 0}};
    for (int c = 0; c < 4; c++)
        CHECK(memcmp(w.values[c], expected[c], sizeof expected[c]) == 0);
    CHECK_INT(w.rows.count, 2);
    const sp_row *r1 = &w.rows.items[0], *r2 = &w.rows.items[1];
    CHECK_TEXT(r1->region, "r1");
    CHECK_INT(r1->rank, 3);
    CHECK_INT(r1->exclusive_total, 76);
    CHECK_INT(r1->statistics.first, 100);
    CHECK_INT(r1->statistics.last, 1);
    CHECK_REAL(r1->statistics.mean, 50.5, 0);
    CHECK_REAL(r1->statistics.m2, 2 * 49.5 * 49.5, 0);
    CHECK(r1->event_metadata_json == NULL);
    CHECK_TEXT(r2->event_metadata_json, "[{\"a\": 1}, {}]");
    CHECK_INT(r2->statistics.end_maximum, 45);
    CHECK_INT(result.states[0].ended, 4);
    CHECK(!result.several_threads);
    sp_assembly_result_release(&result);
    recording_release(&w);
}

static void extras_by_hand(void)
{
    uint64_t words[] = {
        sp_record_first(SP_RECORD_LOST, 0, 0), 5,
        sp_record_first(SP_RECORD_DRAIN, 0, 0), zero + 1, zero + 9,
        sp_record_first(SP_RECORD_CALL_MARKED, 1, 0), zero, zero + 9, SP_CALL_RESUMPTION, 5,
        SP_RECORD_NO_PARENT, 0, 0, zero, zero + 9,
        sp_record_first(SP_RECORD_CALL, 1, 0), zero + 20, zero + 15,
        sp_record_first(SP_RECORD_SIDE, 2, SP_SIDE_METADATA), 0};
    const sp_assemble_open_call open = {.region = 2, .number = 7, .parent = SP_RECORD_NO_PARENT,
                                        .start_tick = zero + 30, .outer_from_tick = zero + 30};
    const sp_assemble_loss losses[] = {{"signal_reentry", 2}, {"nothing", 0}};
    const int64_t jump = 77;
    const sp_extra own = {.name = "clock_jumps", .length = 1, .integers = &jump};
    sp_store_writer w = {0};
    sp_assembly assembly = {.track_threads = true, .open_calls = &open, .num_open_calls = 1,
                            .losses = losses, .num_losses = 2, .extras = &own, .num_extras = 1};
    sp_assembly_result result = {0};
    CHECK_INT(assemble_words(words, sizeof words / 8, &assembly, &w, &result, NULL), SP_OK);
    CHECK_INT(w.columns, 1 | 2 | 4 | 8 | 16);
    CHECK_INT(w.values[SP_COLUMN_THREAD_ID][0], 4);
    CHECK_INT(result.num_lost, 5);
    CHECK_INT(result.num_clamped, 1);
    CHECK_INT(w.values[SP_COLUMN_DURATION][1], 0);
    CHECK_INT(recording_find(&w, "call_flags")->integers[0], SP_CALL_RESUMPTION);
    CHECK_INT(recording_find(&w, "calls_started")->integers[0], 1);
    CHECK_INT(recording_find(&w, "drain_threads")->integers[0], 4);
    CHECK_INT(recording_find(&w, "drain_counts")->integers[0], 1);
    CHECK_INT(recording_find(&w, "drain_ns")->integers[0], 8);
    CHECK_INT(recording_find(&w, "clock_jumps")->integers[0], 77);
    const sp_extra *kinds = recording_find(&w, "loss_kinds");
    const sp_extra *counts = recording_find(&w, "loss_counts");
    const char *const expected[] = {"records_lost", "ends_clamped", "metadata_invalid",
                                    "open_calls_left_out", "signal_reentry"};
    const int64_t numbers[] = {5, 1, 1, 1, 2};
    CHECK_INT(kinds->length, 5);
    for (int i = 0; i < 5; i++) {
        CHECK_TEXT(kinds->texts[i], expected[i]);
        CHECK_INT(counts->integers[i], numbers[i]);
    }
    sp_assembly_result_release(&result);
    recording_release(&w);
}

static void extreme_times_by_hand(void)
{
    /* The whole range of 64 bits, twice, and one call that lasts nothing. */
    uint64_t words[] = {sp_record_first(SP_RECORD_CALL, 1, 0), 0, UINT64_MAX,
                        sp_record_first(SP_RECORD_CALL, 1, 0), 0, UINT64_MAX,
                        sp_record_first(SP_RECORD_CALL, 1, 0), UINT64_MAX, UINT64_MAX};
    sp_store_writer w = {0};
    sp_assembly assembly = {0};
    sp_assembly_result result = {0};
    CHECK_INT(assemble_words(words, 9, &assembly, &w, &result, NULL), SP_OK);
    CHECK_INT(w.values[SP_COLUMN_START][0], INT64_MIN);
    CHECK_INT(w.values[SP_COLUMN_DURATION][0], INT64_MAX);
    CHECK_INT(w.values[SP_COLUMN_START][2], INT64_MAX);
    CHECK_INT(w.rows.items[0].statistics.total, INT64_MAX); /* saturated */
    CHECK_REAL(w.rows.items[0].statistics.mean / 0x1p63, 2.0 / 3, 1e-15);
    CHECK_REAL(w.rows.items[0].statistics.m2 / 0x1p126, 2.0 / 3, 1e-15);
    sp_assembly_result_release(&result);
    recording_release(&w);
}

static void a_parent_far_away_by_hand(void)
{
    /* r2, begun 2^33 calls after its parent r1. */
    const uint64_t far = UINT64_C(1) << 33;
    uint64_t words[] = {sp_record_first(SP_RECORD_CALL_MARKED, 2, 0), zero + 5, zero + 6, 0, far,
                        0, 1, 1, zero + 5, zero + 6,
                        sp_record_first(SP_RECORD_CALL_MARKED, 1, 0), zero, zero + 9, 0, 0,
                        SP_RECORD_NO_PARENT, 0, 0, zero, zero + 9};
    sp_store_writer w = {0};
    sp_assembly_result result = {0};
    CHECK_INT(assemble_words(words, 20, &(sp_assembly){0}, &w, &result, NULL), SP_OK);
    const int64_t ids[] = {0, 1}, parents[] = {-1, 0};
    CHECK(memcmp(w.values[SP_COLUMN_CALL_ID], ids, sizeof ids) == 0);
    CHECK(memcmp(w.values[SP_COLUMN_PARENT_ID], parents, sizeof parents) == 0);
    CHECK_INT(w.rows.items[0].exclusive_total, 8);
    sp_assembly_result_release(&result);
    recording_release(&w);
}

static void nothing_recorded(void)
{
    sp_store_writer w = {0};
    sp_assembly assembly = {.id_base = 9};
    sp_assembly_result result = {0};
    CHECK_INT(assemble_words(NULL, 0, &assembly, &w, &result, NULL), SP_OK);
    CHECK_INT(w.columns, 0);
    CHECK_INT(w.rows.count, 0);
    CHECK_INT(result.next_id, 9);
    CHECK_INT(w.extras.count, 0);
    sp_assembly_result_release(&result);
}

static void trouble_is_named(void)
{
    uint64_t unknown[] = {sp_record_first(SP_RECORD_CALL, 99, 0), 1, 2};
    uint64_t lane[] = {sp_record_first(SP_RECORD_LANE, 6, 0), sp_record_first(0, 1, 0), 1, 2};
    uint64_t twice[2 * SP_RECORD_MARKED_WORDS] = {
        sp_record_first(SP_RECORD_CALL_MARKED, 1, 0), 1, 2, 1, 8, SP_RECORD_NO_PARENT};
    memcpy(twice + SP_RECORD_MARKED_WORDS, twice, SP_RECORD_MARKED_WORDS * 8);
    uint64_t orphan[] = {sp_record_first(SP_RECORD_SIDE, 2, SP_SIDE_METADATA), 0};
    sp_store_writer w = {0};
    sp_assembly_result result = {0};
    sp_error e;
    CHECK_INT(assemble_words(unknown, 3, &(sp_assembly){0}, &w, &result, &e), SP_ERR_DAMAGED);
    CHECK_CONTAINS(e.text, "region 99");
    CHECK_INT(assemble_words(lane, 4, &(sp_assembly){0}, &w, &result, &e), SP_ERR_DAMAGED);
    CHECK_CONTAINS(e.text, "lane 6");
    CHECK_INT(assemble_words(twice, 20, &(sp_assembly){0}, &w, &result, &e), SP_ERR_DAMAGED);
    CHECK_CONTAINS(e.text, "same number");
    CHECK_INT(assemble_words(orphan, 2, &(sp_assembly){0}, &w, &result, &e), SP_ERR_DAMAGED);
    CHECK_CONTAINS(e.text, "side record");
    const sp_assemble_open_call open = {.lane = 3};
    CHECK_INT(assemble_words(NULL, 0, &(sp_assembly){.open_calls = &open, .num_open_calls = 1},
                             &w, &result, &e),
              SP_ERR_INVALID_ARGUMENT);
    CHECK(result.states == NULL);
    recording_release(&w);
}

static void a_failing_writer_ends_it(void)
{
    uint64_t words[] = {sp_record_first(SP_RECORD_CALL_MARKED, 1, 0), 1, 2, 1, 0,
                        SP_RECORD_NO_PARENT, 0, 0, 1, 2};
    for (int step = 1; step <= 5; step++) {
        sp_store_writer w = {.fail_at = step};
        sp_assembly_result result = {0};
        sp_error e;
        CHECK_INT(assemble_words(words, 10, &(sp_assembly){0}, &w, &result, &e), SP_ERR_IO);
        CHECK_TEXT(e.text, "the recording store fails");
        CHECK(result.states == NULL);
        recording_release(&w);
    }
}

static void totals_rows_are_handed_on(void)
{
    const sp_row row = {.region = "r1", .rank = 2, .has_aggregate = true,
                        .aggregate = {.count = 3, .total = 60, .exclusive = -1}};
    const sp_assemble_loss loss = {"calls_lost", 4};
    sp_store_writer w = {0};
    sp_assemble_output output = {&recording_store, &w};
    sp_assembly_totals totals = {.rank = 2, .rows = &row, .num_rows = 1, .losses = &loss,
                                 .num_losses = 1, .outputs = &output, .num_outputs = 1};
    CHECK_INT(sp_assemble_totals(&totals, NULL), SP_OK);
    CHECK_INT(w.rows.items[0].aggregate.count, 3);
    CHECK_INT(w.columns, 0);
    CHECK_INT(recording_find(&w, "loss_counts")->integers[0], 4);
    recording_release(&w);
}

int main(void)
{
    RUN(a_small_nest_by_hand);
    RUN(extras_by_hand);
    RUN(extreme_times_by_hand);
    RUN(a_parent_far_away_by_hand);
    RUN(nothing_recorded);
    RUN(trouble_is_named);
    RUN(a_failing_writer_ends_it);
    RUN(totals_rows_are_handed_on);
    RUN(regular_programs_agree);
    RUN(irregular_programs_agree);
    RUN(one_huge_row_agrees);
    RUN(lossy_programs_agree);
    return check_result();
}
