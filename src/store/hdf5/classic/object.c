#include "store/hdf5/classic/object.h"

#include <stdlib.h>
#include <string.h>

/* ---- Object headers --------------------------------------------------------------------------*/

enum {
    PREFIX_BYTES = 16,
    MESSAGE_PREFIX = 8,
    IS_SHARED = 1u << 1, /* flag of a message: the content is elsewhere */
    MAX_STRETCHES = 1024
};

typedef struct stretch {
    uint64_t address, size;
} stretch;

typedef struct header_walk {
    sp_classic_bytes *bytes;
    sp_classic_header *header;
    unsigned left; /* messages that the header still announces */
    SP_VECTOR(stretch) stretches; /* the header's own, then its continuations */
} header_walk;

static sp_classic_outcome note_stretch(header_walk *walk, uint64_t address, uint64_t size)
{
    if (walk->stretches.count >= MAX_STRETCHES || address > walk->bytes->size ||
        size > walk->bytes->size - address)
        return SP_CLASSIC_BAD;
    if (!sp_vector_reserve(&walk->stretches, 1))
        return SP_CLASSIC_NO_MEMORY;
    walk->stretches.items[walk->stretches.count++] = (stretch){address, size};
    return SP_CLASSIC_OK;
}

static sp_classic_outcome note_message(header_walk *walk, const unsigned char *prefix,
                                       uint64_t address)
{
    sp_classic_message message = {
        .kind = (uint16_t)SP_CLASSIC_U16(prefix),
        .size = (uint16_t)SP_CLASSIC_U16(prefix + 2),
        .address = address,
    };
    if (message.kind == SP_CLASSIC_CONTINUATION) {
        unsigned char content[16];
        if (message.size < sizeof content ||
            !sp_classic_read(walk->bytes, address, sizeof content, content))
            return SP_CLASSIC_BAD;
        return note_stretch(walk, SP_CLASSIC_U64(content), SP_CLASSIC_U64(content + 8));
    }
    /* A shared message holds a reference instead; profiles have none. */
    if ((prefix[4] & IS_SHARED) != 0)
        return SP_CLASSIC_OK;
    if (!sp_vector_reserve(&walk->header->messages, 1))
        return SP_CLASSIC_NO_MEMORY;
    walk->header->messages.items[walk->header->messages.count++] = message;
    return SP_CLASSIC_OK;
}

static sp_classic_outcome walk_stretch(header_walk *walk, stretch part)
{
    uint64_t at = part.address, end = part.address + part.size;
    while (walk->left > 0 && end - at >= MESSAGE_PREFIX) {
        unsigned char prefix[MESSAGE_PREFIX];
        if (!sp_classic_read(walk->bytes, at, sizeof prefix, prefix))
            return SP_CLASSIC_BAD;
        at += MESSAGE_PREFIX;
        uint64_t size = SP_CLASSIC_U16(prefix + 2);
        if (size > end - at)
            return SP_CLASSIC_BAD;
        sp_classic_outcome outcome = note_message(walk, prefix, at);
        if (outcome != SP_CLASSIC_OK)
            return outcome;
        at += size;
        walk->left--;
    }
    return SP_CLASSIC_OK;
}

sp_classic_outcome sp_classic_load_header(sp_classic_bytes *bytes, uint64_t address,
                                          sp_classic_header *out)
{
    unsigned char prefix[PREFIX_BYTES];
    *out = (sp_classic_header){{0}};
    if (!sp_classic_read(bytes, address, sizeof prefix, prefix))
        return SP_CLASSIC_BAD;
    if (memcmp(prefix, "OHDR", 4) == 0)
        return SP_CLASSIC_NEWER;
    if (prefix[0] != 1)
        return SP_CLASSIC_BAD;
    header_walk walk = {.bytes = bytes, .header = out, .left = SP_CLASSIC_U16(prefix + 2)};
    sp_classic_outcome outcome =
        note_stretch(&walk, address + PREFIX_BYTES, SP_CLASSIC_U32(prefix + 8));
    for (size_t i = 0; outcome == SP_CLASSIC_OK && i < walk.stretches.count; i++)
        outcome = walk_stretch(&walk, walk.stretches.items[i]);
    if (outcome == SP_CLASSIC_OK && walk.left > 0)
        outcome = SP_CLASSIC_BAD;
    sp_vector_release(&walk.stretches);
    if (outcome != SP_CLASSIC_OK)
        sp_classic_header_release(out);
    return outcome;
}

const sp_classic_message *sp_classic_find(const sp_classic_header *header, unsigned kind)
{
    for (size_t i = 0; i < header->messages.count; i++)
        if (header->messages.items[i].kind == kind)
            return &header->messages.items[i];
    return NULL;
}

void sp_classic_header_release(sp_classic_header *header)
{
    sp_vector_release(&header->messages);
}

/* ---- Groups ----------------------------------------------------------------------------------*/

