/* Runs a fuzz target over damaged copies of files, the same ones each time:
 *
 *     <program> <number of copies> <file>...
 *
 * Copies are tried in child processes with bounded memory and time. A child that dies is a finding:
 * the copy is kept as finding-<number>, and the next child goes on behind it. */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { MAX_FILES = 64, MAX_MUTATIONS = 8, SECONDS_EACH = 20 };
static const rlim_t MEMORY_LIMIT = (rlim_t)2 << 30;

typedef struct corpus_file {
    const char *path;
    uint8_t *bytes;
    size_t size;
} corpus_file;

static corpus_file corpus[MAX_FILES];
static int corpus_count;

/* A small generator (splitmix64), so that a number names a copy on every machine. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t value = (*state += UINT64_C(0x9E3779B97F4A7C15));
    value = (value ^ value >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    value = (value ^ value >> 27) * UINT64_C(0x94D049BB133111EB);
    return value ^ value >> 31;
}

static void load(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL || corpus_count == MAX_FILES) {
        perror(path);
        exit(2);
    }
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    corpus_file *entry = &corpus[corpus_count++];
    *entry = (corpus_file){path, malloc(size + 1), size};
    if (entry->bytes == NULL || fread(entry->bytes, 1, size, file) != size)
        exit(2);
    fclose(file);
}

static void mutate_once(uint8_t *bytes, size_t *size, uint64_t *random)
{
    static const uint8_t VALUES[] = {0x00, 0x01, 0x7F, 0x80, 0xFF};
    size_t at = next_random(random) % *size;
    switch (next_random(random) % 6) {
    case 0: /* one bit */
        bytes[at] ^= (uint8_t)(1u << next_random(random) % 8);
        break;
    case 1: /* one byte */
        bytes[at] = (uint8_t)next_random(random);
        break;
    case 2: /* a byte of claims */
        bytes[at] = VALUES[next_random(random) % sizeof VALUES];
        break;
    case 3: { /* a stretch */
        size_t length = next_random(random) % 64;
        length = length < *size - at ? length : *size - at;
        memset(bytes + at, VALUES[next_random(random) % sizeof VALUES], length);
        break;
    }
    case 4: { /* a copy of another part */
        size_t from = next_random(random) % *size, length = next_random(random) % 64;
        size_t room = *size - (at > from ? at : from);
        memmove(bytes + at, bytes + from, length < room ? length : room);
        break;
    }
    default: /* cut, now and then */
        if (next_random(random) % 8 == 0)
            *size = at + 1;
    }
}

static uint8_t *make_copy(unsigned long number, size_t *size)
{
    uint64_t random = number;
    const corpus_file *file = &corpus[number % (unsigned long)corpus_count];
    uint8_t *bytes = malloc(file->size);
    if (bytes == NULL)
        exit(2);
    memcpy(bytes, file->bytes, file->size);
    *size = file->size;
    for (uint64_t left = 1 + next_random(&random) % MAX_MUTATIONS; left > 0; left--)
        mutate_once(bytes, size, &random);
    return bytes;
}

static void keep_finding(unsigned long number)
{
    char name[64];
    size_t size;
    uint8_t *bytes = make_copy(number, &size);
    snprintf(name, sizeof name, "finding-%lu", number);
    FILE *file = fopen(name, "wb");
    if (file != NULL) {
        fwrite(bytes, 1, size, file);
        fclose(file);
    }
    free(bytes);
}

static void limit_child(void)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    struct rlimit memory = {MEMORY_LIMIT, MEMORY_LIMIT};
    setrlimit(RLIMIT_AS, &memory);
#else
    (void)MEMORY_LIMIT;
#endif
    struct rlimit core = {0, 0};
    setrlimit(RLIMIT_CORE, &core);
}

/* Tries copies from `*next` on; `*next` is shared with the parent. */
static void run_child(volatile unsigned long *next, unsigned long count)
{
    limit_child();
    while (*next < count) {
        size_t size;
        uint8_t *bytes = make_copy(*next, &size);
        alarm(SECONDS_EACH);
        LLVMFuzzerTestOneInput(bytes, size);
        alarm(0);
        free(bytes);
        ++*next;
    }
    _exit(0);
}

int main(int argc, char **argv)
{
    unsigned long count = argc > 2 ? strtoul(argv[1], NULL, 10) : 0;
    for (int i = 2; i < argc; i++)
        load(argv[i]);
    if (count == 0 || corpus_count == 0) {
        fprintf(stderr, "usage: %s <number of copies> <file>...\n", argv[0]);
        return 2;
    }
    volatile unsigned long *next = mmap(NULL, sizeof *next, PROT_READ | PROT_WRITE,
                                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (next == MAP_FAILED)
        return 2;
    unsigned long findings = 0;
    while (*next < count) {
        int status = 0;
        pid_t child = fork();
        if (child == 0)
            run_child(next, count);
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
            continue;
        if (*next >= count)
            break;
        unsigned long number = *next;
        fprintf(stderr, "copy %lu of %s: %s %d\n", number,
                corpus[number % (unsigned long)corpus_count].path,
                WIFSIGNALED(status) ? "signal" : "exit",
                WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        keep_finding(number);
        findings++;
        ++*next;
    }
    fprintf(stderr, "%lu copies, %lu findings\n", count, findings);
    return findings > 0;
}
