#include "steps.h"

#include "lines.h"
#include "recursion.h"
#include "tasks.h"
#include "trace.h"

#include <structmember.h>

typedef struct steps_object {
    PyObject_HEAD
    PyObject *inner;
    /* An awaitable of an asynchronous generator leaves the bookkeeping to that generator. */
    struct steps_object *parent;
    profiler_object *profiler; /* keeps the recorder alive */
    call_details details;
    followed_task *task; /* it runs a task: steps are told of, no region is recorded */
    bool is_whole;       /* in a task: its interval goes on while the task waits */
    bool is_waiting;     /* that is so now: its interval is open */
    bool is_resumption;  /* what the interval began as */
    PyObject *lines; /* what times the lines of its steps, NULL: nothing does */
    bool has_started;
    bool has_finished;
    PyObject *weak_references;
} steps_object;

static steps_object *book_of(steps_object *steps)
{
    return steps->parent != NULL ? steps->parent : steps;
}

/* ---- one step ------------------------------------------------------------------------------- */

typedef struct step_record {
    steps_object *book;
    recursion_level level;
    sp_binding_step task_step;
    bool is_recorded;
    bool traces;
} step_record;

/* How a step ends: the task waits, a generator has handed out a value, or there will be no other. */
typedef enum step_outcome { STEP_WAITS, STEP_YIELDS, STEP_LAST } step_outcome;

/* What a followed task awaits does not end where the task waits; its await time is known. A coroutine is
 * one call, an asynchronous generator one interval from each resumption to the next value. */
static bool can_be_whole(const steps_object *steps)
{
    return steps->profiler->tracks_tasks &&
           (PyCoro_CheckExact(steps->inner) || PyAsyncGen_CheckExact(steps->inner)) &&
           sp_binding_in_task(steps->details.recorder);
}

static void interval_begin(steps_object *book)
{
    const call_details *details = &book->details;
    book->is_whole = can_be_whole(book);
    book->is_resumption = book->has_started;
    book->has_started = true;
    if (book->is_resumption) {
        sp_binding_resume(details->recorder, details->id);
    } else {
        sp_binding_begin(details->recorder, details->id);
    }
}

/* The last interval of a call carries its metadata and outcome. */
static void interval_end(steps_object *book, step_outcome outcome, bool succeeded)
{
    call_details *details = &book->details;
    book->is_waiting = book->is_whole && outcome == STEP_WAITS;
    if (outcome == STEP_LAST) {
        book->has_finished = true;
        details_end(details, succeeded);
    } else if (book->is_waiting) {
        return;
    } else if (book->is_resumption) {
        sp_binding_end_resumed(details->recorder, details->id);
    } else {
        sp_binding_end(details->recorder, details->id);
    }
}

/* 0, or -1 with RecursionError set. What is finished already only answers; that is no step. */
static int step_begin(step_record *step, steps_object *steps)
{
    step->book = book_of(steps);
    step->is_recorded = !step->book->has_finished;
    step->traces = false;
    if (recursion_enter(&step->level) < 0) {
        return -1;
    }
    if (steps->task != NULL) {
        steps->has_started = true;
        task_step_begin(steps->task, steps->inner, &step->task_step);
        return 0;
    }
    if (step->is_recorded) {
        step->traces = step->book->details.traces && trace_enter(step->book->profiler);
        if (step->book->lines != NULL) {
            lines_enter(step->book->lines, false);
        }
        if (!step->book->is_waiting) {
            interval_begin(step->book);
        }
    }
    return 0;
}

static void step_end(step_record *step, step_outcome outcome, bool succeeded)
{
    if (step->book->task != NULL) {
        task_step_end(step->book->task, &step->task_step, outcome == STEP_LAST);
        step->book->has_finished |= outcome == STEP_LAST;
    } else if (step->is_recorded) {
        interval_end(step->book, outcome, succeeded);
        if (step->book->lines != NULL) {
            lines_leave(step->book->lines);
        }
    }
    if (step->traces) {
        trace_leave(step->book->profiler);
    }
    recursion_leave(&step->level);
}

