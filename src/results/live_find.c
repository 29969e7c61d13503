/* live_find.c - which recordings are looked at: found by process, output, file or folder. */
#include "base/error.h"
#include "base/os/clock.h"
#include "base/os/file.h"
#include "base/text.h"
#include "results/live.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Members ---------------------------------------------------------------------------------*/

static void add_output(sp_live *live, const sp_owner_frame *frame)
{
    for (size_t i = 0; i < live->outputs.count; i++)
        if (strcmp(live->outputs.items[i], frame->output.bytes) == 0 &&
            strcmp(live->folders.items[i], frame->folder.bytes) == 0)
            return;
    const char *output = sp_arena_text(&live->arena, frame->output.bytes);
    const char *folder = sp_arena_text(&live->arena, frame->folder.bytes);
    if (output == NULL || folder == NULL || !sp_vector_reserve(&live->outputs, 1) ||
        !sp_vector_reserve(&live->folders, 1)) {
        live->is_short = true;
        return;
    }
    live->outputs.items[live->outputs.count++] = output;
    live->folders.items[live->folders.count++] = folder;
}

static sp_live_member *member_of(sp_live *live, const uint8_t *id)
{
    for (size_t i = 0; i < live->members.count; i++)
        if (memcmp(live->members.items[i]->follow.id, id, SP_JOURNAL_ID_BYTES) == 0)
            return live->members.items[i];
    return NULL;
}

static sp_live_member *add_member(sp_live *live, const sp_journal_found *found)
{
    sp_live_member *member = calloc(1, sizeof *member);
    if (member == NULL || !sp_vector_reserve(&live->members, 1)) {
        free(member);
        live->is_short = true;
        return NULL;
    }
    sp_follow_init(&member->follow, found->frame->id);
    member->owner = found->owner;
    member->state = found->state;
    live->members.items[live->members.count++] = member;
    add_output(live, found->frame);
    return member;
}

void sp_live_take(void *context, const sp_journal_found *found)
{
    sp_live *live = context;
    sp_live_member *member = member_of(live, found->frame->id);
    if (member == NULL && found->state == SP_OS_OWNER_ALIVE)
        member = add_member(live, found);
    if (member != NULL)
        sp_follow_add(&member->follow, found->path, found->is_rings);
}

void sp_live_find_more(sp_live *live)
{
    size_t count = live->outputs.count;
    for (size_t i = 0; i < count; i++)
        sp_journal_find_output(live->outputs.items[i], live->folders.items[i], sp_live_take, live);
}

/* ---- Search ----------------------------------------------------------------------------------*/

/* What is wanted, and what was found instead. */
typedef struct search {
    sp_live *live;
    int64_t pid; /* 0: any */
    int64_t dead_pid;
    char dead_output[PATH_MAX];
    size_t found;
} search;

static void look_at(void *context, const sp_journal_found *found)
{
    search *s = context;
    if (s->pid != 0 && found->owner.pid != s->pid)
        return;
    if (found->state == SP_OS_OWNER_ALIVE) {
        s->found++;
        sp_live_take(s->live, found);
    } else if (found->state == SP_OS_OWNER_DEAD) {
        s->dead_pid = found->owner.pid;
        snprintf(s->dead_output, sizeof s->dead_output, "%s", found->frame->output.bytes);
    }
}

static int refuse_dead(const search *s, sp_error *error)
{
    return sp_fail(error, SP_ERR_NOT_FOUND,
                   "process %lld has ended without finishing its recording; 'scope-profiler recover "
                   "%s' makes a profile of it", (long long)s->dead_pid, s->dead_output);
}

#define WITHOUT_JOURNAL                                                                            \
    "it has recorded nothing yet, or keeps no journal: in memory, with totals only, or with the "  \
    "setting journal=\"off\" (SCOPE_PROFILER_JOURNAL)"

static int refuse_pid(const search *s, sp_error *error)
{
    long long pid = s->pid;
    if (s->dead_pid != 0 && !sp_os_process_exists(s->pid))
        return refuse_dead(s, error);
    if (!sp_os_process_exists(s->pid))
        return sp_fail(error, SP_ERR_NOT_FOUND, "there is no process %lld", pid);
    if (sp_os_process_is_foreign(s->pid))
        return sp_fail(error, SP_ERR_NOT_FOUND,
                       "process %lld is another user's; only its owner can look into it", pid);
    return sp_fail(error, SP_ERR_NOT_FOUND, "process %lld cannot be looked into: " WITHOUT_JOURNAL,
                   pid);
}

