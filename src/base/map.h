/* map.h - text to 32-bit number, open addressing, grows. Keys are borrowed: whoever inserts keeps
 * them alive. */
#ifndef SP_BASE_MAP_H
#define SP_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SP_MAP_NONE UINT32_MAX

typedef struct sp_map_slot {
    const char *key; /* NULL: free */
    uint32_t length, value;
    uint64_t hash;
} sp_map_slot;

/* Zeroed memory is an empty map. One thread at a time. */
typedef struct sp_map {
    sp_map_slot *slots;
    size_t count, room; /* room is 0 or a power of two */
} sp_map;

uint64_t sp_map_hash(const char *key, size_t length);

/* Value of that key, SP_MAP_NONE when absent. */
uint32_t sp_map_get(const sp_map *map, const char *key, size_t length);
/* Sets it (the key must be absent); false when memory is short or the key is over 4 GiB. */
bool sp_map_add(sp_map *map, const char *key, size_t length, uint32_t value);
void sp_map_release(sp_map *map);

#endif
