#include "store/journal/owner_frame.h"

#include "base/json_reader.h"
#include "log/bytes.h"

#include <stdio.h>

/* One member whose value has been read. */
typedef struct member {
    sp_json_text key, value;
    sp_json_token kind;
} member;

static void take_text(const member *from, const char *key, sp_text *out)
{
    if (from->kind != SP_JSON_STRING || !sp_json_equals(from->key, key))
        return;
    out->length = 0;
    sp_json_decode(out, from->value);
}

static void take_short(const member *from, const char *key, char *out, size_t room)
{
    sp_text text = {0};
    take_text(from, key, &text);
    if (text.length > 0 && !text.failed)
        snprintf(out, room, "%s", text.bytes);
    sp_text_release(&text);
}

static void take_integer(const member *from, const char *key, int64_t *out)
{
    if (from->kind == SP_JSON_NUMBER && sp_json_equals(from->key, key))
        sp_json_integer_of(from->value, out);
}

static void take_member(const member *from, sp_owner_frame *out)
{
    int64_t start = (int64_t)out->owner.start;
    take_short(from, "host", out->owner.host, sizeof out->owner.host);
    take_short(from, "boot_id", out->owner.boot, sizeof out->owner.boot);
    take_short(from, "program", out->owner.program, sizeof out->owner.program);
    take_integer(from, "pid", &out->owner.pid);
    take_integer(from, "process_start", &start);
    out->owner.start = (uint64_t)start;
    take_text(from, "output", &out->output);
    take_text(from, "rings", &out->rings);
    take_text(from, "label", &out->label);
    take_text(from, "folder", &out->folder);
    take_short(from, "clock", out->clock, sizeof out->clock);
    take_integer(from, "rank", &out->rank);
    take_integer(from, "started_ns", &out->started_ns);
    take_integer(from, "started_at_ns", &out->started_at_ns);
    if (from->kind == SP_JSON_TRUE && sp_json_equals(from->key, "track_threads"))
        out->track_threads = true;
    if (from->kind == SP_JSON_TRUE && sp_json_equals(from->key, "track_tasks"))
        out->track_tasks = true;
}

bool sp_owner_frame_read(const sp_frame_view *frame, sp_owner_frame *out)
{
    if (frame->kind != SP_FRAME_OWNER || frame->payload_bytes < SP_OWNER_BYTES)
        return false;
    sp_json_reader reader;
    member at;
    sp_owner_frame_release(out);
    out->version = sp_load_u32(frame->payload);
    out->generation = sp_load_u32(frame->payload + 4);
    memcpy(out->id, frame->payload + 8, SP_JOURNAL_ID_BYTES);
    sp_json_reader_init(&reader, (const char *)frame->payload + SP_OWNER_BYTES,
                        frame->payload_bytes - SP_OWNER_BYTES);
    if (sp_json_next(&reader, NULL) != SP_JSON_OBJECT)
        return false;
    while (sp_json_next(&reader, &at.key) == SP_JSON_KEY) {
        at.kind = sp_json_next(&reader, &at.value);
        take_member(&at, out);
        if (!sp_json_skip(&reader, at.kind))
            return false;
    }
    /* Terminated also when they are empty. */
    sp_text_add(&out->output, "");
    sp_text_add(&out->rings, "");
    sp_text_add(&out->label, "");
    sp_text_add(&out->folder, "");
    return !out->output.failed && !out->rings.failed && !out->label.failed && !out->folder.failed;
}

void sp_owner_frame_release(sp_owner_frame *frame)
{
    sp_text_release(&frame->output);
    sp_text_release(&frame->rings);
    sp_text_release(&frame->label);
    sp_text_release(&frame->folder);
    *frame = (sp_owner_frame){.rank = 0};
}
