/* Selects single events of one source. */
#include "op/event_select.h"

#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/grow.h"
#include "base/text/glob.h"
#include "model/event_thread.h"
#include "model/field_text.h"
#include "model/stack_frames.h"
#include "op/call_select.h"
#include "op/callstack.h"
#include "op/insn_select.h"

/* A bit for each event of a track: 1: it belongs to a call that is not selected. */
typedef struct bits {
    uint64_t *word;
    size_t nword;
    uint64_t seen; /* events that have passed */
} bits;

struct tl_event_select {
    const tl_select *select;
    tl_call_select names; /* by track and class */
    uint32_t ntrack;      /* number of tracks: more may be added when following */
    tl_hash function;     /* key -> 0 not selected, 1 selected */
    uint32_t *stack;   /* by class: the field with the stack of a sample, or TL_NO_FIELD. NULL: stacks do not matter */
    tl_strings labels; /* of frames */
    tl_hash label;     /* label -> judgement */
    tl_thread_fields *thread_fields; /* by class. NULL: no event names its thread, or threads do not matter */
    bool *thread_hit;                /* by pattern of a thread, if there are thread_fields */
    tl_hash thread;                  /* tid -> 0 not selected, 1 selected */
    bits *drop;                      /* by track; NULL: depth and duration do not matter */
    tl_insn_select *insns;           /* NULL: level and pc do not matter */
    bool fields;                     /* it looks at fields */
    bool no_memory;                  /* while bits were set */
    bool follow;
    const tl_trace *trace;
};

static void set_bit(tl_event_select *f, uint32_t track, uint64_t i)
{
    bits *b = &f->drop[track];
    const size_t word = (size_t)(i / 64);
    if (TL_GROW_TO(b->word, b->nword, word, SIZE_MAX))
        b->word[word] |= UINT64_C(1) << (i % 64);
    else
        f->no_memory = true;
}

/* Marks the calls that ended. Ids count the events of their track from 0. */
static void judge_calls(tl_event_select *f, tl_call_rows *calls)
{
    for (uint32_t i = 0; i < calls->n; i++) {
        const bool is_long = calls->flags[i] & TL_CALL_OPEN || calls->end[i] - calls->begin[i] >= f->select->min_ticks;
        if (is_long && (!f->select->depth || calls->depth[i] <= f->select->depth))
            continue;
        set_bit(f, calls->track[i], calls->id[i]);
        if (calls->exit[i] != TL_CALL_NO_ID)
            set_bit(f, calls->track[i], calls->exit[i]);
    }
    tl_call_rows_clear(calls);
}

static int mark_stream(tl_event_select *f, tl_source *s, uint32_t stream, tl_callstack *stack, tl_call_rows *calls,
                       tl_error *e)
{
    tl_cursor *c = NULL;
    const tl_batch *b;
    uint64_t id[TL_BATCH_MAX];
    const tl_want want = tl_source_want(s, f->fields || s->want.fields); /* the same events as when they are selected */
    int status = tl_cursor_open_want(&c, s, stream, &want, NULL, e);
    while (status == 0 && (status = tl_cursor_next(c, &b, e)) > 0) {
        for (uint32_t i = 0; i < b->n; i++)
            id[i] = b->track[i] < f->ntrack ? f->drop[b->track[i]].seen++ : 0;
        status = tl_callstack_add_ids(stack, b, id, e);
        judge_calls(f, calls);
    }
    tl_cursor_close(c);
    if (status < 0)
        return status;
    f->no_memory = !tl_callstack_finish(stack) || f->no_memory;
    judge_calls(f, calls);
    return 0;
}

/* The first pass: matches all calls and marks the events of those that are too short or too deep. */
static int mark_calls(tl_event_select *f, tl_source *s, tl_error *e)
{
    const tl_profile_options flat = {.flat = true};
    tl_profile *p = NULL;
    tl_callstack *stack = NULL;
    tl_call_rows calls = {0};
    f->drop = calloc((size_t)s->trace.ntrack + 1, sizeof *f->drop);
    int status = f->drop ? tl_profile_new(&p, &s->trace.clock, e)
                         : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a selection");
    if (status == 0)
        status = tl_callstack_new(&stack, p, &s->trace, &flat, TL_EXITS_MISSING, e);
    if (status == 0)
        status = tl_callstack_give_rows(stack, &calls, NULL, e);
    /* A thread at a time, so that the stacks of many threads are not kept at once. */
    for (uint32_t i = 0; status == 0 && i < tl_source_streams(s); i++)
        status = mark_stream(f, s, i, stack, &calls, e);
    for (uint32_t i = 0; f->drop && i < f->ntrack; i++)
        f->drop[i].seen = 0; /* the events pass again */
    if (status == 0 && f->no_memory)
        status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a selection");
    tl_callstack_free(stack);
    tl_call_rows_fini(&calls);
    tl_profile_free(p);
    return status;
}

