#include "recorder_module.h"

#include "decorated.h"
#include "device_driver.h"
#include "instruments.h"
#include "lookup.h"
#include "profiler.h"
#include "region.h"
#include "region_method.h"
#include "settings.h"
#include "steps.h"
#include "thread_names.h"
#include "trace.h"

#include <dlfcn.h>

/* Unlike the exceptions of reading, these need no classes of our own. */
PyObject *recorder_raise(int status, const sp_error *error)
{
    const char *text =
        error != NULL && error->text[0] != '\0' ? error->text : sp_error_string(status);
    PyObject *type = PyExc_RuntimeError;
    switch (status) {
    case SP_ERR_NO_MEMORY: return PyErr_NoMemory();
    case SP_ERR_IO:
    case SP_ERR_NO_MODULE: type = PyExc_OSError; break;
    case SP_ERR_INVALID_ARGUMENT:
    case SP_ERR_UNSUPPORTED: type = PyExc_ValueError; break;
    default: break;
    }
    /* It may hold bytes of a path that are no text, or end within a character. */
    PyObject *message = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "backslashreplace");
    PyObject *arguments = message;
    if (message != NULL && type == PyExc_OSError && error != NULL && error->system_errno != 0) {
        arguments = Py_BuildValue("(iN)", error->system_errno, message);
    }
    if (arguments != NULL) {
        PyErr_SetObject(type, arguments);
        Py_DECREF(arguments);
    }
    return NULL;
}

recorder_state *recorder_state_of(PyTypeObject *type)
{
    return PyType_GetModuleState(type);
}

static PyObject *module_now_ns(PyObject *module, PyObject *ignored)
{
    (void)module;
    (void)ignored;
    return PyLong_FromLongLong(sp_now_ns());
}

