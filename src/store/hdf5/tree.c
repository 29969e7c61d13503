#include "store/hdf5/tree.h"

#include "base/error.h"
#include "store/description.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { WHAT_BYTES = 512 };

int sp_tree_damaged(const sp_tree_context *context, sp_error *error, const char *format, ...)
{
    char what[WHAT_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return sp_fail(error, SP_ERR_DAMAGED, "'%s' %s; the file is truncated or damaged",
                   context->path, what);
}

int sp_tree_unreadable(const sp_tree_context *context, sp_error *error, const char *format, ...)
{
    char what[WHAT_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return sp_fail(error, SP_ERR_DAMAGED,
                   "'%s' is not a readable HDF5 profiling file: it is truncated or damaged, or the "
                   "run that wrote it was interrupted (%s)",
                   context->path, what);
}

int sp_tree_overclaimed(const sp_tree_context *context, sp_error *error, const char *name,
                        uint64_t length)
{
    return sp_tree_damaged(context, error, "claims %llu values in '%s', more than it stores",
                           (unsigned long long)length, name);
}

int sp_tree_unknown_filter(const sp_tree_context *context, sp_error *error, int id,
                           const char *label)
{
    return sp_fail(error, SP_ERR_UNSUPPORTED,
                   "'%s' is compressed with a filter that this build lacks: number %d %s",
                   context->path, id, label);
}

const char *sp_tree_text(sp_tree_context *context, const void *bytes, size_t size)
{
    size_t length = strnlen(bytes, size);
    if (length > context->text_budget)
        return NULL;
    context->text_budget -= length;
    char *text = sp_arena_text_n(&context->arena, bytes, length);
    return text == NULL ? NULL : sp_store_utf8(&context->arena, text);
}
