/* The table itself, and finding things in it. */
#include "session/setting_text.h"

#include <string.h>

static const char *const details[] = {"minimal", "full", NULL};
static const char *const output_modes[] = {"auto", "direct", "parallel", "per-rank", NULL};
static const char *const on_full[] = {"spill", "aggregate", "ring", "stop", NULL};
static const char *const filters[] = {"auto", "gzip", "lzf", "zstd", NULL};
static const char *const events[] = {
    "cycles", "instructions", "cache-references", "cache-misses", "branches", "branch-misses",
    "cpu-clock", "task-clock", "page-faults", "context-switches", "cpu-migrations", "minor-faults",
    "major-faults", "ref-cycles", "stalled-cycles-frontend", "stalled-cycles-backend",
    "L1-dcache-loads", "L1-dcache-load-misses", "L1-dcache-stores", "LLC-loads", "LLC-load-misses",
    "dTLB-loads", "dTLB-load-misses", NULL};

#define FLAG .kind = SP_SETTING_FLAG, .type = "bool"
#define INTEGER .kind = SP_SETTING_INTEGER, .type = "int", .highest = INT64_MAX
#define TEXT .kind = SP_SETTING_TEXT, .type = "str"
#define PATH .kind = SP_SETTING_PATH, .type = "str"
#define IN(group_name, field_name) .group = (group_name), .field = (field_name)

