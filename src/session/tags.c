/* Tags of regions, as scope_profiler.h declares them, and which opt-in tags are enabled. All of it is
 * under the lock of the default profiler. */
#include "base/json.h"
#include "base/map.h"
#include "registry/opt_in_tags.h"
#include "session/environment.h"
#include "session/region.h"

#include <stdlib.h>
#include <string.h>

/* A region that native code tagged in the default profiler. */
typedef struct tagged_region {
    int32_t region;
    const char *tags;
    bool is_off; /* because of an opt-in tag */
} tagged_region;

static SP_VECTOR(tagged_region) tagged;
static sp_map enabled;
static sp_arena texts;
static bool enables_all, has_environment;

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

static bool enable(const char *list)
{
    const char *tag;
    size_t length;
    while ((tag = next_tag(&list, &length)) != NULL) {
        if (length == 1 && tag[0] == '*')
            enables_all = true;
        if (sp_map_get(&enabled, tag, length) != SP_MAP_NONE)
            continue;
        const char *copy = sp_arena_text_n(&texts, tag, length);
        if (copy == NULL || !sp_map_add(&enabled, copy, length, 1))
            return false;
    }
    return true;
}

static void read_environment(void)
{
    const char *list = sp_environment_text(SP_ENVIRONMENT_ENABLE_TAGS);
    if (!has_environment && list != NULL)
        enable(list);
    has_environment = true;
}

/* Whether an opt-in tag that is not enabled keeps a region off. One that is enabled lets it on. */
static bool is_held_off(const char *list)
{
    const char *tag;
    size_t length;
    bool is_off = false;
    while ((tag = next_tag(&list, &length)) != NULL) {
        char *copy = strndup(tag, length);
        bool is_opt_in = copy != NULL && sp_opt_in_tag_has(copy);
        free(copy);
        if (!is_opt_in)
            continue;
        if (enables_all || sp_map_get(&enabled, tag, length) != SP_MAP_NONE)
            return false;
        is_off = true;
    }
    return is_off;
}

static void set_state(sp_profiler *profiler, int32_t region, bool is_off)
{
    sp_recording *recording = &profiler->recording;
    sp_lane *own = sp_recording_lock(recording);
    if (sp_region_table_state(&recording->regions, (uint32_t)region) != SP_REGION_UNKNOWN)
        sp_region_table_set(&recording->regions, region,
                            is_off ? SP_REGION_DISABLED : SP_REGION_RECORD);
    sp_recording_unlock(recording, own);
}

/* After tags were enabled or declared opt-in. */
static void look_again(void)
{
    for (size_t i = 0; i < tagged.count; i++) {
        tagged_region *entry = &tagged.items[i];
        bool is_off = is_held_off(entry->tags);
        if (is_off != entry->is_off)
            set_state(&sp_default, entry->region, is_off);
        entry->is_off = is_off;
    }
}

/* The entry of that region, made when there is none; NULL: memory is short. */
static tagged_region *remember(int32_t region, const char *tags)
{
    size_t i = 0;
    while (i < tagged.count && tagged.items[i].region != region)
        i++;
    if (i == tagged.count) {
        if (!sp_vector_reserve(&tagged, 1))
            return NULL;
        tagged.items[tagged.count++] = (tagged_region){.region = region};
    }
    tagged_region *entry = &tagged.items[i];
    if (entry->tags == NULL || strcmp(entry->tags, tags) != 0)
        entry->tags = sp_arena_text(&texts, tags);
    return entry->tags == NULL ? NULL : entry;
}

static void store_tags(sp_profiler *profiler, int32_t region, const char *list)
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
    sp_region_table *table = &profiler->recording.regions;
    sp_lane *own = sp_recording_lock(&profiler->recording);
    sp_region_entry *entry = sp_region_table_find(table, region);
    if (entry != NULL && !json.failed)
        sp_region_table_tags(table, entry, json.bytes);
    sp_recording_unlock(&profiler->recording, own);
    sp_text_release(&json);
}

int sp_profiler_region_tagged(sp_profiler *profiler, const char *name, const char *tags)
{
    int region = sp_profiler_region(profiler, name);
    if (region == SP_INVALID_REGION || tags == NULL || tags[0] == '\0' ||
        sp_profiler_default() == NULL)
        return region;
    sp_mutex_lock(&sp_default.lock);
    read_environment();
    store_tags(profiler, region, tags);
    bool is_off = is_held_off(tags);
    if (is_off)
        set_state(profiler, region, true);
    tagged_region *entry = profiler == &sp_default ? remember(region, tags) : NULL;
    if (entry != NULL)
        entry->is_off = is_off;
    sp_mutex_unlock(&sp_default.lock);
    return region;
}

int sp_region_tagged(const char *name, const char *tags)
{
    return sp_profiler_region_tagged(sp_profiler_default(), name, tags);
}

int sp_register_opt_in_tag(const char *tag)
{
    sp_profiler *profiler = sp_profiler_default();
    if (profiler == NULL)
        return SP_ERR_NO_MEMORY;
    sp_mutex_lock(&profiler->lock);
    read_environment();
    int status = sp_opt_in_tag_add(tag, &profiler->last_error);
    if (status == SP_OK)
        look_again();
    sp_mutex_unlock(&profiler->lock);
    return status;
}

int sp_enable_tags(const char *tags)
{
    sp_profiler *profiler = sp_profiler_default();
    if (profiler == NULL)
        return SP_ERR_NO_MEMORY;
    if (tags == NULL)
        return SP_ERR_INVALID_ARGUMENT;
    sp_mutex_lock(&profiler->lock);
    read_environment();
    bool fits = enable(tags);
    look_again();
    sp_mutex_unlock(&profiler->lock);
    return fits ? SP_OK : SP_ERR_NO_MEMORY;
}
