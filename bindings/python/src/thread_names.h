/* thread_names.h - tells the recorder what Python knows of threads. */
#ifndef SCOPE_PYTHON_THREAD_NAMES_H
#define SCOPE_PYTHON_THREAD_NAMES_H

#include "recorder_module.h"

/* Runs on the new thread. One that runs native code without the interpreter keeps no name. */
void name_new_thread(sp_profiler *profiler);

/* Idents of the threads that run or that threading believes to run; NULL when memory is short. The
 * caller frees it. */
int64_t *running_threads(size_t *count);

#endif
