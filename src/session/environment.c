#include "session/environment.h"

#include "base/os/process.h"

#include <stdlib.h>
#include <strings.h>

static const char *const names[SP_ENVIRONMENT_COUNT] = {
#define SP_ENVIRONMENT_NAME(enumerator, variable) [enumerator] = variable,
    SP_ENVIRONMENT_TABLE(SP_ENVIRONMENT_NAME)
#undef SP_ENVIRONMENT_NAME
};

const char *sp_environment_text(sp_environment_variable variable)
{
    const char *text = sp_os_environment(names[variable]);
    return text == NULL || text[0] == '\0' ? NULL : text;
}

bool sp_environment_flag(sp_environment_variable variable, bool otherwise)
{
    static const char *const words[] = {"1", "true", "yes", "on"};
    const char *text = sp_environment_text(variable);
    if (text == NULL)
        return otherwise;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(text, words[i]) == 0)
            return true;
    return false;
}

int64_t sp_environment_number(const char *name, int64_t otherwise)
{
    const char *text = sp_os_environment(name);
    return text == NULL || text[0] == '\0' ? otherwise : strtoll(text, NULL, 10);
}

int64_t sp_environment_rank(void)
{
    static const char *const variables[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK",
                                            "MV2_COMM_WORLD_RANK"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        int64_t rank = sp_environment_number(variables[i], -1);
        if (rank >= 0)
            return rank;
    }
    return -1;
}
