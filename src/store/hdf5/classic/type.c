#include "store/hdf5/classic/type.h"

#include "store/hdf5/classic/bytes.h"

#include <string.h>

/* ---- Shapes ----------------------------------------------------------------------------------*/

enum { MAX_DIMENSIONS = 32 };

bool sp_classic_parse_space(const unsigned char *bytes, size_t size, sp_classic_space *out)
{
    if (size < 4)
        return false;
    unsigned version = bytes[0], dimensions = bytes[1];
    size_t at = version == 1 ? 8 : 4;
    if ((version != 1 && version != 2) || dimensions > MAX_DIMENSIONS ||
        size < at + (size_t)dimensions * 8)
        return false;
    unsigned shape = version == 2      ? bytes[3]
                     : dimensions == 0 ? SP_CLASSIC_SCALAR
                                       : SP_CLASSIC_SIMPLE;
    if (shape > SP_CLASSIC_EMPTY ||
        (shape == SP_CLASSIC_SCALAR) != (dimensions == 0 && shape != SP_CLASSIC_EMPTY))
        return false;
    *out =
        (sp_classic_space){(sp_classic_shape)shape, dimensions, shape == SP_CLASSIC_EMPTY ? 0 : 1};
    for (unsigned i = 0; i < dimensions; i++) {
        uint64_t length = SP_CLASSIC_U64(bytes + at + (size_t)i * 8);
        if (length != 0 && out->count > UINT64_MAX / length)
            return false;
        out->count *= length;
    }
    return true;
}

/* ---- Types -----------------------------------------------------------------------------------*/

/* Classes of the format. */
enum {
    CLASS_INTEGER = 0,
    CLASS_REAL = 1,
    CLASS_TEXT = 3,
    CLASS_COMPOUND = 6,
    CLASS_ENUMERATION = 8,
    CLASS_VARIABLE = 9
};
enum {
    HEAD_BYTES = 8,
    INTEGER_BYTES = 4,
    REAL_BYTES = 12,
    SPACE_PADDING = 2,
    VARIABLE_IS_TEXT = 1
};

typedef struct type_head {
    unsigned type_class, version;
    uint32_t bits;
    uint32_t size;
} type_head;

static bool parse_head(const unsigned char *bytes, size_t size, type_head *out)
{
    if (size < HEAD_BYTES)
        return false;
    *out = (type_head){
        .type_class = bytes[0] & 0x0F,
        .version = bytes[0] >> 4,
        .bits = (uint32_t)sp_classic_number(bytes + 1, 3),
        .size = SP_CLASSIC_U32(bytes + 4),
    };
    return out->version >= 1 && out->version <= 3 && out->size > 0;
}

/* Whole bytes, all of them used. */
static bool parse_integer(const type_head *head, const unsigned char *bytes, size_t size,
                          sp_classic_number_type *out)
{
    if (size < HEAD_BYTES + INTEGER_BYTES)
        return false;
    unsigned offset = SP_CLASSIC_U16(bytes + HEAD_BYTES);
    unsigned precision = SP_CLASSIC_U16(bytes + HEAD_BYTES + 2);
    *out = (sp_classic_number_type){SP_CLASSIC_INTEGER, head->size, (head->bits & 8) != 0,
                                    (head->bits & 1) != 0};
    if (head->size > 8 || offset != 0 || precision != head->size * 8)
        out->kind = SP_CLASSIC_OTHER;
    return true;
}

/* The two common formats of IEEE 754. */
static bool parse_real(const type_head *head, const unsigned char *bytes, size_t size,
                       sp_classic_number_type *out)
{
    static const unsigned char SINGLE[] = {0, 0, 32, 0, 23, 8, 0, 23, 127, 0, 0, 0};
    static const unsigned char DOUBLE[] = {0, 0, 64, 0, 52, 11, 0, 52, 0xFF, 3, 0, 0};
    if (size < HEAD_BYTES + REAL_BYTES)
        return false;
    *out = (sp_classic_number_type){SP_CLASSIC_REAL, head->size, true, (head->bits & 1) != 0};
    const unsigned char *layout = head->size == 4 ? SINGLE : DOUBLE;
    bool is_known = (head->size == 4 || head->size == 8) && (head->bits & 0x40) == 0 &&
                    memcmp(bytes + HEAD_BYTES, layout, REAL_BYTES) == 0;
    if (!is_known)
        out->kind = SP_CLASSIC_OTHER;
    return true;
}

/* A number, and how many bytes its description takes. */
static bool parse_number(const unsigned char *bytes, size_t size, sp_classic_number_type *out,
                         size_t *out_used)
{
    type_head head;
    *out = (sp_classic_number_type){.kind = SP_CLASSIC_OTHER};
    if (!parse_head(bytes, size, &head))
        return false;
    *out_used = HEAD_BYTES + (head.type_class == CLASS_INTEGER ? INTEGER_BYTES : REAL_BYTES);
    if (head.type_class == CLASS_INTEGER)
        return parse_integer(&head, bytes, size, out);
    return head.type_class == CLASS_REAL && parse_real(&head, bytes, size, out);
}

/* Bytes before the description of a member: its name and, depending on the version, where it lies
 * and a table of dimensions. */
static size_t parse_member_head(const type_head *head, const unsigned char *bytes, size_t size,
                                uint32_t *out_offset)
{
    const unsigned char *end = memchr(bytes, '\0', size);
    if (end == NULL)
        return 0;
    size_t used = (size_t)(end - bytes) + 1;
    size_t offset_bytes = 4;
    if (head->version < 3)
        used = (used + 7) / 8 * 8;
    else
        for (offset_bytes = 1; offset_bytes < 4 && head->size >> (8 * offset_bytes) != 0;)
            offset_bytes++;
    if (size < used + offset_bytes)
        return 0;
    *out_offset = (uint32_t)sp_classic_number(bytes + used, offset_bytes);
    used += offset_bytes + (head->version == 1 ? 28 : 0);
    return used <= size ? used : 0;
}

