/* Reads any bytes as a settings file. The outcome must be settings that hold together one by one, or one
 * of the documented errors. Usable as a libFuzzer target; drive_mutations.c runs it without. */
#include "session/settings_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void fail(const char *what, int status, const char *text)
{
    fprintf(stderr, "%s: status %d, text '%s'\n", what, status, text);
    abort();
}

/* Every value was checked: checking it again changes nothing. */
static void check_values(sp_setting_value values[])
{
    sp_error error = {0};
    for (int id = 0; id < SP_NUM_SETTINGS; id++) {
        sp_setting_value value = values[id];
        size_t read = value.text == NULL ? 0 : strlen(value.text);
        for (size_t i = 0; value.is_given && i < value.num_items; i++)
            read += strlen(value.items[i]);
        if (read == SIZE_MAX || sp_setting_check((sp_setting_id)id, &value, &error) != SP_OK)
            fail("a value that was taken", error.status, error.text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char path[64];
    sp_error error = {0};
    sp_arena arena = {0};
    sp_setting_value values[SP_NUM_SETTINGS] = {{.is_given = false}};
    snprintf(path, sizeof path, "fuzz_settings.%ld.tmp", (long)getpid());
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) {
        perror(path);
        exit(2);
    }
    int status = sp_settings_file_read(path, &arena, values, &error);
    if (status == SP_OK)
        check_values(values);
    else if (status != SP_ERR_INVALID_ARGUMENT || strstr(error.text, path) == NULL)
        fail("undocumented outcome", status, error.text);
    sp_arena_release(&arena);
    unlink(path);
    return 0;
}
