/* The ranks of a program in C or Fortran, for publications of the whole job. Compiled once for each MPI,
 * against its mpi.h, and linked to none. Calls are those of the profiling interface, so nobody records
 * them. */
#include "base/error.h"
#include "base/os/library.h"
#include "scope_plugin.h"

#include <mpi.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Messages go over the program's own communicator: making one would be collective, and wait for ranks
 * that never come. The tags are those that Python's ranks use. */
static const int tags[] = {[SP_CHANNEL_CONTROL] = 0x5C0A, [SP_CHANNEL_DATA] = 0x5C0B};

/* Of Open MPI the handles are addresses of variables, to be had by their numbers in Fortran. */
#ifdef OPEN_MPI
#define OWN_NAME "Open MPI"
#define CONVERSIONS(X) X(Comm_f2c) X(Type_f2c) X(Errhandler_f2c)
#define HANDLE(kind, number, constant) (mpi.kind##_f2c(number))
#else
#define OWN_NAME "MPICH"
#define CONVERSIONS(X)
#define HANDLE(kind, number, constant) (constant)
#endif
#define WORLD HANDLE(Comm, 0, MPI_COMM_WORLD)
#define SELF HANDLE(Comm, 1, MPI_COMM_SELF)
#define BYTES HANDLE(Type, 1, MPI_BYTE)
#define REPORT_ERRORS HANDLE(Errhandler, 2, MPI_ERRORS_RETURN)

#define FUNCTIONS(X)                                                                               \
    X(Cancel)                                                                                      \
    X(Comm_create_keyval)                                                                          \
    X(Comm_get_errhandler)                                                                         \
    X(Comm_rank)                                                                                   \
    X(Comm_set_attr)                                                                               \
    X(Comm_set_errhandler)                                                                         \
    X(Comm_size)                                                                                   \
    X(Errhandler_free)                                                                             \
    X(Error_string)                                                                                \
    X(Finalized)                                                                                   \
    X(Initialized)                                                                                 \
    X(Irecv)                                                                                       \
    X(Is_thread_main)                                                                              \
    X(Isend)                                                                                       \
    X(Query_thread)                                                                                \
    X(Request_free)                                                                                \
    X(Test)                                                                                        \
    X(Wait)

static struct {
#define MEMBER(name) __typeof__(&MPI_##name) name;
    FUNCTIONS(MEMBER) CONVERSIONS(MEMBER)
#undef MEMBER
} mpi;

typedef struct message {
    MPI_Request request;
    bool is_send;
} message;

static MPI_Errhandler program_handler; /* while a communicator is open */
static void (*at_end)(void);

static int fail(int code, const char *what, sp_error *error)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    mpi.Error_string(code, text, &length);
    return sp_fail(error, SP_ERR_IO, "MPI cannot %s: %.700s", what, text);
}

/* ---- The communicator ------------------------------------------------------------------------*/

static message *make_message(bool is_send, sp_error *error)
{
    message *made = malloc(sizeof *made);
    if (made == NULL)
        sp_fail_memory(error, "a message to another rank");
    else
        made->is_send = is_send;
    return made;
}

static int started(message *made, int code, const char *what, void **out_request, sp_error *error)
{
    if (code == MPI_SUCCESS) {
        *out_request = made;
        return SP_OK;
    }
    free(made);
    return fail(code, what, error);
}

static int start_send(void *context, uint32_t to, sp_channel channel, const void *bytes,
                      size_t num_bytes, void **out_request, sp_error *error)
{
    (void)context;
    message *made = make_message(true, error);
    if (made == NULL)
        return SP_ERR_NO_MEMORY;
    int code = mpi.Isend(bytes, (int)num_bytes, BYTES, (int)to, tags[channel], WORLD,
                         &made->request);
    return started(made, code, "send to another rank", out_request, error);
}

static int start_receive(void *context, uint32_t from, sp_channel channel, void *bytes, size_t room,
                         void **out_request, sp_error *error)
{
    (void)context;
    message *made = make_message(false, error);
    if (made == NULL)
        return SP_ERR_NO_MEMORY;
    int code =
        mpi.Irecv(bytes, (int)room, BYTES, (int)from, tags[channel], WORLD, &made->request);
    return started(made, code, "receive from another rank", out_request, error);
}

/* A send goes on by itself; a receive must not write into memory that is somebody else's. */
static void give_up(message *given)
{
    if (given->is_send) {
        mpi.Request_free(&given->request);
    } else if (mpi.Cancel(&given->request) == MPI_SUCCESS) {
        mpi.Wait(&given->request, MPI_STATUS_IGNORE);
    }
    free(given);
}

