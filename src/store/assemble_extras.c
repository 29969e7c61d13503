#include "store/assemble_int.h"

#include <stdlib.h>
#include <string.h>

int sp_assemble_write_extra(const sp_assemble_output *outputs, size_t num_outputs,
                            const sp_extra *extra, sp_error *error)
{
    int status = SP_OK;
    for (size_t i = 0; i < num_outputs && status == SP_OK; i++)
        status = outputs[i].table->write_extra(outputs[i].writer, extra, error);
    return status;
}

static int write_integers(sp_assembler *a, const char *name, const int64_t *values, size_t count)
{
    sp_extra extra = {.name = name, .rank = a->in->rank, .length = count, .integers = values};
    return sp_assemble_write_extra(a->in->outputs, a->in->num_outputs, &extra, a->error);
}

/* Two arrays that belong together, element by element. `values` holds both, one after the other. */
static int write_pair(sp_assembler *a, const char *first, const char *second,
                      const int64_t *values, size_t count)
{
    int status = write_integers(a, first, values, count);
    return status == SP_OK ? write_integers(a, second, values + count, count) : status;
}

static int write_flags(sp_assembler *a)
{
    size_t count = a->flagged.count;
    if (count == 0)
        return SP_OK;
    int64_t *values = malloc(2 * count * sizeof *values);
    if (values == NULL)
        return sp_fail_memory(a->error, "the flags of calls");
    for (size_t i = 0; i < count; i++) {
        const sp_flagged_call *call = &a->flagged.items[i];
        values[i] = sp_assembler_id(a, call->lane, call->number);
        values[count + i] = call->flags;
    }
    int status = write_pair(a, "call_flag_ids", "call_flags", values, count);
    free(values);
    return status;
}

/* Calls started of each row, if in any row some intervals go on with an earlier call. */
static int write_calls_started(sp_assembler *a)
{
    size_t count = a->rows.count;
    bool is_needed = false;
    for (size_t i = 0; i < count; i++)
        is_needed = is_needed || a->rows.items[i].resumptions > 0;
    if (!is_needed)
        return SP_OK;
    int64_t *values = malloc(count * sizeof *values);
    if (values == NULL)
        return sp_fail_memory(a->error, "the counts of calls");
    for (size_t i = 0; i < count; i++)
        values[i] = (int64_t)(a->rows.items[i].count - a->rows.items[i].resumptions);
    int status = write_integers(a, "calls_started", values, count);
    free(values);
    return status;
}

static int write_drains(sp_assembler *a)
{
    size_t count = 0;
    for (size_t i = 0; i < a->in->num_lanes; i++)
        count += a->lanes[i].drains > 0;
    if (count == 0)
        return SP_OK;
    int64_t *values = malloc(3 * count * sizeof *values);
    if (values == NULL)
        return sp_fail_memory(a->error, "the times of drains");
    size_t at = 0;
    for (size_t i = 0; i < a->in->num_lanes; i++) {
        if (a->lanes[i].drains == 0)
            continue;
        values[at] = a->in->lanes[i].thread;
        values[count + at] = (int64_t)a->lanes[i].drains;
        values[2 * count + at] = a->lanes[i].drain_ns;
        at++;
    }
    int status = write_pair(a, "drain_threads", "drain_counts", values, count);
    if (status == SP_OK)
        status = write_integers(a, "drain_ns", values + 2 * count, count);
    free(values);
    return status;
}

int sp_assemble_losses(uint32_t rank, const sp_assemble_loss *losses, size_t count,
                       const sp_assemble_output *outputs, size_t num_outputs, sp_error *error)
{
    size_t used = 0;
    const char **kinds = malloc((count + 1) * sizeof *kinds);
    int64_t *counts = malloc((count + 1) * sizeof *counts);
    int status = SP_OK;
    if (kinds == NULL || counts == NULL)
        status = sp_fail_memory(error, "the counts of losses");
    for (size_t i = 0; i < count && status == SP_OK; i++) {
        if (losses[i].count == 0)
            continue;
        kinds[used] = losses[i].kind;
        counts[used++] = losses[i].count;
    }
    sp_extra kind = {.name = "loss_kinds", .rank = rank, .length = used, .texts = kinds};
    sp_extra number = {.name = "loss_counts", .rank = rank, .length = used, .integers = counts};
    if (status == SP_OK && used > 0)
        status = sp_assemble_write_extra(outputs, num_outputs, &kind, error);
    if (status == SP_OK && used > 0)
        status = sp_assemble_write_extra(outputs, num_outputs, &number, error);
    free(kinds);
    free(counts);
    return status;
}

