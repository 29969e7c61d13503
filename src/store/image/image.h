/* image.h - a finished run in one block of memory, behind the same table as a file. The block can
 * be handed from the recorder to the reader as it is; its layout is versioned and checked like a
 * file's, and calls are used where they lie. */
#ifndef SP_STORE_IMAGE_H
#define SP_STORE_IMAGE_H

#include "scope_plugin.h"

/* Writer entries only; `create` answers SP_ERR_UNSUPPORTED, because an image has no path. (In
 * the writer half of the layer.) */
extern const sp_store_table sp_image_writer;

/* Starts an image. `options` may be NULL; only is_aggregate counts. A commit that succeeds sets
 * `*out_image` (free() it) and `*out_size`; both must stay valid until then. */
int sp_image_create(const sp_store_options *options, void **out_image, size_t *out_size,
                    sp_store_writer **out, sp_error *error);

/* Reader entries only; `open` answers SP_ERR_UNSUPPORTED. (In the reader half of the layer.) */
extern const sp_store_table sp_image_reader;

/* Opens an image and takes it over: it is freed at close, and at once when this fails. */
int sp_image_open(void *image, size_t size, sp_store_reader **out, sp_error *error);

#endif
