/* Follows instructions, and reports entered and left functions to a tl_callstack. Only branches and changes of level do
 * work; the others are counted. */
#include "op/insn_calls.h"

#include <stdlib.h>

#include "base/grow.h"
#include "base/pair_map.h"
#include "isa/a64_block.h"
#include "model/trace_impl.h"
#include "op/call_select.h"
#include "op/callstack.h"
#include "op/insn_functions.h"

/* Most calls that are tracked; entries and levels take a few more frames. */
#define CALLS_MAX (TL_STACK_DEPTH_MAX - 16)

enum { NO_STATE = UINT8_MAX }; /* of a track that has not begun */

/* A branch, whose target is the next instruction executed. */
typedef struct branch {
    uint64_t pc;
    a64_class cls; /* A64_INT: none */
} branch;

/* An open function. */
typedef struct frame {
    tl_insn_function function;
    uint64_t back;  /* its return address, if `returns` */
    uint32_t below; /* of a level's frame: `base` of the frames below it */
    uint8_t level;
    bool returns;  /* it was called */
    bool is_level; /* it is a level's frame: */
    branch last;   /* of the level below, at the interruption */
} frame;

typedef struct thread {
    frame *stack;
    uint32_t depth, capacity;
    uint32_t base;  /* frames from here on have the same level as the topmost */
    uint8_t state;  /* level, and bit 2: unknown pc; NO_STATE */
    bool skipped;   /* not selected */
    branch last;    /* the previous instruction, if it was a branch */
    uint64_t count; /* selected instructions */
    uint64_t start; /* ticks at the first one */
    uint64_t too_deep;
    tl_pair_table backs; /* base and return address -> open calls */
} thread;

struct tl_insn_calls {
    const tl_trace *trace;
    tl_profile *profile;
    tl_callstack *stack;
    tl_insn_functions functions;
    tl_profile_options options; /* for the callstack */
    tl_select select;           /* for the callstack */
    bool narrow;                /* not all instructions count: only ... */
    unsigned levels;
    bool has_pc;
    uint64_t pc_from, pc_to;
    tl_limit limit;
    bool *is_insn;   /* by class */
    thread *thread;  /* by track */
    uint32_t *begun; /* tracks that have begun since the last finish */
    uint32_t nbegun;
    uint32_t track; /* the track being followed */
    tl_batch out;   /* entries and exits for the callstack, ... */
    uint64_t *id;   /* ... and ids of the instructions that made them */
    uint64_t now;   /* id of the instruction being followed */
    tl_error *error;
};

bool tl_insn_calls_wanted(const tl_trace *t)
{
    bool any = false;
    for (uint32_t i = 0; i < t->ncls && !any; i++)
        any = t->cls[i].kind == TL_INSN && t->cls[i].role == TL_ROLE_A64;
    return any;
}

static int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to find calls of functions");
}

/* The part of the selection for the callstack: the rest is decided here. */
static void take_selection(tl_insn_calls *c, const tl_select *s)
{
    const tl_trace *t = c->trace;
    const uint64_t origin = !t->clock.from_zero && t->has_range ? t->begin : 0;
    c->select = *s;
    c->options.select = &c->select;
    c->narrow = s->levels || s->has_pc;
    c->levels = s->levels ? s->levels : ~0u;
    c->has_pc = s->has_pc;
    c->pc_from = s->pc_from;
    c->pc_to = s->pc_to;
    c->limit = (tl_limit){.set = s->has_from || s->has_to, .to = UINT64_MAX};
    if (s->has_from)
        c->limit.from = tl_add_saturated(origin, s->time_from);
    if (s->has_to)
        c->limit.to = tl_add_saturated(origin, s->time_to);
    c->select.has_from = c->select.has_to = c->select.has_pc = false;
    c->select.levels = 0;
    if (c->narrow && c->select.min_ticks == 0) /* drops calls without any counted instruction */
        c->select.min_ticks = 1;
}

int tl_insn_calls_can_apply(const tl_select *select, const tl_trace *t, tl_error *e)
{
    if (select && select->ncls)
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET,
                       "calls that are found in instructions have no class to select them by");
    return select ? tl_select_check_insn_cpu(select, t, e) : 0;
}

