/* A program that is linked to another library of the name: the module uses its own. */
#include "store/module.h"

#include "check.h"
#include "small_run.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int fake_hdf5_calls(void);
int64_t H5open(void);
extern int64_t H5T_STD_I64LE_g;

static const char NAME[] = "other_library.h5";

static void uses_its_own(const char *folder)
{
    sp_error error = {0};
    setenv("SCOPE_PROFILER_MODULE_PATH", folder, 1);
    /* The program really uses the other one, variables included. */
    CHECK_INT(H5open(), -1);
    CHECK_INT(H5T_STD_I64LE_g, -7);
    CHECK_INT(fake_hdf5_calls(), 1);
    const sp_store_table *store = sp_store_hdf5(&error);
    if (CHECK(store != NULL)) {
        CHECK_INT(write_small_run(store, NAME, &error), SP_OK);
        CHECK(is_small_run(store, NAME, &error));
    }
    if (error.status != SP_OK)
        fprintf(stderr, "%s: %s\n", folder, error.text);
    CHECK_INT(fake_hdf5_calls(), 1);
    unlink(NAME);
}

static void each_kind_of_module(void)
{
    const char *const folders[] = {getenv("SCOPE_PROFILER_MODULE_PATH"), SHARED_MODULE_FOLDER};
    for (int i = 0; i < 2; i++) {
        int status = 0;
        pid_t child = fork();
        if (child == 0) {
            uses_its_own(folders[i]);
            _exit(check_result());
        }
        CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) &&
              WEXITSTATUS(status) == 0);
    }
}

int main(void)
{
    RUN(each_kind_of_module);
    return check_result();
}
