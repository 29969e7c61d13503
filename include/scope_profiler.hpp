// scope_profiler.hpp - regions of C++ programs: scopes and macros over scope_profiler.h. C++11 and later.
//
//     void Solver::step()
//     {
//         SP_PROFILE_FUNCTION();
//         {
//             SP_PROFILE_SCOPE("assemble");
//             ...
//         }                                   ends here, also when an exception leaves the block
//     }
//
// Header only, over the library: a recorder inside a header would be compiled into every shared
// library of a program, and each copy would be a recorder of its own with a file of its own. So
// there is one, in libscope_profiler, whoever calls it. A program that must not need the library
// defines SP_DISABLE_PROFILING, and nothing is left of any of this.
//
// Scopes belong to the thread that opened them and never throw. Those that close after sp_finalize,
// such as members of static objects, do nothing.
#ifndef SCOPE_PROFILER_HPP
#define SCOPE_PROFILER_HPP

#include "scope_profiler.h"

#if defined(SP_USE_LIKWID) && defined(LIKWID_PERFMON)
#include <likwid-marker.h>
#endif

// For functions that leave no symbol.
#if defined(__GNUC__)
#define SP_NOTHING_INSIDE inline __attribute__((always_inline))
#else
#define SP_NOTHING_INSIDE inline
#endif

namespace sp {

#ifndef SP_DISABLE_PROFILING

// One open call; it can be moved, not copied, and ends once: at end(), or with the last owner.
class Scope {
public:
    // Of the default profiler. An invalid handle opens nothing.
    explicit Scope(int region) noexcept : call_(sp_call_begin(region)), scope_(), kind_(Kind::call)
    {
    }

    // Of a profiler, which must live longer.
    Scope(sp_profiler *profiler, int region) noexcept
        : call_(), scope_(sp_profiler_scope_begin(profiler, region)), kind_(Kind::token)
    {
    }

    Scope(Scope &&other) noexcept : call_(other.call_), scope_(other.scope_), kind_(other.kind_)
    {
        other.kind_ = Kind::none;
    }

    Scope &operator=(Scope &&other) noexcept
    {
        if (this != &other) {
            end();
            call_ = other.call_;
            scope_ = other.scope_;
            kind_ = other.kind_;
            other.kind_ = Kind::none;
        }
        return *this;
    }

    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

    ~Scope()
    {
        end();
    }

    // Ends the call before its block does.
    void end() noexcept
    {
        if (kind_ == Kind::call)
            sp_call_end(&call_);
        else if (kind_ == Kind::token)
            sp_scope_end(scope_);
        kind_ = Kind::none;
    }

protected:
    explicit Scope(const sp_call &call) noexcept : call_(call), scope_(), kind_(Kind::call)
    {
    }

private:
    enum class Kind { none, call, token };
    sp_call call_;
    sp_scope scope_;
    Kind kind_;
};

// A scope by name. With a site, the place in the program where it stands remembers the region.
class ProfileScope : public Scope {
public:
    explicit ProfileScope(const char *name) noexcept : Scope(sp_region(name))
    {
    }

    ProfileScope(sp_profiler *profiler, const char *name) noexcept
        : Scope(profiler, sp_profiler_region(profiler, name))
    {
    }

    ProfileScope(sp_site &site, const char *name, const char *file, int line) noexcept
        : Scope(sp_site_begin(&site, name, file, line))
    {
    }

    ProfileScope(sp_profiler *profiler, sp_site &site, const char *name, const char *file,
                 int line) noexcept
        : Scope(profiler, sp_profiler_site(profiler, &site, name, file, line))
    {
    }
};

#define SP_PROFILE_SCOPE_IN_(name, line)                                                           \
    static sp_site SP_JOIN(sp_site_in_line_, line);                                                \
    const ::sp::ProfileScope SP_JOIN(sp_scope_in_line_, line)(SP_JOIN(sp_site_in_line_, line),     \
                                                              name, __FILE__, line)
#define SP_PROFILE_SCOPE_CTX_IN_(profiler, name, line)                                             \
    static sp_site SP_JOIN(sp_site_in_line_, line);                                                \
    const ::sp::ProfileScope SP_JOIN(sp_scope_in_line_, line)(                                     \
        profiler, SP_JOIN(sp_site_in_line_, line), name, __FILE__, line)

// Time the rest of the block. The name must be the same each time the place is reached. The forms
// with a context take the profiler to record into.
#define SP_PROFILE_SCOPE(name) SP_PROFILE_SCOPE_IN_(name, __LINE__)
#define SP_PROFILE_SCOPE_CTX(profiler, name) SP_PROFILE_SCOPE_CTX_IN_(profiler, name, __LINE__)
// Time the rest of the function, under its name.
#define SP_PROFILE_FUNCTION() SP_PROFILE_SCOPE(__func__)
#define SP_PROFILE_FUNCTION_CTX(profiler) SP_PROFILE_SCOPE_CTX(profiler, __func__)

#else // SP_DISABLE_PROFILING

class Scope {
public:
    SP_NOTHING_INSIDE explicit Scope(int) noexcept {}
    SP_NOTHING_INSIDE Scope(sp_profiler *, int) noexcept {}
    SP_NOTHING_INSIDE Scope(Scope &&) noexcept {}
    SP_NOTHING_INSIDE Scope &operator=(Scope &&) noexcept { return *this; }
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;
    SP_NOTHING_INSIDE ~Scope() {}
    SP_NOTHING_INSIDE void end() noexcept {}
};

class ProfileScope : public Scope {
public:
    SP_NOTHING_INSIDE explicit ProfileScope(const char *) noexcept : Scope(0) {}
    SP_NOTHING_INSIDE ProfileScope(sp_profiler *, const char *) noexcept : Scope(0) {}
    ProfileScope(ProfileScope &&) = default;
    SP_NOTHING_INSIDE ~ProfileScope() {}
};

#define SP_PROFILE_SCOPE(name) ((void)0)
#define SP_PROFILE_SCOPE_CTX(profiler, name) ((void)(profiler))
#define SP_PROFILE_FUNCTION() ((void)0)
#define SP_PROFILE_FUNCTION_CTX(profiler) ((void)(profiler))

#endif // SP_DISABLE_PROFILING

// The marker interface of LIKWID for the life of the object, and what each thread that LIKWID is to
// measure calls once; nothing unless the program is compiled with SP_USE_LIKWID and LIKWID_PERFMON.
#if defined(SP_USE_LIKWID) && defined(LIKWID_PERFMON) && !defined(SP_DISABLE_PROFILING)
class LikwidSession {
public:
    LikwidSession() { LIKWID_MARKER_INIT; }
    ~LikwidSession() { LIKWID_MARKER_CLOSE; }
    LikwidSession(const LikwidSession &) = delete;
    LikwidSession &operator=(const LikwidSession &) = delete;
};

inline void likwid_thread_init()
{
    LIKWID_MARKER_THREADINIT;
}
#else
class LikwidSession {
public:
    SP_NOTHING_INSIDE LikwidSession() noexcept {}
    SP_NOTHING_INSIDE ~LikwidSession() {}
    LikwidSession(const LikwidSession &) = delete;
    LikwidSession &operator=(const LikwidSession &) = delete;
};

SP_NOTHING_INSIDE void likwid_thread_init() {}
#endif

} // namespace sp

#endif
