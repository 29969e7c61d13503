/* object.h - object headers, and the groups that they describe. */
#ifndef SP_STORE_HDF5_CLASSIC_OBJECT_H
#define SP_STORE_HDF5_CLASSIC_OBJECT_H

#include "base/vector.h"
#include "store/hdf5/classic/bytes.h"
#include "store/hdf5/tree.h"

/* Kinds of messages in a header. */
enum {
    SP_CLASSIC_DATASPACE = 0x0001,
    SP_CLASSIC_DATATYPE = 0x0003,
    SP_CLASSIC_LINK = 0x0006,
    SP_CLASSIC_EXTERNAL_FILES = 0x0007,
    SP_CLASSIC_LAYOUT = 0x0008,
    SP_CLASSIC_FILTERS = 0x000B,
    SP_CLASSIC_ATTRIBUTE = 0x000C,
    SP_CLASSIC_CONTINUATION = 0x0010,
    SP_CLASSIC_SYMBOL_TABLE = 0x0011
};

/* Where the content of a message lies. */
typedef struct sp_classic_message {
    uint16_t kind;
    uint16_t size;
    uint64_t address;
} sp_classic_message;

typedef struct sp_classic_header {
    SP_VECTOR(sp_classic_message) messages;
} sp_classic_header;

typedef struct sp_classic_member {
    const char *name;
    uint64_t address; /* of its header */
} sp_classic_member;

typedef struct sp_classic_group {
    sp_classic_header header;
    sp_arena names;
    SP_VECTOR(sp_classic_member) members; /* sorted by name */
} sp_classic_group;

typedef enum sp_classic_outcome {
    SP_CLASSIC_OK,
    SP_CLASSIC_BAD,      /* what the file says cannot be */
    SP_CLASSIC_NEWER,    /* a layout that only the library knows */
    SP_CLASSIC_NO_MEMORY
} sp_classic_outcome;

sp_classic_outcome sp_classic_load_header(sp_classic_bytes *bytes, uint64_t address,
                                          sp_classic_header *out);
/* First message of that kind, NULL when there is none. */
const sp_classic_message *sp_classic_find(const sp_classic_header *header, unsigned kind);
void sp_classic_header_release(sp_classic_header *header);

/* A header with a symbol table or with links, and the members that these name. */
sp_classic_outcome sp_classic_load_group(sp_classic_bytes *bytes, uint64_t address,
                                         sp_classic_group *out);
const sp_classic_member *sp_classic_find_member(const sp_classic_group *group, const char *name);
void sp_classic_group_release(sp_classic_group *group);

#endif
