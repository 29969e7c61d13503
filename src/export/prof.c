/* prof.c - one rank as Python's cProfile stores its statistics: a dictionary
 *
 *     (file, line, name): (primitive calls, calls, own s, cumulative s, {caller: (calls, ...)})
 *
 * in the marshal format of version 2, which every version of Python reads. Entries are call paths, or
 * regions. Of a region that calls itself, calls inside calls are not primitive and their time is not
 * cumulated again. */
#include "base/error.h"
#include "export/output.h"
#include "export/rank_paths.h"

#include <stdlib.h>

enum { ROOT_ENTRY = 0, FULL_NAME_BYTES = 4096, SHOWN_LEVELS = 8 };

/* Totals of an entry, or of what one entry called of another. */
typedef struct prof_sums {
    uint64_t primitive, calls;
    int64_t own, cumulative;
} prof_sums;

/* What one entry called of another; those of a callee are chained. */
typedef struct prof_edge {
    uint32_t caller, next;
    uint32_t open; /* how often it is on the path at hand */
    prof_sums sums;
} prof_edge;

#define NO_EDGE UINT32_MAX

typedef struct prof_entry {
    uint32_t node; /* a path of it */
    uint32_t open;
    uint32_t first_edge, last_edge;
    prof_sums sums;
} prof_entry;

/* How long the path of a node is, and the node at its SHOWN_LEVELS-th level. */
typedef struct path_size {
    uint64_t bytes;
    uint32_t levels, top;
} path_size;

typedef struct prof_writer {
    sp_output *out;
    const sp_call_paths *paths;
    const sp_row **sources; /* of each region on this rank, NULL: no row */
    bool with_paths;
    char *root_name;
    SP_VECTOR(prof_entry) entries; /* entry 0 is the root */
    SP_VECTOR(prof_edge) edges;
    uint32_t *entry_of; /* of each node */
    uint32_t *edge_of;  /* of each node: from the entry above to its own */
    sp_number_map edge_ids;
    path_size *sizes;      /* of each node */
    SP_VECTOR(uint32_t) chain;
    sp_text name;
} prof_writer;

/* ---- Entries ---------------------------------------------------------------------------------*/

static uint32_t find_edge(prof_writer *w, uint32_t caller, uint32_t callee)
{
    uint64_t key = (uint64_t)caller << 32 | callee;
    uint32_t known = sp_number_map_get(&w->edge_ids, key);
    if (known != SP_NUMBER_NONE)
        return known;
    uint32_t number = (uint32_t)w->edges.count;
    prof_entry *entry = &w->entries.items[callee];
    if (!sp_vector_reserve(&w->edges, 1) || !sp_number_map_set(&w->edge_ids, key, number))
        return NO_EDGE;
    w->edges.items[w->edges.count++] = (prof_edge){.caller = caller, .next = NO_EDGE};
    if (entry->first_edge == NO_EDGE)
        entry->first_edge = number;
    else
        w->edges.items[entry->last_edge].next = number;
    entry->last_edge = number;
    return number;
}

/* Gives every node its entry and its edge: those of its own, or those of its region. */
static bool assign(prof_writer *w)
{
    const sp_call_paths *paths = w->paths;
    size_t num_regions = paths->results->regions.count;
    uint32_t *entry_of_region = calloc(num_regions + 1, sizeof *entry_of_region);
    bool done = entry_of_region != NULL && sp_vector_reserve(&w->entries, paths->nodes.count);
    for (uint32_t i = 0; done && i < paths->nodes.count; i++) {
        const sp_path_node *node = &paths->nodes.items[i];
        uint32_t *known = i == SP_PATH_ROOT || w->with_paths ? NULL : &entry_of_region[node->region];
        uint32_t entry = known != NULL && *known != 0 ? *known : (uint32_t)w->entries.count;
        if (entry == w->entries.count)
            w->entries.items[w->entries.count++] =
                (prof_entry){.node = i, .first_edge = NO_EDGE, .last_edge = NO_EDGE};
        if (known != NULL)
            *known = entry;
        w->entry_of[i] = entry;
        w->edge_of[i] = i == SP_PATH_ROOT ? NO_EDGE
                                          : find_edge(w, w->entry_of[node->parent], entry);
        done = i == SP_PATH_ROOT || w->edge_of[i] != NO_EDGE;
    }
    free(entry_of_region);
    return done;
}

static void add_sums(prof_sums *sums, const sp_path_node *node, bool is_outermost)
{
    sums->calls += node->calls;
    sums->own += node->exclusive;
    if (is_outermost) {
        sums->primitive += node->calls;
        sums->cumulative += node->total;
    }
}

static void leave(prof_writer *w, uint32_t node)
{
    w->entries.items[w->entry_of[node]].open--;
    w->edges.items[w->edge_of[node]].open--;
}

