/* Opens any bytes as a JSON profile and reads all of it. The outcome must be a run or one of the
 * documented errors. Usable as a libFuzzer target; drive_mutations.c runs it without. */
#include "store/json/json_store.h"

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

static void read_all(sp_store_reader *reader)
{
    const sp_store_description *run = sp_json_store.describe(reader);
    for (size_t row = 0; row < run->num_rows; row++) {
        size_t count = (size_t)run->rows[row].count;
        if (strlen(run->rows[row].region) == SIZE_MAX)
            abort();
        for (int c = 0; c < SP_COLUMN_COUNT; c++) {
            if (!(run->row_columns[row] & SP_COLUMN_BIT(c)))
                continue;
            sp_error error = {0};
            int64_t *values = malloc((count + 1) * sizeof *values);
            int status = values == NULL ? SP_ERR_NO_MEMORY
                                        : sp_json_store.read_calls(reader, row, (sp_column)c, 0, count,
                                                                   values, &error);
            if (status != SP_OK)
                fail("calls that the index promised", status, error.text);
            free(values);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char path[64];
    sp_error error = {0};
    sp_store_reader *reader = NULL;
    snprintf(path, sizeof path, "fuzz_json.%ld.tmp", (long)getpid());
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) {
        perror(path);
        exit(2);
    }
    int status = sp_json_store.open(path, &reader, &error);
    if (status == SP_OK) {
        read_all(reader);
        sp_json_store.close(reader);
    } else if ((status != SP_ERR_DAMAGED && status != SP_ERR_NOT_A_PROFILE &&
                status != SP_ERR_SCHEMA && status != SP_ERR_UNSUPPORTED) || error.text[0] == '\0') {
        fail("undocumented outcome", status, error.text);
    }
    unlink(path);
    return 0;
}
