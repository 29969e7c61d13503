/* The table of settings: its rows, values as text, what is refused and what is said about it. */
#include "session/setting_text.h"

#include "base/text.h"
#include "check.h"

#include <stdlib.h>
#include <string.h>

static sp_arena arena;

static void every_row_is_complete_and_found(void)
{
    for (size_t i = 0; i < SP_NUM_SETTINGS; i++) {
        const sp_setting *setting = sp_setting_at(i);
        check_case = setting->name != NULL ? setting->name : "a row without a name";
        if (!CHECK(setting->name != NULL && setting->type != NULL && setting->help != NULL))
            continue;
        CHECK_INT(setting->help[strlen(setting->help) - 1], '.');
        CHECK_INT(sp_setting_find(setting->name), i);
        CHECK((setting->group == NULL) == (setting->field == NULL));
        CHECK(!sp_setting_is_group(setting->name));
        if (setting->group != NULL) {
            CHECK(sp_setting_is_group(setting->group));
            CHECK_INT(sp_setting_find_in(setting->group, setting->field), i);
        }
        bool has_choices = setting->kind == SP_SETTING_CHOICE ||
                           setting->kind == SP_SETTING_FILTER || setting->kind == SP_SETTING_EVENTS;
        CHECK((setting->choices != NULL) == has_choices);
        sp_setting_value initial = sp_setting_initial((sp_setting_id)i);
        CHECK_INT(sp_setting_check((sp_setting_id)i, &initial, NULL), SP_OK);
    }
    check_case = "the end of the table";
    CHECK(sp_setting_at(SP_NUM_SETTINGS) == NULL);
    CHECK_INT(sp_setting_find("hdf5"), -1);
    CHECK_INT(sp_setting_find_in("hdf5", "level"), -1);
    CHECK_INT(sp_setting_find_in("mpi", "compression"), -1);
}

static void initial_values(void)
{
    CHECK_TEXT(sp_setting_initial(SP_SETTING_FILE_PATH).text, "profiling_data.h5");
    CHECK_INT(sp_setting_initial(SP_SETTING_BUFFER_LIMIT).integer, 1024);
    CHECK_TEXT(sp_setting_initial(SP_SETTING_METADATA_DETAIL).text, "minimal");
    CHECK(!sp_setting_initial(SP_SETTING_LABEL).is_given);
    CHECK(!sp_setting_initial(SP_SETTING_HDF5_COMPRESSION).is_given);
    sp_setting_value flag = sp_setting_initial(SP_SETTING_TRACK_THREADS);
    CHECK(flag.is_given && !flag.flag);
    CHECK(sp_setting_initial(SP_SETTING_ENABLE_TAGS).is_given);
}

/* The value of a text; not given and with a complaint when it is none. */
static sp_setting_value read(sp_setting_id id, const char *text)
{
    sp_setting_value value = {0};
    sp_error error;
    if (!CHECK_INT(sp_setting_parse(id, text, &arena, &value, &error), SP_OK))
        fprintf(stderr, "%s\n", error.text);
    return value;
}

static void texts_become_values(void)
{
    CHECK(read(SP_SETTING_TRACK_THREADS, "Yes").flag);
    CHECK(!read(SP_SETTING_TRACK_THREADS, "OFF").flag);
    CHECK_INT(read(SP_SETTING_BUFFER_LIMIT, "17").integer, 17);
    CHECK_TEXT(read(SP_SETTING_LABEL, " as it is ").text, " as it is ");
    CHECK_TEXT(read(SP_SETTING_FILE_PATH, "out/x.h5").text, "out/x.h5");
    CHECK_TEXT(read(SP_SETTING_OUTPUT_MODE, "direct").text, "direct");
    CHECK_TEXT(read(SP_SETTING_HDF5_COMPRESSION, "\t GZip ").text, "gzip");
    static const char *const nothing[] = {"", "  ", "none", " NONE"};
    for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++) {
        sp_setting_value filter = read(SP_SETTING_HDF5_COMPRESSION, nothing[i]);
        CHECK(filter.is_given && filter.text == NULL);
    }
}

static void lists_are_split_at_commas(void)
{
    sp_setting_value tags = read(SP_SETTING_ENABLE_TAGS, " lib one,, two ,*,");
    if (CHECK_INT(tags.num_items, 3)) {
        CHECK_TEXT(tags.items[0], "lib one");
        CHECK_TEXT(tags.items[1], "two");
        CHECK_TEXT(tags.items[2], "*");
    }
    CHECK_INT(read(SP_SETTING_ENABLE_TAGS, "").num_items, 0);
    CHECK_INT(read(SP_SETTING_PERF_EVENTS, "cycles,page-faults").num_items, 2);
}

