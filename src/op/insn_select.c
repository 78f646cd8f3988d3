/* Selects instructions, and what belongs to them. Events after an instruction go with it, so one bit per track
 * suffices. */
#include "op/insn_select.h"

#include <stdlib.h>

#include "base/compiler.h"
#include "model/histogram.h"
#include "op/call_select.h"

/* The relation of a class to instructions. */
enum { KIND_OTHER, KIND_INSN, KIND_SNAPSHOT };

struct tl_insn_select {
    unsigned levels; /* 1 << level of the selected ones */
    bool has_pc;
    uint64_t pc_from, pc_to;
    uint64_t from, to; /* ticks */
    uint32_t ntrack;
    uint8_t *kind; /* by class */
    bool *thread;  /* by track: it is selected ... */
    bool *current; /* ... and so is its latest instruction */
};

int tl_select_needs_insns(const tl_trace *t, const char *option, tl_error *e)
{
    if (tl_trace_counts_insns(t))
        return 0;
    return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "%s: %s needs an instruction trace; this one has no instructions",
                   tl_trace_path(t), option);
}

int tl_insn_select_new(tl_insn_select **out, const tl_trace *t, const tl_select *select, uint64_t origin, tl_error *e)
{
    *out = NULL;
    if (!select ||
        !(select->levels || select->has_pc || select->has_from || select->has_to || select->nthread || select->ncpu))
        return 0;
    int status = tl_select_settle_tracks(select, t->track, t->ntrack, e);
    if (status == 0)
        status = tl_select_check_insn_cpu(select, t, e);
    if (status < 0)
        return status;
    tl_insn_select *s = calloc(1, sizeof *s);
    if (s) {
        s->kind = calloc((size_t)t->ncls + 1, sizeof *s->kind);
        s->thread = calloc((size_t)t->ntrack + 1, sizeof *s->thread);
        s->current = calloc((size_t)t->ntrack + 1, sizeof *s->current);
    }
    if (!s || !s->kind || !s->thread || !s->current) {
        tl_insn_select_free(s);
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a selection");
    }
    s->levels = select->levels ? select->levels : ~0u;
    s->has_pc = select->has_pc;
    s->pc_from = select->pc_from;
    s->pc_to = select->pc_to;
    s->from = select->has_from ? tl_add_saturated(origin, select->time_from) : 0;
    s->to = select->has_to ? tl_add_saturated(origin, select->time_to) : UINT64_MAX;
    s->ntrack = t->ntrack;
    /* Events before the first instruction belong to none: selected if no instruction is left out. */
    const bool all = !select->levels && !select->has_pc;
    for (uint32_t i = 0; i < t->ncls; i++)
        s->kind[i] = t->cls[i].kind == TL_INSN            ? KIND_INSN
                     : t->cls[i].role == TL_ROLE_SNAPSHOT ? KIND_SNAPSHOT
                                                          : KIND_OTHER;
    for (uint32_t i = 0; i < t->ntrack; i++) {
        s->thread[i] = tl_select_insn_track(select, &t->track[i]);
        s->current[i] = all;
    }
    *out = s;
    return 0;
}

void tl_insn_select_free(tl_insn_select *s)
{
    if (!s)
        return;
    free(s->kind);
    free(s->thread);
    free(s->current);
    free(s);
}

TL_ALWAYS_INLINE bool choose_insn(const tl_insn_select *s, uint64_t pc, uint64_t aux)
{
    return s->levels >> tl_insn_level(aux) & 1 &&
           (!s->has_pc || (tl_insn_has_pc(aux) && pc >= s->pc_from && pc < s->pc_to));
}

TL_ALWAYS_INLINE bool choose(tl_insn_select *s, const tl_batch *b, uint32_t i)
{
    const uint32_t track = b->track[i];
    const uint8_t kind = s->kind[b->cls[i]];
    if (TL_UNLIKELY(track >= s->ntrack)) /* one that was added while reading */
        return false;
    if (kind == KIND_INSN)
        s->current[track] = choose_insn(s, b->key[i], b->aux ? b->aux[i] : TL_INSN_NO_PC);
    return s->thread[track] && b->ts[i] >= s->from && b->ts[i] < s->to && (s->current[track] || kind == KIND_SNAPSHOT);
}

bool tl_insn_select_event(tl_insn_select *s, const tl_batch *b, uint32_t i)
{
    return choose(s, b, i);
}

bool tl_insn_select_part(tl_insn_select *s, const tl_batch *b, uint32_t *from, uint32_t to, uint32_t *until)
{
    uint32_t i = *from;
    while (i < to && !choose(s, b, i))
        i++;
    if (i == to)
        return false;
    *from = i++;
    /* Examining an event twice changes nothing: the one that ends the part is examined again. */
    while (i < to && choose(s, b, i))
        i++;
    *until = i;
    return true;
}