int tl_insn_calls_new(tl_insn_calls **out, tl_profile *p, const tl_trace *t, const tl_code_map *code,
                      const tl_profile_options *options, tl_error *e)
{
    tl_insn_calls *c = calloc(1, sizeof *c);
    if (!c)
        return no_memory(e);
    c->trace = t;
    c->profile = p;
    c->options = *options;
    if (options->select)
        take_selection(c, options->select);
    c->is_insn = calloc((size_t)t->ncls + 1, sizeof *c->is_insn);
    c->thread = calloc((size_t)t->ntrack + 1, sizeof *c->thread);
    c->begun = tl_alloc((size_t)t->ntrack + 1, sizeof *c->begun);
    int status = tl_insn_functions_init(&c->functions, t, code, e);
    if (status == 0 && (!c->is_insn || !c->thread || !c->begun))
        status = no_memory(e);
    if (status == 0)
        status = tl_batch_init(&c->out, &c->functions.calls, &(tl_want){.cpu = true}, TL_BATCH_MAX, e);
    if (status == 0 && !(c->id = tl_alloc(TL_BATCH_MAX, sizeof *c->id)))
        status = no_memory(e);
    if (status == 0)
        status = tl_callstack_new(&c->stack, p, &c->functions.calls, &c->options, TL_EXITS_COMPLETE, e);
    if (status < 0) {
        tl_insn_calls_free(c);
        return status;
    }
    for (uint32_t i = 0; i < t->ncls; i++)
        c->is_insn[i] = t->cls[i].kind == TL_INSN && t->cls[i].role == TL_ROLE_A64;
    for (uint32_t i = 0; i < t->ntrack; i++)
        c->thread[i] = (thread){.state = NO_STATE,
                                .skipped = options->select && !tl_select_insn_track(options->select, &t->track[i])};
    *out = c;
    return 0;
}

void tl_insn_calls_free(tl_insn_calls *c)
{
    if (!c)
        return;
    for (uint32_t i = 0; c->thread && i < c->nbegun; i++) {
        free(c->thread[c->begun[i]].stack);
        tl_pair_table_fini(&c->thread[c->begun[i]].backs);
    }
    tl_callstack_free(c->stack);
    tl_batch_fini(&c->out);
    tl_insn_functions_fini(&c->functions);
    free(c->id);
    free(c->is_insn);
    free(c->thread);
    free(c->begun);
    free(c);
}

int tl_insn_calls_give_rows(tl_insn_calls *c, tl_call_rows *rows, const tl_call_places *places, tl_error *e)
{
    return tl_callstack_give_rows(c->stack, rows, places, e);
}

int tl_insn_calls_use_slots(tl_insn_calls *c, tl_call_slots *slots, const tl_call_places *places, tl_error *e)
{
    return tl_callstack_use_slots(c->stack, slots, places, e);
}

void tl_insn_calls_limit(const tl_insn_calls *c, tl_limit *limit)
{
    *limit = c->limit;
}

bool tl_insn_calls_matched(const tl_insn_calls *c, size_t i, bool not )
{
    return tl_callstack_matched(c->stack, i, not );
}

/* ---- output to the callstack; all of these return false after a failure ---- */

static bool flush(tl_insn_calls *c)
{
    const bool ok = tl_callstack_add_ids(c->stack, &c->out, c->id, c->error) == 0;
    c->out.n = 0;
    return ok;
}

static bool tell(tl_insn_calls *c, const thread *th, uint32_t cls, uint64_t function)
{
    const tl_track *track = &c->trace->track[c->track];
    tl_batch *b = &c->out;
    const uint32_t n = b->n++;
    c->id[n] = c->now;
    b->ts[n] = th->start + th->count;
    b->key[n] = function;
    b->cls[n] = cls;
    b->track[n] = c->track;
    b->cpu[n] = track->is_cpu && track->tid >= 0 && track->tid <= INT32_MAX ? (int32_t)track->tid : -1;
    return b->n < b->capacity || flush(c);
}

static bool count_back(tl_insn_calls *c, thread *th, uint64_t back, bool more)
{
    uint32_t *open = tl_pair_table_at(&th->backs, th->base, back);
    if (!open) {
        no_memory(c->error);
        return false;
    }
    *open = more ? *open + 1 : *open - (*open > 0);
    return true;
}

static bool push(tl_insn_calls *c, thread *th, const frame *f)
{
    if (!TL_GROW(th->stack, th->depth, 1, th->capacity)) {
        no_memory(c->error);
        return false;
    }
    if (f->returns && !count_back(c, th, f->back, true))
        return false;
    th->stack[th->depth++] = *f;
    return tell(c, th, TL_INSN_ENTER, (uint64_t)f->function.id);
}

/* Leaves the topmost function. */
static bool pop(tl_insn_calls *c, thread *th)
{
    const frame *f = &th->stack[--th->depth];
    if (f->returns && !count_back(c, th, f->back, false))
        return false;
    if (f->is_level)
        th->base = f->below;
    return tell(c, th, TL_INSN_EXIT, (uint64_t)f->function.id);
}

