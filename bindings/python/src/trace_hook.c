/* The mechanism of CPython 3.10 and 3.11: the frame evaluation hook. It is called for every frame of
 * Python code in place of the interpreter's evaluator, which it calls through, or another hook that
 * it found in place.
 *
 * A hook makes each Python call use the C stack. So that recursion may go as deep as without it, the
 * last three quarters of a stack are left alone: a call that arrives there puts the evaluator back for
 * as long as it lasts, and what is called inside it is heard of through the profile function, on all
 * threads. */
#include "trace_mechanism.h"
#include "trace_profile.h"
#include "trace_thread.h"

#include <frameobject.h>
#include <pthread.h>

#if PY_VERSION_HEX >= 0x030b0000
typedef struct _PyInterpreterFrame hook_frame;

/* The public headers keep the layout of a frame of 3.11 to themselves; it does not change within
 * 3.11. */
enum { WORD_GLOBALS = 1, WORD_CODE = 4, WORD_PREVIOUS_INSTRUCTION = 7 };

static inline void *word_of(const hook_frame *frame, int word)
{
    return ((void *const *)(const void *)frame)[word];
}

static inline PyCodeObject *code_of(const hook_frame *frame)
{
    return word_of(frame, WORD_CODE);
}

static inline PyObject *globals_of(const hook_frame *frame)
{
    return word_of(frame, WORD_GLOBALS);
}

/* Offset in bytes of the instruction that ran last; negative: none has. */
static inline ptrdiff_t last_instruction(const hook_frame *frame)
{
    return (char *)word_of(frame, WORD_PREVIOUS_INSTRUCTION) - code_of(frame)->co_code_adaptive;
}

/* The call of a generator function that only makes the generator. */
static inline bool is_creation(const hook_frame *frame, const trace_code *known)
{
    return trace_code_resumes(known) && last_instruction(frame) < 0;
}

static inline bool is_resumption(const hook_frame *frame, const trace_code *known)
{
    return trace_code_resumes(known) && last_instruction(frame) > known->body;
}

#else
typedef PyFrameObject hook_frame;

static inline PyCodeObject *code_of(const hook_frame *frame)
{
    return frame->f_code;
}

static inline PyObject *globals_of(const hook_frame *frame)
{
    return frame->f_globals;
}

static inline bool is_creation(const hook_frame *frame, const trace_code *known)
{
    (void)frame;
    (void)known;
    return false;
}

static inline bool is_resumption(const hook_frame *frame, const trace_code *known)
{
    return trace_code_resumes(known) && frame->f_lasti >= 0;
}
#endif

/* The hook is a plain function: it finds its session by the interpreter. Under the GIL, which all
 * interpreters of these versions share. */
static trace_session *hooked;
static bool was_reached;

/* Addresses below are left to others; the highest there is until the stack is known. */
static __thread uintptr_t shallow_until __attribute__((tls_model("initial-exec"))) = UINTPTR_MAX;

static PyObject *evaluate(PyThreadState *thread, hook_frame *frame, int throwflag);

static inline trace_session *session_of(const PyThreadState *thread)
{
    trace_session *session = hooked;
    while (session != NULL && session->interpreter != thread->interp) {
        session = session->next_hooked;
    }
    return session;
}

/* ---- the C stack ---------------------------------------------------------------------------- */

static void find_stack(void)
{
    shallow_until = 0;
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) {
        return;
    }
    void *base = NULL;
    size_t size = 0;
    if (pthread_attr_getstack(&attributes, &base, &size) == 0) {
        shallow_until = (uintptr_t)base + size - size / 4;
    }
    pthread_attr_destroy(&attributes);
}

static inline bool is_deep(void)
{
    return __builtin_expect((uintptr_t)__builtin_frame_address(0) < shallow_until, 0);
}

static bool is_deep_indeed(void)
{
    if (shallow_until == UINTPTR_MAX) {
        find_stack();
    }
    return is_deep();
}

static void leave_deep(trace_session *session)
{
    session->deep_calls--;
    if (session->deep_calls > 0 || session_of(PyThreadState_Get()) != session ||
        session->is_displaced) {
        return;
    }
    if (!session->limits.c_calls) {
        trace_profile_remove(session);
    }
    if (_PyInterpreterState_GetEvalFrameFunc(session->interpreter) == session->evaluate_next) {
        _PyInterpreterState_SetEvalFrameFunc(session->interpreter, evaluate);
    }
}

