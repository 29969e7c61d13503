/* Ranges of an NVTX tool, with their colours. Each case of a tool runs in a process of its own: a tool
 * stays for the life of one. */
#include "check.h"

#include "backends/nvtx/protocol.h"
#include "backends/nvtx/ranges.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Places that the header of NVTX 3 has. */
_Static_assert(sizeof(nvtx_attributes) == 48, "attributes");
_Static_assert(offsetof(nvtx_attributes, category) == 4, "category");
_Static_assert(offsetof(nvtx_attributes, colour_kind) == 8, "colour kind");
_Static_assert(offsetof(nvtx_attributes, colour) == 12, "colour");
_Static_assert(offsetof(nvtx_attributes, payload_kind) == 16, "payload kind");
_Static_assert(offsetof(nvtx_attributes, payload) == 24, "payload");
_Static_assert(offsetof(nvtx_attributes, message_kind) == 32, "message kind");
_Static_assert(offsetof(nvtx_attributes, message) == 40, "message");

/* Runs a case in a child with that environment; its failures count here. */
static void in_child(void (*run)(void), const char *tool, const char *refuses)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        if (tool != NULL)
            setenv("NVTX_INJECTION64_PATH", tool, 1);
        else
            unsetenv("NVTX_INJECTION64_PATH");
        setenv("NVTX_TOOL_LOG", "nvtx_tool.log", 1);
        setenv("NVTX_TOOL_REFUSES", refuses, 1);
        remove("nvtx_tool.log");
        check_failures = 0;
        run();
        _exit(check_failures > 0);
    }
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK_INT(status, 0);
}

static const char *what_was_told(void)
{
    static char text[4096];
    FILE *file = fopen("nvtx_tool.log", "r");
    size_t length = file == NULL ? 0 : fread(text, 1, sizeof text - 1, file);
    text[length] = '\0';
    if (file != NULL)
        fclose(file);
    return text;
}

static sp_instrument_call call_of(int32_t region, const char *name, uint64_t number)
{
    return (sp_instrument_call){.region = region, .name = name, .number = number};
}

static sp_instrument nvtx;

static void begin(void *state, int32_t region, const char *name, uint64_t number)
{
    sp_instrument_call call = call_of(region, name, number);
    nvtx.begin(nvtx.context, state, &call);
}

static void end(void *state, int32_t region, const char *name, uint64_t number)
{
    char payload[SP_INSTRUMENT_PAYLOAD];
    sp_instrument_call call = call_of(region, name, number);
    CHECK_INT(nvtx.end(nvtx.context, state, &call, payload), 0);
}

static void *on_another_thread(void *context)
{
    (void)context;
    void *state;
    CHECK(nvtx.attach_thread(nvtx.context, &state, NULL));
    begin(state, 7, "main", 0);
    nvtx.detach_thread(nvtx.context, state); /* with a call open */
    return NULL;
}

/* Nested, recursive, crossing; on two threads; an end without a begin. */
static void ranges_are_calls(void)
{
    void *state;
    pthread_t thread;
    if (!CHECK_INT(sp_instrument_module(NULL, &nvtx, NULL), SP_OK))
        return;
    CHECK(nvtx.attach_thread(nvtx.context, &state, NULL));
    begin(state, 7, "main", 0);
    begin(state, 2, "step", 1);
    begin(state, 2, "step", 2);
    end(state, 2, "step", 2);
    end(state, 7, "main", 0); /* while number 1 is open */
    end(state, 2, "step", 1);
    end(state, 2, "step", 9);
    pthread_create(&thread, NULL, on_another_thread, NULL);
    pthread_join(thread, NULL);
    nvtx.detach_thread(nvtx.context, state);
    CHECK_TEXT(what_was_told(), "domain 1 scope_profiler\n"
                                "string 1 main\n"
                                "start 1 thread 1 domain 1 colour ff6e2146 payload 0 name main\n"
                                "string 2 step\n"
                                "start 2 thread 1 domain 1 colour ff1e339d payload 1 name step\n"
                                "start 3 thread 1 domain 1 colour ff1e339d payload 2 name step\n"
                                "end 3 thread 1\n"
                                "end 1 thread 1\n"
                                "end 2 thread 1\n"
                                "string 3 main\n"
                                "start 4 thread 2 domain 1 colour ff6e2146 payload 0 name main\n"
                                "end 4 thread 2\n");
}

static void names_go_along_when_no_strings_are_kept(void)
{
    void *state;
    if (!CHECK_INT(sp_instrument_module(NULL, &nvtx, NULL), SP_OK))
        return;
    CHECK(nvtx.attach_thread(nvtx.context, &state, NULL));
    begin(state, 0, "a \"b\"", 5);
    end(state, 0, "a \"b\"", 5);
    nvtx.detach_thread(nvtx.context, state);
    CHECK_CONTAINS(what_was_told(), "payload 5 name a \"b\"\nend 1 thread 1\n");
}

static void check_refused(int status, const char *words)
{
    sp_instrument none;
    sp_error error = {0};
    CHECK_INT(sp_instrument_module(NULL, &none, &error), status);
    CHECK_CONTAINS(error.text, words);
    CHECK_INT(sp_instrument_module(NULL, &none, &error), status); /* and again */
}

static void nothing_is_opened_without_a_tool(void)
{
    check_refused(SP_ERR_NOT_FOUND, "NVTX_INJECTION64_PATH is not set");
    CHECK_TEXT(what_was_told(), "");
}

static void a_missing_tool_is_named(void)
{
    check_refused(SP_ERR_NO_MODULE, "/no/such/tool.so");
}

static void a_library_that_is_no_tool_is_named(void)
{
    check_refused(SP_ERR_NO_MODULE, "it has no InitializeInjectionNvtx2");
}

static void a_tool_may_refuse(void)
{
    check_refused(SP_ERR_NO_MODULE, "refused to start");
}

static void a_tool_may_want_no_ranges(void)
{
    check_refused(SP_ERR_NOT_FOUND, "does not take ranges");
}

int main(void)
{
    in_child(ranges_are_calls, NVTX_TOOL, "");
    in_child(names_go_along_when_no_strings_are_kept, NVTX_TOOL, "strings");
    in_child(nothing_is_opened_without_a_tool, NULL, "");
    in_child(a_missing_tool_is_named, "/no/such/tool.so", "");
    in_child(a_library_that_is_no_tool_is_named, "libm.so.6", "");
    in_child(a_tool_may_refuse, NVTX_TOOL, "1");
    in_child(a_tool_may_want_no_ranges, NVTX_TOOL, "ranges");
    return check_result();
}
