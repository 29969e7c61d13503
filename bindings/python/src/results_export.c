/* results_export.c - runs as files of other tools. */
#include "results_module.h"

#include <stdlib.h>
#include <string.h>

typedef int (*run_exporter)(sp_results *results, const sp_export_options *options, const char *path,
                            sp_error *error);
typedef int (*rank_exporter)(sp_results *results, const sp_export_options *options, uint32_t rank,
                             const char *path, sp_error *error);

static const struct {
    const char *kind;
    run_exporter of_run;
    rank_exporter of_rank;
} exporters[] = {
    {"chrome-trace", sp_export_chrome_trace, NULL}, {"speedscope", sp_export_speedscope, NULL},
    {"folded", sp_export_folded, NULL},             {"csv", sp_export_csv, NULL},
    {"json", sp_export_json, NULL},                 {"prof", NULL, sp_export_prof},
    {"flamegraph", NULL, sp_export_flamegraph},
};
#define NUM_EXPORTERS (sizeof exporters / sizeof *exporters)

/* What a call asks for, with what keeps its pointers alive. */
typedef struct export_request {
    sp_export_options options;
    text_list names;
    rank_list ranks;
    PyObject *path; /* bytes */
    unsigned int rank;
} export_request;

static void release_request(export_request *request)
{
    results_release_texts(&request->names);
    PyMem_Free(request->ranks.ranks);
    Py_CLEAR(request->path);
}

/* What is not there to export is a wrong choice, not a missing file. */
static PyObject *raise(PyObject *self, int status, const sp_error *error)
{
    return results_raise(results_state_of(self),
                         status == SP_ERR_NOT_FOUND ? SP_ERR_INVALID_ARGUMENT : status, error);
}

static int parse_selection(PyObject *names, PyObject *ranks, export_request *out)
{
    if (results_parse_texts(names, "names", &out->names) < 0 ||
        results_parse_ranks(ranks, &out->ranks) < 0) {
        return -1;
    }
    out->options.size = sizeof out->options;
    out->options.include_names = out->names.texts;
    out->options.num_include_names = out->names.count;
    out->options.ranks = out->ranks.ranks;
    out->options.num_ranks = out->ranks.count;
    return 0;
}

static int export_of(const char *kind)
{
    for (size_t i = 0; i < NUM_EXPORTERS; i++) {
        if (strcmp(exporters[i].kind, kind) == 0) {
            return (int)i;
        }
    }
    PyErr_Format(PyExc_ValueError, "there is no export '%s'", kind);
    return -1;
}

PyObject *run_export(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"kind",  "path",   "names",         "ranks",           "rank",
                               "label", "indent", "metadata_json", "more_json",       "width",
                               "threshold", "call_paths", "scalable", "statistics_only", NULL};
    run_object *run = (run_object *)self;
    export_request request = {.options = {.size = sizeof request.options}};
    PyObject *names = Py_None, *ranks = Py_None;
    const char *kind;
    int call_paths = 1, scalable = 1, statistics_only = 0;
    sp_export_options *options = &request.options;
    if (!PyArg_ParseTupleAndKeywords(
            args, kwargs, "sO&|OOIzizzddppp", keywords, &kind, PyUnicode_FSConverter, &request.path,
            &names, &ranks, &request.rank, &options->label, &options->indent,
            &options->metadata_json, &options->more_json, &options->width, &options->threshold,
            &call_paths, &scalable, &statistics_only)) {
        return NULL;
    }
    const int which = export_of(kind);
    if (which < 0 || parse_selection(names, ranks, &request) < 0) {
        release_request(&request);
        return NULL;
    }
    options->no_call_paths = !call_paths;
    options->fixed_width = !scalable;
    options->statistics_only = statistics_only;
    const char *path = PyBytes_AS_STRING(request.path);
    sp_error error = {0};
    PyThreadState *thread = results_enter(run);
    const int status = exporters[which].of_run != NULL
                           ? exporters[which].of_run(run->results, options, path, &error)
                           : exporters[which].of_rank(run->results, options, request.rank, path,
                                                      &error);
    results_leave(run, thread);
    release_request(&request);
    if (status != SP_OK) {
        return raise(self, status, &error);
    }
    Py_RETURN_NONE;
}

