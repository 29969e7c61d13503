/* The life of a wrapped call, and the way to the recorder of the process. */
#include "backends/pmpi/pmpi.h"
#include "base/os/thread.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECORDER "libscope_profiler.so.1"

sp_pmpi_functions sp_pmpi_mpi;

static _Thread_local bool is_inside;

/* ---- MPI -------------------------------------------------------------------------------------*/

#ifdef OPEN_MPI
#define OWN_NAME "Open MPI"
#else
#define OWN_NAME "MPICH"
#endif

static sp_once once = SP_ONCE_INIT;

/* Handles of one MPI do not pass through functions made for another one: the program cannot go on. As for
 * a library that does not fit, which the loader would have refused. */
static void look_up(void)
{
    bool has_all = sp_pmpi_is_own_library();
#define LOOK_UP(name)                                                                              \
    sp_os_function name = sp_pmpi_find("PMPI_" #name);                                             \
    has_all = has_all && name != NULL;                                                             \
    memcpy(&sp_pmpi_mpi.name, &name, sizeof name);
    SP_PMPI_FUNCTIONS(LOOK_UP)
    SP_PMPI_CONVERSIONS(LOOK_UP)
#undef LOOK_UP
    if (has_all)
        return;
    fputs("scope-profiler: LD_PRELOAD names the library that records the calls of " OWN_NAME
          ", but this program runs another MPI; preload the one of that MPI\n",
          stderr);
    _Exit(127);
}

sp_os_function sp_pmpi_real(_Atomic(sp_os_function) *slot, const char *name)
{
    sp_os_function real = atomic_load_explicit(slot, memory_order_relaxed);
    if (real != NULL)
        return real;
    sp_once_run(&once, look_up);
    real = sp_pmpi_find(name);
    if (real == NULL)
        fprintf(stderr, "scope-profiler: no library of this process has %s\n", name);
    atomic_store_explicit(slot, real, memory_order_relaxed);
    return real;
}

/* ---- The recorder ----------------------------------------------------------------------------*/

typedef sp_call begin_function(sp_site *site, const char *name, const char *tags,
                               const char *members);
typedef void end_function(const sp_call *call);
typedef bool takes_function(void);

static sp_mutex lock = SP_MUTEX_INIT;
static _Atomic(begin_function *) recorder_begin;
static end_function *recorder_end;
static takes_function *recorder_takes_calls;
static _Atomic uint64_t looked_at = 0;

/* It may come at any time, or never; libraries that were searched once are not searched again. */
static void look_for_recorder(void)
{
    uint64_t loaded = sp_os_num_loaded();
    if (loaded == atomic_load_explicit(&looked_at, memory_order_relaxed))
        return;
    sp_mutex_lock(&lock);
    atomic_store_explicit(&looked_at, loaded, memory_order_relaxed);
    void *library = sp_os_library_loaded(RECORDER);
    if (library != NULL) {
        sp_os_function begin = sp_os_library_function(library, "sp_binding_call_begin");
        sp_os_function end = sp_os_library_function(library, "sp_call_end");
        sp_os_function takes = sp_os_library_function(library, "sp_binding_takes_calls");
        recorder_end = (end_function *)end;
        recorder_takes_calls = (takes_function *)takes;
        if (begin != NULL && end != NULL && takes != NULL)
            atomic_store_explicit(&recorder_begin, (begin_function *)begin, memory_order_release);
    }
    sp_mutex_unlock(&lock);
}

static bool somebody_records(void)
{
    if (atomic_load_explicit(&recorder_begin, memory_order_acquire) == NULL)
        look_for_recorder();
    return atomic_load_explicit(&recorder_begin, memory_order_acquire) != NULL &&
           recorder_takes_calls();
}

/* ---- Calls -----------------------------------------------------------------------------------*/

bool sp_pmpi_enter(sp_pmpi_note *note, sp_pmpi_operation *operation)
{
    if (is_inside)
        return false;
    is_inside = true;
    *note = (sp_pmpi_note){.operation = operation,
                           .is_wanted = somebody_records(),
                           .call = {.region = SP_INVALID_REGION}};
    return true;
}

void sp_pmpi_begin(sp_pmpi_note *note)
{
    if (!note->is_wanted)
        return;
    const char *members = note->members.failed || note->members.bytes == NULL ? ""
                                                                              : note->members.bytes;
    begin_function *begin = atomic_load_explicit(&recorder_begin, memory_order_acquire);
    sp_pmpi_operation *operation = note->operation;
    note->call = begin(&operation->site, operation->name, operation->tags, members);
}

void sp_pmpi_end(sp_pmpi_note *note)
{
    if (note->is_wanted)
        recorder_end(&note->call);
    sp_text_release(&note->members);
}

void sp_pmpi_leave(void)
{
    is_inside = false;
}
