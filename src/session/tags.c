/* Tags of regions, as scope_profiler.h declares them, and which of them keep a region off. */
#include "session/copies.h"
#include "session/tags.h"

#include "base/error.h"
#include "base/json.h"
#include "base/map.h"
#include "recorder/attach.h"
#include "registry/opt_in_tags.h"
#include "session/environment.h"
#include "session/journal.h"
#include "session/region.h"

#include <stdlib.h>
#include <string.h>

typedef struct tag_set {
    sp_map map;
    sp_arena texts;
    bool has_all; /* "*" is in it */
} tag_set;

static sp_mutex tags_lock = SP_MUTEX_INIT; /* for everything here */

/* What native code has said of a region of the default profiler, for the life of the process. */
typedef struct native_region {
    const char *tags; /* a list, "": none */
    const char *file; /* where it was defined, NULL: unknown */
    int line;
} native_region;

static sp_number_map places; /* region -> position in `known` */
static SP_VECTOR(native_region) known;
static sp_arena texts;
static tag_set enabled; /* by native code and the environment */
static tag_set wanted_by_host, enabled_by_host;
static bool has_environment;

/* The next tag of a list, without blanks around it; moves `*list` on. NULL: there is none left. */
static const char *next_tag(const char **list, size_t *out_length)
{
    static const char separators[] = ", \t\n";
    *list += strspn(*list, separators);
    if (**list == '\0')
        return NULL;
    const char *tag = *list;
    size_t length = strcspn(tag, ",");
    *list += length;
    while (strchr(separators, tag[length - 1]) != NULL)
        length--;
    *out_length = length;
    return tag;
}

/* A signal handler that begins a region waits for no lock of its own thread. */
static sp_lane *lock_tags(void)
{
    sp_lane *own = sp_thread_occupy();
    sp_mutex_lock(&tags_lock);
    return own;
}

static void unlock_tags(sp_lane *own)
{
    sp_mutex_unlock(&tags_lock);
    sp_thread_vacate(own);
}

static bool has(const tag_set *set, const char *tag, size_t length)
{
    return sp_map_get(&set->map, tag, length) != SP_MAP_NONE;
}

static bool add(tag_set *set, const char *tag, size_t length)
{
    if (has(set, tag, length))
        return true;
    const char *copy = sp_arena_text_n(&set->texts, tag, length);
    set->has_all = set->has_all || (length == 1 && tag[0] == '*');
    return copy != NULL && sp_map_add(&set->map, copy, length, 1);
}

static void empty(tag_set *set)
{
    sp_map_release(&set->map);
    sp_arena_release(&set->texts);
    set->has_all = false;
}

static bool enable(const char *list)
{
    const char *tag;
    size_t length;
    while ((tag = next_tag(&list, &length)) != NULL)
        if (!add(&enabled, tag, length))
            return false;
    return true;
}

static void read_environment(void)
{
    const char *list = sp_environment_text(SP_ENVIRONMENT_ENABLE_TAGS);
    if (!has_environment && list != NULL)
        enable(list);
    has_environment = true;
}

static bool is_opt_in(const char *tag, size_t length)
{
    char *copy = strndup(tag, length);
    bool answer = copy != NULL && sp_opt_in_tag_has(copy);
    free(copy);
    return answer;
}

/* Whether tags keep a region off: an opt-in tag, unless one of the region's is enabled; and for the
 * default profiler that its host wants none of them. */
static bool is_held_off(const sp_profiler *profiler, const char *list)
{
    const tag_set *wanted = profiler == &sp_default ? &wanted_by_host : NULL;
    const tag_set *more = profiler == &sp_default ? &enabled_by_host : NULL;
    const char *tag;
    size_t length;
    bool is_wanted = wanted == NULL || wanted->map.count == 0;
    bool is_hidden = false, is_enabled = enabled.has_all || (more != NULL && more->has_all);
    while ((tag = next_tag(&list, &length)) != NULL) {
        bool is_asked_for = wanted != NULL && has(wanted, tag, length);
        is_wanted = is_wanted || is_asked_for;
        if (!is_opt_in(tag, length))
            continue;
        is_hidden = true;
        is_enabled = is_enabled || is_asked_for || has(&enabled, tag, length) ||
                     (more != NULL && has(more, tag, length));
    }
    return !is_wanted || (is_hidden && !is_enabled);
}

static native_region *find(int32_t region)
{
    uint32_t place = sp_number_map_get(&places, (uint64_t)region);
    return place == SP_NUMBER_NONE ? NULL : &known.items[place];
}

static const char *list_of(int32_t region)
{
    const native_region *entry = find(region);
    return entry == NULL ? "" : entry->tags;
}

/* Made when there is none yet; NULL: memory is short. */
static native_region *find_or_make(int32_t region)
{
    native_region *entry = find(region);
    if (entry != NULL)
        return entry;
    if (!sp_vector_reserve(&known, 1) ||
        !sp_number_map_set(&places, (uint64_t)region, (uint32_t)known.count))
        return NULL;
    known.items[known.count++] = (native_region){.tags = "", .line = -1};
    return &known.items[known.count - 1];
}

/* False: memory is short. */
static bool remember(int32_t region, const char *tags)
{
    native_region *entry = find_or_make(region);
    if (entry == NULL || strcmp(entry->tags, tags) == 0)
        return entry != NULL;
    const char *copy = sp_arena_text(&texts, tags);
    if (copy != NULL)
        entry->tags = copy;
    return copy != NULL;
}

void sp_tags_remember_site(int32_t region, const char *file, int line)
{
    sp_lane *own = lock_tags();
    native_region *entry = find_or_make(region);
    if (entry != NULL && entry->file == NULL) {
        entry->file = sp_arena_text(&texts, file);
        entry->line = line;
    }
    unlock_tags(own);
}

