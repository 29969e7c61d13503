/* A model of crashes. A recording goes through thousands of random steps; after each of them, at each
 * length that its journal had while it was written, and at each store of the emptying of a ring, what
 * would be left is recovered and compared with what had really happened. */
#include "check.h"

#include "clock/clock.h"
#include "recorder/drain.h"
#include "recorder/fast.h"
#include "recorder/path.h"
#include "session/journal_sink.h"
#include "store/image/image.h"
#include "store/journal/find.h"
#include "store/journal/frame.h"
#include "store/journal/recover.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_CALLS = 20000, NUM_REGIONS = 3, RING_WORDS = 96, MOST_DEPTH = 150 };

/* ---- The model -------------------------------------------------------------------------------*/

typedef struct model_call {
    int region, parent; /* index of the call, -1 */
    bool is_open;
} model_call;

static model_call calls[MOST_CALLS];
static int num_calls, stack[MOST_DEPTH], depth;

/* ---- What is recorded ------------------------------------------------------------------------*/

static sp_recording recording;
static sp_journal *journal;
static sp_journal_sink sink;
static uint32_t regions[NUM_REGIONS];
static char folder[] = "/tmp/sp_journal_XXXXXX", output[64], rings_path[200];
static char said[400];

static void say(const char *text)
{
    snprintf(said, sizeof said, "%s", text);
}

static void note_region(uint32_t region, const char *name)
{
    char json[64];
    uint8_t head[4] = {(uint8_t)region, (uint8_t)(region >> 8), (uint8_t)(region >> 16), 0};
    int length = snprintf(json, sizeof json, "{\"name\": \"%s\"}", name);
    sp_journal_note(journal, SP_FRAME_REGION, head, sizeof head, json, (size_t)length);
}

static void take_rings(void *context, const sp_journal_found *found)
{
    (void)context;
    if (found->is_rings)
        snprintf(rings_path, sizeof rings_path, "%s", found->path);
}

static void start(void)
{
    static const char *const names[NUM_REGIONS] = {"a", "b", "c"};
    sp_journal_settings settings = {.output = output, .details = "\"rank\": 0", .say = say};
    num_calls = depth = 0;
    said[0] = '\0';
    sp_clock_prepare();
    journal = sp_journal_create(&settings);
    sp_journal_sink_init(&sink, journal, &recording, NULL);
    sp_recording_settings recorder = {.ring_words = RING_WORDS, .max_memory = 1 << 24,
                                      .sink = &sink.sink};
    CHECK_INT(sp_recording_start(&recording, &recorder, NULL), SP_OK);
    for (int i = 0; i < NUM_REGIONS; i++) {
        regions[i] = (uint32_t)sp_names_intern(names[i], 1, NULL);
        sp_region_table_set(&recording.regions, (int32_t)regions[i], SP_REGION_RECORD);
        note_region(regions[i], names[i]);
    }
}

static void stop(void)
{
    sp_journal *old = journal;
    sp_recording_settings none = {.max_memory = 1 << 24};
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
    calls[num_calls] = (model_call){.region = region, .is_open = true,
                                    .parent = depth == 0 ? -1 : stack[depth - 1]};
    stack[depth++] = num_calls++;
}

/* Ends the call at a place of the stack that is the topmost of its region. */
static void end(int at)
{
    sp_phase phase = sp_recording_phase(&recording);
    uint32_t region = regions[calls[stack[at]].region];
    if (!sp_fast_end(phase, sp_lane_of(&recording), region))
        sp_path_end(&recording, region);
    calls[stack[at]].is_open = false;
    for (depth--; at < depth; at++)
        stack[at] = stack[at + 1];
}

/* ---- Copies of files -------------------------------------------------------------------------*/

typedef struct copy {
    uint8_t *bytes;
    size_t size;
} copy;

static copy read_copy(const char *path)
{
    copy of = {0};
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (file < 0)
        return of;
    fstat(file, &status);
    of.size = (size_t)status.st_size;
    of.bytes = malloc(of.size + 1);
    if (read(file, of.bytes, of.size) != (ssize_t)of.size)
        abort();
    close(file);
    return of;
}

static const char *write_copy(const char *name, const uint8_t *bytes, size_t size)
{
    static char paths[2][100];
    char *path = paths[name[0] == 'r'];
    snprintf(path, sizeof paths[0], "%s/copy-%s", folder, name);
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (write(file, bytes, size) != (ssize_t)size)
        abort();
    close(file);
    return path;
}

static copy journal_copy(void)
{
    char path[80];
    snprintf(path, sizeof path, "%s.journal", output);
    return read_copy(path);
}

