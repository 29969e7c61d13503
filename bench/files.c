/* files - publishing and opening 10 million calls.
 *
 *   files FOLDER      prints, a line a repeat, milliseconds as "ns" of one run:
 *     raw-write       write(2) of the two time columns (160 MB) in 1 MiB pieces
 *     scatter         decoding a packed stream and scattering the two columns by region
 *     ids-deflate     shuffle and deflate level 1 of the two id columns
 *     publish-plain   sp_binding_publish, no compression
 *     publish-compact the same with gzip 1
 *     gzip-floor      the two time columns, shuffled, deflate level 1 through zlib
 *     open-statistics opening the file and every row's stored statistics
 *     stack-pass      one stack pass over calls in start order
 *     call-tree       sp_results_call_tree
 *   and bytes per call of both files as variants bytes-plain and bytes-compact. */
#include "sample.h"
#include "shape.h"

#include "scope_results.h"
#include "session/binding.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { CALLS = 10000000, REPEATS = 7, PIECE = 1 << 17 };

static sp_profiler *profiler;
static int32_t regions[SHAPE_REGIONS];

static void begin(int region) { sp_binding_begin(profiler, regions[region]); }
static void end(int region) { sp_binding_end(profiler, regions[region]); }

static void die(const char *what, const sp_error *error)
{
    fprintf(stderr, "files: %s: %s\n", what, error == NULL ? "failed" : error->text);
    exit(1);
}

static double raw_write(const char *path, const int64_t *values)
{
    double start = sample_now();
    int file = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    for (int column = 0; column < 2; column++)
        for (size_t i = 0; i < CALLS; i += PIECE) {
            size_t count = CALLS - i < PIECE ? CALLS - i : PIECE;
            if (write(file, values + i, count * 8) < 0)
                die("write", NULL);
        }
    close(file);
    double took = sample_now() - start;
    unlink(path);
    return took;
}

/* A packed stream of 8-byte records, decoded and scattered by region: what any publication of
 * packed calls has to do at least. */
static double scatter(const uint64_t *packed, int64_t *starts, int64_t *durations)
{
    size_t cursor[SHAPE_REGIONS];
    for (int r = 0; r < SHAPE_REGIONS; r++)
        cursor[r] = (size_t)r * (CALLS / SHAPE_REGIONS);
    double begun = sample_now();
    int64_t now = 0;
    for (size_t i = 0; i < CALLS; i++) {
        uint64_t word = packed[i];
        unsigned region = (unsigned)(word & 63);
        now += (int64_t)(word >> 6 & 0xFFFF);
        size_t at = cursor[region]++ % CALLS;
        starts[at] = now;
        durations[at] = (int64_t)(word >> 22 & 0xFFFF);
    }
    return sample_now() - begun;
}

static void shuffle_bytes(const int64_t *values, size_t count, unsigned char *out)
{
    const unsigned char *bytes = (const unsigned char *)values;
    for (size_t b = 0; b < 8; b++)
        for (size_t i = 0; i < count; i++)
            out[b * count + i] = bytes[i * 8 + b];
}

/* Two columns, shuffled and deflated at level 1 in pieces; writes what comes out. */
static double deflate_columns(const char *path, const int64_t *first, const int64_t *second)
{
    unsigned char *plain = malloc(PIECE * 8), *packed = malloc(compressBound(PIECE * 8));
    double start = sample_now();
    int file = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    for (int column = 0; column < 2; column++) {
        const int64_t *values = column == 0 ? first : second;
        for (size_t i = 0; i < CALLS; i += PIECE) {
            size_t count = CALLS - i < PIECE ? CALLS - i : PIECE;
            uLongf size = compressBound(PIECE * 8);
            shuffle_bytes(values + i, count, plain);
            compress2(packed, &size, plain, count * 8, 1);
            if (write(file, packed, size) < 0)
                die("write", NULL);
        }
    }
    close(file);
    double took = sample_now() - start;
    unlink(path);
    free(plain);
    free(packed);
    return took;
}

static void record(const char *path, const char *compression)
{
    sp_binding_settings settings = {.size = sizeof settings, .output = path};
    settings.store = (sp_store_options){.size = sizeof settings.store, .compression = compression,
                                        .compression_level = compression == NULL ? -1 : 1};
    sp_error error;
    if (sp_binding_configure(profiler, &settings, &error) != SP_OK)
        die("configure", &error);
    sp_binding_region_spec spec = {.size = sizeof spec, .enabled = true};
    for (int r = 0; r < SHAPE_REGIONS; r++) {
        char name[16];
        int length = snprintf(name, sizeof name, "region %d", r);
        regions[r] = sp_binding_intern(name, (size_t)length, NULL);
        sp_binding_set_region(profiler, regions[r], &spec, NULL);
    }
    shape_drive(CALLS, begin, end);
}

static double publish(const char *path)
{
    sp_binding_publication what = {.size = sizeof what, .keep_calls = true};
    sp_binding_report report;
    sp_error error;
    double start = sample_now();
    if (sp_binding_publish(profiler, &what, &report, &error) != SP_OK)
        die(path, &error);
    double took = sample_now() - start;
    if (report.calls_written != CALLS)
        die("not every call was written", NULL);
    return took;
}

