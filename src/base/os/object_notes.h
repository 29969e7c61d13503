/* object_notes.h - notes of the shared objects of this process: what an object tells about itself to who
 * looks through all of them, however it was loaded and whatever symbols it shows. */
#ifndef SP_BASE_OS_OBJECT_NOTES_H
#define SP_BASE_OS_OBJECT_NOTES_H

#include <stdbool.h>

/* The name of our notes; their type is 1. */
#define SP_NOTE_NAME "scope-profiler"

/* Puts a note into this object that leads to the variable `symbol` (of external linkage). */
#if defined(__ELF__)
#define SP_OS_OBJECT_NOTE(symbol)                                                                  \
    __asm__(".pushsection .note.scope_profiler,\"a\",%note\n"                                      \
            "\t.balign 4\n"                                                                        \
            "\t.long 15\n" /* bytes of the name with its end */                                    \
            "\t.long 4\n"                                                                          \
            "\t.long 1\n" /* type */                                                                   \
            "\t.asciz \"" SP_NOTE_NAME "\"\n"                                                      \
            "\t.balign 4\n"                                                                        \
            "\t.long " #symbol " - .\n"                                                            \
            "\t.popsection\n")
#else
#define SP_OS_OBJECT_NOTE(symbol) extern int sp_os_object_note_is_not_to_be_had
#endif

/* Calls `visit` with what each note leads to, in the order in which the objects were loaded, until it
 * answers false. Nothing is loaded or unloaded meanwhile, and no other thread is in here. */
typedef bool sp_os_note_visit(void *variable, void *context);
void sp_os_each_object_note(sp_os_note_visit *visit, void *context);

/* Runs a function as if between two notes: for who looks more than once. */
void sp_os_with_objects_held(void (*function)(void *context), void *context);

/* File of the object that holds an address; "" when it cannot be told. Valid while it is loaded. */
const char *sp_os_object_of(const void *address);

/* Keeps the object that holds an address loaded for the life of the process. */
void sp_os_object_pin(const void *address);

#endif
