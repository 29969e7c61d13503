/* recovery.c - recordings that did not end well: found, described, made into profiles. */
#include "base/error.h"
#include "base/os/file.h"
#include "base/os/journal_file.h"
#include "base/text.h"
#include "results/model.h"
#include "store/image/image.h"
#include "store/journal/find.h"
#include "store/journal/recover.h"
#include "store/module.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One recording: all files with the same id. */
typedef struct remains {
    uint8_t id[SP_JOURNAL_ID_BYTES];
    SP_VECTOR(char *) paths;
    sp_os_owner_state state;
    bool is_loaded;
    sp_text losses; /* what the recorder told of them */
    sp_loaded loaded;
} remains;

struct sp_recovery {
    SP_VECTOR(remains) items;
    const uint8_t *only; /* id that is wanted, NULL: any */
    bool failed;         /* memory was short */
};

/* ---- Search ----------------------------------------------------------------------------------*/

static remains *remains_of(sp_recovery *recovery, const uint8_t *id)
{
    for (size_t i = 0; i < recovery->items.count; i++)
        if (memcmp(recovery->items.items[i].id, id, SP_JOURNAL_ID_BYTES) == 0)
            return &recovery->items.items[i];
    if (!sp_vector_reserve(&recovery->items, 1))
        return NULL;
    remains *added = &recovery->items.items[recovery->items.count++];
    memset(added, 0, sizeof *added);
    memcpy(added->id, id, SP_JOURNAL_ID_BYTES);
    return added;
}

static void collect(void *context, const sp_journal_found *found)
{
    sp_recovery *recovery = context;
    if (recovery->only != NULL && memcmp(recovery->only, found->frame->id, SP_JOURNAL_ID_BYTES) != 0)
        return;
    remains *of = remains_of(recovery, found->frame->id);
    char *path = of == NULL || !sp_vector_reserve(&of->paths, 1) ? NULL : strdup(found->path);
    if (path == NULL) {
        recovery->failed = true;
        return;
    }
    for (size_t i = 0; i < of->paths.count; i++)
        if (strcmp(of->paths.items[i], path) == 0) {
            free(path);
            return;
        }
    of->paths.items[of->paths.count++] = path;
    of->state = found->state;
}

static void search_file(sp_recovery *recovery, const char *path, sp_owner_frame *frame,
                        bool is_rings)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash == NULL ? 1 : (int)(slash - path),
             slash == NULL ? "." : path);
    recovery->only = frame->id;
    sp_journal_found found = {.path = path, .is_rings = is_rings, .frame = frame,
                              .owner = frame->owner, .state = sp_os_owner_look(&frame->owner)};
    collect(recovery, &found);
    sp_journal_find_in(folder[0] == '\0' ? "/" : folder, collect, recovery);
    sp_journal_find(frame->output.bytes, frame->folder.length > 0 ? frame->folder.bytes : NULL, true,
                    collect, recovery);
    recovery->only = NULL;
}

static void search_output(sp_recovery *recovery, const char *path)
{
    char folder[PATH_MAX];
    sp_text output = {0};
    if (path[0] != '/' && sp_os_current_folder(folder, sizeof folder))
        sp_text_format(&output, "%s/", folder);
    sp_text_add(&output, path);
    if (output.failed)
        recovery->failed = true;
    else
        sp_journal_find(output.bytes, NULL, true, collect, recovery);
    sp_text_release(&output);
}

static int by_path(const void *a, const void *b)
{
    const remains *x = a, *y = b;
    return strcmp(x->paths.items[0], y->paths.items[0]);
}

int sp_recovery_search(const char *path, sp_recovery **out, sp_error *error)
{
    sp_recovery *recovery = calloc(1, sizeof *recovery);
    if (recovery == NULL)
        return sp_fail_memory(error, "looking for journals");
    sp_owner_frame frame = {0};
    bool is_rings;
    if (sp_os_file_look(path, NULL) == SP_OS_FILE_FOLDER)
        sp_journal_find_in(path, collect, recovery);
    else if (sp_journal_identify(path, &frame, &is_rings))
        search_file(recovery, path, &frame, is_rings);
    else
        search_output(recovery, path);
    sp_owner_frame_release(&frame);
    bool is_empty = recovery->items.count == 0, failed = recovery->failed;
    if (failed || is_empty) {
        sp_recovery_release(recovery);
        return failed ? sp_fail_memory(error, "looking for journals")
                      : sp_fail(error, SP_ERR_NOT_FOUND,
                                "no journal of '%s' is left, neither beside it nor in shared memory",
                                path);
    }
    qsort(recovery->items.items, recovery->items.count, sizeof(remains), by_path);
    *out = recovery;
    return SP_OK;
}

size_t sp_recovery_count(const sp_recovery *recovery)
{
    return recovery->items.count;
}

void sp_recovery_release(sp_recovery *recovery)
{
    for (size_t i = 0; recovery != NULL && i < recovery->items.count; i++) {
        remains *of = &recovery->items.items[i];
        for (size_t k = 0; k < of->paths.count; k++)
            free(of->paths.items[k]);
        sp_vector_release(&of->paths);
        sp_text_release(&of->losses);
        if (of->is_loaded)
            sp_loaded_release(&of->loaded);
    }
    if (recovery != NULL)
        sp_vector_release(&recovery->items);
    free(recovery);
}

/* ---- One recording ---------------------------------------------------------------------------*/

static void list_losses(remains *of)
{
    sp_text_add(&of->losses, "");
    for (size_t i = 0; i < of->loaded.losses.count; i++)
        sp_text_format(&of->losses, "%s%s %lld", i > 0 ? ", " : "", of->loaded.losses.items[i].kind,
                       (long long)of->loaded.losses.items[i].count);
}

