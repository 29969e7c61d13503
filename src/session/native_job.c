#include "session/native_job.h"

#include "base/error.h"
#include "base/module.h"
#include "base/os/process.h"
#include "session/complaint.h"
#include "session/environment.h"
#include "session/native_run.h"

#include <strings.h>

/* Names under which the libraries of an MPI are loaded, and the module made for it. */
static const struct {
    const char *module, *libraries[2];
} known[] = {
    {"libscope_profiler_mpi_openmpi.so", {"libmpi.so.40", NULL}},
    {"libscope_profiler_mpi_mpich.so", {"libmpich.so.12", "libmpi.so.12"}},
};
enum { NUM_KNOWN = sizeof known / sizeof known[0] };

static sp_mutex lock = SP_MUTEX_INIT; /* for what follows */
static const sp_mpi_table *table;
static uint64_t looked_at; /* what was loaded when no MPI was found */
static atomic_bool is_watching;

/* Open MPI gives a process that nobody launched the variables of a launcher when MPI comes up. */
static bool was_launched;

static __attribute__((constructor)) void look_for_launcher(void)
{
    was_launched = sp_environment_rank() >= 0;
}

static void *loaded_library(const char *const names[2])
{
    void *library = NULL;
    for (int i = 0; i < 2 && library == NULL && names[i] != NULL; i++)
        library = sp_os_library_loaded(names[i]);
    return library;
}

typedef struct search {
    void *library;
    const sp_mpi_table *found;
} search;

static bool take(void *module, const char *path, void *context, sp_error *error)
{
    search *wanted = context;
    sp_mpi_entry entry = (sp_mpi_entry)sp_os_library_function(module, SP_MPI_SYMBOL);
    if (entry == NULL) {
        sp_fail(error, SP_ERR_NO_MODULE, "'%s' is no module of the profiler", path);
        return false;
    }
    const sp_mpi_table *found = entry(wanted->library, error);
    if (found == NULL)
        return false;
    if (found->version != SP_MPI_VERSION || found->size < sizeof *found) {
        sp_fail(error, SP_ERR_NO_MODULE, "'%s' belongs to another version of the profiler", path);
        return false;
    }
    wanted->found = found;
    return true;
}

/* Under the lock. NULL: the process has loaded no MPI, or there is no module for it. */
static const sp_mpi_table *find_mpi(void)
{
    uint64_t loaded = sp_os_num_loaded();
    if (table != NULL || loaded == looked_at)
        return table;
    for (int i = 0; i < NUM_KNOWN && table == NULL; i++) {
        search wanted = {.library = loaded_library(known[i].libraries)};
        const sp_module module = {.file = known[i].module, .what = "MPI module",
                                  .asker = (sp_os_function)sp_job_watch,
                                  .folder = SP_MODULE_FOLDER, .take = take, .context = &wanted};
        if (wanted.library != NULL && sp_module_open(&module, NULL) == SP_OK)
            table = wanted.found;
    }
    looked_at = sp_os_num_loaded();
    return table;
}

static bool is_forbidden(void)
{
    static const char *const no[] = {"0", "false", "no", "off"};
    const char *wish = sp_os_environment("SCOPE_PROFILER_MPI");
    for (size_t i = 0; wish != NULL && i < sizeof no / sizeof *no; i++)
        if (strcasecmp(wish, no[i]) == 0)
            return true;
    return false;
}

void sp_job_watch(void)
{
    if (atomic_load_explicit(&is_watching, memory_order_relaxed) || is_forbidden())
        return;
    sp_mutex_lock(&lock);
    const sp_mpi_table *mpi = atomic_load(&is_watching) ? NULL : find_mpi();
    if (mpi != NULL && mpi->is_running() && mpi->before_end(sp_native_mpi_ends, NULL) == SP_OK)
        atomic_store(&is_watching, true);
    sp_mutex_unlock(&lock);
}

bool sp_job_open(sp_job *job, sp_profiler *profiler)
{
    bool is_open = false;
    if (profiler != &sp_default || !profiler->settings.is_joint || is_forbidden())
        return false;
    sp_mutex_lock(&lock);
    job->mpi = find_mpi();
    if (job->mpi != NULL && job->mpi->is_running())
        is_open = job->mpi->open(&job->ranks, NULL) == SP_OK;
    sp_mutex_unlock(&lock);
    /* One process that nobody launched is a serial program, MPI or not. */
    if (is_open && job->ranks.num_ranks == 1 && !was_launched) {
        sp_job_close(job);
        return false;
    }
    return is_open;
}

void sp_job_close(sp_job *job)
{
    job->mpi->close(&job->ranks);
}

int64_t sp_job_launched_size(void)
{
    static const char *const variables[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_SIZE",
                                            "MV2_COMM_WORLD_SIZE"};
    int64_t size = 0;
    for (size_t i = 0; i < sizeof variables / sizeof *variables && size <= 0; i++)
        size = sp_environment_number(variables[i], 0);
    return size < 0 ? 0 : size;
}

void sp_job_say_alone(const sp_profiler *profiler)
{
    const char *output = profiler->settings.output;
    if (output == NULL || !profiler->settings.is_joint || is_forbidden() ||
        sp_environment_rank() != 0 || sp_job_launched_size() < 2)
        return;
    sp_complain("each rank writes its own file, as %s; scope-profiler merge FILES -o RUN puts them "
                "together",
                output);
}
