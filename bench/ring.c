/* ring - which size of ring disturbs a program least: a kernel that keeps the second-level cache
 * full of its own data records one call for every 4 KiB it works on.
 *
 *   kernel-only     ns a piece without recording
 *   ring-<KiB>      the same with a call recorded around each piece */
#include "sample.h"

#include "recorder/fast.h"
#include "recorder/path.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 4096, PIECES = 400000, REPEATS = 9 };

static const size_t sizes_kib[] = {16, 32, 64, 128, 256, 512, 1024, 4096};

static unsigned char *data;
static size_t data_size;
static volatile uint64_t sink;

static void kernel(size_t piece)
{
    const uint64_t *words = (const uint64_t *)(void *)(data + piece * PIECE % data_size);
    uint64_t sum = 0;
    for (size_t i = 0; i < PIECE / sizeof *words; i++)
        sum += words[i];
    sink = sum;
}

static double alone(void)
{
    double start = sample_now();
    for (size_t i = 0; i < PIECES; i++)
        kernel(i);
    return (sample_now() - start) / PIECES;
}

static double recorded(size_t ring_words)
{
    sp_recording recording;
    sp_recording_settings settings = {.max_memory = SIZE_MAX, .ring_words = ring_words};
    if (!sp_recording_init(&recording) ||
        sp_recording_start(&recording, &settings, NULL) != SP_OK ||
        !sp_region_table_set(&recording.regions, 0, SP_REGION_RECORD))
        exit(1);
    sp_path_begin(&recording, 0, 0);
    sp_path_end(&recording, 0);
    sp_lane *lane = sp_lane_of(&recording);
    double start = sample_now();
    for (size_t i = 0; i < PIECES; i++) {
        sp_phase phase = sp_recording_phase(&recording);
        if (!sp_fast_begin(phase, lane, 0))
            sp_path_begin(&recording, 0, 0);
        kernel(i);
        if (!sp_fast_end(phase, lane, 0))
            sp_path_end(&recording, 0);
    }
    double took = (sample_now() - start) / PIECES;
    sp_recording_release(&recording);
    return took;
}

int main(void)
{
    long cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
    data_size = cache > 0 ? (size_t)cache / PIECE * PIECE : 1 << 20;
    data = aligned_alloc(PIECE, data_size);
    if (data == NULL)
        return 1;
    memset(data, 1, data_size);
    for (int r = 0; r < REPEATS; r++) {
        sample_print("kernel-only", r, alone());
        for (size_t i = 0; i < sizeof sizes_kib / sizeof *sizes_kib; i++) {
            char name[32];
            snprintf(name, sizeof name, "ring-%zu", sizes_kib[i]);
            sample_print(name, r, recorded(sizes_kib[i] * 1024 / 8));
        }
    }
    free(data);
    return 0;
}
