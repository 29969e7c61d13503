/* Runs started by the environment: this program starts itself with the variables set. */
#include "session_case.h"

#include <sys/wait.h>
#include <time.h>

static const char *self;

/* Runs this program as `role` in a shell line (%s is the program); gives what it printed. */
static const char *run(const char *format, const char *output, const char *more)
{
    static char text[8192];
    char program[600], command[2000];
    snprintf(program, sizeof program, format, self, self);
    snprintf(command, sizeof command, "SCOPE_PROFILER_RUN_OUTPUT=%s %s sh -c '%s' 2>&1", output,
             more, program);
    FILE *pipe = popen(command, "r");
    size_t length = fread(text, 1, sizeof text - 1, pipe);
    text[length] = '\0';
    CHECK_INT(pclose(pipe), 0);
    return text;
}

static int play(const char *role)
{
    if (strcmp(role, "nothing") == 0)
        return !sp_is_active();
    int a = sp_region("a"), b = sp_region("b");
    if (strcmp(role, "none") == 0)
        return a < 0;
    if (strcmp(role, "inits") == 0) {
        CHECK_INT(sp_init("own", 0), SP_OK);
        CHECK_CONTAINS(sp_output_path(), "/run.h5");
    }
    for (int i = 0; i < 3; i++) {
        sp_begin(a);
        sp_end(a);
    }
    if (strcmp(role, "inits") == 0) {
        CHECK_INT(sp_finalize(), SP_OK);
        CHECK(sp_is_active());
    }
    sp_begin(b); /* open at the end */
    return check_result();
}

static void published_at_exit(void)
{
    char output[100];
    snprintf(output, sizeof output, "%s/run.h5", case_folder);
    const char *printed = run("%s calls", output, "SCOPE_PROFILER_RUN_LABEL=nice");
    CHECK_TEXT(printed, "");
    case_run file = case_open("run.h5", NULL);
    CHECK_INT(case_calls(&file, "a"), 3);
    CHECK_INT(case_calls(&file, "b"), 1); /* nothing follows: it ends at the exit */
    CHECK_TEXT(case_metadata(&file, "label")->text, "nice");
    case_close(&file);
    CHECK(!case_exists(".run.h5.lock"));

    printed = run("%s inits", output, "");
    CHECK_TEXT(printed, "");
    CHECK(!case_exists("own_rank00000.h5"));
}

static void second_process_gets_its_own_name(void)
{
    char output[100], more[100];
    snprintf(output, sizeof output, "%s/two.h5", case_folder);
    snprintf(more, sizeof more, "SCOPE_PROFILER_RUN_STARTED=%lld000000000",
             (long long)time(NULL) - 1);
    const char *printed = run("%s calls; %s calls", output, more);
    CHECK_INT(case_count(printed, "\n"), 1);
    CHECK_CONTAINS(printed, "two.h5 is taken by another process of this run");
    CHECK_CONTAINS(printed, "/two.pid");
    CHECK(case_exists("two.h5"));
    CHECK_INT(system("test $(ls two.pid*.h5 | wc -l) = 1"), 0);
}

static void ranks_have_their_own_names(void)
{
    char output[100];
    snprintf(output, sizeof output, "%s/mpi.h5", case_folder);
    run("%s calls", output, "PMI_RANK=2 PMI_SIZE=4");
    case_run file = case_open("mpi_rank00002.h5", NULL);
    CHECK_INT(case_metadata(&file, "mpi_size")->integer, 4);
    CHECK_INT(file.description != NULL && file.description->rows[0].rank == 2, 1);
    case_close(&file);
}

static void nothing_recorded(void)
{
    char output[100];
    snprintf(output, sizeof output, "%s/nothing.h5", case_folder);
    CHECK_CONTAINS(run("%s nothing", output, ""), "defined no region");
    CHECK_CONTAINS(run("%s none", output, ""), "2 region(s) and entered none");
    CHECK(!case_exists("nothing.h5"));
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return play(argv[1]);
    if (!sp_hdf5_available())
        return 0;
    char path[400];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length < 0 ? 0 : length] = '\0';
    self = path;
    case_enter_folder();
    RUN(published_at_exit);
    RUN(second_process_gets_its_own_name);
    RUN(ranks_have_their_own_names);
    RUN(nothing_recorded);
    case_leave_folder();
    return check_result();
}
