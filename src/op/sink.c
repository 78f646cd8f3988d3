/* Writes events or a profile in the format that a path or an option names. */
#include "traceloom/sink.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "model/format_impl.h"
#include "op/sink_part.h"

struct tl_sink {
    const tl_format *format;
    const tl_event_writer *writer; /* of the format */
    tl_output *out;
    tl_output_folder *folder; /* replaces `out` for formats that write folders */
    void *state;              /* of the writer */
    const tl_trace *trace;
    tl_accept *accept; /* by class */
    bool all_kept;
    bool is_part;           /* one of several outputs */
    uint64_t kept, dropped; /* events, unless all are kept */
    tl_drops drops;
    tl_write_options options;
};

tl_accept tl_accept_events(void *writer, const tl_class *c)
{
    (void)writer;
    return c->kind == TL_FORMAT ? TL_ACCEPT_IGNORE : TL_ACCEPT_KEEP;
}

void tl_drops_add(tl_drops *d, const char *what, uint64_t n)
{
    if (n == 0)
        return;
    for (uint32_t i = 0; i < d->n; i++)
        if (strcmp(d->drop[i].what, what) == 0) {
            d->drop[i].n += n;
            return;
        }
    if (!TL_GROW(d->drop, d->n, 1, d->capacity))
        return;
    d->drop[d->n++] = (tl_drop){.what = what, .n = n};
}

bool tl_format_wants_order(const tl_format *f, const tl_trace *t)
{
    const tl_event_writer *w = f->event_writer;
    if ((w->track_order && t->shared_tracks) || (w->time_order && t->unsorted))
        return true;
    return w->ordered && !(f->reader && f->reader->unsorted && t->format && strcmp(t->format, f->name) == 0);
}

/* The format to write, from --to or the path's suffix. */
static int choose_format(const tl_format **out, const char *path, const tl_write_options *o, unsigned can, tl_error *e)
{
    const char *data = can == TL_CAN_WRITE_PROFILE ? "profiles" : "events";
    const tl_format *f;
    if (o->to) {
        f = tl_format_by_name(o->to);
        if (!f)
            return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "there is no format \"%s\"", o->to);
    } else {
        f = tl_format_by_suffix(path, can);
        if (!f)
            f = tl_format_by_suffix(path, TL_CAN_WRITE_EVENTS | TL_CAN_WRITE_PROFILE);
        if (!f)
            return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "%s: the suffix names no format; choose one with --to", path);
    }
    if (can == TL_CAN_WRITE_PROFILE ? !f->profile_writer : !f->event_writer)
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "format %s does not hold %s", f->name, data);
    if ((o->compress || o->checksum) && !(f->event_writer && f->event_writer->seals))
        return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "format %s has no packets with %s", f->name,
                       o->compress ? "compression" : "checksums");
    *out = f;
    return 0;
}

static bool ends_in(const char *s, const char *suffix)
{
    size_t n = strlen(s), m = strlen(suffix);
    return n >= m && strcmp(s + n - m, suffix) == 0;
}

/* compressed: whatever the suffix. */
static int open_output(tl_output **out, bool compressed, const char *path, const tl_write_options *o, tl_error *e)
{
    tl_compression c = compressed || ends_in(path, ".gz") ? TL_GZIP : ends_in(path, ".zst") ? TL_ZSTD : TL_PLAIN;
    return tl_output_open(out, path, o->overwrite, c, o->level, e);
}

static int open_folder(tl_output_folder **out, const tl_format *f, const char *path, bool overwrite, tl_error *e)
{
    if (strcmp(path, "-") == 0)
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET,
                       "format %s is a folder of files: it cannot go to standard output; name it with -o", f->name);
    if (ends_in(path, ".gz") || ends_in(path, ".zst"))
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "%s: format %s is a folder of files: it is not compressed",
                       path, f->name);
    return tl_output_folder_open(out, path, overwrite, f->event_writer->folder_files, e);
}

/* An output without events would suggest that nothing happened. */
static int refuse_all(const tl_sink *s, tl_error *e)
{
    return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "%s: there are no %s to write", s->format->name,
                   s->writer->holds ? s->writer->holds : "events that it holds");
}

static int ask_classes(tl_sink *s, tl_error *e)
{
    const tl_trace *t = s->trace;
    bool keeps = false, drops = false;
    s->accept = tl_alloc(t->ncls + 1, sizeof *s->accept);
    if (!s->accept)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to write events");
    s->all_kept = true;
    for (uint32_t i = 0; i < t->ncls; i++) {
        s->accept[i] = s->writer->accept ? s->writer->accept(s->state, &t->cls[i]) : TL_ACCEPT_KEEP;
        s->all_kept = s->all_kept && s->accept[i] == TL_ACCEPT_KEEP;
        keeps = keeps || s->accept[i] == TL_ACCEPT_KEEP;
        drops = drops || s->accept[i] == TL_ACCEPT_DROP;
    }
    return drops && !keeps ? refuse_all(s, e) : 0;
}

