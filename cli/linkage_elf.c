/* linkage_elf.c - looks into ELF files. The loader itself is asked for the libraries (its --list
 * never starts the program), so run paths, caches and LD_LIBRARY_PATH count as they will. */
#include "linkage.h"

#include <elf.h>
#include <fcntl.h>
#include <spawn.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIBRARY_NAME "libscope_profiler"
/* A text that every copy of the recorder contains. */
#define RECORDER_TEXT "SCOPE_PROFILER_RUN_OUTPUT"
#define LOADER_NAME_ROOM 256
#define LONGEST_NEEDLE ((size_t)32)

extern char **environ;

typedef struct image {
    const unsigned char *bytes;
    size_t size;
} image;

static bool map_file(const char *path, image *out)
{
    struct stat status;
    void *bytes = MAP_FAILED;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size >= EI_NIDENT)
        bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (bytes == MAP_FAILED)
        return false;
    *out = (image){bytes, (size_t)status.st_size};
    return true;
}

static void unmap(image *file)
{
    munmap((void *)(uintptr_t)file->bytes, file->size);
}

static bool is_elf(const image *file)
{
    return memcmp(file->bytes, ELFMAG, SELFMAG) == 0;
}

bool cli_is_binary(const char *path)
{
    image file;
    bool answer;
    if (!map_file(path, &file))
        return false;
    answer = is_elf(&file);
    unmap(&file);
    return answer;
}

/* Copies the name of the loader that a 64-bit dynamic program asks for; false without one. */
static bool read_loader_name(const image *file, char *out, size_t room)
{
    Elf64_Ehdr header;
    if (file->size < sizeof header || file->bytes[EI_CLASS] != ELFCLASS64)
        return false;
    memcpy(&header, file->bytes, sizeof header);
    for (size_t i = 0; i < header.e_phnum; i++) {
        Elf64_Phdr segment;
        uint64_t at = header.e_phoff + i * sizeof segment;
        if (header.e_phentsize != sizeof segment || at < header.e_phoff || at > file->size ||
            file->size - at < sizeof segment)
            return false;
        memcpy(&segment, file->bytes + at, sizeof segment);
        if (segment.p_type != PT_INTERP)
            continue;
        if (segment.p_filesz == 0 || segment.p_filesz > room || segment.p_offset > file->size ||
            file->size - segment.p_offset < segment.p_filesz)
            return false;
        memcpy(out, file->bytes + segment.p_offset, segment.p_filesz);
        return out[segment.p_filesz - 1] == '\0';
    }
    return false;
}

/* Reads all of `input`; the number of the first needle of which it holds one, `count` when of none. */
static size_t find_in_stream(int input, const char *const *needles, size_t count)
{
    char buffer[8192];
    size_t kept = 0, first = count;
    for (;;) {
        ssize_t got = read(input, buffer + kept, sizeof buffer - kept);
        size_t filled;
        if (got <= 0)
            return first;
        filled = kept + (size_t)got;
        for (size_t i = 0; i < first; i++)
            if (memmem(buffer, filled, needles[i], strlen(needles[i])) != NULL)
                first = i;
        kept = filled < LONGEST_NEEDLE ? filled : LONGEST_NEEDLE;
        memmove(buffer, buffer + filled - kept, kept);
    }
}

/* Starts `loader --list path` with its output in a pipe; returns the read end, -1 on failure. */
static int start_listing(const char *loader, const char *path, pid_t *out_child)
{
    char *words[] = {(char *)(uintptr_t)loader, (char *)(uintptr_t)"--list",
                     (char *)(uintptr_t)path, NULL};
    posix_spawn_file_actions_t actions;
    int ends[2], failure;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    failure = posix_spawn_file_actions_init(&actions);
    if (failure == 0) {
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
        failure = posix_spawn(out_child, loader, &actions, NULL, words, environ);
        posix_spawn_file_actions_destroy(&actions);
    }
    close(ends[1]);
    if (failure != 0) {
        close(ends[0]);
        return -1;
    }
    return ends[0];
}

/* Which of the names the loader lists first among the libraries of a program; `count` when none, and
 * when it could not list them, which `*out_listed` tells. */
static size_t find_library(const char *loader, const char *path, const char *const *names, size_t count,
                           bool *out_listed)
{
    pid_t child;
    int status, output = start_listing(loader, path, &child);
    size_t found;
    *out_listed = false;
    if (output < 0)
        return count;
    found = find_in_stream(output, names, count);
    close(output);
    if (waitpid(child, &status, 0) != child)
        return found;
    *out_listed = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    return found;
}

/* True when the loader listed the libraries and the recorder's was not among them. */
static bool loader_finds_no_recorder(const char *loader, const char *path)
{
    static const char *const names[] = {LIBRARY_NAME};
    bool is_listed;
    return find_library(loader, path, names, 1, &is_listed) == 1 && is_listed;
}

const char *cli_mpi_of(const char *path)
{
    static const struct {
        const char *library, *mpi;
    } known[] = {{"libmpi.so.40", "openmpi"}, {"libmpich.so.", "mpich"}, {"libmpi.so.12", "mpich"},
                 {"libmpi_mpifh.so.40", "openmpi"}};
    enum { NUM_KNOWN = sizeof known / sizeof known[0] };
    const char *names[NUM_KNOWN];
    char loader[LOADER_NAME_ROOM];
    bool is_listed;
    image file;
    if (!map_file(path, &file))
        return NULL;
    bool is_dynamic = is_elf(&file) && read_loader_name(&file, loader, sizeof loader);
    unmap(&file);
    if (!is_dynamic)
        return NULL;
    for (size_t i = 0; i < NUM_KNOWN; i++)
        names[i] = known[i].library;
    size_t found = find_library(loader, path, names, NUM_KNOWN, &is_listed);
    return found < NUM_KNOWN ? known[found].mpi : NULL;
}

bool cli_lacks_recorder(const char *path)
{
    char loader[LOADER_NAME_ROOM];
    bool is_dynamic, inside;
    image file;
    if (!map_file(path, &file))
        return false;
    if (!is_elf(&file)) {
        unmap(&file);
        return false;
    }
    is_dynamic = read_loader_name(&file, loader, sizeof loader);
    inside = memmem(file.bytes, file.size, RECORDER_TEXT, strlen(RECORDER_TEXT)) != NULL;
    unmap(&file);
    if (inside)
        return false;
    return !is_dynamic || loader_finds_no_recorder(loader, path);
}
