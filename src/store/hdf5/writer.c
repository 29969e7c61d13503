#include "store/hdf5/writer_int.h"

#include "base/error.h"
#include "base/os/file.h"
#include "base/os/low_descriptors.h"
#include "store/description.h"
#include "store/hdf5/attributes.h"
#include "store/hdf5/instance.h"
#include "store/hdf5/trouble.h"

#include <stdlib.h>
#include <string.h>

/* Calls from which "auto" compresses, and what a chunk may hold: the library counts its bytes in 32
 * bits. */
enum { AUTO_EVENTS = 16384 };
static const uint64_t MAX_CHUNK = UINT32_MAX / sizeof(sp_row_statistics);

/* ---- Columns ---------------------------------------------------------------------------------*/

static int visit_all(sp_hdf5_sink *sink, sp_hdf5_column *columns, size_t count,
                     sp_hdf5_visit_column visit, sp_error *error)
{
    int status = SP_OK;
    for (size_t i = 0; status == SP_OK && i < count; i++)
        if (columns[i].name != NULL)
            status = visit(sink, &columns[i], error);
    return status;
}

int sp_hdf5_each_column(sp_store_writer *writer, sp_hdf5_visit_column visit, sp_error *error)
{
    const struct {
        sp_hdf5_column *columns;
        size_t count;
    } sets[] = {
        {&writer->names, 1},
        {&writer->region_ids, 1},
        {writer->index_columns, SP_INDEX_FIELDS},
        {writer->event_columns, SP_COLUMN_COUNT},
        {writer->thread_columns, SP_THREAD_FIELDS},
        {writer->task_columns, SP_TASK_FIELDS},
        {writer->part_columns, SP_PART_FIELDS},
    };
    int status = SP_OK;
    for (size_t i = 0; status == SP_OK && i < sizeof sets / sizeof *sets; i++)
        status = visit_all(&writer->sink, sets[i].columns, sets[i].count, visit, error);
    for (sp_hdf5_extra_column *extra = writer->extras; status == SP_OK && extra != NULL;
         extra = extra->next)
        status = visit(&writer->sink, &extra->column, error);
    return status;
}

int sp_hdf5_begin_column(sp_store_writer *writer, sp_hdf5_column *column,
                         const sp_hdf5_column *as, sp_error *error)
{
    *column = *as;
    if (column->large_chunk == 0)
        column->large_chunk = SP_HDF5_INDEX_CHUNK;
    return writer->sink.is_streaming ? sp_hdf5_column_stream(&writer->sink, column, error) : SP_OK;
}

int sp_hdf5_append_text(sp_store_writer *writer, sp_hdf5_column *column, const char *text,
                        sp_error *error)
{
    const char *kept = sp_store_utf8(&writer->texts, text == NULL ? "" : text);
    if (kept == text && !writer->sink.is_streaming) {
        size_t length = strlen(text);
        kept = sp_arena_text_n(&writer->texts, text, length);
        writer->sink.waiting += length;
    }
    if (kept == NULL)
        return sp_fail_memory(error, "writing a profile");
    return sp_hdf5_column_append(&writer->sink, column, &kept, 1, error);
}

/* ---- Memory ----------------------------------------------------------------------------------*/

static void decide_compression(sp_store_writer *writer)
{
    if (!writer->is_auto)
        return;
    uint64_t coming = writer->order.announced - writer->order.given;
    if (writer->num_events + coming < AUTO_EVENTS)
        writer->filter.codec = NULL;
    for (int c = SP_COLUMN_START; c <= SP_COLUMN_DURATION; c++) {
        writer->event_columns[c].filter = writer->filter;
        if (writer->filter.codec != NULL)
            writer->event_columns[c].storage = SP_HDF5_CHUNKED;
    }
    writer->is_auto = false;
}

static int flush_text(sp_hdf5_sink *sink, sp_hdf5_column *column, sp_error *error)
{
    return column->kind == SP_HDF5_TEXT ? sp_hdf5_column_flush(sink, column, error) : SP_OK;
}