static int find_loaded(sp_recovery *recovery, size_t i, remains **out, sp_error *error)
{
    if (i >= recovery->items.count)
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "recording %zu of %zu", i,
                       recovery->items.count);
    remains *of = &recovery->items.items[i];
    int status = of->is_loaded ? SP_OK
                               : sp_load((const char *const *)of->paths.items, of->paths.count,
                                         &of->loaded, error);
    if (status == SP_OK && !of->is_loaded)
        list_losses(of);
    of->is_loaded |= status == SP_OK;
    *out = of;
    return status;
}

int sp_recovery_describe(sp_recovery *recovery, size_t i, sp_recovery_info *out, sp_error *error)
{
    remains *of;
    int status = find_loaded(recovery, i, &of, error);
    if (status != SP_OK)
        return status;
    const sp_loaded *loaded = &of->loaded;
    const sp_owner_frame *owner = &loaded->owner;
    sp_recovery_info info = {
        .size = out->size,
        .output = owner->output.bytes,
        .journal = of->paths.items[0],
        .host = owner->owner.host,
        .program = owner->owner.program,
        .pid = owner->owner.pid,
        .rank = owner->rank,
        .started_at_ns = owner->started_at_ns,
        .is_running = of->state == SP_OS_OWNER_ALIVE,
        .is_elsewhere = of->state == SP_OS_OWNER_ELSEWHERE,
        .has_rings = loaded->has_rings,
        .num_calls = loaded->num_calls,
        .num_open = loaded->open_calls.count,
        .missing_calls = loaded->missing_calls,
        .damaged_blocks = loaded->damaged_blocks,
        .damaged_bytes = loaded->damaged_bytes,
        .damaged_rings = loaded->damaged_rings,
        .torn_bytes = loaded->torn_bytes,
        .first_ns = owner->started_ns,
        .last_ns = sp_timeline_ns(&loaded->timeline, loaded->last_tick),
        .losses = of->losses.failed ? "" : of->losses.bytes,
    };
    memcpy(out, &info, out->size < sizeof info ? out->size : sizeof info);
    return SP_OK;
}

int sp_recovery_open(sp_recovery *recovery, size_t i, sp_results **out, sp_error *error)
{
    remains *of;
    void *image = NULL;
    size_t size = 0;
    sp_store_writer *writer;
    sp_assembly_result result = {0};
    int status = find_loaded(recovery, i, &of, error);
    if (status == SP_OK)
        status = sp_image_create(NULL, &image, &size, &writer, error);
    if (status != SP_OK)
        return status;
    sp_assemble_output output = {.table = &sp_image_writer, .writer = writer};
    status = sp_recover(&of->loaded, &output, 1, &result, error);
    if (status == SP_OK)
        status = sp_image_writer.commit(writer, error);
    else
        sp_image_writer.abort(writer);
    sp_assembly_result_release(&result);
    return status == SP_OK ? sp_results_open_image(image, size, out, error) : status;
}

int sp_recovery_write(sp_recovery *recovery, size_t i, const char *path,
                      const sp_store_options *options, sp_error *error)
{
    remains *of;
    sp_store_writer *writer;
    sp_assembly_result result = {0};
    sp_store_options stored = {.compression_level = -1};
    if (options != NULL)
        stored = *options;
    stored.size = sizeof stored;
    stored.is_aggregate = false;
    int status = find_loaded(recovery, i, &of, error);
    const sp_store_table *store = status == SP_OK ? sp_store_hdf5(error) : NULL;
    if (status == SP_OK && store == NULL)
        status = SP_ERR_NO_MODULE;
    if (status == SP_OK)
        status = store->create(path, &stored, &writer, error);
    if (status != SP_OK)
        return status;
    sp_assemble_output output = {.table = store, .writer = writer};
    status = sp_recover(&of->loaded, &output, 1, &result, error);
    if (status == SP_OK)
        status = store->commit(writer, error);
    else
        store->abort(writer);
    sp_assembly_result_release(&result);
    return status;
}

int sp_recovery_remove(sp_recovery *recovery, size_t i, sp_error *error)
{
    if (i >= recovery->items.count)
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "recording %zu of %zu", i,
                       recovery->items.count);
    const remains *of = &recovery->items.items[i];
    if (of->state != SP_OS_OWNER_DEAD)
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT,
                       "'%s' may still be written: its process runs, or ran on another machine",
                       of->paths.items[0]);
    for (size_t k = 0; k < of->paths.count; k++)
        sp_os_journal_remove(of->paths.items[k]);
    return SP_OK;
}

/* ---- Files of rings --------------------------------------------------------------------------*/

typedef void visit_left(void *context, const char *path, const char *output, int64_t pid,
                        uint64_t bytes);

typedef struct left_visitor {
    visit_left *visit;
    void *context;
} left_visitor;

static void tell_left(void *context, const sp_journal_found *found)
{
    const left_visitor *to = context;
    uint64_t bytes;
    int descriptor =
        found->state == SP_OS_OWNER_DEAD ? sp_os_journal_open(found->path, &bytes) : -1;
    if (descriptor < 0)
        return;
    sp_os_journal_close(descriptor);
    to->visit(to->context, found->path, found->frame->output.bytes, found->owner.pid, bytes);
}

void sp_recovery_find_left(visit_left *visit, void *context)
{
    left_visitor to = {.visit = visit, .context = context};
    sp_journal_find_rings(tell_left, &to);
}