/* After a step that left an exception: did the call end, and as it should? */
static void step_end_after_error(step_record *step, steps_object *steps)
{
    if (steps->parent == NULL) {
        bool stopped = PyErr_ExceptionMatches(PyExc_StopIteration) ||
                       PyErr_ExceptionMatches(PyExc_GeneratorExit);
        step_end(step, STEP_LAST, stopped);
        return;
    }
    /* StopIteration carries a value that the asynchronous generator yielded. */
    if (PyErr_ExceptionMatches(PyExc_StopIteration)) {
        step_end(step, STEP_YIELDS, true);
        return;
    }
    step_end(step, STEP_LAST, PyErr_ExceptionMatches(PyExc_StopAsyncIteration) ||
                                  PyErr_ExceptionMatches(PyExc_GeneratorExit));
}

/* StopIteration(value), also for values that the exception machinery would take apart. */
static void raise_stop(PyObject *value)
{
    if (value == Py_None) {
        PyErr_SetNone(PyExc_StopIteration);
        return;
    }
    PyObject *stop = PyObject_CallOneArg(PyExc_StopIteration, value);
    if (stop != NULL) {
        PyErr_SetObject(PyExc_StopIteration, stop);
        Py_DECREF(stop);
    }
}

static PySendResult steps_am_send(PyObject *self, PyObject *value, PyObject **out_result)
{
    steps_object *steps = (steps_object *)self;
    step_record step;
    *out_result = NULL;
    if (step_begin(&step, steps) < 0) {
        return PYGEN_ERROR;
    }
    PySendResult outcome = PyIter_Send(steps->inner, value, out_result);
    if (outcome == PYGEN_ERROR) {
        step_end_after_error(&step, steps);
    } else if (outcome == PYGEN_NEXT) {
        step_end(&step, STEP_WAITS, true);
    } else {
        /* What an awaitable of an asynchronous generator returns is the next value. */
        step_end(&step, steps->parent == NULL ? STEP_LAST : STEP_YIELDS, true);
    }
    return outcome;
}

static PyObject *finish_send(PySendResult outcome, PyObject *result)
{
    if (outcome == PYGEN_RETURN) {
        raise_stop(result);
        Py_CLEAR(result);
    }
    return result;
}

static PyObject *steps_iternext(PyObject *self)
{
    PyObject *result = NULL;
    PySendResult outcome = steps_am_send(self, Py_None, &result);
    return finish_send(outcome, result);
}

static PyObject *steps_send(PyObject *self, PyObject *value)
{
    PyObject *result = NULL;
    PySendResult outcome = steps_am_send(self, value, &result);
    return finish_send(outcome, result);
}

static step_outcome outcome_of_forward(const steps_object *steps, const char *name)
{
    if (strcmp(name, "close") != 0) {
        return STEP_WAITS;
    }
    return steps->parent == NULL ? STEP_LAST : STEP_YIELDS;
}

/* throw and close before the first step run nothing of the body. */
static PyObject *forward(steps_object *steps, const char *name, PyObject *const *args,
                         Py_ssize_t nargs)
{
    PyObject *method = PyObject_GetAttrString(steps->inner, name);
    if (method == NULL) {
        return NULL;
    }
    step_record step;
    PyObject *result = NULL;
    if (!book_of(steps)->has_started) {
        result = PyObject_Vectorcall(method, args, (size_t)nargs, NULL);
    } else if (step_begin(&step, steps) == 0) {
        result = PyObject_Vectorcall(method, args, (size_t)nargs, NULL);
        if (result == NULL) {
            step_end_after_error(&step, steps);
        } else {
            step_end(&step, outcome_of_forward(steps, name), true);
        }
    }
    Py_DECREF(method);
    return result;
}

static PyObject *steps_throw(PyObject *self, PyObject *const *args, Py_ssize_t nargs)
{
    return forward((steps_object *)self, "throw", args, nargs);
}

static PyObject *steps_close(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    return forward((steps_object *)self, "close", NULL, 0);
}

static PyObject *steps_self(PyObject *self)
{
    return Py_NewRef(self);
}

static PyObject *steps_await_method(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    return Py_NewRef(self);
}

