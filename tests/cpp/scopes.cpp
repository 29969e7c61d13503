// Scopes, macros, contexts, moves, exceptions, and what outlives the recording.
#include <iostream>
#include <memory>
#include <scope_profiler.hpp>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

static void check(bool holds, int line)
{
    if (!holds)
        std::cout << "line " << line << " failed\n";
}
#define CHECK(condition) check((condition), __LINE__)

static_assert(!std::is_copy_constructible<sp::Scope>::value, "a call ends once");
static_assert(!std::is_copy_assignable<sp::Scope>::value, "a call ends once");
static_assert(std::is_nothrow_move_constructible<sp::Scope>::value, "vectors move scopes");
static_assert(std::is_nothrow_move_assignable<sp::Scope>::value, "vectors move scopes");
static_assert(std::is_nothrow_destructible<sp::ProfileScope>::value, "scopes end in unwinding");

// Constructed before main and destroyed after sp_finalize.
struct Late {
    ~Late()
    {
        SP_PROFILE_SCOPE("after the end");
        sp::Scope none(sp_region("after the end"));
    }
};
static Late late;

struct Solver {
    void step(int depth)
    {
        SP_PROFILE_FUNCTION();
        if (depth > 0)
            step(depth - 1);
    }
};

template <typename T> static void convert(T)
{
    SP_PROFILE_SCOPE("convert"); // each instance is a place of its own, all are one region
}

static void unwind(int depth)
{
    SP_PROFILE_SCOPE("unwind");
    if (depth == 0)
        throw std::runtime_error("thrown");
    unwind(depth - 1);
}

static void exceptions()
{
    SP_PROFILE_SCOPE("exceptions");
    try {
        unwind(2);
        CHECK(false);
    } catch (const std::runtime_error &) {
        SP_PROFILE_SCOPE("caught");
    }
}

static void moves()
{
    int a = sp_region("moved a"), b = sp_region("moved b");
    sp::Scope first(a);
    sp::Scope second(std::move(first)); // still one call
    first.end();                        // of nothing
    std::unique_ptr<sp::Scope> kept(new sp::Scope(b));
    std::vector<sp::Scope> many;
    for (int i = 0; i < 5; i++)
        many.emplace_back(b);
    while (!many.empty())
        many.pop_back();
    kept.reset();
    second = sp::Scope(b); // begins b, then ends a
    second.end();
    second.end(); // once is enough
    CHECK(sp_num_calls(a) == 1 && sp_num_calls(b) == 7);
    sp::Scope invalid(SP_INVALID_REGION);
}

static void threads()
{
    SP_PROFILE_FUNCTION();
    std::vector<std::thread> workers;
    for (int i = 0; i < 3; i++)
        workers.emplace_back([] {
            for (int k = 0; k < 1000; k++) {
                SP_PROFILE_SCOPE("work");
            }
        });
    for (std::thread &worker : workers)
        worker.join();
}

static void contexts()
{
    sp_profiler *own = sp_create("own", 4), *other = sp_create("other", 5);
    sp_profiler_set_output_format(own, SP_OUTPUT_TRACE);
    sp_profiler_set_output_format(other, SP_OUTPUT_TRACE);
    for (int i = 0; i < 6; i++) {
        SP_PROFILE_SCOPE_CTX(i % 3 == 0 ? other : own, "shared place");
        SP_PROFILE_SCOPE("in the default");
    }
    {
        SP_PROFILE_FUNCTION_CTX(own);
        sp::Scope by_handle(own, sp_profiler_region(own, "by handle"));
        sp::ProfileScope by_name(own, "by name");
    }
    CHECK(sp_profiler_finalize(own) == SP_OK && sp_profiler_finalize(other) == SP_OK);
    {
        SP_PROFILE_SCOPE_CTX(own, "too late");
        sp::ProfileScope none(static_cast<sp_profiler *>(nullptr), "no profiler");
    }
    sp_destroy(own);
    sp_destroy(other);
}

static void too_early()
{
    SP_PROFILE_SCOPE("early");
}

int main()
{
    sp::LikwidSession likwid;
    sp::likwid_thread_init();
    too_early();
    sp_set_output_format(SP_OUTPUT_TRACE);
    CHECK(sp_init("scopes", 0) == SP_OK);
    too_early();
    Solver().step(2);
    convert(1);
    convert(2.0);
    exceptions();
    moves();
    threads();
    contexts();
    {
        sp::ProfileScope named("named");
    }
    CHECK(sp_finalize() == SP_OK);
    SP_PROFILE_SCOPE("after the end");
    return 0;
}
