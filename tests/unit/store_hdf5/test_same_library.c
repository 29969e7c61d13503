/* A program that uses the HDF5 library itself, before, after and, where that can be, while profiles
 * are written. Linked to it as programs are, so that it holds copies of the library's variables. */
#include "store/module.h"

#include "check.h"
#include "small_run.h"

#include <hdf5.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 30 };

static const char NAME[] = "same_library.h5";
static int reported; /* calls of the program's own error handler */

static herr_t report(hid_t stack, void *context)
{
    (void)stack;
    (void)context;
    reported++;
    return 0;
}

static bool write_own_file(const char *path)
{
    const long values[3] = {1, 2, 3};
    hsize_t length = 3;
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = H5Screate_simple(1, &length, NULL);
    hid_t dataset = H5Dcreate2(file, "x", H5T_STD_I64LE, space, H5P_DEFAULT, H5P_DEFAULT,
                               H5P_DEFAULT);
    bool ok = H5Dwrite(dataset, H5T_NATIVE_LONG, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0;
    ok = H5Dclose(dataset) >= 0 && ok;
    ok = H5Sclose(space) >= 0 && ok;
    return H5Fclose(file) >= 0 && ok;
}

static void publish(const sp_store_table *store)
{
    sp_error error = {0};
    CHECK_INT(write_small_run(store, NAME, &error), SP_OK);
    CHECK(is_small_run(store, NAME, &error));
    if (error.status != SP_OK)
        fprintf(stderr, "%s\n", error.text);
}

/* Whatever the program set and had open is as it was. */
static void leaves_everything_in_place(const sp_store_table *store)
{
    hid_t file = H5Fcreate("same_library_own.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    CHECK(file >= 0);
    H5Eset_auto2(H5E_DEFAULT, report, &reported);
    CHECK(H5Fopen("no such file", H5F_ACC_RDONLY, H5P_DEFAULT) < 0);
    CHECK_INT(reported, 1);
    ssize_t errors = H5Eget_num(H5E_DEFAULT);
    CHECK(errors > 0);
    publish(store);
    sp_error error = {0};
    CHECK_INT(write_small_run(store, "/proc/none/a.h5", &error), SP_ERR_IO);
    CHECK_INT(reported, 1);
    CHECK_INT(H5Eget_num(H5E_DEFAULT), errors);
    H5E_auto2_t handler = NULL;
    void *context = NULL;
    CHECK(H5Eget_auto2(H5E_DEFAULT, &handler, &context) >= 0);
    CHECK(handler == report && context == &reported);
    CHECK_INT(H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL), 1);
    CHECK(H5Fclose(file) >= 0);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

static void program_uses_it_before_and_after(const sp_store_table *store)
{
    CHECK(write_own_file("same_library_own.h5"));
    publish(store);
    CHECK(write_own_file("same_library_own.h5"));
    /* A program may close the library and go on. */
    CHECK(H5close() >= 0);
    publish(store);
    CHECK(write_own_file("same_library_own.h5"));
}

static atomic_bool stop;

static void *use_library(void *result)
{
    bool *ok = result;
    while (!atomic_load(&stop))
        *ok = write_own_file("same_library_thread.h5") && *ok;
    return NULL;
}

static void thread_is_inside_meanwhile(const sp_store_table *store)
{
    bool ok = true;
    pthread_t thread;
    if (!store->is_thread_safe())
        return; /* then profiles are published only where the program cannot be inside */
    CHECK(pthread_create(&thread, NULL, use_library, &ok) == 0);
    for (int i = 0; i < ROUNDS; i++)
        publish(store);
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
    CHECK(ok);
}

static void try_module(const char *folder)
{
    sp_error error = {0};
    setenv("SCOPE_PROFILER_MODULE_PATH", folder, 1);
    const sp_store_table *store = sp_store_hdf5(&error);
    if (!CHECK(store != NULL)) {
        fprintf(stderr, "%s\n", error.text);
        return;
    }
    publish(store);
    leaves_everything_in_place(store);
    program_uses_it_before_and_after(store);
    thread_is_inside_meanwhile(store);
    unlink(NAME);
    unlink("same_library_own.h5");
    unlink("same_library_thread.h5");
}

static void each_kind_of_module(void)
{
    const char *const folders[] = {getenv("SCOPE_PROFILER_MODULE_PATH"), SHARED_MODULE_FOLDER};
    for (int i = 0; i < 2; i++) {
        int status = 0;
        pid_t child = fork();
        if (child == 0) {
            try_module(folders[i]);
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
