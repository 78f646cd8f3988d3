/* XRay flight data recorder logs as a format: opening one, and the format's properties.
 *
 * The layout is in fdr_layout.h. Opening builds the index (fdr_index.c), which knows the good records of every
 * buffer. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "base/grow.h"
#include "format/xray/fdr_layout.h"
#include "format/xray/fdr_read.h"
#include "format/xray/fdr_write.h"
#include "model/recording.h"

static int probe(const tl_probe *p)
{
    if (p->size < 4)
        return 0;
    for (int big = 0; big < 2; big++) {
        unsigned version = tl_load16(p->head + FDR_HEADER_VERSION, big);
        if (tl_load16(p->head + FDR_HEADER_TYPE, big) == FDR_TYPE && version >= FDR_VERSION_MIN &&
            version <= FDR_VERSION_MAX)
            return 32;
    }
    return 0;
}

/* The file header. Returns 1 if there is one, 0 if the file ends within it. */
static int read_header(fdr_reader *r, tl_trace *t, tl_error *e)
{
    uint8_t header[FDR_HEADER_SIZE] = {0};
    size_t got = 0;
    int status = tl_input_read(r->in, 0, header, sizeof header, &got, e);
    if (status < 0)
        return status;
    fdr_index *x = &r->index;
    x->size = tl_input_size(r->in);
    x->big = tl_load16(header + FDR_HEADER_TYPE, false) != FDR_TYPE;
    x->version = tl_load16(header + FDR_HEADER_VERSION, x->big);
    if (tl_load16(header + FDR_HEADER_TYPE, x->big) != FDR_TYPE || x->version < FDR_VERSION_MIN ||
        x->version > FDR_VERSION_MAX)
        return tl_fail(e, TL_EFORMAT, 0, "version %u and type %u at the start; expected version %d to %d and type %d",
                       tl_load16(header + FDR_HEADER_VERSION, false), tl_load16(header + FDR_HEADER_TYPE, false),
                       FDR_VERSION_MIN, FDR_VERSION_MAX, FDR_TYPE);
    char version[8];
    snprintf(version, sizeof version, "%u", x->version);
    t->version = tl_trace_intern(t, version);
    t->byte_order = x->big ? "big" : "little";
    if (!t->version)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the trace");
    bool whole = got == sizeof header;
    tl_trace_set_clock(t, "tsc", whole ? tl_load64(header + FDR_HEADER_HZ, x->big) : 0);
    if (!whole) {
        status = tl_trace_add_damage(t, e, 0, got, "header.truncated", "file header of %d bytes, but the file has %zu",
                                     FDR_HEADER_SIZE, got);
        return status < 0 ? status : 0;
    }
    x->live = x->version == FDR_VERSION_MAX && memcmp(header + FDR_HEADER_MARK, FDR_MARK_LIVE, FDR_MARK_SIZE) == 0;
    x->marked = x->live ||
                (x->version == FDR_VERSION_MAX && memcmp(header + FDR_HEADER_MARK, FDR_MARK_DONE, FDR_MARK_SIZE) == 0);
    x->hz = t->clock.hz;
    x->slot = tl_load64(header + FDR_HEADER_BUFFER_SIZE, x->big);
    if (x->version == 1 && x->slot < FDR_SLOT_MIN && x->size > FDR_HEADER_SIZE) {
        status = tl_trace_add_damage(t, e, FDR_HEADER_BUFFER_SIZE, 8, "fdr.bad-buffer-size", FDR_BAD_SLOT, x->slot,
                                     FDR_SLOT_MIN);
        x->slot = x->size - FDR_HEADER_SIZE;
    }
    return status < 0 ? status : 1;
}

/* A class for each instant and counter in the notes, after the fixed ones: event n of the recording is class
 * XRAY_CLASSES + n. */