static bool has_calls(const tl_trace *t)
{
    for (uint32_t i = 0; i < t->ncls; i++)
        if (t->cls[i].kind == TL_ENTER || t->cls[i].kind == TL_EXIT)
            return true;
    return false;
}

static bool has_functions(const tl_trace *t)
{
    for (uint32_t i = 0; i < t->ncls; i++)
        if (t->cls[i].key == TL_KEY_FUNCTION || t->cls[i].kind == TL_SAMPLE)
            return true;
    return false;
}

int tl_event_select_can_apply(tl_source *const *s, uint32_t n, const tl_select *select, tl_error *e)
{
    bool calls = false, functions = false;
    for (uint32_t i = 0; i < n; i++) { /* does nothing if the trace has no classes */
        calls = calls || has_calls(&s[i]->trace) || s[i]->trace.ncls == 0;
        functions = functions || has_functions(&s[i]->trace) || s[i]->trace.ncls == 0;
    }
    if ((select->depth || select->min_ticks) && !calls)
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "no calls to select by depth or duration");
    if ((select->nfunc || select->nnot) && !functions)
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "no functions to select by name");
    return 0;
}

/* Finds the classes of samples, if functions are selected. */
static int find_stacks(tl_event_select *f, tl_error *e)
{
    const tl_trace *t = f->trace;
    bool any = false;
    if (f->select->nfunc == 0 && f->select->nnot == 0)
        return 0;
    f->stack = tl_alloc((size_t)t->ncls + 1, sizeof *f->stack);
    if (!f->stack)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a selection");
    for (uint32_t i = 0; i < t->ncls; i++) {
        const tl_class *c = &t->cls[i];
        f->stack[i] = TL_NO_FIELD;
        for (uint32_t k = 0; c->kind == TL_SAMPLE && k < c->nfield && f->stack[i] == TL_NO_FIELD; k++)
            if (c->field[k].type == TL_STACK)
                f->stack[i] = k;
        any = any || f->stack[i] != TL_NO_FIELD;
    }
    f->fields = f->fields || any;
    return 0;
}

/* If no event names its thread, the tracks decide which patterns match; otherwise that is known at the end. */
static int find_threads(tl_event_select *f, tl_source *s, tl_error *e)
{
    const tl_trace *t = f->trace;
    bool any = false;
    for (uint32_t i = 0; f->select->nthread && i < t->ncls; i++)
        any = any || tl_thread_fields_of(&t->cls[i]).tid != TL_NO_FIELD;
    if (!any) /* when following, the thread may still begin */
        return s->follow ? 0 : tl_select_settle_tracks(f->select, t->track, t->ntrack, e);
    f->thread_fields = tl_thread_fields_new(t);
    f->thread_hit = calloc(f->select->nthread, sizeof *f->thread_hit);
    if (!f->thread_fields || !f->thread_hit)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a selection");
    for (uint32_t i = 0; i < t->ntrack; i++)
        tl_select_track_hits(f->select, &t->track[i], f->thread_hit);
    f->fields = true;
    return 0;
}

static uint64_t sooner(uint64_t ticks, uint64_t early)
{
    return ticks > early ? ticks - early : 0;
}

