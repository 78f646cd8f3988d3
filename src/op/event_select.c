/* Chooses events of one source one by one. */
#include "op/event_select.h"

#include <stdlib.h>
#include <string.h>

#include "op/call_select.h"
#include "op/callstack.h"

/* A bit for each event of a track: 1, it belongs to a call that is not chosen. */
typedef struct bits {
    uint64_t *word;
    size_t nword;
    uint64_t seen; /* events that have passed */
} bits;

struct tl_event_select {
    const tl_select *select;
    tl_call_select names; /* by track and class */
    tl_hash function;     /* key -> 0 not chosen, 1 chosen */
    bits *drop;           /* by track; NULL: depth and duration do not matter */
    bool no_memory;       /* while bits were set */
    const tl_trace *trace;
};

static void set_bit(tl_event_select *f, uint32_t track, uint64_t i)
{
    bits *b = &f->drop[track];
    const size_t word = (size_t)(i / 64);
    if (word >= b->nword) {
        size_t n = b->nword ? b->nword : 64;
        while (n <= word)
            n *= 2;
        uint64_t *larger = realloc(b->word, n * sizeof *larger);
        if (!larger) {
            f->no_memory = true;
            return;
        }
        memset(larger + b->nword, 0, (n - b->nword) * sizeof *larger);
        b->word = larger;
        b->nword = n;
    }
    b->word[word] |= UINT64_C(1) << (i % 64);
}

static void judge_call(void *arg, const tl_call *call)
{
    tl_event_select *f = arg;
    if (call->ticks >= f->select->min_ticks && (!f->select->depth || call->depth <= f->select->depth))
        return;
    set_bit(f, call->track, call->entry);
    if (call->exit != TL_NO_EXIT)
        set_bit(f, call->track, call->exit);
}

/* The first pass: matches all calls and marks the events of those that are too short or too deep. */
static int mark_calls(tl_event_select *f, tl_source *s, tl_error *e)
{
    const tl_profile_options flat = {.flat = true};
    tl_profile *p = NULL;
    tl_callstack *calls = NULL;
    f->drop = calloc((size_t)s->trace.ntrack + 1, sizeof *f->drop);
    int status = f->drop ? tl_profile_new(&p, &s->trace.clock, e)
                         : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a selection");
    if (status == 0)
        status = tl_callstack_new(&calls, p, &s->trace, &flat, e);
    if (status == 0)
        tl_callstack_on_call(calls, judge_call, f);
    for (uint32_t i = 0; status == 0 && i < tl_source_streams(s); i++) {
        tl_cursor *c = NULL;
        const tl_batch *b;
        status = tl_cursor_open(&c, s, i, e);
        while (status == 0 && (status = tl_cursor_next(c, &b, e)) > 0)
            status = tl_callstack_add(calls, b, e);
        tl_cursor_close(c);
        if (status == 0) /* a thread at a time, so that the stacks of very many are not kept */
            tl_callstack_finish(calls);
    }
    if (status == 0 && f->no_memory)
        status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a selection");
    tl_callstack_free(calls);
    tl_profile_free(p);
    return status;
}

int tl_event_select_new(tl_event_select **out, tl_source *s, const tl_select *select, uint64_t begin, tl_error *e)
{
    tl_event_select *f = calloc(1, sizeof *f);
    if (!f)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a selection");
    f->select = select;
    f->trace = &s->trace;
    int status = tl_select_settle_names(select, &s->trace, e);
    if (status == 0)
        status = tl_call_select_init(&f->names, select, &s->trace, begin, e);
    if (status == 0 && (select->depth || select->min_ticks))
        status = mark_calls(f, s, e);
    if (status < 0) {
        tl_event_select_free(f);
        return status;
    }
    *out = f;
    return 0;
}

void tl_event_select_free(tl_event_select *f)
{
    if (!f)
        return;
    for (uint32_t i = 0; f->drop && i < f->trace->ntrack; i++)
        free(f->drop[i].word);
    free(f->drop);
    tl_call_select_fini(&f->names);
    tl_hash_fini(&f->function);
    free(f);
}

static bool choose_function(tl_event_select *f, uint64_t key)
{
    uint32_t known = tl_hash_get(&f->function, key);
    if (known == TL_HASH_NONE) {
        const tl_function *function = tl_trace_function(f->trace, (int64_t)key), unnamed = {.id = (int64_t)key};
        char buffer[24];
        const char *label = tl_function_label(function ? function : &unnamed, buffer);
        known = tl_select_label(f->select, label, f->names.hit, f->names.hit_not);
        tl_hash_put(&f->function, key, known); /* without memory it is decided again next time */
    }
    return known != 0;
}

static bool choose(tl_event_select *f, const tl_batch *b, uint32_t i)
{
    const tl_class *c = &f->trace->cls[b->cls[i]];
    bool keep = b->ts[i] >= f->names.from && b->ts[i] < f->names.to && f->names.track[b->track[i]] &&
                f->names.cls[b->cls[i]] && (!b->cpu || tl_select_cpu(f->select, b->cpu[i]));
    if (f->drop) {
        bits *drop = &f->drop[b->track[i]];
        const uint64_t number = drop->seen++;
        if (number / 64 < drop->nword && drop->word[number / 64] >> (number % 64) & 1)
            keep = false;
    }
    if ((f->select->nfunc || f->select->nnot) && c->key == TL_KEY_FUNCTION)
        keep = choose_function(f, b->key[i]) && keep;
    return keep;
}

bool tl_event_select_limit(const tl_event_select *f, uint64_t *from, uint64_t *to)
{
    const tl_select *s = f->select;
    *from = f->names.from;
    *to = f->names.to;
    /* Bits of calls are counted off event by event, and a function glob may match an event at any time. */
    return (s->has_from || s->has_to) && !f->drop && !s->nfunc && !s->nnot;
}

bool tl_event_select_run(tl_event_select *f, const tl_batch *b, uint32_t *at, uint32_t to, uint32_t *end,
                         uint32_t *next)
{
    uint32_t i = *at;
    while (i < to && !choose(f, b, i))
        i++;
    if (i == to)
        return false;
    *at = i++;
    while (i < to && choose(f, b, i))
        i++;
    *end = i;
    *next = i < to ? i + 1 : to; /* the event that ended the run has been looked at */
    return true;
}

int tl_event_select_check(const tl_event_select *f, tl_error *e)
{
    const tl_select *s = f->select;
    int status = 0;
    for (size_t i = 0; status == 0 && i < s->nfunc + s->nnot; i++)
        status = tl_select_settle(s, i, i < s->nfunc ? f->names.hit[i] : f->names.hit_not[i - s->nfunc], e);
    return status;
}