/* The profile function hears of this very call, too. */
static __attribute__((noinline)) PyObject *
evaluate_deep(trace_session *session, PyThreadState *thread, hook_frame *frame, int throwflag)
{
    session->running++;
    if (session->deep_calls++ == 0) {
        _PyInterpreterState_SetEvalFrameFunc(session->interpreter, session->evaluate_next);
        trace_profile_install(session);
    }
    PyObject *result = session->evaluate_next(thread, frame, throwflag);
    leave_deep(session);
    session->running--;
    return result;
}

/* ---- the hook ------------------------------------------------------------------------------- */

/* Before a call begins that is recorded. Where the profile function has been taken away, the C call
 * that did it is over without our having heard. */
static void settle_c_calls(trace_session *session, PyThreadState *thread)
{
    trace_thread *own = trace_thread_get();
    if (own == NULL) {
        return;
    }
    if (own->hearing_for != session) {
        own->hearing_for = session;
        trace_profile_hear(session, thread);
    } else if (!trace_profile_hears(thread)) {
        trace_thread_end_above(own, own->inner);
    }
}

/* Runs a call that is recorded. Of C calls, what it left open ends with it. */
static PyObject *
evaluate_inside(trace_session *session, PyThreadState *thread, hook_frame *frame, int throwflag)
{
    trace_thread *own = session->limits.c_calls ? trace_thread_get() : NULL;
    if (own == NULL) {
        return session->evaluate_next(thread, frame, throwflag);
    }
    Py_ssize_t outside = own->inner, depth = trace_thread_depth(own);
    own->inner = depth;
    PyObject *result = session->evaluate_next(thread, frame, throwflag);
    own->inner = outside;
    trace_thread_end_above(own, depth);
    return result;
}

static PyObject *
record(trace_session *session, int32_t region, bool resumes, PyThreadState *thread,
       hook_frame *frame, int throwflag)
{
    session->running++;
    trace_record_begin(session, region, resumes);
    PyObject *result = evaluate_inside(session, thread, frame, throwflag);
    trace_record_end(session, region, resumes);
    session->running--;
    return result;
}

static PyObject *record_within_depth(trace_session *session, int32_t region, bool resumes,
                                     PyThreadState *thread, hook_frame *frame, int throwflag)
{
    trace_thread *own = trace_thread_get();
    if (own == NULL) {
        return session->evaluate_next(thread, frame, throwflag);
    }
    PyObject *result;
    if (own->outer++ + trace_thread_depth(own) >= session->limits.max_depth) {
        session->running++;
        result = evaluate_inside(session, thread, frame, throwflag);
        session->running--;
    } else {
        result = record(session, region, resumes, thread, frame, throwflag);
    }
    own->outer--;
    return result;
}

/* Whatever is not the call of a known function that is recorded. */
static __attribute__((noinline)) PyObject *
evaluate_other(trace_session *session, PyThreadState *thread, hook_frame *frame, int throwflag)
{
    was_reached = true;
    if (session == NULL) {
        return _PyEval_EvalFrameDefault(thread, frame, throwflag);
    }
    if (thread->tracing != 0 || session->is_displaced) {
        return session->evaluate_next(thread, frame, throwflag);
    }
    if (is_deep_indeed()) {
        return evaluate_deep(session, thread, frame, throwflag);
    }
    PyCodeObject *code = code_of(frame);
    const trace_code *found = trace_codes_find(session->codes, code);
    const trace_code known =
        found != NULL ? *found : trace_resolve(session, code, globals_of(frame));
    if (known.word == TRACE_NOT || is_creation(frame, &known)) {
        return session->evaluate_next(thread, frame, throwflag);
    }
    int32_t region = trace_code_region(&known);
    bool resumes = is_resumption(frame, &known);
    if (session->limits.c_calls) {
        settle_c_calls(session, thread);
    }
    if (session->limits.max_depth > 0) {
        return record_within_depth(session, region, resumes, thread, frame, throwflag);
    }
    return record(session, region, resumes, thread, frame, throwflag);
}

