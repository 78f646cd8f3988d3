/* Scans the packets of all files when a trace is opened: only their headers, with small reads.
 *
 * Finds all problems of packets, the time that each track covers, what the tracer lost, and points: packets where
 * decoding can begin. A file keeps its first point and then every n-th, to bound memory; at its limit, every second one
 * is dropped. */
#include "format/ctf/read/ctf_index.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/grow.h"
#include "base/pool.h"
#include "format/ctf/read/index_cache.h"

#define WINDOW       (64u << 10) /* bytes to read at once if packets are small, ... */
#define HEADER_READ  4096u       /* ... and otherwise */
#define SMALL_PACKET (16u << 10)

/* An index is worth caching if it has more packets than this, or took this long. */
#define CACHE_PACKETS 4096u
#define CACHE_NS      UINT64_C(200000000)

/* Memory that a worker reuses from file to file. */
typedef struct worker {
    tl_window window;
    uint32_t *span; /* [most stream classes of a unit] index of the span in the file; UINT32_MAX: none yet */
    tl_error error;
    uint32_t failed; /* the file that failed first, UINT32_MAX: none */
} worker;

typedef struct indexing {
    ctf_reader *reader;
    ctf_index *index;
    worker *worker;
    uint64_t total; /* bytes of all files */
} indexing;

/* State of a file's scan. */
typedef struct scanning {
    const ctf_file *file;
    ctf_scan *scan;
    worker *worker;
    uint32_t share;
    uint64_t every;  /* every n-th packet becomes a point */
    uint64_t latest; /* ticks: no packet so far ends later */
    bool is_open;    /* the last packet has no end */
    uint32_t stream; /* of the last packet */
    uint64_t instance;
} scanning;

void ctf_index_fini(ctf_index *x)
{
    for (uint32_t i = 0; x->scan && i < x->n; i++) {
        free(x->scan[i].span);
        free(x->scan[i].point);
        ctf_losses_fini(&x->scan[i].losses);
    }
    free(x->scan);
    *x = (ctf_index){0};
}

uint32_t ctf_index_share(uint64_t size, uint64_t total)
{
    const uint64_t share = size / (total / CTF_POINTS_MAX + 1);
    return share < CTF_POINTS_LEAST ? CTF_POINTS_LEAST : share > CTF_POINTS_MAX ? CTF_POINTS_MAX : (uint32_t)share;
}

static int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the index of packets");
}

static uint64_t ticks(const ctf_file *f, uint32_t stream, uint64_t value)
{
    return ctf_ticks(&f->time[stream], value);
}

/* ---- one file ---- */

static ctf_span *span_of(scanning *s, uint32_t stream)
{
    ctf_scan *scan = s->scan;
    uint32_t *number = &s->worker->span[stream];
    if (*number == UINT32_MAX) {
        if (!TL_GROW(scan->span, scan->nspan, 1, scan->span_capacity))
            return NULL;
        *number = scan->nspan;
        scan->span[scan->nspan++] = (ctf_span){.stream = stream};
    }
    return &scan->span[*number];
}

/* Makes the packet a point if it is its turn. */
static bool add_point(scanning *s, const ctf_packet *p)
{
    ctf_scan *scan = s->scan;
    if (scan->npoint == s->share && scan->packets % s->every == 0) {
        for (uint32_t i = 0; 2 * i < scan->npoint; i++)
            scan->point[i] = scan->point[2 * i];
        scan->npoint = (scan->npoint + 1) / 2;
        s->every *= 2;
    }
    if (scan->packets % s->every != 0)
        return true;
    if (!TL_GROW(scan->point, scan->npoint, 1, scan->point_capacity))
        return false;
    scan->point[scan->npoint++] =
        (ctf_point){.offset = p->offset, .number = p->number, .latest = scan->packets ? s->latest : 0};
    return true;
}