static void refuses(sp_setting_id id, const char *text, const char *complaint)
{
    sp_setting_value value = {.integer = 77};
    sp_error error = {0};
    CHECK_INT(sp_setting_parse(id, text, &arena, &value, &error), SP_ERR_INVALID_ARGUMENT);
    CHECK_TEXT(error.text, complaint);
    CHECK_INT(value.integer, 77);
}

static void bad_values_are_named(void)
{
    refuses(SP_SETTING_TRACK_THREADS, "maybe",
            "Profiling setting 'track_threads' must be true or false, got maybe");
    refuses(SP_SETTING_BUFFER_LIMIT, "1.5",
            "Profiling setting 'buffer_limit' must be an integer, got 1.5");
    refuses(SP_SETTING_BUFFER_LIMIT, "",
            "Profiling setting 'buffer_limit' must be an integer, got ");
    refuses(SP_SETTING_BUFFER_LIMIT, "99999999999999999999",
            "Profiling setting 'buffer_limit' must be an integer, got 99999999999999999999");
    refuses(SP_SETTING_BUFFER_LIMIT, "0", "buffer_limit must be a positive integer, got 0");
    refuses(SP_SETTING_FILE_PATH, "", "Profiling setting 'file_path' must name a file, got ''");
    refuses(SP_SETTING_METADATA_DETAIL, "Full",
            "metadata_detail must be one of 'minimal', 'full', got 'Full'");
    refuses(SP_SETTING_HDF5_COMPRESSION, "bzip",
            "hdf5_compression must be 'auto', 'gzip', 'lzf', 'zstd' or None, got 'bzip'");
    refuses(SP_SETTING_HDF5_COMPRESSION, "nonenone1",
            "hdf5_compression must be 'auto', 'gzip', 'lzf', 'zstd' or None, got 'nonenone1'");
    const char *supported = "cycles, instructions, cache-references, cache-misses, branches, "
                            "branch-misses, cpu-clock, task-clock, page-faults, context-switches, "
                            "cpu-migrations, minor-faults, major-faults, ref-cycles, "
                            "stalled-cycles-frontend, stalled-cycles-backend, L1-dcache-loads, "
                            "L1-dcache-load-misses, L1-dcache-stores, LLC-loads, LLC-load-misses, "
                            "dTLB-loads, dTLB-load-misses";
    sp_text complaint = {0};
    sp_text_format(&complaint, "perf_events: unknown event 'cycels'; supported: %s", supported);
    refuses(SP_SETTING_PERF_EVENTS, "cycles,cycels", complaint.bytes);
    sp_text_release(&complaint);
    sp_text_format(&complaint, "perf_events must name at least one event; supported: %s",
                   supported);
    refuses(SP_SETTING_PERF_EVENTS, " , ", complaint.bytes);
    sp_text_release(&complaint);
    refuses(SP_SETTING_PERF_EVENTS, "cycles,branches,cycles",
            "perf_events names the event 'cycles' twice");
}

static void values_of_another_kind(void)
{
    sp_error error;
    CHECK_INT(sp_setting_wrong_kind(SP_SETTING_LABEL, "3", &error), SP_ERR_INVALID_ARGUMENT);
    CHECK_TEXT(error.text, "Profiling setting 'label' must be a string, got 3");
    sp_setting_wrong_kind(SP_SETTING_ENABLE_TAGS, "3", &error);
    CHECK_TEXT(error.text, "Profiling setting 'enable_tags' must be a list of strings, got 3");
}

static void excludes(const sp_setting_value *values, const char *complaint)
{
    sp_error error = {0};
    int status = sp_setting_check_together(values, &error);
    CHECK_INT(status, complaint == NULL ? SP_OK : SP_ERR_INVALID_ARGUMENT);
    CHECK_TEXT(error.text, complaint == NULL ? "" : complaint);
}

