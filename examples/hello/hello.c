/* hello.c - the smallest C program that records.
 *
 *     cc hello.c $(pkg-config --cflags --libs scope_profiler) -o hello
 *     scope-profiler run -- ./hello
 */
#include <scope_profiler.h>
#include <stdio.h>

int main(void)
{
    int greeting;
    sp_init("hello", 0);
    greeting = sp_region("greeting");
    for (int i = 0; i < 3; i++) {
        sp_begin(greeting);
        puts("hello");
        sp_end(greeting);
    }
    return sp_finalize();
}
