/* Makes a profile of the samples of a source.
 *
 * A sample event sets the stack of its track, and counts as often as it says, if its weight is not 0; an event of
 * allocations belongs to the stack that its track has then. If samples are calls (TL_WEIGHT_CALLS), and time is the
 * weight, the profile becomes one of calls, to which samples are added. */
#include "op/sample_profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "model/field_text.h"
#include "op/sample_select.h"
#include "op/sample_stack.h"
#include "op/stream_reader.h"
#include "op/told_calls.h"

#define NO_FIELD UINT32_MAX

/* Positions of a class's relevant members. */
typedef struct plan {
    enum { NOTHING, SAMPLE, ALLOCATIONS } what;
    bool simple, simple_items;                /* the fields before them, and members of an item, own one slot each */
    uint32_t count, stack, kept, items;       /* indices of fields */
    uint32_t item_count, item_bytes, item_ip; /* indices of an item's members */
} plan;

/* State of a track. */
typedef struct thread {
    uint32_t root;  /* parent of its stacks; TL_HASH_NONE: not begun */
    uint32_t place; /* 0: its stack is empty, or unknown */
    uint32_t depth; /* of its stack */
    tl_frame top;   /* of its stack; only with lines */
} thread;

typedef struct sample_job {
    const tl_trace *trace;
    const tl_profile_options *options;
    tl_profile *p;
    tl_sample_stack stack;
    plan *plan;     /* by class */
    thread *thread; /* by track */
    uint32_t nthread;
    bool selecting;
    tl_call_select select;
    bool of_time; /* calls matter */
    tl_told_calls told;
    const tl_sample_watch *watch; /* or NULL */
} sample_job;

static int no_memory(const sample_job *m, tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the tree of stacks (%u places)", m->p ? m->p->nplace : 0);
}

/* ---- classes ---- */

static uint32_t find_role(const tl_field *f, uint32_t n, tl_field_role role)
{
    for (uint32_t i = 0; i < n; i++)
        if (f[i].role == role)
            return i;
    return NO_FIELD;
}

static bool is_sample(const tl_class *c)
{
    return c->kind == TL_SAMPLE && c->key == TL_KEY_WEIGHT &&
           find_role(c->field, c->nfield, TL_FIELD_STACK) != NO_FIELD;
}

bool tl_samples_wanted(const tl_trace *t)
{
    bool samples = false;
    for (uint32_t i = 0; i < t->ncls; i++) {
        if (t->cls[i].kind == TL_ENTER)
            return false;
        samples = samples || is_sample(&t->cls[i]);
    }
    return samples;
}

/* Does each of the first n fields own one slot, whatever it holds? */
static bool are_simple(const tl_field *f, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (f[i].type == TL_LIST || f[i].type == TL_STRUCT || f[i].type == TL_VARIANT)
            return false;
    return true;
}

static plan plan_of(const tl_class *c)
{
    plan p = {.what = NOTHING};
    if (is_sample(c)) {
        p.what = SAMPLE;
        p.count = find_role(c->field, c->nfield, TL_FIELD_COUNT);
        p.stack = find_role(c->field, c->nfield, TL_FIELD_STACK);
        p.kept = find_role(c->field, c->nfield, TL_FIELD_KEPT);
        p.simple = are_simple(c->field, p.stack) && (p.count == NO_FIELD || are_simple(c->field, p.count));
    } else if (c->role == TL_ROLE_ALLOCATION && c->key == TL_KEY_WEIGHT) {
        p.items = find_role(c->field, c->nfield, TL_FIELD_ITEMS);
        const tl_field *list = p.items != NO_FIELD ? &c->field[p.items] : NULL;
        if (!list || list->nmember != 1)
            return p;
        p.what = ALLOCATIONS;
        p.simple = are_simple(c->field, p.items);
        p.simple_items = are_simple(list->member->member, list->member->nmember);
        p.item_count = find_role(list->member->member, list->member->nmember, TL_FIELD_COUNT);
        p.item_bytes = find_role(list->member->member, list->member->nmember, TL_FIELD_BYTES);
        p.item_ip = find_role(list->member->member, list->member->nmember, TL_FIELD_IP);
    }
    return p;
}

