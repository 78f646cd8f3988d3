/* Spans: matching begins and ends, and waiting for names.
 *
 * Every span is a slot in up to three lists: the open ones of its key (`same`), the open ones of its track (`outer`,
 * `inner`), and those whose code has no function yet (`code_next`, `code_prev`). Ended ones are in a queue (`next`). */
#include "model/span.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "model/field_text.h"
#include "model/profile_impl.h"

#define NONE     UINT32_MAX
#define KEYS_MAX (4 * TL_SPANS_MAX) /* in a table, before unused ones are removed */

struct tl_span_slot {
    tl_span s;
    uint64_t serial;  /* identifies this use of the slot; 0: free */
    uint64_t outside; /* latest end of the spans of its track that were over when it began */
    uint64_t tie_serial;
    uint32_t tie; /* ended: the enclosing one if it begins at the same time */
    uint32_t same, outer, inner, code_next, code_prev, next;
    bool open, learning, written;
};
typedef struct tl_span_slot slot;

struct tl_span_track {
    uint32_t top;    /* the innermost open span + 1; 0: none */
    uint32_t part;   /* number of the track's part of the trace, + 1; 0: not looked up yet */
    uint64_t latest; /* latest end of nesting ones */
};

struct tl_span_lanes {
    uint64_t *until; /* when the lane's last one ended; UINT64_MAX: open */
    uint32_t n, capacity;
};

void tl_spans_init(tl_spans *s, const tl_trace *t, tl_span_write *write, void *arg)
{
    s->trace = t;
    s->write = write;
    s->arg = arg;
    s->free = s->first = s->last = NONE;
}

void tl_spans_fini(tl_spans *s)
{
    for (uint32_t i = 0; i < s->nslot; i++)
        free(s->slot[i].s.args);
    for (uint32_t i = 0; i < s->nlanes; i++)
        free(s->lanes[i].until);
    free(s->slot);
    free(s->lanes);
    free(s->track);
    tl_hash_fini(&s->part);
    tl_pair_table_fini(&s->by_key);
    tl_pair_table_fini(&s->by_code);
    tl_hash_fini(&s->lane);
    *s = (tl_spans){0};
}

const tl_value *tl_role_value(const tl_batch *b, uint32_t i, const tl_class *c, tl_field_role role,
                              const tl_field **field)
{
    if (!b->val)
        return NULL;
    const tl_value *v = b->v + b->val[i], *end = b->v + b->val[i + 1];
    for (uint32_t f = 0; f < c->nfield && v < end; f++, v = tl_value_skip(v, end))
        if (c->field[f].role == role) {
            if (field)
                *field = &c->field[f];
            return v;
        }
    return NULL;
}

static bool is_number(const tl_value *v)
{
    return v && (v->type == TL_U64 || v->type == TL_I64 || v->type == TL_HEX);
}

/* Looks up which part of a joined trace a track belongs to: ids of one program mean nothing in another. */
static bool ready_track(tl_spans *s, uint32_t track)
{
    if (!TL_GROW_TO(s->track, s->ntrack, track, TL_TRACKS_MAX))
        return false;
    if (s->track[track].part)
        return true;
    const tl_track *t = tl_trace_track(s->trace, track);
    const uint64_t property = t ? (uintptr_t)t->property : 0;
    const uint32_t known = tl_hash_get(&s->part, property), part = known == TL_HASH_NONE ? s->part.n : known;
    s->track[track].part = part + 1;
    return known != TL_HASH_NONE || tl_hash_put(&s->part, property, part);
}

/* Spans of a class in the part of a track. */
static uint64_t of_class(const tl_spans *s, uint32_t track, uint32_t cls)
{
    return (uint64_t)s->track[track].part << 32 | cls;
}

/* A free slot; NONE when memory runs out. */
static uint32_t take_slot(tl_spans *s)
{
    if (s->free == NONE) {
        const uint32_t before = s->nslot;
        if (!TL_GROW_TO(s->slot, s->nslot, before, NONE))
            return NONE;
        for (uint32_t i = s->nslot; i-- > before;) {
            s->slot[i].next = s->free;
            s->free = i;
        }
    }
    uint32_t at = s->free;
    s->free = s->slot[at].next;
    s->used++;
    return at;
}

static void give_back(tl_spans *s, uint32_t at)
{
    slot *x = &s->slot[at];
    x->serial = 0;
    x->next = s->free;
    s->free = at;
    s->used--;
}

/* Rebuilds a table with only the keys of existing spans: most spans of a long log are over. */
static bool shrink(tl_pair_table *t)
{
    tl_pair_table smaller = {0};
    for (uint32_t i = 0; i < t->pairs.n; i++) {
        uint32_t *to = t->value[i] ? tl_pair_table_at(&smaller, t->pairs.pair[i].a, t->pairs.pair[i].b) : NULL;
        if (to) {
            *to = t->value[i];
        } else if (t->value[i]) {
            tl_pair_table_fini(&smaller);
            return false;
        }
    }
    tl_pair_table_fini(t);
    *t = smaller;
    return true;
}

