/* The tree of a file in the classic layout. */
#include "store/hdf5/tree.h"

#include "base/error.h"
#include "base/os/positioned.h"
#include "store/hdf5/classic/attribute.h"
#include "store/hdf5/classic/column.h"

#include <stdlib.h>
#include <string.h>

typedef struct classic {
    sp_tree tree; /* first */
    sp_classic_bytes bytes;
    sp_classic_heap heap;
    sp_classic_group *root;
} classic;

static classic *of(sp_tree *tree)
{
    return (classic *)(void *)tree;
}

/* Handles are the addresses of what is open. */
static sp_classic_group *group_of(sp_tree_handle handle)
{
    return (sp_classic_group *)(intptr_t)handle;
}

static sp_classic_column *column_of(sp_tree_handle handle)
{
    return (sp_classic_column *)(intptr_t)handle;
}

/* Turns what went wrong into an error. */
static int fail(sp_tree *tree, sp_error *error, sp_classic_outcome outcome, const char *where)
{
    switch (outcome) {
    case SP_CLASSIC_OK:
        return SP_OK;
    case SP_CLASSIC_NO_MEMORY:
        return sp_fail_memory(error, "opening a profile");
    case SP_CLASSIC_NEWER:
        tree->context->is_newer = true;
        return sp_fail(error, SP_ERR_UNSUPPORTED, "'%s' has a newer layout at '%s'",
                       tree->context->path, where);
    default:
        return sp_tree_unreadable(tree->context, error, "at '%s'", where);
    }
}

/* ---- Groups ----------------------------------------------------------------------------------*/

static sp_tree_handle root(sp_tree *tree)
{
    return (sp_tree_handle)(intptr_t)of(tree)->root;
}

static bool has_member(sp_tree *tree, sp_tree_handle group, const char *name)
{
    (void)tree;
    return sp_classic_find_member(group_of(group), name) != NULL;
}

static int open_group(sp_tree *tree, sp_tree_handle parent, const char *name, sp_tree_handle *out,
                      sp_error *error)
{
    const sp_classic_member *member = sp_classic_find_member(group_of(parent), name);
    if (member == NULL)
        return sp_fail(error, SP_ERR_NOT_FOUND, "no group '%s'", name);
    sp_classic_group *group = malloc(sizeof *group);
    if (group == NULL)
        return sp_fail_memory(error, "opening a profile");
    sp_classic_outcome outcome = sp_classic_load_group(&of(tree)->bytes, member->address, group);
    if (outcome != SP_CLASSIC_OK) {
        free(group);
        return fail(tree, error, outcome, name);
    }
    *out = (sp_tree_handle)(intptr_t)group;
    return SP_OK;
}

static void close_group(sp_tree *tree, sp_tree_handle handle)
{
    if (handle == 0 || handle == root(tree))
        return;
    sp_classic_group_release(group_of(handle));
    free(group_of(handle));
}

static int each_member(sp_tree *tree, sp_tree_handle handle, sp_tree_visit visit, void *context,
                       sp_error *error)
{
    const sp_classic_group *group = group_of(handle);
    (void)tree;
    (void)error;
    for (size_t i = 0; i < group->members.count; i++)
        if (!visit(context, group->members.items[i].name))
            break;
    return SP_OK;
}

/* ---- Attributes ------------------------------------------------------------------------------*/