/* The common case, with as few instructions as can be: a known function, and no limits. */
static PyObject *evaluate(PyThreadState *thread, hook_frame *frame, int throwflag)
{
    trace_session *session = hooked;
    if (__builtin_expect(session == NULL || session->is_special || thread->tracing != 0 ||
                             session->interpreter != thread->interp, 0)) {
        return evaluate_other(session_of(thread), thread, frame, throwflag);
    }
    const PyCodeObject *code = code_of(frame);
    const trace_code *known = trace_codes_first(session->codes, code);
    if (__builtin_expect(known->key != code || known->word < TRACE_NOT || is_deep(), 0)) {
        return evaluate_other(session, thread, frame, throwflag);
    }
    int32_t region = known->word;
    if (region == TRACE_NOT) {
        return session->evaluate_next(thread, frame, throwflag);
    }
    session->running++;
    sp_binding_begin(session->recorder, region);
    PyObject *result = session->evaluate_next(thread, frame, throwflag);
    sp_binding_end(session->recorder, region);
    session->running--;
    return result;
}

/* ---- the table ------------------------------------------------------------------------------ */

/* Runs a piece of Python: does it come by here? */
static bool is_reached(void)
{
    PyThreadState *thread = PyThreadState_Get();
    PyObject *globals = PyDict_New();
    was_reached = false;
    thread->tracing++;
    PyObject *answer = globals != NULL ? PyRun_String("0", Py_eval_input, globals, globals) : NULL;
    thread->tracing--;
    Py_XDECREF(answer);
    Py_XDECREF(globals);
    PyErr_Clear();
    return was_reached;
}

/* A hook that was set over ours in an earlier session, and calls it through, leads here already. */
static int install(trace_session *session)
{
    _PyFrameEvalFunction present = _PyInterpreterState_GetEvalFrameFunc(session->interpreter);
    bool leads_here = present != _PyEval_EvalFrameDefault && is_reached();
    session->evaluate_next = leads_here ? _PyEval_EvalFrameDefault : present;
    session->is_special = session->limits.max_depth > 0 || session->limits.min_duration_ns > 0 ||
                          session->limits.c_calls;
    session->has_new_codes = false;
    session->next_hooked = hooked;
    hooked = session;
    if (!leads_here) {
        _PyInterpreterState_SetEvalFrameFunc(session->interpreter, evaluate);
    }
    if (session->limits.c_calls) {
        trace_profile_install(session);
        trace_thread *own = trace_thread_get();
        if (own != NULL) {
            own->hearing_for = session;
        }
    }
    return 0;
}

static void unlink_session(const trace_session *session)
{
    trace_session **link = &hooked;
    while (*link != session) {
        link = &(*link)->next_hooked;
    }
    *link = session->next_hooked;
}

/* Calls that are open end where their evaluation does. */
static void uninstall(trace_session *session)
{
    unlink_session(session);
    trace_profile_leave_threads(session);
    if (session->deep_calls > 0 || session->is_displaced || session->limits.c_calls) {
        trace_profile_remove(session);
        trace_thread_close(session);
    }
    if (_PyInterpreterState_GetEvalFrameFunc(session->interpreter) == evaluate) {
        _PyInterpreterState_SetEvalFrameFunc(session->interpreter, session->evaluate_next);
    }
}

static void check(trace_session *session)
{
    session->has_new_codes = false;
    if (session->deep_calls > 0 || session->is_displaced ||
        _PyInterpreterState_GetEvalFrameFunc(session->interpreter) == evaluate ||
        is_reached()) {
        return;
    }
    PySys_WriteStderr("scope_profiler: another frame evaluation hook has replaced the tracer's; "
                      "calls since then are missing, from now on the profile function is used\n");
    session->is_displaced = session->is_special = true;
    trace_profile_install(session);
    trace_profile_follow_threads(session);
}

static void forget(trace_session *session)
{
    uninstall(session);
    trace_threads_forget();
}

static int init(PyObject *module, recorder_state *state)
{
    return trace_profile_init(module, state);
}

static void release(recorder_state *state)
{
    (void)state;
}

const trace_mechanism trace_mechanism_built = {
    .name = "hook",
    .init = init,
    .install = install,
    .remove = uninstall,
    .check = check,
    .forget = forget,
    .release = release,
};
