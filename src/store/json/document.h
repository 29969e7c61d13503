/* document.h - what the files of the JSON store share: the profile while it is read. */
#ifndef SP_STORE_JSON_DOCUMENT_H
#define SP_STORE_JSON_DOCUMENT_H

#include "base/arena.h"
#include "base/json_reader.h"
#include "base/map.h"
#include "base/number_map.h"
#include "base/vector.h"
#include "scope_plugin.h"

/* Columns of one row; those that it lacks are NULL. */
typedef struct sp_json_columns {
    int64_t *values[SP_COLUMN_COUNT];
} sp_json_columns;

struct sp_store_reader {
    char *text; /* the document; spans point into it while it is read */
    size_t length;
    const char *path;
    sp_json_reader json;
    sp_error *error;
    sp_arena arena;
    sp_text scratch;
    int64_t version, num_ranks; /* num_ranks -1: not told */
    bool is_profile, is_summary;
    SP_VECTOR(sp_row) rows;
    SP_VECTOR(sp_json_columns) columns;
    SP_VECTOR(unsigned) row_columns;
    SP_VECTOR(const char *) regions;
    sp_map region_ids;
    sp_number_map row_ids;
    SP_VECTOR(sp_metadata_entry) metadata;
    SP_VECTOR(sp_thread_row) threads;
    SP_VECTOR(sp_task_row) tasks;
    SP_VECTOR(sp_extra) extras;
    sp_store_description description;
};

typedef struct sp_store_reader sp_json_document;

/* A member of an object, told by its key. Reads the whole value that begins with `token`. */
typedef int (*sp_json_member)(sp_json_document *doc, void *context, const char *key,
                              sp_json_token token, sp_json_text span);

/* Hands each member of the object that was just opened to `take`. */
int sp_json_members(sp_json_document *doc, sp_json_member take, void *context);

/* Fails with the path, what is wrong and, in `format`, what it is about. */
int sp_json_wrong(sp_json_document *doc, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* What the reader of JSON stumbled over. */
int sp_json_malformed(sp_json_document *doc);
int sp_json_out_of_memory(sp_json_document *doc);

/* Single values; `what` names them in errors. Texts live as long as the document; null gives "". */
int sp_json_take_text(sp_json_document *doc, const char *what, sp_json_token token,
                      sp_json_text span, const char **out);
int sp_json_take_integer(sp_json_document *doc, const char *what, sp_json_token token,
                         sp_json_text span, int64_t *out);
/* Any value as JSON text in one form. */
int sp_json_take_json(sp_json_document *doc, sp_json_token token, sp_json_text span,
                      const char **out);
int sp_json_skip_value(sp_json_document *doc, sp_json_token token);

/* regions.c: the list of rows. lanes.c: lane tables. metadata.c */
int sp_json_take_regions(sp_json_document *doc, sp_json_token token);
int sp_json_take_lanes(sp_json_document *doc, sp_json_token token, bool are_tasks);
int sp_json_take_metadata(sp_json_document *doc, sp_json_token token);
int sp_json_add_extra(sp_json_document *doc, const char *name, const char *text);

#endif
