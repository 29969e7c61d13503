/* layout.h - how an image is laid out. Everything is a sequence of 8-byte words in the machine's
 * own order: an image never leaves the machine.
 *
 *     header    SP_IMAGE_WORDS words: magic, version, size in bytes, flags
 *     section   kind, bytes of what follows, content; any number of them
 *
 * A text is its length (SP_IMAGE_NO_TEXT for NULL), its bytes and a NUL, filled up to a word.
 *
 *     METADATA  count, then per entry: kind, key, then the integer | real | text | count and texts
 *     RANK      rank, columns, counts of rows, threads, tasks, calls; rows; threads; tasks;
 *               then for each column of the mask, in order, its calls
 *     EXTRA     rank, kind, length, name, then the values
 */
#ifndef SP_STORE_IMAGE_LAYOUT_H
#define SP_STORE_IMAGE_LAYOUT_H

#include <stdint.h>

#define SP_IMAGE_MAGIC UINT64_C(0x316567616D697073) /* "spimage1" */
#define SP_IMAGE_VERSION UINT64_C(1)
#define SP_IMAGE_NO_TEXT (~UINT64_C(0))
#define SP_IMAGE_AGGREGATE UINT64_C(1) /* flag */

enum {
    SP_IMAGE_AT_MAGIC,
    SP_IMAGE_AT_VERSION,
    SP_IMAGE_AT_SIZE,
    SP_IMAGE_AT_FLAGS,
    SP_IMAGE_WORDS
};

typedef enum sp_image_section {
    SP_IMAGE_METADATA = 1,
    SP_IMAGE_RANK = 2,
    SP_IMAGE_EXTRA = 3
} sp_image_section;

typedef enum sp_image_extra_kind {
    SP_IMAGE_INTEGERS = 1,
    SP_IMAGE_REALS = 2,
    SP_IMAGE_TEXTS = 3
} sp_image_extra_kind;

#endif
