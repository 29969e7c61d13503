#include "session/final_signals.h"

#include "base/error.h"
#include "base/os/final_signal.h"
#include "session/complaint.h"
#include "session/journal.h"
#include "session/native_run.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_SIGNALS = 32 };

/* Calls are kept: a program that goes on writes them again at its end, with all that follow. Nothing
 * follows when the program dies now, and then its journal has done its work. */
static void publish(sp_recording *recording, void *context)
{
    const bool *ends = context;
    sp_profiler *profiler = (sp_profiler *)recording;
    sp_error error = {0};
    if (!recording->is_lasting || sp_recording_phase(recording) == SP_PHASE_OFF)
        return;
    sp_mutex_lock(&profiler->lock);
    if (profiler->is_configured && profiler->settings.output != NULL) {
        int status = sp_profiler_may_publish_aside(profiler)
                         ? sp_profiler_publish_kept(profiler, true, &error)
                         : SP_ERR_UNSUPPORTED;
        if (status != SP_OK)
            sp_complain("%s was not written when the signal came: %s; the journal has the run",
                        profiler->settings.output,
                        status == SP_ERR_UNSUPPORTED ? "the HDF5 library here serves one thread only"
                                                     : error.text);
        else if (*ends)
            sp_profiler_journal_stop(profiler);
    }
    sp_mutex_unlock(&profiler->lock);
}

static void work(int signal, bool ends)
{
    (void)signal;
    sp_recordings_visit(publish, &ends);
}

static int add(const int *signals, size_t count, sp_error *error)
{
    if (count == 0 || sp_os_final_signals_add(signals, count, work))
        return SP_OK;
    return sp_fail(error, SP_ERR_NO_MEMORY, "the system has no thread or no signal handler left for "
                                            "finalize_signals");
}

static int read_name(const char *name, size_t length, int *out, sp_error *error)
{
    *out = sp_os_signal_number(name, length);
    if (*out != 0)
        return SP_OK;
    return sp_fail(error, SP_ERR_INVALID_ARGUMENT,
                   "finalize_signals: '%.*s' is no signal that a program can finalize at; choose from "
                   "SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU, SIGVTALRM, "
                   "SIGPROF, SIGPIPE (of others the journal has the run)", (int)length, name);
}

int sp_final_signals_want(const char *const *names, size_t count, sp_error *error)
{
    int signals[MOST_SIGNALS], status = SP_OK;
    count = count < MOST_SIGNALS ? count : MOST_SIGNALS;
    for (size_t i = 0; i < count && status == SP_OK; i++)
        status = read_name(names[i], strlen(names[i]), &signals[i], error);
    return status == SP_OK ? add(signals, count, error) : status;
}

int sp_final_signals_want_text(const char *list, sp_error *error)
{
    int signals[MOST_SIGNALS], status = SP_OK;
    size_t count = 0;
    while (list != NULL && *list != '\0' && status == SP_OK && count < MOST_SIGNALS) {
        list += strspn(list, ", ");
        size_t length = strcspn(list, ", ");
        if (length > 0)
            status = read_name(list, length, &signals[count++], error);
        list += length;
    }
    return status == SP_OK ? add(signals, count, error) : status;
}
