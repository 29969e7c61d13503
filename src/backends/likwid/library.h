/* library.h - the LIKWID of this process, if there is one. */
#ifndef SP_BACKENDS_LIKWID_LIBRARY_H
#define SP_BACKENDS_LIKWID_LIBRARY_H

#include "scope_plugin.h"

/* LIKWID's own functions. What is in use is started, stopped and asked on the thread that it is about. */
typedef struct likwid_functions {
    void (*init)(void);
    void (*init_thread)(void);
    void (*close)(void);
    int (*start)(const char *tag); /* below 0: it does not measure this thread where it runs */
    int (*stop)(const char *tag);
    /* `*events`: room of the array, then how many there are. */
    void (*get)(const char *tag, int *events, double *values, double *seconds, int *count);
    int (*processor)(void);
    int (*num_groups)(void); /* below 1: the markers are not up */
    int (*active_group)(void);
    int (*num_events)(int group);
    char *(*group_name)(int group);
    char *(*event_name)(int group, int event);
    char *(*counter_name)(int group, int event);
} likwid_functions;

/* Opens the library: the one that the process has, that of the environment (LIKWID_LIB, LIKWID_HOME,
 * LIKWID_ROOT, LIKWID_PREFIX), the one beside likwid-perfctr, the system's. Once in the life of the
 * process. NULL with SP_ERR_NO_MODULE. */
const likwid_functions *sp_likwid_library(sp_error *error);
/* Whether the process had it before: then the program may have started the markers. LIKWID complains when it
 * is asked while they are not up, so it is not asked for nothing. */
bool sp_likwid_library_was_there(void);

#endif
