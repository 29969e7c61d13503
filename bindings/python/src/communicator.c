#include "communicator.h"

#include <stddef.h>
#include <stdio.h>

/* Tags of the messages, on the program's own communicator: making one for ourselves would be collective
 * and wait for ranks that never come. */
static const int TAGS[] = {[SP_CHANNEL_CONTROL] = 0x5C0A, [SP_CHANNEL_DATA] = 0x5C0B};

typedef struct py_request {
    PyObject *request;
    bool is_send;
} py_request;

/* Keeps the exception that is set for the end, and says it in `error`. */
static int note_exception(py_communicator *self, sp_error *error)
{
    PyObject *type = NULL;
    PyObject *value = NULL;
    PyObject *traceback = NULL;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (error != NULL) {
        PyObject *text = value == NULL ? NULL : PyObject_Str(value);
        const char *utf8 = text == NULL ? NULL : PyUnicode_AsUTF8(text);
        error->status = SP_ERR_IO;
        snprintf(error->text, sizeof error->text, "%s", utf8 == NULL ? "MPI failed" : utf8);
        Py_XDECREF(text);
    }
    PyErr_Clear();
    if (self->error == NULL) {
        self->error = Py_XNewRef(value);
    }
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return SP_ERR_IO;
}

static int start(py_communicator *self, const char *method, void *bytes, size_t size, int flags,
                 uint32_t rank, sp_channel channel, void **out_request, sp_error *error)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    py_request *request = PyMem_RawMalloc(sizeof *request);
    PyObject *view = PyMemoryView_FromMemory(bytes, (Py_ssize_t)size, flags);
    PyObject *made = request == NULL || view == NULL
                         ? NULL
                         : PyObject_CallMethod(self->comm, method, "Oii", view, (int)rank,
                                               TAGS[channel]);
    Py_XDECREF(view);
    int status = SP_OK;
    if (made == NULL) {
        if (request == NULL && !PyErr_Occurred()) {
            PyErr_NoMemory();
        }
        PyMem_RawFree(request);
        status = note_exception(self, error);
    } else {
        *request = (py_request){.request = made, .is_send = flags == PyBUF_READ};
        *out_request = request;
    }
    PyGILState_Release(gil);
    return status;
}

static int start_send(void *context, uint32_t to, sp_channel channel, const void *bytes,
                      size_t num_bytes, void **out_request, sp_error *error)
{
    return start(context, "Isend", (void *)(uintptr_t)bytes, num_bytes, PyBUF_READ, to, channel,
                 out_request, error);
}

static int start_receive(void *context, uint32_t from, sp_channel channel, void *bytes, size_t room,
                         void **out_request, sp_error *error)
{
    return start(context, "Irecv", bytes, room, PyBUF_WRITE, from, channel, out_request, error);
}

static void drop(py_request *request)
{
    Py_DECREF(request->request);
    PyMem_RawFree(request);
}

/* 1 done, 0 not yet, -1 with an exception set: also when a signal asks to stop waiting. */
static int test_once(const py_request *request)
{
    PyObject *answer = PyObject_CallMethod(request->request, "Test", NULL);
    int is_done = answer == NULL ? -1 : PyObject_IsTrue(answer);
    Py_XDECREF(answer);
    return is_done == 0 && PyErr_CheckSignals() < 0 ? -1 : is_done;
}

static void give_up(py_request *request)
{
    /* A send goes on by itself; a receive must not write into memory that is somebody else's. */
    static const char *const OF_SEND[] = {"Free", NULL};
    static const char *const OF_RECEIVE[] = {"Cancel", "Wait", NULL};
    const char *const *methods = request->is_send ? OF_SEND : OF_RECEIVE;
    for (; *methods != NULL; methods++) {
        PyObject *answer = PyObject_CallMethod(request->request, *methods, NULL);
        Py_XDECREF(answer);
        PyErr_Clear();
    }
    drop(request);
}

static int test(void *context, void *opaque, bool *out_done, sp_error *error)
{
    py_communicator *self = context;
    py_request *request = opaque;
    PyGILState_STATE gil = PyGILState_Ensure();
    int is_done = test_once(request);
    int status = is_done < 0 ? note_exception(self, error) : SP_OK;
    *out_done = is_done > 0;
    if (is_done > 0) {
        drop(request);
    } else if (is_done < 0) {
        give_up(request);
    }
    PyGILState_Release(gil);
    return status;
}

static void cancel(void *context, void *request)
{
    (void)context;
    PyGILState_STATE gil = PyGILState_Ensure();
    give_up(request);
    PyGILState_Release(gil);
}

static int ask(PyObject *comm, const char *method, uint32_t *out)
{
    PyObject *answer = PyObject_CallMethod(comm, method, NULL);
    long value = answer == NULL ? -1 : PyLong_AsLong(answer);
    Py_XDECREF(answer);
    if (PyErr_Occurred()) {
        return -1;
    }
    if (value < 0 || value > INT32_MAX) {
        PyErr_Format(PyExc_ValueError, "%s() of %R is %ld", method, comm, value);
        return -1;
    }
    *out = (uint32_t)value;
    return 0;
}

int communicator_fill(py_communicator *out, PyObject *comm)
{
    *out = (py_communicator){
        .table = {.size = sizeof(sp_communicator),
                  .version = SP_COMMUNICATOR_VERSION,
                  .context = out,
                  .start_send = start_send,
                  .start_receive = start_receive,
                  .test = test,
                  .cancel = cancel},
        .comm = comm,
    };
    if (ask(comm, "Get_rank", &out->table.rank) < 0) {
        return -1;
    }
    return ask(comm, "Get_size", &out->table.num_ranks);
}

bool communicator_raise(py_communicator *communicator)
{
    PyObject *error = communicator->error;
    communicator->error = NULL;
    if (error == NULL) {
        return false;
    }
    PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    Py_DECREF(error);
    return true;
}
