#include "check.h"

#include "registry/names.h"

#include <pthread.h>
#include <stdlib.h>

static int32_t intern(const char *name)
{
    return sp_names_intern(name, strlen(name), NULL);
}

static void same_name_same_id(void)
{
    int32_t a = intern("assemble"), b = intern("solve");
    CHECK(a >= 0 && b >= 0 && a != b);
    CHECK_INT(intern("assemble"), a);
    CHECK_TEXT(sp_names_get(a), "assemble");
    CHECK_TEXT(sp_names_get(b), "solve");
    CHECK_INT(sp_names_find("solve", 5), b);
    CHECK_INT(sp_names_find("absent", 6), SP_INVALID_REGION);
    CHECK(sp_names_get(-1) == NULL);
    CHECK(sp_names_get(sp_names_count()) == NULL);
    CHECK(sp_names_get(INT32_MAX) == NULL);
}

static void names_of_any_kind(void)
{
    char longest[400];
    memset(longest, 'n', sizeof longest);
    int32_t a = sp_names_intern(longest, 399, NULL);
    longest[398] = 'm';
    int32_t b = sp_names_intern(longest, 399, NULL);
    CHECK(a != b);
    CHECK_INT(strlen(sp_names_get(a)), 399);
    CHECK_INT(sp_names_get(b)[398], 'm');
    CHECK_TEXT(sp_names_get(intern("a/b \"c\"\n\xF0\x9F\x94\xA5")), "a/b \"c\"\n\xF0\x9F\x94\xA5");
}

static void refuses_empty_and_nul(void)
{
    sp_error error;
    CHECK_INT(sp_names_intern("", 0, &error), SP_INVALID_REGION);
    CHECK_INT(error.status, SP_ERR_INVALID_ARGUMENT);
    CHECK_CONTAINS(error.text, "empty");
    CHECK_INT(sp_names_intern("a\0b", 3, &error), SP_INVALID_REGION);
    CHECK_CONTAINS(error.text, "NUL");
    CHECK_INT(sp_names_intern(NULL, 3, &error), SP_INVALID_REGION);
}

enum { THREADS = 4, NAMES = 20000 };

/* Every thread interns the same names in another order and reads back what others made. */
static void *intern_many(void *argument)
{
    size_t step = (size_t)argument * 2 + 1;
    for (size_t i = 0; i < NAMES; i++) {
        char name[32];
        snprintf(name, sizeof name, "name %zu", i * step % NAMES);
        int32_t id = intern(name);
        if (id < 0 || strcmp(sp_names_get(id), name) != 0)
            return (void *)1;
    }
    return NULL;
}

static void several_threads(void)
{
    pthread_t threads[THREADS];
    int32_t before = sp_names_count();
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, intern_many, (void *)(i + 1));
    for (size_t i = 0; i < THREADS; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        CHECK(failed == NULL);
    }
    CHECK(sp_names_count() - before <= NAMES);
}

int main(void)
{
    RUN(same_name_same_id);
    RUN(names_of_any_kind);
    RUN(refuses_empty_and_nul);
    RUN(several_threads);
    return check_result();
}