/* Are function numbers shown in hexadecimal? A stack field has three members: name, number, ip. */
uint32_t tl_samples_function_flags(const tl_trace *t)
{
    for (uint32_t i = 0; i < t->ncls; i++) {
        const tl_class *c = &t->cls[i];
        if (!is_sample(c))
            continue;
        const tl_field *f = &c->field[find_role(c->field, c->nfield, TL_FIELD_STACK)];
        if (f->nmember > 1 && f->member[1].type == TL_HEX)
            return TL_FUNCTION_HEX_ID;
    }
    return 0;
}

/* ---- values ---- */

typedef struct values {
    const tl_value *v, *end;
} values;

TL_ALWAYS_INLINE values values_of(const tl_batch *b, uint32_t i)
{
    return (values){b->v + b->val[i], b->v + b->val[i + 1]};
}

/* Field or member number `index`, NULL if missing. */
TL_ALWAYS_INLINE const tl_value *value_at(values all, uint32_t index, bool simple)
{
    if (index == NO_FIELD)
        return NULL;
    if (TL_LIKELY(simple))
        return index < (size_t)(all.end - all.v) ? all.v + index : NULL;
    const tl_value *v = tl_values_skip(all.v, all.end, index);
    return v < all.end ? v : NULL;
}

TL_ALWAYS_INLINE uint64_t number(const tl_value *v)
{
    return v && (v->type == TL_U64 || v->type == TL_HEX) ? v->as.u : 0;
}

