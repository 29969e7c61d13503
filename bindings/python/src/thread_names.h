/* thread_names.h - tells the recorder how Python calls the thread that begins to record. */
#ifndef SCOPE_PYTHON_THREAD_NAMES_H
#define SCOPE_PYTHON_THREAD_NAMES_H

#include "recorder_module.h"

/* Runs on the new thread. One that runs native code without the interpreter keeps no name. */
void name_new_thread(sp_profiler *profiler);

#endif