/* Adds the time of a packet to the span. Returns the ticks of its begin. */
static uint64_t add_time(scanning *s, ctf_span *span, const ctf_packet *p, bool *point)
{
    ctf_scan *scan = s->scan;
    *point = p->has_begin;
    if (!p->has_begin) {
        scan->has_begin = false;
        return 0;
    }
    const uint64_t begin = ticks(s->file, p->stream, p->begin);
    /* Killed tracers leave 0, others write nonsense: then the packet's events determine its end. */
    const bool has_end = p->has_end && p->end >= p->begin && p->end != 0;
    const uint64_t end = has_end ? ticks(s->file, p->stream, p->end) : begin;
    const bool back = scan->packets > 0 && begin < s->latest;
    scan->regresses = scan->regresses || back;
    /* A packet without an end has ended when the next one of its stream begins. */
    if (s->is_open && (back || p->stream != s->stream || p->instance != s->instance))
        s->latest = UINT64_MAX;
    if (begin > s->latest)
        s->latest = begin;
    if (!span->has_range || begin < span->begin)
        span->begin = begin;
    if (!span->has_range || end > span->end)
        span->end = end;
    span->has_range = true;
    s->is_open = !has_end;
    s->stream = p->stream;
    s->instance = p->instance;
    return begin;
}

static int add_packet(scanning *s, const ctf_packet *p, tl_error *e)
{
    ctf_scan *scan = s->scan;
    ctf_span *span = span_of(s, p->stream);
    if (!span)
        return no_memory(e);
    bool point;
    const uint64_t begin = add_time(s, span, p, &point);
    if (point && scan->has_begin && !add_point(s, p))
        return no_memory(e);
    if (point && !s->is_open) {
        const uint64_t end = ticks(s->file, p->stream, p->end);
        s->latest = end > s->latest ? end : s->latest;
    }
    if (scan->packets++ == 0) {
        scan->one_stream = true;
        scan->has_instance = p->has_instance;
        scan->instance = p->instance;
        scan->cpu = p->cpu;
    }
    scan->one_stream =
        scan->one_stream && scan->nspan == 1 && p->has_instance == scan->has_instance && p->instance == scan->instance;
    scan->cpu = p->cpu == scan->cpu ? p->cpu : -1;
    return ctf_losses_add(&scan->losses, s->file, p, begin, e);
}

static int compare_spans(const void *left, const void *right)
{
    const ctf_span *a = left, *b = right;
    return TL_COMPARE(a->stream, b->stream);
}

/* Notes on losses that cannot be counted. */
static int note_losses(tl_trace *t, const ctf_file *f, const ctf_losses *l, tl_error *e)
{
    int status = 0;
    if (l->beyond)
        status = ctf_report(t, f, TL_DAMAGE_NOTE, 0, 0, 0, "ctf.streams",
                            "more than %u streams in one file: what the tracer lost of the others is not counted",
                            CTF_CHAINS_MAX);
    if (status == 0 && l->unnumbered)
        status = ctf_report(t, f, TL_DAMAGE_NOTE, l->unnumbered_at, l->unnumbered_at, 0, "ctf.discarded",
                            "the first packet says that %" PRIu64 " events were discarded up to its end, but has no "
                            "sequence number: they may be from before the trace, and are not counted as lost",
                            l->unnumbered);
    return status < 0 ? no_memory(e) : 0;
}

static int scan_packets(indexing *x, scanning *s, tl_error *e)
{
    worker *w = s->worker;
    tl_input *in = NULL;
    int status = tl_folder_input(x->reader->folder, s->file->index, &in, e);
    if (status < 0)
        return status;
    w->window.in = in;
    w->window.base = 0;
    w->window.n = 0;
    ctf_walk walk = {.file = s->file, .window = &w->window, .report = x->reader->trace, .ahead = HEADER_READ};
    ctf_packet p;
    while ((status = ctf_walk_next(&walk, &p, e)) > 0) {
        walk.ahead = p.size < SMALL_PACKET ? 0 : HEADER_READ;
        status = add_packet(s, &p, e);
        if (status < 0)
            break;
    }
    if (status == 0)
        status = note_losses(x->reader->trace, s->file, &s->scan->losses, e);
    tl_input_close(in);
    return status < 0 ? tl_error_context(e, "%s", s->file->name), status : 0;
}

