#include "base/os/object_notes.h"

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

#if defined(__ELF__)
#include <link.h>

typedef struct walk {
    sp_os_note_visit *visit;
    void *context;
} walk;

static size_t aligned(size_t size)
{
    return (size + 3) & ~(size_t)3;
}

/* The variable that a note of ours leads to; NULL: it is another one's. */
static void *variable_of(const ElfW(Nhdr) *note, const char *name, const char *content)
{
    if (note->n_namesz != sizeof SP_NOTE_NAME || note->n_type != 1 ||
        note->n_descsz != sizeof(int32_t) || memcmp(name, SP_NOTE_NAME, sizeof SP_NOTE_NAME) != 0)
        return NULL;
    int32_t distance;
    memcpy(&distance, content, sizeof distance);
    return (void *)((uintptr_t)content + (uintptr_t)(intptr_t)distance);
}

/* False: enough. */
static bool visit_notes(const walk *w, const char *at, size_t left)
{
    ElfW(Nhdr) note;
    while (left >= sizeof note) {
        memcpy(&note, at, sizeof note);
        size_t name = sizeof note, content = name + aligned(note.n_namesz);
        size_t size = content + aligned(note.n_descsz);
        if (size > left)
            return true;
        void *variable = variable_of(&note, at + name, at + content);
        if (variable != NULL && !w->visit(variable, w->context))
            return false;
        at += size;
        left -= size;
    }
    return true;
}

static int visit_object(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type == PT_NOTE &&
            !visit_notes(context, (const char *)(info->dlpi_addr + part->p_vaddr), part->p_memsz))
            return 1;
    }
    return 0;
}

void sp_os_each_object_note(sp_os_note_visit *visit, void *context)
{
    walk w = {visit, context};
    dl_iterate_phdr(visit_object, &w);
}

typedef struct held_call {
    void (*function)(void *context);
    void *context;
} held_call;

static int call_held(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)info;
    (void)size;
    held_call *call = context;
    call->function(call->context);
    return 1;
}

void sp_os_with_objects_held(void (*function)(void *context), void *context)
{
    held_call call = {function, context};
    dl_iterate_phdr(call_held, &call);
}
#else
void sp_os_each_object_note(sp_os_note_visit *visit, void *context)
{
    (void)visit;
    (void)context;
}

void sp_os_with_objects_held(void (*function)(void *context), void *context)
{
    function(context);
}
#endif

const char *sp_os_object_of(const void *address)
{
    Dl_info info;
    return dladdr(address, &info) != 0 && info.dli_fname != NULL ? info.dli_fname : "";
}

void sp_os_object_pin(const void *address)
{
#if defined(RTLD_NODELETE)
    /* Of the program itself there is no such file to open, and it stays anyway. */
    const char *path = sp_os_object_of(address);
    if (strchr(path, '/') != NULL)
        (void)dlopen(path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
#else
    (void)address;
#endif
}
