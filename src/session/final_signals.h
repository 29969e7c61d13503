/* final_signals.h - publishing when a signal comes that the program would die of. Asked for by the
 * setting finalize_signals; the journal already holds the run, this writes the profile, too. */
#ifndef SP_SESSION_FINAL_SIGNALS_H
#define SP_SESSION_FINAL_SIGNALS_H

#include "session/profiler.h"

/* Signals as names ("SIGTERM") or numbers; for the life of the process. SP_ERR_INVALID_ARGUMENT names
 * the one that cannot be waited for. */
int sp_final_signals_want(const char *const *names, size_t count, sp_error *error);
/* The same from a text, separated by commas. NULL is fine. */
int sp_final_signals_want_text(const char *list, sp_error *error);

#endif