static const sp_setting table[SP_NUM_SETTINGS] = {
    [SP_SETTING_FILE_PATH] =
        {.name = "file_path", PATH, .initial = "profiling_data.h5", .is_native = true,
         .help = "Output file; {rank}, {pid}, {host}, {job} and {array} are filled in."},
    [SP_SETTING_LABEL] =
        {.name = "label", TEXT, .is_native = true,
         .help = "Name of the run in titles and legends."},
    [SP_SETTING_USE_LIKWID] =
        {.name = "use_likwid", FLAG, .is_native = true, .help = "Hardware counters through LIKWID markers."},
    [SP_SETTING_PERF_EVENTS] =
        {.name = "perf_events", .kind = SP_SETTING_EVENTS, .type = "str | Iterable[str]",
         .choices = events, .is_native = true,
         .help = "Linux perf events counted in every region; rNNN is an event by its number."},
    [SP_SETTING_PERF_EVENTS_KERNEL] =
        {.name = "perf_events_kernel", FLAG, .is_native = true,
         .help = "Perf events count what the kernel does for the program, too."},
    [SP_SETTING_TRACK_CPU] =
        {.name = "track_cpu", FLAG, .is_native = true,
         .help = "CPU time, waits and page faults of every region, beside its time."},
    [SP_SETTING_COUNTERS_PER_CALL] =
        {.name = "counters_per_call", FLAG, .is_native = true,
         .help = "Store what was counted for every call, not for regions alone."},
    [SP_SETTING_USE_LINE_PROFILER] =
        {.name = "use_line_profiler", FLAG, .help = "Time the lines of registered functions."},
    [SP_SETTING_USE_MEMRAY] =
        {.name = "use_memray", FLAG, IN("memray", "enabled"),
         .help = "Capture allocations of the process with Memray."},
    [SP_SETTING_MEMORY_PROFILE_PATH] =
        {.name = "memory_profile_path", PATH, IN("memray", "path"),
         .help = "File of the Memray capture; default <file stem>.memray.bin."},
    [SP_SETTING_MEMRAY_NATIVE_TRACES] =
        {.name = "memray_native_traces", FLAG, IN("memray", "native_traces"),
         .help = "Native stacks in the capture."},
    [SP_SETTING_MEMRAY_TRACE_PYTHON_ALLOCATORS] =
        {.name = "memray_trace_python_allocators", FLAG, IN("memray", "trace_python_allocators"),
         .help = "Every Python allocation in the capture."},
    [SP_SETTING_MEMRAY_FOLLOW_FORK] =
        {.name = "memray_follow_fork", FLAG, IN("memray", "follow_fork"),
         .help = "Capture forked children too."},
    [SP_SETTING_TRACK_MEMORY] =
        {.name = "track_memory", FLAG,
         .help = "Count what every region gets from Python's allocators."},
    [SP_SETTING_DEACTIVATE_PROFILING] =
        {.name = "deactivate_profiling", FLAG, .is_native = true,
         .help = "Record nothing; every region is off."},
    [SP_SETTING_USE_NVTX] =
        {.name = "use_nvtx", FLAG, IN("gpu", "nvtx"), .is_native = true,
         .help = "Show regions as NVTX ranges."},
    [SP_SETTING_USE_GPU_TIMING] =
        {.name = "use_gpu_timing", FLAG, IN("gpu", "timing"), .is_native = true,
         .help = "Device time of regions by events of the device."},
    [SP_SETTING_GPU_TIMING_BACKEND] =
        {.name = "gpu_timing_backend", .kind = SP_SETTING_OBJECT, .type = "object",
         .initial = "auto", IN("gpu", "backend"), .is_native = true,
         .help = "Where device events come from: \"auto\", a name, or an object (docs/guide/gpu.md)."},
    [SP_SETTING_GPU_SYNC_ON_EXIT] =
        {.name = "gpu_sync_on_exit", FLAG, IN("gpu", "sync_on_exit"), .is_native = true,
         .help = "Wait for the device at the end of every region."},
    [SP_SETTING_DEACTIVATE_FILE_OUTPUT] =
        {.name = "deactivate_file_output", FLAG, .is_native = true,
         .help = "Keep the run in memory, write no file."},
    [SP_SETTING_RECURSIVE_PROFILE] =
        {.name = "recursive_profile", FLAG,
         .help = "Trace the Python calls inside decorated functions unless they say otherwise."},
    [SP_SETTING_AGGREGATION_MODE] =
        {.name = "aggregation_mode", FLAG, .is_native = true,
         .help = "Keep counts and totals only, no single calls."},
    [SP_SETTING_PROFILE_MPI_CALLS] =
        {.name = "profile_mpi_calls", FLAG, .help = "Record the calls of MPI."},
    [SP_SETTING_TRACK_THREADS] =
        {.name = "track_threads", FLAG, .is_native = true,
         .help = "Show every thread as a lane of its own."},
    [SP_SETTING_TRACK_ASYNC] =
        {.name = "track_async", FLAG,
         .help = "Show every task as a lane of its own; implies track_threads."},
    [SP_SETTING_CAPTURE_REGION_SOURCE] =
        {.name = "capture_region_source", FLAG, .help = "Store the source text of regions."},
    [SP_SETTING_METADATA_DETAIL] =
        {.name = "metadata_detail", .kind = SP_SETTING_CHOICE, .type = "str",
         .initial = "minimal", .choices = details, .is_native = true,
         .help = "How much of the machine and the environment is stored."},
    [SP_SETTING_BUFFER_LIMIT] =
        {.name = "buffer_limit", INTEGER, .initial = "1024", .lowest = 1,
         .help = "Calls that a region has room for at first."},
    [SP_SETTING_OUTPUT_MODE] =
        {.name = "output_mode", .kind = SP_SETTING_CHOICE, .type = "str", .initial = "auto",
         .choices = output_modes, .is_native = true, .help = "How the ranks of an MPI run write one file."},
    [SP_SETTING_FINALIZE_TIMEOUT] =
        {.name = "finalize_timeout", INTEGER, .lowest = 1, .is_native = true,
         .help = "Seconds to wait for a rank that does not finalize; then the run is written "
                 "without it."},
    [SP_SETTING_HDF5_COMPRESSION] =
        {.name = "hdf5_compression", .kind = SP_SETTING_FILTER, .type = "str",
         .choices = filters, IN("hdf5", "compression"), .is_native = true,
         .help = "Filter of the stored calls: auto, gzip, lzf, zstd or None."},
    [SP_SETTING_HDF5_COMPRESSION_LEVEL] =
        {.name = "hdf5_compression_level", INTEGER, .lowest = INT64_MIN,
         IN("hdf5", "compression_level"), .is_native = true,
         .help = "Level of the filter: gzip 0 to 9, zstd 1 to 22."},
    [SP_SETTING_HDF5_CHUNK_SIZE] =
        {.name = "hdf5_chunk_size", INTEGER, .lowest = 1, IN("hdf5", "chunk_size"),
         .is_native = true, .help = "Calls in a stored chunk."},
    [SP_SETTING_FINALIZE_SIGNALS] =
        {.name = "finalize_signals", .kind = SP_SETTING_TAGS, .type = "Iterable[str]",
         .is_native = true,
         .help = "Signals at which the profile is written before they have their effect."},
    [SP_SETTING_JOURNAL] =
        {.name = "journal", PATH, .initial = "auto", .is_native = true,
         .help = "What survives the program: auto (a journal beside the output), off, or a folder "
                 "for it."},
    [SP_SETTING_JOURNAL_FLUSH] =
        {.name = "journal_flush", INTEGER, .initial = "10", .lowest = 0, .is_native = true,
         .help = "Seconds after which calls are in the journal on the disk; 0: no limit."},
    [SP_SETTING_MAX_MEMORY] =
        {.name = "max_memory", .kind = SP_SETTING_SIZE, .type = "int | str", .initial = "256MB",
         .lowest = 1 << 20, .highest = INT64_MAX, .is_native = true,
         .help = "Memory for recorded calls that are in no journal, in bytes or as in 256MB."},
    [SP_SETTING_ON_FULL] =
        {.name = "on_full", .kind = SP_SETTING_CHOICE, .type = "str", .initial = "spill",
         .choices = on_full, .is_native = true,
         .help = "What happens then: spill (to a temporary file), aggregate (totals from there on), "
                 "ring (the newest calls stay) or stop (calls are only counted)."},
    [SP_SETTING_CHECKPOINT_INTERVAL] =
        {.name = "checkpoint_interval", .kind = SP_SETTING_NUMBER, .type = "float", .lowest = 0,
         .highest = INT64_MAX, .is_native = true,
         .help = "Seconds after which the profile is written again while the program runs."},
    [SP_SETTING_ENABLE_TAGS] =
        {.name = "enable_tags", .kind = SP_SETTING_TAGS, .type = "Iterable[str]",
         .is_native = true, .help = "Opt-in tags to switch on; '*' means all."},
};

