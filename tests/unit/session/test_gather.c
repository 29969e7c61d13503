/* Ranks that publish into one profile. They are threads here, each with a profiler of its own. */
#include "session_case.h"
#include "test_network.h"

#include "clock/clock.h"

enum { MS_NS = 1000000 };

typedef struct rank_case {
    network_link link;
    sp_profiler *profiler;
    sp_binding_publication what;
    sp_binding_report report;
    sp_error error;
    int status;
} rank_case;

static rank_case ranks[NETWORK_RANKS];
static uint32_t num_ranks;

static int32_t region(sp_profiler *profiler, const char *name)
{
    int32_t id = sp_binding_intern(name, strlen(name), NULL);
    sp_binding_region_spec spec = {.size = sizeof spec, .enabled = true};
    CHECK_INT(sp_binding_set_region(profiler, id, &spec, NULL), SP_OK);
    return id;
}

static void start_with(uint32_t count, sp_binding_settings settings)
{
    num_ranks = count;
    memset(ranks, 0, sizeof ranks);
    for (uint32_t r = 0; r < count; r++) {
        settings.size = sizeof settings;
        settings.rank = r;
        ranks[r].link = network_join(r, count);
        ranks[r].profiler = sp_binding_create();
        CHECK_INT(sp_binding_configure(ranks[r].profiler, &settings, NULL), SP_OK);
    }
}

static void start(uint32_t count)
{
    start_with(count, (sp_binding_settings){0});
}

/* `count` calls of 3 ns on a rank, one every 10 ns from `from` on. */
static void record(uint32_t rank, const char *name, int64_t from, int count)
{
    int32_t id = region(ranks[rank].profiler, name);
    for (int i = 0; i < count; i++)
        CHECK_INT(sp_binding_append(ranks[rank].profiler, id, from + 10 * i, from + 10 * i + 3),
                  SP_OK);
}

static void *publish_rank(void *argument)
{
    rank_case *rank = argument;
    rank->link.communicator.context = &rank->link;
    rank->what.size = sizeof rank->what;
    rank->what.communicator = &rank->link.communicator;
    rank->error.text[0] = '\0';
    rank->status = sp_binding_publish(rank->profiler, &rank->what, &rank->report, &rank->error);
    return NULL;
}

/* All ranks whose bit is set, at once. */
static void publish(unsigned which, int64_t timeout_ns)
{
    pthread_t threads[NETWORK_RANKS];
    for (uint32_t r = 0; r < num_ranks; r++) {
        ranks[r].what.timeout_ns = timeout_ns;
        if (which & 1u << r)
            CHECK_INT(pthread_create(&threads[r], NULL, publish_rank, &ranks[r]), 0);
    }
    for (uint32_t r = 0; r < num_ranks; r++)
        if (which & 1u << r)
            pthread_join(threads[r], NULL);
}

static unsigned all(void)
{
    return (1u << num_ranks) - 1;
}

static void check_all_went_well(void)
{
    for (uint32_t r = 0; r < num_ranks; r++) {
        CHECK_INT(ranks[r].status, SP_OK);
        CHECK_TEXT(ranks[r].error.text, "");
        CHECK_INT(ranks[r].report.is_root, r == 0);
    }
}

static void stop(void)
{
    for (uint32_t r = 0; r < num_ranks; r++)
        sp_binding_destroy(ranks[r].profiler);
    network_clear();
}

/* Row of a region on a rank. */
static const sp_row *row_of(const case_run *run, uint32_t rank, const char *name, size_t *out_index)
{
    for (size_t i = 0; run->description != NULL && i < run->description->num_rows; i++)
        if (run->description->rows[i].rank == rank &&
            strcmp(run->description->rows[i].region, name) == 0) {
            *out_index = i;
            return &run->description->rows[i];
        }
    return NULL;
}

static int64_t calls_of(const case_run *run, uint32_t rank, const char *name)
{
    size_t index;
    const sp_row *row = row_of(run, rank, name, &index);
    return row == NULL ? -1 : (int64_t)row->count;
}

static int64_t start_of(const case_run *run, uint32_t rank, const char *name, uint64_t call)
{
    size_t index;
    int64_t start = INT64_MIN;
    if (row_of(run, rank, name, &index) != NULL)
        run->table->read_calls(run->reader, index, SP_COLUMN_START, call, 1, &start, NULL);
    return start;
}

static case_run open_image(void)
{
    return case_open(NULL, &ranks[0].report);
}

