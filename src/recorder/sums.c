#include "recorder/sums.h"

#include "log/record.h"

#include <stdlib.h>
#include <string.h>

static bool grow(sp_sums *sums, size_t page)
{
    size_t wanted = page + page / 2 + 4;
    sp_sum **pages = realloc(sums->pages, wanted * sizeof(sp_sum *));
    if (pages == NULL)
        return false;
    memset(pages + sums->num_pages, 0, (wanted - sums->num_pages) * sizeof(sp_sum *));
    sums->pages = pages;
    sums->num_pages = wanted;
    return true;
}

static sp_sum *make_page(void)
{
    sp_sum *page = malloc(SP_SUMS_PAGE * sizeof *page);
    for (size_t i = 0; page != NULL && i < SP_SUMS_PAGE; i++)
        page[i] = SP_SUM_EMPTY;
    return page;
}

sp_sum *sp_sums_cell(sp_sums *sums, uint32_t region)
{
    size_t page = region / SP_SUMS_PAGE;
    if (page >= sums->num_pages && !grow(sums, page))
        return NULL;
    if (sums->pages[page] == NULL)
        sums->pages[page] = make_page();
    return sums->pages[page] == NULL ? NULL : &sums->pages[page][region % SP_SUMS_PAGE];
}

const sp_sum *sp_sums_find(const sp_sums *sums, uint32_t region)
{
    size_t page = region / SP_SUMS_PAGE;
    if (page >= sums->num_pages || sums->pages[page] == NULL)
        return NULL;
    return &sums->pages[page][region % SP_SUMS_PAGE];
}

static inline void add_call(sp_sum *sum, int64_t ns)
{
    sum->count++;
    sum->total += ns;
    sum->minimum = ns < sum->minimum ? ns : sum->minimum;
    sum->maximum = ns > sum->maximum ? ns : sum->maximum;
}

/* False when there was no memory to follow the nesting. */
static bool add_marked(sp_sum *sum, const uint64_t *words, const sp_timeline_rate *rate,
                       sp_resolver *nesting)
{
    uint32_t flags = (uint32_t)words[SP_MARKED_FLAGS];
    bool is_appended = (flags & SP_CALL_APPENDED) != 0;
    uint64_t start = words[SP_MARKED_START], end = words[SP_MARKED_END];
    int64_t length = is_appended ? (int64_t)(end - start) : sp_timeline_span_ns(rate, start, end);
    add_call(sum, length);
    sum->resumptions += (flags & SP_CALL_RESUMPTION) != 0;
    if (nesting == NULL)
        return true;
    /* Only differences of these times count, so they may be measured from the call's start. */
    sp_marked_call call = {
        .flags = flags,
        .depth = (uint32_t)words[SP_MARKED_DEPTH],
        .below = (uint32_t)words[SP_MARKED_BELOW],
        .number = words[SP_MARKED_NUMBER],
        .parent = words[SP_MARKED_PARENT],
        .end_ns = length,
        .outer_from_ns = is_appended ? 0 : sp_timeline_span_ns(rate, start, words[SP_MARKED_OUTER_FROM]),
        .inner_from_ns = is_appended ? length : sp_timeline_span_ns(rate, start, words[SP_MARKED_INNER_FROM]),
    };
    sp_resolved resolved;
    if (!sp_resolver_marked(nesting, &call, &resolved))
        return false;
    sum->exclusive += resolved.exclusive_ns;
    return true;
}

static inline bool add_short(sp_sum *sum, const uint64_t *words, const sp_timeline_rate *rate,
                             sp_resolver *nesting)
{
    int64_t ns = sp_timeline_span_ns(rate, words[1], words[2]);
    add_call(sum, ns);
    if (nesting == NULL)
        return true;
    sp_resolved resolved;
    if (!sp_resolver_call(nesting, sp_record_depth(words[0]), ns, &resolved))
        return false;
    sum->exclusive += resolved.exclusive_ns;
    return true;
}

/* Any call but a plain one. */
static __attribute__((noinline)) bool add_other(sp_sum *sum, const uint64_t *words,
                                                const sp_timeline_rate *rate, sp_resolver *nesting)
{
    if (sp_record_kind_of(words[0]) == SP_RECORD_CALL_MARKED)
        return add_marked(sum, words, rate, nesting);
    sum->resumptions++;
    return add_short(sum, words, rate, nesting);
}

uint64_t sp_sums_add_words(sp_sums *sums, const uint64_t *words, size_t count,
                           const sp_timeline *timeline, sp_resolver *nesting)
{
    const uint64_t *end = words + count;
    sp_timeline_rate rate = sp_timeline_current_rate(timeline);
    uint64_t lost = 0;
    uint32_t last_region = 0;
    sp_sum *sum = NULL;
    while (words < end) {
        const uint64_t *record = words;
        bool is_plain = __builtin_expect(sp_record_is_plain(record[0]), 1);
        words += is_plain ? (uint32_t)SP_RECORD_CALL_WORDS : sp_record_words(record[0]);
        if (!is_plain && !sp_record_is_call(record[0]))
            continue;
        uint32_t region = sp_record_region(record[0]);
        if (region != last_region || sum == NULL)
            sum = sp_sums_cell(sums, region);
        last_region = region;
        if (sum == NULL || !(is_plain ? add_short(sum, record, &rate, nesting)
                                      : add_other(sum, record, &rate, nesting)))
            lost++;
    }
    return lost;
}

bool sp_sums_add_call(sp_sums *sums, uint32_t region, uint32_t flags, int64_t ns)
{
    sp_sum *sum = sp_sums_cell(sums, region);
    if (sum == NULL)
        return false;
    add_call(sum, ns);
    sum->resumptions += (flags & SP_CALL_RESUMPTION) != 0;
    return true;
}

void sp_sum_add(sp_sum *to, const sp_sum *from)
{
    to->minimum = from->minimum < to->minimum ? from->minimum : to->minimum;
    to->maximum = from->maximum > to->maximum ? from->maximum : to->maximum;
    to->total += from->total;
    to->count += from->count;
    to->untimed += from->untimed;
    to->opened += from->opened;
    to->resumptions += from->resumptions;
    to->exclusive += from->exclusive;
}

uint64_t sp_sums_move(sp_sums *to, sp_sums *from)
{
    uint64_t lost = 0;
    for (size_t page = 0; page < from->num_pages; page++) {
        const sp_sum *cells = from->pages[page];
        for (size_t i = 0; cells != NULL && i < SP_SUMS_PAGE; i++) {
            if (cells[i].count == 0 && cells[i].opened == 0 && cells[i].untimed == 0)
                continue;
            sp_sum *cell = sp_sums_cell(to, (uint32_t)(page * SP_SUMS_PAGE + i));
            if (cell != NULL)
                sp_sum_add(cell, &cells[i]);
            else
                lost += cells[i].count;
        }
    }
    sp_sums_release(from);
    return lost;
}

void sp_sums_release(sp_sums *sums)
{
    for (size_t page = 0; page < sums->num_pages; page++)
        free(sums->pages[page]);
    free(sums->pages);
    *sums = (sp_sums){0};
}
