/* Any bytes as what is left of a recording: a journal, or a file of rings. They are read as they are, and
 * again with the sums of frames and blocks put right, so that what lies behind those checks is reached. */
#include "base/crc32c.h"
#include "log/block.h"
#include "log/bytes.h"
#include "store/image/image.h"
#include "store/journal/frame.h"
#include "store/journal/recover.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BLOCK_AT_PAYLOAD_BYTES = 32, BLOCK_AT_SUM = 36 };

static const char *path(void)
{
    static char name[64];
    if (name[0] == '\0')
        snprintf(name, sizeof name, "/tmp/sp_fuzz_journal_%ld", (long)getpid());
    return name;
}

static void write_file(const uint8_t *data, size_t size)
{
    int file = open(path(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0 || write(file, data, size) != (ssize_t)size)
        abort();
    close(file);
}

/* Whatever could be read makes a profile of as many calls. */
static void recover(const uint8_t *data, size_t size)
{
    const char *paths[1] = {path()};
    sp_loaded loaded;
    sp_error error;
    sp_store_writer *writer;
    sp_assembly_result result = {0};
    void *image;
    size_t bytes;
    write_file(data, size);
    if (sp_load(paths, 1, &loaded, &error) != SP_OK)
        return;
    if (sp_image_create(NULL, &image, &bytes, &writer, NULL) != SP_OK)
        abort();
    sp_assemble_output output = {.table = &sp_image_writer, .writer = writer};
    int status = sp_recover(&loaded, &output, 1, &result, &error);
    if (status == SP_OK && result.num_calls != loaded.num_calls + loaded.open_calls.count)
        abort();
    sp_image_writer.abort(writer);
    sp_assembly_result_release(&result);
    sp_loaded_release(&loaded);
}

static void mend_block(uint8_t *block, size_t size)
{
    if (size < SP_BLOCK_HEADER_BYTES)
        return;
    size_t payload = sp_load_u32(block + BLOCK_AT_PAYLOAD_BYTES);
    if (payload > size - SP_BLOCK_HEADER_BYTES)
        return;
    sp_store_u32(block + BLOCK_AT_SUM, 0);
    sp_store_u32(block + BLOCK_AT_SUM, sp_crc32c(0, block, SP_BLOCK_HEADER_BYTES + payload));
}

/* Frames begin where their magic is. */
static void mend(uint8_t *data, size_t size)
{
    for (size_t at = 0; at + SP_FRAME_HEADER_BYTES <= size; at += SP_FRAME_ALIGNMENT) {
        if (memcmp(data + at, SP_FRAME_MAGIC, 4) != 0)
            continue;
        size_t payload = sp_load_u32(data + at + SP_FRAME_AT_BYTES);
        uint32_t kind = sp_load_u32(data + at + SP_FRAME_AT_KIND);
        if (payload > size - at - SP_FRAME_HEADER_BYTES || sp_frame_bytes(payload) > size - at)
            continue;
        uint8_t *body = data + at + SP_FRAME_HEADER_BYTES;
        if (kind == SP_FRAME_BLOCK && payload > SP_PLACE_BYTES)
            mend_block(body + SP_PLACE_BYTES, payload - SP_PLACE_BYTES);
        sp_frame_finish(data + at, (sp_frame_kind)kind, payload);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    recover(data, size);
    uint8_t *mended = malloc(size + 1);
    if (mended == NULL)
        return 0;
    memcpy(mended, data, size);
    mend(mended, size);
    recover(mended, size);
    free(mended);
    unlink(path());
    return 0;
}
