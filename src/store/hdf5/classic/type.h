/* type.h - shapes and types of values, and their way to the types of this machine. */
#ifndef SP_STORE_HDF5_CLASSIC_TYPE_H
#define SP_STORE_HDF5_CLASSIC_TYPE_H

#include "store/hdf5/statistics_members.h"
#include "store/hdf5/tree.h"

typedef enum sp_classic_shape {
    SP_CLASSIC_SCALAR,
    SP_CLASSIC_SIMPLE,
    SP_CLASSIC_EMPTY
} sp_classic_shape;

typedef struct sp_classic_space {
    sp_classic_shape shape;
    unsigned dimensions;
    uint64_t count; /* values; 1 for a scalar */
} sp_classic_space;

typedef enum sp_classic_class {
    SP_CLASSIC_INTEGER,
    SP_CLASSIC_REAL,
    SP_CLASSIC_FIXED_TEXT,
    SP_CLASSIC_VARIABLE_TEXT,
    SP_CLASSIC_ROW_STATISTICS, /* a compound that has all members of sp_row_statistics */
    SP_CLASSIC_OTHER
} sp_classic_class;

enum { SP_CLASSIC_MAX_MEMBERS = 64, SP_CLASSIC_TEXT_REFERENCE = 16 };

/* A number. */
typedef struct sp_classic_number_type {
    sp_classic_class kind; /* integer or real */
    unsigned size;
    bool is_signed, is_big_endian;
} sp_classic_number_type;

typedef struct sp_classic_type {
    sp_classic_class kind;
    uint32_t size; /* bytes of one value */
    sp_classic_number_type number;
    bool is_space_padded;
    /* Members of statistics: in the order of sp_row_statistics. */
    sp_classic_number_type members[SP_STATISTICS_MEMBERS];
    uint32_t offsets[SP_STATISTICS_MEMBERS];
} sp_classic_type;

/* From the bytes of a message; false when they make no sense. A type that is none of the above is
 * SP_CLASSIC_OTHER. */
bool sp_classic_parse_space(const unsigned char *bytes, size_t size, sp_classic_space *out);
bool sp_classic_parse_type(const unsigned char *bytes, size_t size, sp_classic_type *out);

/* One value. What does not fit becomes the nearest value. */
int64_t sp_classic_signed(const sp_classic_number_type *type, const unsigned char *bytes);
uint64_t sp_classic_unsigned(const sp_classic_number_type *type, const unsigned char *bytes);
double sp_classic_real(const sp_classic_number_type *type, const unsigned char *bytes);

/* True when values of that type are int64_t of this machine. */
bool sp_classic_is_native(const sp_classic_number_type *type);

#endif