static uint64_t times(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

/* ---- events ---- */

/* The state of a track; NULL when memory runs out. Tracks may be added while reading. */
TL_COLD static thread *new_threads(sample_job *m, uint32_t track)
{
    const uint32_t before = m->nthread;
    if (!TL_GROW(m->thread, before, track - before + 1, m->nthread))
        return NULL;
    for (uint32_t i = before; i < m->nthread; i++)
        m->thread[i] = (thread){.root = TL_HASH_NONE};
    return &m->thread[track];
}

TL_COLD static bool begin_thread(sample_job *m, thread *th, uint32_t track)
{
    th->root = m->options->per_thread ? tl_profile_thread_root(m->p, &m->trace->track[track]) : 0;
    return th->root != TL_HASH_NONE;
}

/* The begun state of an event's track; NULL when memory runs out. */
TL_ALWAYS_INLINE thread *thread_of(sample_job *m, uint32_t track)
{
    thread *th = TL_LIKELY(track < m->nthread) ? &m->thread[track] : new_threads(m, track);
    if (TL_UNLIKELY(th && th->root == TL_HASH_NONE) && !begin_thread(m, th, track))
        return NULL;
    return th;
}

TL_ALWAYS_INLINE void weigh(sample_job *m, uint32_t place, uint64_t ts, unsigned weight, uint64_t amount)
{
    tl_profile_weigh(m->p, place, weight, amount);
    if (TL_UNLIKELY(m->watch != NULL))
        m->watch->sample(m->watch->arg, place, ts, weight, amount);
}

static bool is_selected(const sample_job *m, const tl_batch *b, uint32_t i)
{
    const tl_call_select *s = &m->select;
    return b->ts[i] >= s->from && (!s->select->has_to || b->ts[i] < s->to) && s->cls[b->cls[i]] &&
           tl_call_select_track(s, b->track[i]) && tl_call_select_cpu(s, b, i);
}

TL_NOINLINE static bool change_stack(sample_job *m, const tl_batch *b, uint32_t i, const tl_frame *top, uint64_t kept,
                                     bool told)
{
    const tl_told_what what = {
        .p = m->p, .trace = m->trace, .options = m->options, .stack = &m->stack, .named = !m->options->flat};
    return tl_told_calls_change(&m->told, &what, b, i, top, m->thread[b->track[i]].depth, kept, told);
}

/* False when memory runs out. */
TL_ALWAYS_INLINE bool add_sample(sample_job *m, const plan *pl, const tl_batch *b, uint32_t i)
{
    tl_profile *p = m->p;
    const values all = values_of(b, i);
    const tl_value *stack = value_at(all, pl->stack, pl->simple);
    const tl_frame *top = stack && stack->type == TL_STACK ? stack->as.p : NULL;
    thread *th = thread_of(m, b->track[i]);
    if (TL_UNLIKELY(!th))
        return false;
    const uint64_t ticks = tl_weight_ticks(b->key[i]);
    const bool told = b->key[i] & TL_WEIGHT_CALLS;
    if (TL_UNLIKELY(m->told.calls || told) && m->of_time) {
        th->place = 0;
        if (!change_stack(m, b, i, top, number(value_at(all, pl->kept, pl->simple)), told))
            return false;
    }
    th->depth = top ? top->depth : 0;
    if (TL_UNLIKELY(told) && m->of_time)
        return true;
    const uint32_t place = tl_sample_stack_place(&m->stack, th->root, top);
    if (TL_UNLIKELY(place == TL_HASH_NONE))
        return false;
    th->place = top ? place : 0;
    if (m->stack.lines && top)
        th->top = *top;
    const uint64_t n = pl->count == NO_FIELD ? 1 : number(value_at(all, pl->count, pl->simple));
    if (n == 0 || ticks == 0 || (TL_UNLIKELY(m->selecting) && !is_selected(m, b, i)))
        return true;
    if (TL_UNLIKELY(b->key[i] & TL_WEIGHT_PAUSED))
        p->samples.paused = tl_add_saturated(p->samples.paused, n);
    p->samples.counted = tl_add_saturated(p->samples.counted, n);
    if (!top) {
        p->samples.empty = tl_add_saturated(p->samples.empty, n);
        return true;
    }
    weigh(m, place, b->ts[i], TL_WEIGHT_SAMPLES, n);
    weigh(m, place, b->ts[i], TL_WEIGHT_TIME, times(n, ticks));
    return true;
}

/* Where an item was allocated; TL_HASH_NONE when memory runs out. */
static uint32_t place_of_item(sample_job *m, const thread *th, const tl_value *ip)
{
    if (!m->stack.lines || !ip || (ip->type != TL_HEX && ip->type != TL_U64))
        return th->place;
    return tl_sample_stack_at_ip(&m->stack, th->place, &th->top, ip->as.u);
}

/* False when memory runs out. */
static bool add_allocations(sample_job *m, const plan *pl, const tl_batch *b, uint32_t i)
{
    const values all = values_of(b, i);
    const tl_value *list = value_at(all, pl->items, pl->simple);
    const thread *th = thread_of(m, b->track[i]);
    if (!th)
        return false;
    if (tl_weight_ticks(b->key[i]) == 0 || !th->place || !list || list->type != TL_LIST ||
        (m->selecting && !is_selected(m, b, i)))
        return true;
    const tl_value *v = list + 1;
    for (uint32_t left = list->n; left > 0 && v < all.end; left--) {
        const bool simple = pl->simple_items && v->type == TL_STRUCT && v->n < (size_t)(all.end - v);
        const tl_value *next = simple ? v + 1 + v->n : tl_value_skip(v, all.end);
        const values item = {v + 1, next};
        if (v->type == TL_STRUCT) {
            const uint32_t place = place_of_item(m, th, value_at(item, pl->item_ip, simple));
            if (place == TL_HASH_NONE)
                return false;
            weigh(m, place, b->ts[i], TL_WEIGHT_ALLOC_SPACE, number(value_at(item, pl->item_bytes, simple)));
            weigh(m, place, b->ts[i], TL_WEIGHT_ALLOC_OBJECTS, number(value_at(item, pl->item_count, simple)));
        }
        v = next;
    }
    return true;
}

/* Extends the range of ticks of all events. */
static void note_times(tl_profile *p, const tl_batch *b)
{
    uint64_t begin = p->has_span ? p->begin : b->ts[0], end = p->end;
    for (uint32_t i = 0; i < b->n; i++) {
        begin = b->ts[i] < begin ? b->ts[i] : begin;
        end = b->ts[i] > end ? b->ts[i] : end;
    }
    p->has_span = true;
    p->begin = begin;
    p->end = end;
}

static int add_batch(sample_job *m, const tl_batch *b, tl_error *e)
{
    bool ok = true;
    tl_sample_stack_batch(&m->stack);
    if (b->n > 0)
        note_times(m->p, b);
    for (uint32_t i = 0; ok && i < b->n; i++) {
        const plan *pl = &m->plan[b->cls[i]];
        if (pl->what == SAMPLE)
            ok = add_sample(m, pl, b, i);
        else if (pl->what == ALLOCATIONS)
            ok = add_allocations(m, pl, b, i);
    }
    return ok ? 0 : no_memory(m, e);
}

/* ---- all of it ---- */

/* Every stream from its begin: stacks are differences, so selecting a time needs what came before. */
static int read_all(sample_job *m, tl_source *s, tl_error *e)
{
    struct tl_stream_reader *stream_reader = NULL;
    const tl_batch *b;
    const tl_want want = tl_source_want(s, true);
    int status = tl_stream_reader_open(&stream_reader, s, &want, NULL, e);
    for (uint32_t i = 0; status == 0 && i < tl_source_streams(s); i++)
        while (status >= 0 && (status = tl_stream_reader_next(stream_reader, i, &b, e)) > 0)
            status = add_batch(m, b, e);
    tl_stream_reader_close(stream_reader);
    return status;
}

static int start(sample_job *m, tl_source *s, tl_error *e)
{
    const tl_trace *t = m->trace;
    const tl_select *select = m->options->select;
    int status = tl_profile_new(&m->p, &t->clock, e);
    if (status == 0)
        status = tl_profile_make_sampled(m->p, tl_sample_weight, TL_SAMPLE_WEIGHTS, e);
    if (status == 0) /* reports a wrong name before reading everything */
        status = tl_profile_choose_weight(m->p, m->options->weight, e);
    if (status < 0)
        return status;
    m->p->per_thread = m->options->per_thread;
    tl_sample_stack_init(&m->stack, m->p, s, m->options->lines);
    m->stack.function_flags = tl_samples_function_flags(t);
    m->plan = tl_alloc((size_t)t->ncls + 1, sizeof *m->plan);
    if (!m->plan)
        return no_memory(m, e);
    for (uint32_t i = 0; i < t->ncls; i++)
        m->plan[i] = plan_of(&t->cls[i]);
    if (select) {
        status = tl_call_select_init(&m->select, select, t, t->clock.from_zero || !t->has_range ? 0 : t->begin, e);
        m->selecting = status == 0;
    }
    m->of_time = strcmp(m->p->kind[m->p->weight].name, "time") == 0;
    return status;
}

/* Settles the patterns of functions by the calls that were seen. */
static int settle_calls(const sample_job *m, const tl_select *s, tl_error *e)
{
    int status = 0;
    for (size_t i = 0; status == 0 && i < s->nfunc + s->nnot; i++) {
        const bool not = i >= s->nfunc;
        status = tl_select_settle(s, i, tl_callstack_matched(m->told.calls, not ? i - s->nfunc : i, not ), e);
    }
    return status;
}

/* Adds what is known only after reading everything. */
static int finish(sample_job *m, tl_error *e)
{
    const tl_select *select = m->options->select;
    if (m->told.calls)
        tl_callstack_finish(m->told.calls);
    int status = tl_profile_settle_functions(m->p, m->trace, e);
    if (status == 0 && select)
        status = tl_select_settle_names(select, m->trace, e);
    if (status == 0 && select)
        status = m->told.calls && m->p->samples.counted == 0 ? settle_calls(m, select, e)
                                                             : tl_samples_select(m->p, select, e);
    if (status < 0)
        return status;
    return m->told.calls ? tl_profile_become_calls(m->p, m->options->flat, e)
                         : tl_profile_choose_weight(m->p, m->options->weight, e);
}

static void fini(sample_job *m)
{
    tl_sample_stack_fini(&m->stack);
    tl_told_calls_fini(&m->told);
    if (m->selecting)
        tl_call_select_fini(&m->select);
    free(m->plan);
    free(m->thread);
}

int tl_samples_watch(tl_source *s, const tl_profile_options *o, const tl_sample_watch *w, tl_error *e)
{
    sample_job m = {.trace = &s->trace, .options = o, .watch = w};
    int status = start(&m, s, e);
    if (status == 0)
        status = read_all(&m, s, e);
    fini(&m);
    tl_profile_free(m.p);
    return status;
}

int tl_profile_from_samples(tl_profile **out, tl_source *s, const tl_profile_options *o, tl_error *e)
{
    sample_job m = {.trace = &s->trace, .options = o};
    int status = start(&m, s, e);
    if (status == 0)
        status = read_all(&m, s, e);
    if (status == 0)
        status = finish(&m, e);
    fini(&m);
    if (status < 0) {
        tl_profile_free(m.p);
        return status;
    }
    *out = m.p;
    return 0;
}
