/* tree_order.c - all calls of a rank in order of time.
 *
 * Every source is sorted by start. The time axis is cut into windows of a few thousand calls, at
 * starts sampled from all sources; each window is gathered, sorted by counting and written out. The
 * keys hold the time since the window began above the position in the window; a window that they
 * cannot hold is merge-sorted instead. */
#include "results/tree.h"

#include "base/error.h"
#include "results/moments.h"

#include <stdlib.h>
#include <string.h>

enum {
    WINDOW_CALLS = 8192,
    POSITION_BITS = 20,
    TIME_BITS = 64 - POSITION_BITS,
    DIGIT_BITS = 11,
    DIGITS = 1 << DIGIT_BITS
};

typedef struct entry {
    int64_t start, end;
    uint32_t source, index;
} entry;

struct sp_call_order {
    const sp_call_sources *sources;
    uint32_t *next; /* of each source */
    int64_t *cuts;  /* starts at which windows end, ascending */
    size_t num_cuts, cut;
    SP_VECTOR(entry) window;
    SP_VECTOR(uint64_t) keys, spare_keys;
    SP_VECTOR(uint32_t) order, spare_order;
};

/* ---- Sorting ---------------------------------------------------------------------------------*/

static int64_t *merge_sort_numbers(int64_t *items, int64_t *spare, size_t count)
{
    for (size_t run = 1; run < count; run *= 2) {
        for (size_t low = 0; low < count; low += 2 * run) {
            size_t middle = count - low < run ? count : low + run;
            size_t high = count - low < 2 * run ? count : low + 2 * run;
            size_t a = low, b = middle, to = low;
            while (a < middle || b < high)
                spare[to++] = b == high || (a < middle && items[a] <= items[b]) ? items[a++]
                                                                                : items[b++];
        }
        int64_t *swap = items;
        items = spare;
        spare = swap;
    }
    return items;
}

/* Entries are gathered by source and position, so a stable sort only needs start and end. */
static bool comes_first(const entry *a, const entry *b)
{
    return a->start != b->start ? a->start < b->start : a->end >= b->end;
}

/* Stable, into `items`; `spare` holds as many. */
static void merge_sort_entries(const entry *window, uint32_t *items, uint32_t *spare, size_t count)
{
    uint32_t *from = items, *to = spare;
    for (size_t run = 1; run < count; run *= 2) {
        for (size_t low = 0; low < count; low += 2 * run) {
            size_t middle = count - low < run ? count : low + run;
            size_t high = count - low < 2 * run ? count : low + 2 * run;
            size_t a = low, b = middle, at = low;
            while (a < middle || b < high)
                to[at++] = b == high ||
                                   (a < middle && comes_first(&window[from[a]], &window[from[b]]))
                               ? from[a++] : from[b++];
        }
        uint32_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != items)
        memcpy(items, from, count * sizeof *items);
}

/* Sorts keys by the bits [POSITION_BITS, POSITION_BITS + bits); the result may lie in `spare`. */
static uint64_t *radix_sort(uint64_t *keys, uint64_t *spare, size_t count, int bits)
{
    for (int shift = POSITION_BITS; bits > 0; shift += DIGIT_BITS, bits -= DIGIT_BITS) {
        uint32_t starts[DIGITS] = {0};
        uint32_t sum = 0;
        for (size_t i = 0; i < count; i++)
            starts[keys[i] >> shift & (DIGITS - 1)]++;
        for (size_t d = 0; d < DIGITS; d++) {
            uint32_t size = starts[d];
            starts[d] = sum;
            sum += size;
        }
        for (size_t i = 0; i < count; i++)
            spare[starts[keys[i] >> shift & (DIGITS - 1)]++] = keys[i];
        uint64_t *swap = keys;
        keys = spare;
        spare = swap;
    }
    return keys;
}

/* ---- Windows ---------------------------------------------------------------------------------*/

/* Distance between sampled calls. A window holds at most as many calls as wanted plus one distance
 * of every source. */
static size_t sample_distance(size_t num_sources)
{
    size_t distance = WINDOW_CALLS / (num_sources + 1);
    return distance < 16 ? 16 : distance > 256 ? 256 : distance;
}

static int choose_cuts(sp_call_order *order, sp_error *error)
{
    const sp_call_source *sources = order->sources->list.items;
    size_t num_sources = order->sources->list.count;
    size_t distance = sample_distance(num_sources), count = 0;
    for (size_t s = 0; s < num_sources; s++)
        count += sources[s].count / distance;
    int64_t *samples = malloc((count + 1) * sizeof *samples);
    int64_t *spare = malloc((count + 1) * sizeof *spare);
    if (samples == NULL || spare == NULL) {
        free(samples);
        free(spare);
        return sp_fail_memory(error, "building a call tree");
    }
    size_t at = 0;
    for (size_t s = 0; s < num_sources; s++)
        for (size_t i = distance; i <= sources[s].count; i += distance)
            samples[at++] = sources[s].start[i - 1];
    int64_t *sorted = merge_sort_numbers(samples, spare, count);
    size_t step = WINDOW_CALLS / distance;
    for (size_t i = step; i < count; i += step)
        if (order->num_cuts == 0 || sorted[i] > sorted[order->num_cuts - 1])
            sorted[order->num_cuts++] = sorted[i];
    order->cuts = sorted;
    free(sorted == samples ? spare : samples);
    return SP_OK;
}