/* Replaces the topmost function by another one, which returns to the same place. A level's frame stays below it. */
static bool replace(tl_insn_calls *c, thread *th, const tl_insn_function *function)
{
    frame *top = &th->stack[th->depth - 1];
    if (top->is_level)
        return push(c, th, &(frame){.function = *function, .level = top->level});
    const tl_insn_function before = top->function;
    top->function = *function;
    return tell(c, th, TL_INSN_EXIT, (uint64_t)before.id) && tell(c, th, TL_INSN_ENTER, (uint64_t)function->id);
}

/* ---- effects of instructions ---- */

static bool is_in(const tl_insn_function *f, uint64_t pc)
{
    return pc - f->from < f->size;
}

/* Enters the function without a caller that contains the instruction. */
static bool enter_first(tl_insn_calls *c, thread *th, bool has_pc, uint64_t pc)
{
    tl_insn_function function;
    return tl_insn_functions_entry(&c->functions, has_pc, pc, &function, c->error) == 0 &&
           push(c, th, &(frame){.function = function, .level = th->state & 3});
}

/* pc is executed now, reached in an unknown way. */
static bool arrive(tl_insn_calls *c, thread *th, uint64_t pc)
{
    const frame *top = &th->stack[th->depth - 1];
    const bool first = !top->returns && !top->is_level;
    tl_insn_function function;
    if (is_in(&top->function, pc) || (!first && !c->functions.code))
        return true;
    if (tl_insn_functions_entry(&c->functions, true, pc, &function, c->error) < 0)
        return false;
    return (!first && !function.is_known) || replace(c, th, &function);
}

static bool call(tl_insn_calls *c, thread *th, uint64_t pc)
{
    tl_insn_function function;
    if (pc == th->last.pc + 4) /* after an instruction: only looks up the function */
        return true;
    if (th->depth >= CALLS_MAX) {
        th->too_deep++;
        c->profile->unmatched_open++;
        return true;
    }
    return tl_insn_functions_called(&c->functions, pc, &function, c->error) == 0 &&
           push(c, th,
                &(frame){.function = function, .back = th->last.pc + 4, .level = th->state & 3, .returns = true});
}

static bool come_back(tl_insn_calls *c, thread *th, uint64_t pc)
{
    if (th->too_deep) {
        th->too_deep--;
        return true;
    }
    const uint32_t *open = tl_pair_table_find(&th->backs, th->base, pc);
    if (!open || *open == 0) {
        c->profile->unmatched_exits++;
        return arrive(c, th, pc);
    }
    /* Those above it never return. A frame of this level that returns has one below that stays. */
    for (bool found = false; !found && th->depth > th->base + 1;) {
        const frame *top = &th->stack[th->depth - 1];
        found = top->returns && top->back == pc;
        c->profile->unmatched_open += top->returns && !found;
        if (!pop(c, th))
            return false;
    }
    return true;
}

/* A jump is a call if it goes to the beginning of another function. */
static bool jump(tl_insn_calls *c, thread *th, uint64_t pc)
{
    const tl_insn_function *top = &th->stack[th->depth - 1].function;
    tl_insn_function function;
    if (!c->functions.code || is_in(top, pc) || (th->last.cls == A64_COND && pc == th->last.pc + 4))
        return true;
    if (tl_insn_functions_called(&c->functions, pc, &function, c->error) < 0)
        return false;
    return !function.is_known || function.from != pc || replace(c, th, &function);
}

static bool follow_branch(tl_insn_calls *c, thread *th, uint64_t pc)
{
    bool ok;
    if (a64_is_call(th->last.cls))
        ok = call(c, th, pc);
    else if (th->last.cls == A64_RETURN)
        ok = come_back(c, th, pc);
    else
        ok = jump(c, th, pc);
    th->last.cls = A64_INT;
    return ok;
}

/* Instructions of a higher level get a frame of their own, above the interrupted one. */
static bool rise(tl_insn_calls *c, thread *th, unsigned level)
{
    frame f = {.below = th->base, .level = (uint8_t)level, .is_level = true, .last = th->last};
    if (tl_insn_functions_level(&c->functions, level, &f.function, c->error) < 0)
        return false;
    th->base = th->depth;
    th->last.cls = A64_INT;
    return push(c, th, &f);
}

/* The level is lower again: the higher ones end, and the interrupted code continues. */
static bool fall(tl_insn_calls *c, thread *th, unsigned level)
{
    th->last.cls = A64_INT;
    th->too_deep = 0;
    while (th->depth && th->stack[th->depth - 1].level > level) {
        const frame *top = &th->stack[th->depth - 1];
        c->profile->unmatched_open += top->returns;
        if (top->is_level)
            th->last = top->last;
        if (!pop(c, th))
            return false;
    }
    if (th->depth == 0 || th->stack[th->depth - 1].level == level)
        return true;
    th->last.cls = A64_INT; /* it was of another level */
    return rise(c, th, level);
}

