#include "store/assemble.h"

#include "store/assemble_int.h"

#include <stdlib.h>

static int check_open_calls(const sp_assembly *in, sp_error *error)
{
    for (size_t i = 0; i < in->num_open_calls; i++) {
        const sp_assemble_open_call *open = &in->open_calls[i];
        bool goes_on = i > 0 && open[-1].lane == open->lane;
        if (open->lane >= in->num_lanes || (goes_on && open[-1].depth >= open->depth))
            return sp_fail(error, SP_ERR_INVALID_ARGUMENT,
                           "open call %zu: lane %u of %zu, depth %u, out of order", i, open->lane,
                           in->num_lanes, open->depth);
    }
    return SP_OK;
}

static int write_metadata(const sp_assemble_output *outputs, size_t num_outputs,
                          const sp_metadata_entry *entries, size_t count, sp_error *error)
{
    int status = SP_OK;
    for (size_t i = 0; i < num_outputs && status == SP_OK; i++)
        status = outputs[i].table->write_metadata(outputs[i].writer, entries, count, error);
    return status;
}

static int give_rows(sp_assembler *a)
{
    sp_assembly_row *rows = malloc((a->rows.count + 1) * sizeof *rows);
    if (rows == NULL)
        return sp_fail_memory(a->error, "the sums of the rows");
    for (size_t i = 0; i < a->rows.count; i++) {
        const sp_assemble_row *row = &a->rows.items[i];
        rows[i] = (sp_assembly_row){.region = row->region,
                                    .count = row->count,
                                    .resumptions = row->resumptions,
                                    .total = (int64_t)row->total,
                                    .minimum = row->minimum,
                                    .maximum = row->maximum};
    }
    a->result.rows = rows;
    a->result.num_rows = a->rows.count;
    return SP_OK;
}

static int run(sp_assembler *a)
{
    const sp_assembly *in = a->in;
    size_t num_lanes = in->num_lanes > 0 ? in->num_lanes : 1;
    a->lanes = calloc(num_lanes, sizeof *a->lanes);
    a->lane_ids = calloc(num_lanes, sizeof *a->lane_ids);
    a->result.states = calloc(num_lanes, sizeof *a->result.states);
    a->result.num_states = in->num_lanes;
    if (a->lanes == NULL || a->lane_ids == NULL || a->result.states == NULL)
        return sp_fail_memory(a->error, "the lanes of a run");
    int status = check_open_calls(in, a->error);
    if (status == SP_OK)
        status = sp_assemble_survey(a);
    if (status == SP_OK)
        status = sp_assemble_device_times(a);
    if (status == SP_OK)
        status = sp_assemble_plan(a);
    if (status == SP_OK)
        status = sp_assemble_metadata(a);
    if (status == SP_OK)
        status = write_metadata(in->outputs, in->num_outputs, in->metadata, in->num_metadata,
                                a->error);
    if (status == SP_OK)
        status = sp_assemble_emit(a);
    if (status == SP_OK)
        status = sp_assemble_extras(a);
    return status == SP_OK ? give_rows(a) : status;
}

static void release(sp_assembler *a)
{
    for (size_t i = 0; a->lanes != NULL && i < a->in->num_lanes; i++)
        sp_call_numbers_release(&a->lanes[i].numbers);
    for (size_t i = 0; i < a->rows.count; i++)
        sp_text_release(&a->rows.items[i].metadata);
    free(a->lanes);
    free(a->lane_ids);
    sp_assemble_release_room(a);
    sp_keep_release(&a->kept);
    sp_vector_release(&a->rows);
    sp_vector_release(&a->row_of);
    sp_vector_release(&a->flagged);
    sp_vector_release(&a->sides);
    sp_assemble_device_release(&a->device);
    sp_vector_release(&a->awaits);
    sp_vector_release(&a->groups);
    sp_measured_release(&a->measured);
}

int sp_assemble(const sp_assembly *assembly, sp_assembly_result *out, sp_error *error)
{
    sp_assembler a = {.in = assembly, .error = error, .held = SIZE_MAX};
    int status = run(&a);
    release(&a);
    if (status == SP_OK)
        *out = a.result;
    else
        sp_assembly_result_release(&a.result);
    return status;
}

void sp_assembly_result_release(sp_assembly_result *result)
{
    for (size_t i = 0; result->states != NULL && i < result->num_states; i++)
        sp_resolver_release(&result->states[i]);
    free(result->states);
    free(result->rows);
    *result = (sp_assembly_result){0};
}

static int write_measured_totals(const sp_assembly_totals *in, sp_error *error)
{
    sp_measured measured = {0};
    sp_measured_place place = {.rank = in->rank, .region = in->region,
                               .region_context = in->region_context,
                               .outputs = in->outputs, .num_outputs = in->num_outputs};
    int status = sp_measured_add(&measured, &in->instruments, error);
    if (status == SP_OK)
        status = sp_measured_write(&measured, &in->instruments, &place, error);
    sp_measured_release(&measured);
    return status;
}

int sp_assemble_totals(const sp_assembly_totals *in, sp_error *error)
{
    int status = write_metadata(in->outputs, in->num_outputs, in->metadata, in->num_metadata,
                                error);
    for (size_t i = 0; i < in->num_outputs && status == SP_OK; i++)
        status = in->outputs[i].table->begin_rank(
            in->outputs[i].writer, in->rank, in->rows, in->num_rows, 0, in->threads,
            in->track_threads ? in->num_threads : 0, NULL, 0, error);
    if (status == SP_OK)
        status = sp_assemble_losses(in->rank, in->losses, in->num_losses, in->outputs,
                                    in->num_outputs, error);
    if (status == SP_OK)
        status = write_measured_totals(in, error);
    for (size_t i = 0; i < in->num_extras && status == SP_OK; i++)
        status = sp_assemble_write_extra(in->outputs, in->num_outputs, &in->extras[i], error);
    return status;
}
