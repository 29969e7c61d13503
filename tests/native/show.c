/* show.c - what is in a profile, as lines that a test can compare: each region of each rank with its
 * calls, site, tags and metadata, then each call path with its number of calls, and the threads that
 * have a name.
 *
 *     show FILE...
 *
 * Of a long name both ends are shown, with its length.
 */
#include <inttypes.h>
#include <scope_results.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *path, const sp_error *error)
{
    fprintf(stderr, "%s: %s\n", path, error->text);
    exit(1);
}

enum { LONGEST_NAME = 80, SHOWN_ENDS = 8 };

static void show_name(const char *name)
{
    size_t length = strlen(name);
    if (length <= LONGEST_NAME)
        fputs(name, stdout);
    else
        printf("%.*s...%s (%zu bytes)", SHOWN_ENDS, name, name + length - SHOWN_ENDS, length);
}

static void show_row(const sp_row *row)
{
    uint64_t count = row->has_aggregate ? row->aggregate.count : row->count;
    show_name(row->region);
    printf(" rank=%" PRIu32 " calls=%" PRIu64, row->rank, count);
    if (row->has_aggregate)
        printf(" totals");
    if (row->source_file[0] != '\0') {
        const char *slash = strrchr(row->source_file, '/');
        printf(" at=%s:%" PRId64, slash == NULL ? row->source_file : slash + 1, row->source_line);
    }
    if (strcmp(row->tags_json, "[]") != 0)
        printf(" tags=%s", row->tags_json);
    if (row->event_metadata_json != NULL && strcmp(row->event_metadata_json, "[]") != 0)
        printf(" metadata=%s", row->event_metadata_json);
    putchar('\n');
}

/* ---- Call paths ------------------------------------------------------------------------------*/

typedef struct path_count {
    char *path;
    size_t count;
} path_count;

static path_count *paths;
static size_t num_paths;

static char *path_of(sp_results *run, const sp_call_tree *tree, size_t call)
{
    const char *name = sp_results_row(run, tree->row[call])->region;
    char *above = tree->parent[call] < 0 ? strdup("")
                                         : path_of(run, tree, (size_t)tree->parent[call]);
    size_t size = strlen(above) + strlen(name) + 4;
    char *path = malloc(size);
    snprintf(path, size, "%s%s%s", above, above[0] == '\0' ? "" : " > ", name);
    free(above);
    return path;
}

static void count_path(char *path)
{
    for (size_t i = 0; i < num_paths; i++) {
        if (strcmp(paths[i].path, path) != 0)
            continue;
        paths[i].count++;
        free(path);
        return;
    }
    paths = realloc(paths, (num_paths + 1) * sizeof *paths);
    paths[num_paths++] = (path_count){path, 1};
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const path_count *)a)->path, ((const path_count *)b)->path);
}

static void show_paths(sp_results *run, uint32_t rank)
{
    sp_call_tree tree;
    sp_error error;
    if (sp_results_call_tree(run, rank, &tree, &error) != SP_OK) {
        printf("not nested\n");
        return;
    }
    for (size_t i = 0; i < tree.count; i++)
        count_path(path_of(run, &tree, i));
    if (num_paths > 0)
        qsort(paths, num_paths, sizeof *paths, by_path);
    for (size_t i = 0; i < num_paths; i++) {
        fputs("  ", stdout);
        show_name(paths[i].path);
        printf(": %zu\n", paths[i].count);
        free(paths[i].path);
    }
    num_paths = 0;
}

static void show_threads(const sp_results *run, uint32_t rank)
{
    for (size_t i = 0; i < sp_results_num_threads(run); i++) {
        const sp_thread_row *thread = sp_results_thread(run, i);
        if (thread->rank == rank && thread->name[0] != '\0')
            printf("  thread %" PRId64 ": %s\n", thread->index, thread->name);
    }
}

static void show(const char *path)
{
    sp_results *run;
    sp_error error = {0};
    const char *slash = strrchr(path, '/');
    if (sp_results_open(path, &run, &error) != SP_OK)
        fail(path, &error);
    printf("== %s\n", slash == NULL ? path : slash + 1);
    for (size_t i = 0; i < sp_results_num_rows(run); i++) {
        const sp_row *row = sp_results_row(run, i);
        show_row(row);
        bool is_last = i + 1 == sp_results_num_rows(run) ||
                       sp_results_row(run, i + 1)->rank != row->rank;
        if (is_last && !sp_results_is_aggregate(run))
            show_paths(run, row->rank);
        if (is_last)
            show_threads(run, row->rank);
    }
    sp_results_close(run);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        show(argv[i]);
    free(paths);
    return 0;
}