static void levels_go_with_their_filter(void)
{
    sp_setting_value values[SP_NUM_SETTINGS] = {0};
    sp_setting_value *filter = &values[SP_SETTING_HDF5_COMPRESSION];
    sp_setting_value *level = &values[SP_SETTING_HDF5_COMPRESSION_LEVEL];
    *level = (sp_setting_value){.is_given = true, .integer = 10};
    excludes(values, NULL); /* nothing is filtered */
    *filter = (sp_setting_value){.is_given = true, .text = "gzip"};
    excludes(values, "hdf5_compression_level must be 0 to 9 for 'gzip', got 10");
    level->integer = 9;
    excludes(values, NULL);
    level->integer = 0;
    excludes(values, NULL);
    filter->text = "zstd";
    excludes(values, "hdf5_compression_level must be 1 to 22 for 'zstd', got 0");
    level->integer = 22;
    excludes(values, NULL);
    filter->text = "lzf";
    excludes(values, "hdf5_compression_level does not go with hdf5_compression='lzf'");
}

static void settings_that_exclude_each_other(void)
{
    sp_setting_value values[SP_NUM_SETTINGS] = {0};
    const sp_setting_value on = {.is_given = true, .flag = true};
    const char *const events[] = {"cycles"};
    values[SP_SETTING_AGGREGATION_MODE] = on;
    excludes(values, NULL);
    values[SP_SETTING_USE_NVTX] = on;
    values[SP_SETTING_PERF_EVENTS] =
        (sp_setting_value){.is_given = true, .items = events, .num_items = 1};
    excludes(values, "aggregation_mode cannot be combined with use_nvtx: what it records belongs to single "
             "calls, and totals keep none");
    values[SP_SETTING_USE_NVTX] = values[SP_SETTING_PERF_EVENTS] = (sp_setting_value){0};
    values[SP_SETTING_TRACK_THREADS] = on;
    excludes(values, "track_threads cannot be combined with aggregation_mode: lanes show single calls, and "
             "totals keep none");
    values[SP_SETTING_TRACK_ASYNC] = on;
    values[SP_SETTING_AGGREGATION_MODE].flag = false;
    excludes(values, NULL);
    values[SP_SETTING_USE_LIKWID] = on;
    excludes(values, "track_async cannot be combined with use_likwid: it counts what the thread does, so a "
             "call that awaits would be charged what other tasks do meanwhile");
    values[SP_SETTING_USE_LIKWID].flag = false;
    values[SP_SETTING_GPU_SYNC_ON_EXIT] = on;
    excludes(values, "gpu_sync_on_exit requires use_gpu_timing=True");
}

static void knows(const char *group, const char *name, const char *answer)
{
    sp_error error = {0};
    CHECK_INT(sp_setting_unknown(group, &name, 1, &error), SP_ERR_INVALID_ARGUMENT);
    CHECK_TEXT(error.text, answer);
}

static void unknown_names_come_with_the_closest(void)
{
    knows(NULL, "use_likwd", "Unknown profiling setting(s): 'use_likwd' (did you mean 'use_likwid'?)");
    knows(NULL, "lable", "Unknown profiling setting(s): 'lable' (did you mean 'label'?)");
    knows(NULL, "hdf", "Unknown profiling setting(s): 'hdf' (did you mean 'hdf5'?)");
    knows(NULL, "zzz", "Unknown profiling setting(s): 'zzz'");
    knows(NULL, "", "Unknown profiling setting(s): ''");
    knows(NULL, "flush_to_disk", "Unknown profiling setting(s): 'flush_to_disk' (now "
                                 "deactivate_file_output, with the opposite meaning)");
    knows("hdf5", "compresion", "Unknown [hdf5] profiling setting(s): 'compresion' (did you mean "
                                "'compression'?)");
    knows("gpu", "compression", "Unknown [gpu] profiling setting(s): 'compression'");
    const char *const names[] = {"zzz", "trackthreads"};
    sp_error error;
    sp_setting_unknown(NULL, names, 2, &error);
    CHECK_TEXT(error.text, "Unknown profiling setting(s): 'zzz', 'trackthreads' (did you mean "
                           "'track_threads'?)");
    char long_name[3000];
    memset(long_name, 'x', sizeof long_name);
    long_name[sizeof long_name - 1] = '\0';
    CHECK_INT(sp_setting_unknown(NULL, (const char *[]){long_name}, 1, &error),
              SP_ERR_INVALID_ARGUMENT);
}

int main(void)
{
    RUN(every_row_is_complete_and_found);
    RUN(initial_values);
    RUN(texts_become_values);
    RUN(lists_are_split_at_commas);
    RUN(bad_values_are_named);
    RUN(values_of_another_kind);
    RUN(levels_go_with_their_filter);
    RUN(settings_that_exclude_each_other);
    RUN(unknown_names_come_with_the_closest);
    sp_arena_release(&arena);
    return check_result();
}