/* Ids and values of the calls of one instrument that keeps them. */
static int write_counted(sp_assembler *a, uint32_t number)
{
    const sp_instrument *item = &a->in->instruments.items[number];
    const sp_measured *measured = &a->measured;
    size_t count = 0, width = item->num_values, at = 0;
    for (size_t i = 0; i < measured->calls.count; i++)
        count += measured->calls.items[i].instrument == number;
    int64_t *values = malloc((count * (width + 1) + 1) * sizeof *values);
    sp_extra order = {.rank = a->in->rank, .length = width, .texts = item->value_names};
    sp_text ids = {0}, names = {0}, titles = {0};
    sp_text_format(&titles, "%s_value_names", item->name);
    sp_text_format(&ids, "%s_call_ids", item->name);
    sp_text_format(&names, "%s_call_values", item->name);
    int status = SP_OK;
    if (values == NULL || ids.failed || names.failed || titles.failed)
        status = sp_fail_memory(a->error, "the counters of calls");
    for (size_t i = 0; status == SP_OK && i < measured->calls.count; i++) {
        const sp_counted_call *call = &measured->calls.items[i];
        if (call->instrument != number)
            continue;
        values[at] = sp_assembler_id(a, call->lane, call->number);
        memcpy(values + count + at * width, &measured->values.items[call->first],
               width * sizeof *values);
        at++;
    }
    if (status == SP_OK && count > 0)
        status = write_integers(a, ids.bytes, values, count);
    if (status == SP_OK && count > 0)
        status = write_integers(a, names.bytes, values + count, count * width);
    order.name = titles.bytes;
    if (status == SP_OK && count > 0)
        status = sp_assemble_write_extra(a->in->outputs, a->in->num_outputs, &order, a->error);
    sp_text_release(&ids);
    sp_text_release(&names);
    sp_text_release(&titles);
    free(values);
    return status;
}

static int write_measured(sp_assembler *a)
{
    const sp_assembly *in = a->in;
    sp_measured_place place = {.rank = in->rank, .region = in->region,
                               .region_context = in->region_context, .lanes = in->lanes,
                               .num_lanes = in->num_lanes, .outputs = in->outputs,
                               .num_outputs = in->num_outputs};
    int status = sp_measured_add(&a->measured, &in->instruments, a->error);
    if (status == SP_OK)
        status = sp_measured_write(&a->measured, &in->instruments, &place, a->error);
    for (size_t i = 0; i < in->instruments.count && status == SP_OK; i++)
        if (in->instruments.items[i].keeps_calls)
            status = write_counted(a, (uint32_t)i);
    return status;
}

static int write_losses(sp_assembler *a)
{
    const sp_assembly *in = a->in;
    enum { OWN = 4 };
    sp_assemble_loss *losses = malloc((in->num_losses + OWN) * sizeof *losses);
    if (losses == NULL)
        return sp_fail_memory(a->error, "the counts of losses");
    losses[0] = (sp_assemble_loss){"records_lost", (int64_t)a->result.num_lost};
    losses[1] = (sp_assemble_loss){"ends_clamped", (int64_t)a->result.num_clamped};
    losses[2] = (sp_assemble_loss){"metadata_invalid", (int64_t)a->bad_metadata};
    losses[3] = (sp_assemble_loss){
        "open_calls_left_out", in->with_open_calls ? 0 : (int64_t)in->num_open_calls};
    for (size_t i = 0; i < in->num_losses; i++)
        losses[OWN + i] = in->losses[i];
    int status = sp_assemble_losses(in->rank, losses, OWN + in->num_losses, in->outputs,
                                    in->num_outputs, a->error);
    free(losses);
    return status;
}

int sp_assemble_extras(sp_assembler *a)
{
    int status = write_flags(a);
    if (status == SP_OK)
        status = write_calls_started(a);
    if (status == SP_OK)
        status = write_drains(a);
    if (status == SP_OK)
        status = write_measured(a);
    if (status == SP_OK)
        status = write_losses(a);
    for (size_t i = 0; i < a->in->num_extras && status == SP_OK; i++)
        status = sp_assemble_write_extra(a->in->outputs, a->in->num_outputs, &a->in->extras[i],
                                         a->error);
    return status;
}
