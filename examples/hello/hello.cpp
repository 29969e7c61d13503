// hello.cpp - the smallest C++ program that records.
//
//     c++ hello.cpp $(scope-profiler config --cflags --libs) -o hello
//     scope-profiler run -- ./hello
#include <iostream>
#include <scope_profiler.hpp>

static void greet()
{
    SP_PROFILE_SCOPE("greeting");
    std::cout << "hello\n";
}

int main()
{
    sp_init("hello", 0);
    for (int i = 0; i < 3; i++)
        greet();
    return sp_finalize();
}