/* Makes a span the latest one of a pair. *older: the previous one, or NONE. */
static bool push(tl_pair_table *t, uint64_t a, uint64_t b, uint32_t at, uint32_t *older)
{
    uint32_t *latest = t->pairs.n < KEYS_MAX || shrink(t) ? tl_pair_table_at(t, a, b) : NULL;
    if (!latest)
        return false;
    *older = *latest - 1;
    *latest = at + 1;
    return true;
}

/* The lowest lane that is free at a time. *lane NONE: all are in use. */
static bool take_lane(tl_spans *s, uint32_t track, uint32_t cls, uint64_t ts, uint32_t *lane)
{
    const uint64_t key = (uint64_t)track << 32 | cls;
    uint32_t at = tl_hash_get(&s->lane, key);
    if (at == TL_HASH_NONE) {
        if (!TL_GROW(s->lanes, s->nlanes, 1, s->lanes_capacity) || !tl_hash_put(&s->lane, key, s->nlanes))
            return false;
        at = s->nlanes++;
        s->lanes[at] = (struct tl_span_lanes){0};
    }
    struct tl_span_lanes *l = &s->lanes[at];
    uint32_t i = 0;
    while (i < l->n && l->until[i] > ts)
        i++;
    *lane = i < TL_SPAN_LANES_MAX ? i : NONE;
    if (*lane != NONE) {
        if (!TL_GROW(l->until, i, 1, l->capacity))
            return false;
        l->n += i == l->n;
        l->until[i] = UINT64_MAX;
    }
    return true;
}

static void leave_lane(tl_spans *s, const tl_span *x)
{
    uint32_t at = tl_hash_get(&s->lane, (uint64_t)x->track << 32 | x->cls->id);
    s->lanes[at].until[x->lane] = x->end;
}

/* Takes a span out of the list that waits for its code. */
static void stop_learning(tl_spans *s, slot *x)
{
    if (!x->learning)
        return;
    if (x->code_next != NONE)
        s->slot[x->code_next].code_prev = x->code_prev;
    if (x->code_prev != NONE)
        s->slot[x->code_prev].code_next = x->code_next;
    else
        *tl_pair_table_find(&s->by_code, s->track[x->s.track].part, x->s.code) = x->code_next + 1;
    x->learning = false;
}

static bool start_learning(tl_spans *s, uint32_t at)
{
    slot *x = &s->slot[at];
    if (!push(&s->by_code, s->track[x->s.track].part, x->s.code, at, &x->code_next))
        return false;
    x->code_prev = NONE;
    if (x->code_next != NONE)
        s->slot[x->code_next].code_prev = at;
    x->learning = true;
    return true;
}

bool tl_spans_begin(tl_spans *s, const tl_batch *b, uint32_t i, uint64_t ts, tl_span **span)
{
    const tl_class *c = &s->trace->cls[b->cls[i]];
    const uint32_t track = b->track[i];
    uint32_t lane;
    *span = NULL;
    if (s->used >= TL_SPANS_MAX) {
        s->too_many++;
        return true;
    }
    if (!ready_track(s, track) || !take_lane(s, track, c->id, ts, &lane))
        return false;
    if (lane == NONE) {
        s->too_many++;
        return true;
    }
    const uint64_t key = c->key == TL_KEY_PAIR ? b->key[i] : 0;
    const uint32_t at = take_slot(s);
    uint32_t older;
    if (at == NONE || !push(&s->by_key, of_class(s, track, c->id), key, at, &older))
        return false;
    struct tl_span_track *t = &s->track[track];
    slot *x = &s->slot[at];
    uint8_t *args = x->s.args; /* the previous one's: its memory is reused */
    *x = (slot){.s = {.cls = c, .track = track, .lane = lane, .begin = ts, .end = ts, .args = args},
                .serial = ++s->serial,
                .outside = t->latest,
                .tie = NONE,
                .same = older,
                .outer = t->top ? t->top - 1 : NONE,
                .inner = NONE,
                .open = true};
    if (t->top)
        s->slot[t->top - 1].inner = at;
    t->top = at + 1;
    const tl_value *code = tl_role_value(b, i, c, TL_FIELD_CODE_ID, NULL);
    if (is_number(code)) {
        x->s.has_code = true;
        x->s.code = code->as.u;
        if (!start_learning(s, at))
            return false;
    }
    *span = &x->s;
    return true;
}

