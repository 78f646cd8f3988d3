/* Writing events to several outputs, one after another or side by side. */
#include "traceloom/split.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/grow.h"
#include "base/io/base_name.h"
#include "model/format_impl.h"
#include "op/sink_part.h"

struct tl_split {
    const tl_trace *trace;
    tl_write_options options;
    tl_split_by by;
    uint64_t each;
    char *path;
    tl_sink **sink; /* by track, or [1]: the current part */
    uint32_t nsink, open;
    uint64_t piece;  /* number of the current piece of time */
    uint32_t serial; /* counts parts by bytes */
    char **part;
    uint32_t npart, part_capacity;
    tl_drops drops;
};

static int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to split the output");
}

int tl_split_open(tl_split **out, const char *path, const tl_trace *t, const tl_write_options *options, tl_split_by by,
                  uint64_t each, tl_error *e)
{
    static const tl_write_options none = {0};
    if (strcmp(path, "-") == 0)
        return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "standard output cannot be split");
    if (by != TL_SPLIT_TRACK && each == 0)
        return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "parts of nothing");
    tl_split *s = calloc(1, sizeof *s);
    if (!s)
        return no_memory(e);
    s->trace = t;
    s->options = options ? *options : none;
    s->by = by;
    s->each = each;
    s->nsink = by == TL_SPLIT_TRACK ? t->ntrack : 1;
    s->path = strdup(path);
    s->sink = calloc((size_t)s->nsink + 1, sizeof(tl_sink *));
    if (!s->path || !s->sink) {
        tl_split_close(s);
        return no_memory(e);
    }
    *out = s;
    return 0;
}

bool tl_split_wants_order(const tl_split *s, bool format_wants_order)
{
    return format_wants_order || s->by != TL_SPLIT_TRACK;
}

/* The path of a part, remembered. */
static const char *part_path(tl_split *s, uint64_t number)
{
    if (!TL_GROW(s->part, s->npart, 1, s->part_capacity))
        return NULL;
    const char *base = tl_base_name(s->path);
    const char *dot = *base ? strchr(base + 1, '.') : NULL;
    const size_t stem = dot ? (size_t)(dot - s->path) : strlen(s->path), size = strlen(s->path) + 32;
    char *path = malloc(size);
    if (!path)
        return NULL;
    snprintf(path, size, "%.*s-%03llu%s", (int)stem, s->path, (unsigned long long)number, dot ? dot : "");
    s->part[s->npart++] = path;
    return path;
}

static int begin_part(tl_split *s, uint32_t slot, uint64_t number, tl_error *e)
{
    if (s->open == TL_SPLIT_OPEN_MAX)
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "more than %u tracks; choose some of them first",
                       TL_SPLIT_OPEN_MAX);
    if (s->npart == TL_SPLIT_PARTS_MAX)
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "more than %u parts", TL_SPLIT_PARTS_MAX);
    const char *path = part_path(s, number);
    int status = path ? tl_sink_open_part(&s->sink[slot], path, s->trace, &s->options, e) : no_memory(e);
    s->open += status == 0;
    return status;
}

static int end_part(tl_split *s, uint32_t slot, tl_error *e)
{
    tl_sink *sink = s->sink[slot];
    if (!sink)
        return 0;
    int status = tl_sink_finish(sink, e);
    for (uint32_t i = 0; i < tl_sink_drops(sink); i++) {
        const tl_drop *d = tl_sink_drop(sink, i);
        const char *what = strdup(d->what); /* it may belong to the sink */
        if (what)
            tl_drops_add(&s->drops, what, d->n);
        bool kept = false;
        for (uint32_t k = 0; k < s->drops.n; k++)
            kept = kept || s->drops.drop[k].what == what;
        if (!kept)
            free((void *)(uintptr_t)what);
    }
    tl_sink_close(sink);
    s->sink[slot] = NULL;
    s->open--;
    return status;
}

/* Room for a part for each track: tracks may be added while reading. */
static int reserve_slot(tl_split *s, uint32_t slot, tl_error *e)
{
    return TL_GROW_TO(s->sink, s->nsink, slot, TL_TRACKS_MAX) ? 0 : no_memory(e);
}