static void several_ranks_one_profile(void)
{
    start(4);
    record(0, "step", 1000, 2);
    record(1, "step", 2000, 3);
    record(1, "only on rank 1", 500, 1);
    record(3, "step", 4000, 100000); /* several pieces; rank 2 records nothing */
    publish(all(), 0);
    check_all_went_well();
    CHECK_INT(ranks[3].report.calls_written, 100000);
    CHECK(ranks[3].report.image == NULL);
    case_run run = open_image();
    CHECK_INT(run.description->num_calls, 100006);
    CHECK_INT(calls_of(&run, 0, "step"), 2);
    CHECK_INT(calls_of(&run, 1, "step"), 3);
    CHECK_INT(calls_of(&run, 1, "only on rank 1"), 1);
    CHECK_INT(calls_of(&run, 2, "step"), -1);
    CHECK_INT(start_of(&run, 1, "step", 2), 2020);
    CHECK_INT(start_of(&run, 3, "step", 99999), 4000 + 999990);
    CHECK_INT(case_metadata(&run, "mpi_size")->integer, 4);
    CHECK_INT(case_metadata(&run, "num_nodes")->integer, 1);
    CHECK(case_metadata(&run, "missing_ranks") == NULL);
    case_close(&run);
    record(2, "step", 5000, 1);
    publish(all(), 0); /* only what came since */
    check_all_went_well();
    run = open_image();
    CHECK_INT(run.description->num_calls, 1);
    CHECK_INT(calls_of(&run, 2, "step"), 1);
    case_close(&run);
    stop();
}

/* The model of docs/guide/mpi.md: hello, seen, go and verdict, one piece and one end mark a rank. */
static void messages_of_a_small_run(void)
{
    for (uint32_t n = 2; n <= NETWORK_RANKS; n *= 2) {
        start(n);
        for (uint32_t r = 0; r < n; r++)
            record(r, "step", 1000, 10);
        memset(network_sent, 0, sizeof network_sent);
        publish(all(), 0);
        check_all_went_well();
        CHECK_INT(network_sent[SP_CHANNEL_CONTROL], 4 * (n - 1));
        CHECK_INT(network_sent[SP_CHANNEL_DATA], 2 * (n - 1));
        free(ranks[0].report.image);
        stop();
    }
}

static void totals(void)
{
    start_with(3, (sp_binding_settings){.is_aggregate = true});
    for (uint32_t r = 0; r < 3; r++)
        record(r, "step", 1000, (int)r + 1);
    publish(all(), 0);
    check_all_went_well();
    case_run run = open_image();
    CHECK(run.description->is_aggregate);
    for (uint32_t r = 0; r < 3; r++) {
        size_t index;
        const sp_row *row = row_of(&run, r, "step", &index);
        if (!CHECK(row != NULL))
            continue;
        CHECK_INT(row->aggregate.count, r + 1);
        CHECK_INT(row->aggregate.total, 3 * (r + 1));
    }
    case_close(&run);
    stop();
}

/* A failure on one rank is a failure on all, and nothing is let go. */
static void failing_rank(void)
{
    start(3);
    for (uint32_t r = 0; r < 3; r++)
        record(r, "step", 1000, 30000);
    ranks[1].link.fail_data_at = 2;
    publish(all(), 0);
    CHECK_INT(ranks[0].status, SP_ERR_IO);
    CHECK_TEXT(ranks[0].error.text, "rank 1 could not write profiling data: the cable was cut");
    CHECK_INT(ranks[1].status, SP_ERR_IO);
    CHECK_TEXT(ranks[1].error.text, "the cable was cut");
    CHECK_INT(ranks[2].status, SP_ERR_IO);
    CHECK_TEXT(ranks[2].error.text, ranks[0].error.text);
    publish(all(), 0);
    check_all_went_well();
    case_run run = open_image();
    CHECK_INT(run.description->num_calls, 90000);
    case_close(&run);
    stop();
}

static void output_that_cannot_be_written(void)
{
    char path[100];
    snprintf(path, sizeof path, "%s/no folder", case_folder);
    fclose(fopen(path, "w"));
    snprintf(path, sizeof path, "%s/no folder/run.h5", case_folder);
    start_with(3, (sp_binding_settings){.output = path});
    for (uint32_t r = 0; r < 3; r++)
        record(r, "step", 1000, 5);
    publish(all(), 0);
    for (uint32_t r = 0; r < 3; r++) {
        CHECK(ranks[r].status != SP_OK);
        CHECK_TEXT(ranks[r].error.text, ranks[0].error.text);
    }
    stop();
}