PyObject *run_extra_text(PyObject *self, PyObject *name)
{
    const sp_results *results = ((run_object *)self)->results;
    const char *wanted = PyUnicode_AsUTF8(name);
    if (wanted == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < sp_results_num_extras(results); i++) {
        const sp_extra *extra = sp_results_extra(results, i);
        if (extra->texts != NULL && extra->length == 1 && strcmp(extra->name, wanted) == 0) {
            return PyUnicode_FromString(extra->texts[0]);
        }
    }
    Py_RETURN_NONE;
}

PyObject *run_add_extra_text(PyObject *self, PyObject *args)
{
    run_object *run = (run_object *)self;
    sp_extra extra = {.length = 1};
    const char *text;
    unsigned int rank;
    if (!PyArg_ParseTuple(args, "sIs", &extra.name, &rank, &text)) {
        return NULL;
    }
    extra.rank = rank;
    extra.texts = &text;
    sp_error error = {0};
    results_lock(run);
    const int status = sp_results_add_extra(run->results, &extra, &error);
    results_unlock(run);
    if (status != SP_OK) {
        return raise(self, status, &error);
    }
    Py_RETURN_NONE;
}

PyObject *run_extra_texts(PyObject *self, PyObject *name)
{
    const sp_results *results = ((run_object *)self)->results;
    const char *wanted = PyUnicode_AsUTF8(name);
    PyObject *list = wanted != NULL ? PyList_New(0) : NULL;
    for (size_t i = 0; list != NULL && i < sp_results_num_extras(results); i++) {
        const sp_extra *extra = sp_results_extra(results, i);
        if (extra->texts == NULL || strcmp(extra->name, wanted) != 0) {
            continue;
        }
        for (size_t t = 0; list != NULL && t < extra->length; t++) {
            PyObject *text = PyUnicode_DecodeUTF8(extra->texts[t], (Py_ssize_t)strlen(extra->texts[t]),
                                                  "replace");
            if (text == NULL || PyList_Append(list, text) < 0) {
                Py_CLEAR(list);
            }
            Py_XDECREF(text);
        }
    }
    return list;
}

static PyObject *extra_value(const sp_extra *extra, size_t i)
{
    if (extra->integers != NULL) {
        return PyLong_FromLongLong(extra->integers[i]);
    }
    if (extra->reals != NULL) {
        return PyFloat_FromDouble(extra->reals[i]);
    }
    return PyUnicode_DecodeUTF8(extra->texts[i], (Py_ssize_t)strlen(extra->texts[i]), "replace");
}

static PyObject *extra_values(const sp_extra *extra)
{
    PyObject *list = PyList_New((Py_ssize_t)extra->length);
    for (size_t i = 0; list != NULL && i < extra->length; i++) {
        PyObject *value = extra_value(extra, i);
        if (value == NULL) {
            Py_CLEAR(list);
            break;
        }
        PyList_SET_ITEM(list, (Py_ssize_t)i, value);
    }
    return list;
}

PyObject *run_extra_arrays(PyObject *self, PyObject *name)
{
    const sp_results *results = ((run_object *)self)->results;
    const char *wanted = PyUnicode_AsUTF8(name);
    PyObject *list = wanted != NULL ? PyList_New(0) : NULL;
    for (size_t i = 0; list != NULL && i < sp_results_num_extras(results); i++) {
        const sp_extra *extra = sp_results_extra(results, i);
        if (strcmp(extra->name, wanted) != 0) {
            continue;
        }
        PyObject *values = extra_values(extra);
        PyObject *item = values != NULL ? Py_BuildValue("(IN)", extra->rank, values) : NULL;
        if (item == NULL || PyList_Append(list, item) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(item);
    }
    return list;
}

PyObject *run_prof_bytes(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"rank", "names", "label", "call_paths", NULL};
    run_object *run = (run_object *)self;
    export_request request = {.options = {.size = sizeof request.options}};
    PyObject *names = Py_None;
    int call_paths = 1;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "I|Ozp", keywords, &request.rank, &names,
                                     &request.options.label, &call_paths) ||
        parse_selection(names, Py_None, &request) < 0) {
        release_request(&request);
        return NULL;
    }
    request.options.no_call_paths = !call_paths;
    char *bytes = NULL;
    size_t count = 0;
    sp_error error = {0};
    PyThreadState *thread = results_enter(run);
    const int status = sp_export_prof_bytes(run->results, &request.options, request.rank, &bytes,
                                            &count, &error);
    results_leave(run, thread);
    release_request(&request);
    if (status != SP_OK) {
        return raise(self, status, &error);
    }
    PyObject *answer = PyBytes_FromStringAndSize(bytes, (Py_ssize_t)count);
    free(bytes);
    return answer;
}