int tl_event_select_new(tl_event_select **out, tl_source *s, const tl_select *select, uint64_t begin, uint64_t early,
                        tl_error *e)
{
    tl_event_select *f = calloc(1, sizeof *f);
    if (!f)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a selection");
    f->select = select;
    f->trace = &s->trace;
    f->ntrack = s->trace.ntrack;
    f->follow = s->follow;
    int status = find_threads(f, s, e);
    if (status == 0)
        status = tl_select_settle_classes(select, &s->trace, e);
    if (status == 0)
        status = tl_call_select_init(&f->names, select, &s->trace, begin, e);
    if (status == 0)
        status = find_stacks(f, e);
    if (select->has_from)
        f->names.from = sooner(f->names.from, early);
    if (select->has_to)
        f->names.to = sooner(f->names.to, early);
    if (status == 0) {
        const tl_select part = {
            .levels = select->levels, .pc_from = select->pc_from, .pc_to = select->pc_to, .has_pc = select->has_pc};
        status = tl_insn_select_new(&f->insns, f->trace, &part, begin, e);
    }
    if (status == 0 && (select->depth || select->min_ticks) && has_calls(f->trace))
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
    for (uint32_t i = 0; f->drop && i < f->ntrack; i++)
        free(f->drop[i].word);
    free(f->drop);
    free(f->stack);
    free(f->thread_fields);
    free(f->thread_hit);
    tl_hash_fini(&f->thread);
    tl_insn_select_free(f->insns);
    tl_strings_fini(&f->labels);
    tl_hash_fini(&f->label);
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

enum { WANTED = 1, UNWANTED = 2 }; /* a label matches one of the wanted globs, or of the unwanted ones */

static uint32_t judge_label(tl_event_select *f, const char *label)
{
    const tl_select *s = f->select;
    uint32_t judgement = 0;
    for (size_t i = 0; i < s->nfunc; i++)
        if (tl_glob(s->func[i], label)) {
            judgement |= WANTED;
            f->names.hit[i] = true;
        }
    for (size_t i = 0; i < s->nnot; i++)
        if (tl_glob(s->not_func[i], label)) {
            judgement |= UNWANTED;
            f->names.hit_not[i] = true;
        }
    return judgement;
}

/* Does the stack have a wanted function, and no unwanted one? */
static bool choose_stack(tl_event_select *f, const tl_value *v)
{
    uint32_t judgement = 0;
    const tl_frame *frame = v->type == TL_STACK ? v->as.p : NULL;
    for (; frame; frame = frame->caller) {
        char buffer[TL_FRAME_LABEL_ROOM];
        const char *text = tl_frame_label(frame, buffer);
        const char *label = tl_strings_get(&f->labels, text, strlen(text));
        uint32_t known = label ? tl_hash_get(&f->label, (uintptr_t)label) : TL_HASH_NONE;
        if (known == TL_HASH_NONE) {
            known = judge_label(f, text);
            if (label)
                tl_hash_put(&f->label, (uintptr_t)label, known); /* without memory it is judged again next time */
        }
        judgement |= known;
    }
    return !(judgement & UNWANTED) && (judgement & WANTED || f->select->nfunc == 0);
}

static bool choose_sample(tl_event_select *f, const tl_batch *b, uint32_t i)
{
    const tl_value *v = tl_event_value(b, i, f->stack[b->cls[i]]);
    return !v || choose_stack(f, v);
}

/* Whether the event names a selected thread. */
static bool choose_thread(tl_event_select *f, const tl_batch *b, uint32_t i)
{
    tl_event_thread thread;
    if (!tl_event_thread_get(&f->thread_fields[b->cls[i]], b, i, &thread))
        return false;
    uint32_t known = tl_hash_get(&f->thread, (uint64_t)thread.tid);
    if (known == TL_HASH_NONE) {
        char name[TL_THREAD_NAME_ROOM];
        const tl_track track = {.name = tl_event_thread_name(thread.tid, name), .tid = thread.tid, .has_tid = true};
        known = tl_select_track_hits(f->select, &track, f->thread_hit);
        tl_hash_put(&f->thread, (uint64_t)thread.tid, known); /* without memory it is decided again next time */
    }
    return known != 0;
}

static bool choose(tl_event_select *f, const tl_batch *b, uint32_t i)
{
    const tl_class *c = &f->trace->cls[b->cls[i]];
    const uint32_t track = b->track[i];
    bool thread =
        TL_LIKELY(track < f->ntrack) ? f->names.track[track] : tl_select_track(f->select, &f->trace->track[track]);
    if (TL_UNLIKELY(f->thread_fields))
        thread = choose_thread(f, b, i) || thread;
    bool keep = b->ts[i] >= f->names.from && b->ts[i] < f->names.to && thread && f->names.cls[b->cls[i]] &&
                tl_call_select_cpu(&f->names, b, i);
    if (f->insns && !tl_insn_select_event(f->insns, b, i))
        keep = false;
    if (f->drop && track < f->ntrack) {
        bits *drop = &f->drop[b->track[i]];
        const uint64_t number = drop->seen++;
        if (number / 64 < drop->nword && drop->word[number / 64] >> (number % 64) & 1)
            keep = false;
    }
    if ((f->select->nfunc || f->select->nnot) && c->key == TL_KEY_FUNCTION)
        keep = choose_function(f, b->key[i]) && keep;
    else if (TL_UNLIKELY(f->stack && c->kind == TL_SAMPLE))
        keep = keep && choose_sample(f, b, i);
    return keep;
}

bool tl_event_select_fields(const tl_event_select *f)
{
    return f->fields;
}

bool tl_event_select_says_thread(const tl_event_select *f)
{
    return f->thread_fields != NULL;
}

bool tl_event_select_limit(const tl_event_select *f, uint64_t *from, uint64_t *to)
{
    const tl_select *s = f->select;
    *from = f->names.from;
    *to = f->names.to;
    /* Bits of calls are consumed event by event; a glob of functions or threads may match an event at any time. */
    return (s->has_from || s->has_to) && !f->drop && !s->nfunc && !s->nnot && !f->thread_fields;
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
    *next = i < to ? i + 1 : to; /* the event that ended the run was examined, too */
    return true;
}

int tl_event_select_check(const tl_event_select *f, tl_error *e)
{
    const tl_select *s = f->select;
    int status = 0;
    for (size_t i = 0; status == 0 && i < s->nfunc + s->nnot; i++)
        status = tl_select_settle(s, i, i < s->nfunc ? f->names.hit[i] : f->names.hit_not[i - s->nfunc], e);
    for (size_t i = 0; status == 0 && f->thread_fields && !f->follow && i < s->nthread; i++)
        status = tl_select_settle(s, s->nfunc + s->nnot + i, f->thread_hit[i], e);
    return status;
}
