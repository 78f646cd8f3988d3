/* Opening a trace of any format, and reading its streams. */
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "model/recording.h"
#include "op/checkpoints.h"
#include "op/source_kind.h"
#include "op/source_stop.h"
#include "op/stream_reader.h"
#include "op/symbols/code_map.h"
#include "op/symbols/discover.h"
#include "op/symbols/given_files.h"
#include "op/symbols/object_symbols.h"
#include "op/symbols/symbolize.h"

static int choose_format(tl_source *s, const char *name, tl_error *e)
{
    if (!name)
        return s->folder ? tl_find_folder_format(&s->format, s->folder, e) : tl_find_format(&s->format, s->in, e);
    const tl_format *f = tl_format_by_name(name);
    if (!f)
        return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "there is no format \"%s\"", name);
    if (!f->reader)
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "format %s can only be written", name);
    if (s->folder ? !f->reader->open_folder : !f->reader->open)
        return tl_fail(e, TL_EFORMAT, TL_NO_OFFSET, "is a %s; traces of format %s are %s",
                       s->folder ? "folder" : "file", name, s->folder ? "files" : "folders");
    s->format = f;
    return 0;
}

const char *tl_source_name(const tl_source *s)
{
    return s->in ? tl_input_name(s->in) : s->folder->path;
}

/* Adds damage in the input's compression. */
static int add_input_damage(tl_source *s, tl_error *e)
{
    uint64_t offset = 0;
    const char *broken = s->in ? tl_input_damage(s->in, &offset) : NULL;
    return broken ? tl_trace_add_damage(&s->trace, e, offset, 0, "input.damaged", "%s", broken) : 0;
}

/* With want.strict: fails if there is damage already. Other cursors may be adding to the list. */
static int refuse_damage(tl_source *s, tl_error *e)
{
    tl_trace *t = &s->trace;
    if (!s->want.strict)
        return 0;
    pthread_mutex_lock(&t->lock);
    const bool any = t->ndamage > 0;
    const tl_damage d = any ? t->damage[0] : (tl_damage){0};
    pthread_mutex_unlock(&t->lock);
    return any ? tl_fail(e, TL_EDAMAGED, d.at, "%s%s%s: %s", d.file ? d.file : "", d.file ? ": " : "", d.rule, d.what)
               : 0;
}

/* Opens the trace once input and format are known. */
static int open_format(tl_source *s, const tl_open_options *o, tl_error *e)
{
    tl_trace *t = &s->trace;
    if (s->follow && !s->reader->follows)
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET,
                       "format %s cannot be read while it is still being written (--follow)", s->format->name);
    t->path = tl_trace_intern(t, s->in ? tl_input_path(s->in) : s->folder->path);
    t->format = s->format->name;
    t->unsorted = s->reader->unsorted;
    t->bytes = s->in ? tl_input_size(s->in) : 0;
    s->state = calloc(1, s->reader->size ? s->reader->size : 1);
    if (!t->path || !s->state)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to open the %s", s->in ? "file" : "folder");
    int status = s->in ? s->reader->open(s->state, s->in, t, &s->want, o->progress, e)
                       : s->reader->open_folder(s->state, s->folder, t, &s->want, o->progress, e);
    if (status < 0)
        return tl_error_context(e, "%s", s->format->name), status;
    status = add_input_damage(s, e);
    if (status < 0)
        return status;
    tl_trace_sort_damage(t);
    status = refuse_damage(s, e);
    if (status < 0)
        return status;
    s->exe = o->exe ? tl_trace_intern(&s->trace, o->exe) : NULL;
    s->no_names = o->no_names;
    s->no_demangle = o->no_demangle;
    s->no_lines = o->no_lines;
    if (o->exe && !s->exe)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to open the file");
    if (o->exe && !s->follow && tl_discover_wanted(&s->trace))
        return tl_discover(s, e);
    if (t->recording && t->recording->nobject > 0 && (o->exe || !o->no_names))
        return tl_object_symbols(s, o, e);
    return o->exe || o->nobject ? tl_given_files(s, o, e) : 0;
}