/* Takes an open span out of its lists and puts it into the queue. */
static void close_span(tl_spans *s, uint32_t at, uint64_t ts)
{
    slot *x = &s->slot[at];
    struct tl_span_track *t = &s->track[x->s.track];
    x->s.end = ts > x->s.begin ? ts : x->s.begin;
    x->open = false;
    x->s.nests = t->top == at + 1 && x->s.begin >= x->outside && x->s.end >= t->latest &&
                 (x->outer == NONE || s->slot[x->outer].s.begin <= x->s.begin);
    if (x->s.nests)
        t->latest = x->s.end;
    if (x->outer != NONE) {
        s->slot[x->outer].inner = x->inner;
        if (s->slot[x->outer].s.begin == x->s.begin) {
            x->tie = x->outer;
            x->tie_serial = s->slot[x->outer].serial;
        }
    }
    if (x->inner != NONE)
        s->slot[x->inner].outer = x->outer;
    else
        t->top = x->outer == NONE ? 0 : x->outer + 1;
    leave_lane(s, &x->s);
    x->next = NONE;
    if (s->last == NONE)
        s->first = at;
    else
        s->slot[s->last].next = at;
    s->last = at;
    s->wait++;
}

bool tl_spans_end(tl_spans *s, const tl_batch *b, uint32_t i, uint64_t ts, tl_span **span)
{
    const uint32_t cls = s->trace->cls[b->cls[i]].pair;
    const tl_class *c = tl_trace_class(s->trace, cls);
    *span = NULL;
    if (!ready_track(s, b->track[i]))
        return false;
    const uint64_t key = c && c->key == TL_KEY_PAIR ? b->key[i] : 0;
    uint32_t *latest = c ? tl_pair_table_find(&s->by_key, of_class(s, b->track[i], cls), key) : NULL;
    if (!latest || *latest == 0) {
        s->no_begin++;
        return true;
    }
    const uint32_t at = *latest - 1;
    slot *x = &s->slot[at];
    *latest = x->same + 1;
    x->s.ended = true;
    close_span(s, at, ts);
    *span = &x->s;
    return true;
}

bool tl_spans_code(tl_spans *s, const tl_batch *b, uint32_t i)
{
    const tl_class *c = &s->trace->cls[b->cls[i]];
    const tl_value *code = tl_role_value(b, i, c, TL_FIELD_CODE_ID, NULL);
    const tl_value *function = tl_role_value(b, i, c, TL_FIELD_FUNCTION, NULL);
    if (!is_number(code))
        return true;
    if (!ready_track(s, b->track[i]))
        return false;
    const uint32_t *latest = tl_pair_table_find(&s->by_code, s->track[b->track[i]].part, code->as.u);
    for (uint32_t at = latest ? *latest - 1 : NONE; at != NONE;) {
        slot *x = &s->slot[at];
        at = x->code_next;
        stop_learning(s, x);
        x->s.has_function = is_number(function);
        x->s.function = x->s.has_function ? (int64_t)function->as.u : 0;
    }
    return tl_spans_flush(s);
}

static bool hand_out(tl_spans *s, slot *x)
{
    if (x->written)
        return true;
    x->written = true;
    stop_learning(s, x);
    return s->write(s->arg, &x->s);
}

/* The enclosing span, if it has to be written before x, or NULL. */
static slot *tied(const tl_spans *s, const slot *x)
{
    slot *y = x->tie == NONE ? NULL : &s->slot[x->tie];
    return y && y->serial == x->tie_serial && !y->written ? y : NULL;
}

bool tl_spans_flush(tl_spans *s)
{
    while (s->first != NONE) {
        slot *x = &s->slot[s->first], *y;
        bool ready = true;
        for (y = x; y && ready; y = tied(s, y))
            ready = !y->open && !y->learning;
        if (!ready && s->wait <= TL_SPANS_WAIT_MAX)
            return true;
        while (!x->written) {
            slot *around = x;
            while ((y = tied(s, around)) != NULL && !y->open)
                around = y;
            if (!hand_out(s, around))
                return false;
        }
        uint32_t at = s->first;
        s->first = x->next;
        if (s->first == NONE)
            s->last = NONE;
        s->wait--;
        give_back(s, at);
    }
    return true;
}

bool tl_spans_finish(tl_spans *s, uint64_t end)
{
    bool ok = true;
    for (uint32_t i = 0; i < s->ntrack && ok; i++)
        while (s->track[i].top) {
            s->open_at_end++;
            close_span(s, s->track[i].top - 1, end);
        }
    for (uint32_t i = 0; i < s->nslot; i++)
        if (s->slot[i].serial)
            stop_learning(s, &s->slot[i]);
    return ok && tl_spans_flush(s);
}

bool tl_span_keep(tl_spans *s, tl_span *span, const void *bytes, size_t n)
{
    if (n > TL_SPAN_ARGS_MAX - span->nargs) {
        s->too_long++;
        return true;
    }
    if (!span->args && !(span->args = malloc(TL_SPAN_ARGS_MAX)))
        return false;
    if (n > 0)
        memcpy(span->args + span->nargs, bytes, n);
    span->nargs += (uint32_t)n;
    return true;
}

const char *tl_span_label(const tl_span *s, const tl_trace *t, char buf[static 24])
{
    if (!s->has_code)
        return NULL;
    const tl_function *f = s->has_function ? tl_trace_function(t, s->function) : NULL;
    return tl_function_label(f ? f : &(tl_function){.id = (int64_t)s->code, .flags = TL_FUNCTION_HEX_ID}, buf);
}
