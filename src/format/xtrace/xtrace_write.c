/* Writes a stream if there are instructions, else snapshots. In a pair snapshots come first: they are held back until
 * it is known which of the two it is. */
#include "format/xtrace/xtrace_write.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "format/xtrace/xtrace_name.h"

/* With more bytes of snapshots before the first instruction, there will be nothing else. */
#define HELD_MOST (16u << 20)

int xtrace_create(void *writer, const tl_write_context *context, tl_error *e)
{
    xtrace_writer *w = writer;
    w->context = *context;
    w->track = UINT32_MAX;
    w->how = xtrace_hows(context->trace);
    if (!w->how)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "xtrace: no memory for the classes of events");
    if (!xtrace_is_writable(context->trace, w->how))
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "xtrace: the trace has no instructions of A64");
    xtrace_encoder_init(&w->stream, context->out, w->how);
    xtrace_name name = {0};
    if (context->path)
        xtrace_name_parse(&name, context->path);
    w->only_snapshots = name.kind == XTRACE_SNAPSHOTS;
    if (name.kind == XTRACE_STREAM)
        w->mode = XTRACE_WRITES_STREAM;
    return 0;
}

tl_accept xtrace_accept(void *writer, const tl_class *c)
{
    const xtrace_writer *w = writer;
    if (c->kind == TL_FORMAT)
        return TL_ACCEPT_IGNORE;
    const unsigned action = xtrace_how_of(c).action;
    const bool keep = w->only_snapshots ? action == XTRACE_PUT_SNAPSHOT : action != XTRACE_NOTHING;
    return keep ? TL_ACCEPT_KEEP : TL_ACCEPT_DROP;
}

static void begin_snapshots(xtrace_writer *w)
{
    uint8_t header[XTRACE_HEADER_SIZE];
    const xtrace_header h = xtrace_header_of(w->context.trace);
    xtrace_encode_header(&h, header);
    tl_output_write(w->context.out, header, sizeof header);
    if (w->held_n > 0)
        tl_output_write(w->context.out, w->held, w->held_n);
    w->held_n = 0;
    w->held_snapshots = 0;
    w->mode = XTRACE_WRITES_SNAPSHOTS;
}

static int put_snapshot(xtrace_writer *w, const tl_batch *b, uint32_t i, tl_error *e)
{
    const tl_value *v = b->v + b->val[i], *end = b->v + b->val[i + 1];
    const uint32_t vl = xtrace_record_vl(v, end);
    if (w->mode == XTRACE_WRITES_STREAM) {
        w->snapshots++;
        return 0;
    }
    if (vl == 0 || (w->vl != 0 && vl != w->vl)) {
        w->bad_snapshots++;
        return 0;
    }
    w->vl = vl;
    const size_t n = xtrace_record_size(vl);
    if (w->mode == XTRACE_UNDECIDED && n > HELD_MOST - w->held_n)
        begin_snapshots(w);
    if (w->mode == XTRACE_UNDECIDED && !TL_GROW(w->held, w->held_n, (uint32_t)n, w->held_capacity))
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "xtrace: no memory for snapshots");
    if (w->mode == XTRACE_UNDECIDED) {
        xtrace_encode_record(v, vl, w->held + w->held_n);
        w->held_n += (uint32_t)n;
        w->held_snapshots++;
        return 0;
    }
    /* The largest record, 74656 bytes, exceeds the room that an output can reserve. */
    if (!TL_GROW(w->held, 0, (uint32_t)n, w->held_capacity))
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "xtrace: no memory for a snapshot");
    xtrace_encode_record(v, vl, w->held);
    tl_output_write(w->context.out, w->held, n);
    return 0;
}

/* There is an instruction: the snapshots before it cannot go into the file. */
static int begin_stream(xtrace_writer *w, tl_error *e)
{
    if (w->mode == XTRACE_WRITES_SNAPSHOTS)
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET,
                       "xtrace: instructions come behind many snapshots, a file holds either: --to xtrace-set writes "
                       "both");
    w->snapshots += w->held_snapshots;
    w->held_snapshots = 0;
    w->held_n = 0;
    w->mode = XTRACE_WRITES_STREAM;
    return 0;
}

static int take_track(xtrace_writer *w, uint32_t track, tl_error *e)
{
    if (w->track != UINT32_MAX)
        return tl_fail(
            e, TL_EUNSUPPORTED, TL_NO_OFFSET,
            "xtrace: the trace has several tracks, a file holds one: choose it with -t or --cpu, or write a folder "
            "with --to xtrace-set");
    w->track = track;
    return 0;
}

int xtrace_write(void *writer, const tl_batch *b, uint32_t from, uint32_t to, tl_error *e)
{
    xtrace_writer *w = writer;
    int r = 0;
    while (r == 0 && from < to) {
        uint32_t end = from;
        const bool is_snapshot = w->how[b->cls[from]].action == XTRACE_PUT_SNAPSHOT;
        if (b->track[from] != w->track)
            r = take_track(w, b->track[from], e);
        while (end < to && b->track[end] == b->track[from] &&
               (w->how[b->cls[end]].action == XTRACE_PUT_SNAPSHOT) == is_snapshot)
            end++;
        if (r == 0 && !is_snapshot && w->mode != XTRACE_WRITES_STREAM)
            r = begin_stream(w, e);
        if (r == 0 && !is_snapshot)
            r = xtrace_encode(&w->stream, b, from, end, e);
        for (; r == 0 && is_snapshot && from < end; from++)
            r = put_snapshot(w, b, from, e);
        from = end;
    }
    return r;
}

int xtrace_finish(void *writer, tl_error *e)
{
    xtrace_writer *w = writer;
    tl_drops *drops = w->context.drops;
    if (w->mode == XTRACE_UNDECIDED && w->held_n > 0)
        begin_snapshots(w);
    tl_drops_add(drops, "snapshots, which a file of instructions does not hold (--to xtrace-set writes both)",
                 w->snapshots);
    tl_drops_add(drops, "snapshots of another shape", w->bad_snapshots);
    tl_drops_add(drops, "events without their values", w->stream.lost_value);
    tl_drops_add(drops, "instructions of unknown pc behind one with a pc (their pc will be the next)",
                 w->stream.lost_pc);
    return xtrace_encode_index(&w->stream, e);
}

void xtrace_discard(void *writer)
{
    xtrace_writer *w = writer;
    xtrace_encoder_fini(&w->stream);
    free(w->how);
    free(w->held);
}
