#include "backends/nvtx/tool.h"

#include "base/error.h"
#include "base/os/library.h"
#include "base/os/thread.h"

#include <stdlib.h>

/* The slots, which a tool fills: some of them through functions that it never gets to see called. */
static nvtx_function core[NVTX_CORE_SLOTS], domains[NVTX_DOMAIN_SLOTS];
static nvtx_function *core_slots[NVTX_CORE_SLOTS], *domain_slots[NVTX_DOMAIN_SLOTS];

static struct {
    nvtx_tool tool;
    bool is_there;
    sp_error error;
} found;

static int module_slots(int module, nvtx_function ***out_slots, unsigned *out_count)
{
    if (module != NVTX_MODULE_CORE && module != NVTX_MODULE_DOMAINS)
        return 0;
    if (out_slots != NULL)
        *out_slots = module == NVTX_MODULE_CORE ? core_slots : domain_slots;
    if (out_count != NULL)
        *out_count = module == NVTX_MODULE_CORE ? NVTX_CORE_SLOTS : NVTX_DOMAIN_SLOTS;
    return 1;
}

static void set_tool_version(uint32_t version)
{
    (void)version; /* any is fine: what it takes is seen from the slots */
}

static const void *export_table(uint32_t id)
{
    static const nvtx_callbacks callbacks = {sizeof callbacks, module_slots};
    static const nvtx_version version = {
        .size = sizeof version, .version = NVTX_VERSION, .set_tool_version = set_tool_version};
    return id == NVTX_TABLE_CALLBACKS ? (const void *)&callbacks
           : id == NVTX_TABLE_VERSION ? (const void *)&version
                                      : NULL;
}

static int take_functions(void)
{
    found.tool.range_start = (nvtx_range_start)domains[NVTX_RANGE_START];
    found.tool.range_end = (nvtx_range_end)domains[NVTX_RANGE_END];
    found.tool.register_string = (nvtx_register_string)domains[NVTX_REGISTER_STRING];
    if (found.tool.range_start == NULL || found.tool.range_end == NULL)
        return sp_fail(&found.error, SP_ERR_NOT_FOUND, "the NVTX tool does not take ranges");
    if (domains[NVTX_INITIALIZE] != NULL)
        ((nvtx_initialize)domains[NVTX_INITIALIZE])(NULL);
    if (domains[NVTX_DOMAIN_CREATE] != NULL)
        found.tool.domain = ((nvtx_domain_create)domains[NVTX_DOMAIN_CREATE])("scope_profiler");
    return SP_OK;
}

static int load(void)
{
    const char *path = getenv(NVTX_TOOL_VARIABLE);
    if (path == NULL || *path == '\0')
        return sp_fail(&found.error, SP_ERR_NOT_FOUND,
                       "no NVTX tool is attached: " NVTX_TOOL_VARIABLE " is not set");
    for (int i = 1; i < NVTX_CORE_SLOTS; i++)
        core_slots[i] = &core[i];
    for (int i = 1; i < NVTX_DOMAIN_SLOTS; i++)
        domain_slots[i] = &domains[i];
    void *library = sp_os_library_open_plain(path, &found.error);
    if (library == NULL)
        return found.error.status;
    nvtx_tool_entry entry = (nvtx_tool_entry)sp_os_library_function(library, NVTX_TOOL_ENTRY);
    if (entry == NULL)
        return sp_fail(&found.error, SP_ERR_NO_MODULE,
                       "'%s' (" NVTX_TOOL_VARIABLE ") is no NVTX tool: it has no " NVTX_TOOL_ENTRY,
                       path);
    if (entry(export_table) == 0)
        return sp_fail(&found.error, SP_ERR_NO_MODULE,
                       "the NVTX tool '%s' (" NVTX_TOOL_VARIABLE ") refused to start", path);
    return take_functions();
}

static void look(void)
{
    found.is_there = load() == SP_OK;
}

const nvtx_tool *sp_nvtx_tool(sp_error *error)
{
    static sp_once once = SP_ONCE_INIT;
    sp_once_run(&once, look);
    if (!found.is_there && error != NULL)
        *error = found.error;
    return found.is_there ? &found.tool : NULL;
}