const sp_setting *sp_setting_at(size_t id)
{
    return id < SP_NUM_SETTINGS ? &table[id] : NULL;
}

int sp_setting_find(const char *name)
{
    for (int id = 0; id < SP_NUM_SETTINGS; id++)
        if (strcmp(table[id].name, name) == 0)
            return id;
    return -1;
}

int sp_setting_find_in(const char *group, const char *field)
{
    for (int id = 0; id < SP_NUM_SETTINGS; id++)
        if (table[id].group != NULL && strcmp(table[id].group, group) == 0 &&
            strcmp(table[id].field, field) == 0)
            return id;
    return -1;
}

bool sp_setting_is_group(const char *name)
{
    for (int id = 0; id < SP_NUM_SETTINGS; id++)
        if (table[id].group != NULL && strcmp(table[id].group, name) == 0)
            return true;
    return false;
}

sp_setting_value sp_setting_initial(sp_setting_id id)
{
    sp_setting_value value = {0};
    const sp_setting *setting = &table[id];
    if (setting->initial != NULL) /* a scalar: nothing is put into an arena */
        sp_setting_parse(id, setting->initial, NULL, &value, NULL);
    else
        value.is_given = setting->kind == SP_SETTING_FLAG || setting->kind == SP_SETTING_TAGS;
    return value;
}
