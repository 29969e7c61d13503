// Calls as C++ programs write them; see native_pair.c.
#include "scope_profiler.hpp"

extern "C" void bench_cpp_scopes(int count, int region);
extern "C" void bench_cpp_blocks(int count);

void bench_cpp_scopes(int count, int region)
{
    for (int i = 0; i < count; i++)
        const sp::Scope scope(region);
}

void bench_cpp_blocks(int count)
{
    for (int i = 0; i < count; i++) {
        SP_PROFILE_SCOPE("c++ block");
    }
}
