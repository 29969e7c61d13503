#include "registry/names.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/map.h"
#include "registry/registry_lock.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    PAGE_BITS = 12,
    PAGE_NAMES = 1 << PAGE_BITS,
    NUM_PAGES = SP_REGION_LIMIT >> PAGE_BITS
};

/* Under the lock. */
static sp_map ids;
static sp_arena texts;
static atomic_int count;
/* Pages come once and never move, so a name is found without the lock. */
static _Atomic(const char **) pages[NUM_PAGES];

static bool add_name(int32_t id, const char *name)
{
    const char **page = atomic_load_explicit(&pages[id >> PAGE_BITS], memory_order_relaxed);
    if (page == NULL) {
        page = calloc(PAGE_NAMES, sizeof *page);
        if (page == NULL)
            return false;
        atomic_store_explicit(&pages[id >> PAGE_BITS], page, memory_order_release);
    }
    page[id & (PAGE_NAMES - 1)] = name;
    return true;
}

static int32_t add(const char *name, size_t length, sp_error *error)
{
    int32_t id = atomic_load_explicit(&count, memory_order_relaxed);
    if (id >= SP_REGION_LIMIT) {
        sp_fail(error, SP_ERR_NO_MEMORY,
                "more than %d region names in one process; name what varies as metadata instead",
                (int)SP_REGION_LIMIT);
        return SP_INVALID_REGION;
    }
    char *copy = sp_arena_text_n(&texts, name, length);
    if (copy == NULL || !add_name(id, copy) || !sp_map_add(&ids, copy, length, (uint32_t)id)) {
        sp_fail_memory(error, "adding a region name");
        return SP_INVALID_REGION;
    }
    atomic_store_explicit(&count, id + 1, memory_order_release);
    return id;
}

int32_t sp_names_intern(const char *name, size_t length, sp_error *error)
{
    if (name == NULL || length == 0) {
        sp_fail(error, SP_ERR_INVALID_ARGUMENT, "a region name must not be empty");
        return SP_INVALID_REGION;
    }
    if (memchr(name, '\0', length) != NULL) {
        sp_fail(error, SP_ERR_INVALID_ARGUMENT,
                "region name '%s...' holds a NUL character, which no output can store", name);
        return SP_INVALID_REGION;
    }
    sp_registry_lock();
    uint32_t known = sp_map_get(&ids, name, length);
    int32_t id = known != SP_MAP_NONE ? (int32_t)known : add(name, length, error);
    sp_registry_unlock();
    return id;
}

int32_t sp_names_find(const char *name, size_t length)
{
    if (name == NULL)
        return SP_INVALID_REGION;
    sp_registry_lock();
    uint32_t known = sp_map_get(&ids, name, length);
    sp_registry_unlock();
    return known == SP_MAP_NONE ? SP_INVALID_REGION : (int32_t)known;
}

const char *sp_names_get(int32_t region)
{
    if (region < 0 || region >= atomic_load_explicit(&count, memory_order_acquire))
        return NULL;
    const char **page = atomic_load_explicit(&pages[region >> PAGE_BITS], memory_order_acquire);
    return page[region & (PAGE_NAMES - 1)];
}

int32_t sp_names_count(void)
{
    return atomic_load_explicit(&count, memory_order_acquire);
}
