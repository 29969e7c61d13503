#include "session/copies.h"

#include "base/os/object_notes.h"
#include "session/complaint.h"
#include "session/profiler.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

typedef enum copy_state {
    UNUSED,
    RECORDER,
    PASSES_ON,
    REFUSES
} copy_state;

/* What a copy shows the others, whatever their version: entries are only ever added, at the end. */
typedef struct copy {
    uint32_t size; /* of this structure */
    _Atomic uint32_t state;
    const char *version;
    /* Tells this copy that another one is the recorder. Called while objects are held. */
    void (*yield_to)(const struct copy *recorder);
    const sp_functions *functions; /* of use to copies of the same version */
} copy;

static const sp_functions own_functions = {
#define SP_FUNCTION_NAME(type, name, parameters, arguments, otherwise) .name = name,
#define SP_PROCEDURE_NAME(name, parameters, arguments) .name = name,
    SP_FUNCTIONS(SP_FUNCTION_NAME, SP_PROCEDURE_NAME)
#undef SP_FUNCTION_NAME
#undef SP_PROCEDURE_NAME
};

static char reason[1008];
static atomic_bool has_complained;

static void complain(void)
{
    if (!atomic_exchange(&has_complained, true))
        sp_complain("%s", reason);
}

/* What the functions of a copy do that refuses: nothing, and say why. */
#define SP_ABSENT_STATUS SP_ERR_OTHER_VERSION
#define SP_ABSENT_TEXT reason
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define SP_REFUSING_FUNCTION(type, name, parameters, arguments, otherwise)                         \
    static type refuse_##name parameters                                                           \
    {                                                                                              \
        complain();                                                                                \
        return otherwise;                                                                          \
    }
#define SP_REFUSING_PROCEDURE(name, parameters, arguments)                                         \
    static void refuse_##name parameters                                                           \
    {                                                                                              \
        complain();                                                                                \
    }
SP_FUNCTIONS(SP_REFUSING_FUNCTION, SP_REFUSING_PROCEDURE)
#pragma GCC diagnostic pop

static const sp_functions refusing_functions = {
#define SP_FUNCTION_NAME(type, name, parameters, arguments, otherwise) .name = refuse_##name,
#define SP_PROCEDURE_NAME(name, parameters, arguments) .name = refuse_##name,
    SP_FUNCTIONS(SP_FUNCTION_NAME, SP_PROCEDURE_NAME)
#undef SP_FUNCTION_NAME
#undef SP_PROCEDURE_NAME
};

static void yield_to(const copy *recorder);

/* Named by the note; hidden from the rest of the process. */
extern copy sp_copies_own;
copy sp_copies_own __attribute__((used, visibility("hidden"))) = {
    .size = sizeof sp_copies_own,
    .state = UNUSED,
    .version = SP_VERSION,
    .yield_to = yield_to,
    .functions = &own_functions,
};
SP_OS_OBJECT_NOTE(sp_copies_own);

const sp_functions *_Atomic sp_copies_other;

static const char *name_of(const copy *c)
{
    const char *path = sp_os_object_of(c);
    return path[0] == '\0' ? "the program" : path;
}

static void yield_to(const copy *recorder)
{
    bool is_same = strcmp(recorder->version, sp_copies_own.version) == 0;
    snprintf(reason, sizeof reason,
             "version %s of the recorder (%s) does not record, because version %s (%s) does in this "
             "process; %s",
             sp_copies_own.version, name_of(&sp_copies_own), recorder->version, name_of(recorder),
             is_same ? "load it first, or link both sides to the same libscope_profiler"
                     : "install one version for both sides");
    atomic_store(&sp_copies_own.state, is_same ? PASSES_ON : REFUSES);
    atomic_store_explicit(&sp_copies_other, is_same ? recorder->functions : &refusing_functions,
                          memory_order_release);
    atomic_store(&sp_default.recording.phase, SP_PHASE_ELSEWHERE);
}

static bool find_recorder(void *variable, void *context)
{
    copy *other = variable;
    copy **out = context;
    if (other != &sp_copies_own && atomic_load(&other->state) == RECORDER)
        *out = other;
    return *out == NULL;
}

static bool tell(void *variable, void *context)
{
    copy *other = variable;
    (void)context;
    if (other != &sp_copies_own && atomic_load(&other->state) == UNUSED)
        other->yield_to(&sp_copies_own);
    return true;
}

/* Objects are held: no two copies do this at once. */
static void look(void *context)
{
    const bool *wants_to_record = context;
    copy *recorder = NULL;
    if (atomic_load(&sp_copies_own.state) != UNUSED)
        return;
    sp_os_each_object_note(find_recorder, &recorder);
    if (recorder != NULL) {
        yield_to(recorder);
    } else if (*wants_to_record) {
        atomic_store(&sp_copies_own.state, RECORDER);
        sp_os_each_object_note(tell, NULL);
    }
}

bool sp_copies_elect(void)
{
    bool wants_to_record = true;
    sp_os_with_objects_held(look, &wants_to_record);
    bool is_recorder = atomic_load(&sp_copies_own.state) == RECORDER;
    if (is_recorder)
        sp_os_object_pin(&sp_copies_own);
    return is_recorder;
}

const char *sp_copies_reason(void)
{
    return reason;
}

/* A copy that is loaded later than the recorder finds it at once: begins and ends do not look. */
static __attribute__((constructor(101))) void look_when_loaded(void)
{
    bool wants_to_record = false;
    sp_os_with_objects_held(look, &wants_to_record);
}