int sp_hdf5_flush_texts(sp_store_writer *writer, sp_error *error)
{
    if (!writer->sink.is_streaming)
        return SP_OK;
    int status = sp_hdf5_each_column(writer, flush_text, error);
    sp_arena_release(&writer->texts);
    return status;
}

static int start_streaming(sp_store_writer *writer, sp_error *error)
{
    decide_compression(writer);
    int status = sp_hdf5_each_column(writer, sp_hdf5_column_stream, error);
    writer->sink.is_streaming = true;
    return status == SP_OK ? sp_hdf5_flush_texts(writer, error) : status;
}

int sp_hdf5_bound_memory(sp_store_writer *writer, uint64_t more, sp_error *error)
{
    if (writer->sink.is_streaming || writer->sink.waiting + more <= SP_HDF5_SMALL_RUN)
        return SP_OK;
    return start_streaming(writer, error);
}

/* ---- Creating --------------------------------------------------------------------------------*/

static int parse_options(sp_store_writer *writer, const sp_store_options *options, sp_error *error)
{
    if (options == NULL)
        return SP_OK;
    writer->chunk_size = options->chunk_size;
    writer->order.is_aggregate = options->is_aggregate;
    if (options->chunk_size > MAX_CHUNK)
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT,
                       "an HDF5 chunk of %llu values is too large: at most %llu",
                       (unsigned long long)options->chunk_size, (unsigned long long)MAX_CHUNK);
    if (options->compression == NULL)
        return SP_OK;
    writer->is_auto = strcmp(options->compression, "auto") == 0;
    return sp_hdf5_filter_parse(writer->is_auto ? "gzip" : options->compression,
                                options->compression_level, &writer->filter, error);
}

static int create_file(sp_store_writer *writer, sp_error *error)
{
    hid_t access = H5Pcreate(sp_hdf5.file_access);
    hid_t file = -1;
    /* Oldest layout of everything: all readers know it. We made the file ourselves a moment ago, so
     * it needs no lock, which some file systems cannot give. */
    if (access >= 0 && H5Pset_libver_bounds(access, H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST) >= 0) {
#if H5_VERSION_GE(1, 10, 7)
        H5Pset_file_locking(access, 0, 1);
#endif
        sp_os_low_descriptors held;
        sp_os_low_descriptors_hold(&held);
        file = H5Fcreate(writer->replacement.temporary, H5F_ACC_TRUNC, H5P_DEFAULT, access);
        sp_os_low_descriptors_release(&held);
    }
    int status = SP_OK;
    if (file < 0)
        status = sp_hdf5_fail(error, SP_ERR_IO, "cannot create '%s'", writer->replacement.target);
    else {
        void *descriptor = NULL;
        writer->file = file;
        if (H5Fget_vfd_handle(file, access, &descriptor) >= 0 && descriptor != NULL)
            sp_os_close_on_exec(*(int *)descriptor);
    }
    if (access >= 0)
        H5Pclose(access);
    return status;
}

