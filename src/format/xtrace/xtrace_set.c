/* Writes a recording as a folder: for each track its stream, its snapshots, and an image of the memory that the stream
 * needs. Counts and offsets in the snapshots are those in the output, so that a part of a trace is a trace. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/grow.h"
#include "base/io/folder.h"
#include "format/xtrace/xtrace_image.h"
#include "format/xtrace/xtrace_name.h"
#include "format/xtrace/xtrace_snapshot.h"

/* Each has two open files, with buffers. */
#define TRACKS_MOST 256u

/* Pages in memory for all images: see XTRACE_TOUCH_PAGES, with twice the pages for loaded content. */
#define IMAGE_PAGES_MOST ((size_t)2 * XTRACE_TOUCH_PAGES)

enum { NAME_SIZE = 128, TIME_SIZE = 24, MEMORY_ORDER = 18 };

typedef struct set_track {
    bool used;
    tl_output *stream, *snapshots; /* NULL: not begun */
    xtrace_encoder encoder;
    xtrace_image image;
    size_t image_pages; /* its pages, when last examined */
    uint32_t vl;
    char name[NAME_SIZE]; /* "xtrace.1700000000.4711.hint9" */
} set_track;

typedef struct set_writer {
    tl_write_context context;
    xtrace_how *how;
    set_track *track; /* by the trace's index */
    uint32_t ntrack, used;
    uint8_t *record;
    uint32_t record_capacity;
    size_t image_pages;
    uint64_t bad_snapshots, no_image, no_stream, finished_bytes;
} set_writer;

static int set_create(void *writer, const tl_write_context *context, tl_error *e)
{
    set_writer *w = writer;
    w->context = *context;
    w->how = xtrace_hows(context->trace);
    if (!w->how)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "xtrace-set: no memory for the classes of events");
    if (!xtrace_is_writable(context->trace, w->how))
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "xtrace-set: the trace has no instructions of A64");
    return 0;
}

static tl_accept set_accept(void *writer, const tl_class *c)
{
    (void)writer;
    if (c->kind == TL_FORMAT)
        return TL_ACCEPT_IGNORE;
    return xtrace_how_of(c).action == XTRACE_NOTHING ? TL_ACCEPT_DROP : TL_ACCEPT_KEEP;
}

/* Names */

typedef struct set_origin {
    char time[TIME_SIZE];
    unsigned hint;
} set_origin;

/* Is this the name of a file of track `who`? */
static bool take_origin(const char *name, const char *who, set_origin *o)
{
    xtrace_name n;
    xtrace_name_parse(&n, name);
    if (!n.complete || strcmp(n.who, who) != 0 || n.time_length >= sizeof o->time)
        return false;
    memcpy(o->time, n.time, n.time_length);
    o->time[n.time_length] = '\0';
    o->hint = n.hint;
    return true;
}

/* What the name of a track's input file says about it. */
static int find_origin(const set_writer *w, const char *who, set_origin *o, tl_error *e)
{
    const char *path = w->context.trace->path;
    struct stat st;
    tl_folder *folder = NULL;
    *o = (set_origin){.time = "0", .hint = 9};
    if (!path || take_origin(path, who, o) || stat(path, &st) < 0 || !S_ISDIR(st.st_mode))
        return 0;
    const int r = tl_folder_open(&folder, path, e);
    if (r < 0) /* without it the names only contain less */
        return r == TL_ENOMEM ? r : 0;
    for (uint32_t i = 0; i < folder->n; i++)
        if (take_origin(folder->file[i].name, who, o))
            break;
    tl_folder_close(folder);
    return 0;
}

/* The number of a track in names: its own if it has one. */
static void name_track(const set_writer *w, uint32_t index, char who[TIME_SIZE])
{
    const tl_track *t = tl_trace_track(w->context.trace, index);
    if (t && t->is_cpu && t->tid >= 0) {
        snprintf(who, TIME_SIZE, "%lld", (long long)t->tid);
        return;
    }
    const size_t n = t && t->name ? strspn(t->name, "0123456789") : 0;
    if (n > 0 && n < TIME_SIZE && t->name[n] == '\0')
        memcpy(who, t->name, n + 1);
    else if (t && t->has_tid && t->tid >= 0)
        snprintf(who, TIME_SIZE, "%lld", (long long)t->tid);
    else
        snprintf(who, TIME_SIZE, "%u", (unsigned)index);
}

