/* flamegraph.c - the call paths of one rank as a picture: a box a path, as wide as its time, on top of
 * the path that it belongs to. */
#include "base/error.h"
#include "export/output.h"
#include "export/rank_paths.h"
#include "export/xml.h"

#include <inttypes.h>
#include <stdlib.h>

enum { BOX_HEIGHT = 17, MARGIN = 10, HEAD_HEIGHT = 34, LETTER_WIDTH = 7, DEFAULT_WIDTH = 1200 };
static const double DEFAULT_THRESHOLD = 0.1; /* percent */

/* Where a node begins, and where the next one on top of it does, in ns from the left. */
typedef struct box {
    int64_t from, next;
    uint32_t level;
    bool is_drawn;
} box;

typedef struct painter {
    sp_output *out;
    const sp_call_paths *paths;
    const char *root_name;
    double width, threshold; /* of the whole picture in pixels; smallest time that is drawn, in ns */
    bool is_fixed;
    box *boxes; /* of each node */
    uint32_t top_level;
} painter;

/* ---- Places ----------------------------------------------------------------------------------*/

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Boxes never reach beyond the one below, also where calls cross and overlap. */
static void place_boxes(painter *p)
{
    const sp_path_node *nodes = p->paths->nodes.items;
    uint32_t level = 0, node = SP_PATH_ROOT;
    p->boxes[SP_PATH_ROOT] = (box){.is_drawn = true};
    while ((node = sp_call_paths_next(p->paths, node, &level)) != SP_PATH_ROOT) {
        box *below = &p->boxes[nodes[node].parent];
        int64_t below_end = below->from + nodes[nodes[node].parent].total;
        int64_t end = smaller(below->next + nodes[node].total, below_end);
        bool is_drawn = below->is_drawn && end > below->next &&
                        (double)(end - below->next) >= p->threshold;
        p->boxes[node] = (box){below->next, below->next, level, is_drawn};
        below->next = end > below->next ? end : below->next;
        if (is_drawn && level > p->top_level)
            p->top_level = level;
    }
}

/* ---- Drawing ---------------------------------------------------------------------------------*/

static void add_text(sp_output *out, const char *name, size_t max_letters)
{
    sp_xml_add_clipped(&out->scratch, name, max_letters);
    sp_output_add_scratch(out);
}

/* Warm colors, the same for the same name. */
static void add_color(sp_output *out, const char *name)
{
    uint64_t hash = sp_map_hash(name, strlen(name));
    sp_output_print(out, "rgb(%u,%u,%u)", 205 + (unsigned)(hash % 50),
                     70 + (unsigned)(hash / 64 % 150), (unsigned)(hash / 65536 % 55));
}

static void add_box(painter *p, const char *name, const char *fill_name, int64_t from, int64_t ns,
                    uint32_t level, uint64_t calls)
{
    int64_t whole = p->paths->nodes.items[SP_PATH_ROOT].total;
    double scale = (p->width - 2 * MARGIN) / (double)(whole > 0 ? whole : 1);
    double width = (double)ns * scale;
    double x = MARGIN + (double)from * scale;
    uint32_t y = HEAD_HEIGHT + (p->top_level - level) * BOX_HEIGHT;
    sp_output_add(p->out, "<g><title>");
    add_text(p->out, name, SIZE_MAX);
    sp_output_add(p->out, " (");
    if (calls > 0)
        sp_output_print(p->out, "%" PRIu64 " calls, ", calls);
    sp_output_decimal(p->out, ns, 9);
    sp_output_add(p->out, " s, ");
    sp_output_decimal(p->out, (int64_t)(whole > 0 ? (double)ns / (double)whole * 1e4 + 0.5 : 0), 2);
    sp_output_add(p->out, " %)</title><rect x=\"");
    sp_output_decimal(p->out, (int64_t)(x * 100), 2);
    sp_output_print(p->out, "\" y=\"%u\" width=\"", y);
    sp_output_decimal(p->out, (int64_t)(width * 100), 2);
    sp_output_print(p->out, "\" height=\"%d\" fill=\"", BOX_HEIGHT - 1);
    add_color(p->out, fill_name);
    sp_output_add(p->out, "\"/>");
    if (width >= 4 * LETTER_WIDTH) {
        sp_output_add(p->out, "<text x=\"");
        sp_output_decimal(p->out, (int64_t)((x + 3) * 100), 2);
        sp_output_print(p->out, "\" y=\"%u\">", y + 12);
        add_text(p->out, name, (size_t)((width - 6) / LETTER_WIDTH));
        sp_output_add(p->out, "</text>");
    }
    sp_output_add(p->out, "</g>\n");
}

