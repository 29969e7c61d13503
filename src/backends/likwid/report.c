#include "backends/likwid/report.h"

#include "base/json.h"

#include <stdlib.h>
#include <string.h>

extern char **environ;

static void put_text(sp_text *out, const char *bytes)
{
    bytes = bytes == NULL ? "" : bytes;
    sp_json_string(out, bytes, strlen(bytes));
}

/* The region on the next thread that has measured it, from `*at` on, which moves on. */
static const likwid_region *next_of(likwid_thread **at, size_t number)
{
    while (*at != NULL) {
        likwid_thread *thread = *at;
        *at = thread->next;
        if (number < thread->regions.count && thread->regions.items[number].events != NULL)
            return &thread->regions.items[number];
    }
    return NULL;
}

typedef enum column { PROCESSORS, SECONDS, COUNTS, MISSED, EVENT } column;

/* One value for each thread. */
static void put_column(sp_text *out, likwid_thread *first, size_t number, column what, int event)
{
    const char *between = "[";
    for (const likwid_region *r; (r = next_of(&first, number)) != NULL; between = ", ") {
        sp_text_add(out, between);
        if (what == PROCESSORS)
            sp_json_integer(out, r->processor);
        else if (what == SECONDS)
            sp_json_real(out, r->seconds);
        else if (what == COUNTS)
            sp_json_integer(out, r->count);
        else if (what == MISSED)
            sp_json_integer(out, (int64_t)r->missed);
        else
            sp_json_real(out, event < r->num_events ? r->events[event] : 0.0);
    }
    sp_text_add(out, "]");
}

static char *names_of(char *(*name)(int group, int event), int group, int count)
{
    sp_text out = {0};
    sp_text_add(&out, "[");
    for (int i = 0; i < count; i++) {
        sp_text_add(&out, i == 0 ? "" : ", ");
        put_text(&out, name(group, i));
    }
    sp_text_add(&out, "]");
    return sp_text_take(&out);
}

bool sp_likwid_groups_take(likwid_groups *groups, const likwid_functions *likwid)
{
    int count = likwid->num_groups();
    *groups = (likwid_groups){.items = calloc((size_t)count + 1, sizeof *groups->items)};
    if (groups->items == NULL)
        return false;
    for (int i = 0; i < count; i++) {
        likwid_group *group = &groups->items[groups->count++];
        sp_text name = {0};
        int events = likwid->num_events(i);
        group->num_events = events < 0                    ? 0
                            : events > LIKWID_EVENTS_MOST ? LIKWID_EVENTS_MOST
                                                          : events;
        put_text(&name, likwid->group_name(i));
        group->name = sp_text_take(&name);
        group->events = names_of(likwid->event_name, i, group->num_events);
        group->counters = names_of(likwid->counter_name, i, group->num_events);
        if (group->name == NULL || group->events == NULL || group->counters == NULL)
            return false;
    }
    return true;
}

void sp_likwid_groups_release(likwid_groups *groups)
{
    for (int i = 0; i < groups->count; i++) {
        free(groups->items[i].name);
        free(groups->items[i].events);
        free(groups->items[i].counters);
    }
    free(groups->items);
    *groups = (likwid_groups){.count = 0};
}

static void put_region(sp_text *out, const likwid_groups *groups, likwid_thread *first,
                       const likwid_region *region, size_t number)
{
    static char no_name[] = "\"\"", no_list[] = "[]";
    static const likwid_group unknown = {.name = no_name, .events = no_list, .counters = no_list};
    bool is_known = region->group >= 0 && region->group < groups->count;
    const likwid_group *group = is_known ? &groups->items[region->group] : &unknown;
    put_text(out, region->name);
    sp_text_add(out, ": {\"tag\": ");
    put_text(out, region->name);
    sp_text_format(out, ", \"group_id\": %d, \"group_name\": %s, \"cpus\": ", region->group,
                   group->name);
    put_column(out, first, number, PROCESSORS, 0);
    sp_text_add(out, ", \"times\": ");
    put_column(out, first, number, SECONDS, 0);
    sp_text_add(out, ", \"call_counts\": ");
    put_column(out, first, number, COUNTS, 0);
    sp_text_format(out, ", \"event_names\": %s, \"counter_names\": %s, \"events\": [",
                   group->events, group->counters);
    for (int event = 0; event < group->num_events; event++) {
        sp_text_add(out, event == 0 ? "" : ", ");
        put_column(out, first, number, EVENT, event);
    }
    sp_text_add(out, "], \"metric_names\": [], \"metrics\": [], \"source\": \"marker_api\", "
                     "\"missed_calls\": ");
    put_column(out, first, number, MISSED, 0);
    sp_text_add(out, "}");
}

static void lock_all(likwid_thread *first)
{
    for (; first != NULL; first = first->next)
        sp_mutex_lock(&first->lock);
}

static void unlock_all(likwid_thread *first)
{
    for (; first != NULL; first = first->next)
        sp_mutex_unlock(&first->lock);
}

char *sp_likwid_report(const likwid_groups *groups, likwid_thread *first, uint32_t rank)
{
    sp_text out = {0};
    size_t num_regions = 0, written = 0;
    sp_text_format(&out, "{\"%u\": {", (unsigned)rank);
    lock_all(first);
    for (likwid_thread *at = first; at != NULL; at = at->next)
        num_regions = at->regions.count > num_regions ? at->regions.count : num_regions;
    for (size_t number = 0; number < num_regions; number++) {
        likwid_thread *at = first;
        const likwid_region *region = next_of(&at, number);
        if (region == NULL)
            continue;
        sp_text_add(&out, written++ == 0 ? "" : ", ");
        put_region(&out, groups, first, region, number);
    }
    unlock_all(first);
    sp_text_add(&out, "}}");
    if (written == 0) {
        sp_text_release(&out);
        return NULL;
    }
    return sp_text_take(&out);
}

char *sp_likwid_environment(uint32_t rank)
{
    sp_text out = {0};
    size_t written = 0;
    sp_text_format(&out, "{\"%u\": {", (unsigned)rank);
    for (char **at = environ; *at != NULL; at++) {
        const char *end = strchr(*at, '=');
        if (strncmp(*at, "LIKWID_", strlen("LIKWID_")) != 0 || end == NULL)
            continue;
        sp_text_add(&out, written++ == 0 ? "" : ", ");
        sp_json_string(&out, *at, (size_t)(end - *at));
        sp_text_add(&out, ": ");
        put_text(&out, end + 1);
    }
    sp_text_add(&out, "}}");
    return sp_text_take(&out);
}