/* Opens the trace in `in` or `folder`; takes it over, also on failure. */
static int open_source(tl_source **out, tl_input *in, tl_folder *folder, const tl_open_options *options, tl_error *e)
{
    static const tl_open_options none = {0};
    const tl_open_options *o = options ? options : &none;
    tl_source *s = calloc(1, sizeof *s);
    if (!s) {
        tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "%s: no memory to open the trace", in ? tl_input_name(in) : folder->path);
        tl_input_close(in);
        tl_folder_close(folder);
        return TL_ENOMEM;
    }
    tl_trace_init(&s->trace);
    s->in = in;
    s->folder = folder;
    s->want = o->want;
    s->follow = o->follow;
    if (s->follow) /* the trace changes while it is read */
        s->want.threads = 1;
    int status = choose_format(s, o->from, e);
    s->reader = status == 0 ? s->format->reader : NULL;
    if (status == 0 && s->in && !s->reader->forward)
        status = tl_input_settle(s->in, e);
    if (status == 0)
        status = open_format(s, o, e);
    if (status < 0) {
        tl_error_context(e, "%s", tl_source_name(s));
        tl_source_close(s);
        return status;
    }
    *out = s;
    return 0;
}

int tl_source_open(tl_source **out, const char *path, const tl_open_options *options, tl_error *e)
{
    tl_input *in = NULL;
    tl_folder *folder = NULL;
    const bool is_folder = tl_path_is_folder(path);
    /* All messages name the path. */
    int status = is_folder                    ? tl_folder_open(&folder, path, e)
                 : options && options->follow ? tl_input_open_follow(&in, path, e)
                                              : tl_input_open_lazy(&in, path, e);
    return status < 0 ? status : open_source(out, in, folder, options, e);
}

int tl_source_open_memory(tl_source **out, const void *data, size_t size, const char *name,
                          const tl_open_options *options, tl_error *e)
{
    tl_input *in = NULL;
    int status = tl_input_open_memory(&in, data, size, name, e);
    return status < 0 ? status : open_source(out, in, NULL, options, e);
}

int tl_source_open_folder_memory(tl_source **out, const void *data, size_t size, const char *name,
                                 const tl_open_options *options, tl_error *e)
{
    tl_folder *folder = NULL;
    int status = tl_folder_open_memory(&folder, data, size, name, e);
    return status < 0 ? status : open_source(out, NULL, folder, options, e);
}

void tl_source_hold(tl_source *s)
{
    atomic_fetch_add(&s->holders, 1);
}

void tl_source_close(tl_source *s)
{
    if (!s || atomic_fetch_sub(&s->holders, 1) > 0)
        return;
    tl_stream_reader_close(s->stream_reader);
    tl_discovery_free(s->discovery);
    tl_checkpoints_free(s->checkpoints);
    tl_code_map_close(s->code);
    if (s->state && s->reader->close)
        s->reader->close(s->state);
    free(s->state);
    tl_input_close(s->in);
    tl_folder_close(s->folder);
    tl_trace_fini(&s->trace);
    free(s);
}

const tl_trace *tl_source_trace(const tl_source *s)
{
    return &s->trace;
}

void tl_source_set_stop(tl_source *s, bool (*stop)(void *arg), void *arg)
{
    s->stop = stop;
    s->stop_arg = arg;
}

bool tl_source_is_profile(const tl_source *s)
{
    return s->reader->profile != NULL;
}

uint32_t tl_source_streams(const tl_source *s)
{
    return s->reader->streams ? s->reader->streams(s->state) : 0;
}

/* Small streams get small batches: there may be very many of them open at once. */
static uint32_t batch_capacity(const tl_source *s, uint32_t stream)
{
    enum { LEAST = 16, BYTES_OF_AN_EVENT = 8 };
    if (!s->reader->stream_weight)
        return TL_BATCH_MAX;
    uint64_t events = s->reader->stream_weight(s->state, stream) / BYTES_OF_AN_EVENT;
    return events < LEAST ? LEAST : events < TL_BATCH_MAX ? (uint32_t)events : TL_BATCH_MAX;
}

int tl_source_check(tl_source *s, unsigned threads, tl_error *e)
{
    int status = s->reader->check ? s->reader->check(s->state, threads, e) : 0;
    if (status < 0)
        tl_error_context(e, "%s", tl_source_name(s));
    tl_trace_sort_damage(&s->trace);
    return status;
}

int tl_cursor_open(tl_cursor **out, tl_source *s, uint32_t stream, tl_error *e)
{
    return tl_cursor_open_want(out, s, stream, NULL, NULL, e);
}

static int open_cursor(tl_cursor **out, tl_source *s, uint32_t stream, const tl_want *want, tl_error *e)
{
    if (stream >= tl_source_streams(s))
        return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "stream %u of %u", stream, tl_source_streams(s));
    tl_cursor *c = calloc(1, sizeof *c);
    if (!c)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a cursor");
    c->source = s;
    c->stream = stream;
    void *state = calloc(1, s->reader->cursor_size ? s->reader->cursor_size : 1);
    int status = state ? tl_batch_init(&c->batch, &s->trace, want, batch_capacity(s, stream), e)
                       : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a cursor");
    if (status == 0)
        status = s->reader->stream_open(s->state, stream, state, e);
    if (status < 0) {
        free(state);
        tl_batch_fini(&c->batch);
        free(c);
        return status;
    }
    c->state = state;
    *out = c;
    return 0;
}

