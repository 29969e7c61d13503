/* Publishing where it cannot succeed: what was there stays, nothing is left over, the error says
 * where and why, and the next file is written as if nothing had happened. */
#include "store/module.h"

#include "check.h"
#include "small_run.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MANY = 1 << 20, PIECE = 1 << 15, ROUNDS = 3 };

static const sp_store_table *store;

static int count_entries(const char *folder)
{
    DIR *listing = opendir(folder);
    int count = 0;
    for (struct dirent *entry; listing != NULL && (entry = readdir(listing)) != NULL;)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    if (listing != NULL)
        closedir(listing);
    return count;
}

/* 16 MiB of time columns that do not compress. */
static int write_large_run(const char *path, const char *compression, sp_error *error)
{
    static int64_t values[PIECE];
    const int64_t *const columns[SP_COLUMN_COUNT] = {values, values};
    const sp_row row = {.region = "solve", .count = MANY, .source_file = "", .source_text = "",
                        .tags_json = "[]"};
    const sp_store_options options = {.size = sizeof options, .compression = compression,
                                      .compression_level = -1};
    sp_store_writer *writer = NULL;
    uint64_t random = 1;
    int status = store->create(path, &options, &writer, error);
    if (status != SP_OK)
        return status;
    status = store->begin_rank(writer, 0, &row, 1, 3, NULL, 0, NULL, 0, error);
    for (int done = 0; status == SP_OK && done < MANY; done += PIECE) {
        for (int i = 0; i < PIECE; i++) {
            random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            values[i] = (int64_t)(random ^ random >> 29);
        }
        status = store->write_calls(writer, PIECE, columns, error);
    }
    if (status == SP_OK)
        return store->commit(writer, error);
    store->abort(writer);
    return status;
}

static void check_untouched(const char *folder, const char *path)
{
    sp_error error = {0};
    CHECK_INT(count_entries(folder), 1);
    CHECK(is_small_run(store, path, &error));
}

