/* A journal that is followed while it is written: after every few steps the sums and the open calls are
 * those of the model, whatever was in rings, in blocks or on its way from one to the other. */
#include "check.h"

#include "clock/clock.h"
#include "recorder/drain.h"
#include "recorder/fast.h"
#include "recorder/path.h"
#include "session/journal_sink.h"
#include "store/journal/find.h"
#include "store/journal/follow.h"
#include "store/journal/frame.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NUM_REGIONS = 3, RING_WORDS = 96, MOST_DEPTH = 150 };

static int stack[MOST_DEPTH], depth; /* regions of open calls */
static uint64_t ended[NUM_REGIONS];

static sp_recording recording;
static sp_journal *journal;
static sp_journal_sink sink;
static uint32_t regions[NUM_REGIONS];
static char folder[] = "/tmp/sp_follow_XXXXXX", output[64], journal_path[80];
static sp_follow follow;
static bool is_following;

static void say(const char *text)
{
    fprintf(stderr, "said: %s\n", text);
}

static void start(void)
{
    static const char *const names[NUM_REGIONS] = {"a", "b", "c"};
    sp_journal_settings settings = {
        .output = output, .details = "\"rank\": 3, \"clock\": \"tsc\"", .say = say};
    depth = 0;
    memset(ended, 0, sizeof ended);
    sp_clock_prepare();
    journal = sp_journal_create(&settings);
    sp_journal_sink_init(&sink, journal, &recording, NULL);
    sp_recording_settings recorder = {.ring_words = RING_WORDS, .max_memory = 1 << 24,
                                      .sink = &sink.sink};
    CHECK_INT(sp_recording_start(&recording, &recorder, NULL), SP_OK);
    for (int i = 0; i < NUM_REGIONS; i++) {
        char json[32];
        regions[i] = (uint32_t)sp_names_intern(names[i], 1, NULL);
        uint8_t head[4] = {(uint8_t)regions[i], 0, 0, 0};
        int length = snprintf(json, sizeof json, "{\"name\": \"%s\"}", names[i]);
        sp_region_table_set(&recording.regions, (int32_t)regions[i], SP_REGION_RECORD);
        sp_journal_note(journal, SP_FRAME_REGION, head, sizeof head, json, (size_t)length);
    }
}

static void stop(void)
{
    sp_journal *old = journal;
    sp_recording_settings none = {.max_memory = 1 << 24};
    if (is_following)
        sp_follow_release(&follow);
    is_following = false;
    sp_recording_stop(&recording);
    sp_journal_remove(journal);
    sp_recording_start(&recording, &none, NULL);
    sp_recording_stop(&recording);
    sp_journal_destroy(old);
}

static void begin(int region)
{
    sp_phase phase = sp_recording_phase(&recording);
    if (!sp_fast_begin(phase, sp_lane_of(&recording), regions[region]))
        sp_path_begin(&recording, regions[region], 0);
    stack[depth++] = region;
}

/* Ends the call at a place of the stack that is the topmost of its region. */
static void end(int at)
{
    sp_phase phase = sp_recording_phase(&recording);
    uint32_t region = regions[stack[at]];
    if (!sp_fast_end(phase, sp_lane_of(&recording), region))
        sp_path_end(&recording, region);
    ended[stack[at]]++;
    for (depth--; at < depth; at++)
        stack[at] = stack[at + 1];
}

static void pairs(int count)
{
    for (int i = 0; i < count; i++) {
        begin(i % NUM_REGIONS);
        end(depth - 1);
    }
}

/* ---- Following -------------------------------------------------------------------------------*/

static void take(void *context, const sp_journal_found *found)
{
    (void)context;
    if (!is_following)
        sp_follow_init(&follow, found->frame->id);
    is_following = true;
    if (memcmp(follow.id, found->frame->id, SP_JOURNAL_ID_BYTES) == 0)
        sp_follow_add(&follow, found->path, found->is_rings);
}

static bool look(void)
{
    sp_journal_find_output(output, NULL, take, NULL);
    return is_following && sp_follow_look(&follow);
}

static uint64_t calls_of(const char *name)
{
    for (size_t i = 0; i < follow.regions.count; i++)
        if (follow.regions.items[i].name != NULL && strcmp(follow.regions.items[i].name, name) == 0)
            return follow.regions.items[i].calls;
    return 0;
}

