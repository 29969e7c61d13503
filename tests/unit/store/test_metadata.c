/* Metadata of calls: merging JSON objects, finding the scopes that hold a call, and both together in
 * an assembly. */
#include "check.h"

#include "../call_model.h"
#include "log/pack.h"
#include "recording_store.h"
#include "store/assemble.h"
#include "store/assemble_scopes.h"
#include "store/json_object.h"

static void objects_are_told_from_other_texts(void)
{
    static const char *const good[] = {
        "{}", " { } ", "{\"a\": 1}", "{\"a\":[1, -2.5e+3, true, null, \"x\\u00e9\\n\"], \"b\":{}}",
        "{\"\xc3\xa9\": NaN}", "{\"a\": 0.5, \"a\": -Infinity}"};
    static const char *const bad[] = {
        "", "{", "[]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{\"a\":1} x", "{a:1}", "{\"a\":01}",
        "{\"a\":1.}", "{\"a\":\"\\x\"}", "{\"a\":\"\\u12g4\"}", "{\"a\":\"\n\"}", "{\"\xc3\": 1}",
        "{\"a\":tru}", "{\"a\" 1}", "{\"a\":-}", "{\"a\":1e}"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        CHECK(sp_json_is_object(good[i], strlen(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (!CHECK(!sp_json_is_object(bad[i], strlen(bad[i]))))
            fprintf(stderr, "accepted: %s\n", bad[i]);
    CHECK(!sp_json_is_object("{\"a\":1}\0", 8));
    char deep[3000] = "{\"a\":";
    memset(deep + 5, '[', 2000);
    CHECK(!sp_json_is_object(deep, strlen(deep)));
}

static void check_merge(const char *const *texts, size_t count, const char *expected)
{
    sp_json_span spans[8];
    for (size_t i = 0; i < count; i++) {
        CHECK(sp_json_is_object(texts[i], strlen(texts[i])));
        spans[i] = (sp_json_span){texts[i], strlen(texts[i])};
    }
    sp_text out = {0};
    sp_json_merge(&out, spans, count);
    CHECK_TEXT(out.bytes, expected);
    sp_text_release(&out);
}

static void later_objects_win(void)
{
    check_merge((const char *[]){"{\"a\":1,\"b\":[2,{\"a\":0}]}", " {\"c\" : {} , \"a\" : \"}\"}"}, 2,
                "{\"a\": \"}\", \"b\": [2,{\"a\":0}], \"c\": {}}");
    check_merge((const char *[]){"{}", "{}"}, 2, "{}");
    check_merge((const char *[]){"{\"\\u00e9\\/\\ud83d\\ude00\": 1}", "{\"\xc3\xa9/\xf0\x9f\x98\x80\": 2}"},
                2, "{\"\\u00e9\\/\\ud83d\\ude00\": 2}");
    check_merge((const char *[]){"{\"a\\n\": 1}", "{\"an\": 2}", "{\"a\": 3}"}, 3,
                "{\"a\\n\": 1, \"an\": 2, \"a\": 3}");
}

enum { SCOPES = 60 };

static bool holds(const sp_assemble_scope *scope, int64_t start, int64_t end, int64_t thread)
{
    return scope->start_ns <= start && end <= scope->end_ns &&
           (scope->thread == -1 || scope->thread == thread);
}

/* Outer before inner: earlier start, then longer, then earlier entry. */
static bool merges_before(const sp_assemble_scope *a, const sp_assemble_scope *b)
{
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns;
    return a->end_ns != b->end_ns ? a->end_ns > b->end_ns : a < b;
}

/* Scopes that hold the call, in merging order; returns how many. */
static size_t naive_find(const sp_assemble_scope *scopes, size_t count, int64_t start, int64_t end,
                         int64_t thread, const sp_assemble_scope **out)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        if (holds(&scopes[i], start, end, thread))
            out[found++] = &scopes[i];
    for (size_t i = 1; i < found; i++)
        for (size_t j = i; j > 0 && merges_before(out[j], out[j - 1]); j--) {
            const sp_assemble_scope *kept = out[j];
            out[j] = out[j - 1];
            out[j - 1] = kept;
        }
    return found;
}

static const char *const jsons[] = {"{\"a\": 1}", "{\"b\": 2, \"a\": 3}", "{\"c\": 4}", "{}",
                                    "{\"b\": 5}"};

static size_t random_scopes(model *m, sp_assemble_scope *scopes, int64_t base, uint64_t span)
{
    size_t count = (size_t)model_random(m, SCOPES);
    for (size_t i = 0; i < count; i++) {
        int64_t start = base + (int64_t)model_random(m, span);
        scopes[i] = (sp_assemble_scope){.start_ns = start,
                                        .end_ns = start + (int64_t)model_random(m, span / 2),
                                        .thread = (int64_t)model_random(m, 4) - 1,
                                        .json = jsons[model_random(m, 5)]};
    }
    return count;
}

static void scopes_agree_with_the_product(void)
{
    model m;
    model_begin(&m, 9, 0);
    for (int round = 0; round < 300; round++) {
        sp_assemble_scope given[SCOPES];
        const sp_assemble_scope *expected[SCOPES];
        size_t count = random_scopes(&m, given, 0, 60);
        sp_scopes scopes = {0};
        sp_scope_list found = {0};
        uint64_t bad = 0;
        CHECK(sp_scopes_build(&scopes, given, count, &bad));
        CHECK_INT(bad, 0);
        for (int call = 0; call < 50; call++) {
            int64_t start = (int64_t)model_random(&m, 90) - 5;
            int64_t end = start + (int64_t)model_random(&m, 20);
            int64_t thread = (int64_t)model_random(&m, 4) - 1;
            size_t n = naive_find(given, count, start, end, thread, expected);
            CHECK(sp_scopes_find(&scopes, start, end, thread, &found));
            if (CHECK_INT(found.count, n))
                for (size_t i = 0; i < n; i++)
                    CHECK(scopes.order[found.items[i]] == expected[i]);
        }
        sp_vector_release(&found);
        sp_scopes_release(&scopes);
    }
}

static void scopes_without_an_object_are_left_out(void)
{
    sp_assemble_scope given[] = {{0, 10, -1, "nonsense"}, {0, 10, -1, NULL}, {0, 10, -1, "{}"}};
    sp_scopes scopes = {0};
    sp_scope_list found = {0};
    uint64_t bad = 0;
    CHECK(sp_scopes_build(&scopes, given, 3, &bad));
    CHECK_INT(bad, 2);
    CHECK(sp_scopes_find(&scopes, 1, 2, 7, &found));
    CHECK_INT(found.count, 1);
    sp_vector_release(&found);
    sp_scopes_release(&scopes);
}

/* "{}" of thread 1 holds no call: it keeps the scopes of others away from that thread. */
static void scopes_of_tasks_and_of_threads_without(void)
{
    enum { TASK_0 = SP_SCOPE_FIRST_TASK, TASK_1 = SP_SCOPE_FIRST_TASK - 1 };
    const sp_assemble_scope given[] = {
        {10, 20, TASK_0, "{\"a\":1}"},
        {10, 20, SP_SCOPE_OTHER_THREADS, "{\"a\":1}"},
        {10, 9, 1, "{}"},
        {12, 18, 2, "{\"b\":1}"},
    };
    const struct { int64_t where; int position; } cases[] = {
        {TASK_0, 0}, {TASK_1, -1}, {0, 1}, {-1, 1}, {1, -1}, {2, 3},
    };
    sp_scopes scopes = {0};
    sp_scope_list found = {0};
    uint64_t bad = 0;
    CHECK(sp_scopes_build(&scopes, given, 4, &bad) && bad == 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CHECK(sp_scopes_find(&scopes, 13, 17, cases[i].where, &found));
        CHECK(found.count == (cases[i].position >= 0));
        if (found.count == 1)
            CHECK(scopes.order[found.items[0]] == &given[cases[i].position]);
    }
    sp_vector_release(&found);
    sp_scopes_release(&scopes);
}

/* ---- In an assembly -------------------------------------------------------------------------*/

static bool look_up(const void *context, uint32_t region, sp_assemble_region *out)
{
    static const char *const names[] = {"r0", "r1", "r2", "r3"};
    (void)context;
    *out = (sp_assemble_region){.name = names[region % 4]};
    return region < 4;
}

static void assemble_model(const model *m, const sp_assemble_scope *scopes, size_t num_scopes,
                           size_t budget, sp_store_writer *w)
{
    static const sp_assemble_lane lanes[MODEL_LANES] = {{0, -1, NULL}, {1, -1, NULL}, {2, -1, NULL}};
    size_t room = sp_pack_bound(m->words.count);
    uint8_t *bytes = malloc(room);
    sp_pack pack;
    sp_pack_begin(&pack, bytes, room, 0, 0, 0);
    CHECK(sp_pack_words(&pack, m->words.items, m->words.count));
    sp_assemble_block block = {.bytes = bytes, .size = sp_pack_end(&pack)};
    sp_assemble_output output = {&recording_store, w};
    sp_assembly assembly = {.memory_budget = budget, .blocks = &block, .num_blocks = 1,
                            .lanes = lanes, .num_lanes = MODEL_LANES, .ticks = model_ticks,
                            .region = look_up, .scopes = scopes, .num_scopes = num_scopes,
                            .outputs = &output, .num_outputs = 1};
    sp_assembly_result result = {0};
    CHECK_INT(sp_assemble(&assembly, &result, NULL), SP_OK);
    sp_assembly_result_release(&result);
    free(bytes);
}

static void scopes_by_hand(void)
{
    const uint64_t zero = UINT64_C(1) << 63;
    model m;
    model_begin(&m, 1, zero);
    model_open(&m, 0, 1); /* r1 [0, 40] */
    m.now = zero + 10;
    model_open(&m, 0, 2); /* r2 [10, 20], with metadata of its own */
    m.now = zero + 20;
    model_close(&m, 0, 1, 0);
    model_side(&m, 0, "{\"a\": 9, \"i\": 1}");
    m.now = zero + 25;
    model_open(&m, 0, 2); /* r2 [25, 35] */
    m.now = zero + 35;
    model_close(&m, 0, 1, 0);
    m.now = zero + 40;
    model_close(&m, 0, 0, 0);
    model_open(&m, 0, 3); /* r3 [40, 40] */
    model_close(&m, 0, 0, 0);
    const sp_assemble_scope scopes[] = {
        {5, 38, 0, "{\"a\": 1, \"b\": 2}"}, /* holds both r2; r1 began before */
        {24, 36, -1, "{\"b\": 3}"},         /* inner: holds the second */
        {0, 100, 1, "{\"other\": 0}"},      /* another thread */
    };
    sp_store_writer w = {0};
    assemble_model(&m, scopes, 3, 0, &w);
    CHECK_INT(w.rows.count, 3);
    CHECK(w.rows.items[0].event_metadata_json == NULL);
    CHECK_TEXT(w.rows.items[1].event_metadata_json,
               "[{\"a\": 9, \"b\": 2, \"i\": 1}, {\"a\": 1, \"b\": 3}]");
    CHECK(w.rows.items[2].event_metadata_json == NULL);
    recording_release(&w);
    model_release(&m);
}

/* What a row must hold, by looking at every scope for every call. */
static void naive_row(const sp_store_writer *w, const sp_row *row, const model *m,
                      const sp_assemble_scope *scopes, size_t num_scopes, sp_text *out)
{
    bool has_any = false;
    sp_text_add(out, "[");
    for (uint64_t i = row->offset; i < row->offset + row->count; i++) {
        int64_t start = w->values[SP_COLUMN_START][i];
        int64_t end = start + w->values[SP_COLUMN_DURATION][i];
        int64_t thread = w->values[SP_COLUMN_THREAD_ID][i];
        const sp_assemble_scope *held_by[SCOPES];
        size_t n = naive_find(scopes, num_scopes, start, end, thread, held_by);
        sp_json_span spans[SCOPES + 1];
        for (size_t s = 0; s < n; s++)
            spans[s] = (sp_json_span){held_by[s]->json, strlen(held_by[s]->json)};
        /* Ids are in order of (lane, number): find the call of the model with that rank. */
        for (size_t c = 0; c < m->calls.count; c++) {
            int64_t rank = 0;
            const model_call *call = &m->calls.items[c];
            for (size_t o = 0; o < m->calls.count; o++) {
                const model_call *other = &m->calls.items[o];
                rank += other->lane < call->lane ||
                        (other->lane == call->lane && other->number < call->number);
            }
            if (rank == w->values[SP_COLUMN_CALL_ID][i] && call->metadata[0] != '\0')
                spans[n++] = (sp_json_span){call->metadata, strlen(call->metadata)};
        }
        has_any = has_any || n > 0;
        if (i > row->offset)
            sp_text_add(out, ", ");
        sp_json_merge(out, spans, n);
    }
    sp_text_add(out, "]");
    if (!has_any)
        out->length = 0;
}

static void random_programs_agree(void)
{
    static const size_t budgets[] = {0, 6000, 1};
    const model_habits habits = {.open = 45, .close = 43, .crossing = 2, .switch_lane = 8,
                                 .metadata = 20, .regions = 4, .depth = 8, .time_step = 6};
    for (uint64_t seed = 1; seed <= 12; seed++) {
        model m;
        model_begin(&m, seed, UINT64_C(1) << 63);
        model_run(&m, 500, &habits);
        sp_assemble_scope scopes[SCOPES];
        size_t count = random_scopes(&m, scopes, 0, 1500);
        for (size_t b = 0; b < sizeof budgets / sizeof *budgets; b++) {
            sp_store_writer w = {0};
            assemble_model(&m, scopes, count, budgets[b], &w);
            for (size_t r = 0; r < w.rows.count; r++) {
                sp_text expected = {0};
                naive_row(&w, &w.rows.items[r], &m, scopes, count, &expected);
                if (expected.length > 0)
                    CHECK_TEXT(w.rows.items[r].event_metadata_json, expected.bytes);
                else
                    CHECK(w.rows.items[r].event_metadata_json == NULL);
                sp_text_release(&expected);
            }
            recording_release(&w);
        }
        model_release(&m);
    }
}

int main(void)
{
    RUN(objects_are_told_from_other_texts);
    RUN(later_objects_win);
    RUN(scopes_agree_with_the_product);
    RUN(scopes_without_an_object_are_left_out);
    RUN(scopes_of_tasks_and_of_threads_without);
    RUN(scopes_by_hand);
    RUN(random_programs_agree);
    return check_result();
}
