/* memory_sink.h - the sink that keeps packed blocks in memory, up to a ceiling. Above it they can go on
 * into a temporary file, which has no name and vanishes with the process.
 *
 * Thread rules: those of sink.h. What concerns the file has a lock of its own.
 */
#ifndef SP_RECORDER_MEMORY_SINK_H
#define SP_RECORDER_MEMORY_SINK_H

#include "base/os/thread.h"
#include "recorder/sink.h"

#include <stdatomic.h>

/* What becomes of calls when the ceiling is reached. */
typedef enum sp_on_full {
    SP_ON_FULL_AGGREGATE, /* they are added up; older ones stay */
    SP_ON_FULL_SPILL,     /* they go to a temporary file; added up where there is none */
    SP_ON_FULL_RING,      /* the oldest are added up and make room */
    SP_ON_FULL_STOP       /* later ones are counted */
} sp_on_full;

enum { SP_SPILL_FOLDERS = 3 };

/* How a sink is set up. Folders are tried in this order; NULL ends them. */
typedef struct sp_memory_settings {
    size_t limit; /* bytes for blocks; a ring may always have one piece */
    sp_on_full on_full;
    const char *folders[SP_SPILL_FOLDERS]; /* must stay as long as the sink is used with them */
    /* Hears of trouble with the file, once; may be NULL. */
    void (*say)(const char *what, const char *folder);
} sp_memory_settings;

typedef struct sp_memory_sink {
    sp_sink sink;
    atomic_size_t used;  /* bytes taken from the system for blocks */
    atomic_size_t limit; /* ceiling for `used` */
    _Atomic sp_on_full on_full;
    atomic_int held; /* publications under way: what is there must stay */

    sp_mutex lock; /* for the file */
    sp_memory_settings settings;
    int descriptor; /* -1: there is no file */
    bool has_failed;
    uint64_t end, pieces; /* of the file; pieces that are in use */
} sp_memory_sink;

void sp_memory_sink_init(sp_memory_sink *sink);
/* Before the first ring is opened, or while it is used. */
void sp_memory_sink_set(sp_memory_sink *sink, const sp_memory_settings *settings);
/* Closes the file; no ring is open. */
void sp_memory_sink_release(sp_memory_sink *sink);

/* Bytes in the temporary file. */
uint64_t sp_memory_sink_spilled(sp_memory_sink *sink);

#endif
