/* doctor_python.c - which interpreter `run` would take, and whether it has the package. */
#include "command.h"
#include "doctor.h"
#include "python.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char probe[] =
    "import sys\n"
    "if sys.path and not sys.path[0]:\n"
    "    del sys.path[0]\n"
    "print('%d.%d.%d' % sys.version_info[:3])\n"
    "try:\n"
    "    import scope_profiler\n"
    "except ImportError as error:\n"
    "    print('!', error)\n"
    "else:\n"
    "    print(scope_profiler.__version__)\n";

/* Starts the interpreter on `probe`; its output arrives at the returned stream. */
static FILE *start_probe(const char *python, pid_t *out_child)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return NULL;
    *out_child = fork();
    if (*out_child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        execl(python, python, "-c", probe, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    if (*out_child > 0)
        return fdopen(ends[0], "r");
    close(ends[0]);
    return NULL;
}

static void read_answer(FILE *stream, char *out, size_t room)
{
    if (!fgets(out, (int)room, stream))
        out[0] = '\0';
    out[strcspn(out, "\n")] = '\0';
}

static void report_package(const char *package)
{
    if (strcmp(package, SP_VERSION) == 0) {
        cli_doctor_fact("package", "scope_profiler %s", package);
    } else if (package[0] == '!' || package[0] == '\0') {
        cli_doctor_fact("package", "none");
        cli_doctor_trouble(package[0] ? package + 2 : "the interpreter cannot be run",
                           "install scope-profiler " SP_VERSION " for this interpreter, or name "
                           "another one in SCOPE_PROFILER_PYTHON");
    } else {
        cli_doctor_fact("package", "scope_profiler %s", package);
        cli_doctor_trouble("the package and this command have different versions",
                           "install scope-profiler " SP_VERSION " for this interpreter, or use "
                           "the command that came with its package");
    }
}

static void probe_package(const char *python)
{
    char version[64] = "", package[512] = "";
    pid_t child;
    FILE *answers;
    fflush(stdout); /* or the child would print it again */
    answers = start_probe(python, &child);
    if (answers) {
        read_answer(answers, version, sizeof version);
        read_answer(answers, package, sizeof package);
        fclose(answers);
        waitpid(child, NULL, 0);
    }
    cli_doctor_fact("version", "%s", version[0] ? version : "unknown");
    report_package(package);
}

void cli_doctor_python(void)
{
    const char *origin;
    char *reason = NULL, *python = cli_find_python(&origin, &reason);
    cli_doctor_heading("Python");
    if (python) {
        cli_doctor_fact("interpreter", "%s (%s)", python, origin);
        probe_package(python);
    } else {
        cli_doctor_fact("interpreter", "none");
        cli_doctor_trouble(reason, "without one, native programs are recorded all the same");
    }
    free(python);
    free(reason);
}
