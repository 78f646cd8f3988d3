/* Which events the terms of a scan leave. */
#include "op/scan/event_filter.h"

#include "op/scan/term_copy.h"

#include <stdlib.h>
#include <string.h>

/* Terms about one thing (a class, a track), seen as a row with that part. */
typedef struct judge {
    const tl_scan_ask *ask;
    const uint8_t *part;
} judge;

static bool class_fits(const judge *j, const tl_class *c)
{
    for (uint32_t i = 0; i < j->ask->nterm; i++) {
        const tl_term *t = &j->ask->term[i];
        const uint8_t part = j->part[t->column];
        if ((part == TL_EVENT_NAME && !tl_term_takes_text(j->ask, t, c->name)) ||
            (part == TL_EVENT_KIND && !tl_term_takes_text(j->ask, t, tl_kind_name(c->kind))) ||
            (part == TL_EVENT_CLASS && !tl_term_takes_int(t, c->id)) ||
            ((part == TL_EVENT_FUNCTION || part == TL_EVENT_FUNCTION_NAME) && c->key != TL_KEY_FUNCTION))
            return false;
    }
    return true;
}

static bool track_fits(const judge *j, const tl_track *track, uint32_t index)
{
    for (uint32_t i = 0; i < j->ask->nterm; i++) {
        const tl_term *t = &j->ask->term[i];
        const uint8_t part = j->part[t->column];
        if ((part == TL_EVENT_THREAD && !tl_term_takes_text(j->ask, t, track->name)) ||
            (part == TL_EVENT_TRACK && !tl_term_takes_int(t, index)) ||
            (part == TL_EVENT_PID && !(track->has_pid && tl_term_takes_int(t, track->pid))) ||
            (part == TL_EVENT_TID && !(track->has_tid && tl_term_takes_int(t, track->tid))))
            return false;
    }
    return true;
}

/* The smallest and largest value of a term that can be compared with whole numbers; false: it says nothing. */
static bool bounds_of(const tl_term *t, int64_t *low, int64_t *high)
{
    *low = INT64_MAX;
    *high = INT64_MIN;
    for (uint32_t i = 0; i < t->n; i++) {
        int64_t least, most;
        if (t->value[i].kind == TL_CELL_INT) {
            least = most = t->value[i].i64;
        } else if (t->value[i].kind == TL_CELL_REAL) {
            const double v = t->value[i].real;
            if (!(v > -9e18 && v < 9e18))
                return false;
            least = (int64_t)v - 1;
            most = (int64_t)v + 1;
        } else {
            return false;
        }
        *low = least < *low ? least : *low;
        *high = most > *high ? most : *high;
    }
    return t->n > 0;
}

/* A time as ticks, one tick early or late to be sure; `base` is the tick and ns that it counts from. */
static uint64_t ticks_of(const tl_trace *t, uint64_t begin, int64_t ns, bool late)
{
    if (ns < 0)
        return late ? begin : 0; /* events before the begin: all of them */
    /* Several ticks may be shown as one ns: up to the first one that is shown as the next. */
    const uint64_t ticks = tl_scale_ticks(&t->scale, (uint64_t)ns + late);
    const uint64_t at = ticks > UINT64_MAX - begin ? UINT64_MAX : begin + ticks;
    if (late)
        return at == UINT64_MAX ? UINT64_MAX : at + 1;
    return ns == 0 || at == 0 ? 0 : at - 1;
}

static void add_time(tl_event_filter *f, const tl_trace *t, uint64_t begin, const tl_term *term, bool utc)
{
    int64_t low, high;
    const tl_clock *clock = tl_trace_clock(t);
    if (!bounds_of(term, &low, &high) || (utc && !clock->has_utc) || term->op == TL_TERM_GLOB)
        return;
    if (utc && (__builtin_sub_overflow(low, clock->utc_offset_ns, &low) ||
                __builtin_sub_overflow(high, clock->utc_offset_ns, &high)))
        return;
    const uint64_t from = ticks_of(t, utc ? 0 : begin, low, false), to = ticks_of(t, utc ? 0 : begin, high, true);
    const bool has_low = term->op == TL_TERM_IS || term->op == TL_TERM_ABOVE || term->op == TL_TERM_AT_LEAST,
               has_high = term->op == TL_TERM_IS || term->op == TL_TERM_BELOW || term->op == TL_TERM_AT_MOST;
    f->from = has_low && from > f->from ? from : f->from;
    f->to = has_high && to < f->to ? to : f->to;
    f->has_time = f->from > 0 || f->to < UINT64_MAX;
}

static bool bits_of_classes(uint8_t **out, const judge *j, const tl_trace *t, const uint8_t *only, uint32_t kinds)
{
    bool all = true;
    uint8_t *bits = malloc((size_t)t->ncls + 1);
    for (uint32_t i = 0; bits && i < t->ncls; i++) {
        bits[i] = t->cls[i].kind != TL_FORMAT && (!only || only[i]) && (!kinds || kinds >> t->cls[i].kind & 1) &&
                  class_fits(j, &t->cls[i]);
        all = all && bits[i];
    }
    *out = bits;
    if (bits && all) {
        free(bits);
        *out = NULL;
    }
    return bits != NULL;
}