static bool find_earliest(const sp_call_order *order, int64_t *out)
{
    bool any = false;
    for (size_t s = 0; s < order->sources->list.count; s++) {
        const sp_call_source *source = &order->sources->list.items[s];
        if (order->next[s] == source->count)
            continue;
        int64_t start = source->start[order->next[s]];
        *out = !any || start < *out ? start : *out;
        any = true;
    }
    return any;
}

/* Gathers the calls that start before the next cut; false when memory is short. */
static bool gather(sp_call_order *order)
{
    int64_t cut = order->cut < order->num_cuts ? order->cuts[order->cut++] : INT64_MAX;
    bool is_last = cut == INT64_MAX;
    order->window.count = 0;
    for (size_t s = 0; s < order->sources->list.count; s++) {
        const sp_call_source *source = &order->sources->list.items[s];
        uint32_t from = order->next[s], to = from;
        while (to < source->count && (source->start[to] < cut || is_last))
            to++;
        if (!sp_vector_reserve(&order->window, to - from))
            return false;
        entry *out = order->window.items + order->window.count;
        for (uint32_t i = from; i < to; i++)
            *out++ = (entry){source->start[i], sp_wrap_add(source->start[i], source->duration[i]),
                             (uint32_t)s, i};
        order->window.count += to - from;
        order->next[s] = to;
    }
    return true;
}

static int bits_of(uint64_t value)
{
    int bits = 0;
    while (bits < 64 && value >> bits != 0)
        bits++;
    return bits;
}

/* Positions of the window in order of (start, later end first). */
static void sort_window(sp_call_order *order, int64_t earliest)
{
    const entry *window = order->window.items;
    size_t count = order->window.count;
    uint32_t *out = order->order.items;
    uint64_t latest = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t offset = (uint64_t)window[i].start - (uint64_t)earliest;
        latest = offset > latest ? offset : latest;
        out[i] = (uint32_t)i;
    }
    if (count > 1u << POSITION_BITS || latest >> TIME_BITS != 0) {
        merge_sort_entries(window, out, order->spare_order.items, count);
        return;
    }
    uint64_t *keys = order->keys.items;
    for (size_t i = 0; i < count; i++)
        keys[i] = ((uint64_t)window[i].start - (uint64_t)earliest) << POSITION_BITS | i;
    keys = radix_sort(keys, order->spare_keys.items, count, bits_of(latest));
    for (size_t i = 0; i < count; i++)
        out[i] = (uint32_t)(keys[i] & ((1u << POSITION_BITS) - 1));
    for (size_t i = 0, to; i < count; i = to) {
        for (to = i + 1; to < count && keys[to] >> POSITION_BITS == keys[i] >> POSITION_BITS;)
            to++;
        if (to > i + 1)
            merge_sort_entries(window, out + i, order->spare_order.items, to - i);
    }
}

void sp_call_order_write(const sp_call_order *order, sp_tree_arrays *tree, int64_t *ids, size_t at)
{
    for (size_t i = 0; i < order->window.count; i++, at++) {
        const entry *call = &order->window.items[order->order.items[i]];
        const sp_call_source *source = &order->sources->list.items[call->source];
        tree->row[at] = source->row;
        tree->call_index[at] = source->first + (uint64_t)call->index;
        tree->start[at] = call->start;
        tree->end[at] = call->end;
        if (tree->lane != NULL)
            tree->lane[at] = sp_call_lane(source, call->index);
        if (ids != NULL) {
            ids[i] = source->id[call->index];
            tree->parent[at] = source->parent[call->index];
        }
    }
}

/* ---- The order -------------------------------------------------------------------------------*/

int sp_call_order_create(const sp_call_sources *sources, sp_call_order **out, sp_error *error)
{
    sp_call_order *order = calloc(1, sizeof *order);
    if (order == NULL)
        return sp_fail_memory(error, "building a call tree");
    order->sources = sources;
    order->next = calloc(sources->list.count + 1, sizeof *order->next);
    int status = order->next == NULL ? sp_fail_memory(error, "building a call tree")
                                     : choose_cuts(order, error);
    if (status != SP_OK) {
        sp_call_order_free(order);
        return status;
    }
    *out = order;
    return SP_OK;
}

int sp_call_order_next(sp_call_order *order, size_t *out_count, sp_error *error)
{
    int64_t earliest = 0;
    *out_count = order->window.count = 0;
    if (!find_earliest(order, &earliest))
        return SP_OK;
    do {
        if (!gather(order))
            return sp_fail_memory(error, "building a call tree");
    } while (order->window.count == 0);
    size_t count = order->window.count;
    order->keys.count = order->spare_keys.count = 0;
    order->order.count = order->spare_order.count = 0;
    if (!sp_vector_reserve(&order->keys, count) || !sp_vector_reserve(&order->spare_keys, count) ||
        !sp_vector_reserve(&order->order, count) || !sp_vector_reserve(&order->spare_order, count))
        return sp_fail_memory(error, "building a call tree");
    sort_window(order, earliest);
    *out_count = count;
    return SP_OK;
}

void sp_call_order_free(sp_call_order *order)
{
    if (order == NULL)
        return;
    free(order->next);
    free(order->cuts);
    sp_vector_release(&order->window);
    sp_vector_release(&order->keys);
    sp_vector_release(&order->spare_keys);
    sp_vector_release(&order->order);
    sp_vector_release(&order->spare_order);
    free(order);
}
