#include "session/native_values.h"

#include "session/environment.h"

#include <string.h>

/* Variables that stand for a setting. Others are for starting and ending, which are no settings, or
 * add to what the program says (the tags). */
static void add_environment(bool is_default, sp_setting_value values[])
{
    values[SP_SETTING_DEACTIVATE_PROFILING] = (sp_setting_value){
        .is_given = true, .flag = sp_environment_flag(SP_ENVIRONMENT_DISABLE, false)};
    if (!is_default)
        return;
    if (sp_environment_flag(SP_ENVIRONMENT_AGGREGATION, false))
        values[SP_SETTING_AGGREGATION_MODE] = (sp_setting_value){.is_given = true, .flag = true};
    const char *output = sp_environment_text(SP_ENVIRONMENT_OUTPUT);
    if (output != NULL)
        values[SP_SETTING_FILE_PATH] = (sp_setting_value){.is_given = true, .text = output};
}

int sp_native_gather(bool is_default, sp_setting_value values[SP_NUM_SETTINGS], sp_error *error)
{
    int status = SP_OK;
    memset(values, 0, SP_NUM_SETTINGS * sizeof *values);
    add_environment(is_default, values);
    for (int id = 0; id < SP_NUM_SETTINGS && status == SP_OK; id++)
        status = sp_setting_check((sp_setting_id)id, &values[id], error);
    return status == SP_OK ? sp_setting_check_together(values, error) : status;
}