/* ---- life ----------------------------------------------------------------------------------- */

static PyObject *make(PyTypeObject *type, profiler_object *profiler, PyObject *inner)
{
    steps_object *steps = (steps_object *)type->tp_alloc(type, 0);
    if (steps == NULL) {
        Py_DECREF(inner);
        return NULL;
    }
    steps->inner = inner;
    steps->profiler = (profiler_object *)Py_NewRef((PyObject *)profiler);
    return (PyObject *)steps;
}

/* NULL for what is no generator or coroutine. A function decorated twice makes one of ours. */
static PyTypeObject *type_for(const decorated_object *decorated, PyObject *inner)
{
    const recorder_state *state = decorated->profiler->state;
    PyTypeObject *type = Py_TYPE(inner);
    if (PyGen_CheckExact(inner)) {
        return decorated->kind == CALL_AWAITABLE ? state->awaitable_type : state->generator_type;
    }
    if (PyCoro_CheckExact(inner)) {
        return state->coroutine_type;
    }
    if (PyAsyncGen_CheckExact(inner)) {
        return state->async_generator_type;
    }
    bool is_ours = type == state->generator_type || type == state->coroutine_type ||
                   type == state->async_generator_type || type == state->awaitable_type;
    return is_ours ? type : NULL;
}

PyObject *steps_new(decorated_object *decorated, PyObject *inner, call_details *details)
{
    PyTypeObject *type = type_for(decorated, inner);
    if (type == NULL) {
        details_drop(details);
        return inner;
    }
    PyObject *steps = make(type, decorated->profiler, inner);
    if (steps == NULL) {
        details_drop(details);
        return NULL;
    }
    ((steps_object *)steps)->details = *details;
    ((steps_object *)steps)->lines = Py_XNewRef(decorated->lines);
    return steps;
}

PyObject *steps_follow(profiler_object *profiler, PyObject *coroutine)
{
    const recorder_state *state = profiler->state;
    PyTypeObject *type = Py_TYPE(coroutine);
    bool is_task = type == state->task_type;
    bool is_followed = is_task && ((steps_object *)coroutine)->profiler == profiler;
    if (is_followed ||
        !(is_task || PyCoro_CheckExact(coroutine) || type == state->coroutine_type)) {
        return Py_NewRef(coroutine);
    }
    steps_object *steps =
        (steps_object *)make(state->task_type, profiler, Py_NewRef(coroutine));
    if (steps != NULL) {
        steps->task = task_new(profiler, coroutine);
        if (steps->task == NULL) {
            Py_CLEAR(steps);
        }
    }
    return (PyObject *)steps;
}

const followed_task *steps_task(const profiler_object *profiler, PyObject *followed)
{
    for (PyObject *at = followed; Py_TYPE(at) == profiler->state->task_type;
         at = ((steps_object *)at)->inner) {
        if (((steps_object *)at)->profiler == profiler) {
            return ((steps_object *)at)->task;
        }
    }
    return NULL;
}

PyObject *steps_task_is(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    const recorder_state *state = PyModule_GetState(module);
    if (nargs != 2) {
        return PyErr_Format(PyExc_TypeError, "task_is() takes a coroutine and its task");
    }
    /* Several profilers may follow one task, each inside the other. */
    for (PyObject *at = args[0]; Py_TYPE(at) == state->task_type;
         at = ((steps_object *)at)->inner) {
        steps_object *steps = (steps_object *)at;
        task_is(steps->task, args[1]);
        if (steps->has_finished) {
            task_end(steps->task);
        }
    }
    Py_RETURN_NONE;
}

