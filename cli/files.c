/* files.c - patterns, opening, and what to say when it fails. */
#include "files.h"

#include "progress.h"

#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void push(char ***files, size_t *count, const char *path)
{
    *files = cli_reallocate(*files, (*count + 1) * sizeof **files);
    (*files)[(*count)++] = cli_duplicate(path);
}

static bool expand(const cli_arguments *arguments, const char *word, char ***files, size_t *count)
{
    glob_t matches;
    int failure = glob(word, GLOB_TILDE, NULL, &matches);
    if (failure == 0) {
        for (size_t i = 0; i < matches.gl_pathc; i++)
            push(files, count, matches.gl_pathv[i]);
        globfree(&matches);
        return true;
    }
    cli_fail(arguments->command, CLI_FAILED, "No files matched pattern '%s'", word);
    return false;
}

bool cli_expand_files(const cli_arguments *arguments, size_t first, char ***out_files,
                      size_t *out_count)
{
    return cli_expand_words(arguments, first, arguments->num_words, out_files, out_count);
}

bool cli_expand_words(const cli_arguments *arguments, size_t first, size_t end, char ***out_files,
                      size_t *out_count)
{
    char **files = NULL;
    size_t count = 0;
    bool fine = true;
    for (size_t i = first; i < end && fine; i++) {
        const char *word = arguments->words[i];
        if (strpbrk(word, "*?[") && access(word, F_OK) != 0)
            fine = expand(arguments, word, &files, &count);
        else
            push(&files, &count, word);
    }
    if (!fine) {
        cli_release_files(files, count);
        return false;
    }
    *out_files = files;
    *out_count = count;
    return true;
}

void cli_release_files(char **files, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(files[i]);
    free(files);
}

int cli_fail_on(const cli_command *command, const char *path, int status, const sp_error *error)
{
    const char *text = error->text[0] ? error->text : sp_error_string(status);
    int code = CLI_FAILED;
    if (status == SP_ERR_INVALID_ARGUMENT)
        return cli_usage_error(command, "%s", text);
    if (status == SP_ERR_NOT_A_PROFILE || status == SP_ERR_DAMAGED || status == SP_ERR_SCHEMA)
        code = CLI_BAD_FILE;
    if (strstr(text, path))
        return cli_fail(command, code, "%s", text);
    return cli_fail(command, code, "%s: %s", path, text);
}

int cli_open(const cli_command *command, const char *path, sp_results **out)
{
    sp_error error = {0};
    int status = sp_results_open(path, out, &error);
    if (status == SP_OK)
        cli_show_progress(*out);
    return status == SP_OK ? CLI_OK : cli_fail_on(command, path, status, &error);
}