static int refuse_path(const search *s, const char *path, sp_error *error)
{
    sp_os_file_kind kind = sp_os_file_look(path, NULL);
    if (s->dead_pid != 0)
        return refuse_dead(s, error);
    if (kind == SP_OS_FILE_FOLDER)
        return sp_fail(error, SP_ERR_NOT_FOUND,
                       "no program on this machine records into the folder '%s' with a journal", path);
    if (kind == SP_OS_FILE_REGULAR)
        return sp_fail(error, SP_ERR_NOT_FOUND,
                       "no program on this machine records into '%s' any more; 'scope-profiler inspect "
                       "%s' shows what is in it", path, path);
    return sp_fail(error, SP_ERR_NOT_FOUND,
                   "no program on this machine records into '%s'; if one should, " WITHOUT_JOURNAL,
                   path);
}

/* Takes over `live`. */
static int begin(sp_live *live, sp_live **out, sp_error *error)
{
    int status = sp_live_refresh(live, error);
    if (status == SP_OK)
        *out = live;
    else
        sp_live_close(live);
    return status;
}

static sp_live *create(sp_error *error)
{
    sp_live *live = calloc(1, sizeof *live);
    if (live == NULL)
        sp_fail_memory(error, "looking into a running program");
    return live;
}

int sp_live_open(int64_t pid, sp_live **out, sp_error *error)
{
    search s = {.live = create(error), .pid = pid};
    if (s.live == NULL)
        return SP_ERR_NO_MEMORY;
    if (pid <= 0) {
        sp_live_close(s.live);
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "%lld is no process", (long long)pid);
    }
    sp_journal_find_rings(look_at, &s);
    if (s.found > 0)
        return begin(s.live, out, error);
    sp_live_close(s.live);
    return refuse_pid(&s, error);
}

static void search_output(search *s, const char *path)
{
    char folder[PATH_MAX];
    sp_text output = {0};
    if (path[0] != '/' && sp_os_current_folder(folder, sizeof folder))
        sp_text_format(&output, "%s/", folder);
    sp_text_add(&output, path);
    if (!output.failed)
        sp_journal_find(output.bytes, NULL, true, look_at, s);
    sp_text_release(&output);
}

int sp_live_open_path(const char *path, sp_live **out, sp_error *error)
{
    search s = {.live = create(error)};
    sp_owner_frame frame = {0};
    bool is_rings;
    if (s.live == NULL)
        return SP_ERR_NO_MEMORY;
    if (sp_os_file_look(path, NULL) == SP_OS_FILE_FOLDER)
        sp_journal_find_in(path, look_at, &s);
    else if (sp_journal_identify(path, &frame, &is_rings))
        sp_journal_find(frame.output.bytes, frame.folder.length > 0 ? frame.folder.bytes : NULL, true,
                        look_at, &s);
    else
        search_output(&s, path);
    sp_owner_frame_release(&frame);
    if (s.found > 0)
        return begin(s.live, out, error);
    sp_live_close(s.live);
    return refuse_path(&s, path, error);
}

/* ---- Everything ------------------------------------------------------------------------------*/

typedef struct candidates {
    void (*visit)(void *context, const sp_live_process *process);
    void *context;
} candidates;

static void tell(void *context, const sp_journal_found *found)
{
    const candidates *to = context;
    const sp_owner_frame *frame = found->frame;
    if (found->state != SP_OS_OWNER_ALIVE)
        return;
    sp_live_process info = {.size = sizeof info, .pid = found->owner.pid, .rank = frame->rank,
                            .program = found->owner.program, .output = frame->output.bytes,
                            .started_at_ns = frame->started_at_ns,
                            .elapsed_ns = sp_os_monotonic_ns() - frame->started_ns,
                            .is_running = true};
    to->visit(to->context, &info);
}

void sp_live_find(void (*visit)(void *context, const sp_live_process *process), void *context)
{
    candidates to = {.visit = visit, .context = context};
    sp_journal_find_rings(tell, &to);
}