static int steps_traverse(PyObject *self, visitproc visit, void *arg)
{
    steps_object *steps = (steps_object *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(steps->inner);
    Py_VISIT(steps->parent);
    Py_VISIT(steps->lines);
    Py_VISIT(steps->profiler);
    return 0;
}

static int steps_clear(PyObject *self)
{
    Py_SETREF(((steps_object *)self)->inner, Py_NewRef(Py_None));
    return 0;
}

static void steps_dealloc(PyObject *self)
{
    steps_object *steps = (steps_object *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (steps->weak_references != NULL) {
        PyObject_ClearWeakRefs(self);
    }
    Py_CLEAR(steps->inner);
    Py_CLEAR(steps->parent);
    task_free(steps->task);
    Py_CLEAR(steps->lines);
    details_drop(&steps->details);
    Py_CLEAR(steps->profiler);
    type->tp_free(self);
    Py_DECREF(type);
}

/* ---- asynchronous generators ---------------------------------------------------------------- */

/* Wraps one awaitable of the generator: its steps are steps of the generator. */
static PyObject *awaitable_of(steps_object *steps, PyObject *inner)
{
    if (inner == NULL) {
        return NULL;
    }
    PyObject *awaitable = make(steps->profiler->state->awaitable_type, steps->profiler, inner);
    if (awaitable != NULL) {
        ((steps_object *)awaitable)->parent = (steps_object *)Py_NewRef((PyObject *)steps);
    }
    return awaitable;
}

static PyObject *async_next(PyObject *self)
{
    steps_object *steps = (steps_object *)self;
    return awaitable_of(steps, PyObject_CallMethod(steps->inner, "__anext__", NULL));
}

static PyObject *async_send(PyObject *self, PyObject *value)
{
    steps_object *steps = (steps_object *)self;
    return awaitable_of(steps, PyObject_CallMethod(steps->inner, "asend", "O", value));
}

static PyObject *async_throw(PyObject *self, PyObject *args)
{
    steps_object *steps = (steps_object *)self;
    PyObject *method = PyObject_GetAttrString(steps->inner, "athrow");
    if (method == NULL) {
        return NULL;
    }
    PyObject *inner = PyObject_CallObject(method, args);
    Py_DECREF(method);
    return awaitable_of(steps, inner);
}

static PyObject *async_close(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    steps_object *steps = (steps_object *)self;
    PyObject *inner = PyObject_CallMethod(steps->inner, "aclose", NULL);
    return steps->has_started ? awaitable_of(steps, inner) : inner;
}

/* ---- standing in for the inner object ------------------------------------------------------- */

static PyObject *steps_getattro(PyObject *self, PyObject *name)
{
    PyObject *value = PyObject_GenericGetAttr(self, name);
    if (value == NULL && PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear();
        value = PyObject_GetAttr(((steps_object *)self)->inner, name);
    }
    return value;
}

static int steps_setattro(PyObject *self, PyObject *name, PyObject *value)
{
    return PyObject_SetAttr(((steps_object *)self)->inner, name, value);
}

static PyObject *steps_class(PyObject *self, void *closure)
{
    (void)closure;
    return Py_NewRef((PyObject *)Py_TYPE(((steps_object *)self)->inner));
}

static PyObject *steps_repr(PyObject *self)
{
    return PyUnicode_FromFormat("<profiled %R>", ((steps_object *)self)->inner);
}

static PyMemberDef steps_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(steps_object, weak_references), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef steps_getset[] = {
    {"__class__", steps_class, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

#define STEP_METHODS                                                                               \
    {"send", steps_send, METH_O, "send($self, value, /)\n--\n\nAs send of the inner object."},     \
        {"throw", (PyCFunction)(void (*)(void))steps_throw, METH_FASTCALL,                         \
         "throw($self, type, value=None, traceback=None, /)\n--\n\nAs throw of the inner object."}, \
        {"close", steps_close, METH_NOARGS, "close($self, /)\n--\n\nAs close of the inner object."}

static PyMethodDef generator_methods[] = {
    STEP_METHODS,
    {NULL, NULL, 0, NULL},
};

static PyMethodDef coroutine_methods[] = {
    STEP_METHODS,
    {"__await__", steps_await_method, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyMethodDef async_generator_methods[] = {
    {"asend", async_send, METH_O, "asend($self, value, /)\n--\n\nAs asend of the inner object."},
    {"athrow", async_throw, METH_VARARGS,
     "athrow($self, type, value=None, traceback=None, /)\n--\n\nAs athrow of the inner object."},
    {"aclose", async_close, METH_NOARGS, "aclose($self, /)\n--\n\nAs aclose of the inner object."},
    {NULL, NULL, 0, NULL},
};

#define COMMON_SLOTS                                                                               \
    {Py_tp_traverse, steps_traverse}, {Py_tp_clear, steps_clear}, {Py_tp_dealloc, steps_dealloc},  \
        {Py_tp_getattro, steps_getattro}, {Py_tp_setattro, steps_setattro},                        \
        {Py_tp_repr, steps_repr}, {Py_tp_members, steps_members}, {Py_tp_getset, steps_getset}

static PyType_Slot generator_slots[] = {
    COMMON_SLOTS,
    {Py_tp_methods, generator_methods},
    {Py_tp_iter, steps_self},
    {Py_tp_iternext, steps_iternext},
    {Py_am_send, steps_am_send},
    {0, NULL},
};

static PyType_Slot coroutine_slots[] = {
    COMMON_SLOTS,
    {Py_tp_methods, coroutine_methods},
    {Py_tp_iternext, steps_iternext},
    {Py_am_await, steps_self},
    {Py_am_send, steps_am_send},
    {0, NULL},
};

static PyType_Slot awaitable_slots[] = {
    COMMON_SLOTS,
    {Py_tp_methods, coroutine_methods},
    {Py_tp_iter, steps_self},
    {Py_tp_iternext, steps_iternext},
    {Py_am_await, steps_self},
    {Py_am_send, steps_am_send},
    {0, NULL},
};

static PyType_Slot async_generator_slots[] = {
    COMMON_SLOTS,
    {Py_tp_methods, async_generator_methods},
    {Py_am_aiter, steps_self},
    {Py_am_anext, async_next},
    {0, NULL},
};

/* Equal to what it stands for: programs compare task.get_coro() with the coroutine they gave. */
static PyObject *task_compare(PyObject *self, PyObject *other, int operation)
{
    PyObject *inner = ((steps_object *)self)->inner;
    bool is_same = other == self || other == inner;
    if (operation != Py_EQ && operation != Py_NE) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    return PyBool_FromLong(is_same == (operation == Py_EQ));
}

static Py_hash_t task_hash(PyObject *self)
{
    return PyObject_Hash(((steps_object *)self)->inner);
}

static PyObject *task_repr(PyObject *self)
{
    return PyObject_Repr(((steps_object *)self)->inner);
}

static PyType_Slot task_slots[] = {
    {Py_tp_traverse, steps_traverse},
    {Py_tp_clear, steps_clear},
    {Py_tp_dealloc, steps_dealloc},
    {Py_tp_getattro, steps_getattro},
    {Py_tp_setattro, steps_setattro},
    {Py_tp_repr, task_repr},
    {Py_tp_hash, task_hash},
    {Py_tp_richcompare, task_compare},
    {Py_tp_members, steps_members},
    {Py_tp_getset, steps_getset},
    {Py_tp_methods, coroutine_methods},
    {Py_tp_iternext, steps_iternext},
    {Py_am_await, steps_self},
    {Py_am_send, steps_am_send},
    {0, NULL},
};

static PyTypeObject *make_type(PyObject *module, const char *name, PyType_Slot *slots)
{
    PyType_Spec spec = {
        .name = name,
        .basicsize = sizeof(steps_object),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
        .slots = slots,
    };
    return (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
}

int steps_init(PyObject *module, recorder_state *state)
{
    state->generator_type =
        make_type(module, "scope_profiler._recorder.ProfiledGenerator", generator_slots);
    state->coroutine_type =
        make_type(module, "scope_profiler._recorder.ProfiledCoroutine", coroutine_slots);
    state->async_generator_type =
        make_type(module, "scope_profiler._recorder.ProfiledAsyncGenerator", async_generator_slots);
    state->awaitable_type =
        make_type(module, "scope_profiler._recorder.ProfiledAwaitable", awaitable_slots);
    state->task_type =
        make_type(module, "scope_profiler._recorder.FollowedCoroutine", task_slots);
    return state->task_type != NULL && state->generator_type != NULL && state->coroutine_type != NULL &&
                   state->async_generator_type != NULL && state->awaitable_type != NULL
               ? 0
               : -1;
}
