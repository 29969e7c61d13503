// Compiled with SP_DISABLE_PROFILING and linked to nothing of the profiler.
#include <scope_profiler.hpp>

static int function()
{
    sp_profiler *profiler = sp_default_profiler();
    SP_PROFILE_FUNCTION();
    SP_PROFILE_FUNCTION_CTX(profiler);
    SP_PROFILE_SCOPE("scope");
    SP_PROFILE_SCOPE_CTX(profiler, "scope");
    SP_SCOPE("block");
    sp::Scope scope(sp_region("a"));
    sp::Scope other(profiler, 0);
    sp::Scope moved(static_cast<sp::Scope &&>(scope));
    other = static_cast<sp::Scope &&>(moved);
    other.end();
    sp::ProfileScope named("b"), owned(profiler, "c");
    sp::LikwidSession session;
    sp::likwid_thread_init();
    return 0;
}

int main()
{
    return sp_init("off", 0) + function() + sp_finalize();
}
