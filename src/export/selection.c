#include "export/selection.h"

#include "base/error.h"
#include "export/region_filter.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Callers of an older header know fewer options. */
static void take_options(sp_export_options *to, const sp_export_options *from)
{
    *to = (sp_export_options){.size = sizeof *to};
    if (from != NULL)
        memcpy(to, from, from->size < sizeof *to ? from->size : sizeof *to);
    to->size = sizeof *to;
}

int sp_selection_init(sp_selection *selection, const sp_results *results,
                      const sp_export_options *options, sp_error *error)
{
    *selection = (sp_selection){0};
    take_options(&selection->options, options);
    const sp_export_options *from = &selection->options;
    const sp_summary_options filter = {
        .size = sizeof filter,
        .include = from->include, .num_include = from->num_include,
        .exclude = from->exclude, .num_exclude = from->num_exclude,
        .include_names = from->include_names, .num_include_names = from->num_include_names};
    int status = sp_region_filter(results, &filter, &selection->regions, error);
    if (status == SP_OK)
        status = sp_rank_filter_init(&selection->ranks, from->ranks, from->num_ranks, error);
    if (status != SP_OK) {
        free(selection->regions);
        return status;
    }
    for (size_t i = 0; i < results->regions.count; i++)
        selection->num_regions += selection->regions[i];
    return SP_OK;
}

void sp_selection_release(sp_selection *selection)
{
    sp_rank_filter_release(&selection->ranks);
    free(selection->regions);
}

static int compare_ranks(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

int sp_selection_ranks(const sp_selection *selection, const sp_results *results,
                       uint32_t **out_ranks, size_t *out_count, sp_error *error)
{
    uint32_t *ranks = malloc((results->ranks.count + 1) * sizeof *ranks);
    size_t count = 0;
    if (ranks == NULL)
        return sp_fail_memory(error, "selecting ranks");
    for (size_t i = 0; i < results->ranks.count; i++)
        if (sp_rank_filter_takes(&selection->ranks, results->ranks.items[i].rank))
            ranks[count++] = results->ranks.items[i].rank;
    qsort(ranks, count, sizeof *ranks, compare_ranks);
    *out_ranks = ranks;
    *out_count = count;
    return SP_OK;
}

/* ---- Order of regions ------------------------------------------------------------------------*/

typedef struct ordered_region {
    int64_t start;
    size_t region;
    bool is_called;
} ordered_region;

static int compare_regions(const void *a, const void *b)
{
    const ordered_region *x = a, *y = b;
    if (x->is_called != y->is_called)
        return x->is_called ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->region > y->region) - (x->region < y->region);
}

int sp_selection_order(const sp_selection *selection, sp_results *results, size_t **out_regions,
                       size_t *out_count, sp_error *error)
{
    ordered_region *order = malloc((results->regions.count + 1) * sizeof *order);
    size_t *regions = malloc((results->regions.count + 1) * sizeof *regions);
    size_t count = 0;
    int status = order == NULL || regions == NULL ? sp_fail_memory(error, "ordering regions") : SP_OK;
    for (size_t i = 0; status == SP_OK && i < results->regions.count; i++) {
        sp_statistics all;
        if (!selection->regions[i])
            continue;
        status = sp_results_region_statistics(results, i, NULL, 0, &all, error);
        if (status == SP_OK)
            order[count++] = (ordered_region){all.start_minimum, i, all.calls > 0};
    }
    if (status == SP_OK) {
        qsort(order, count, sizeof *order, compare_regions);
        for (size_t i = 0; i < count; i++)
            regions[i] = order[i].region;
        *out_regions = regions;
        *out_count = count;
    } else {
        free(regions);
    }
    free(order);
    return status;
}

/* ---- Labels ----------------------------------------------------------------------------------*/

/* Name of a file without folders and ending; of ".json.gz" both endings go. */
static void add_stem(sp_text *out, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    const char *dot = strrchr(name, '.');
    sp_text_add_n(out, name, dot == NULL || dot == name ? strlen(name) : (size_t)(dot - name));
}

void sp_selection_add_label(const sp_selection *selection, const sp_results *results, sp_text *out)
{
    const sp_metadata_entry *own = sp_results_find_metadata(results, "label");
    if (selection->options.label != NULL)
        sp_text_add(out, selection->options.label);
    else if (own != NULL && own->kind == SP_VALUE_TEXT && own->text[0] != '\0')
        sp_text_add(out, own->text);
    else if (results->path[0] != '\0')
        add_stem(out, results->path);
    else
        sp_text_add(out, "profile");
}

/* ---- Lanes -----------------------------------------------------------------------------------*/

static void add_thread(sp_text *out, const sp_results *results, uint32_t rank, int64_t thread)
{
    for (size_t i = 0; i < results->threads.count; i++) {
        const sp_thread_row *row = results->threads.items[i];
        if (row->rank == rank && row->index == thread && row->name[0] != '\0') {
            sp_text_add(out, row->name);
            return;
        }
    }
    sp_text_format(out, "thread %" PRId64, thread);
}

static void add_task(sp_text *out, const sp_results *results, uint32_t rank, int64_t task)
{
    const sp_task_row *row = NULL;
    for (size_t i = 0; row == NULL && i < results->tasks.count; i++)
        if (results->tasks.items[i]->rank == rank && results->tasks.items[i]->index == task)
            row = results->tasks.items[i];
    if (row == NULL) {
        sp_text_format(out, "task %" PRId64, task);
        return;
    }
    const char *dot = strrchr(row->coroutine_name, '.');
    const char *coroutine = dot == NULL ? row->coroutine_name : dot + 1;
    sp_text_add(out, row->name);
    if (coroutine[0] != '\0')
        sp_text_format(out, " (%s)", coroutine);
    sp_text_add(out, " on ");
    add_thread(out, results, rank, row->thread_index);
}

void sp_add_lane_label(sp_text *out, const sp_results *results, uint32_t rank, int64_t lane)
{
    if (lane == -1)
        sp_text_add(out, "unknown lane");
    else if (lane < -1)
        add_thread(out, results, rank, -2 - lane);
    else
        add_task(out, results, rank, lane);
}
