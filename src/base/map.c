#include "base/map.h"

#include <stdlib.h>
#include <string.h>

/* FNV-1a, 64 bit (offset basis and prime as published by its authors), finished with a multiply and
 * shift so that the low bits, which choose the slot, depend on every byte. */
uint64_t sp_map_hash(const char *key, size_t length)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)key[i]) * UINT64_C(1099511628211);
    hash ^= hash >> 32;
    return hash * UINT64_C(0x9E3779B97F4A7C15) >> 1;
}

static sp_map_slot *find(sp_map_slot *slots, size_t room, const char *key, size_t length,
                         uint64_t hash)
{
    size_t i = (size_t)(hash >> 8) & (room - 1);
    while (slots[i].key != NULL) {
        if (slots[i].hash == hash && slots[i].length == length &&
            memcmp(slots[i].key, key, length) == 0)
            break;
        i = (i + 1) & (room - 1);
    }
    return &slots[i];
}

uint32_t sp_map_get(const sp_map *map, const char *key, size_t length)
{
    if (map->room == 0)
        return SP_MAP_NONE;
    sp_map_slot *slot = find(map->slots, map->room, key, length, sp_map_hash(key, length));
    return slot->key == NULL ? SP_MAP_NONE : slot->value;
}

static bool grow(sp_map *map)
{
    size_t room = map->room == 0 ? 32 : map->room * 2;
    sp_map_slot *slots = calloc(room, sizeof *slots);
    if (slots == NULL)
        return false;
    for (size_t i = 0; i < map->room; i++) {
        sp_map_slot *old = &map->slots[i];
        if (old->key != NULL)
            *find(slots, room, old->key, old->length, old->hash) = *old;
    }
    free(map->slots);
    map->slots = slots;
    map->room = room;
    return true;
}

bool sp_map_add(sp_map *map, const char *key, size_t length, uint32_t value)
{
    if (length > UINT32_MAX)
        return false;
    if (map->count * 4 >= map->room * 3 && !grow(map))
        return false;
    uint64_t hash = sp_map_hash(key, length);
    sp_map_slot *slot = find(map->slots, map->room, key, length, hash);
    *slot = (sp_map_slot){.key = key, .length = (uint32_t)length, .value = value, .hash = hash};
    map->count++;
    return true;
}

void sp_map_release(sp_map *map)
{
    free(map->slots);
    *map = (sp_map){0};
}