enum {
    HEAP_BYTES = 32,
    NODE_BYTES = 24,  /* head of a node of the tree; then pairs of key and child */
    TABLE_BYTES = 8,  /* head of a table of entries */
    ENTRY_BYTES = 40,
    MAX_LEVELS = 16,
    SOFT_LINK = 2
};

typedef struct group_walk {
    sp_classic_bytes *bytes;
    sp_classic_group *group;
    uint64_t names, names_size; /* where the names lie */
    uint64_t room;              /* entries that the file has room for, less those seen */
    uint64_t name_room;         /* bytes of names, likewise */
} group_walk;

static sp_classic_outcome load_names(group_walk *walk, uint64_t address)
{
    unsigned char head[HEAP_BYTES];
    if (!sp_classic_read(walk->bytes, address, sizeof head, head) ||
        memcmp(head, "HEAP", 4) != 0 || head[4] != 0)
        return SP_CLASSIC_BAD;
    walk->names_size = SP_CLASSIC_U64(head + 8);
    walk->names = SP_CLASSIC_U64(head + 24);
    if (walk->names > walk->bytes->size || walk->names_size > walk->bytes->size - walk->names)
        return SP_CLASSIC_BAD;
    return SP_CLASSIC_OK;
}

/* A name ends with a NUL inside the heap. */
static sp_classic_outcome load_name(group_walk *walk, uint64_t offset, const char **out)
{
    char piece[256];
    uint64_t length = 0;
    for (;;) {
        if (offset > walk->names_size)
            return SP_CLASSIC_BAD;
        uint64_t left = walk->names_size - offset - length;
        size_t size = left < sizeof piece ? (size_t)left : sizeof piece;
        if (size == 0 || length > walk->name_room ||
            !sp_classic_read(walk->bytes, walk->names + offset + length, size, piece))
            return SP_CLASSIC_BAD;
        size_t used = strnlen(piece, size);
        length += used;
        if (used < size)
            break;
    }
    walk->name_room -= length < walk->name_room ? length : walk->name_room;
    char *name = sp_arena_alloc(&walk->group->names, (size_t)length + 1);
    if (name == NULL)
        return SP_CLASSIC_NO_MEMORY;
    if (!sp_classic_read(walk->bytes, walk->names + offset, (size_t)length, name))
        return SP_CLASSIC_BAD;
    name[length] = '\0';
    *out = name;
    return SP_CLASSIC_OK;
}

static sp_classic_outcome load_entry(group_walk *walk, const unsigned char *entry)
{
    sp_classic_member member = {.address = SP_CLASSIC_U64(entry + 8)};
    if (walk->room == 0)
        return SP_CLASSIC_BAD;
    walk->room--;
    if (SP_CLASSIC_U32(entry + 16) == SOFT_LINK)
        return SP_CLASSIC_OK;
    sp_classic_outcome outcome = load_name(walk, SP_CLASSIC_U64(entry), &member.name);
    if (outcome != SP_CLASSIC_OK)
        return outcome;
    if (!sp_vector_reserve(&walk->group->members, 1))
        return SP_CLASSIC_NO_MEMORY;
    walk->group->members.items[walk->group->members.count++] = member;
    return SP_CLASSIC_OK;
}

static sp_classic_outcome load_table(group_walk *walk, uint64_t address)
{
    unsigned char head[TABLE_BYTES], entry[ENTRY_BYTES];
    if (!sp_classic_read(walk->bytes, address, sizeof head, head) ||
        memcmp(head, "SNOD", 4) != 0 || head[4] != 1)
        return SP_CLASSIC_BAD;
    unsigned count = SP_CLASSIC_U16(head + 6);
    for (unsigned i = 0; i < count; i++) {
        if (!sp_classic_read(walk->bytes, address + TABLE_BYTES + (uint64_t)i * ENTRY_BYTES,
                             sizeof entry, entry))
            return SP_CLASSIC_BAD;
        sp_classic_outcome outcome = load_entry(walk, entry);
        if (outcome != SP_CLASSIC_OK)
            return outcome;
    }
    return SP_CLASSIC_OK;
}

/* One node of the tree, whose level must be `level` (-1: any, the root). Levels go down by one, so
 * no path comes back to itself. */
static sp_classic_outcome load_node(group_walk *walk, uint64_t address, int level)
{
    unsigned char head[NODE_BYTES], child[8];
    if (walk->room == 0 || !sp_classic_read(walk->bytes, address, sizeof head, head) ||
        memcmp(head, "TREE", 4) != 0 || head[4] != 0 || head[5] >= MAX_LEVELS ||
        (level >= 0 && head[5] != level))
        return SP_CLASSIC_BAD;
    unsigned count = SP_CLASSIC_U16(head + 6);
    sp_classic_outcome outcome = SP_CLASSIC_OK;
    for (unsigned i = 0; outcome == SP_CLASSIC_OK && i < count; i++) {
        if (!sp_classic_read(walk->bytes, address + NODE_BYTES + 8 + (uint64_t)i * 16, sizeof child,
                             child))
            return SP_CLASSIC_BAD;
        outcome = head[5] == 0 ? load_table(walk, SP_CLASSIC_U64(child))
                               : load_node(walk, SP_CLASSIC_U64(child), head[5] - 1);
    }
    /* Nodes use up room too: empty ones must not make a tree endless. */
    walk->room -= walk->room > 0;
    return outcome;
}