static int test(void *context, void *request, bool *out_done, sp_error *error)
{
    message *asked = request;
    int is_done = 0;
    (void)context;
    int code = mpi.Test(&asked->request, &is_done, MPI_STATUS_IGNORE);
    *out_done = code == MPI_SUCCESS && is_done != 0;
    if (code == MPI_SUCCESS && !is_done)
        return SP_OK;
    free(asked); /* MPI has released a request that failed */
    return code == MPI_SUCCESS ? SP_OK : fail(code, "reach another rank", error);
}

static void cancel(void *context, void *request)
{
    (void)context;
    give_up(request);
}

static int open_world(sp_communicator *out, sp_error *error)
{
    int rank = 0, size = 0;
    int code = mpi.Comm_rank(WORLD, &rank);
    if (code == MPI_SUCCESS)
        code = mpi.Comm_size(WORLD, &size);
    if (code == MPI_SUCCESS)
        code = mpi.Comm_get_errhandler(WORLD, &program_handler);
    if (code == MPI_SUCCESS)
        code = mpi.Comm_set_errhandler(WORLD, REPORT_ERRORS);
    if (code != MPI_SUCCESS)
        return fail(code, "tell who the ranks are", error);
    *out = (sp_communicator){.size = sizeof *out,
                             .version = SP_COMMUNICATOR_VERSION,
                             .rank = (uint32_t)rank,
                             .num_ranks = (uint32_t)size,
                             .start_send = start_send,
                             .start_receive = start_receive,
                             .test = test,
                             .cancel = cancel};
    return SP_OK;
}

static void close_world(sp_communicator *communicator)
{
    (void)communicator;
    mpi.Comm_set_errhandler(WORLD, program_handler);
    mpi.Errhandler_free(&program_handler);
}

/* ---- The life of MPI -------------------------------------------------------------------------*/

static bool is_running(void)
{
    int is_up = 0, is_over = 0, level = MPI_THREAD_SINGLE, is_main = 0;
    mpi.Initialized(&is_up);
    mpi.Finalized(&is_over);
    if (!is_up || is_over)
        return false;
    mpi.Query_thread(&level);
    mpi.Is_thread_main(&is_main);
    return level >= MPI_THREAD_SERIALIZED || is_main;
}

static int copy_nothing(MPI_Comm comm, int key, void *extra, void *from, void *to, int *flag)
{
    (void)comm, (void)key, (void)extra, (void)from, (void)to;
    *flag = 0;
    return MPI_SUCCESS;
}

static int end(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    void (*callback)(void) = at_end;
    at_end = NULL;
    if (callback != NULL)
        callback();
    return MPI_SUCCESS;
}

/* The first thing that the end of MPI does is to let go of what is kept with MPI_COMM_SELF. */
static int before_end(void (*callback)(void), sp_error *error)
{
    int key = 0;
    int code = mpi.Comm_create_keyval(copy_nothing, end, &key, NULL);
    if (code == MPI_SUCCESS) {
        at_end = callback;
        code = mpi.Comm_set_attr(SELF, key, NULL);
    }
    return code == MPI_SUCCESS ? SP_OK : fail(code, "tell when it ends", error);
}

static bool look_up(void *library)
{
    bool has_all = true;
#define LOOK_UP(name)                                                                              \
    sp_os_function name = sp_os_library_function(library, "PMPI_" #name);                          \
    has_all = has_all && name != NULL;                                                             \
    memcpy(&mpi.name, &name, sizeof name);
    FUNCTIONS(LOOK_UP)
    CONVERSIONS(LOOK_UP)
#undef LOOK_UP
    return has_all;
}

static bool is_open_mpi(void *library)
{
    return sp_os_library_function(library, "ompi_mpi_init") != NULL;
}

SP_API const sp_mpi_table *sp_mpi_module(void *library, sp_error *error);

const sp_mpi_table *sp_mpi_module(void *library, sp_error *error)
{
    static const sp_mpi_table table = {.size = sizeof table,
                                       .version = SP_MPI_VERSION,
                                       .name = OWN_NAME,
                                       .is_running = is_running,
                                       .open = open_world,
                                       .close = close_world,
                                       .before_end = before_end};
#ifdef OPEN_MPI
    bool is_own = is_open_mpi(library);
#else
    bool is_own = !is_open_mpi(library);
#endif
    if (is_own && look_up(library))
        return &table;
    sp_fail(error, SP_ERR_NO_MODULE, "the process runs another MPI than " OWN_NAME);
    return NULL;
}
