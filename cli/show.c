#include "show.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/* Starts `program` with the path as its only word, its output thrown away. True when it could be
 * started and, if it ends within the time that such helpers take, ended well. */
static bool start(const char *program, const char *path)
{
    posix_spawn_file_actions_t actions;
    char *words[] = {cli_duplicate(program), cli_duplicate(path), NULL};
    extern char **environ;
    pid_t child;
    int status = 0;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    bool started = posix_spawnp(&child, program, &actions, NULL, words, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    free(words[0]);
    free(words[1]);
    if (!started)
        return false;
    for (int i = 0; i < 20 && status == 0; i++) {
        if (waitpid(child, &status, WNOHANG) == child)
            return WIFEXITED(status) && WEXITSTATUS(status) == 0;
        usleep(100000);
    }
    return true; /* it still runs: the browser itself */
}

int cli_show(const cli_command *command, const char *path)
{
    const char *browser = getenv("BROWSER");
    if ((browser && browser[0] && start(browser, path)) || start("xdg-open", path) ||
        start("open", path))
        return CLI_OK;
    return cli_fail(command, CLI_FAILED, "no program to show '%s' with; open it in a browser, or "
                    "name one in BROWSER", path);
}
