#include "session/outputs.h"

#include "store/image/image.h"
#include "store/module.h"
#include "store/spt/spt.h"

#include <stdlib.h>

static void add(sp_outputs *outputs, const sp_store_table *table, sp_store_writer *writer)
{
    outputs->items[outputs->count++] = (sp_assemble_output){.table = table, .writer = writer};
}

static int open_file(sp_outputs *outputs, const char *path, sp_output_format format,
                     const sp_store_options *options, sp_error *error)
{
    const sp_store_table *table =
        format == SP_OUTPUT_TRACE ? &sp_spt_writer : sp_store_hdf5(error);
    if (table == NULL)
        return SP_ERR_NO_MODULE;
    sp_store_writer *writer;
    int status = table->create(path, options, &writer, error);
    if (status == SP_OK)
        add(outputs, table, writer);
    return status;
}

int sp_outputs_open(sp_outputs *outputs, bool want_image, const char *path, sp_output_format format,
                    const sp_store_options *options, sp_error *error)
{
    *outputs = (sp_outputs){.count = 0};
    int status = SP_OK;
    if (want_image) {
        sp_store_writer *writer;
        status = sp_image_create(options, &outputs->image, &outputs->image_size, &writer, error);
        if (status == SP_OK)
            add(outputs, &sp_image_writer, writer);
    }
    if (status == SP_OK && path != NULL)
        status = open_file(outputs, path, format, options, error);
    if (status != SP_OK)
        sp_outputs_abort(outputs);
    return status;
}

int sp_outputs_open_relay(sp_outputs *outputs, sp_gather *gather, sp_error *error)
{
    const sp_relay_sender to = sp_gather_sender(gather);
    *outputs = (sp_outputs){.gather = gather};
    sp_store_writer *writer;
    int status = sp_relay_create(&to, &writer, error);
    if (status == SP_OK)
        add(outputs, &sp_relay_writer, writer);
    return status;
}

int sp_outputs_commit(sp_outputs *outputs, sp_error *error)
{
    sp_gather *gather = outputs->gather;
    bool collects = gather != NULL && sp_gather_is_root(gather);
    int status =
        collects ? sp_gather_collect(gather, outputs->items, outputs->count, error) : SP_OK;
    size_t done = 0;
    while (done < outputs->count && status == SP_OK) {
        const sp_assemble_output *output = &outputs->items[done++];
        status = output->table->commit(output->writer, error);
    }
    for (size_t i = done; i < outputs->count; i++)
        outputs->items[i].table->abort(outputs->items[i].writer);
    outputs->count = 0;
    if (status == SP_OK && gather != NULL && !collects) {
        outputs->is_sent = true;
        status = sp_gather_await_verdict(gather, error);
    }
    if (status != SP_OK)
        sp_outputs_abort(outputs);
    return status;
}

void sp_outputs_abort(sp_outputs *outputs)
{
    for (size_t i = 0; i < outputs->count; i++)
        outputs->items[i].table->abort(outputs->items[i].writer);
    free(outputs->image);
    *outputs = (sp_outputs){.gather = outputs->gather, .is_sent = outputs->is_sent};
}
