#include "registry/opt_in_tags.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/map.h"
#include "registry/registry_lock.h"

#include <string.h>

static sp_map tags;
static sp_arena texts;

int sp_opt_in_tag_add(const char *tag, sp_error *error)
{
    if (tag == NULL || tag[0] == '\0')
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "an opt-in tag must not be empty");
    size_t length = strlen(tag);
    int status = SP_OK;
    sp_registry_lock();
    if (sp_map_get(&tags, tag, length) == SP_MAP_NONE) {
        const char *copy = sp_arena_text_n(&texts, tag, length);
        if (copy == NULL || !sp_map_add(&tags, copy, length, 1))
            status = sp_fail_memory(error, "adding an opt-in tag");
    }
    sp_registry_unlock();
    return status;
}

bool sp_opt_in_tag_has(const char *tag)
{
    sp_registry_lock();
    bool has = sp_map_get(&tags, tag, strlen(tag)) != SP_MAP_NONE;
    sp_registry_unlock();
    return has;
}

uint32_t sp_opt_in_tag_count(void)
{
    sp_registry_lock();
    uint32_t count = (uint32_t)tags.count;
    sp_registry_unlock();
    return count;
}
