/* Runs a fuzz target over files and folders, and over each file with single bytes changed: a plain
 * test that needs no fuzzer. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_BYTES = 1 << 20 };

static size_t inputs;

static void run_changed(uint8_t *data, size_t size)
{
    static const uint8_t changes[] = {0x01, 0x80, 0xff};
    for (size_t i = 0; i < size; i++) {
        for (size_t c = 0; c < sizeof changes; c++) {
            data[i] ^= changes[c];
            LLVMFuzzerTestOneInput(data, size);
            data[i] ^= changes[c];
        }
        LLVMFuzzerTestOneInput(data, i);
    }
}

static int run_file(const char *path)
{
    static uint8_t data[MOST_BYTES];
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        return 1;
    }
    size_t size = fread(data, 1, sizeof data, file);
    fclose(file);
    LLVMFuzzerTestOneInput(data, size);
    run_changed(data, size);
    inputs++;
    return 0;
}

static int run_folder(const char *path)
{
    DIR *folder = opendir(path);
    int failures = 0;
    if (folder == NULL)
        return run_file(path);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char child[4096];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(child, sizeof child, "%s/%s", path, entry->d_name);
        failures += run_file(child);
    }
    closedir(folder);
    return failures;
}

int main(int argc, char **argv)
{
    int failures = 0;
    for (int i = 1; i < argc; i++)
        failures += run_folder(argv[i]);
    printf("%zu inputs\n", inputs);
    return failures > 0 || inputs == 0;
}