static double file_bytes(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 ? (double)status.st_size : 0;
}

/* One column of the whole file, row after row. */
static void load_column(const char *path, sp_column column, int64_t *out)
{
    sp_results *run;
    sp_error error;
    const int64_t *values;
    size_t count;
    if (sp_results_open(path, &run, &error) != SP_OK)
        die(path, &error);
    for (size_t row = 0; row < sp_results_num_rows(run); row++) {
        if (sp_results_column(run, row, column, &values, &count, &error) != SP_OK)
            die(path, &error);
        memcpy(out, values, count * sizeof *out);
        out += count;
    }
    sp_results_close(run);
}

static double open_statistics(const char *path)
{
    sp_results *run;
    sp_error error;
    sp_statistics statistics;
    double start = sample_now();
    if (sp_results_open(path, &run, &error) != SP_OK)
        die(path, &error);
    for (size_t i = 0; i < sp_results_num_rows(run); i++)
        if (sp_results_row_statistics(run, i, &statistics, &error) != SP_OK)
            die(path, &error);
    sp_results_close(run);
    return sample_now() - start;
}

/* Parent of every call, from calls in start order: the least that building a tree can cost. */
static double stack_pass(const int64_t *starts, const int64_t *ends, int64_t *parents)
{
    int64_t stack[SHAPE_DEPTH + 1];
    int depth = 0;
    double begun = sample_now();
    for (size_t i = 0; i < CALLS; i++) {
        while (depth > 0 && ends[stack[depth - 1]] <= starts[i])
            depth--;
        parents[i] = depth > 0 ? stack[depth - 1] : -1;
        stack[depth < SHAPE_DEPTH ? depth++ : depth] = (int64_t)i;
    }
    return sample_now() - begun;
}

static double call_tree(sp_results **run, const char *path, sp_call_tree *tree)
{
    sp_error error;
    const int64_t *values;
    size_t count;
    if (sp_results_open(path, run, &error) != SP_OK)
        die(path, &error);
    for (size_t row = 0; row < sp_results_num_rows(*run); row++)
        for (int column = 0; column <= SP_COLUMN_PARENT_ID; column++)
            if (sp_results_column(*run, row, (sp_column)column, &values, &count, &error) != SP_OK)
                die(path, &error);
    double start = sample_now();
    if (sp_results_call_tree(*run, 0, tree, &error) != SP_OK)
        die(path, &error);
    return sample_now() - start;
}

static void analysis(const char *path)
{
    int64_t *parents = malloc(CALLS * sizeof *parents);
    for (int r = 0; r < REPEATS; r++) {
        sp_results *run;
        sp_call_tree tree;
        sample_print("open-statistics", r, open_statistics(path));
        double took = call_tree(&run, path, &tree);
        sample_print("stack-pass", r, stack_pass(tree.start_ns, tree.end_ns, parents));
        sample_print("call-tree", r, took);
        sp_results_close(run);
    }
    free(parents);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        die("usage: files FOLDER", NULL);
    char raw[4096], plain[4096], compact[4096];
    snprintf(raw, sizeof raw, "%s/raw.bin", argv[1]);
    snprintf(plain, sizeof plain, "%s/plain.h5", argv[1]);
    snprintf(compact, sizeof compact, "%s/compact.h5", argv[1]);
    profiler = sp_binding_create();
    uint64_t state = 7;
    uint64_t *packed = malloc(CALLS * sizeof *packed);
    int64_t *a = malloc(CALLS * sizeof *a), *b = malloc(CALLS * sizeof *b);
    int64_t *ids = malloc(CALLS * sizeof *ids), *parents = malloc(CALLS * sizeof *parents);
    for (size_t i = 0; i < CALLS; i++)
        packed[i] = shape_random(&state);
    record(plain, NULL);
    publish(plain);
    load_column(plain, SP_COLUMN_CALL_ID, ids);
    load_column(plain, SP_COLUMN_PARENT_ID, parents);
    for (int r = 0; r < REPEATS; r++) {
        sample_print("scatter", r, scatter(packed, a, b));
        sample_print("raw-write", r, raw_write(raw, a));
        sample_print("ids-deflate", r, deflate_columns(raw, ids, parents));
        sample_print("publish-plain", r, publish(plain));
    }
    sample_print("bytes-plain", 0, file_bytes(plain) / CALLS);
    load_column(plain, SP_COLUMN_START, a);
    load_column(plain, SP_COLUMN_DURATION, b);
    for (size_t i = CALLS - 1; i > 0; i--)
        a[i] -= a[i - 1];
    record(compact, "gzip");
    for (int r = 0; r < REPEATS; r++) {
        sample_print("gzip-floor", r, deflate_columns(raw, a, b));
        sample_print("publish-compact", r, publish(compact));
    }
    sample_print("bytes-compact", 0, file_bytes(compact) / CALLS);
    sp_binding_destroy(profiler);
    free(packed);
    free(a);
    free(b);
    free(ids);
    free(parents);
    analysis(plain);
    return 0;
}