/* The piece of time that contains a tick. */
static uint64_t piece_of(const tl_split *s, uint64_t ts)
{
    return ts > s->options.begin ? (ts - s->options.begin) / s->each : 0;
}

/* Writes from .. to-1 into the part at `slot`, begun as `number` if needed. */
static int write_part(tl_split *s, uint32_t slot, uint64_t number, const tl_batch *b, uint32_t from, uint32_t to,
                      tl_error *e)
{
    int status = reserve_slot(s, slot, e);
    if (status == 0 && !s->sink[slot])
        status = begin_part(s, slot, number, e);
    return status < 0 ? status : tl_sink_write(s->sink[slot], b, from, to, e);
}

static int write_by_time(tl_split *s, const tl_run *r, tl_error *e)
{
    int status = 0;
    for (uint32_t from = r->from, to; status >= 0 && from < r->to; from = to) {
        uint64_t piece = piece_of(s, r->batch->ts[from]);
        if (piece < s->piece) /* an event that goes back in time goes to the current part */
            piece = s->piece;
        for (to = from + 1; to < r->to && piece_of(s, r->batch->ts[to]) <= piece;)
            to++;
        if (piece != s->piece)
            status = end_part(s, 0, e);
        s->piece = piece;
        if (status >= 0)
            status = write_part(s, 0, piece + 1, r->batch, from, to, e);
    }
    return status;
}

static int write_by_bytes(tl_split *s, const tl_run *r, tl_error *e)
{
    int status = 0;
    if (s->sink[0] && tl_sink_bytes(s->sink[0]) >= s->each)
        status = end_part(s, 0, e);
    if (!s->sink[0])
        s->serial++;
    return status < 0 ? status : write_part(s, 0, s->serial, r->batch, r->from, r->to, e);
}

static int write_by_track(tl_split *s, const tl_run *r, tl_error *e)
{
    const uint32_t *track = r->batch->track;
    int status = 0;
    for (uint32_t from = r->from, to; status >= 0 && from < r->to; from = to) {
        for (to = from + 1; to < r->to && track[to] == track[from];)
            to++;
        status = write_part(s, track[from], (uint64_t)track[from] + 1, r->batch, from, to, e);
    }
    return status;
}

int tl_split_write_runs(tl_split *s, const tl_run *run, uint32_t n, tl_error *e)
{
    int status = 0;
    for (uint32_t i = 0; status >= 0 && i < n; i++)
        status = run[i].from == run[i].to  ? 0
                 : s->by == TL_SPLIT_TIME  ? write_by_time(s, &run[i], e)
                 : s->by == TL_SPLIT_BYTES ? write_by_bytes(s, &run[i], e)
                                           : write_by_track(s, &run[i], e);
    return status < 0 ? status : 0;
}

int tl_split_finish(tl_split *s, tl_error *e)
{
    int status = 0;
    for (uint32_t i = 0; i < s->nsink; i++) {
        int ended = end_part(s, i, status < 0 ? NULL : e);
        status = status < 0 ? status : ended;
    }
    return status;
}

uint32_t tl_split_parts(const tl_split *s)
{
    return s->npart;
}

const char *tl_split_part(const tl_split *s, uint32_t index)
{
    return index < s->npart ? s->part[index] : NULL;
}

uint32_t tl_split_drops(const tl_split *s)
{
    return s->drops.n;
}

const tl_drop *tl_split_drop(const tl_split *s, uint32_t index)
{
    return index < s->drops.n ? &s->drops.drop[index] : NULL;
}

void tl_split_close(tl_split *s)
{
    if (!s)
        return;
    for (uint32_t i = 0; s->sink && i < s->nsink; i++)
        tl_sink_close(s->sink[i]);
    for (uint32_t i = 0; i < s->drops.n; i++)
        free((void *)(uintptr_t)s->drops.drop[i].what);
    for (uint32_t i = 0; i < s->npart; i++)
        free(s->part[i]);
    free(s->drops.drop);
    free(s->part);
    free(s->sink);
    free(s->path);
    free(s);
}