static void add_head(painter *p, uint32_t height)
{
    sp_output_add(p->out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                          "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ");
    sp_output_integer(p->out, (int64_t)p->width);
    sp_output_print(p->out, " %u\" width=\"", height);
    if (p->is_fixed) {
        sp_output_integer(p->out, (int64_t)p->width);
        sp_output_print(p->out, "\" height=\"%u", height);
    } else {
        sp_output_add(p->out, "100%");
    }
    sp_output_add(p->out,
                  "\">\n<style>text{font:12px monospace;fill:#000;pointer-events:none}"
                  "rect{rx:2px}g:hover rect{stroke:#000;stroke-width:1}</style>\n"
                  "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n<text x=\"10\" y=\"22\">");
    add_text(p->out, p->root_name, SIZE_MAX);
    sp_output_add(p->out, "</text>\n");
}

static void paint_paths(painter *p)
{
    const sp_path_node *nodes = p->paths->nodes.items;
    uint32_t level = 0, node = SP_PATH_ROOT;
    place_boxes(p);
    add_head(p, HEAD_HEIGHT + (p->top_level + 1) * BOX_HEIGHT + MARGIN);
    add_box(p, p->root_name, "", 0, nodes[SP_PATH_ROOT].total, 0, 0);
    while ((node = sp_call_paths_next(p->paths, node, &level)) != SP_PATH_ROOT) {
        const box *at = &p->boxes[node];
        const char *name = p->paths->results->regions.items[nodes[node].region].name;
        if (at->is_drawn)
            add_box(p, name, name, at->from,
                    smaller(nodes[node].total,
                            p->boxes[nodes[node].parent].from + nodes[nodes[node].parent].total -
                                at->from),
                    at->level, nodes[node].calls);
    }
    sp_output_add(p->out, "</svg>\n");
}

/* ---- One row of regions ----------------------------------------------------------------------*/

typedef struct flat_region {
    int64_t own;
    uint64_t calls;
    uint32_t region;
} flat_region;

static int compare_regions(const void *a, const void *b)
{
    const flat_region *x = a, *y = b;
    if (x->own != y->own)
        return x->own > y->own ? -1 : 1;
    return (x->region > y->region) - (x->region < y->region);
}

/* The regions by what they took themselves, the largest first. */
static bool paint_flat(painter *p)
{
    const sp_results *results = p->paths->results;
    size_t count = results->regions.count;
    flat_region *regions = calloc(count + 1, sizeof *regions);
    if (regions == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        regions[i].region = (uint32_t)i;
    for (size_t i = 1; i < p->paths->nodes.count; i++) {
        const sp_path_node *node = &p->paths->nodes.items[i];
        regions[node->region].own += node->remaining > 0 ? node->remaining : 0;
        regions[node->region].calls += node->calls;
    }
    qsort(regions, count, sizeof *regions, compare_regions);
    p->top_level = 1;
    add_head(p, HEAD_HEIGHT + 2 * BOX_HEIGHT + MARGIN);
    add_box(p, p->root_name, "", 0, p->paths->nodes.items[SP_PATH_ROOT].total, 0, 0);
    int64_t from = 0;
    for (size_t i = 0; i < count && regions[i].own > 0; from += regions[i++].own) {
        const char *name = results->regions.items[regions[i].region].name;
        if ((double)regions[i].own >= p->threshold)
            add_box(p, name, name, from, regions[i].own, 1, regions[i].calls);
    }
    sp_output_add(p->out, "</svg>\n");
    free(regions);
    return true;
}

/* ---- The file --------------------------------------------------------------------------------*/

static int paint(sp_output *out, const sp_selection *selection, const sp_call_paths *paths,
                 uint32_t rank, sp_error *error)
{
    const sp_export_options *options = &selection->options;
    double threshold = options->threshold == 0 ? DEFAULT_THRESHOLD : options->threshold;
    sp_text root = {0};
    sp_add_root_name(&root, paths->results, selection, rank);
    painter p = {
        .out = out, .paths = paths, .root_name = root.bytes, .is_fixed = options->fixed_width,
        .width = options->width >= 100 && options->width <= 1e6 ? options->width : DEFAULT_WIDTH,
        .threshold = threshold / 100 * (double)paths->nodes.items[SP_PATH_ROOT].total,
        .boxes = calloc(paths->nodes.count, sizeof *p.boxes)};
    bool done = !root.failed && p.boxes != NULL;
    if (done && options->no_call_paths)
        done = paint_flat(&p);
    else if (done)
        paint_paths(&p);
    free(p.boxes);
    sp_text_release(&root);
    return done ? SP_OK : sp_fail_memory(error, "drawing call paths");
}

int sp_export_flamegraph(sp_results *results, const sp_export_options *options, uint32_t rank,
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
            status = sp_output_finish(&out, paint(&out, &selection, &paths, rank, error), error);
        sp_call_paths_release(&paths);
    }
    sp_selection_release(&selection);
    return status;
}
