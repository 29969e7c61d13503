/* schema.h - names and types of what a file holds, one table for writer and reader. */
#ifndef SP_STORE_HDF5_SCHEMA_H
#define SP_STORE_HDF5_SCHEMA_H

#include "store/hdf5/column.h"
#include "store/hdf5/statistics_members.h"

#define SP_HDF5_SCHEMA_ATTRIBUTE "scope_profiler_schema"
#define SP_HDF5_LAYOUT_ATTRIBUTE "storage_layout"
#define SP_HDF5_LAYOUT_COLUMNAR "columnar"
#define SP_HDF5_LAYOUT_AGGREGATE "aggregate"
#define SP_HDF5_METADATA "metadata"
#define SP_HDF5_REGION_TABLE "region_table"
#define SP_HDF5_NAMES "names"
#define SP_HDF5_INDEX "rank_region_index"
#define SP_HDF5_REGION_IDS "region_ids"
#define SP_HDF5_EVENTS "events"
#define SP_HDF5_THREAD_TABLE "thread_table"
#define SP_HDF5_TASK_TABLE "task_table"
/* Ours: what the schema has no place for. The group `parts` says, in three columns, which piece of
 * which array came from which rank. */
#define SP_HDF5_EXTRA "scope_profiler_extra"
#define SP_HDF5_EXTRA_VERSION_ATTRIBUTE "version"
#define SP_HDF5_PARTS "parts"

enum { SP_HDF5_SCHEMA = 3, SP_HDF5_EXTRA_VERSION = 1 };

/* How a member of a C structure is held. */
typedef enum sp_hdf5_member {
    SP_MEMBER_INT64,
    SP_MEMBER_UINT64,
    SP_MEMBER_UINT32,
    SP_MEMBER_BOOL,
    SP_MEMBER_TEXT,
    SP_MEMBER_STATISTICS
} sp_hdf5_member;

/* A column of a table, and the member of the row's structure that it holds. */
typedef struct sp_hdf5_field {
    const char *name;
    sp_hdf5_kind kind;
    sp_hdf5_member member;
    size_t offset;
} sp_hdf5_field;

/* Columns of rank_region_index besides region_ids: of sp_row. */
enum {
    SP_INDEX_RANKS,
    SP_INDEX_OFFSETS,
    SP_INDEX_COUNTS,
    SP_INDEX_SOURCE_LINES,
    SP_INDEX_EXCLUSIVE,
    SP_INDEX_SOURCE_FILES,
    SP_INDEX_SOURCE_TEXTS,
    SP_INDEX_TAGS,
    SP_INDEX_STATISTICS,     /* optional */
    SP_INDEX_EVENT_METADATA, /* optional */
    SP_INDEX_AGGREGATES,     /* first of the five of layout "aggregate" */
    SP_INDEX_FIELDS = SP_INDEX_AGGREGATES + 5
};
enum { SP_THREAD_FIELDS = 9, SP_TASK_FIELDS = 11 };

extern const sp_hdf5_field sp_hdf5_index_fields[SP_INDEX_FIELDS];
extern const sp_hdf5_field sp_hdf5_thread_fields[SP_THREAD_FIELDS]; /* of sp_thread_row */
extern const sp_hdf5_field sp_hdf5_task_fields[SP_TASK_FIELDS];     /* of sp_task_row */

/* Columns of events, index sp_column. */
extern const char *const sp_hdf5_event_names[SP_COLUMN_COUNT];

/* Compound type of summary_statistics; `real`, `int64`, `uint64`: types of its members. A negative
 * id on failure. */
hid_t sp_hdf5_statistics_type(hid_t int64, hid_t uint64, hid_t real);

/* Variable-length UTF-8. A negative id on failure. */
hid_t sp_hdf5_text_type(void);

#endif