static PyObject *module_profilers(PyObject *module, PyObject *ignored)
{
    (void)ignored;
    recorder_state *state = PyModule_GetState(module);
    PyObject *list = PyList_New(0);
    for (profiler_object *p = state->profilers; list != NULL && p != NULL; p = p->next) {
        if (PyList_Append(list, (PyObject *)p) < 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}

/* Asks an OpenMP runtime that is loaded already; 0 when there is none. */
static PyObject *module_omp_max_threads(PyObject *module, PyObject *ignored)
{
    (void)module;
    (void)ignored;
    static const char *const libraries[] = {"libgomp.so.1", "libomp.so", "libomp.so.5",
                                            "libiomp5.so"};
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++) {
        void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
        if (library == NULL) {
            continue;
        }
        int (*max_threads)(void) = NULL;
        *(void **)&max_threads = dlsym(library, "omp_get_max_threads");
        int count = max_threads != NULL ? max_threads() : 0;
        dlclose(library);
        if (count > 0) {
            return PyLong_FromLong(count);
        }
    }
    return PyLong_FromLong(0);
}

/* For the regions of native code. */
static PyObject *module_register_opt_in_tag(PyObject *module, PyObject *tag)
{
    (void)module;
    const char *text = PyUnicode_AsUTF8(tag);
    if (text == NULL) {
        return NULL;
    }
    int status = sp_register_opt_in_tag(text);
    if (status == SP_ERR_NO_MEMORY) {
        return PyErr_NoMemory();
    }
    Py_RETURN_NONE;
}

static PyMethodDef module_methods[] = {
    {"now_ns", module_now_ns, METH_NOARGS,
     "now_ns()\n--\n\nMonotonic time in ns, read past any replaced time function."},
    {"register_opt_in_tag", module_register_opt_in_tag, METH_O,
     "register_opt_in_tag(tag, /)\n--\n\nSwitches native regions with the tag off unless enabled."},
    {"profilers", module_profilers, METH_NOARGS, "profilers()\n--\n\nAll profilers alive."},
    {"omp_max_threads", module_omp_max_threads, METH_NOARGS,
     "omp_max_threads()\n--\n\nThreads of the OpenMP runtime loaded here, 0 without one."},
    {"open_instrument", (PyCFunction)(void (*)(void))instrument_open, METH_VARARGS | METH_KEYWORDS,
     OPEN_INSTRUMENT_DOC},
    {"task_is", (PyCFunction)(void (*)(void))steps_task_is, METH_FASTCALL,
     "task_is(coroutine, task, /)\n--\n\nSays which task runs what Profiler.follow() gave."},
    {"device_instrument", device_instrument, METH_VARARGS, DEVICE_INSTRUMENT_DOC},
    {"settings", settings_rows, METH_NOARGS, SETTINGS_DOC},
    {"combinations", settings_combinations, METH_NOARGS, COMBINATIONS_DOC},
    {"check_settings", settings_check, METH_O, CHECK_SETTINGS_DOC},
    {"unknown_settings", settings_unknown, METH_VARARGS, UNKNOWN_SETTINGS_DOC},
    {NULL, NULL, 0, NULL},
};

/* The extension and the library go together; and there is one recorder in a process. */
static int check_library(void)
{
    if (strcmp(sp_version(), SP_VERSION) != 0) {
        PyErr_Format(PyExc_ImportError,
                     "scope_profiler %s found version %s of libscope_profiler.so.1 in this process; "
                     "install one version for Python and for native code, or import scope_profiler "
                     "first",
                     SP_VERSION, sp_version());
        return -1;
    }
    const char *refusal = sp_binding_refusal();
    if (refusal != NULL) {
        PyErr_Format(PyExc_ImportError, "scope_profiler: %s", refusal);
        return -1;
    }
    return 0;
}

static int module_exec(PyObject *module)
{
    recorder_state *state = PyModule_GetState(module);
    if (check_library() < 0) {
        return -1;
    }
    sp_binding_on_new_thread(name_new_thread);
    if (PyModule_AddStringConstant(module, "version", SP_VERSION) < 0) {
        return -1;
    }
    return region_method_init(state) < 0 || region_init(module, state) < 0 ||
                   decorated_init(module, state) < 0 || steps_init(module, state) < 0 ||
                   profiler_init(module, state) < 0 || lookup_init(module, state) < 0 ||
                   trace_init(module, state) < 0
               ? -1
               : 0;
}

/* Every type of the state, in one place for traverse and clear. */
#define STATE_TYPES(X)                                                                             \
    X(profiler_type)                                                                               \
    X(lookup_type)                                                                                 \
    X(region_method_type)                                                                          \
    X(region_type)                                                                                 \
    X(disabled_region_type)                                                                        \
    X(time_only_region_type)                                                                       \
    X(aggregate_region_type)                                                                       \
    X(threaded_region_type)                                                                        \
    X(function_type)                                                                               \
    X(callable_type)                                                                               \
    X(generator_type)                                                                              \
    X(coroutine_type)                                                                              \
    X(async_generator_type)                                                                        \
    X(task_type)                                                                                   \
    X(awaitable_type)                                                                              \
    X(line_region_type)                                                                            \
    X(full_region_type)                                                                            \
    X(perf_region_type)                                                                            \
    X(device_region_type)                                                                          \
    X(device_ranges_region_type)                                                                   \
    X(ranges_region_type)                                                                          \
    X(trace_callback_type)

static int module_traverse(PyObject *module, visitproc visit, void *arg)
{
    recorder_state *state = PyModule_GetState(module);
#define VISIT_TYPE(field) Py_VISIT(state->field);
    STATE_TYPES(VISIT_TYPE)
#undef VISIT_TYPE
    return 0;
}

static int module_clear(PyObject *module)
{
    recorder_state *state = PyModule_GetState(module);
    trace_release(state);
#define CLEAR_TYPE(field) Py_CLEAR(state->field);
    STATE_TYPES(CLEAR_TYPE)
#undef CLEAR_TYPE
    return 0;
}

static void module_free(void *module)
{
    module_clear(module);
}

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, module_exec},
    {0, NULL},
};

static PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_recorder",
    .m_doc = "Regions, decorated functions and the profilers behind the managers.",
    .m_size = sizeof(recorder_state),
    .m_methods = module_methods,
    .m_slots = module_slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
    .m_free = module_free,
};

PyMODINIT_FUNC PyInit__recorder(void);

PyMODINIT_FUNC PyInit__recorder(void)
{
    return PyModuleDef_Init(&module_definition);
}