/* Handles special instructions: the first one, one of another level, or one after a branch. */
TL_COLD static bool control(tl_insn_calls *c, thread *th, const tl_batch *b, uint32_t i, uint8_t state)
{
    const uint64_t pc = b->key[i];
    const uint8_t before = th->state;
    const unsigned level = state & 3;
    const bool has_pc = !(state & 4);
    bool ok = true;
    th->state = state;
    c->now = tl_event_id(b, i);
    if (before == NO_STATE) {
        th->start = b->ts[i];
        c->begun[c->nbegun++] = c->track;
    } else if (level > (before & 3u)) {
        ok = rise(c, th, level);
    } else if (level < (before & 3u)) {
        ok = fall(c, th, level);
    }
    if (!ok)
        return false;
    if (th->depth == 0)
        return enter_first(c, th, has_pc, pc);
    if (th->last.cls != A64_INT && has_pc)
        return follow_branch(c, th, pc);
    th->last.cls = A64_INT;
    return !(has_pc && before != NO_STATE && before & 4) || arrive(c, th, pc);
}

TL_ALWAYS_INLINE bool counts(const tl_insn_calls *c, uint64_t pc, uint64_t aux)
{
    return c->levels >> tl_insn_level(aux) & 1 &&
           (!c->has_pc || (tl_insn_has_pc(aux) && pc >= c->pc_from && pc < c->pc_to));
}

/* Is it a jump within a function? If so, follows it. */
TL_ALWAYS_INLINE bool stays(thread *th, uint64_t pc)
{
    if (a64_is_call(th->last.cls) || th->last.cls == A64_RETURN || !is_in(&th->stack[th->depth - 1].function, pc))
        return false;
    th->last.cls = A64_INT;
    return true;
}

/* Without a binary, it is unknown where a jump leaves a function. */
TL_ALWAYS_INLINE bool matters(const tl_insn_calls *c, a64_class cls)
{
    return a64_is_call(cls) || cls == A64_RETURN || (c->functions.code && a64_is_branch(cls));
}

/* Events from .. to-1 of a batch, all of one track. */
TL_ALWAYS_INLINE bool follow(tl_insn_calls *c, thread *th, const tl_batch *b, uint32_t from, uint32_t to, bool limited)
{
    for (uint32_t i = from; i < to; i++) {
        if (!c->is_insn[b->cls[i]] || (limited && (b->ts[i] < c->limit.from || b->ts[i] >= c->limit.to)))
            continue;
        const uint64_t pc = b->key[i], aux = b->aux[i];
        const uint8_t state = (uint8_t)(aux >> 32 & 7);
        if ((TL_UNLIKELY(state != th->state) || (th->last.cls != A64_INT && !stays(th, pc))) &&
            !control(c, th, b, i, state))
            return false;
        th->count += !c->narrow || counts(c, pc, aux);
        const a64_class cls = a64_block_class(tl_insn_opcode(aux));
        if (cls != A64_INT && matters(c, cls) && !(state & 4))
            th->last = (branch){.pc = pc, .cls = cls};
    }
    return true;
}

int tl_insn_calls_add(tl_insn_calls *c, const tl_batch *b, tl_error *e)
{
    bool ok = true;
    c->error = e;
    for (uint32_t i = 0; ok && i < b->n;) {
        const uint32_t track = b->track[i], from = i;
        thread *th = &c->thread[track];
        while (i < b->n && b->track[i] == track)
            i++;
        c->track = track;
        if (!th->skipped)
            ok = c->limit.set ? follow(c, th, b, from, i, true) : follow(c, th, b, from, i, false);
    }
    return ok ? 0 : TL_ENOMEM;
}

int tl_insn_calls_finish(tl_insn_calls *c, tl_error *e)
{
    bool ok = true;
    c->error = e;
    c->now = TL_CALL_NO_ID;
    for (uint32_t i = 0; i < c->nbegun; i++) {
        thread *th = &c->thread[c->begun[i]];
        c->track = c->begun[i];
        while (ok && th->depth) {
            c->profile->unmatched_open += th->stack[th->depth - 1].returns;
            ok = pop(c, th);
        }
        free(th->stack);
        tl_pair_table_fini(&th->backs);
        *th = (thread){.state = NO_STATE};
    }
    c->nbegun = 0;
    ok = ok && flush(c);
    return tl_callstack_finish(c->stack) && ok ? 0 : no_memory(e);
}
