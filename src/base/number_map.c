#include "base/number_map.h"

#include <stdlib.h>

static sp_number_slot *find(sp_number_slot *slots, size_t room, uint64_t key)
{
    size_t i = (size_t)sp_number_hash(key) & (room - 1);
    while (slots[i].value != SP_NUMBER_NONE && slots[i].key != key)
        i = (i + 1) & (room - 1);
    return &slots[i];
}

static bool grow(sp_number_map *map)
{
    if (map->room > SIZE_MAX / 4 / sizeof *map->slots)
        return false;
    size_t room = map->room == 0 ? 32 : map->room * 2;
    sp_number_slot *slots = malloc(room * sizeof *slots);
    if (slots == NULL)
        return false;
    for (size_t i = 0; i < room; i++)
        slots[i] = (sp_number_slot){.value = SP_NUMBER_NONE};
    for (size_t i = 0; i < map->room; i++)
        if (map->slots[i].value != SP_NUMBER_NONE)
            *find(slots, room, map->slots[i].key) = map->slots[i];
    free(map->slots);
    map->slots = slots;
    map->room = room;
    return true;
}

bool sp_number_map_set(sp_number_map *map, uint64_t key, uint32_t value)
{
    if (map->count * 3 >= map->room * 2 && !grow(map))
        return false;
    sp_number_slot *slot = find(map->slots, map->room, key);
    map->count += slot->value == SP_NUMBER_NONE;
    *slot = (sp_number_slot){.key = key, .value = value};
    return true;
}

void sp_number_map_release(sp_number_map *map)
{
    free(map->slots);
    *map = (sp_number_map){0};
}