static int scan_file(void *arg, unsigned number, uint32_t i)
{
    indexing *x = arg;
    worker *w = &x->worker[number];
    ctf_scan *scan = &x->index->scan[i];
    const ctf_file *f = &x->reader->file[i];
    scanning s = {.file = f, .scan = scan, .worker = w, .share = ctf_index_share(f->size, x->total), .every = 1};
    scan->has_begin = true;
    const int status = scan_packets(x, &s, &w->error);
    for (uint32_t k = 0; k < scan->nspan; k++)
        w->span[scan->span[k].stream] = UINT32_MAX;
    if (scan->nspan > 1)
        qsort(scan->span, scan->nspan, sizeof *scan->span, compare_spans);
    scan->has_begin = scan->has_begin && scan->packets > 0;
    scan->closed = scan->has_begin && !s.is_open;
    if (!scan->has_begin)
        scan->npoint = 0;
    if (status < 0 && i < w->failed)
        w->failed = i;
    return status;
}

/* ---- all files ---- */

static int worker_init(worker *w, uint32_t streams, tl_error *e)
{
    w->failed = UINT32_MAX;
    w->error = (tl_error){.offset = TL_NO_OFFSET};
    w->span = tl_alloc((size_t)streams + 1, sizeof *w->span);
    if (!w->span)
        return no_memory(e);
    memset(w->span, 0xff, ((size_t)streams + 1) * sizeof *w->span);
    return tl_window_init(&w->window, NULL, WINDOW, e);
}

static int scan_all(indexing *x, tl_error *e)
{
    ctf_reader *r = x->reader;
    const uint32_t wanted = r->want.threads ? r->want.threads : 1, threads = wanted < r->nfile ? wanted : r->nfile;
    uint32_t streams = 0;
    for (uint32_t i = 0; i < r->nunit; i++)
        streams = r->unit[i].schema.nstream > streams ? r->unit[i].schema.nstream : streams;
    x->worker = calloc((size_t)threads + 1, sizeof *x->worker);
    int status = x->worker ? 0 : no_memory(e);
    for (uint32_t i = 0; status == 0 && i < threads; i++)
        status = worker_init(&x->worker[i], streams, e);
    if (status == 0 && (status = tl_parallel(threads, r->nfile, scan_file, x)) < 0 && e) {
        uint32_t first = 0;
        for (uint32_t i = 1; i < threads; i++)
            first = x->worker[i].failed < x->worker[first].failed ? i : first;
        *e = x->worker[first].error;
    }
    for (uint32_t i = 0; x->worker && i < threads; i++) {
        tl_window_fini(&x->worker[i].window);
        free(x->worker[i].span);
    }
    free(x->worker);
    return status;
}

/* Scans all files; the result is *index. */
static int build(ctf_reader *r, ctf_index *index, tl_error *e)
{
    indexing x = {.reader = r, .index = index};
    index->scan = calloc((size_t)r->nfile + 1, sizeof *index->scan);
    if (!index->scan)
        return no_memory(e);
    index->n = r->nfile;
    for (uint32_t i = 0; i < r->nfile; i++)
        x.total += r->file[i].size;
    int status = scan_all(&x, e);
    if (status == 0)
        status = ctf_files_join(r, index, e);
    ctf_losses *losses = status == 0 ? calloc((size_t)r->nfile + 1, sizeof *losses) : NULL;
    if (status == 0 && !losses)
        status = no_memory(e);
    for (uint32_t i = 0; status == 0 && i < r->nfile; i++) {
        losses[i] = index->scan[i].losses;
        index->packets += index->scan[i].packets;
        index->lost_events += losses[i].events;
        index->lost_packets += losses[i].packets;
    }
    if (status == 0)
        status = ctf_losses_join(losses, r->file, r->nfile, &index->lost_events, &index->lost_packets, e);
    free(losses);
    return status;
}

/* ---- using the result ---- */

/* The files of a stream have one track, which this one extends. */
static void add_to_track(tl_track *t, const ctf_span *span)
{
    t->begin = span->begin < t->begin ? span->begin : t->begin;
    t->end = span->end > t->end ? span->end : t->end;
}

