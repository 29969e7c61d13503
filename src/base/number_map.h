/* number_map.h - 64-bit number to 32-bit number, open addressing, grows. */
#ifndef SP_BASE_NUMBER_MAP_H
#define SP_BASE_NUMBER_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SP_NUMBER_NONE UINT32_MAX /* no value; may not be stored */

typedef struct sp_number_slot {
    uint64_t key;
    uint32_t value; /* SP_NUMBER_NONE: free */
} sp_number_slot;

/* Zeroed memory is an empty map. One thread at a time. */
typedef struct sp_number_map {
    sp_number_slot *slots;
    size_t count, room; /* room is 0 or a power of two */
} sp_number_map;

/* Every bit of the key reaches the low bits, which choose the slot. */
static inline uint64_t sp_number_hash(uint64_t key)
{
    key = (key ^ (key >> 32)) * UINT64_C(0x9E3779B97F4A7C15);
    return key ^ (key >> 29);
}

/* Value of that key, SP_NUMBER_NONE when absent. */
static inline uint32_t sp_number_map_get(const sp_number_map *map, uint64_t key)
{
    if (map->room == 0)
        return SP_NUMBER_NONE;
    size_t i = (size_t)sp_number_hash(key) & (map->room - 1);
    while (map->slots[i].value != SP_NUMBER_NONE && map->slots[i].key != key)
        i = (i + 1) & (map->room - 1);
    return map->slots[i].value;
}

/* Sets it, over an older value; false when memory is short. */
bool sp_number_map_set(sp_number_map *map, uint64_t key, uint32_t value);
void sp_number_map_release(sp_number_map *map);

#endif
