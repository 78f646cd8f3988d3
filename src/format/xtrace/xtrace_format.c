/* The format of instruction streams and their snapshots: a file, the pair that it belongs to, or a folder of many. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/io/base_name.h"
#include "format/xtrace/xtrace_check.h"
#include "format/xtrace/xtrace_classes.h"
#include "format/xtrace/xtrace_read.h"
#include "format/xtrace/xtrace_tokens.h"
#include "format/xtrace/xtrace_write.h"

/* A stream is ordered by TIMEs if the first one is within these bytes. */
#define TIME_WITHIN (64u << 10)

/* Adds the file's track, or finds that of its pair. */
static int add_track(xtrace_reader *r, xtrace_file *f, tl_error *e)
{
    tl_track track = {
        .name = f->parts.who, .tid = f->parts.number, .has_tid = f->parts.complete, .is_cpu = f->parts.hint == 13};
    char name[sizeof "cpu " + sizeof f->parts.who];
    if (f->partner != XTRACE_NONE && r->file[f->partner].track != XTRACE_NONE) {
        f->track = r->file[f->partner].track;
        return 0;
    }
    if (f->says_cpu) {
        snprintf(name, sizeof name, "cpu %s", f->parts.who);
        track = (tl_track){.name = name, .tid = f->parts.number, .is_cpu = true};
    }
    return tl_trace_add_track(r->trace, &track, &f->track, e);
}

static int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to open a recording");
}

/* Is there not even one token? Then the file has no stream, and its damage is reported here. */
static int look_at_begin(xtrace_reader *r, xtrace_file *f, tl_error *e)
{
    uint8_t head[XTRACE_PCINST_SIZE] = {0};
    size_t got = 0;
    uint64_t size = 0;
    int status = tl_input_read(f->in, 0, head, sizeof head, &got, e);
    if (status < 0)
        return status;
    const xtrace_fault fault = got ? xtrace_token_size(head, tl_input_size(f->in), &size) : XTRACE_OK;
    f->empty = got == 0 || (fault && !r->want.resync);
    if (!fault || !f->empty)
        return 0;
    char what[160];
    const tl_damage d = {.bytes = tl_input_size(f->in),
                         .kind = TL_DAMAGE_FAULT | TL_DAMAGE_LOSS,
                         .rule = xtrace_fault_rule(fault),
                         .file = f->name};
    return tl_trace_report(r->trace, e, &d, "%s",
                           xtrace_fault_text(fault, head, tl_input_size(f->in), what, sizeof what));
}

/* What can be read from an open file. */
static int look_at(xtrace_reader *r, xtrace_file *f, tl_error *e)
{
    int status;
    if (f->parts.kind == XTRACE_SNAPSHOTS) {
        status = xtrace_snapshots_open(&f->snapshots, f->in, r->trace, f->name, e);
        if (status >= 0 && r->want.strict)
            status = xtrace_snapshots_strict(&f->snapshots, e);
        f->empty = status < 0 || !f->snapshots.has_layout || f->snapshots.records == 0;
    } else {
        status = look_at_begin(r, f, e);
    }
    return status < 0 ? status : 0;
}

/* Does the stream say in which order its accesses happened? 1: yes, 0: no, < 0: error. */
static int has_times(const xtrace_file *f, tl_error *e)
{
    uint8_t *head = malloc(TIME_WITHIN);
    size_t got = 0;
    uint64_t at = 0, size;
    int found = 0;
    if (!head)
        return no_memory(e);
    int status = tl_input_read(f->in, 0, head, TIME_WITHIN, &got, e);
    while (status >= 0 && !found && at < got && got - at >= XTRACE_PCINST_SIZE &&
           !xtrace_token_size(head + at, tl_input_size(f->in) - at, &size)) {
        found = head[at] == XTRACE_TIME;
        at += size;
    }
    free(head);
    return status < 0 ? status : found;
}

/* Several streams that all say their order are merged by it. Returns as has_times(). */
static int is_ranked(const xtrace_reader *r, tl_error *e)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->n; i++)
        if (r->file[i].parts.kind == XTRACE_STREAM && !r->file[i].empty) {
            const int times = has_times(&r->file[i], e);
            if (times <= 0)
                return times;
            n++;
        }
    return n > 1;
}

/* Streams: snapshots first, so that they precede an instruction at the same time; but with ranks, the two files of a
 * pair are one stream. */
