/* floor - what the Python rows are compared with: a conventional C context manager that does
 * nothing, a wrapper of a function that does nothing but call it, and two bare tick reads. */
#include <Python.h>

#include <stddef.h>
#include <structmember.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#define TICK() __rdtsc()
#else
static inline unsigned long long TICK(void)
{
    unsigned long long t;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
    return t;
}
#endif

static PyObject *empty_enter(PyObject *self, PyObject *unused)
{
    (void)unused;
    return Py_NewRef(self);
}

static PyObject *empty_exit(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    (void)self;
    (void)args;
    (void)count;
    Py_RETURN_FALSE;
}

static PyMethodDef empty_methods[] = {
    {"__enter__", empty_enter, METH_NOARGS, NULL},
    {"__exit__", (PyCFunction)(void (*)(void))empty_exit, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot empty_slots[] = {
    {Py_tp_methods, empty_methods},
    {Py_tp_new, PyType_GenericNew},
    {0, NULL},
};

static PyType_Spec empty_spec = {
    .name = "floor.Empty", .basicsize = sizeof(PyObject), .flags = Py_TPFLAGS_DEFAULT,
    .slots = empty_slots};

typedef struct wrapper {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *target;
    vectorcallfunc target_call;
} wrapper;

static PyObject *wrapper_vectorcall(PyObject *self, PyObject *const *args, size_t nargsf,
                                    PyObject *kwnames)
{
    wrapper *around = (wrapper *)self;
    return around->target_call(around->target, args, nargsf, kwnames);
}

static PyObject *wrapper_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)kwargs;
    PyObject *target = NULL;
    if (!PyArg_ParseTuple(args, "O!", &PyFunction_Type, &target))
        return NULL;
    wrapper *around = (wrapper *)type->tp_alloc(type, 0);
    if (around != NULL) {
        around->vectorcall = wrapper_vectorcall;
        around->target = Py_NewRef(target);
        around->target_call = PyVectorcall_Function(target);
    }
    return (PyObject *)around;
}

static void wrapper_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    Py_DECREF(((wrapper *)self)->target);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyMemberDef wrapper_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(wrapper, vectorcall), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot wrapper_slots[] = {
    {Py_tp_new, wrapper_new},
    {Py_tp_dealloc, wrapper_dealloc},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_members, wrapper_members},
    {0, NULL},
};

static PyType_Spec wrapper_spec = {
    .name = "floor.Wrapper", .basicsize = sizeof(wrapper),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL, .slots = wrapper_slots};

/* Nanoseconds of two tick reads, over a million of them. */
static PyObject *two_ticks(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    enum { PAIRS = 1000000 };
    struct timespec a, b;
    volatile unsigned long long sink;
    unsigned long long sum = 0;
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (int i = 0; i < PAIRS; i++) {
        unsigned long long first = TICK();
        unsigned long long second = TICK();
        sum += second - first;
    }
    clock_gettime(CLOCK_MONOTONIC, &b);
    sink = sum;
    (void)sink;
    double ns = (double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec);
    return PyFloat_FromDouble(ns / PAIRS);
}

static int add_type(PyObject *module, const char *name, PyType_Spec *spec)
{
    PyObject *type = PyType_FromSpec(spec);
    if (type == NULL)
        return -1;
    int failed = PyModule_AddObjectRef(module, name, type);
    Py_DECREF(type);
    return failed;
}

static int floor_exec(PyObject *module)
{
    return add_type(module, "Empty", &empty_spec) < 0 ? -1
                                                      : add_type(module, "Wrapper", &wrapper_spec);
}

static PyMethodDef floor_functions[] = {
    {"two_ticks", two_ticks, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot floor_slots[] = {
    {Py_mod_exec, (void *)floor_exec},
    {0, NULL},
};

static struct PyModuleDef floor_module = {
    PyModuleDef_HEAD_INIT, .m_name = "floor", .m_methods = floor_functions,
    .m_slots = floor_slots};

PyMODINIT_FUNC PyInit_floor(void);
PyMODINIT_FUNC PyInit_floor(void)
{
    return PyModuleDef_Init(&floor_module);
}
