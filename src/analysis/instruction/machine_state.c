/* Finds the last snapshot before an instruction, and replays from there. */
#include "analysis/instruction/machine_state.h"

#include <inttypes.h>

#include "analysis/instruction/insn_classes.h"
#include "op/call_select.h"
#include "op/source_impl.h"

typedef struct search {
    tl_machine *machine;
    tl_source *source;
    const tl_select *select;
    tl_insn_classes classes;
    tl_replay replay;
    uint32_t track; /* UINT32_MAX: not known yet */
    bool given;     /* it is the only one wanted */
} search;

/* Is it the wanted track? Errors: TL_EINVAL: a second one matches. */
static int is_mine(search *q, uint32_t track, bool *mine, tl_error *e)
{
    const tl_trace *t = &q->source->trace;
    if (q->given) {
        *mine = track == q->track;
        return 0;
    }
    *mine = !q->select || tl_select_insn_track(q->select, &t->track[track]);
    if (!*mine || q->track == track)
        return 0;
    if (q->track != UINT32_MAX)
        return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "%s%s and %s: choose a %s", t->track[track].is_cpu ? "" : "threads ",
                       t->track[q->track].name, t->track[track].name, t->track[track].is_cpu ? "processor" : "thread");
    q->track = track;
    return 0;
}

/* Visits the events of one stream in a time range, until `visit` returns other than 0. */
static int visit_stream(search *q, uint32_t stream, const tl_limit *limit,
                        int (*visit)(search *, const tl_batch *, uint32_t, tl_error *), tl_error *e)
{
    tl_cursor *c = NULL;
    const tl_batch *b;
    int status = tl_cursor_open_want(&c, q->source, stream, NULL, limit, e), done = 0;
    while (status == 0 && done == 0 && (status = tl_cursor_next(c, &b, e)) > 0) {
        bool mine;
        status = is_mine(q, b->track[0], &mine, e); /* a stream is of one track */
        if (!mine || status < 0)
            break;
        for (uint32_t i = 0; done == 0 && i < b->n; i++)
            done = visit(q, b, i, e);
    }
    tl_cursor_close(c);
    return status < 0 ? status : done < 0 ? done : 0;
}

static int take_snapshot(search *q, const tl_batch *b, uint32_t i, tl_error *e)
{
    tl_machine *m = q->machine;
    (void)e;
    if (tl_insn_what_is(&q->classes, b->cls[i]) != TL_IS_SNAPSHOT)
        return b->ts[i] >= m->at; /* in a stream with both */
    if (b->ts[i] > m->at)
        return 1;
    if (!m->has_snapshot || b->ts[i] >= m->from) {
        m->has_snapshot = true;
        m->from = b->ts[i];
        tl_replay_snapshot(&q->replay, b, i);
    }
    return 0;
}

/* Takes what belongs to the next instruction; 1: it is over. */
static int look_ahead(tl_machine *m, tl_insn_what what, const tl_batch *b, uint32_t i)
{
    if (what == TL_IS_INSN || what == TL_IS_GENERAL)
        return 1;
    if ((what == TL_IS_LOAD || what == TL_IS_STORE) && !m->has_address) {
        m->has_address = true;
        m->address = b->key[i];
    } else if (what == TL_IS_TARGET) {
        m->has_target = true;
        m->target = b->key[i];
    }
    return 0;
}

static int replay(search *q, const tl_batch *b, uint32_t i, tl_error *e)
{
    tl_machine *m = q->machine;
    const tl_insn_what what = tl_insn_what_is(&q->classes, b->cls[i]);
    if (m->has_next)
        return look_ahead(m, what, b, i);
    if (what == TL_IS_INSN && b->ts[i] == m->at) {
        m->has_next = true;
        m->has_pc = tl_insn_has_pc(b->aux[i]);
        m->pc = b->key[i];
        m->opcode = tl_insn_opcode(b->aux[i]);
        m->level = tl_insn_level(b->aux[i]);
        return 0;
    }
    if (b->ts[i] < m->from || what == TL_IS_SNAPSHOT)
        return 0;
    if (what == TL_IS_INSN && !q->replay.waiting && b->ts[i] == m->from)
        q->replay.level = tl_insn_level(b->aux[i]);
    return tl_replay_event(&q->replay, what, b, i, e);
}

static int check_end(search *q, tl_error *e)
{
    const tl_machine *m = q->machine;
    tl_count count;
    if (m->has_next || m->at == 0)
        return 0;
    int status = tl_source_count(q->source, 1, &count, e);
    if (status < 0)
        return status;
    uint64_t insns = q->track == UINT32_MAX || !count.by_track[q->track] ? 0 : count.end[q->track] + 1;
    if (q->source->trace.ntrack == 1) { /* a snapshot may follow the last of them */
        insns = 0;
        for (uint32_t i = 0; i < q->source->trace.ncls; i++)
            insns += tl_insn_what_is(&q->classes, i) == TL_IS_INSN ? count.by_class[i] : 0;
    }
    tl_count_free(&count);
    if (m->at == insns)
        return 0;
    return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "there is no instruction %" PRIu64 ": there are %" PRIu64, m->at, insns);
}

static int find(tl_machine *m, tl_source *s, const tl_select *select, uint32_t track, uint64_t at, tl_error *e)
{
    *m = (tl_machine){.at = at};
    search q = {.machine = m,
                .source = s,
                .select = select,
                .track = track,
                .given = track != UINT32_MAX,
                .replay = {.machine = m}};
    if (tl_source_is_profile(s) || !tl_insn_classes_find(&q.classes, &s->trace))
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "%s: has no instructions", tl_source_name(s));
    int status = tl_shadow_new(&m->memory, e);
    if (status == 0 && select)
        status = tl_select_settle_tracks(select, s->trace.track, s->trace.ntrack, e);
    if (status == 0 && select)
        status = tl_select_check_insn_cpu(select, &s->trace, e);
    const uint64_t behind = at < UINT64_MAX ? at + 1 : at;
    const tl_limit find = {.set = true, .from = behind, .to = behind};
    for (uint32_t i = 0; status == 0 && i < tl_source_streams(s); i++)
        status = visit_stream(&q, i, &find, take_snapshot, e);
    const tl_limit part = {.set = true, .from = m->from, .to = behind};
    for (uint32_t i = 0; status == 0 && i < tl_source_streams(s); i++)
        status = visit_stream(&q, i, &part, replay, e);
    tl_replay_finish(&q.replay);
    if (m->has_next && m->at > m->from)
        tl_replay_level(&q.replay, m->level);
    if (status == 0)
        status = check_end(&q, e);
    if (q.track != UINT32_MAX) {
        m->track = s->trace.track[q.track].name;
        m->is_cpu = s->trace.track[q.track].is_cpu && !s->trace.track[q.track].has_tid;
    }
    return status;
}

int tl_machine_at(tl_machine *m, tl_source *s, const tl_select *select, uint64_t at, tl_error *e)
{
    return find(m, s, select, UINT32_MAX, at, e);
}

int tl_machine_at_track(tl_machine *m, tl_source *s, uint32_t track, uint64_t at, tl_error *e)
{
    return find(m, s, NULL, track, at, e);
}

void tl_machine_fini(tl_machine *m)
{
    tl_shadow_free(m->memory);
    m->memory = NULL;
}