static int make_streams(xtrace_reader *r, tl_error *e)
{
    const int ranked = is_ranked(r, e);
    if (ranked < 0)
        return ranked;
    r->trace->ranked = ranked > 0;
    r->stream = tl_alloc(r->n + 1, sizeof *r->stream);
    if (!r->stream)
        return no_memory(e);
    for (uint32_t i = 0; i < r->n; i++) {
        const xtrace_file *f = &r->file[i];
        const bool paired = f->partner != XTRACE_NONE && !r->file[f->partner].empty;
        if (f->parts.kind == XTRACE_SNAPSHOTS && !f->empty && !(ranked && paired))
            r->stream[r->nstream++] = (xtrace_stream){XTRACE_NONE, i};
        r->trace->shared_tracks |= paired && !ranked;
    }
    for (uint32_t i = 0; i < r->n; i++) {
        const xtrace_file *f = &r->file[i];
        const bool paired = f->partner != XTRACE_NONE && !r->file[f->partner].empty;
        if (f->parts.kind == XTRACE_STREAM && !f->empty)
            r->stream[r->nstream++] = (xtrace_stream){i, ranked && paired ? f->partner : XTRACE_NONE};
    }
    return 0;
}

static int set_classes(xtrace_reader *r, tl_error *e)
{
    tl_class all[XTRACE_CLASSES];
    memcpy(all, xtrace_classes, sizeof all);
    all[XTRACE_CLASS_SNAPSHOT] = xtrace_snapshot_class;
    return tl_trace_set_classes(r->trace, all, XTRACE_CLASSES, e);
}

/* Are files p and q of one recording? */
static bool same_recording(const xtrace_name *p, const xtrace_name *q)
{
    return p->time_length == q->time_length && memcmp(p->time, q->time, p->time_length) == 0;
}

/* Is this file the recording of a processor? */
static bool is_of_processor(const xtrace_file *f)
{
    const bool header = f->parts.kind == XTRACE_SNAPSHOTS && f->snapshots.has_header;
    return f->parts.hint == 13 || (header && f->snapshots.stream == XTRACE_STREAM_OF_CPU);
}

/* A recording is of processors if one of its files is: then that of hint 9 is the first processor. Names are sorted, so
 * those of a recording are adjacent. */
static void find_processors(xtrace_reader *r)
{
    for (uint32_t from = 0, to; from < r->n; from = to) {
        bool cpus = false;
        for (to = from; to < r->n && same_recording(&r->file[from].parts, &r->file[to].parts); to++)
            cpus = cpus || is_of_processor(&r->file[to]);
        for (uint32_t i = from; cpus && i < to; i++)
            r->file[i].says_cpu = true;
    }
}

/* Everything except finding the files. */
static int open_all(xtrace_reader *r, tl_error *e)
{
    tl_trace *t = r->trace;
    tl_trace_set_clock(t, "instructions", 0);
    t->clock.from_zero = true;
    t->byte_order = "little";
    int status = set_classes(r, e);
    for (uint32_t i = 0; status >= 0 && i < r->n; i++)
        status = look_at(r, &r->file[i], e);
    if (status >= 0 && r->is_folder)
        find_processors(r);
    for (uint32_t i = 0; status >= 0 && i < r->n; i++)
        status = r->file[i].empty ? 0 : add_track(r, &r->file[i], e);
    return status < 0 ? status : make_streams(r, e);
}

static void start(xtrace_reader *r, tl_trace *t, const tl_want *want, uint64_t *progress)
{
    r->trace = t;
    r->want = *want;
    r->progress = progress;
}

static void init_file(xtrace_file *f, tl_input *in, const char *path)
{
    *f = (xtrace_file){.in = in, .track = XTRACE_NONE, .partner = XTRACE_NONE};
    xtrace_name_parse(&f->parts, path);
}

/* A file without one of the words in its name is classified by content. */
static int guess_kind(xtrace_file *f, tl_error *e)
{
    uint8_t head[TL_PROBE_SIZE];
    size_t got = 0;
    if (f->parts.kind != XTRACE_NO_KIND)
        return 0;
    int status = tl_input_read(f->in, 0, head, sizeof head, &got, e);
    const bool snapshots = got && xtrace_looks_like_snapshots(head, got, tl_input_size(f->in));
    f->parts.kind = snapshots ? XTRACE_SNAPSHOTS : XTRACE_STREAM;
    return status;
}

/* The other file of the pair, if it exists. */
static int open_companion(xtrace_reader *r, tl_error *e)
{
    tl_input *in = NULL;
    int status = xtrace_partner_open(&in, tl_input_path(r->file[0].in), e);
    if (status <= 0)
        return status;
    const char *path = tl_input_path(in);
    init_file(&r->file[1], in, path);
    r->file[1].own = true;
    r->file[1].partner = 0;
    r->file[0].partner = 1;
    r->n = 2;
    r->file[1].name = tl_trace_intern(r->trace, tl_base_name(path));
    return r->file[1].name ? 0 : no_memory(e);
}