static const char *name_of(uint32_t region)
{
    uint32_t i = sp_number_map_get(&follow.region_index, region);
    return i == SP_NUMBER_NONE ? "?" : follow.regions.items[i].name;
}

static bool counts_fit(void)
{
    return calls_of("a") == ended[0] && calls_of("b") == ended[1] && calls_of("c") == ended[2] &&
           follow.num_calls == ended[0] + ended[1] + ended[2] && follow.missing_calls == 0;
}

static bool stack_fits(void)
{
    const sp_follow_lane *lane = &follow.lanes.items[0];
    if (follow.lanes.count != 1 || lane->open.count != (size_t)depth)
        return false;
    for (int i = 0; i < depth; i++) {
        const sp_follow_open *call = &lane->open.items[i];
        if (name_of(call->region)[0] != 'a' + stack[i] || call->own_ns > call->elapsed_ns ||
            (i > 0 && call->elapsed_ns > lane->open.items[i - 1].elapsed_ns))
            return false;
    }
    return true;
}

static uint64_t random_state = 11;

static uint32_t next_random(uint32_t below)
{
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % below;
}

static void step(void)
{
    uint32_t choice = next_random(64);
    if (choice < 3 && depth > 1 && stack[depth - 1] != stack[depth - 2])
        end(depth - 2);
    else if (depth == 0 || (choice < 34 && depth < MOST_DEPTH))
        begin((int)next_random(NUM_REGIONS));
    else
        end(depth - 1);
}

static void at_every_moment(void)
{
    start();
    begin(0);
    for (int i = 0; i < 4000; i++) {
        step();
        if (next_random(5) == 0) {
            sp_lane *lane = sp_lane_of(&recording);
            sp_mutex_lock(&lane->lock);
            if (next_random(3) == 0)
                sp_drain_other(lane);
            sp_mutex_unlock(&lane->lock);
            if (!CHECK(look() && counts_fit() && stack_fits())) {
                fprintf(stderr, "after step %d\n", i);
                break;
            }
        }
    }
    CHECK_INT(follow.owner.rank, 3);
    CHECK(follow.files.items[0].at > 10000);
    stop();
}

/* The time of a region is that of its calls: here all are inside one that is open. */
static void times_add_up(void)
{
    start();
    begin(0);
    usleep(20000);
    begin(1);
    usleep(30000);
    end(1);
    begin(2);
    usleep(10000);
    CHECK(look());
    if (CHECK(stack_fits())) {
        const sp_follow_open *open = follow.lanes.items[0].open.items;
        int64_t b = 0;
        for (size_t i = 0; i < follow.regions.count; i++)
            if (follow.regions.items[i].name[0] == 'b')
                b = follow.regions.items[i].own_ns;
        CHECK(b >= 30000000);
        CHECK(open[1].elapsed_ns >= 10000000 && open[1].own_ns == open[1].elapsed_ns);
        CHECK(open[0].own_ns >= 20000000);
        /* To the rounding of three conversions. */
        CHECK(llabs(open[0].elapsed_ns - open[0].own_ns - b - open[1].elapsed_ns) < 10);
    }
    stop();
}

static void goes_on_in_the_next_file(void)
{
    start();
    begin(0);
    pairs(500);
    CHECK(look() && counts_fit());
    sp_mutex_lock(&recording.lock);
    uint32_t generation = sp_journal_next_generation(journal);
    sp_journal_sink_turn(sp_lane_of(&recording)->sink, generation);
    sp_mutex_unlock(&recording.lock);
    pairs(500);
    CHECK(look() && counts_fit() && stack_fits());
    CHECK_INT(follow.files.count, 2);
    sp_journal_release_before(journal, generation);
    pairs(500);
    CHECK(look() && counts_fit() && stack_fits());
    CHECK_INT(follow.files.count, 1);

    /* One who comes now sees what is not in a profile, and takes none of it for a loss. */
    sp_follow_release(&follow);
    is_following = false;
    CHECK(look() && stack_fits());
    CHECK_INT(follow.missing_calls, 0);
    CHECK(follow.num_calls >= 1000 - RING_WORDS && follow.num_calls < 1500);
    stop();
}

/* ---- Cost ------------------------------------------------------------------------------------*/

static size_t arena_blocks(void)
{
    return follow.arena.used + 1000000 * (follow.arena.blocks == NULL ? 0 : 1);
}

