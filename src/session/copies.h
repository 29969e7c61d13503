/* copies.h - several copies of this library in one process: the shared one of a Python package, an
 * installed one, one that was linked into a program or an extension.
 *
 * One of them is the recorder: the first that is used. Copies of the same version pass everything on to
 * it; a copy of another version refuses to record and says so once. Two recorders would be two files,
 * two trees and two sets of settings, without a word.
 *
 * Every copy has a note (base/os/object_notes.h) by which the others find it. While a copy is not the
 * recorder, the phase of its default recording is SP_PHASE_ELSEWHERE, so that begins and ends come to
 * the slow path, which passes them on; the fast path does not know of any of this.
 */
#ifndef SP_SESSION_COPIES_H
#define SP_SESSION_COPIES_H

#include "scope_plugin.h"
#include "scope_profiler_functions.h"

typedef struct sp_functions {
#define SP_FUNCTION_POINTER(type, name, parameters, arguments, otherwise) type(*name) parameters;
#define SP_PROCEDURE_POINTER(name, parameters, arguments) void(*name) parameters;
    SP_FUNCTIONS(SP_FUNCTION_POINTER, SP_PROCEDURE_POINTER)
#undef SP_FUNCTION_POINTER
#undef SP_PROCEDURE_POINTER
} sp_functions;

/* Makes this copy the recorder, if none is yet. False: there is another one. */
bool sp_copies_elect(void);

/* Functions of the copy that records in this one's place, or such as refuse; NULL: this copy records or
 * may. */
extern const sp_functions *_Atomic sp_copies_other;

/* Why this copy does not record itself; "" when it does or may. */
const char *sp_copies_reason(void);

/* First in each public function: passes the call on. */
#define SP_PASS_ON(name, arguments)                                                                \
    do {                                                                                           \
        const sp_functions *other =                                                                \
            atomic_load_explicit(&sp_copies_other, memory_order_acquire);                          \
        if (__builtin_expect(other != NULL, 0))                                                    \
            return other->name arguments;                                                          \
    } while (0)
#define SP_PASS_ON_VOID(name, arguments)                                                           \
    do {                                                                                           \
        const sp_functions *other =                                                                \
            atomic_load_explicit(&sp_copies_other, memory_order_acquire);                          \
        if (__builtin_expect(other != NULL, 0)) {                                                  \
            other->name arguments;                                                                 \
            return;                                                                                \
        }                                                                                          \
    } while (0)

#endif