/* It comes too late, is told so, and takes part again. */
static void missing_rank(void)
{
    start(3);
    for (uint32_t r = 0; r < 3; r++)
        record(r, "step", 1000 * (r + 1), 5);
    case_catch_stderr();
    publish(1u << 0 | 1u << 1, 1500 * MS_NS);
    const char *said = case_printed();
    CHECK(strstr(said, "1 of 3 ranks did not finalize in time") != NULL);
    CHECK_INT(ranks[0].status, SP_OK);
    CHECK_INT(ranks[1].status, SP_OK);
    CHECK_INT(ranks[0].report.num_missing, 1);
    case_run run = open_image();
    CHECK_INT(run.description->num_calls, 10);
    CHECK_INT(case_metadata(&run, "mpi_size")->integer, 3);
    const sp_metadata_entry *missing = case_metadata(&run, "missing_ranks");
    if (CHECK(missing != NULL)) {
        CHECK_INT(missing->list_length, 1);
        CHECK_TEXT(missing->list[0], "2");
    }
    case_close(&run);
    publish(1u << 2, 1500 * MS_NS);
    CHECK_INT(ranks[2].status, SP_ERR_IO);
    CHECK(strstr(ranks[2].error.text, "rank 0 wrote the profile without this rank") != NULL);
    record(1, "step", 9000, 1);
    publish(all(), 0);
    check_all_went_well();
    run = open_image();
    CHECK_INT(run.description->num_calls, 6);
    CHECK_INT(calls_of(&run, 2, "step"), 5);
    CHECK_INT(start_of(&run, 2, "step", 0), 3000);
    case_close(&run);
    stop();
}

/* The first rank waits no longer than it must for a rank 0 that never comes. */
static void missing_rank_0(void)
{
    start(2);
    record(1, "step", 1000, 5);
    publish(1u << 1, 100 * MS_NS);
    CHECK_INT(ranks[1].status, SP_ERR_IO);
    CHECK_TEXT(ranks[1].error.text,
               "rank 0 did not write the profile within 0.1 s of this rank's finalize");
    stop();
}

/* A rank that stops in the middle of its calls: the others start again without it. */
static void rank_that_dies_sending(void)
{
    start(4);
    for (uint32_t r = 0; r < 4; r++)
        record(r, "step", 1000, 30000);
    ranks[2].link.swallow_data_at = 2;
    case_catch_stderr();
    publish(all(), 1500 * MS_NS);
    case_printed();
    CHECK_INT(ranks[0].status, SP_OK);
    CHECK_INT(ranks[1].status, SP_OK);
    CHECK_INT(ranks[2].status, SP_ERR_IO);
    CHECK_INT(ranks[3].status, SP_OK);
    case_run run = open_image();
    CHECK_INT(run.description->num_calls, 90000);
    CHECK_INT(calls_of(&run, 2, "step"), -1);
    CHECK_TEXT(case_metadata(&run, "missing_ranks")->list[0], "2");
    case_close(&run);
    stop();
}

static int64_t skewed_clock(void *context)
{
    const network_link *link = context;
    return sp_clock_monotonic_ns() + link->clock_ns;
}

/* Rank 1 is on another machine, 5 s ahead; rank 2 on a third one, behind. */
static void clocks_of_other_machines(void)
{
    static const int64_t ahead[] = {0, 5000000000, -7000000000};
    start(3);
    int64_t now = sp_clock_monotonic_ns();
    for (uint32_t r = 0; r < 3; r++) {
        static const char *const names[] = {"one", "two", "three"};
        ranks[r].link.clock_ns = ahead[r];
        ranks[r].link.communicator.host_name = names[r];
        ranks[r].link.communicator.clock_domain = names[r];
        ranks[r].link.communicator.now_ns = skewed_clock;
        record(r, "at once", now + ahead[r], 1);
    }
    publish(all(), 0);
    check_all_went_well();
    case_run run = open_image();
    CHECK_INT(case_metadata(&run, "num_nodes")->integer, 3);
    CHECK_INT(start_of(&run, 0, "at once", 0), now);
    size_t shifts = 0;
    for (size_t i = 0; i < run.description->num_extras; i++) {
        const sp_extra *extra = &run.description->extras[i];
        if (strcmp(extra->name, "clock_error_ns") == 0) {
            int64_t apart = start_of(&run, extra->rank, "at once", 0) - now;
            CHECK(extra->integers[0] > 0);
            CHECK(apart <= extra->integers[0] && apart >= -extra->integers[0]);
            size_t row;
            const sp_row *at = row_of(&run, extra->rank, "at once", &row);
            CHECK_INT(at->statistics.start_minimum, now + apart);
            CHECK_INT(at->statistics.end_maximum, now + apart + 3);
            shifts++;
        }
    }
    CHECK_INT(shifts, 2);
    case_close(&run);
    stop();
}

int main(void)
{
    case_enter_folder();
    several_ranks_one_profile();
    messages_of_a_small_run();
    totals();
    failing_rank();
    output_that_cannot_be_written();
    missing_rank();
    missing_rank_0();
    rank_that_dies_sending();
    clocks_of_other_machines();
    case_leave_folder();
    return check_result();
}