static int open_file(set_writer *w, const set_track *t, const char *kind, tl_output **out, tl_error *e)
{
    char name[NAME_SIZE + 32];
    snprintf(name, sizeof name, "%s.%s", t->name, kind);
    return tl_output_folder_file(w->context.folder, name, out, e);
}

/* Tracks */

static int begin_track(set_writer *w, set_track *t, uint32_t index, tl_error *e)
{
    char who[TIME_SIZE];
    set_origin o;
    if (++w->used > TRACKS_MOST)
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET,
                       "xtrace-set: the trace has more than %u tracks: choose with -t or --cpu", TRACKS_MOST);
    name_track(w, index, who);
    int r = find_origin(w, who, &o, e);
    if (r < 0)
        return r;
    snprintf(t->name, sizeof t->name, "xtrace.%s.%s.hint%u", o.time, who, o.hint);
    for (uint32_t i = 0; i < w->ntrack; i++)
        if (w->track[i].used && strcmp(w->track[i].name, t->name) == 0)
            return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET,
                           "xtrace-set: two tracks have the number %s: choose one with -t or --cpu", who);
    r = open_file(w, t, "xinsndata.bin", &t->stream, e);
    if (r < 0)
        return r;
    t->used = true;
    xtrace_encoder_init(&t->encoder, t->stream, w->how);
    return xtrace_image_init(&t->image, e);
}

static int find_track(set_writer *w, uint32_t index, set_track **out, tl_error *e)
{
    if (!TL_GROW_TO(w->track, w->ntrack, index, TL_TRACKS_MAX))
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "xtrace-set: no memory for a track");
    *out = &w->track[index];
    return (*out)->used ? 0 : begin_track(w, *out, index, e);
}

/* After the image of a track grew: keeps all together below a limit. */
static void count_pages(set_writer *w, set_track *t)
{
    const size_t pages = xtrace_image_pages(&t->image);
    w->image_pages = w->image_pages - t->image_pages + pages;
    t->image_pages = pages;
    if (w->image_pages > IMAGE_PAGES_MOST) {
        w->image_pages -= pages;
        t->image_pages = 0;
        xtrace_image_give_up(&t->image);
    }
}

static int begin_snapshots(set_writer *w, set_track *t, uint32_t index, tl_error *e)
{
    uint8_t bytes[XTRACE_HEADER_SIZE];
    const tl_track *about = tl_trace_track(w->context.trace, index);
    xtrace_header h = xtrace_header_of(w->context.trace);
    if (about && about->is_cpu)
        h.stream = XTRACE_STREAM_OF_CPU;
    const int r = open_file(w, t, "xsnapshot.bin", &t->snapshots, e);
    if (r < 0)
        return r;
    xtrace_encode_header(&h, bytes);
    tl_output_write(t->snapshots, bytes, sizeof bytes);
    return 0;
}

static int put_snapshot(set_writer *w, set_track *t, const tl_batch *b, uint32_t i, tl_error *e)
{
    const tl_value *v = b->v + b->val[i], *end = b->v + b->val[i + 1];
    const uint32_t vl = xtrace_record_vl(v, end);
    if (vl == 0 || (t->vl != 0 && vl != t->vl)) {
        w->bad_snapshots++;
        return 0;
    }
    const size_t n = xtrace_record_size(vl);
    if (!TL_GROW(w->record, 0, (uint32_t)n, w->record_capacity))
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "xtrace-set: no memory for a snapshot");
    const int r = t->snapshots ? 0 : begin_snapshots(w, t, b->track[i], e);
    if (r < 0)
        return r;
    t->vl = vl;
    xtrace_encode_record(v, vl, w->record);
    tl_store64(w->record + XTRACE_SNAPSHOT_FILE, 0, false);
    tl_store64(w->record + XTRACE_SNAPSHOT_OFFSET, t->encoder.offset, false);
    tl_store64(w->record + XTRACE_SNAPSHOT_USER, t->encoder.user_insns, false);
    tl_store64(w->record + XTRACE_SNAPSHOT_INSNS, t->encoder.insns, false);
    tl_output_write(t->snapshots, w->record, n);
    xtrace_image_registers(&t->image, w->record, vl);
    return 0;
}

