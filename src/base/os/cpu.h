/* cpu.h - what this processor can do. */
#ifndef SP_BASE_OS_CPU_H
#define SP_BASE_OS_CPU_H

#include <stdbool.h>

/* An instruction for CRC-32C (SSE 4.2, ARMv8 CRC). */
bool sp_cpu_has_crc32c(void);

#endif