static int member_number(const char *name)
{
    for (int i = 0; i < SP_STATISTICS_MEMBERS; i++)
        if (strcmp(name, sp_hdf5_statistics_members[i]) == 0)
            return i;
    return -1;
}

/* A compound is of interest only as row statistics: plain numbers with the names that we know. */
static bool parse_compound(const type_head *head, const unsigned char *bytes, size_t size,
                           sp_classic_type *out)
{
    unsigned count = head->bits & 0xFFFF, found = 0;
    size_t at = HEAD_BYTES;
    out->kind = SP_CLASSIC_OTHER;
    if (count > SP_CLASSIC_MAX_MEMBERS)
        return true;
    for (unsigned i = 0; i < count; i++) {
        uint32_t offset = 0;
        size_t used = parse_member_head(head, bytes + at, size - at, &offset), described = 0;
        if (used == 0)
            return false;
        int number = member_number((const char *)bytes + at);
        sp_classic_number_type type;
        at += used;
        if (!parse_number(bytes + at, size - at, &type, &described) ||
            type.kind == SP_CLASSIC_OTHER)
            return true;
        at += described;
        if (number < 0)
            continue;
        if (offset > head->size || type.size > head->size - offset)
            return false;
        found |= 1u << number;
        out->members[number] = type;
        out->offsets[number] = offset;
    }
    if (found == (1u << SP_STATISTICS_MEMBERS) - 1)
        out->kind = SP_CLASSIC_ROW_STATISTICS;
    return true;
}

static bool parse_simple(const type_head *head, const unsigned char *bytes, size_t size,
                         sp_classic_type *out)
{
    size_t used;
    bool is_sane = head->type_class == CLASS_INTEGER
                       ? parse_integer(head, bytes, size, &out->number)
                   : head->type_class == CLASS_REAL
                       ? parse_real(head, bytes, size, &out->number)
                       /* A truth value is an enumeration over an integer. */
                       : parse_number(bytes + HEAD_BYTES, size - HEAD_BYTES, &out->number, &used);
    out->kind = out->number.kind;
    if (is_sane && out->kind != SP_CLASSIC_OTHER && out->number.size != head->size)
        return false;
    return is_sane;
}

bool sp_classic_parse_type(const unsigned char *bytes, size_t size, sp_classic_type *out)
{
    type_head head;
    if (!parse_head(bytes, size, &head))
        return false;
    *out = (sp_classic_type){.kind = SP_CLASSIC_OTHER, .size = head.size};
    switch (head.type_class) {
    case CLASS_INTEGER:
    case CLASS_REAL:
    case CLASS_ENUMERATION:
        return parse_simple(&head, bytes, size, out);
    case CLASS_TEXT:
        out->kind = SP_CLASSIC_FIXED_TEXT;
        out->is_space_padded = (head.bits & 0x0F) == SPACE_PADDING;
        return true;
    case CLASS_VARIABLE:
        if ((head.bits & 0x0F) == VARIABLE_IS_TEXT)
            out->kind = SP_CLASSIC_VARIABLE_TEXT;
        return out->kind == SP_CLASSIC_OTHER || head.size == SP_CLASSIC_TEXT_REFERENCE;
    case CLASS_COMPOUND:
        return parse_compound(&head, bytes, size, out);
    default:
        return true;
    }
}

/* ---- Values ----------------------------------------------------------------------------------*/

/* The bits of a number, in the low bytes. */
static uint64_t raw_bits(const sp_classic_number_type *type, const unsigned char *bytes)
{
    if (!type->is_big_endian)
        return sp_classic_number(bytes, type->size);
    uint64_t bits = 0;
    for (unsigned i = 0; i < type->size; i++)
        bits = bits << 8 | bytes[i];
    return bits;
}

static bool is_negative(const sp_classic_number_type *type, uint64_t bits)
{
    return type->is_signed && (bits >> (type->size * 8 - 1) & 1) != 0;
}

int64_t sp_classic_signed(const sp_classic_number_type *type, const unsigned char *bytes)
{
    uint64_t bits = raw_bits(type, bytes);
    if (is_negative(type, bits) && type->size < 8)
        bits |= UINT64_MAX << (type->size * 8);
    else if (!type->is_signed && bits > INT64_MAX)
        bits = INT64_MAX;
    return (int64_t)bits;
}

uint64_t sp_classic_unsigned(const sp_classic_number_type *type, const unsigned char *bytes)
{
    uint64_t bits = raw_bits(type, bytes);
    return is_negative(type, bits) ? 0 : bits;
}

double sp_classic_real(const sp_classic_number_type *type, const unsigned char *bytes)
{
    uint64_t bits = raw_bits(type, bytes);
    if (type->kind == SP_CLASSIC_INTEGER)
        return type->is_signed ? (double)sp_classic_signed(type, bytes) : (double)bits;
    if (type->size == 4) {
        uint32_t half = (uint32_t)bits;
        float value;
        memcpy(&value, &half, sizeof value);
        return value;
    }
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

bool sp_classic_is_native(const sp_classic_number_type *type)
{
    return type->kind == SP_CLASSIC_INTEGER && type->size == sizeof(int64_t) && type->is_signed &&
           type->is_big_endian == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}
