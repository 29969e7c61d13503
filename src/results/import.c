/* import.c - traces and profiles that native programs wrote, one for each rank, as one run; and such a
 * run beside another. */
#include "base/error.h"
#include "results/combine.h"
#include "store/spt/spt.h"

#include <stdlib.h>
#include <string.h>

/* What is known while files are read one after the other. */
typedef struct importer {
    sp_results *run;
    SP_VECTOR(const char *) owners; /* file of each rank, in the order of the run's ranks */
    int64_t metadata_rank;          /* rank that the metadata is from, -1: none so far */
    int64_t start;                  /* earliest, -1: not known */
} importer;

static int set_metadata_of(sp_results *run, const sp_results *from, sp_error *error)
{
    int status = SP_OK;
    for (size_t i = 0; i < from->metadata.count && status == SP_OK; i++)
        status = sp_results_set_metadata(run, from->metadata.items[i], error);
    return status;
}

static int set_integer(sp_results *run, const char *key, int64_t integer, sp_error *error)
{
    sp_metadata_entry entry = {.key = key, .kind = SP_VALUE_INTEGER, .integer = integer};
    return sp_results_set_metadata(run, &entry, error);
}

static int set_text(sp_results *run, const char *key, const char *text, sp_error *error)
{
    sp_metadata_entry entry = {.key = key, .kind = SP_VALUE_TEXT, .text = text};
    return sp_results_set_metadata(run, &entry, error);
}

/* When the file's run began: as recorded, else its first call. */
static int note_start(importer *import, sp_results *file, sp_error *error)
{
    sp_run_times times;
    int status = sp_results_times(file, &times, error);
    if (status != SP_OK)
        return status;
    int64_t start = times.start >= 0 ? times.start : times.first_entry;
    if (start >= 0 && (import->start < 0 || start < import->start))
        import->start = start;
    return SP_OK;
}

/* A trace has no metadata of its own; of the others that of the lowest rank counts. The metadata of
 * the run so far are replaced: what a higher rank left is of no interest. */
static int note_metadata(importer *import, sp_results *file, sp_error *error)
{
    if (file->store == &sp_spt_reader || file->ranks.count == 0)
        return SP_OK;
    uint32_t lowest = file->ranks.items[0].rank;
    for (size_t i = 1; i < file->ranks.count; i++)
        if (file->ranks.items[i].rank < lowest)
            lowest = file->ranks.items[i].rank;
    if (import->metadata_rank >= 0 && import->metadata_rank <= (int64_t)lowest)
        return SP_OK;
    import->metadata_rank = lowest;
    import->run->metadata.count = 0;
    return set_metadata_of(import->run, file, error);
}

static int claim_rank(importer *import, uint32_t rank, const char *path, sp_error *error)
{
    for (size_t i = 0; i < import->owners.count; i++)
        if (import->run->ranks.items[i].rank == rank)
            return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "%s and %s both claim rank %u",
                           import->owners.items[i], path, rank);
    if (!sp_vector_reserve(&import->owners, 1))
        return sp_fail_memory(error, "importing traces");
    return SP_OK;
}

static int import_file(importer *import, const char *path, sp_error *error)
{
    sp_results *file;
    int status = sp_results_open(path, &file, error);
    if (status != SP_OK)
        return status;
    status = note_start(import, file, error);
    if (status == SP_OK)
        status = note_metadata(import, file, error);
    for (size_t i = 0; i < file->ranks.count && status == SP_OK; i++) {
        sp_rank_plan plan = {.rank = file->ranks.items[i].rank};
        status = claim_rank(import, plan.rank, path, error);
        if (status == SP_OK)
            status = sp_run_append_rank(import->run, file, &plan, error);
        while (status == SP_OK && import->owners.count < import->run->ranks.count)
            import->owners.items[import->owners.count++] = path;
    }
    sp_results_close(file);
    return status;
}

static int finish_metadata(importer *import, const char *label, sp_error *error)
{
    int status = set_text(import->run, "source", "native", error);
    if (status == SP_OK)
        status = set_integer(import->run, "trace_format_version", SP_FORMAT_VERSION, error);
    if (status == SP_OK && import->start >= 0)
        status = set_integer(import->run, "start_time_ns", import->start, error);
    if (status == SP_OK && label != NULL)
        status = set_text(import->run, "label", label, error);
    return status;
}

int sp_results_import(const char *const *paths, size_t num_paths, const char *label,
                      sp_results **out, sp_error *error)
{
    importer import = {.metadata_rank = -1, .start = -1};
    int status = sp_results_create(&import.run, error);
    if (status != SP_OK)
        return status;
    for (size_t i = 0; i < num_paths && status == SP_OK; i++)
        status = import_file(&import, paths[i], error);
    if (status == SP_OK)
        status = finish_metadata(&import, label, error);
    sp_vector_release(&import.owners);
    if (status != SP_OK) {
        sp_results_close(import.run);
        return status;
    }
    import.run->num_ranks = (uint32_t)import.run->ranks.count;
    *out = import.run;
    return SP_OK;
}

/* ---- Beside another run ----------------------------------------------------------------------*/

static bool has_rank(const sp_results *run, uint32_t rank)
{
    return sp_run_first_row_of_rank(run, rank) != SP_NO_ROW;
}

static int append_run(sp_results *run, sp_results *from, const sp_results *other, sp_error *error)
{
    int status = SP_OK;
    for (size_t i = 0; i < from->ranks.count && status == SP_OK; i++) {
        sp_rank_plan plan = {.rank = from->ranks.items[i].rank};
        plan.is_shared = has_rank(other, plan.rank);
        status = sp_run_append_rank(run, from, &plan, error);
    }
    return status;
}

int sp_results_merge(sp_results *profile, sp_results *native, sp_results **out, sp_error *error)
{
    sp_results *run;
    int status = sp_results_create(&run, error);
    if (status != SP_OK)
        return status;
    status = set_metadata_of(run, profile, error);
    if (status == SP_OK)
        status = append_run(run, profile, native, error);
    if (status == SP_OK)
        status = append_run(run, native, profile, error);
    if (status != SP_OK) {
        sp_results_close(run);
        return status;
    }
    uint32_t ranks = (uint32_t)run->ranks.count;
    run->num_ranks = profile->num_ranks > ranks ? profile->num_ranks : ranks;
    *out = run;
    return SP_OK;
}
