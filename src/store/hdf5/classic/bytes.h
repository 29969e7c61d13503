/* bytes.h - the bytes of a file. A request outside it fails; nothing else can go wrong with what a
 * file says of itself. */
#ifndef SP_STORE_HDF5_CLASSIC_BYTES_H
#define SP_STORE_HDF5_CLASSIC_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SP_CLASSIC_WINDOW = 16 * 1024, SP_CLASSIC_WINDOWS = 32 };

/* Recently read stretches of the file, so that small requests cost no system call. */
typedef struct sp_classic_window {
    uint64_t number; /* counted from 1; 0: empty */
    size_t size;
    unsigned char bytes[SP_CLASSIC_WINDOW];
} sp_classic_window;

typedef struct sp_classic_bytes {
    int descriptor;
    uint64_t base; /* where the file's addresses begin */
    uint64_t size; /* bytes from there to the end */
    sp_classic_window *windows;
} sp_classic_bytes;

/* Copies `size` bytes at `address`. */
bool sp_classic_read(sp_classic_bytes *bytes, uint64_t address, size_t size, void *out);

/* Numbers of files are little-endian. */
static inline uint64_t sp_classic_number(const unsigned char *bytes, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

#define SP_CLASSIC_U16(bytes) ((uint32_t)sp_classic_number((bytes), 2))
#define SP_CLASSIC_U32(bytes) ((uint32_t)sp_classic_number((bytes), 4))
#define SP_CLASSIC_U64(bytes) sp_classic_number((bytes), 8)

#endif
