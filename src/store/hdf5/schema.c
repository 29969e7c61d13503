#include "store/hdf5/schema.h"

#include "store/hdf5/instance.h"

#define ROW(name, kind, member, field) {name, kind, member, offsetof(sp_row, field)}
#define ROW_TOTAL(name, field) ROW(name, SP_HDF5_INT64, SP_MEMBER_INT64, aggregate.field)

const sp_hdf5_field sp_hdf5_index_fields[SP_INDEX_FIELDS] = {
    [SP_INDEX_RANKS] = ROW("ranks", SP_HDF5_UINT32, SP_MEMBER_UINT32, rank),
    [SP_INDEX_OFFSETS] = ROW("event_offsets", SP_HDF5_UINT64, SP_MEMBER_UINT64, offset),
    [SP_INDEX_COUNTS] = ROW("event_counts", SP_HDF5_UINT64, SP_MEMBER_UINT64, count),
    [SP_INDEX_SOURCE_LINES] = ROW("source_lines", SP_HDF5_INT64, SP_MEMBER_INT64, source_line),
    [SP_INDEX_EXCLUSIVE] =
        ROW("exclusive_totals", SP_HDF5_INT64, SP_MEMBER_INT64, exclusive_total),
    [SP_INDEX_SOURCE_FILES] = ROW("source_files", SP_HDF5_TEXT, SP_MEMBER_TEXT, source_file),
    [SP_INDEX_SOURCE_TEXTS] = ROW("source_texts", SP_HDF5_TEXT, SP_MEMBER_TEXT, source_text),
    [SP_INDEX_TAGS] = ROW("tags", SP_HDF5_TEXT, SP_MEMBER_TEXT, tags_json),
    [SP_INDEX_STATISTICS] =
        ROW("summary_statistics", SP_HDF5_STATISTICS, SP_MEMBER_STATISTICS, statistics),
    [SP_INDEX_EVENT_METADATA] =
        ROW("event_metadata", SP_HDF5_TEXT, SP_MEMBER_TEXT, event_metadata_json),
    [SP_INDEX_AGGREGATES] =
        ROW("aggregate_counts", SP_HDF5_UINT64, SP_MEMBER_UINT64, aggregate.count),
    ROW_TOTAL("aggregate_totals", total),
    ROW_TOTAL("aggregate_minimums", minimum),
    ROW_TOTAL("aggregate_maximums", maximum),
    ROW_TOTAL("aggregate_exclusives", exclusive),
};

#define THREAD(name, kind, member, field) {name, kind, member, offsetof(sp_thread_row, field)}
#define THREAD_NUMBER(name, field) THREAD(name, SP_HDF5_INT64, SP_MEMBER_INT64, field)

const sp_hdf5_field sp_hdf5_thread_fields[SP_THREAD_FIELDS] = {
    THREAD("ranks", SP_HDF5_UINT32, SP_MEMBER_UINT32, rank),
    THREAD_NUMBER("index", index),
    THREAD_NUMBER("ident", ident),
    THREAD_NUMBER("native_id", native_id),
    THREAD("daemon", SP_HDF5_INT8, SP_MEMBER_BOOL, is_daemon),
    THREAD_NUMBER("start_ns", start_ns),
    THREAD_NUMBER("end_ns", end_ns),
    THREAD_NUMBER("cpu_ns", cpu_ns),
    THREAD("name", SP_HDF5_TEXT, SP_MEMBER_TEXT, name),
};

#define TASK(name, kind, member, field) {name, kind, member, offsetof(sp_task_row, field)}
#define TASK_NUMBER(name, field) TASK(name, SP_HDF5_INT64, SP_MEMBER_INT64, field)
#define TASK_TEXT(name, field) TASK(name, SP_HDF5_TEXT, SP_MEMBER_TEXT, field)

const sp_hdf5_field sp_hdf5_task_fields[SP_TASK_FIELDS] = {
    TASK("ranks", SP_HDF5_UINT32, SP_MEMBER_UINT32, rank),
    TASK_NUMBER("index", index),
    TASK_NUMBER("thread_index", thread_index),
    TASK_NUMBER("created_ns", created_ns),
    TASK_NUMBER("done_ns", done_ns),
    TASK_NUMBER("steps", steps),
    TASK_NUMBER("running_ns", running_ns),
    TASK_NUMBER("suspended_ns", suspended_ns),
    TASK_TEXT("kind", kind),
    TASK_TEXT("name", name),
    TASK_TEXT("coro_name", coroutine_name),
};

const char *const sp_hdf5_event_names[SP_COLUMN_COUNT] = {
    [SP_COLUMN_START] = "start_deltas",      [SP_COLUMN_DURATION] = "durations",
    [SP_COLUMN_CALL_ID] = "call_ids",        [SP_COLUMN_PARENT_ID] = "parent_ids",
    [SP_COLUMN_THREAD_ID] = "thread_ids",    [SP_COLUMN_TASK_ID] = "task_ids",
    [SP_COLUMN_AWAIT] = "await_ns",          [SP_COLUMN_GPU_DURATION] = "gpu_durations",
};

const char *const sp_hdf5_statistics_members[SP_STATISTICS_MEMBERS] = {
    "total", "minimum", "maximum", "first", "last", "start_minimum", "end_maximum",
    "gpu_count", "gpu_total", "mean", "m2",
};

_Static_assert(sizeof(sp_row_statistics) == SP_STATISTICS_MEMBERS * sizeof(int64_t),
               "members follow each other without gaps");

hid_t sp_hdf5_statistics_type(hid_t int64, hid_t uint64, hid_t real)
{
    hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(sp_row_statistics));
    for (size_t i = 0; type >= 0 && i < SP_STATISTICS_MEMBERS; i++) {
        hid_t member = i == SP_STATISTICS_GPU_COUNT    ? uint64
                       : i >= SP_STATISTICS_FIRST_REAL ? real
                                                       : int64;
        if (H5Tinsert(type, sp_hdf5_statistics_members[i], i * sizeof(int64_t), member) < 0) {
            H5Tclose(type);
            return -1;
        }
    }
    return type;
}

hid_t sp_hdf5_text_type(void)
{
    hid_t type = H5Tcopy(sp_hdf5.c_string);
    if (type < 0 ||
        (H5Tset_size(type, H5T_VARIABLE) >= 0 && H5Tset_cset(type, H5T_CSET_UTF8) >= 0))
        return type;
    H5Tclose(type);
    return -1;
}