static copy rings_copy(void)
{
    if (rings_path[0] == '\0')
        sp_journal_find(output, NULL, true, take_rings, NULL);
    return read_copy(rings_path);
}

/* ---- Comparing -------------------------------------------------------------------------------*/

static bool read_column(sp_store_reader *reader, size_t row, sp_column column, uint64_t count,
                        int64_t *out)
{
    return sp_image_reader.read_calls(reader, row, column, 0, (size_t)count, out, NULL) == SP_OK;
}

/* Every call of the model up to `known`, and no other: region, parent, whether it is open. */
static bool rows_fit(sp_store_reader *reader, int known)
{
    static int64_t ids[MOST_CALLS], parents[MOST_CALLS], starts[MOST_CALLS];
    const sp_store_description *run = sp_image_reader.describe(reader);
    int found = 0;
    for (size_t row = 0; row < run->num_rows; row++) {
        uint64_t count = run->rows[row].count;
        if (!read_column(reader, row, SP_COLUMN_CALL_ID, count, ids) ||
            !read_column(reader, row, SP_COLUMN_PARENT_ID, count, parents) ||
            !read_column(reader, row, SP_COLUMN_START, count, starts))
            return false;
        for (uint64_t i = 0; i < count; i++, found++) {
            const model_call *call = &calls[ids[i]];
            if (ids[i] >= known || run->rows[row].region[0] != 'a' + call->region ||
                parents[i] != call->parent)
                return false;
        }
    }
    return found == known;
}

static bool open_calls_fit(const sp_loaded *loaded)
{
    if (loaded->open_calls.count != (size_t)depth)
        return false;
    for (int i = 0; i < depth; i++)
        if (loaded->open_calls.items[i].number != (uint64_t)stack[i])
            return false;
    return true;
}

/* Recovers copies (journal of size 0: there is none yet) and compares with the model as it is. */
static bool holds_model(const copy *of_journal, size_t journal_bytes, const copy *of_rings)
{
    const char *paths[2];
    size_t count = 0, size;
    void *image;
    sp_loaded loaded;
    sp_store_writer *writer;
    sp_store_reader *reader;
    sp_assembly_result result = {0};
    if (journal_bytes > 0)
        paths[count++] = write_copy("journal", of_journal->bytes, journal_bytes);
    paths[count++] = write_copy("rings", of_rings->bytes, of_rings->size);
    if (sp_load(paths, count, &loaded, NULL) != SP_OK)
        return false;
    bool fits = open_calls_fit(&loaded) && loaded.missing_calls == 0 && loaded.damaged_rings == 0 &&
                loaded.damaged_blocks == 0 &&
                sp_image_create(NULL, &image, &size, &writer, NULL) == SP_OK;
    if (fits) {
        sp_assemble_output to = {.table = &sp_image_writer, .writer = writer};
        fits = sp_recover(&loaded, &to, 1, &result, NULL) == SP_OK &&
               sp_image_writer.commit(writer, NULL) == SP_OK &&
               sp_image_open(image, size, &reader, NULL) == SP_OK;
        sp_assembly_result_release(&result);
    }
    if (fits) {
        fits = rows_fit(reader, num_calls);
        sp_image_reader.close(reader);
    }
    sp_loaded_release(&loaded);
    return fits;
}

/* ---- Every moment ----------------------------------------------------------------------------*/

static uint64_t random_state = 7;

static uint32_t next_random(uint32_t below)
{
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % below;
}

static void step(void)
{
    uint32_t choice = next_random(64);
    if (choice == 0 && depth > 0) {
        sp_path_note(&recording, "\"key\"", "17");
    } else if (choice < 3 && depth > 1 && calls[stack[depth - 1]].region !=
                                              calls[stack[depth - 2]].region) {
        end(depth - 2);
    } else if (depth == 0 || (choice < 34 && depth < MOST_DEPTH)) {
        begin((int)next_random(NUM_REGIONS));
    } else {
        end(depth - 1);
    }
}

/* Where the state, the head and the ring of the only lane are in a file of rings. */
static sp_segment_header lane_header(const copy *rings, size_t *out_at)
{
    sp_rings_header header;
    sp_segment_header segment;
    memcpy(&header, rings->bytes, sizeof header);
    memcpy(&segment, rings->bytes + header.segments_at, sizeof segment);
    *out_at = (size_t)header.segments_at;
    return segment;
}

/* From the rings as they were before a drain, store by store, to an emptied ring; the journal has the
 * block. In the order of drain.c. */