static sp_region_state state_of(const sp_profiler *profiler, const char *list)
{
    return is_held_off(profiler, list) ? SP_REGION_DISABLED : SP_REGION_RECORD;
}

sp_region_state sp_tags_first_state(const sp_profiler *profiler, int32_t region)
{
    sp_lane *own = lock_tags();
    read_environment();
    sp_region_state state = state_of(profiler, profiler == &sp_default ? list_of(region) : "");
    unlock_tags(own);
    return state;
}

static void look_again(void)
{
    sp_region_table *table = &sp_default.recording.regions;
    sp_lane *own = sp_recording_lock(&sp_default.recording);
    for (size_t i = 0; i < table->count; i++) {
        int32_t region = table->entries[i].region;
        if (table->entries[i].is_native)
            sp_region_table_set(table, region, state_of(&sp_default, list_of(region)));
    }
    sp_recording_unlock(&sp_default.recording, own);
}

static bool fill(tag_set *set, const sp_binding_tags *tags)
{
    empty(set);
    for (size_t i = 0; i < tags->count; i++)
        if (!add(set, tags->items[i], strlen(tags->items[i])))
            return false;
    return true;
}

int sp_tags_filter(const sp_binding_tags *wanted, const sp_binding_tags *more, sp_error *error)
{
    sp_lane *own = lock_tags();
    bool fits = fill(&wanted_by_host, wanted) && fill(&enabled_by_host, more);
    if (fits)
        look_again();
    unlock_tags(own);
    return fits ? SP_OK : sp_fail_memory(error, "taking tags");
}

void sp_tags_fork_child(void)
{
    sp_mutex_reset(&tags_lock);
}

/* Under the lock of the recording. */
static void store_tags(sp_region_table *table, sp_region_entry *entry, const char *list)
{
    const char *tag;
    size_t length;
    sp_text json = {0};
    sp_text_add(&json, "[");
    while ((tag = next_tag(&list, &length)) != NULL) {
        sp_text_add(&json, json.length > 1 ? ", " : "");
        sp_json_string(&json, tag, length);
    }
    sp_text_add(&json, "]");
    if (!json.failed)
        sp_region_table_tags(table, entry, json.bytes);
    sp_text_release(&json);
}

/* The region is as native code has tagged it now, unless the host has defined it. */
static void apply(sp_profiler *profiler, int32_t region, const char *tags)
{
    sp_region_table *table = &profiler->recording.regions;
    sp_lane *own = sp_recording_lock(&profiler->recording);
    sp_region_entry *entry = sp_region_table_find(table, region);
    if (entry != NULL && (entry->is_native || entry->tags_json == NULL))
        store_tags(table, entry, tags);
    if (entry != NULL && entry->is_native)
        sp_region_table_set(table, region, state_of(profiler, tags));
    if (entry != NULL)
        sp_profiler_journal_region(profiler, entry);
    sp_recording_unlock(&profiler->recording, own);
}

int sp_profiler_region_tagged(sp_profiler *profiler, const char *name, const char *tags)
{
    SP_PASS_ON(sp_profiler_region_tagged, (profiler, name, tags));
    int region = sp_profiler_region(profiler, name);
    if (region == SP_INVALID_REGION || tags == NULL || tags[0] == '\0')
        return region;
    sp_lane *own = lock_tags();
    read_environment();
    if (profiler != &sp_default || remember(region, tags))
        apply(profiler, region, tags);
    unlock_tags(own);
    return region;
}

static void restore_site(const native_region *from, int32_t region)
{
    sp_region_table *table = &sp_default.recording.regions;
    sp_lane *own = sp_recording_lock(&sp_default.recording);
    sp_region_entry *entry = sp_region_table_find(table, region);
    if (entry != NULL)
        sp_region_table_source(table, entry, from->file, from->line, NULL);
    sp_recording_unlock(&sp_default.recording, own);
}

void sp_tags_restore(int32_t region)
{
    sp_lane *own = lock_tags();
    const native_region *entry = find(region);
    if (entry != NULL && entry->tags[0] != '\0')
        apply(&sp_default, region, entry->tags);
    if (entry != NULL && entry->file != NULL)
        restore_site(entry, region);
    unlock_tags(own);
}

int sp_region_tagged(const char *name, const char *tags)
{
    SP_PASS_ON(sp_region_tagged, (name, tags));
    return sp_profiler_region_tagged(sp_profiler_default(), name, tags);
}

int sp_register_opt_in_tag(const char *tag)
{
    SP_PASS_ON(sp_register_opt_in_tag, (tag));
    sp_profiler *profiler = sp_profiler_default();
    sp_error error = {0};
    if (profiler == NULL)
        return SP_ERR_NO_MEMORY;
    sp_lane *own = lock_tags();
    read_environment();
    int status = sp_opt_in_tag_add(tag, &error);
    if (status == SP_OK)
        look_again();
    unlock_tags(own);
    if (status != SP_OK) {
        sp_mutex_lock(&profiler->lock);
        profiler->last_error = error;
        sp_mutex_unlock(&profiler->lock);
    }
    return status;
}

int sp_enable_tags(const char *tags)
{
    SP_PASS_ON(sp_enable_tags, (tags));
    if (sp_profiler_default() == NULL)
        return SP_ERR_NO_MEMORY;
    if (tags == NULL)
        return SP_ERR_INVALID_ARGUMENT;
    sp_lane *own = lock_tags();
    read_environment();
    bool fits = enable(tags);
    look_again();
    unlock_tags(own);
    return fits ? SP_OK : SP_ERR_NO_MEMORY;
}
