/* records.h - counters and line records as attributes and datasets, from the JSON in which runs carry
 * them (docs/FORMATS.md, "Extra arrays"). */
#ifndef SP_STORE_HDF5_RECORDS_H
#define SP_STORE_HDF5_RECORDS_H

#include "base/arena.h"
#include "base/vector.h"
#include "scope_plugin.h"

typedef enum sp_record_kind {
    SP_RECORD_LIKWID,
    SP_RECORD_LIKWID_ENVIRONMENT,
    SP_RECORD_PERF_EVENTS,
    SP_RECORD_LINES
} sp_record_kind;

typedef enum sp_record_type { SP_RECORD_INT64, SP_RECORD_UINT64, SP_RECORD_REAL } sp_record_type;

typedef struct sp_record_values {
    const char *name;
    sp_record_type type;
    bool is_matrix;
    uint64_t count, width; /* values; of a matrix in rows of `width` */
    const void *values;    /* 8 bytes each */
} sp_record_values;

typedef struct sp_record {
    uint32_t rank;
    const char *key; /* region or tag; NULL where records are numbered, or one a rank */
    SP_VECTOR(sp_metadata_entry) attributes;
    SP_VECTOR(sp_record_values) values;
} sp_record;

typedef struct sp_records {
    sp_arena arena;
    SP_VECTOR(sp_record) list;
} sp_records;

/* The attribute that has, as one object, what is neither text, number nor list of them. */
#define SP_RECORD_MORE "more_json"

/* Whether an extra array holds records, and which. */
bool sp_record_kind_of(const char *name, sp_record_kind *out);

/* Takes one text apart. SP_ERR_NOT_FOUND: it has another form, or a value that neither attribute nor
 * dataset can hold. Release in any case. */
int sp_records_parse(sp_record_kind kind, const char *json, sp_records *out, sp_error *error);
void sp_records_release(sp_records *records);

#endif
