/* tree.h - a file as the reader of profiles sees it: groups with attributes and columns.
 *
 * Two ways to read one. classic/ decodes the layout that nearly every profile has (superblock 0 or
 * 1) itself: every byte is checked before it is believed, so a damaged file cannot do harm, and no
 * lock or library is needed. library_tree.c asks the HDF5 library, for files of newer layouts.
 */
#ifndef SP_STORE_HDF5_TREE_H
#define SP_STORE_HDF5_TREE_H

#include "base/arena.h"
#include "scope_plugin.h"

typedef int64_t sp_tree_handle; /* of an open group or column; 0: none */

typedef enum sp_tree_type {
    SP_TREE_INTEGERS,
    SP_TREE_REALS,
    SP_TREE_TEXTS,
    SP_TREE_STATISTICS, /* a compound with all members of sp_row_statistics */
    SP_TREE_OTHER
} sp_tree_type;

/* A column whose claims were checked: its values can be read, and are no more than the stored bytes
 * can hold. */
typedef struct sp_tree_column {
    sp_tree_handle handle;
    sp_tree_type type;
    uint64_t length;
    unsigned dimensions; /* 1, or 2 of a matrix, whose values are counted row after row */
} sp_tree_column;

/* What a file's reader and its tree share. */
typedef struct sp_tree_context {
    const char *path;
    uint64_t file_size;
    sp_arena arena;       /* texts that were read */
    uint64_t text_budget; /* bytes of texts that the file can still hold */
    bool is_newer;        /* the classic tree met a part that only the library can read */
} sp_tree_context;

/* Gets each name in turn; false ends the walk. */
typedef bool (*sp_tree_visit)(void *context, const char *name);

typedef struct sp_tree sp_tree;

typedef struct sp_tree_ops {
    void (*close)(sp_tree *tree);
    /* The root is open for the life of the tree. */
    sp_tree_handle (*root)(sp_tree *tree);
    /* Only members that lie in this file itself count. */
    bool (*has_member)(sp_tree *tree, sp_tree_handle group, const char *name);
    int (*open_group)(sp_tree *tree, sp_tree_handle parent, const char *name, sp_tree_handle *out,
                      sp_error *error);
    int (*open_column)(sp_tree *tree, sp_tree_handle group, const char *name, sp_tree_column *out,
                       sp_error *error);
    void (*close_group)(sp_tree *tree, sp_tree_handle group);
    void (*close_column)(sp_tree *tree, sp_tree_handle column);
    /* Names in alphabetical order of their bytes. */
    int (*each_member)(sp_tree *tree, sp_tree_handle group, sp_tree_visit visit, void *context,
                       sp_error *error);
    int (*each_attribute)(sp_tree *tree, sp_tree_handle group, sp_tree_visit visit, void *context,
                          sp_error *error);
    /* SP_ERR_NOT_FOUND: absent, or of a type that metadata cannot have. */
    int (*read_attribute)(sp_tree *tree, sp_tree_handle group, const char *name,
                          sp_metadata_entry *out, sp_error *error);
    /* Values [first, first + count), inside the column. Numbers of any width, sign and byte order;
     * what does not fit becomes the nearest value. `is_unsigned`: `out` holds uint64_t. */
    int (*read_integers)(sp_tree *tree, const sp_tree_column *column, uint64_t first,
                         uint64_t count, bool is_unsigned, void *out, sp_error *error);
    int (*read_reals)(sp_tree *tree, const sp_tree_column *column, uint64_t first, uint64_t count,
                      double *out, sp_error *error);
    int (*read_texts)(sp_tree *tree, const sp_tree_column *column, uint64_t first, uint64_t count,
                      const char **out, sp_error *error);
    int (*read_statistics)(sp_tree *tree, const sp_tree_column *column, uint64_t first,
                           uint64_t count, sp_row_statistics *out, sp_error *error);
} sp_tree_ops;

/* First member of each kind of tree. */
struct sp_tree {
    const sp_tree_ops *ops;
    sp_tree_context *context;
};

enum {
    SP_TREE_PIECE = 128 * 1024,      /* values read at once */
    SP_TREE_CHUNK_LIMIT = 1 << 30,   /* bytes of a chunk that is believed */
    SP_TREE_MAX_LIST = 1 << 20,      /* values of an attribute */
    SP_TREE_MAX_TEXT = 64 << 20      /* bytes of one text */
};

/* Opens `context->path`. Where this or a later call meets a newer layout it fails and sets
 * `context->is_newer`: then the file is for the library. */
int sp_classic_open(sp_tree_context *context, sp_tree **out, sp_error *error);
/* The same through the library; a caller must have entered it for all uses of the tree. */
int sp_library_open(sp_tree_context *context, sp_tree **out, sp_error *error);

/* "<path> <what>; the file is truncated or damaged". */
int sp_tree_damaged(const sp_tree_context *context, sp_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Not even the structure can be read, at what the text names. */
int sp_tree_unreadable(const sp_tree_context *context, sp_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Too little is stored for what is claimed. */
int sp_tree_overclaimed(const sp_tree_context *context, sp_error *error, const char *name,
                        uint64_t length);
int sp_tree_unknown_filter(const sp_tree_context *context, sp_error *error, int id,
                           const char *label);

/* A text of the file as UTF-8 in the arena, within the budget; NULL when it does not fit. It ends
 * at the first NUL of its `size` bytes. */
const char *sp_tree_text(sp_tree_context *context, const void *bytes, size_t size);

#endif
