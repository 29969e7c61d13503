/* find.h - journals and files of rings that lie around, told by what they say of themselves. */
#ifndef SP_STORE_JOURNAL_FIND_H
#define SP_STORE_JOURNAL_FIND_H

#include "base/os/owner.h"
#include "store/journal/owner_frame.h"

typedef struct sp_journal_found {
    const char *path;
    bool is_rings;
    sp_os_owner owner;
    sp_os_owner_state state;
    const sp_owner_frame *frame;
} sp_journal_found;

typedef void sp_journal_visit(void *context, const sp_journal_found *found);

/* Visits those of an output: beside it (or in `folder`, when journals go elsewhere), and among the
 * rings of this machine. Not thorough: only where a name tells, which costs a start next to nothing. */
void sp_journal_find(const char *output, const char *folder, bool is_thorough,
                     sp_journal_visit *visit, void *context);
/* Every journal file of an output, and the rings whose names tell of it. */
void sp_journal_find_output(const char *output, const char *folder, sp_journal_visit *visit,
                            void *context);
/* Those of every output in a folder. */
void sp_journal_find_in(const char *folder, sp_journal_visit *visit, void *context);
/* Every file of rings of this user on this machine. */
void sp_journal_find_rings(sp_journal_visit *visit, void *context);

/* What a file says of its owner: the newest such frame near its beginning. False: it is neither a
 * journal nor a file of rings, or does not say. */
bool sp_journal_identify(const char *path, sp_owner_frame *out, bool *out_is_rings);

#endif
