#include "native_files.h"
#include "files.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct path_list {
    char **items;
    size_t count;
} path_list;

static void push(path_list *list, char *path)
{
    list->items = cli_reallocate(list->items, (list->count + 1) * sizeof *list->items);
    list->items[list->count++] = path;
}

static bool is_native_name(const char *name)
{
    return fnmatch("*.spt", name, 0) == 0 || fnmatch("*_rank[0-9]*.h5", name, 0) == 0;
}

static int add_folder(const cli_command *command, const char *folder, path_list *list)
{
    size_t before = list->count, length = strlen(folder);
    const char *slash = length > 0 && folder[length - 1] == '/' ? "" : "/";
    struct dirent *entry;
    DIR *directory = opendir(folder);
    if (!directory)
        return cli_fail(command, CLI_FAILED, "cannot read '%s': %s", folder, strerror(errno));
    while ((entry = readdir(directory)) != NULL)
        if (is_native_name(entry->d_name))
            push(list, cli_format("%s%s%s", folder, slash, entry->d_name));
    closedir(directory);
    if (list->count == before)
        return cli_fail(command, CLI_FAILED,
                        "no .spt traces and no per-rank .h5 profiles in '%s'", folder);
    return CLI_OK;
}

static int add_input(const cli_command *command, const char *path, path_list *list)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return cli_fail(command, CLI_FAILED, "no such file or directory: '%s'", path);
    if (S_ISDIR(status.st_mode))
        return add_folder(command, path, list);
    push(list, cli_duplicate(path));
    return CLI_OK;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The same file may be named twice, or once by its folder and once by itself. */
static void sort_once(path_list *list)
{
    size_t kept = 0;
    if (list->count > 0)
        qsort(list->items, list->count, sizeof *list->items, by_text);
    for (size_t i = 0; i < list->count; i++) {
        if (kept > 0 && strcmp(list->items[kept - 1], list->items[i]) == 0)
            free(list->items[i]);
        else
            list->items[kept++] = list->items[i];
    }
    list->count = kept;
}

int cli_find_native_files(const cli_arguments *arguments, char ***out_files, size_t *out_count)
{
    path_list list = {0};
    char **inputs;
    size_t count;
    int code = CLI_OK;
    if (!cli_expand_files(arguments, 0, &inputs, &count))
        return CLI_FAILED;
    for (size_t i = 0; i < count && code == CLI_OK; i++)
        code = add_input(arguments->command, inputs[i], &list);
    cli_release_files(inputs, count);
    sort_once(&list);
    if (code != CLI_OK) {
        cli_release_files(list.items, list.count);
        return code;
    }
    *out_files = list.items;
    *out_count = list.count;
    return CLI_OK;
}