static void crash_while_emptying(const copy *journal_after, const copy *before, const copy *after)
{
    size_t at;
    sp_segment_header segment = lane_header(before, &at);
    copy image = {.bytes = malloc(before->size), .size = before->size};
    memcpy(image.bytes, before->bytes, before->size);
    size_t state = at + segment.state_at, ring = at + segment.ring_at, head = at + segment.head_at;
    const struct {
        size_t place, bytes;
    } stores[] = {{ring, 8}, {ring + 8, 8}, {ring + 16, 8}, {head, 8}, {state + 16, 8}, {state + 12, 4}};
    image.bytes[state]++; /* the epoch becomes odd */
    CHECK(holds_model(journal_after, journal_after->size, &image));
    for (size_t i = 0; i < sizeof stores / sizeof *stores; i++) {
        memcpy(image.bytes + stores[i].place, after->bytes + stores[i].place, stores[i].bytes);
        if (!CHECK(holds_model(journal_after, journal_after->size, &image)))
            break;
    }
    free(image.bytes);
}

/* A drain by another thread changes no ring, so the rings before it are those of every moment of it. */
static void crash_while_draining(int stride)
{
    copy before = rings_copy(), journal_before = journal_copy();
    sp_lane *lane = sp_lane_of(&recording);
    sp_mutex_lock(&lane->lock);
    sp_drain_other(lane);
    sp_mutex_unlock(&lane->lock);
    copy journal_after = journal_copy();
    for (size_t size = journal_before.size; size <= journal_after.size; size += (size_t)stride)
        if (!CHECK(holds_model(&journal_after, size, &before)))
            break;
    CHECK(holds_model(&journal_after, journal_after.size, &before));
    sp_lane_enter(lane);
    sp_drain_own(lane, atomic_load(&lane->top));
    sp_lane_leave(lane);
    copy after = rings_copy(), last = journal_copy();
    CHECK(holds_model(&last, last.size, &after));
    crash_while_emptying(&last, &before, &after);
    free(before.bytes);
    free(journal_before.bytes);
    free(journal_after.bytes);
    free(after.bytes);
    free(last.bytes);
}

static void every_moment(void)
{
    start();
    begin(0);
    for (int i = 0; i < 2500; i++) {
        step();
        copy rings = rings_copy(), of_journal = journal_copy();
        bool fits = holds_model(&of_journal, of_journal.size, &rings);
        free(rings.bytes);
        free(of_journal.bytes);
        if (!CHECK(fits)) {
            fprintf(stderr, "after step %d\n", i);
            break;
        }
        if (i % 97 == 96)
            crash_while_draining(i < 300 ? 1 : 13);
    }
    CHECK_TEXT(said, "");
    stop();
    CHECK(access(rings_path, F_OK) != 0);
}

/* Without the rings a journal of any length gives the calls of the blocks that are whole. */
static void every_length_alone(void)
{
    start();
    rings_path[0] = '\0';
    for (int i = 0; i < 400; i++) {
        begin(i % NUM_REGIONS);
        end(depth - 1);
    }
    copy of = journal_copy();
    uint64_t last = 0;
    for (size_t size = 0; size <= of.size; size++) {
        const char *path = write_copy("journal", of.bytes, size);
        sp_loaded loaded;
        sp_error error = {0};
        if (sp_load(&path, 1, &loaded, &error) != SP_OK) {
            CHECK_INT(last, 0);
            CHECK_INT(error.status, SP_ERR_DAMAGED);
            continue;
        }
        CHECK(loaded.num_calls >= last && loaded.num_calls <= 400);
        CHECK_INT(loaded.missing_calls + loaded.damaged_blocks + loaded.damaged_bytes, 0);
        last = loaded.num_calls;
        sp_loaded_release(&loaded);
    }
    CHECK(last > 300);
    free(of.bytes);
    stop();
}

/* ---- Failures --------------------------------------------------------------------------------*/

static size_t count_kept(void)
{
    sp_lane *lane = sp_lane_of(&recording);
    sp_sink_cursor cursor = {0};
    size_t size, count = 0;
    sp_mutex_lock(&lane->lock);
    sp_drain_other(lane);
    for (const void *block; (block = sink.sink.table->next(lane->sink, &cursor, &size)) != NULL;) {
        sp_block_header header;
        if (CHECK_INT(sp_block_check(block, size, &header, NULL), SP_OK))
            count += header.calls;
    }
    sp_mutex_unlock(&lane->lock);
    return count;
}

