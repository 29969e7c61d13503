#include "tasks.h"

#include "steps.h"

/* A text of a task, which nothing depends on: trouble costs the text. New reference or NULL. */
static PyObject *text_of(PyObject *object, const char *attribute)
{
    PyObject *text = PyObject_GetAttrString(object, attribute);
    if (text != NULL && !PyUnicode_Check(text)) {
        Py_CLEAR(text);
    }
    PyErr_Clear();
    return text;
}

static const char *utf8(PyObject *text)
{
    const char *bytes = text == NULL ? NULL : PyUnicode_AsUTF8(text);
    PyErr_Clear();
    return bytes == NULL ? "" : bytes;
}

static bool make_row(followed_task *task, PyObject *coroutine)
{
    PyObject *name = text_of(coroutine, "__qualname__");
    bool is_made = sp_binding_task_create(task->profiler->recorder, &task->task, false, "",
                                          utf8(name), sp_now_ns());
    Py_XDECREF(name);
    return is_made;
}

followed_task *task_new(profiler_object *profiler, PyObject *coroutine)
{
    followed_task *task = PyMem_Calloc(1, sizeof *task);
    if (task == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    task->profiler = profiler;
    make_row(task, coroutine);
    return task;
}

void task_free(followed_task *task)
{
    if (task == NULL) {
        return;
    }
    if (!task->is_done) {
        task_end(task);
    }
    Py_XDECREF(task->reference);
    PyMem_Free(task);
}

/* Tells the recorder what the task is called, which the program may change. */
static void take_name(followed_task *task)
{
    if (task->reference == NULL) {
        return;
    }
    PyObject *object = PyObject_CallNoArgs(task->reference);
    PyObject *name = object == NULL || object == Py_None
                         ? NULL
                         : PyObject_CallMethod(object, "get_name", NULL);
    if (name != NULL && PyUnicode_Check(name)) {
        sp_binding_task_rename(task->profiler->recorder, &task->task, utf8(name));
        task->has_name = true;
    }
    Py_XDECREF(name);
    Py_XDECREF(object);
    PyErr_Clear();
}

static void take_name_beside_error(followed_task *task)
{
    PyObject *type = NULL;
    PyObject *value = NULL;
    PyObject *traceback = NULL;
    PyErr_Fetch(&type, &value, &traceback);
    take_name(task);
    PyErr_Restore(type, value, traceback);
}

int task_is(followed_task *task, PyObject *object)
{
    Py_XSETREF(task->reference, PyWeakref_NewRef(object, NULL));
    if (task->reference == NULL) {
        PyErr_Clear(); /* it keeps no name */
        return 0;
    }
    /* It may be named in a moment: asked again at its next step. */
    bool had_name = task->has_name;
    take_name(task);
    task->has_name = had_name;
    return 0;
}

void task_end(followed_task *task)
{
    sp_binding_task_finish(task->profiler->recorder, &task->task);
    task->is_done = true;
}

void task_step_begin(followed_task *task, PyObject *coroutine, sp_binding_step *step)
{
    bool is_known = sp_binding_task_is_known(task->profiler->recorder, &task->task);
    if (!is_known && task->profiler->tracks_tasks && task->profiler->is_enabled) {
        make_row(task, coroutine); /* it lives on into another configuration */
        task->has_name = false;
    }
    if (!task->has_name && task->reference != NULL) {
        take_name_beside_error(task);
    }
    sp_binding_task_enter(task->profiler->recorder, &task->task, step);
}

void task_step_end(followed_task *task, const sp_binding_step *step, bool is_last)
{
    sp_binding_task_leave(task->profiler->recorder, &task->task, step);
    if (is_last && !task->is_done) {
        take_name_beside_error(task);
        if (task->reference != NULL) { /* an eager one may end before it is named */
            task_end(task);
        }
    }
}

PyObject *tasks_follow(PyObject *self, PyObject *coroutine)
{
    profiler_object *profiler = (profiler_object *)self;
    if (!profiler->is_enabled || !profiler->tracks_tasks) {
        return Py_NewRef(coroutine);
    }
    return steps_follow(profiler, coroutine);
}

PyObject *tasks_where(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    int64_t thread;
    int64_t task;
    sp_binding_where(((profiler_object *)self)->recorder, &thread, &task);
    return Py_BuildValue("LL", (long long)thread, (long long)task);
}

PyObject *tasks_number(PyObject *self, PyObject *followed)
{
    profiler_object *profiler = (profiler_object *)self;
    const followed_task *task = steps_task(profiler, followed);
    int64_t number = task == NULL ? -1 : sp_binding_task_number(profiler->recorder, &task->task);
    return PyLong_FromLongLong(number);
}

/* ---- greenlets ------------------------------------------------------------------------------ */

static const char greenlet_key[] = "scope_profiler.greenlet";

static void drop_greenlet(PyObject *capsule)
{
    followed_task *task = PyCapsule_GetPointer(capsule, greenlet_key);
    if (task != NULL) {
        profiler_object *profiler = task->profiler;
        task_free(task);
        Py_DECREF(profiler);
    }
}

/* What greenlet->gr_dead says: 1, 0. */
static bool is_dead(PyObject *greenlet)
{
    PyObject *dead = PyObject_GetAttrString(greenlet, "dead");
    bool is_true = dead != NULL && PyObject_IsTrue(dead) == 1;
    Py_XDECREF(dead);
    PyErr_Clear();
    return is_true;
}

/* The main greenlet of a thread is the thread. */
static bool is_main(PyObject *greenlet)
{
    PyObject *parent = PyObject_GetAttrString(greenlet, "parent");
    bool is_root = parent == Py_None;
    Py_XDECREF(parent);
    PyErr_Clear();
    return is_root;
}

static PyObject *make_greenlet(profiler_object *profiler, PyObject *greenlet)
{
    followed_task *task = PyMem_Calloc(1, sizeof *task);
    if (task == NULL) {
        return PyErr_NoMemory();
    }
    char name[48];
    snprintf(name, sizeof name, "Greenlet-%zu", ++profiler->num_greenlets);
    PyObject *run = PyObject_GetAttrString(greenlet, "run");
    PyErr_Clear();
    PyObject *qualified = run != NULL ? text_of(run, "__qualname__") : NULL;
    task->profiler = (profiler_object *)Py_NewRef((PyObject *)profiler);
    sp_binding_task_create(profiler->recorder, &task->task, true, name, utf8(qualified),
                           sp_now_ns());
    Py_XDECREF(qualified);
    Py_XDECREF(run);
    PyObject *capsule = PyCapsule_New(task, greenlet_key, drop_greenlet);
    if (capsule == NULL) {
        task_free(task);
        Py_DECREF(profiler);
    }
    return capsule;
}

/* A look-up past the Python code of the weak dictionary: it keeps weak references in a plain one. New
 * reference or NULL. */
static PyObject *find_greenlet(PyObject *table, PyObject *greenlet)
{
    PyObject *data = PyObject_GetAttrString(table, "data");
    PyObject *key = data != NULL && PyDict_Check(data) ? PyWeakref_NewRef(greenlet, NULL) : NULL;
    PyObject *found = key == NULL ? NULL : PyDict_GetItemWithError(data, key);
    Py_XINCREF(found);
    Py_XDECREF(key);
    Py_XDECREF(data);
    PyErr_Clear();
    return found;
}

/* The task of a greenlet, NULL when it has none; made at the first switch to it, and held by the table
 * of the profiler as long as the greenlet lives. */
static followed_task *greenlet_task(profiler_object *profiler, PyObject *greenlet, bool make)
{
    PyObject *found = NULL;
    if (profiler->greenlets == NULL || is_main(greenlet)) {
        return NULL;
    }
    found = find_greenlet(profiler->greenlets, greenlet);
    if (found == NULL && make) {
        found = make_greenlet(profiler, greenlet);
        if (found != NULL && PyObject_SetItem(profiler->greenlets, greenlet, found) < 0) {
            Py_CLEAR(found);
        }
        PyErr_Clear();
    }
    followed_task *task = found == NULL ? NULL : PyCapsule_GetPointer(found, greenlet_key);
    Py_XDECREF(found); /* the table has it */
    return task;
}

PyObject *tasks_switched(PyObject *self, PyObject *const *args, Py_ssize_t nargs)
{
    profiler_object *profiler = (profiler_object *)self;
    if (nargs != 2 || !PyTuple_Check(args[1]) || PyTuple_GET_SIZE(args[1]) != 2) {
        return PyErr_Format(PyExc_TypeError, "greenlet_switched() takes an event and a pair");
    }
    if (!profiler->is_enabled) {
        Py_RETURN_NONE;
    }
    PyObject *type = NULL;
    PyObject *value = NULL;
    PyObject *traceback = NULL;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *origin = PyTuple_GET_ITEM(args[1], 0);
    followed_task *from = greenlet_task(profiler, origin, false);
    followed_task *to = greenlet_task(profiler, PyTuple_GET_ITEM(args[1], 1), true);
    sp_binding_task_switch(profiler->recorder, from == NULL ? NULL : &from->task,
                           to == NULL ? NULL : &to->task);
    if (from != NULL && !from->is_done && is_dead(origin)) {
        task_end(from);
    }
    PyErr_Restore(type, value, traceback);
    Py_RETURN_NONE;
}
