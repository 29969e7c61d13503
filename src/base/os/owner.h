/* owner.h - which process left a file behind, and whether it still runs. */
#ifndef SP_BASE_OS_OWNER_H
#define SP_BASE_OS_OWNER_H

#include <stdbool.h>
#include <stdint.h>

typedef struct sp_os_owner {
    char host[65];
    char boot[40];  /* of this start of the machine; "" unknown */
    int64_t pid;
    uint64_t start; /* of the process, in the system's own unit; 0 unknown */
    char program[32];
} sp_os_owner;

typedef enum sp_os_owner_state {
    SP_OS_OWNER_ALIVE,
    SP_OS_OWNER_DEAD,
    SP_OS_OWNER_ELSEWHERE /* on another machine: nobody here can tell */
} sp_os_owner_state;

/* The calling process. */
void sp_os_owner_self(sp_os_owner *out);
/* Whether there is a process of that number here. */
bool sp_os_process_exists(int64_t pid);
/* Whether it is one of another user. */
bool sp_os_process_is_foreign(int64_t pid);
sp_os_owner_state sp_os_owner_look(const sp_os_owner *owner);

#endif