/* Runs a case in a child that may change its rights, limits and mounts; 77: it could not. */
static void in_child(void (*body)(void))
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        body();
        _exit(check_result());
    }
    CHECK(waitpid(child, &status, 0) == child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        fprintf(stderr, "skipped: %s needs root and may not have it here\n", check_case);
    else
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void fill_the_disk(void)
{
    mkdir("publication_disk", 0777);
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", "publication_disk", "tmpfs", 0, "size=4m") != 0)
        _exit(77);
    static const char *const COMPRESSIONS[ROUNDS] = {NULL, "gzip", "auto"};
    sp_error error = {0};
    CHECK_INT(write_small_run(store, "publication_disk/a.h5", &error), SP_OK);
    int descriptors = count_entries("/proc/self/fd");
    for (int i = 0; i < ROUNDS; i++) {
        error = (sp_error){0};
        CHECK_INT(write_large_run("publication_disk/a.h5", COMPRESSIONS[i], &error), SP_ERR_IO);
        CHECK_INT(error.system_errno, ENOSPC);
        CHECK_CONTAINS(error.text, strerror(ENOSPC));
        check_untouched("publication_disk", "publication_disk/a.h5");
        CHECK_INT(count_entries("/proc/self/fd"), descriptors);
    }
    CHECK_INT(write_small_run(store, "publication_disk/a.h5", &error), SP_OK);
    check_untouched("publication_disk", "publication_disk/a.h5");
}

static void full_disk(void)
{
    in_child(fill_the_disk);
}

static void lose_rights(void)
{
    sp_error error = {0};
    mkdir("publication_closed", 0777);
    CHECK_INT(write_small_run(store, "publication_closed/a.h5", &error), SP_OK);
    CHECK(chmod("publication_closed", 0555) == 0);
    if (geteuid() == 0 && (setegid(65534) != 0 || seteuid(65534) != 0))
        _exit(77);
    CHECK_INT(write_small_run(store, "publication_closed/a.h5", &error), SP_ERR_IO);
    CHECK_INT(error.system_errno, EACCES);
    CHECK_CONTAINS(error.text, "publication_closed/a.h5");
    CHECK_CONTAINS(error.text, strerror(EACCES));
    CHECK_INT(write_small_run(store, "publication_closed/below/a.h5", &error), SP_ERR_IO);
    CHECK_INT(error.system_errno, EACCES);
    CHECK_CONTAINS(error.text, "publication_closed/below");
    check_untouched("publication_closed", "publication_closed/a.h5");
}

static void folder_without_rights(void)
{
    in_child(lose_rights);
    chmod("publication_closed", 0755);
}

static void unreadable_file(void)
{
    sp_error error = {0};
    sp_store_reader *reader = NULL;
    CHECK_INT(write_small_run(store, "publication_secret.h5", &error), SP_OK);
    CHECK(chmod("publication_secret.h5", 0) == 0);
    if (geteuid() == 0 && seteuid(65534) != 0)
        _exit(77);
    CHECK_INT(store->open("publication_secret.h5", &reader, &error), SP_ERR_IO);
    CHECK_INT(error.system_errno, EACCES);
    CHECK_CONTAINS(error.text, "publication_secret.h5");
}

static void file_without_rights(void)
{
    in_child(unreadable_file);
    unlink("publication_secret.h5");
}

static void folder_that_disappears(void)
{
    const sp_row row = {.region = "a", .source_file = "", .source_text = "", .tags_json = "[]"};
    sp_error error = {0};
    sp_store_writer *writer = NULL;
    mkdir("publication_gone", 0777);
    if (!CHECK_INT(store->create("publication_gone/a.h5", NULL, &writer, &error), SP_OK))
        return;
    CHECK_INT(store->begin_rank(writer, 0, &row, 1, 0, NULL, 0, NULL, 0, &error), SP_OK);
    CHECK(system("rm -r publication_gone") == 0);
    CHECK_INT(store->commit(writer, &error), SP_ERR_IO);
    CHECK_INT(error.system_errno, ENOENT);
    CHECK_CONTAINS(error.text, "publication_gone/a.h5");
}

/* Outgrowing the limit of a process ends it with a signal, unless that is held back. */
static void outgrow_the_limit(void)
{
    sp_error error = {0};
    mkdir("publication_limit", 0777);
    CHECK_INT(write_small_run(store, "publication_limit/a.h5", &error), SP_OK);
    const struct rlimit limit = {1 << 20, 1 << 20};
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    CHECK_INT(write_large_run("publication_limit/a.h5", NULL, &error), SP_ERR_IO);
    CHECK_INT(error.system_errno, EFBIG);
    sigset_t pending, blocked;
    CHECK(sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 0);
    CHECK(sigprocmask(SIG_BLOCK, NULL, &blocked) == 0 && sigismember(&blocked, SIGXFSZ) == 0);
    check_untouched("publication_limit", "publication_limit/a.h5");
}

static void file_size_limit(void)
{
    in_child(outgrow_the_limit);
}

static void after_a_fork(void)
{
    sp_error error = {0};
    CHECK_INT(write_small_run(store, "publication_parent.h5", &error), SP_OK);
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        CHECK_INT(write_small_run(store, "publication_child.h5", &error), SP_OK);
        _exit(check_result());
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(is_small_run(store, "publication_child.h5", &error));
    CHECK(is_small_run(store, "publication_parent.h5", &error));
    unlink("publication_child.h5");
    unlink("publication_parent.h5");
}

int main(void)
{
    sp_error error = {0};
    store = sp_store_hdf5(&error);
    if (!CHECK(store != NULL)) {
        fprintf(stderr, "%s\n", error.text);
        return check_result();
    }
    CHECK(system("rm -rf publication_*") == 0);
    RUN(full_disk);
    RUN(folder_without_rights);
    RUN(file_without_rights);
    RUN(folder_that_disappears);
    RUN(file_size_limit);
    RUN(after_a_fork);
    return check_result();
}