static int by_text(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static int each_attribute(sp_tree *tree, sp_tree_handle handle, sp_tree_visit visit, void *context,
                          sp_error *error)
{
    const sp_classic_header *header = &group_of(handle)->header;
    SP_VECTOR(const char *) names = {0};
    int status = SP_OK;
    for (size_t i = 0; status == SP_OK && i < header->messages.count; i++) {
        const sp_classic_message *message = &header->messages.items[i];
        if (message->kind != SP_CLASSIC_ATTRIBUTE)
            continue;
        const char *name =
            sp_classic_attribute_name(&of(tree)->bytes, message, &tree->context->arena);
        if (name == NULL)
            status = fail(tree, error, SP_CLASSIC_BAD, "an attribute");
        else if (!sp_vector_reserve(&names, 1))
            status = sp_fail_memory(error, "opening a profile");
        else
            names.items[names.count++] = name;
    }
    if (names.count > 0)
        qsort(names.items, names.count, sizeof *names.items, by_text);
    for (size_t i = 0; status == SP_OK && i < names.count; i++)
        if (!visit(context, names.items[i]))
            break;
    sp_vector_release(&names);
    return status;
}

static const sp_classic_message *find_attribute(sp_tree *tree, const sp_classic_header *header,
                                                const char *name)
{
    sp_arena names = {0};
    const sp_classic_message *found = NULL;
    for (size_t i = 0; found == NULL && i < header->messages.count; i++) {
        const sp_classic_message *message = &header->messages.items[i];
        if (message->kind != SP_CLASSIC_ATTRIBUTE)
            continue;
        const char *own = sp_classic_attribute_name(&of(tree)->bytes, message, &names);
        if (own != NULL && strcmp(own, name) == 0)
            found = message;
    }
    sp_arena_release(&names);
    return found;
}

static int read_attribute(sp_tree *tree, sp_tree_handle handle, const char *name,
                          sp_metadata_entry *out, sp_error *error)
{
    const sp_classic_message *message = find_attribute(tree, &group_of(handle)->header, name);
    if (message == NULL)
        return sp_fail(error, SP_ERR_NOT_FOUND, "no attribute '%s'", name);
    bool is_known = false;
    sp_metadata_entry entry = {.key = sp_tree_text(tree->context, name, strlen(name))};
    if (entry.key == NULL)
        return sp_fail_memory(error, "opening a profile");
    sp_classic_outcome outcome = sp_classic_attribute_value(
        &of(tree)->bytes, &of(tree)->heap, message, tree->context, &entry, &is_known);
    if (outcome != SP_CLASSIC_OK)
        return fail(tree, error, outcome, name);
    if (!is_known)
        return sp_fail(error, SP_ERR_NOT_FOUND, "the attribute '%s' is of no known type", name);
    *out = entry;
    return SP_OK;
}

/* ---- Columns ---------------------------------------------------------------------------------*/

static sp_tree_type tree_type(sp_classic_class kind)
{
    switch (kind) {
    case SP_CLASSIC_INTEGER:
        return SP_TREE_INTEGERS;
    case SP_CLASSIC_REAL:
        return SP_TREE_REALS;
    case SP_CLASSIC_FIXED_TEXT:
    case SP_CLASSIC_VARIABLE_TEXT:
        return SP_TREE_TEXTS;
    case SP_CLASSIC_ROW_STATISTICS:
        return SP_TREE_STATISTICS;
    default:
        return SP_TREE_OTHER;
    }
}

static int load_column(sp_tree *tree, const char *name, uint64_t address, sp_classic_column *column,
                       sp_error *error)
{
    bool is_overclaimed = false;
    sp_classic_outcome outcome =
        sp_classic_load_column(&of(tree)->bytes, address, column, &is_overclaimed);
    if (is_overclaimed)
        return sp_tree_overclaimed(tree->context, error, name, column->length);
    if (outcome == SP_CLASSIC_BAD)
        return sp_tree_unreadable(tree->context, error, "at '%s', which is no column", name);
    if (outcome != SP_CLASSIC_OK)
        return fail(tree, error, outcome, name);
    if (column->unknown_filter == 0)
        return SP_OK;
    int status =
        sp_tree_unknown_filter(tree->context, error, column->unknown_filter, column->filter_name);
    sp_classic_column_release(column);
    return status;
}

static int open_column(sp_tree *tree, sp_tree_handle group, const char *name, sp_tree_column *out,
                       sp_error *error)
{
    const sp_classic_member *member = sp_classic_find_member(group_of(group), name);
    if (member == NULL)
        return sp_fail(error, SP_ERR_NOT_FOUND, "no dataset '%s'", name);
    sp_classic_column *column = malloc(sizeof *column);
    if (column == NULL)
        return sp_fail_memory(error, "opening a profile");
    int status = load_column(tree, name, member->address, column, error);
    if (status != SP_OK) {
        free(column);
        return status;
    }
    *out = (sp_tree_column){(sp_tree_handle)(intptr_t)column, tree_type(column->type.kind),
                            column->length, column->dimensions};
    return SP_OK;
}

static void close_column(sp_tree *tree, sp_tree_handle handle)
{
    (void)tree;
    if (handle == 0)
        return;
    sp_classic_column_release(column_of(handle));
    free(column_of(handle));
}

/* ---- Values ----------------------------------------------------------------------------------*/

/* Gets the bytes of `count` values that begin at number `at` of what was asked for. */
typedef sp_classic_outcome (*take_values)(classic *file, const sp_classic_type *type,
                                          const unsigned char *bytes, size_t at, size_t count,
                                          void *context);

enum { PIECE_BYTES = 64 * 1024 };

/* Reads values in pieces and hands each to `take`. */
static int read_pieces(sp_tree *tree, const sp_tree_column *from, uint64_t first, uint64_t count,
                       take_values take, void *context, sp_error *error)
{
    sp_classic_column *column = column_of(from->handle);
    size_t width = column->type.size, most = width < PIECE_BYTES ? PIECE_BYTES / width : 1;
    if (width > SP_TREE_MAX_TEXT)
        return sp_tree_damaged(tree->context, error, "has values of %zu bytes", width);
    unsigned char *bytes = malloc(most * width);
    if (bytes == NULL)
        return sp_fail_memory(error, "reading a profile");
    sp_classic_outcome outcome = SP_CLASSIC_OK;
    for (uint64_t done = 0; outcome == SP_CLASSIC_OK && done < count;) {
        size_t piece = count - done < most ? (size_t)(count - done) : most;
        outcome = sp_classic_read_values(&of(tree)->bytes, column, first + done, piece, bytes);
        if (outcome == SP_CLASSIC_OK)
            outcome = take(of(tree), &column->type, bytes, (size_t)done, piece, context);
        done += piece;
    }
    free(bytes);
    return fail(tree, error, outcome, "the values of a column");
}

static sp_classic_outcome take_signed(classic *file, const sp_classic_type *type,
                                      const unsigned char *bytes, size_t at, size_t count,
                                      void *context)
{
    int64_t *out = (int64_t *)context + at;
    (void)file;
    for (size_t i = 0; i < count; i++)
        out[i] = sp_classic_signed(&type->number, bytes + i * type->size);
    return SP_CLASSIC_OK;
}

static sp_classic_outcome take_unsigned(classic *file, const sp_classic_type *type,
                                        const unsigned char *bytes, size_t at, size_t count,
                                        void *context)
{
    uint64_t *out = (uint64_t *)context + at;
    (void)file;
    for (size_t i = 0; i < count; i++)
        out[i] = sp_classic_unsigned(&type->number, bytes + i * type->size);
    return SP_CLASSIC_OK;
}

static int read_integers(sp_tree *tree, const sp_tree_column *from, uint64_t first, uint64_t count,
                         bool is_unsigned, void *out, sp_error *error)
{
    sp_classic_column *column = column_of(from->handle);
    if (column->type.kind != SP_CLASSIC_INTEGER)
        return sp_tree_damaged(tree->context, error, "has a column that should hold integers");
    if (!is_unsigned && sp_classic_is_native(&column->type.number))
        return fail(tree, error,
                    sp_classic_read_values(&of(tree)->bytes, column, first, count, out),
                    "the values of a column");
    return read_pieces(tree, from, first, count, is_unsigned ? take_unsigned : take_signed, out,
                       error);
}

static sp_classic_outcome take_reals(classic *file, const sp_classic_type *type,
                                     const unsigned char *bytes, size_t at, size_t count,
                                     void *context)
{
    double *out = (double *)context + at;
    (void)file;
    for (size_t i = 0; i < count; i++)
        out[i] = sp_classic_real(&type->number, bytes + i * type->size);
    return SP_CLASSIC_OK;
}

static int read_reals(sp_tree *tree, const sp_tree_column *from, uint64_t first, uint64_t count,
                      double *out, sp_error *error)
{
    if (from->type != SP_TREE_REALS && from->type != SP_TREE_INTEGERS)
        return sp_tree_damaged(tree->context, error, "has a column that should hold numbers");
    return read_pieces(tree, from, first, count, take_reals, out, error);
}

static sp_classic_outcome take_texts(classic *file, const sp_classic_type *type,
                                     const unsigned char *bytes, size_t at, size_t count,
                                     void *context)
{
    const char **out = (const char **)context + at;
    for (size_t i = 0; i < count; i++) {
        const unsigned char *value = bytes + i * type->size;
        size_t size = type->size;
        if (type->kind == SP_CLASSIC_VARIABLE_TEXT) {
            sp_classic_outcome outcome =
                sp_classic_text(&file->heap, &file->bytes, file->tree.context, value, &out[i]);
            if (outcome != SP_CLASSIC_OK)
                return outcome;
            continue;
        }
        while (type->is_space_padded && size > 0 && value[size - 1] == ' ')
            size--;
        out[i] = sp_tree_text(file->tree.context, value, size);
        if (out[i] == NULL)
            return SP_CLASSIC_NO_MEMORY;
    }
    return SP_CLASSIC_OK;
}

static int read_texts(sp_tree *tree, const sp_tree_column *from, uint64_t first, uint64_t count,
                      const char **out, sp_error *error)
{
    if (from->type != SP_TREE_TEXTS)
        return sp_tree_damaged(tree->context, error, "has a column that should hold texts");
    return read_pieces(tree, from, first, count, take_texts, (void *)out, error);
}

static sp_classic_outcome take_statistics(classic *file, const sp_classic_type *type,
                                          const unsigned char *bytes, size_t at, size_t count,
                                          void *context)
{
    sp_row_statistics *out = (sp_row_statistics *)context + at;
    (void)file;
    for (size_t i = 0; i < count; i++) {
        uint64_t words[SP_STATISTICS_MEMBERS];
        for (int m = 0; m < SP_STATISTICS_MEMBERS; m++) {
            const sp_classic_number_type *member = &type->members[m];
            const unsigned char *value = bytes + i * type->size + type->offsets[m];
            double real = sp_classic_real(member, value);
            if (m >= SP_STATISTICS_FIRST_REAL)
                memcpy(&words[m], &real, sizeof real);
            else if (m == SP_STATISTICS_GPU_COUNT)
                words[m] = sp_classic_unsigned(member, value);
            else
                words[m] = (uint64_t)sp_classic_signed(member, value);
        }
        memcpy(&out[i], words, sizeof words);
    }
    return SP_CLASSIC_OK;
}

static int read_statistics(sp_tree *tree, const sp_tree_column *from, uint64_t first,
                           uint64_t count, sp_row_statistics *out, sp_error *error)
{
    if (from->type != SP_TREE_STATISTICS)
        return sp_tree_damaged(tree->context, error, "has a column that should hold statistics");
    return read_pieces(tree, from, first, count, take_statistics, out, error);
}

/* ---- File ------------------------------------------------------------------------------------*/

static void close_tree(sp_tree *tree)
{
    classic *file = of(tree);
    if (file->root != NULL)
        sp_classic_group_release(file->root);
    free(file->root);
    sp_classic_heap_release(&file->heap);
    free(file->bytes.windows);
    sp_os_close(file->bytes.descriptor);
    free(file);
}

static const sp_tree_ops OPS = {
    .close = close_tree,
    .root = root,
    .has_member = has_member,
    .open_group = open_group,
    .open_column = open_column,
    .close_group = close_group,
    .close_column = close_column,
    .each_member = each_member,
    .each_attribute = each_attribute,
    .read_attribute = read_attribute,
    .read_integers = read_integers,
    .read_reals = read_reals,
    .read_texts = read_texts,
    .read_statistics = read_statistics,
};

static const unsigned char SIGNATURE[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1A, '\n'};

/* The superblock stands at the start, or at 512, 1024, ... behind what someone put before it. */
static bool find_signature(sp_classic_bytes *bytes, uint64_t file_size)
{
    unsigned char start[sizeof SIGNATURE];
    for (uint64_t at = 0; at < file_size; at = at == 0 ? 512 : at * 2) {
        bytes->base = 0;
        bytes->size = file_size;
        if (!sp_classic_read(bytes, at, sizeof start, start))
            return false;
        if (memcmp(start, SIGNATURE, sizeof start) == 0) {
            /* Windows are counted from the base: none of before may stay. */
            memset(bytes->windows, 0, SP_CLASSIC_WINDOWS * sizeof *bytes->windows);
            bytes->base = at;
            bytes->size = file_size - at;
            return true;
        }
    }
    return false;
}

/* The version decides who reads the file. 0 and 1 differ in four bytes. */
static sp_classic_outcome read_superblock(classic *file, uint64_t *out_root)
{
    enum { WIDTH = 8, ADDRESSES = 4 };
    unsigned char head[24], addresses[ADDRESSES * WIDTH + 16];
    if (!sp_classic_read(&file->bytes, 0, 9, head))
        return SP_CLASSIC_BAD;
    if (head[8] == 2 || head[8] == 3)
        return SP_CLASSIC_NEWER;
    if (head[8] > 1 || !sp_classic_read(&file->bytes, 0, sizeof head, head) || head[13] != WIDTH ||
        head[14] != WIDTH)
        return SP_CLASSIC_BAD;
    uint64_t at = sizeof head + (head[8] == 1 ? 4 : 0);
    if (!sp_classic_read(&file->bytes, at, sizeof addresses, addresses))
        return SP_CLASSIC_BAD;
    uint64_t base = SP_CLASSIC_U64(addresses), end = SP_CLASSIC_U64(addresses + 2 * WIDTH);
    /* A file that is shorter than it was when it was closed. */
    if (base != file->bytes.base || end < base || end - base > file->bytes.size)
        return SP_CLASSIC_BAD;
    *out_root = SP_CLASSIC_U64(addresses + ADDRESSES * WIDTH + WIDTH);
    return SP_CLASSIC_OK;
}

static int not_a_profile(const sp_tree_context *context, sp_error *error)
{
    return sp_fail(
        error, SP_ERR_NOT_A_PROFILE,
        "'%s' is not a readable HDF5 profiling file: it is of another kind, truncated or "
        "damaged, or the run that wrote it was interrupted",
        context->path);
}

static int read_start(classic *file, sp_error *error)
{
    const sp_tree_context *context = file->tree.context;
    uint64_t address = 0;
    if (!find_signature(&file->bytes, context->file_size))
        return not_a_profile(context, error);
    sp_classic_outcome outcome = read_superblock(file, &address);
    if (outcome == SP_CLASSIC_BAD)
        return not_a_profile(context, error);
    if (outcome == SP_CLASSIC_OK) {
        file->root = malloc(sizeof *file->root);
        if (file->root == NULL)
            return sp_fail_memory(error, "opening a profile");
        outcome = sp_classic_load_group(&file->bytes, address, file->root);
        if (outcome != SP_CLASSIC_OK) {
            free(file->root);
            file->root = NULL;
        }
    }
    return fail(&file->tree, error, outcome, "/");
}

int sp_classic_open(sp_tree_context *context, sp_tree **out, sp_error *error)
{
    classic *file = calloc(1, sizeof *file);
    if (file == NULL)
        return sp_fail_memory(error, "opening a profile");
    file->tree = (sp_tree){&OPS, context};
    file->bytes.descriptor = -1;
    file->bytes.windows = calloc(SP_CLASSIC_WINDOWS, sizeof *file->bytes.windows);
    int status = file->bytes.windows == NULL
                     ? sp_fail_memory(error, "opening a profile")
                     : sp_os_open_to_read(context->path, &file->bytes.descriptor,
                                          &context->file_size, error);
    if (status == SP_OK)
        status = read_start(file, error);
    if (status != SP_OK)
        close_tree(&file->tree);
    else
        *out = &file->tree;
    return status;
}