/* Goes through all paths; what is open on the way down is recursion. */
static void sum_up(prof_writer *w)
{
    const sp_path_node *nodes = w->paths->nodes.items;
    uint32_t level = 0, above = SP_PATH_ROOT;
    for (uint32_t node = SP_PATH_ROOT;
         (node = sp_call_paths_next(w->paths, node, &level)) != SP_PATH_ROOT; above = node) {
        while (above != nodes[node].parent) {
            leave(w, above);
            above = nodes[above].parent;
        }
        prof_entry *entry = &w->entries.items[w->entry_of[node]];
        prof_edge *edge = &w->edges.items[w->edge_of[node]];
        add_sums(&entry->sums, &nodes[node], entry->open++ == 0);
        add_sums(&edge->sums, &nodes[node], edge->open++ == 0);
    }
    w->entries.items[ROOT_ENTRY].sums =
        (prof_sums){1, 1, 0, nodes[SP_PATH_ROOT].total};
}

/* ---- Marshal ---------------------------------------------------------------------------------*/

static void put_number(prof_writer *w, char type, uint64_t value, size_t bytes)
{
    char *at = sp_output_room(w->out, SP_OUTPUT_NUMBER_BYTES);
    *at++ = type;
    for (size_t i = 0; i < bytes; i++, value >>= 8)
        *at++ = (char)(value & 0xff);
    w->out->used += bytes + 1;
}

/* Numbers of more than 31 bits go as digits of 15 bits. */
static void put_integer(prof_writer *w, uint64_t value)
{
    uint32_t digits = 0;
    if (value <= INT32_MAX) {
        put_number(w, 'i', value, 4);
        return;
    }
    for (uint64_t rest = value; rest != 0; rest >>= 15)
        digits++;
    put_number(w, 'l', digits, 4);
    for (; value != 0; value >>= 15) {
        char digit[2] = {(char)(value & 0xff), (char)(value >> 8 & 0x7f)};
        sp_output_add_n(w->out, digit, 2);
    }
}

static void put_seconds(prof_writer *w, int64_t ns)
{
    double seconds = (double)ns / 1e9;
    uint64_t bits;
    memcpy(&bits, &seconds, sizeof bits);
    put_number(w, 'g', bits, 8);
}

static void put_text(prof_writer *w, const char *text, size_t length)
{
    put_number(w, 'u', length, 4);
    sp_output_add_n(w->out, text, length);
}

/* Appends the names from the node `levels` - 1 above `node` down to it, " > " between them. */
static void add_names(prof_writer *w, uint32_t node, uint32_t levels)
{
    const sp_path_node *nodes = w->paths->nodes.items;
    w->chain.count = 0;
    if (!sp_vector_reserve(&w->chain, levels)) {
        w->name.failed = true;
        return;
    }
    for (; levels > 0; levels--, node = nodes[node].parent)
        w->chain.items[w->chain.count++] = node;
    while (w->chain.count > 0) {
        const sp_path_node *of = &nodes[w->chain.items[--w->chain.count]];
        sp_text_add(&w->name, w->paths->results->regions.items[of->region].name);
        sp_text_add(&w->name, w->chain.count > 0 ? " > " : "");
    }
}

/* The path of a node, "a > b"; of a very long one both ends, which its number keeps unique. */
static void add_path(prof_writer *w, uint32_t node)
{
    const path_size *size = &w->sizes[node];
    if (size->bytes <= FULL_NAME_BYTES || size->levels <= 2 * SHOWN_LEVELS) {
        add_names(w, node, size->levels);
        return;
    }
    add_names(w, size->top, SHOWN_LEVELS);
    sp_text_format(&w->name, " > (%u levels, path %u) > ", size->levels - 2 * SHOWN_LEVELS, node);
    add_names(w, node, SHOWN_LEVELS);
}

/* A node comes after the one above it, so one pass does. */
static void measure_paths(prof_writer *w)
{
    const sp_call_paths *paths = w->paths;
    w->sizes[SP_PATH_ROOT] = (path_size){0};
    for (uint32_t i = 1; i < paths->nodes.count; i++) {
        const sp_path_node *node = &paths->nodes.items[i];
        path_size size = w->sizes[node->parent];
        size.bytes += strlen(paths->results->regions.items[node->region].name) + 3;
        if (++size.levels <= SHOWN_LEVELS)
            size.top = i;
        w->sizes[i] = size;
    }
}

static void put_key(prof_writer *w, uint32_t entry)
{
    uint32_t node = w->entries.items[entry].node;
    uint32_t region = w->paths->nodes.items[node].region;
    const sp_row *source = node == SP_PATH_ROOT ? NULL : w->sources[region];
    bool has_source = source != NULL && source->source_file != NULL && source->source_file[0] != '\0';
    w->name.length = 0;
    if (node == SP_PATH_ROOT)
        sp_text_add(&w->name, w->root_name);
    else if (w->with_paths)
        add_path(w, node);
    else
        sp_text_add(&w->name, w->paths->results->regions.items[region].name);
    put_number(w, '(', 3, 4);
    put_text(w, has_source ? source->source_file : "~", has_source ? strlen(source->source_file) : 1);
    put_integer(w, has_source && source->source_line > 0 ? (uint64_t)source->source_line : 0);
    put_text(w, w->name.failed ? "" : w->name.bytes, w->name.failed ? 0 : w->name.length);
}

