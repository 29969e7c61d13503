/* session_case.h - a folder of its own for a test, what it prints on stderr, and reading back. */
#ifndef SESSION_CASE_H
#define SESSION_CASE_H

#include "check.h"

#include "session/binding.h"
#include "store/image/image.h"
#include "store/module.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char case_folder[] = "/tmp/sp_session_XXXXXX";
static int case_stderr = -1;

static inline void case_enter_folder(void)
{
    if (mkdtemp(case_folder) == NULL || chdir(case_folder) != 0)
        abort();
}

static inline void case_leave_folder(void)
{
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", case_folder);
    if (chdir("/") != 0 || system(command) != 0)
        abort();
}

/* From now on stderr goes to a file, until case_printed gives what came. */
static inline void case_catch_stderr(void)
{
    fflush(stderr);
    case_stderr = dup(STDERR_FILENO);
    int file = open("/tmp/sp_session_stderr", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    unlink("/tmp/sp_session_stderr");
    dup2(file, STDERR_FILENO);
    close(file);
}

static inline const char *case_printed(void)
{
    static char text[8192];
    lseek(STDERR_FILENO, 0, SEEK_SET);
    ssize_t length = read(STDERR_FILENO, text, sizeof text - 1);
    text[length < 0 ? 0 : length] = '\0';
    dup2(case_stderr, STDERR_FILENO);
    close(case_stderr);
    return text;
}

static inline size_t case_count(const char *text, const char *part)
{
    size_t count = 0;
    while ((text = strstr(text, part)) != NULL) {
        count++;
        text += strlen(part);
    }
    return count;
}

static inline int case_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

/* A finished run, from a file or (path NULL) an image. NULL and a failed check when it does not
 * open. */
typedef struct case_run {
    const sp_store_table *table;
    sp_store_reader *reader;
    const sp_store_description *description;
} case_run;

static inline case_run case_open(const char *path, sp_binding_report *report)
{
    case_run run = {.table = path == NULL ? &sp_image_reader : sp_store_hdf5(NULL)};
    sp_error error = {0};
    int status = path == NULL ? sp_image_open(report->image, report->image_size, &run.reader, &error)
                              : run.table->open(path, &run.reader, &error);
    if (status == SP_OK)
        run.description = run.table->describe(run.reader);
    else
        CHECK_TEXT(error.text, "");
    return run;
}

static inline void case_close(case_run *run)
{
    if (run->reader != NULL)
        run->table->close(run->reader);
}

/* Row of a region; NULL when it is not there. */
static inline const sp_row *case_row(const case_run *run, const char *region, size_t *out_index)
{
    for (size_t i = 0; run->description != NULL && i < run->description->num_rows; i++)
        if (strcmp(run->description->rows[i].region, region) == 0) {
            if (out_index != NULL)
                *out_index = i;
            return &run->description->rows[i];
        }
    return NULL;
}

static inline int64_t case_calls(const case_run *run, const char *region)
{
    const sp_row *row = case_row(run, region, NULL);
    return row == NULL ? -1 : (int64_t)row->count;
}

static inline int64_t case_value(const case_run *run, const char *region, sp_column column,
                                 uint64_t call)
{
    size_t row;
    int64_t value = INT64_MIN;
    if (case_row(run, region, &row) != NULL)
        run->table->read_calls(run->reader, row, column, call, 1, &value, NULL);
    return value;
}

static inline const sp_metadata_entry *case_metadata(const case_run *run, const char *key)
{
    for (size_t i = 0; run->description != NULL && i < run->description->num_metadata; i++)
        if (strcmp(run->description->metadata[i].key, key) == 0)
            return &run->description->metadata[i];
    return NULL;
}

#endif
