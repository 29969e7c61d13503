/* assemble.h - from packed blocks to the rows of a file: ticks to ns, numbers and parents, rows
 * sorted by (start, call id), statistics, metadata, extras; handed to one or several store writers.
 *
 * Ids of a file are dense: id_base + rank of the call among the calls of the file, lanes in table
 * order, begin order within a lane. A call whose parent is not in the file has parent -1.
 *
 * Rows come in the order of the regions, and where that says nothing in order of first appearance
 * (start of the first call, ties by id).
 *
 * Memory: `memory_budget` bounds the working arrays. What fits is gathered at once, otherwise the
 * blocks are decoded once per group of rows, and a row larger than the budget is written in windows
 * of start time. Per-call metadata of a row is one text by the shape of the store table and comes
 * on top of the budget, and so do 48 bytes for each call with a device time.
 */
#ifndef SP_STORE_ASSEMBLE_H
#define SP_STORE_ASSEMBLE_H

#include "log/counters.h"
#include "log/resolver.h"
#include "log/tick_map.h"
#include "scope_plugin.h"

typedef struct sp_assemble_block {
    const void *bytes;
    size_t size;
    /* Calls that should be before it and are not known, at least so many; what was open meanwhile is
     * not known either: the numbering of its lane starts afresh behind them. 0: none. */
    uint64_t missing;
} sp_assemble_block;

typedef struct sp_assemble_lane {
    int64_t thread, task;     /* index in the tables, -1: unknown, not in a task */
    const sp_resolver *state; /* left by the previous publication; NULL: nothing yet */
} sp_assemble_lane;

/* A call that is open now. Those of one lane in order of their depth, outermost first. */
typedef struct sp_assemble_open_call {
    uint32_t lane, region, depth, flags; /* SP_CALL_ flags it has got so far */
    uint64_t number, parent;             /* begin numbers, SP_RECORD_NO_PARENT: none */
    uint64_t start_tick;
    uint64_t outer_from_tick; /* start_tick unless it was outlived: see record.h */
    uint64_t awaited; /* ticks in which its task did not run */
} sp_assemble_open_call;

typedef struct sp_assemble_region {
    const char *name, *source_file, *source_text; /* "" unknown */
    int64_t source_line;                          /* -1 unknown */
    const char *tags_json;                        /* "[]" none */
    size_t position;                              /* among the regions of the run */
} sp_assemble_region;

/* For whom a scope is, when it is not for a thread, by its number, or for all (-1): threads that no scope
 * names, or a task, SP_SCOPE_FIRST_TASK less its number. */
enum { SP_SCOPE_FIRST_TASK = -2 };
#define SP_SCOPE_OTHER_THREADS INT64_MIN

/* Every call that lies wholly inside [start_ns, end_ns] on that thread gets the JSON object. On equal keys an inner scope wins over an outer one, among others the one that starts
 * later, at equal intervals the later entry; what a side record says of a call wins over scopes. */
typedef struct sp_assemble_scope {
    int64_t start_ns, end_ns, thread;
    const char *json;
} sp_assemble_scope;

/* A count that the store has no place for, e.g. {"signal_reentry", 3}. */
typedef struct sp_assemble_loss {
    const char *kind;
    int64_t count;
} sp_assemble_loss;

/* A writer that was created and not yet committed: the caller commits or aborts it. */
typedef struct sp_assemble_output {
    const sp_store_table *table;
    sp_store_writer *writer;
} sp_assemble_output;

/* What measured the calls: side records say which by the place in `items`. Of a recovered run only
 * names, numbers of values and groups are known. */
typedef struct sp_assemble_instruments {
    const sp_instrument *items;
    size_t count;
    const sp_counter_sums *more; /* of calls that are in no block, NULL: none */
} sp_assemble_instruments;

