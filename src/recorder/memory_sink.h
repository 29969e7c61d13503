/* memory_sink.h - the sink that keeps packed blocks in memory, up to a ceiling. */
#ifndef SP_RECORDER_MEMORY_SINK_H
#define SP_RECORDER_MEMORY_SINK_H

#include "recorder/sink.h"

#include <stdatomic.h>

typedef struct sp_memory_sink {
    sp_sink sink;
    atomic_size_t used;  /* bytes taken from the system for blocks */
    atomic_size_t limit; /* ceiling for `used` */
} sp_memory_sink;

void sp_memory_sink_init(sp_memory_sink *sink, size_t limit);

#endif
