/* Metadata of the innermost open call, as scope_profiler.h declares it. */
#include "base/json.h"
#include "recorder/path.h"
#include "session/copies.h"
#include "session/profiler.h"

#include <string.h>

/* `value` is emptied. */
static int set(const char *key, sp_text *value)
{
    int status = SP_ERR_INVALID_ARGUMENT;
    sp_text quoted = {0};
    if (key != NULL && key[0] != '\0') {
        sp_json_string(&quoted, key, strlen(key));
        status = quoted.failed || value->failed
                     ? SP_ERR_NO_MEMORY
                     : sp_path_note(&sp_default.recording, quoted.bytes, value->bytes);
    }
    sp_text_release(&quoted);
    sp_text_release(value);
    return status;
}

static bool is_off(void)
{
    return sp_recording_phase(&sp_default.recording) == SP_PHASE_OFF;
}

int sp_metadata_int(const char *key, int64_t value)
{
    SP_PASS_ON(sp_metadata_int, (key, value));
    sp_text text = {0};
    if (is_off())
        return SP_ERR_INACTIVE;
    sp_json_integer(&text, value);
    return set(key, &text);
}

int sp_metadata_double(const char *key, double value)
{
    SP_PASS_ON(sp_metadata_double, (key, value));
    sp_text text = {0};
    if (is_off())
        return SP_ERR_INACTIVE;
    sp_json_real(&text, value);
    return set(key, &text);
}

int sp_metadata_string(const char *key, const char *value)
{
    SP_PASS_ON(sp_metadata_string, (key, value));
    sp_text text = {0};
    if (is_off())
        return SP_ERR_INACTIVE;
    if (value == NULL)
        return SP_ERR_INVALID_ARGUMENT;
    sp_json_string(&text, value, strlen(value));
    return set(key, &text);
}
