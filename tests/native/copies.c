/* Two copies of the library in one process, each opened by its file as strangers do it:
 *
 *     copies USED_FIRST USED_SECOND [early]
 *
 * Both get regions, blocks, tags, metadata and sp_init; what they say and what is recorded shows whether
 * there is one recorder. `early`: the second is loaded before the first is used.
 */
#include <dlfcn.h>
#include <scope_profiler_functions.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct library {
    void *handle;
#define POINTER(type, name, parameters, arguments, otherwise) type(*name) parameters;
#define PROCEDURE(name, parameters, arguments) void(*name) parameters;
    SP_FUNCTIONS(POINTER, PROCEDURE)
#undef POINTER
#undef PROCEDURE
} library;

static void look_up(const library *l, const char *name, void *out)
{
    void *symbol = dlsym(l->handle, name);
    if (symbol == NULL) {
        printf("%s is missing\n", name);
        exit(2);
    }
    memcpy(out, &symbol, sizeof symbol);
}

static void load(library *l, const char *path)
{
    l->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (l->handle == NULL) {
        puts(dlerror());
        exit(2);
    }
#define LOOK_UP(type, name, parameters, arguments, otherwise) look_up(l, #name, (void *)&l->name);
#define LOOK_UP_PROCEDURE(name, parameters, arguments) look_up(l, #name, (void *)&l->name);
    SP_FUNCTIONS(LOOK_UP, LOOK_UP_PROCEDURE)
#undef LOOK_UP
#undef LOOK_UP_PROCEDURE
}

static void answer(const char *what, int status)
{
    if (status != SP_OK)
        printf("%s: %d\n", what, status);
}

static void record_below(const library *l)
{
    static sp_site site;
    for (int i = 0; i < 2; i++) { /* the second time the call site remembers */
        sp_call block = l->sp_site_begin(&site, "block", "copies.c", 1);
        answer("metadata", l->sp_metadata_int("answer", 42));
        l->sp_call_end(&block);
    }
    int tagged = l->sp_region_tagged("tagged", "second");
    l->sp_begin(tagged);
    l->sp_end(tagged);
    sp_call call = l->sp_call_begin(tagged);
    l->sp_call_end(&call);
    sp_profiler *profiler = l->sp_default_profiler();
    int own = l->sp_profiler_region(profiler, "own");
    answer("begin", l->sp_profiler_begin(profiler, own));
    answer("end", l->sp_profiler_end(profiler, own));
    printf("%lld of tagged, active %d\n", (long long)l->sp_num_calls(tagged), l->sp_is_active());
}

int main(int argc, char **argv)
{
    library first, second;
    if (argc < 3)
        return 2;
    load(&first, argv[1]);
    if (argc > 3)
        load(&second, argv[2]);
    answer("first init", first.sp_init("first", 0));
    if (argc <= 3)
        load(&second, argv[2]);
    answer("second init", second.sp_init("second", 0));
    int outer = first.sp_region("outer");
    first.sp_begin(outer);
    record_below(&second);
    first.sp_end(outer);
    if (second.sp_last_error()[0] != '\0')
        puts("the second says why");
    const char *slash = strrchr(second.sp_output_path(), '/');
    printf("second writes %s\n", slash == NULL ? "nothing" : slash + 1);
    answer("second finalize", second.sp_finalize());
    answer("first finalize", first.sp_finalize());
    return 0;
}