static bool bits_of_tracks(tl_event_filter *f, const judge *j, const tl_trace *t)
{
    bool all = true;
    f->ntrack = tl_trace_tracks(t);
    uint8_t *bits = malloc((size_t)f->ntrack + 1);
    for (uint32_t i = 0; bits && i < f->ntrack; i++) {
        bits[i] = track_fits(j, tl_trace_track(t, i), i);
        all = all && bits[i];
    }
    if (bits && all)
        free(bits);
    else
        f->track = bits;
    return bits != NULL;
}

static int by_id(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The ids of a term `function_id IS ...`; further terms are left to whoever asked. */
static bool add_functions(tl_event_filter *f, const tl_term *t)
{
    if (f->has_function || t->op != TL_TERM_IS)
        return true;
    for (uint32_t i = 0; i < t->n; i++)
        if (t->value[i].kind != TL_CELL_INT)
            return true;
    f->function = calloc((size_t)t->n + 1, sizeof *f->function);
    if (!f->function)
        return false;
    f->has_function = true;
    f->nfunction = t->n;
    for (uint32_t i = 0; i < t->n; i++)
        f->function[i] = t->value[i].i64;
    qsort(f->function, f->nfunction, sizeof *f->function, by_id);
    return true;
}

int tl_event_filter_init(tl_event_filter *f, const tl_trace *t, uint64_t begin, const tl_scan_ask *ask,
                         const uint8_t *part, const uint8_t *only, uint32_t kinds, tl_error *e)
{
    const judge j = {ask, part};
    f->to = UINT64_MAX;
    bool ok = bits_of_classes(&f->cls, &j, t, only, kinds) && bits_of_tracks(f, &j, t);
    for (uint32_t i = 0; ok && i < ask->nterm; i++) {
        const uint8_t p = part[ask->term[i].column];
        if (p == TL_EVENT_TS || p == TL_EVENT_UTC)
            add_time(f, t, begin, &ask->term[i], p == TL_EVENT_UTC);
        else if (p == TL_EVENT_FUNCTION)
            ok = add_functions(f, &ask->term[i]);
    }
    return ok ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a scan");
}

void tl_event_filter_fini(tl_event_filter *f)
{
    free(f->cls);
    free(f->track);
    free(f->function);
    *f = (tl_event_filter){0};
}

void tl_event_filter_limit(const tl_event_filter *f, uint64_t begin, tl_select *select)
{
    const uint64_t from = f->from > begin ? f->from - begin : 0, to = f->to > begin ? f->to - begin : 0;
    if (from > 0 && (!select->has_from || select->time_from < from)) {
        select->has_from = true;
        select->time_from = from;
    }
    if (f->to != UINT64_MAX && (!select->has_to || select->time_to > to)) {
        select->has_to = true;
        select->time_to = to;
    }
}

static bool takes_function(const tl_event_filter *f, int64_t id)
{
    if (f->nfunction == 1)
        return f->function[0] == id;
    return bsearch(&id, f->function, f->nfunction, sizeof id, by_id) != NULL;
}

bool tl_event_filter_takes(const tl_event_filter *f, const tl_batch *b, uint32_t i)
{
    if ((f->cls && !f->cls[b->cls[i]]) || (f->track && b->track[i] < f->ntrack && !f->track[b->track[i]]))
        return false;
    if (f->has_time && (b->ts[i] < f->from || b->ts[i] >= f->to))
        return false;
    return !f->has_function || takes_function(f, (int64_t)b->key[i]);
}

uint32_t tl_event_filter_pick(const tl_event_filter *f, const tl_run *run, uint32_t at[static TL_BATCH_MAX])
{
    const tl_batch *b = run->batch;
    uint32_t n = 0;
    if (!f->cls && !f->track && !f->has_time && !f->has_function) {
        for (uint32_t i = run->from; i < run->to; i++)
            at[n++] = i;
        return n;
    }
    for (uint32_t i = run->from; i < run->to; i++)
        if (tl_event_filter_takes(f, b, i))
            at[n++] = i;
    return n;
}

double tl_event_filter_keeps(tl_event_part part, tl_term_op op)
{
    const bool is = op == TL_TERM_IS;
    switch (part) {
    case TL_EVENT_TS:
    case TL_EVENT_UTC:
        return is ? 1e-6 : op == TL_TERM_GLOB ? 1 : 0.25;
    case TL_EVENT_NAME:
    case TL_EVENT_KIND:
    case TL_EVENT_THREAD:
        return is || op == TL_TERM_GLOB ? 0.1 : 1;
    case TL_EVENT_CLASS:
    case TL_EVENT_TRACK:
    case TL_EVENT_PID:
    case TL_EVENT_TID:
        return is ? 0.1 : op == TL_TERM_GLOB ? 1 : 0.5;
    case TL_EVENT_FUNCTION:
        return is ? 0.01 : 1;
    default:
        return 1;
    }
}
