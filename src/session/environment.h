/* environment.h - the environment variables that the recorder reads for native programs, one table.
 * docs/guide/environment.md is checked against it. */
#ifndef SP_SESSION_ENVIRONMENT_H
#define SP_SESSION_ENVIRONMENT_H

#include <stdbool.h>
#include <stdint.h>

/* X(enumerator, variable) */
#define SP_ENVIRONMENT_TABLE(X)                                                                    \
    X(SP_ENVIRONMENT_AGGREGATION, "SCOPE_PROFILER_AGGREGATION")                                    \
    X(SP_ENVIRONMENT_AUTO_FINALIZE, "SCOPE_PROFILER_AUTO_FINALIZE")                                \
    X(SP_ENVIRONMENT_AUTO_START, "SCOPE_PROFILER_AUTO_START")                                      \
    X(SP_ENVIRONMENT_CHECKPOINT_INTERVAL, "SCOPE_PROFILER_CHECKPOINT_INTERVAL")                    \
    X(SP_ENVIRONMENT_CONFIG, "SCOPE_PROFILER_CONFIG")                                              \
    X(SP_ENVIRONMENT_DISABLE, "SCOPE_PROFILER_DISABLE")                                            \
    X(SP_ENVIRONMENT_ENABLE_TAGS, "SCOPE_PROFILER_ENABLE_TAGS")                                    \
    X(SP_ENVIRONMENT_FINALIZE_TIMEOUT, "SCOPE_PROFILER_FINALIZE_TIMEOUT")                          \
    X(SP_ENVIRONMENT_FINALIZE_SIGNALS, "SCOPE_PROFILER_FINALIZE_SIGNALS")                          \
    X(SP_ENVIRONMENT_JOURNAL, "SCOPE_PROFILER_JOURNAL")                                            \
    X(SP_ENVIRONMENT_MAX_MEMORY, "SCOPE_PROFILER_MAX_MEMORY")                                      \
    X(SP_ENVIRONMENT_ON_FULL, "SCOPE_PROFILER_ON_FULL")                                            \
    X(SP_ENVIRONMENT_OUTPUT, "SCOPE_PROFILER_OUTPUT")                                              \
    X(SP_ENVIRONMENT_OUTPUT_MODE, "SCOPE_PROFILER_OUTPUT_MODE")                                    \
    X(SP_ENVIRONMENT_PERF_EVENTS, "SCOPE_PROFILER_PERF_EVENTS")                                    \
    X(SP_ENVIRONMENT_TRACK_CPU, "SCOPE_PROFILER_TRACK_CPU")

typedef enum sp_environment_variable {
#define SP_ENVIRONMENT_ENUM(enumerator, variable) enumerator,
    SP_ENVIRONMENT_TABLE(SP_ENVIRONMENT_ENUM)
#undef SP_ENVIRONMENT_ENUM
    SP_ENVIRONMENT_COUNT
} sp_environment_variable;

/* NULL when it is not set or empty. */
const char *sp_environment_text(sp_environment_variable variable);

/* True for 1, true, yes and on in any case; `otherwise` when it is not set or empty. */
bool sp_environment_flag(sp_environment_variable variable, bool otherwise);

/* Number in a variable of any name; `otherwise` when it is not set or empty. */
int64_t sp_environment_number(const char *name, int64_t otherwise);

/* Rank that a launcher gives the process; -1: there is no launcher. */
int64_t sp_environment_rank(void);

#endif
