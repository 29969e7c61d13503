/* A publication of all ranks of a job: one file, written by rank 0. */
#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "session/complaint.h"
#include "session/publish_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What only rank 0 can know of the job, as metadata in place of what the caller gave under the same
 * name. */
typedef struct job_metadata {
    sp_metadata_entry *entries;
    size_t count;
    const char **missing; /* numbers of the missing ranks */
    sp_arena texts;
} job_metadata;

static void put(job_metadata *m, const sp_metadata_entry *entry)
{
    for (size_t i = 0; i < m->count; i++)
        if (strcmp(m->entries[i].key, entry->key) == 0) {
            m->entries[i] = *entry;
            return;
        }
    m->entries[m->count++] = *entry;
}

static uint32_t list_missing(job_metadata *m, const sp_gather_rank *ranks, uint32_t num_ranks)
{
    uint32_t count = 0;
    for (uint32_t rank = 1; rank < num_ranks; rank++) {
        char number[16];
        if (!ranks[rank].is_missing)
            continue;
        snprintf(number, sizeof number, "%u", rank);
        m->missing[count] = sp_arena_text(&m->texts, number);
        if (m->missing[count] == NULL)
            return UINT32_MAX;
        count++;
    }
    return count;
}

static int fill_job(job_metadata *m, const sp_gather *gather, const sp_communicator *comm,
                    const sp_binding_publication *what, uint32_t *out_missing, sp_error *error)
{
    enum { OURS = 3 };
    *m = (job_metadata){0};
    m->entries = malloc((what->num_metadata + OURS) * sizeof *m->entries);
    m->missing = malloc(comm->num_ranks * sizeof *m->missing);
    uint32_t missing = m->entries == NULL || m->missing == NULL
                           ? UINT32_MAX
                           : list_missing(m, sp_gather_ranks(gather), comm->num_ranks);
    if (missing == UINT32_MAX)
        return sp_fail_memory(error, "the metadata of a job");
    for (size_t i = 0; i < what->num_metadata; i++)
        m->entries[m->count++] = what->metadata[i];
    put(m, &(sp_metadata_entry){.key = "mpi_size", .integer = comm->num_ranks});
    put(m, &(sp_metadata_entry){.key = "num_nodes", .integer = sp_gather_num_nodes(gather)});
    if (missing > 0)
        put(m, &(sp_metadata_entry){.key = "missing_ranks", .kind = SP_VALUE_TEXT_LIST,
                                    .list = m->missing, .list_length = missing});
    *out_missing = missing;
    return SP_OK;
}

static void release_job(job_metadata *m)
{
    free(m->entries);
    free(m->missing);
    sp_arena_release(&m->texts);
}

/* One attempt with the ranks that there are. */
static int attempt(sp_profiler *profiler, const sp_binding_publication *given, sp_gather *gather,
                   sp_binding_report *report, sp_error *error)
{
    job_metadata job;
    sp_binding_publication what = *given;
    sp_outputs outputs;
    *report = (sp_binding_report){.is_root = true};
    int status = fill_job(&job, gather, given->communicator, given, &report->num_missing, error);
    what.metadata = job.entries;
    what.num_metadata = job.count;
    if (status == SP_OK)
        status = sp_publish_open(profiler, &what, &outputs, error);
    if (status == SP_OK) {
        outputs.gather = gather;
        status = sp_publish_into(profiler, &what, &outputs, report, error);
    }
    release_job(&job);
    return status;
}

static int publish_root(sp_profiler *profiler, const sp_binding_publication *what,
                        sp_gather *gather, sp_binding_report *report, sp_error *error)
{
    int status;
    do {
        status = attempt(profiler, what, gather, report, error);
        if (status == SP_GATHER_AGAIN)
            sp_gather_conclude(gather, status, "");
    } while (status == SP_GATHER_AGAIN);
    sp_gather_conclude(gather, status, error->text);
    if (status == SP_OK && report->num_missing > 0)
        sp_complain("%u of %u ranks did not finalize in time; the profile is written without them, "
                    "its metadata names them as missing_ranks",
                    report->num_missing, what->communicator->num_ranks);
    return status;
}

static int publish_to_root(sp_profiler *profiler, const sp_binding_publication *what,
                           sp_gather *gather, sp_binding_report *report, sp_error *error)
{
    int status;
    do {
        sp_outputs outputs = {.gather = gather};
        *report = (sp_binding_report){.is_root = false};
        status = sp_gather_await_turn(gather, error);
        if (status != SP_OK)
            return status;
        status = sp_outputs_open_relay(&outputs, gather, error);
        if (status == SP_OK)
            status = sp_publish_into(profiler, what, &outputs, report, error);
        if (status != SP_OK && status != SP_GATHER_AGAIN && !outputs.is_sent)
            sp_gather_give_up(gather, error->text);
    } while (status == SP_GATHER_AGAIN);
    return status;
}

static _Thread_local bool is_talking;

bool sp_publish_is_talking(void)
{
    return is_talking;
}

int sp_publish_together(sp_profiler *profiler, const sp_binding_publication *what,
                        sp_binding_report *report, sp_error *error)
{
    sp_error own = {0};
    const sp_gather_spec spec = {
        .communicator = what->communicator,
        .timeout_ns = what->timeout_ns,
        .start_ns = profiler->start_ns,
        .round = ++profiler->num_rounds,
    };
    sp_gather *gather = NULL;
    error = error == NULL ? &own : error;
    is_talking = true;
    int status = sp_gather_open(&spec, &gather, error);
    if (status == SP_OK)
        status = sp_gather_is_root(gather)
                     ? publish_root(profiler, what, gather, report, error)
                     : publish_to_root(profiler, what, gather, report, error);
    sp_gather_close(gather);
    is_talking = false;
    return status;
}