/* The track of a stream class in a file, and in the stream's other files. */
static int add_track(ctf_reader *r, ctf_file *f, const ctf_span *span, tl_error *e)
{
    if (f->track[span->stream] != UINT32_MAX) {
        add_to_track(&r->trace->track[f->track[span->stream]], span);
        return 0;
    }
    const ctf_file *first = f->first;
    const char *path = first->name;
    const ctf_stream_class *class = f->unit->schema.stream[span->stream];
    char number[24];
    snprintf(number, sizeof number, "%" PRIu64, class->id);
    const char *of = class->name ? class->name : number;
    const size_t n = strlen(of), m = first->stem ? first->stem : strlen(path);
    char *name = malloc(n + m + 2);
    if (!name)
        return no_memory(e);
    memcpy(name, of, n);
    name[n] = '/';
    memcpy(name + n + 1, path, m);
    name[n + 1 + m] = '\0';
    tl_track track = {.name = name, .has_range = span->has_range, .begin = span->begin, .end = span->end};
    if (r->nunit > 1) { /* only what all have in common describes the trace */
        track.property = f->unit->schema.property;
        track.nproperty = f->unit->schema.nproperty;
    }
    const int status = tl_trace_add_track(r->trace, &track, &f->track[span->stream], e);
    for (const ctf_file *of_stream = first; status == 0 && of_stream; of_stream = of_stream->next)
        of_stream->track[span->stream] = f->track[span->stream];
    free(name);
    return status;
}

/* Gives files their points and tracks, and the trace its range. */
static int apply(ctf_reader *r, ctf_index *index, tl_error *e)
{
    tl_trace *t = r->trace;
    int status = 0;
    for (uint32_t i = 0; status == 0 && i < r->nfile; i++) {
        ctf_file *f = &r->file[i];
        ctf_scan *scan = &index->scan[i];
        f->point = scan->point; /* now owned by the file */
        f->npoint = scan->npoint;
        scan->point = NULL;
        f->regresses = scan->regresses;
        f->has_begin = scan->has_begin;
        for (uint32_t k = 0; status == 0 && k < scan->nspan; k++) {
            const ctf_span *span = &scan->span[k];
            status = add_track(r, f, span, e);
            if (span->has_range && (!t->has_range || span->begin < t->begin))
                t->begin = span->begin;
            if (span->has_range && (!t->has_range || span->end > t->end))
                t->end = span->end;
            t->has_range = t->has_range || span->has_range;
        }
    }
    t->lost_events = index->lost_events;
    t->lost_packets = index->lost_packets;
    return status;
}

static uint64_t now_ns(void)
{
    struct timespec t = {0};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Loads an index from the cache, if there is one for exactly these files. */
static bool load(ctf_index *index, const ctf_reader *r)
{
    size_t n = 0;
    void *data = index_cache_load(r->folder, &n);
    const bool ok = data && ctf_index_unpack(index, r, data, n);
    free(data);
    return ok;
}

static void store(const ctf_index *index, const ctf_reader *r)
{
    size_t n = 0;
    void *data = ctf_index_pack(index, r, &n);
    if (data)
        index_cache_store(r->folder, data, n);
    free(data);
}

int ctf_index_open(ctf_reader *r, tl_error *e)
{
    ctf_index index = {0};
    const tl_trace *t = r->trace;
    /* Problems of packets are found only by scanning again. Notes were made before. */
    const bool may_cache = t->damage_count == 0;
    const uint32_t notes = t->nnote;
    int status = 0;
    if (!may_cache || !load(&index, r)) {
        const uint64_t before = now_ns();
        status = build(r, &index, e);
        const bool large = index.packets > CACHE_PACKETS || now_ns() - before > CACHE_NS;
        if (status == 0 && large && t->damage_count == 0 && t->nnote == notes)
            store(&index, r);
    } else {
        status = ctf_files_join(r, &index, e);
    }
    if (status == 0)
        status = apply(r, &index, e);
    ctf_index_fini(&index);
    return status;
}