typedef struct sp_assembly {
    uint32_t rank;
    int64_t id_base;
    size_t memory_budget; /* 0: 64 MiB */

    /* In the order in which each lane recorded; whole rings one after the other is fine. */
    const sp_assemble_block *blocks;
    size_t num_blocks;
    bool blocks_are_unsummed; /* they never left the process: no checksum to check */
    /* Those of threads, by their lane in the records, then those of tasks, which the records count from
     * SP_RECORD_TASK_LANES on. Open calls have the index here. */
    const sp_assemble_lane *lanes;
    size_t num_lanes, num_task_lanes; /* of num_lanes */
    const sp_assemble_open_call *open_calls;
    size_t num_open_calls;
    bool with_open_calls; /* nothing follows: they become rows that end at now_tick */
    uint64_t now_tick;
    sp_tick_map ticks;

    /* Fills `out` with borrowed texts (valid until assembling ends); false: unknown region. */
    bool (*region)(const void *context, uint32_t region, sp_assemble_region *out);
    const void *region_context;

    bool track_threads; /* thread ids and table even when one thread recorded */
    const sp_thread_row *threads;
    size_t num_threads;
    bool track_tasks; /* await times even when no call awaits */
    const sp_task_row *tasks;
    size_t num_tasks;

    const sp_metadata_entry *metadata;
    size_t num_metadata;
    const sp_assemble_scope *scopes;
    size_t num_scopes;
    /* Device times beside those in the blocks; of a ticket with several, the last one holds. */
    const sp_device_time *device_times;
    size_t num_device_times;
    const sp_assemble_loss *losses;
    size_t num_losses;
    sp_assemble_instruments instruments;
    const sp_extra *extras; /* handed on as they are */
    size_t num_extras;

    const sp_assemble_output *outputs;
    size_t num_outputs;
} sp_assembly;

/* Durations of the calls of one region that were written. */
typedef struct sp_assembly_row {
    uint32_t region;
    uint64_t count, resumptions;
    int64_t total, minimum, maximum;
} sp_assembly_row;

typedef struct sp_assembly_result {
    uint64_t num_calls;     /* written */
    int64_t next_id;        /* id_base of the next file of this configuration */
    uint64_t num_crossing;  /* calls with SP_CALL_CROSSING */
    uint64_t num_lost;      /* calls that lost records speak of */
    uint64_t num_clamped;   /* ends before their start, stored as duration 0 */
    bool several_threads;   /* calls of more than one thread */
    sp_resolver *states;    /* num_lanes states after these blocks: what the next publication starts
                               from. The caller takes them over once its writers have committed. */
    size_t num_states;
    sp_assembly_row *rows; /* one a region that has calls */
    size_t num_rows;
} sp_assembly_result;

/* Writes everything but create and commit to every output. On failure nothing of the input has
 * changed, `out` is untouched and the caller aborts its writers. Statuses of the writers,
 * SP_ERR_DAMAGED, SP_ERR_NO_MEMORY, SP_ERR_INVALID_ARGUMENT. */
int sp_assemble(const sp_assembly *assembly, sp_assembly_result *out, sp_error *error);
void sp_assembly_result_release(sp_assembly_result *result);

/* The same for a run that kept totals only (layout "aggregate"): rows as given, in that order, of
 * which region, source, tags and aggregate are used. */
typedef struct sp_assembly_totals {
    uint32_t rank;
    const sp_row *rows;
    size_t num_rows;
    bool track_threads;
    const sp_thread_row *threads;
    size_t num_threads;
    const sp_metadata_entry *metadata;
    size_t num_metadata;
    const sp_assemble_loss *losses;
    size_t num_losses;
    sp_assemble_instruments instruments;
    bool (*region)(const void *context, uint32_t region, sp_assemble_region *out);
    const void *region_context;
    const sp_extra *extras;
    size_t num_extras;
    const sp_assemble_output *outputs;
    size_t num_outputs;
} sp_assembly_totals;

int sp_assemble_totals(const sp_assembly_totals *assembly, sp_error *error);

#endif