static int add_classes(tl_trace *t, tl_error *e)
{
    const tl_recording *r = t->recording;
    tl_class *c = tl_alloc((size_t)XRAY_CLASSES + r->nevent, sizeof *c);
    if (!c)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for %" PRIu32 " event classes", r->nevent);
    memcpy(c, xray_classes, sizeof xray_classes);
    for (uint32_t i = 0; i < r->nevent; i++)
        c[XRAY_CLASSES + i] = (tl_class){.kind = r->event[i].kind,
                                         .key = TL_KEY_NONE,
                                         .name = r->event[i].name,
                                         .field = r->event[i].field,
                                         .nfield = r->event[i].nfield,
                                         .format_data = &r->event[i]};
    int status = tl_trace_set_classes(t, c, XRAY_CLASSES + r->nevent, e);
    free(c);
    return status;
}

/* Adds the contents of the notes, once all are known. */
static int finish_recording(tl_trace *t, tl_error *e)
{
    int status = tl_recording_finish(t, TL_RECORDING_LIVE, e); /* whatever the mark: it may be a copy of a live file */
    for (uint32_t i = 0; i < t->ntrack; i++) {
        const char *name = tl_recording_thread(t, t->track[i].tid);
        t->track[i].name = name ? name : t->track[i].name;
    }
    return status < 0 ? status : add_classes(t, e);
}

static int open_reader(void *reader, tl_input *in, tl_trace *t, const tl_want *want, uint64_t *progress, tl_error *e)
{
    fdr_reader *r = reader;
    r->in = in;
    r->trace = t;
    r->want = *want;
    r->progress = progress;
    int status = tl_trace_set_classes(t, xray_classes, XRAY_CLASSES, e);
    if (status < 0)
        return status;
    status = read_header(r, t, e);
    if (status == 0)
        r->index.size = 0; /* nothing after the header is examined */
    if (status >= 0 && r->index.marked)
        status = tl_recording_begin(t, e);
    if (status >= 0)
        status = fdr_index_build(&r->index, in, t, want->threads, e);
    if (status >= 0 && r->index.marked)
        status = finish_recording(t, e);
    return status;
}

static uint32_t streams(void *reader)
{
    return ((const fdr_reader *)reader)->trace->ntrack;
}

static uint64_t stream_weight(void *reader, uint32_t stream)
{
    const fdr_index *x = &((const fdr_reader *)reader)->index;
    uint64_t bytes = 0;
    for (uint32_t i = x->first[stream]; i < x->first[stream + 1]; i++)
        bytes += x->buffer[i].end - x->buffer[i].begin;
    return bytes;
}

static void close_reader(void *reader)
{
    fdr_index_fini(&((fdr_reader *)reader)->index);
}

const tl_format tl_format_xray_fdr = {
    .name = "xray-fdr",
    .summary = "LLVM XRay flight data recorder log, versions 1 to 5",
    .suffixes = ".fdr .xray",
    .reader = &(const tl_reader){.event_bytes = 8,
                                 .size = sizeof(fdr_reader),
                                 .cursor_size = sizeof(fdr_cursor),
                                 .probe = probe,
                                 .open = open_reader,
                                 .streams = streams,
                                 .stream_weight = stream_weight,
                                 .stream_open = fdr_stream_open,
                                 .skips = TL_SKIPS_BEFORE | TL_SKIPS_AFTER,
                                 .stream_limit = fdr_stream_limit,
                                 .stream_next = fdr_stream_next,
                                 .stream_close = fdr_stream_close,
                                 .functions = xray_functions_28,
                                 .close = close_reader},
    .event_writer = &(const tl_event_writer){.holds = "calls of functions",
                                             .wants = {.fields = true, .cpu = true, .calls = true},

                                             .size = sizeof(fdr_writer),
                                             .create = fdr_create,
                                             .accept = fdr_accept,
                                             .write = fdr_write,
                                             .finish = fdr_finish,
                                             .discard = fdr_discard},
};