static void put_entry(prof_writer *w, uint32_t number)
{
    const prof_entry *entry = &w->entries.items[number];
    put_key(w, number);
    put_number(w, '(', 5, 4);
    put_integer(w, entry->sums.primitive);
    put_integer(w, entry->sums.calls);
    put_seconds(w, entry->sums.own);
    put_seconds(w, entry->sums.cumulative);
    put_number(w, '{', 0, 0);
    for (uint32_t e = entry->first_edge; e != NO_EDGE; e = w->edges.items[e].next) {
        const prof_edge *edge = &w->edges.items[e];
        put_key(w, edge->caller);
        put_number(w, '(', 4, 4);
        put_integer(w, edge->sums.calls); /* the other way round than above, as cProfile has it */
        put_integer(w, edge->sums.primitive);
        put_seconds(w, edge->sums.own);
        put_seconds(w, edge->sums.cumulative);
    }
    put_number(w, '0', 0, 0);
}

static void put_all(prof_writer *w)
{
    put_number(w, '{', 0, 0);
    for (uint32_t i = 0; i < w->entries.count; i++)
        put_entry(w, i);
    put_number(w, '0', 0, 0);
}

/* ---- One rank --------------------------------------------------------------------------------*/

static void find_sources(prof_writer *w, uint32_t rank)
{
    const sp_results *results = w->paths->results;
    for (uint32_t r = sp_run_first_row_of_rank(results, rank); r != SP_NO_ROW;
         r = results->rows.items[r].next_in_rank)
        w->sources[results->rows.items[r].region] = results->rows.items[r].row;
}

static int write_stats(prof_writer *w, const sp_selection *selection, uint32_t rank,
                       sp_error *error)
{
    sp_text root = {0};
    size_t nodes = w->paths->nodes.count;
    sp_add_root_name(&root, w->paths->results, selection, rank);
    w->root_name = sp_text_take(&root);
    w->sources = calloc(w->paths->results->regions.count + 1, sizeof *w->sources);
    w->entry_of = malloc(nodes * sizeof *w->entry_of);
    w->edge_of = malloc(nodes * sizeof *w->edge_of);
    w->sizes = malloc(nodes * sizeof *w->sizes);
    bool done = w->root_name != NULL && w->sources != NULL && w->entry_of != NULL &&
                w->edge_of != NULL && w->sizes != NULL;
    if (done) {
        find_sources(w, rank);
        measure_paths(w);
        done = assign(w);
    }
    if (done) {
        sum_up(w);
        put_all(w);
    }
    done = done && !w->name.failed;
    free(w->root_name);
    free(w->sources);
    free(w->entry_of);
    free(w->edge_of);
    free(w->sizes);
    sp_vector_release(&w->chain);
    sp_vector_release(&w->entries);
    sp_vector_release(&w->edges);
    sp_number_map_release(&w->edge_ids);
    sp_text_release(&w->name);
    return done ? SP_OK : sp_fail_memory(error, "exporting call paths");
}

static int export_rank(sp_output *out, const sp_selection *selection, const sp_call_paths *paths,
                       uint32_t rank, sp_error *error)
{
    prof_writer w = {.out = out, .paths = paths,
                     .with_paths = !selection->options.no_call_paths};
    return write_stats(&w, selection, rank, error);
}

int sp_export_prof_bytes(sp_results *results, const sp_export_options *options, uint32_t rank,
                         char **out_bytes, size_t *out_count, sp_error *error)
{
    sp_selection selection;
    sp_call_paths paths;
    sp_output out;
    int status = sp_selection_init(&selection, results, options, error);
    if (status != SP_OK)
        return status;
    status = sp_rank_paths_init(&paths, results, &selection, rank, error);
    if (status == SP_OK) {
        status = sp_output_open_memory(&out, error);
        if (status == SP_OK)
            status = sp_output_take(&out, export_rank(&out, &selection, &paths, rank, error),
                                    out_bytes, out_count, error);
        sp_call_paths_release(&paths);
    }
    sp_selection_release(&selection);
    return status;
}

int sp_export_prof(sp_results *results, const sp_export_options *options, uint32_t rank,
                   const char *path, sp_error *error)
{
    sp_selection selection;
    sp_call_paths paths;
    sp_output out;
    int status = sp_selection_init(&selection, results, options, error);
    if (status != SP_OK)
        return status;
    status = sp_rank_paths_init(&paths, results, &selection, rank, error);
    if (status == SP_OK) {
        status = sp_output_open_file(&out, path, false, error);
        if (status == SP_OK)
            status = sp_output_finish(&out, export_rank(&out, &selection, &paths, rank, error),
                                      error);
        sp_call_paths_release(&paths);
    }
    sp_selection_release(&selection);
    return status;
}
