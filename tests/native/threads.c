/* Lanes of native threads have the names that the program gives them, before their first call or after
 * it; a thread that it does not name has none. */
#include <pthread.h>
#include <scope_profiler.h>

static void work(void)
{
    int region = sp_region("work");
    sp_begin(region);
    sp_end(region);
}

static void *named(void *name)
{
    pthread_setname_np(pthread_self(), name);
    work();
    return 0;
}

static void *named_late(void *name)
{
    work();
    pthread_setname_np(pthread_self(), name);
    return 0;
}

static void *named_by_us(void *name)
{
    sp_name_thread(name); /* before it records, while it does, in any length */
    work();
    sp_name_thread("a name that the system would cut");
    pthread_setname_np(pthread_self(), "not this");
    return 0;
}

static void *unnamed(void *nothing)
{
    work();
    return nothing;
}

static pthread_barrier_t barrier;

static void *alive(void *name)
{
    work();
    pthread_setname_np(pthread_self(), name);
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier); /* until the file is written */
    return 0;
}

static void run(void *(*function)(void *), char *name)
{
    pthread_t thread;
    if (pthread_create(&thread, 0, function, name) == 0)
        pthread_join(thread, 0);
}

int main(void)
{
    static char early[] = "assembler", late[] = "I/O", running[] = "helper";
    pthread_t thread;
    if (sp_init("threads", 0) != SP_OK || pthread_barrier_init(&barrier, 0, 2) != 0)
        return 1;
    work();
    run(named, early);
    run(named_late, late);
    run(unnamed, 0);
    run(named_by_us, early);
    if (pthread_create(&thread, 0, alive, running) != 0)
        return 2;
    pthread_barrier_wait(&barrier);
    int status = sp_finalize();
    pthread_barrier_wait(&barrier);
    pthread_join(thread, 0);
    return status;
}
