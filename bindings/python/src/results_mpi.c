#include "results_module.h"

/* A list of `count` tuples, each made by `make` from the i-th entry. */
static PyObject *list_of(const sp_mpi_summary *mpi, size_t count,
                         PyObject *(*make)(const sp_mpi_summary *mpi, size_t i))
{
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list != NULL && i < count; i++) {
        PyObject *entry = make(mpi, i);
        if (entry == NULL) {
            Py_CLEAR(list);
            break;
        }
        PyList_SET_ITEM(list, (Py_ssize_t)i, entry);
    }
    return list;
}

static PyObject *rank_entry(const sp_mpi_summary *mpi, size_t i)
{
    const sp_mpi_rank *rank = &mpi->ranks[i];
    return Py_BuildValue("IKLLL", rank->rank, (unsigned long long)rank->calls, (long long)rank->time_ns,
                         (long long)rank->imbalance_ns, (long long)rank->transfer_ns);
}

static PyObject *link_entry(const sp_mpi_summary *mpi, size_t i)
{
    const sp_mpi_link *link = &mpi->links[i];
    return Py_BuildValue("IIKK", link->from, link->to, (unsigned long long)link->messages,
                         (unsigned long long)link->bytes);
}

static PyObject *operation_entry(const sp_mpi_summary *mpi, size_t i)
{
    const sp_mpi_operation *operation = &mpi->operations[i];
    PyObject *name = PyUnicode_DecodeUTF8(operation->name, (Py_ssize_t)strlen(operation->name),
                                          "backslashreplace");
    PyObject *kind = PyUnicode_DecodeUTF8(operation->kind, (Py_ssize_t)strlen(operation->kind),
                                          "backslashreplace");
    if (name == NULL || kind == NULL) {
        Py_XDECREF(name);
        Py_XDECREF(kind);
        return NULL;
    }
    return Py_BuildValue("NNKKLLL", name, kind, (unsigned long long)operation->calls,
                         (unsigned long long)operation->bytes, (long long)operation->time_ns,
                         (long long)operation->imbalance_ns, (long long)operation->transfer_ns);
}

PyObject *run_mpi(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    run_object *run = (run_object *)self;
    sp_mpi_report *report = NULL;
    sp_error error = {0};
    PyThreadState *thread = results_enter(run);
    const int status = sp_mpi_report_create(run->results, &report, &error);
    results_leave(run, thread);
    if (status != SP_OK) {
        return results_raise(results_state_of(self), status, &error);
    }
    const sp_mpi_summary *mpi = sp_mpi_report_get(report);
    PyObject *ranks = list_of(mpi, mpi->num_ranks, rank_entry);
    PyObject *links = list_of(mpi, mpi->num_links, link_entry);
    PyObject *operations = list_of(mpi, mpi->num_operations, operation_entry);
    PyObject *answer = NULL;
    if (ranks != NULL && links != NULL && operations != NULL) {
        answer = PyTuple_Pack(3, ranks, links, operations);
    }
    Py_XDECREF(ranks);
    Py_XDECREF(links);
    Py_XDECREF(operations);
    sp_mpi_report_free(report);
    return answer;
}
