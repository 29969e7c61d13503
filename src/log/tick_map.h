/* tick_map.h - how this layer and the store turn ticks into nanoseconds without knowing a clock. */
#ifndef SP_LOG_TICK_MAP_H
#define SP_LOG_TICK_MAP_H

#include <stddef.h>
#include <stdint.h>

/* Converts `count` ticks, in batches so that the call costs little a tick. Must be monotonic: a
 * later tick never gives an earlier time. Called from one thread at a time. */
typedef struct sp_tick_map {
    void (*to_ns)(const void *context, const uint64_t *ticks, int64_t *out_ns, size_t count);
    const void *context;
} sp_tick_map;

#endif
