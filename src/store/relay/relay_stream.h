/* relay_stream.h - what the stream is made of: 8-byte words in the machine's own order. A section is
 * its kind and its content; a text is its length (SP_RELAY_NO_TEXT for NULL) and its bytes, filled up
 * to a word.
 *
 *     RANK   rank, columns, numbers of rows, threads and tasks; then these
 *     CALLS  count, SP_RELAY_PIECE_CALLS at most; then for each column of the rank's mask, in order, so many values
 *     EXTRA  rank, kind of values, count, name; then the values
 *     END
 */
#ifndef SP_STORE_RELAY_STREAM_H
#define SP_STORE_RELAY_STREAM_H

#include <stdint.h>

#define SP_RELAY_NO_TEXT (~UINT64_C(0))

enum { SP_RELAY_PIECE_CALLS = 64 * 1024 };

typedef enum sp_relay_section {
    SP_RELAY_RANK = 0x52414e4b,
    SP_RELAY_CALLS = 0x43414c4c,
    SP_RELAY_EXTRA = 0x45585452,
    SP_RELAY_END = 0x454e4421
} sp_relay_section;

typedef enum sp_relay_values { SP_RELAY_INTEGERS, SP_RELAY_REALS, SP_RELAY_TEXTS } sp_relay_values;

#endif