static int by_name(const void *left, const void *right)
{
    return strcmp(((const sp_classic_member *)left)->name,
                  ((const sp_classic_member *)right)->name);
}

/* ---- Groups whose links are messages -----------------------------------------------------------
 *
 * A group that holds a link to another file, or was made to, is of this kind. */

enum { HAS_ORDER = 1u << 2, HAS_TYPE = 1u << 3, HAS_ENCODING = 1u << 4, HARD_LINK = 0 };

/* A hard link joins the members; other links are left out. */
static sp_classic_outcome parse_link(const unsigned char *content, size_t size,
                                     sp_classic_group *group)
{
    if (size < 2 || content[0] != 1)
        return SP_CLASSIC_BAD;
    unsigned flags = content[1];
    size_t width = (size_t)1 << (flags & 3);
    size_t at = 2U + ((flags & HAS_TYPE) != 0) + ((flags & HAS_ORDER) != 0 ? 8U : 0U) +
                ((flags & HAS_ENCODING) != 0);
    if (size < at + width)
        return SP_CLASSIC_BAD;
    unsigned type = (flags & HAS_TYPE) != 0 ? content[2] : HARD_LINK;
    uint64_t length = sp_classic_number(content + at, width);
    at += width;
    if (length > size - at || size - at - length < 8)
        return type == HARD_LINK ? SP_CLASSIC_BAD : SP_CLASSIC_OK;
    if (type != HARD_LINK)
        return SP_CLASSIC_OK;
    sp_classic_member member = {
        .name = sp_arena_text_n(&group->names, (const char *)content + at, (size_t)length),
        .address = SP_CLASSIC_U64(content + at + length),
    };
    if (member.name == NULL || !sp_vector_reserve(&group->members, 1))
        return SP_CLASSIC_NO_MEMORY;
    group->members.items[group->members.count++] = member;
    return SP_CLASSIC_OK;
}

static sp_classic_outcome load_links(sp_classic_bytes *bytes, sp_classic_group *group)
{
    sp_classic_outcome outcome = SP_CLASSIC_BAD; /* until there is one */
    for (size_t i = 0; i < group->header.messages.count; i++) {
        const sp_classic_message *message = &group->header.messages.items[i];
        if (message->kind != SP_CLASSIC_LINK)
            continue;
        unsigned char *content = malloc((size_t)message->size + 1);
        if (content == NULL)
            return SP_CLASSIC_NO_MEMORY;
        outcome = sp_classic_read(bytes, message->address, message->size, content)
                      ? parse_link(content, message->size, group)
                      : SP_CLASSIC_BAD;
        free(content);
        if (outcome != SP_CLASSIC_OK)
            return outcome;
    }
    return outcome;
}

static sp_classic_outcome load_members(sp_classic_bytes *bytes, sp_classic_group *group)
{
    unsigned char content[16];
    const sp_classic_message *table = sp_classic_find(&group->header, SP_CLASSIC_SYMBOL_TABLE);
    if (table == NULL)
        return load_links(bytes, group);
    if (table->size < sizeof content ||
        !sp_classic_read(bytes, table->address, sizeof content, content))
        return SP_CLASSIC_BAD;
    group_walk walk = {
        .bytes = bytes,
        .group = group,
        .room = bytes->size / NODE_BYTES,
        .name_room = bytes->size,
    };
    sp_classic_outcome outcome = load_names(&walk, SP_CLASSIC_U64(content + 8));
    if (outcome == SP_CLASSIC_OK)
        outcome = load_node(&walk, SP_CLASSIC_U64(content), -1);
    return outcome;
}

sp_classic_outcome sp_classic_load_group(sp_classic_bytes *bytes, uint64_t address,
                                         sp_classic_group *out)
{
    memset(out, 0, sizeof *out);
    sp_classic_outcome outcome = sp_classic_load_header(bytes, address, &out->header);
    if (outcome == SP_CLASSIC_OK)
        outcome = load_members(bytes, out);
    if (outcome == SP_CLASSIC_OK && out->members.count > 0)
        qsort(out->members.items, out->members.count, sizeof *out->members.items, by_name);
    if (outcome != SP_CLASSIC_OK)
        sp_classic_group_release(out);
    return outcome;
}

const sp_classic_member *sp_classic_find_member(const sp_classic_group *group, const char *name)
{
    sp_classic_member key = {.name = name};
    if (group->members.count == 0)
        return NULL;
    return bsearch(&key, group->members.items, group->members.count, sizeof key, by_name);
}

void sp_classic_group_release(sp_classic_group *group)
{
    sp_classic_header_release(&group->header);
    sp_arena_release(&group->names);
    sp_vector_release(&group->members);
}
