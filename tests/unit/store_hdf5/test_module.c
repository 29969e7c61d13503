/* Finding the HDF5 module: where it is looked for, and what is said when it is not there. */
#include "store/module.h"

#include "check.h"
#include "small_run.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char VARIABLE[] = "SCOPE_PROFILER_MODULE_PATH";

static void make_file(const char *path, const char *content)
{
    FILE *file = fopen(path, "w");
    CHECK(file != NULL && fputs(content, file) >= 0 && fclose(file) == 0);
}

/* In a process of its own: what was found once is kept. */
static void with_path(const char *path, void (*look)(void))
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        setenv(VARIABLE, path, 1);
        look();
        _exit(check_result());
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void finds_none(void)
{
    sp_error error = {0};
    CHECK(sp_store_hdf5(&error) == NULL);
    CHECK_INT(error.status, SP_ERR_NO_MODULE);
    CHECK_CONTAINS(error.text, "scope_profiler_hdf5.so was not found");
    CHECK_CONTAINS(error.text, "SCOPE_PROFILER_MODULE_PATH");
    CHECK_CONTAINS(error.text, "module_empty");
    CHECK(sp_store_hdf5(NULL) == NULL);
}

static void finds_junk(void)
{
    sp_error error = {0};
    CHECK(sp_store_hdf5(&error) == NULL);
    CHECK_INT(error.status, SP_ERR_NO_MODULE);
    CHECK_CONTAINS(error.text, "cannot load 'module_junk/scope_profiler_hdf5.so'");
}

static void finds_it(void)
{
    sp_error error = {0};
    const sp_store_table *store = sp_store_hdf5(&error);
    if (!CHECK(store != NULL)) {
        fprintf(stderr, "%s\n", error.text);
        return;
    }
    CHECK_TEXT(store->name, "hdf5");
    CHECK(sp_store_hdf5(NULL) == store);
    CHECK_CONTAINS(store->library_version(), ".");
    CHECK_INT(write_small_run(store, "module_run.h5", &error), SP_OK);
    CHECK(is_small_run(store, "module_run.h5", &error));
    unlink("module_run.h5");
}

static void says_what_it_tried(void)
{
    mkdir("module_empty", 0777);
    with_path("module_empty", finds_none);
}

static void reports_a_file_that_does_not_load(void)
{
    mkdir("module_junk", 0777);
    make_file("module_junk/scope_profiler_hdf5.so", "not a library");
    with_path("module_junk", finds_junk);
}

static void tries_one_folder_after_the_other(void)
{
    char path[4096];
    snprintf(path, sizeof path, "module_empty:module_junk::%s", getenv(VARIABLE));
    with_path(path, finds_it);
}

/* What failed is looked for again. */
static void comes_alive_later(void)
{
    char path[4096];
    snprintf(path, sizeof path, "%s", getenv(VARIABLE));
    setenv(VARIABLE, "module_empty", 1);
    sp_error error = {0};
    CHECK(sp_store_hdf5(&error) == NULL);
    setenv(VARIABLE, path, 1);
    finds_it();
}

int main(void)
{
    RUN(says_what_it_tried);
    RUN(reports_a_file_that_does_not_load);
    RUN(tries_one_folder_after_the_other);
    RUN(comes_alive_later);
    return check_result();
}
