/* trace_profile.h - hearing of calls through the C profile function of each thread, CPython 3.10 and
 * 3.11: of Python calls where the frame evaluation hook would use up the C stack, and when something
 * has taken its place; of C calls whenever they are asked for. A profile function found in place is
 * called through and put back.
 */
#ifndef SCOPE_PYTHON_TRACE_PROFILE_H
#define SCOPE_PYTHON_TRACE_PROFILE_H

#include "trace_mechanism.h"

/* With the module; -1 with an exception set. */
int trace_profile_init(PyObject *module, recorder_state *state);

/* On all threads of the session's interpreter. */
void trace_profile_install(trace_session *session);
/* On this thread, which has come since. */
void trace_profile_hear(trace_session *session, PyThreadState *thread);
/* Whether it still does: a program may have set another profile function. */
bool trace_profile_hears(const PyThreadState *thread);
/* Threads with calls open that were begun here keep it, for the ends alone. */
void trace_profile_remove(trace_session *session);

/* The same for threads that threading starts from now on. */
void trace_profile_follow_threads(trace_session *session);
void trace_profile_leave_threads(trace_session *session);

#endif
