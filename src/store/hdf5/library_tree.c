/* The tree of a file through the HDF5 library. */
#include "store/hdf5/library_int.h"

#include "base/error.h"
#include "store/hdf5/instance.h"
#include "store/hdf5/trouble.h"

#include <stdlib.h>

static sp_library *of(sp_tree *tree)
{
    return (sp_library *)(void *)tree;
}

int sp_library_unreadable(const sp_tree *tree, sp_error *error, const char *what)
{
    sp_error own = {0};
    sp_hdf5_fail(&own, SP_ERR_DAMAGED, "at '%s'", what);
    return sp_tree_unreadable(tree->context, error, "%s", own.text);
}

/* ---- Groups ----------------------------------------------------------------------------------*/

static sp_tree_handle root(sp_tree *tree)
{
    return of(tree)->root;
}

static bool has_member(sp_tree *tree, sp_tree_handle group, const char *name)
{
    H5L_info_t info;
    (void)tree;
    /* Links to other files would make a profile read what its user never named. */
    return H5Lexists(group, name, H5P_DEFAULT) > 0 &&
           H5Lget_info(group, name, &info, H5P_DEFAULT) >= 0 && info.type == H5L_TYPE_HARD;
}

static int open_group(sp_tree *tree, sp_tree_handle parent, const char *name, sp_tree_handle *out,
                      sp_error *error)
{
    hid_t group = H5Gopen2(parent, name, H5P_DEFAULT);
    if (group < 0)
        return sp_library_unreadable(tree, error, name);
    *out = group;
    return SP_OK;
}

static void close_group(sp_tree *tree, sp_tree_handle group)
{
    if (group != root(tree))
        H5Gclose(group);
}

/* What an iterator of the library is given. */
typedef struct visit_state {
    sp_tree_visit visit;
    void *context;
} visit_state;

static herr_t visit_link(hid_t group, const char *name, const H5L_info_t *info, void *context)
{
    const visit_state *state = context;
    (void)group;
    (void)info;
    return state->visit(state->context, name) ? 0 : 1;
}

static herr_t visit_attribute(hid_t object, const char *name, const H5A_info_t *info,
                              void *context)
{
    const visit_state *state = context;
    (void)object;
    (void)info;
    return state->visit(state->context, name) ? 0 : 1;
}

static int each_member(sp_tree *tree, sp_tree_handle group, sp_tree_visit visit, void *context,
                       sp_error *error)
{
    visit_state state = {visit, context};
    hsize_t at = 0;
    if (H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, &at, visit_link, &state) < 0)
        return sp_library_unreadable(tree, error, "the members of a group");
    return SP_OK;
}

static int each_attribute(sp_tree *tree, sp_tree_handle group, sp_tree_visit visit, void *context,
                          sp_error *error)
{
    visit_state state = {visit, context};
    hsize_t at = 0;
    if (H5Aiterate2(group, H5_INDEX_NAME, H5_ITER_INC, &at, visit_attribute, &state) < 0)
        return sp_library_unreadable(tree, error, "the attributes of a group");
    return SP_OK;
}

/* ---- File ------------------------------------------------------------------------------------*/

static void close_tree(sp_tree *tree)
{
    sp_library *file = of(tree);
    if (file->text_transfer > 0)
        H5Pclose(file->text_transfer);
    if (file->root > 0)
        H5Gclose(file->root);
    if (file->file > 0)
        H5Fclose(file->file);
    free(file);
}

static const sp_tree_ops OPS = {
    .close = close_tree,
    .root = root,
    .has_member = has_member,
    .open_group = open_group,
    .open_column = sp_library_open_column,
    .close_group = close_group,
    .close_column = sp_library_close_column,
    .each_member = each_member,
    .each_attribute = each_attribute,
    .read_attribute = sp_library_read_attribute,
    .read_integers = sp_library_read_integers,
    .read_reals = sp_library_read_reals,
    .read_texts = sp_library_read_texts,
    .read_statistics = sp_library_read_statistics,
};

static int open_file(sp_library *file, sp_error *error)
{
    const char *path = file->tree.context->path;
    hid_t access = H5Pcreate(sp_hdf5.file_access);
#if H5_VERSION_GE(1, 10, 7)
    /* Profiles appear complete and are never changed; a folder that is read-only grants no lock. */
    H5Pset_file_locking(access, 0, 1);
#endif
    hid_t id = access < 0 ? access : H5Fopen(path, H5F_ACC_RDONLY, access);
    int status = SP_OK;
    if (id >= 0)
        file->file = id;
    else if (sp_hdf5_errno() != 0)
        status = sp_hdf5_fail(error, SP_ERR_IO, "cannot read '%s'", path);
    else
        status = sp_hdf5_fail(error, SP_ERR_NOT_A_PROFILE,
                              "'%s' is not a readable HDF5 profiling file: it is truncated or "
                              "damaged, or the run that wrote it was interrupted",
                              path);
    if (access >= 0)
        H5Pclose(access);
    return status;
}

/* The library takes memory for texts from here, so it gets no more than the file can hold. */
static void *take_text_memory(size_t size, void *context)
{
    sp_tree_context *shared = context;
    if (size > shared->text_budget)
        return NULL;
    shared->text_budget -= size;
    return sp_arena_alloc(&shared->arena, size);
}

static void keep_text_memory(void *memory, void *context)
{
    (void)memory;
    (void)context;
}

static int prepare(sp_library *file, sp_error *error)
{
    sp_tree_context *context = file->tree.context;
    file->root = H5Gopen2(file->file, "/", H5P_DEFAULT);
    file->text_transfer = H5Pcreate(sp_hdf5.transfer);
    if (file->root < 0 || file->text_transfer < 0 ||
        H5Pset_vlen_mem_manager(file->text_transfer, take_text_memory, context, keep_text_memory,
                                context) < 0)
        return sp_library_unreadable(&file->tree, error, "/");
    return SP_OK;
}

int sp_library_open(sp_tree_context *context, sp_tree **out, sp_error *error)
{
    sp_library *file = calloc(1, sizeof *file);
    if (file == NULL)
        return sp_fail_memory(error, "opening a profile");
    file->tree = (sp_tree){&OPS, context};
    int status = open_file(file, error);
    if (status == SP_OK)
        status = prepare(file, error);
    if (status != SP_OK)
        close_tree(&file->tree);
    else
        *out = &file->tree;
    return status;
}