static int set_write(void *writer, const tl_batch *b, uint32_t from, uint32_t to, tl_error *e)
{
    set_writer *w = writer;
    int r = 0;
    while (r == 0 && from < to) {
        const bool is_snapshot = w->how[b->cls[from]].action == XTRACE_PUT_SNAPSHOT;
        uint32_t end = from;
        set_track *t = NULL;
        while (end < to && b->track[end] == b->track[from] &&
               (w->how[b->cls[end]].action == XTRACE_PUT_SNAPSHOT) == is_snapshot)
            end++;
        r = find_track(w, b->track[from], &t, e);
        if (r == 0 && !is_snapshot)
            r = xtrace_encode(&t->encoder, b, from, end, e);
        if (r == 0 && !is_snapshot) {
            r = xtrace_image_add(&t->image, w->how, b, from, end, e);
            count_pages(w, t);
        }
        for (; r == 0 && is_snapshot && from < end; from++)
            r = put_snapshot(w, t, b, from, e);
        from = end;
    }
    return r;
}

static uint64_t set_written(const void *writer)
{
    const set_writer *w = writer;
    uint64_t n = w->finished_bytes;
    for (uint32_t i = 0; i < w->ntrack; i++) {
        n += w->track[i].stream ? tl_output_bytes(w->track[i].stream) : 0;
        n += w->track[i].snapshots ? tl_output_bytes(w->track[i].snapshots) : 0;
    }
    return n;
}

/* Completing */

static int close_output(set_writer *w, tl_output **out, tl_error *e)
{
    const int r = *out ? tl_output_finish(*out, e) : 0;
    if (*out)
        w->finished_bytes += tl_output_bytes(*out);
    tl_output_close(*out);
    *out = NULL;
    return r;
}

static int write_image(set_writer *w, set_track *t, uint32_t index, tl_error *e)
{
    const tl_track *about = tl_trace_track(w->context.trace, index);
    tl_output *out = NULL;
    if (t->image.too_large) {
        w->no_image++;
        return 0;
    }
    if (!t->image.any)
        return 0;
    int r = open_file(w, t, "xmemory.core", &out, e);
    if (r == 0)
        r = xtrace_image_write(&t->image, out, about && about->has_tid ? (uint32_t)about->tid : 0, e);
    if (r == 0)
        r = close_output(w, &out, e);
    tl_output_close(out);
    return r;
}

static int finish_track(set_writer *w, set_track *t, uint32_t index, tl_error *e)
{
    const uint8_t one = 1;
    int r = 0;
    if (t->snapshots && t->encoder.has_time)
        r = tl_output_patch(t->snapshots, MEMORY_ORDER, &one, 1, e);
    if (t->snapshots && t->encoder.insns == 0)
        w->no_stream++;
    if (r == 0)
        r = write_image(w, t, index, e);
    if (r == 0)
        r = close_output(w, &t->snapshots, e);
    if (r == 0)
        r = close_output(w, &t->stream, e);
    return r;
}

static int set_finish(void *writer, tl_error *e)
{
    set_writer *w = writer;
    tl_drops *drops = w->context.drops;
    int r = 0;
    uint64_t lost_value = 0, lost_pc = 0;
    for (uint32_t i = 0; r == 0 && i < w->ntrack; i++)
        if (w->track[i].used) {
            lost_value += w->track[i].encoder.lost_value;
            lost_pc += w->track[i].encoder.lost_pc;
            r = finish_track(w, &w->track[i], i, e);
        }
    tl_drops_add(drops, "snapshots of another shape", w->bad_snapshots);
    tl_drops_add(drops, "counts of tracks of snapshots only (now 0)", w->no_stream);
    tl_drops_add(drops, "memory images of too many pages", w->no_image);
    tl_drops_add(drops, "events without their values", lost_value);
    tl_drops_add(drops, "instructions of unknown pc behind one with a pc (their pc will be the next)", lost_pc);
    return r;
}

static void set_discard(void *writer)
{
    set_writer *w = writer;
    for (uint32_t i = 0; i < w->ntrack; i++) {
        tl_output_close(w->track[i].stream);
        tl_output_close(w->track[i].snapshots);
        xtrace_encoder_fini(&w->track[i].encoder);
        xtrace_image_fini(&w->track[i].image);
    }
    free(w->track);
    free(w->how);
    free(w->record);
}

const tl_format tl_format_xtrace_set = {
    .name = "xtrace-set",
    .summary = "a folder of instruction streams, their snapshots and memory images",
    .suffixes = ".xtrace",
    .event_writer = &(const tl_event_writer){.holds = "instructions of A64",
                                             .ordered = true,
                                             .wants = {.fields = true},
                                             .folder = true,
                                             .folder_files = "xtrace.*.hint*.x*",
                                             .slices = true,
                                             .size = sizeof(set_writer),
                                             .create = set_create,
                                             .accept = set_accept,
                                             .write = set_write,
                                             .written = set_written,
                                             .finish = set_finish,
                                             .discard = set_discard},
};
