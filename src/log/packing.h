/* packing.h - the word that begins every packed record; see docs/FORMATS.md. */
#ifndef SP_LOG_PACKING_H
#define SP_LOG_PACKING_H

#include <stdint.h>

/* Bits 0-2 of the first byte. The three of a short call take 5 bytes, those of a medium one 8; in
 * each three the step is the one seen last after the previous region, the one before, or spelled
 * out behind the word. */
enum {
    SP_FORM_SHORT = 0,
    SP_FORM_MEDIUM = 3,
    SP_FORM_OTHER = 7, /* the other five bits are the record kind, numbers follow */
    SP_FORM_BITS = 3,
    SP_STEP_LAST = 0,
    SP_STEP_BEFORE = 1,
    SP_STEP_EXPLICIT = 2
};

/* Bit 3: the call began before the previous call or drain ended (it is around it). Then the gap,
 * from that end to the start of the call, or to its end when it is around; then the duration. */
enum {
    SP_PACK_AROUND_BIT = 3,
    SP_PACK_GAP_BIT = 4,
    SP_SHORT_GAP_BITS = 13,
    SP_SHORT_DURATION_BITS = 23,
    SP_SHORT_BYTES = 5,
    SP_MEDIUM_GAP_BITS = 24,
    SP_MEDIUM_DURATION_BITS = 36,
    SP_MEDIUM_BYTES = 8,
    SP_LONGEST_CALL = 32 /* 1 + four numbers of 5, 5, 10, 10 bytes, rounded up */
};

#endif
