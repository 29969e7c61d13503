/* output.c - writing a text. */
#include "output.h"

#include "progress.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int cli_write_text(const cli_command *command, const char *path, const char *text)
{
    FILE *file;
    bool fine;
    cli_hide_progress();
    if (strcmp(path, "-") == 0) {
        fputs(text, stdout);
        return CLI_OK;
    }
    file = fopen(path, "we");
    if (!file)
        return cli_fail(command, CLI_FAILED, "cannot write '%s': %s", path, strerror(errno));
    fine = fputs(text, file) >= 0;
    if (fclose(file) != 0 || !fine)
        return cli_fail(command, CLI_FAILED, "cannot write '%s': %s", path, strerror(errno));
    return CLI_OK;
}
