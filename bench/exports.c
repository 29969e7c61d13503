/* exports - what is made of a file of many calls.
 *
 *   exports record FILE CALLS    records so many calls and publishes them, with ids
 *   exports measure FILE         prints, a line a repeat, ns of one run:
 *     chrome-trace               sp_export_chrome_trace
 *     chrome-trace-bar           what its bytes would take at 200 MB/s
 *     reconstruct                sp_results_reconstruct, the columns in memory
 *     stack-pass                 one stack pass over the same calls in start order
 *   and as variants faults-tree and faults-reconstruct the minor faults of building each tree. */
#include "sample.h"
#include "shape.h"

#include "scope_results.h"
#include "session/binding.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { REPEATS = 5 };

static sp_profiler *profiler;
static int32_t regions[SHAPE_REGIONS];

static void begin(int region) { sp_binding_begin(profiler, regions[region]); }
static void end(int region) { sp_binding_end(profiler, regions[region]); }

static void die(const char *what, const sp_error *error)
{
    fprintf(stderr, "exports: %s: %s\n", what, error == NULL ? "failed" : error->text);
    exit(1);
}

static void record(const char *path, size_t calls)
{
    sp_binding_settings settings = {.size = sizeof settings, .output = path};
    settings.store = (sp_store_options){.size = sizeof settings.store, .compression_level = -1};
    sp_binding_publication what = {.size = sizeof what};
    sp_binding_report report;
    sp_error error;
    profiler = sp_binding_create();
    if (sp_binding_configure(profiler, &settings, &error) != SP_OK)
        die("configure", &error);
    sp_binding_region_spec spec = {.size = sizeof spec, .enabled = true};
    for (int r = 0; r < SHAPE_REGIONS; r++) {
        char name[16];
        int length = snprintf(name, sizeof name, "region %d", r);
        regions[r] = sp_binding_intern(name, (size_t)length, NULL);
        sp_binding_set_region(profiler, regions[r], &spec, NULL);
    }
    shape_drive(calls, begin, end);
    if (sp_binding_publish(profiler, &what, &report, &error) != SP_OK)
        die(path, &error);
    sp_binding_destroy(profiler);
}

static sp_results *open_run(const char *path)
{
    sp_results *run;
    sp_error error;
    if (sp_results_open(path, &run, &error) != SP_OK)
        die(path, &error);
    return run;
}

static void load(sp_results *run)
{
    sp_error error;
    const int64_t *values;
    size_t count;
    for (size_t row = 0; row < sp_results_num_rows(run); row++)
        for (int column = 0; column <= SP_COLUMN_PARENT_ID; column++)
            if (sp_results_column(run, row, (sp_column)column, &values, &count, &error) != SP_OK)
                die("column", &error);
}

static long minor_faults(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

static double chrome_trace(const char *path, const char *to, double *out_bar)
{
    sp_results *run = open_run(path);
    struct stat status;
    sp_error error;
    double start = sample_now();
    if (sp_export_chrome_trace(run, NULL, to, &error) != SP_OK)
        die(to, &error);
    double took = sample_now() - start;
    sp_results_close(run);
    if (stat(to, &status) != 0)
        die(to, NULL);
    *out_bar = (double)status.st_size / 200e6 * 1e9;
    unlink(to);
    return took;
}

/* Parent of every call, from calls in start order. */
static double stack_pass(const sp_call_tree *tree, int64_t *parents)
{
    int64_t *stack = malloc((tree->count + 1) * sizeof *stack);
    size_t depth = 0;
    double begun = sample_now();
    for (size_t i = 0; i < tree->count; i++) {
        while (depth > 0 && tree->end_ns[stack[depth - 1]] <= tree->start_ns[i])
            depth--;
        parents[i] = depth > 0 ? stack[depth - 1] : -1;
        stack[depth++] = (int64_t)i;
    }
    double took = sample_now() - begun;
    free(stack);
    return took;
}

static void measure(const char *path)
{
    char trace[4096];
    snprintf(trace, sizeof trace, "%s.trace.json", path);
    for (int r = 0; r < REPEATS; r++) {
        double bar;
        sp_call_tree tree;
        sp_error error;
        sample_print("chrome-trace", r, chrome_trace(path, trace, &bar));
        sample_print("chrome-trace-bar", r, bar);
        sp_results *run = open_run(path);
        load(run);
        long before = minor_faults();
        if (sp_results_call_tree(run, 0, &tree, &error) != SP_OK)
            die(path, &error);
        sample_print("faults-tree", r, (double)(minor_faults() - before));
        before = minor_faults();
        double start = sample_now();
        if (sp_results_reconstruct(run, 0, &tree, &error) != SP_OK)
            die(path, &error);
        double took = sample_now() - start;
        sample_print("faults-reconstruct", r, (double)(minor_faults() - before));
        int64_t *parents = calloc(tree.count + 1, sizeof *parents);
        (void)stack_pass(&tree, parents);
        sample_print("stack-pass", r, stack_pass(&tree, parents));
        sample_print("reconstruct", r, took);
        free(parents);
        sp_results_close(run);
    }
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "record") == 0)
        record(argv[2], strtoull(argv[3], NULL, 10));
    else if (argc == 3 && strcmp(argv[1], "measure") == 0)
        measure(argv[2]);
    else
        die("usage: exports record FILE CALLS | exports measure FILE", NULL);
    return 0;
}