int tl_cursor_limit(tl_cursor *c, uint64_t from, uint64_t to, tl_error *e)
{
    const tl_reader *r = c->source->reader;
    int status = r->stream_limit ? r->stream_limit(c->state, from, to, e) : 0;
    if (status < 0)
        tl_error_context(e, "%s: %s", tl_source_name(c->source), c->source->format->name);
    return status;
}

unsigned tl_source_skips(const tl_source *s)
{
    return s->follow ? 0 : s->reader->skips;
}

tl_want tl_source_want(const tl_source *s, bool fields)
{
    tl_want want = s->want;
    want.fields = fields;
    return want;
}

int tl_cursor_open_want(tl_cursor **out, tl_source *s, uint32_t stream, const tl_want *want, const tl_limit *limit,
                        tl_error *e)
{
    tl_cursor *c = NULL;
    int status = open_cursor(&c, s, stream, want ? want : &s->want, e);
    if (status == 0 && limit && limit->set)
        status = tl_cursor_limit(c, limit->from, limit->to, e);
    if (status < 0) {
        tl_cursor_close(c);
        return status;
    }
    *out = c;
    return 0;
}

int tl_cursor_fill(tl_cursor *c, tl_batch *b, tl_error *e)
{
    const tl_reader *r = c->source->reader;
    if (c->source->stop && c->source->stop(c->source->stop_arg))
        return tl_fail(e, TL_ELIMIT, TL_NO_OFFSET, "interrupted");
    tl_batch_clear(b);
    int status = r->stream_next(c->state, b, e);
    /* Only now is it known whether the input ended well. */
    if (status == 0 && (c->source->follow || r->forward)) {
        status = add_input_damage(c->source, e);
        if (status == 0)
            status = refuse_damage(c->source, e);
    }
    b->stream = c->stream;
    b->first = c->events;
    c->events += b->n;
    if (status < 0)
        tl_error_context(e, "%s: %s", tl_source_name(c->source), c->source->format->name);
    return status;
}

int tl_cursor_next(tl_cursor *c, const tl_batch **batch, tl_error *e)
{
    int status = tl_cursor_fill(c, &c->batch, e);
    if (status >= 0)
        *batch = &c->batch;
    return status;
}

void tl_cursor_close(tl_cursor *c)
{
    if (!c)
        return;
    if (c->source->reader->stream_close)
        c->source->reader->stream_close(c->state);
    free(c->state);
    tl_batch_fini(&c->batch);
    free(c);
}

int tl_source_next(tl_source *s, const tl_batch **batch, tl_error *e)
{
    int status = s->stream_reader ? 0 : tl_stream_reader_open(&s->stream_reader, s, NULL, NULL, e);
    if (status < 0)
        return status;
    for (; s->stream < tl_source_streams(s); s->stream++)
        if ((status = tl_stream_reader_next(s->stream_reader, s->stream, batch, e)) != 0)
            return status;
    tl_trace_sort_damage(&s->trace);
    return 0;
}

bool tl_source_is_one_stream(const tl_source *s)
{
    const uint32_t n = tl_source_streams(s);
    uint64_t all = 0, most = 0;
    for (uint32_t i = 0; s->reader->stream_weight && i < n; i++) {
        const uint64_t weight = s->reader->stream_weight(s->state, i) >> 20; /* of n < 2^32: their sum fits */
        all += weight;
        most = weight > most ? weight : most;
    }
    return n < 2 || most > all - most;
}

typedef struct weighed {
    uint64_t weight;
    uint32_t stream;
} weighed;

static int heavier_first(const void *left, const void *right)
{
    const weighed *a = left, *b = right;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    return TL_COMPARE(a->stream, b->stream);
}

uint32_t *tl_source_by_weight(tl_source *s)
{
    uint32_t n = tl_source_streams(s);
    uint32_t *order = tl_alloc(n + 1, sizeof *order);
    weighed *w = tl_alloc(n + 1, sizeof *w);
    for (uint32_t i = 0; order && w && i < n; i++)
        w[i] = (weighed){s->reader->stream_weight ? s->reader->stream_weight(s->state, i) : 1, i};
    if (order && w) {
        qsort(w, n, sizeof *w, heavier_first);
        for (uint32_t i = 0; i < n; i++)
            order[i] = w[i].stream;
        free(w);
        return order;
    }
    free(w);
    free(order);
    return NULL;
}