/* A folder that is gone: recording goes on in memory, and both parts are read as one sequence. */
static void goes_on_in_memory(void)
{
    char elsewhere[80];
    snprintf(elsewhere, sizeof elsewhere, "%s.gone", folder);
    start();
    for (int i = 0; i < 200; i++) {
        begin(0);
        end(depth - 1);
    }
    size_t before = count_kept();
    CHECK_INT(before, 200);
    sp_mutex_lock(&recording.lock);
    sp_journal_sink_turn(sp_lane_of(&recording)->sink, sp_journal_next_generation(journal));
    sp_mutex_unlock(&recording.lock);
    CHECK_INT(rename(folder, elsewhere), 0);
    close(open(folder, O_RDWR | O_CREAT | O_CLOEXEC, 0600)); /* a file where a folder should be */
    for (int i = 0; i < 500; i++) {
        begin(1);
        end(depth - 1);
    }
    CHECK_INT(count_kept(), 700);
    CHECK_CONTAINS(said, "recording goes on in memory");
    CHECK(sp_journal_has_failed(journal));
    unlink(folder);
    CHECK_INT(rename(elsewhere, folder), 0);

    /* Dropping goes over both kinds of places. */
    sp_lane *lane = sp_lane_of(&recording);
    sp_sink_cursor all = {0}, follow = {0};
    size_t size;
    sp_mutex_lock(&lane->lock);
    while (sink.sink.table->next(lane->sink, &all, &size) != NULL)
        continue;
    follow = all;
    sink.sink.table->drop(lane->sink, &all, &follow);
    sp_mutex_unlock(&lane->lock);
    CHECK_INT(count_kept(), 0);
    begin(2);
    end(depth - 1);
    CHECK_INT(count_kept(), 1);
    stop();
}

/* Part of the blocks dropped: the rest stays, the cursors with it. */
static void drops_a_part(void)
{
    start();
    for (int i = 0; i < 300; i++) {
        begin(0);
        end(depth - 1);
    }
    sp_lane *lane = sp_lane_of(&recording);
    sp_sink_cursor until = {0};
    size_t size;
    sp_block_header header;
    const void *first = sink.sink.table->next(lane->sink, &until, &size);
    CHECK_INT(sp_block_check(first, size, &header, NULL), SP_OK);
    sp_sink_cursor follow = until;
    sink.sink.table->drop(lane->sink, &until, &follow);
    CHECK_INT(count_kept(), 300 - header.calls);
    const void *second = sink.sink.table->next(lane->sink, &follow, &size);
    sp_block_header after;
    CHECK_INT(sp_block_check(second, size, &after, NULL), SP_OK);
    CHECK_INT(after.first_call, header.calls);
    stop();
}

/* ---- Losses ----------------------------------------------------------------------------------*/

static size_t losses_told(void)
{
    copy of = journal_copy();
    sp_frame_view frame;
    size_t count = 0;
    for (size_t at = 0; sp_frame_read(of.bytes + at, of.size - at, &frame); at += frame.bytes)
        count += frame.kind == SP_FRAME_LOSSES;
    free(of.bytes);
    return count;
}

/* Kinds and counts as they were last told; words of them are few, however many there are. */
static void tells_losses(void)
{
    sp_loaded loaded;
    char path[80];
    const char *paths[] = {path};
    snprintf(path, sizeof path, "%s.journal", output);
    start();
    for (int i = 0; i < 500; i++) {
        sp_recording_lose(&recording, SP_LOSS_METADATA, 2);
        for (int k = 0; k < 32; k++) {
            begin(0);
            end(depth - 1);
        }
        if (i == 0)
            sp_recording_lose(&recording, SP_LOSS_SIGNAL_REENTRY, 7);
    }
    sp_recording_anchor(&recording, true);
    begin(0);
    count_kept();
    CHECK(losses_told() >= 2 && losses_told() <= 20);
    if (CHECK_INT(sp_load(paths, 1, &loaded, NULL), SP_OK)) {
        if (CHECK_INT(loaded.losses.count, 2)) {
            CHECK_TEXT(loaded.losses.items[0].kind, sp_loss_names[SP_LOSS_SIGNAL_REENTRY]);
            CHECK_INT(loaded.losses.items[0].count, 7);
            CHECK_TEXT(loaded.losses.items[1].kind, sp_loss_names[SP_LOSS_METADATA]);
            CHECK_INT(loaded.losses.items[1].count, 1000);
        }
        sp_loaded_release(&loaded);
    }
    stop();
}

int main(void)
{
    if (mkdtemp(folder) == NULL || !sp_recording_init(&recording))
        return 1;
    recording.on_thread = NULL;
    snprintf(output, sizeof output, "%s/run.h5", folder);
    RUN(every_moment);
    RUN(every_length_alone);
    RUN(goes_on_in_memory);
    RUN(drops_a_part);
    RUN(tells_losses);
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) != 0 || check_result();
}
