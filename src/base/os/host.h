/* host.h - which machine this is. */
#ifndef SP_BASE_OS_HOST_H
#define SP_BASE_OS_HOST_H

#include <stdbool.h>
#include <stddef.h>

/* The name of the machine. False when it does not fit or there is none; `out` is then "". */
bool sp_os_host_name(char *out, size_t room);

/* What all processes have in common that share a CLOCK_MONOTONIC: the start of this machine's system
 * and, where it can be had, the time namespace. False as above. */
bool sp_os_clock_domain(char *out, size_t room);

#endif
