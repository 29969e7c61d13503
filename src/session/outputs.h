/* outputs.h - the writers of one publication: the file, the image in memory, or both. */
#ifndef SP_SESSION_OUTPUTS_H
#define SP_SESSION_OUTPUTS_H

#include "session/gather.h"

enum { SP_OUTPUTS_MOST = 2 };

typedef struct sp_outputs {
    sp_assemble_output items[SP_OUTPUTS_MOST];
    size_t count;
    sp_gather *gather; /* ranks that publish together; NULL: this one alone */
    bool is_sent;      /* of a rank other than 0: its calls have gone out */
    void *image; /* set by the commit; the caller takes it */
    size_t image_size;
} sp_outputs;

/* Opens an image writer (`want_image`) and a writer of a file (`path` not NULL). On failure nothing
 * is left open. `outputs` must stay where it is. */
int sp_outputs_open(sp_outputs *outputs, bool want_image, const char *path, sp_output_format format,
                    const sp_store_options *options, sp_error *error);

/* For a rank other than 0 of a common publication: its calls go to rank 0. */
int sp_outputs_open_relay(sp_outputs *outputs, sp_gather *gather, sp_error *error);

/* Commits all; when one fails the rest is aborted and the image dropped. The file comes last. Of a
 * common publication rank 0 takes over the calls of the others first, and these learn here how it
 * ended: SP_GATHER_AGAIN besides other statuses. */
int sp_outputs_commit(sp_outputs *outputs, sp_error *error);

/* After a failure before the commit, and harmless after it. */
void sp_outputs_abort(sp_outputs *outputs);

#endif