static int open_file(void *reader, tl_input *in, tl_trace *t, const tl_want *want, uint64_t *progress, tl_error *e)
{
    xtrace_reader *r = reader;
    start(r, t, want, progress);
    r->file = calloc(2, sizeof *r->file);
    if (!r->file)
        return no_memory(e);
    r->n = 1;
    init_file(&r->file[0], in, tl_input_path(in));
    int status = guess_kind(&r->file[0], e);
    if (status >= 0 && want->companions)
        status = open_companion(r, e);
    if (status >= 0)
        status = open_all(r, e);
    if (status >= 0 && r->n == 1 && r->file[0].parts.kind == XTRACE_SNAPSHOTS)
        status = xtrace_snapshots_describe(&r->file[0].snapshots, t, e);
    return status;
}

static int probe_folder(const tl_folder *f)
{
    for (uint32_t i = 0; i < f->n; i++) {
        xtrace_name name;
        xtrace_name_parse(&name, f->file[i].name);
        if (name.is_file)
            return XTRACE_BY_NAME;
    }
    return 0;
}

/* Finds the pairs: the names are sorted, and those of a pair differ only in one word. */
static int find_pairs(xtrace_reader *r, tl_error *e)
{
    for (uint32_t i = 0; i < r->n; i++) {
        if (r->file[i].parts.kind != XTRACE_STREAM)
            continue;
        char *other = xtrace_name_partner(r->file[i].name);
        if (!other)
            return no_memory(e);
        uint32_t k = i + 1; /* not far: all between begin with the same */
        while (k < r->n && strcmp(r->file[k].name, other) < 0)
            k++;
        if (k < r->n && strcmp(r->file[k].name, other) == 0) {
            r->file[i].partner = k;
            r->file[k].partner = i;
        }
        free(other);
    }
    return 0;
}

static int open_folder(void *reader, const tl_folder *f, tl_trace *t, const tl_want *want, uint64_t *progress,
                       tl_error *e)
{
    xtrace_reader *r = reader;
    int status = 0;
    start(r, t, want, progress);
    r->file = calloc((size_t)f->n + 1, sizeof *r->file);
    if (!r->file)
        return no_memory(e);
    for (uint32_t i = 0; status >= 0 && i < f->n; i++) {
        xtrace_file *file = &r->file[r->n];
        init_file(file, NULL, f->file[i].name);
        if (!file->parts.is_file) {
            status = tl_trace_add_content(t, &t->not_read, f->file[i].name, strlen(f->file[i].name), e);
            continue;
        }
        status = tl_folder_input_lazy(f, i, &file->in, e);
        if (status < 0)
            break;
        file->own = true;
        file->name = f->file[i].name;
        t->bytes += tl_input_size(file->in);
        r->n++;
    }
    r->is_folder = true;
    if (status >= 0)
        status = find_pairs(r, e);
    return status < 0 ? status : open_all(r, e);
}

static uint32_t streams(void *reader)
{
    return ((xtrace_reader *)reader)->nstream;
}

static uint64_t stream_weight(void *reader, uint32_t stream)
{
    const xtrace_reader *r = reader;
    const xtrace_stream *s = &r->stream[stream];
    return tl_input_size(r->file[s->insns == XTRACE_NONE ? s->snapshots : s->insns].in);
}

static void close_reader(void *reader)
{
    xtrace_reader *r = reader;
    for (uint32_t i = 0; i < r->n; i++)
        if (r->file[i].own)
            tl_input_close(r->file[i].in);
    free(r->file);
    free(r->stream);
}

const tl_format tl_format_xtrace = {
    .name = "xtrace",
    .summary = "instruction streams of aarch64 with snapshots of registers",
    .suffixes = ".xinsndata.bin .xsnapshot.bin",
    .reader = &(const tl_reader){.may_be_empty = true,
                                 .forward = true,
                                 .quick = true,
                                 .size = sizeof(xtrace_reader),
                                 .cursor_size = sizeof(xtrace_cursor),
                                 .probe = xtrace_probe,
                                 .open = open_file,
                                 .probe_folder = probe_folder,
                                 .open_folder = open_folder,
                                 .streams = streams,
                                 .stream_weight = stream_weight,
                                 .stream_open = xtrace_cursor_open,
                                 .skips = TL_SKIPS_BEFORE | TL_SKIPS_AFTER,
                                 .stream_limit = xtrace_cursor_limit,
                                 .stream_next = xtrace_cursor_next,
                                 .stream_tally = xtrace_cursor_tally,
                                 .stream_close = xtrace_cursor_close,
                                 .check = xtrace_check,
                                 .close = close_reader},
    .event_writer = &(const tl_event_writer){.holds = "instructions of A64",
                                             .ordered = true, /* snapshots of a pair before the first instruction */
                                             .wants = {.fields = true},
                                             .size = sizeof(xtrace_writer),
                                             .create = xtrace_create,
                                             .accept = xtrace_accept,
                                             .write = xtrace_write,
                                             .finish = xtrace_finish,
                                             .discard = xtrace_discard},
};