static int open_sink(tl_sink **out, const char *path, const tl_trace *t, const tl_write_options *options, bool is_part,
                     tl_error *e)
{
    static const tl_write_options none = {0};
    tl_sink *s = calloc(1, sizeof *s);
    if (!s)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to write %s", path);
    s->trace = t;
    s->is_part = is_part;
    s->options = options ? *options : none;
    int status = choose_format(&s->format, path, &s->options, TL_CAN_WRITE_EVENTS, e);
    s->writer = status == 0 ? s->format->event_writer : NULL;
    if (status == 0)
        status = s->writer->folder ? open_folder(&s->folder, s->format, path, s->options.overwrite, e)
                                   : open_output(&s->out, false, path, &s->options, e);
    if (status == 0) {
        const tl_write_context context = {.path = path,
                                          .out = s->out,
                                          .folder = s->folder,
                                          .trace = t,
                                          .is_part = is_part,
                                          .drops = &s->drops,
                                          .options = &s->options};
        s->state = calloc(1, s->writer->size ? s->writer->size : 1);
        status = s->state ? s->writer->create(s->state, &context, e)
                          : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to write %s", path);
    }
    if (status == 0)
        status = ask_classes(s, e);
    if (status < 0) {
        tl_sink_close(s);
        return status;
    }
    *out = s;
    return 0;
}

int tl_sink_open(tl_sink **out, const char *path, const tl_trace *t, const tl_write_options *options, tl_error *e)
{
    return open_sink(out, path, t, options, false, e);
}

int tl_sink_open_part(tl_sink **out, const char *path, const tl_trace *t, const tl_write_options *options, tl_error *e)
{
    return open_sink(out, path, t, options, true, e);
}

bool tl_sink_wants_order(const tl_sink *s)
{
    return tl_format_wants_order(s->format, s->trace);
}

int tl_sink_write(tl_sink *s, const tl_batch *b, uint32_t from, uint32_t to, tl_error *e)
{
    if (s->all_kept)
        return from < to ? s->writer->write(s->state, b, from, to, e) : 0;
    while (from < to) {
        uint32_t end = from;
        while (end < to && s->accept[b->cls[end]] == TL_ACCEPT_KEEP)
            end++;
        if (end > from) {
            int status = s->writer->write(s->state, b, from, end, e);
            if (status < 0)
                return status;
            s->kept += end - from;
        }
        for (; end < to && s->accept[b->cls[end]] != TL_ACCEPT_KEEP; end++)
            if (s->accept[b->cls[end]] == TL_ACCEPT_DROP) {
                tl_drops_add(&s->drops, s->trace->cls[b->cls[end]].name, 1);
                s->dropped++;
            }
        from = end;
    }
    return 0;
}

int tl_sink_write_runs(tl_sink *s, const tl_run *run, uint32_t n, tl_error *e)
{
    int status = 0;
    for (uint32_t i = 0; status >= 0 && i < n; i++)
        status = s->all_kept && run[i].from < run[i].to
                     ? s->writer->write(s->state, run[i].batch, run[i].from, run[i].to, e)
                     : tl_sink_write(s, run[i].batch, run[i].from, run[i].to, e);
    return status;
}

uint64_t tl_sink_bytes(const tl_sink *s)
{
    return s->out ? tl_output_bytes(s->out) : s->writer->written ? s->writer->written(s->state) : 0;
}

int tl_sink_flush(tl_sink *s, tl_error *e)
{
    if (!s->out)
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET,
                       "format %s is a folder of files: it is there when it is complete", s->format->name);
    return tl_output_flush(s->out, e);
}

int tl_sink_finish(tl_sink *s, tl_error *e)
{
    if (s->dropped > 0 && s->kept == 0 && !s->is_part)
        return refuse_all(s, e);
    int status = s->writer->finish ? s->writer->finish(s->state, e) : 0;
    if (status < 0)
        return status;
    return s->folder ? tl_output_folder_finish(s->folder, e) : tl_output_finish(s->out, e);
}

uint32_t tl_sink_drops(const tl_sink *s)
{
    return s->drops.n;
}

const tl_drop *tl_sink_drop(const tl_sink *s, uint32_t index)
{
    return index < s->drops.n ? &s->drops.drop[index] : NULL;
}

void tl_sink_close(tl_sink *s)
{
    if (!s)
        return;
    if (s->state && s->writer->discard)
        s->writer->discard(s->state);
    free(s->state);
    tl_output_close(s->out);
    tl_output_folder_close(s->folder);
    free(s->accept);
    free(s->drops.drop);
    free(s);
}

int tl_profile_write(const tl_profile *p, const char *path, const tl_write_options *options,
                     void (*drops)(void *arg, const tl_drop *d), void *arg, tl_error *e)
{
    static const tl_write_options none = {0};
    const tl_write_options *o = options ? options : &none;
    const tl_format *f = NULL;
    tl_output *out = NULL;
    tl_drops dropped = {0};
    int status = choose_format(&f, path, o, TL_CAN_WRITE_PROFILE, e);
    if (status == 0)
        status = open_output(&out, f->profile_writer->compressed, path, o, e);
    if (status == 0) {
        const tl_write_context context = {.out = out, .drops = &dropped, .options = o};
        status = f->profile_writer->write(&context, p, e);
    }
    if (status == 0)
        status = tl_output_finish(out, e);
    for (uint32_t i = 0; status == 0 && drops && i < dropped.n; i++)
        drops(arg, &dropped.drop[i]);
    free(dropped.drop);
    tl_output_close(out);
    return status;
}