int sp_hdf5_create_group(hid_t parent, const char *name, hid_t *out, sp_error *error)
{
    hid_t group = H5Gcreate2(parent, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (group < 0)
        return sp_hdf5_fail(error, SP_ERR_IO, "cannot write the group '%s'", name);
    *out = group;
    return SP_OK;
}

static int create_types(sp_store_writer *writer, sp_error *error)
{
    sp_hdf5_sink *sink = &writer->sink;
    sink->text_type = sp_hdf5_text_type();
    sink->statistics_type =
        sp_hdf5_statistics_type(sp_hdf5.file_int64, sp_hdf5.file_uint64, sp_hdf5.file_real);
    sink->statistics_memory = sp_hdf5_statistics_type(sp_hdf5.int64, sp_hdf5.uint64, sp_hdf5.real);
    if (sink->text_type < 0 || sink->statistics_type < 0 || sink->statistics_memory < 0)
        return sp_hdf5_fail(error, SP_ERR_IO, "cannot prepare types");
    return SP_OK;
}

static int write_header(sp_store_writer *writer, sp_error *error)
{
    const sp_metadata_entry entries[] = {
        {.key = SP_HDF5_SCHEMA_ATTRIBUTE, .kind = SP_VALUE_INTEGER, .integer = SP_HDF5_SCHEMA},
        {.key = SP_HDF5_LAYOUT_ATTRIBUTE,
         .kind = SP_VALUE_TEXT,
         .text = writer->order.is_aggregate ? SP_HDF5_LAYOUT_AGGREGATE : SP_HDF5_LAYOUT_COLUMNAR},
    };
    int status = SP_OK;
    for (size_t i = 0; status == SP_OK && i < 2; i++)
        status = sp_hdf5_write_attribute(writer->file, writer->sink.text_type, &entries[i], error);
    if (status == SP_OK)
        status = sp_hdf5_create_group(writer->file, SP_HDF5_METADATA, &writer->metadata, error);
    if (status == SP_OK)
        status = sp_hdf5_create_group(writer->file, SP_HDF5_REGION_TABLE, &writer->regions, error);
    if (status == SP_OK)
        status = sp_hdf5_create_group(writer->file, SP_HDF5_INDEX, &writer->index, error);
    if (status == SP_OK)
        status = sp_hdf5_create_group(writer->file, SP_HDF5_EVENTS, &writer->events, error);
    return status;
}

/* Columns that every file has. */
static int begin_columns(sp_store_writer *writer, sp_error *error)
{
    sp_hdf5_column column = {.name = SP_HDF5_NAMES, .group = writer->regions,
                             .kind = SP_HDF5_TEXT, .chunk = writer->chunk_size};
    int status = sp_hdf5_begin_column(writer, &writer->names, &column, error);
    column = (sp_hdf5_column){.name = SP_HDF5_REGION_IDS, .group = writer->index,
                              .kind = SP_HDF5_UINT32, .chunk = writer->chunk_size};
    if (status == SP_OK)
        status = sp_hdf5_begin_column(writer, &writer->region_ids, &column, error);
    for (int i = 0; status == SP_OK && i < SP_INDEX_FIELDS; i++) {
        if (i == SP_INDEX_EVENT_METADATA ||
            (i >= SP_INDEX_AGGREGATES && !writer->order.is_aggregate))
            continue;
        column.name = sp_hdf5_index_fields[i].name;
        column.kind = sp_hdf5_index_fields[i].kind;
        column.chunk = i >= SP_INDEX_AGGREGATES ? 0 : writer->chunk_size;
        status = sp_hdf5_begin_column(writer, &writer->index_columns[i], &column, error);
    }
    for (int c = SP_COLUMN_START; status == SP_OK && c <= SP_COLUMN_DURATION; c++) {
        column = (sp_hdf5_column){
            .name = sp_hdf5_event_names[c],
            .group = writer->events,
            .kind = SP_HDF5_INT64,
            .storage = writer->filter.codec != NULL && !writer->is_auto ? SP_HDF5_CHUNKED
                                                                        : SP_HDF5_PLAIN,
            .filter = writer->filter,
            .chunk = writer->chunk_size,
            .large_chunk = SP_HDF5_CHUNK,
        };
        status = sp_hdf5_begin_column(writer, &writer->event_columns[c], &column, error);
    }
    return status;
}

int sp_hdf5_writer_create(const char *path, const sp_store_options *options, sp_store_writer **out,
                          sp_error *error)
{
    sp_store_writer *writer = calloc(1, sizeof *writer);
    if (writer == NULL)
        return sp_fail_memory(error, "creating a profile");
    int status = parse_options(writer, options, error);
    if (status == SP_OK)
        status = sp_os_replacement_open(&writer->replacement, path, error);
    if (status == SP_OK)
        status = create_file(writer, error);
    if (status == SP_OK)
        status = create_types(writer, error);
    if (status == SP_OK)
        status = write_header(writer, error);
    if (status == SP_OK)
        status = begin_columns(writer, error);
    if (status != SP_OK) {
        sp_hdf5_writer_abort(writer);
        return status;
    }
    *out = writer;
    return SP_OK;
}

int sp_hdf5_writer_metadata(sp_store_writer *writer, const sp_metadata_entry *entries, size_t count,
                            sp_error *error)
{
    int status = SP_OK;
    for (size_t i = 0; status == SP_OK && i < count; i++)
        status = sp_hdf5_write_attribute(writer->metadata, writer->sink.text_type, &entries[i],
                                         error);
    return status;
}

/* ---- Ending ----------------------------------------------------------------------------------*/

static int release_column(sp_hdf5_sink *sink, sp_hdf5_column *column, sp_error *error)
{
    (void)error;
    sp_hdf5_column_release(sink, column);
    return SP_OK;
}

static void close_group(hid_t *group)
{
    if (*group > 0)
        H5Gclose(*group);
    *group = 0;
}

static void close_type(hid_t *type)
{
    if (*type > 0)
        H5Tclose(*type);
    *type = 0;
}

/* Everything but the file, in reverse order of creation. */
static void close_contents(sp_store_writer *writer)
{
    sp_hdf5_each_column(writer, release_column, NULL);
    hid_t *groups[] = {&writer->parts,  &writer->extra, &writer->tasks,   &writer->threads,
                       &writer->events, &writer->index, &writer->regions, &writer->metadata};
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        close_group(groups[i]);
    close_type(&writer->sink.statistics_memory);
    close_type(&writer->sink.statistics_type);
    close_type(&writer->sink.text_type);
}

static void free_writer(sp_store_writer *writer)
{
    sp_hdf5_packer_release(&writer->sink.packer);
    sp_writer_order_release(&writer->order);
    sp_map_release(&writer->region_numbers);
    sp_vector_release(&writer->row_counts);
    sp_arena_release(&writer->texts);
    sp_arena_release(&writer->lasting);
    free(writer);
}

static int drop_statistics(sp_store_writer *writer, sp_error *error)
{
    sp_hdf5_column *column = &writer->index_columns[SP_INDEX_STATISTICS];
    bool exists = column->dataset > 0;
    sp_hdf5_column_release(&writer->sink, column);
    if (exists && H5Ldelete(writer->index, column->name, H5P_DEFAULT) < 0)
        return sp_hdf5_fail(error, SP_ERR_IO, "cannot drop the dataset '%s'", column->name);
    column->name = NULL;
    return SP_OK;
}

/* Writes what still waits and closes the file, which is when the library writes its own caches. */
static int finish_file(sp_store_writer *writer, sp_error *error)
{
    int status = sp_writer_order_commit(&writer->order, error);
    decide_compression(writer);
    if (status == SP_OK && writer->lacks_statistics)
        status = drop_statistics(writer, error);
    if (status == SP_OK)
        status = sp_hdf5_each_column(writer, sp_hdf5_column_finish, error);
    if (status == SP_OK && H5Fflush(writer->file, H5F_SCOPE_GLOBAL) < 0)
        status = sp_hdf5_fail(error, SP_ERR_IO, "cannot write the file");
    close_contents(writer);
    if (H5Fclose(writer->file) < 0 && status == SP_OK)
        status = sp_hdf5_fail(error, SP_ERR_IO, "cannot write the file");
    writer->file = 0;
    return status;
}

int sp_hdf5_writer_commit(sp_store_writer *writer, sp_error *error)
{
    int status = finish_file(writer, error);
    if (status == SP_OK)
        status = sp_os_replacement_commit(&writer->replacement, error);
    sp_hdf5_writer_abort(writer);
    return status;
}

void sp_hdf5_writer_abort(sp_store_writer *writer)
{
    if (writer == NULL)
        return;
    close_contents(writer);
    if (writer->file > 0)
        H5Fclose(writer->file);
    sp_os_replacement_abort(&writer->replacement);
    free_writer(writer);
}