static void memory_does_not_grow(void)
{
    start();
    begin(0);
    pairs(1000);
    CHECK(look());
    size_t room = follow.room, arena = arena_blocks(), names = follow.regions.room;
    for (int i = 0; i < 20; i++) {
        pairs(10000);
        CHECK(look() && counts_fit());
    }
    CHECK_INT(follow.room, room);
    CHECK_INT(arena_blocks(), arena);
    CHECK_INT(follow.regions.room, names);
    CHECK_INT(follow.files.count, 1);
    CHECK_INT(sp_timeline_num_anchors(&follow.timeline) <= 3, true);
    /* Everything is behind the cursor. */
    struct stat status;
    CHECK_INT(stat(journal_path, &status), 0);
    CHECK_INT(follow.files.items[0].at, status.st_size);
    stop();
}

/* ---- A piece that is still being written ------------------------------------------------------*/

/* Where the `wanted`th block begins, and its bytes. */
static size_t find_block(const uint8_t *bytes, size_t size, int wanted, size_t *out_bytes)
{
    sp_frame_view frame;
    for (size_t at = 0; sp_frame_read(bytes + at, size - at, &frame); at += frame.bytes)
        if (frame.kind == SP_FRAME_BLOCK && wanted-- == 0) {
            *out_bytes = frame.bytes;
            return at;
        }
    return 0;
}

static void waits_for_a_hole(void)
{
    static uint8_t bytes[1 << 16], zeros[1 << 12];
    char path[100];
    size_t hole_bytes = 0;
    start();
    pairs(300);
    int file = open(journal_path, O_RDONLY | O_CLOEXEC);
    ssize_t size = read(file, bytes, sizeof bytes);
    close(file);
    size_t hole = find_block(bytes, (size_t)size, 2, &hole_bytes);
    if (CHECK(hole > 0 && hole_bytes < sizeof zeros)) {
        snprintf(path, sizeof path, "%s/copy", folder);
        file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        CHECK_INT(pwrite(file, bytes, (size_t)size, 0), size);
        CHECK_INT(pwrite(file, zeros, hole_bytes, (off_t)hole), hole_bytes);
        sp_follow other;
        sp_follow_init(&other, follow.id);
        sp_follow_add(&other, path, false);
        CHECK(sp_follow_look(&other));
        CHECK_INT(other.files.items[0].num_holes, 1);
        CHECK_INT(other.files.items[0].at, size);
        CHECK_INT(pwrite(file, bytes + hole, hole_bytes, (off_t)hole), hole_bytes);
        CHECK(sp_follow_look(&other));
        CHECK_INT(other.files.items[0].num_holes, 0);
        sp_follow_release(&other);
        close(file);
        unlink(path);
    }
    stop();
}

/* The end of a file that grows by a few bytes at a time. */
static void takes_no_half_frame(void)
{
    static uint8_t bytes[1 << 16];
    char path[100];
    start();
    pairs(120);
    int file = open(journal_path, O_RDONLY | O_CLOEXEC);
    ssize_t size = read(file, bytes, sizeof bytes);
    close(file);
    snprintf(path, sizeof path, "%s/copy", folder);
    file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    sp_follow other;
    sp_follow_init(&other, follow.id);
    sp_follow_add(&other, path, false);
    uint64_t last = 0;
    for (ssize_t at = 0; at < size; at += 7) {
        size_t count = size - at < 7 ? (size_t)(size - at) : 7;
        CHECK_INT(pwrite(file, bytes + at, count, at), count);
        if (!CHECK(sp_follow_look(&other) && other.num_calls >= last && other.missing_calls == 0))
            break;
        last = other.num_calls;
    }
    CHECK(last > 60 && last <= 120);
    CHECK_INT(other.files.items[0].num_holes, 0);
    CHECK_INT(other.files.items[0].at, size);
    sp_follow_release(&other);
    close(file);
    unlink(path);
    stop();
}

int main(void)
{
    if (mkdtemp(folder) == NULL || !sp_recording_init(&recording))
        return 1;
    snprintf(output, sizeof output, "%s/run.h5", folder);
    snprintf(journal_path, sizeof journal_path, "%s.journal", output);
    RUN(at_every_moment);
    RUN(times_add_up);
    RUN(goes_on_in_the_next_file);
    RUN(memory_does_not_grow);
    RUN(waits_for_a_hole);
    RUN(takes_no_half_frame);
    rmdir(folder);
    return check_result();
}
