/* Writes the table of functions and tracks, see ctf_table.h. */
#include <string.h>

#include "base/compiler.h"
#include "format/ctf/write/ctf_write_packet.h"

static const tl_field function_field[CTF_FUNCTION_FIELDS] = {
    [CTF_FUNCTION_ID] = {.name = "id", .type = TL_I64},
    [CTF_FUNCTION_ADDRESS] = {.name = "address", .type = TL_U64, .base = 16},
    [CTF_FUNCTION_LINE] = {.name = "line", .type = TL_U64, .bits = 32},
    [CTF_FUNCTION_NAME] = {.name = "name", .type = TL_STRING},
    [CTF_FUNCTION_LINKAGE_NAME] = {.name = "linkage_name", .type = TL_STRING},
    [CTF_FUNCTION_FILE] = {.name = "file", .type = TL_STRING},
    [CTF_FUNCTION_MODULE] = {.name = "module", .type = TL_STRING},
};
static const tl_field track_field[CTF_TRACK_FIELDS] = {
    [CTF_TRACK_FILE] = {.name = "file", .type = TL_STRING},
    [CTF_TRACK_NAME] = {.name = "name", .type = TL_STRING},
    [CTF_TRACK_HAS] = {.name = "has", .type = TL_U64, .bits = 8},
    [CTF_TRACK_PID] = {.name = "pid", .type = TL_I64},
    [CTF_TRACK_TID] = {.name = "tid", .type = TL_I64},
};

const tl_class ctf_table_class[CTF_TABLE_CLASSES] = {
    [CTF_TABLE_FUNCTION] = {.kind = TL_INSTANT,
                            .name = "traceloom.function",
                            .field = function_field,
                            .nfield = CTF_FUNCTION_FIELDS},
    [CTF_TABLE_TRACK] = {.kind = TL_INSTANT,
                         .name = "traceloom.track",
                         .field = track_field,
                         .nfield = CTF_TRACK_FIELDS},
};

static tl_value text_value(const char *s)
{
    return (tl_value){.type = TL_STRING, .n = s ? (uint32_t)strlen(s) : 0, .as.p = s};
}

static int add_entry(ctf_writer *w, enum ctf_table_entry entry, const tl_value *v, uint32_t n, tl_error *e)
{
    const tl_trace *t = w->context.trace;
    const ctf_written_class *c = &w->cls[t->ncls + entry];
    const uint64_t ts = ctf_write_time(w, t->has_range ? t->begin : w->context.options->begin);
    ctf_stream *s = NULL;
    if (w->table == UINT32_MAX) {
        const int status = ctf_stream_find(w, UINT32_MAX, c->shape, -1, &s, e);
        if (status < 0)
            return status;
        w->table = w->nstream - 1;
    }
    s = &w->stream[w->table];
    w->put.end = v + n;
    const int r = s->room.data ? 0 : ctf_stream_ready(w, s, ts, -1, NULL, e);
    return r < 0 ? r : ctf_write_event(w, s, c, ts, v, e);
}

static int add_function(ctf_writer *w, const tl_function *f, tl_error *e)
{
    const tl_value v[CTF_FUNCTION_FIELDS] = {
        [CTF_FUNCTION_ID] = {.type = TL_I64, .as.i = f->id},
        [CTF_FUNCTION_ADDRESS] = {.type = TL_U64, .as.u = f->address},
        [CTF_FUNCTION_LINE] = {.type = TL_U64, .as.u = f->line},
        [CTF_FUNCTION_NAME] = text_value(f->name),
        [CTF_FUNCTION_LINKAGE_NAME] = text_value(f->linkage_name),
        [CTF_FUNCTION_FILE] = text_value(f->file),
        [CTF_FUNCTION_MODULE] = text_value(f->module),
    };
    return add_entry(w, CTF_TABLE_FUNCTION, v, CTF_FUNCTION_FIELDS, e);
}

static int add_track(ctf_writer *w, const char *file, const tl_track *t, tl_error *e)
{
    const tl_value v[CTF_TRACK_FIELDS] = {
        [CTF_TRACK_FILE] = text_value(file),
        [CTF_TRACK_NAME] = text_value(t->name),
        [CTF_TRACK_HAS] = {.type = TL_U64, .as.u = (unsigned)t->has_pid | (unsigned)t->has_tid << 1},
        [CTF_TRACK_PID] = {.type = TL_I64, .as.i = t->has_pid ? t->pid : 0},
        [CTF_TRACK_TID] = {.type = TL_I64, .as.i = t->has_tid ? t->tid : 0},
    };
    return add_entry(w, CTF_TABLE_TRACK, v, CTF_TRACK_FIELDS, e);
}

int ctf_table_write(ctf_writer *w, tl_error *e)
{
    const tl_trace *t = w->context.trace;
    const uint32_t streams = w->nstream;
    int r = 0;
    for (uint32_t i = 0; r == 0 && i < w->ncall; i++) {
        const tl_function *f = tl_trace_function(t, w->call[i]);
        if (f)
            r = add_function(w, f, e);
    }
    for (uint32_t i = 0; r == 0 && i < streams; i++) {
        const tl_track *track = &t->track[w->stream[i].track];
        if (!w->from_ctf || track->has_pid || track->has_tid) /* otherwise the file name contains everything */
            r = add_track(w, w->stream[i].name, track, e);
    }
    return r;
}
