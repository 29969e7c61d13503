/* claim.h - taking a file name among processes that would all write it. */
#ifndef SP_BASE_OS_CLAIM_H
#define SP_BASE_OS_CLAIM_H

#include <stdbool.h>
#include <stdint.h>

/* Held from taking to release, or to the end of the process. Zeroed memory holds nothing. */
typedef struct sp_os_claim {
    int descriptor; /* plus one, so that zero is none */
    char *lock_path;
} sp_os_claim;

/* False when another process holds `path`. True also where no lock can be made: then nobody knows
 * better. The lock is a file .<name>.lock beside it. */
bool sp_os_claim_take(sp_os_claim *claim, const char *path);
void sp_os_claim_release(sp_os_claim *claim);
/* In the child of a fork: the claim stays the parent's. */
void sp_os_claim_forget(sp_os_claim *claim);

/* True when the file was written after that moment (ns since 1970). */
bool sp_os_written_since(const char *path, int64_t realtime_ns);

#endif
