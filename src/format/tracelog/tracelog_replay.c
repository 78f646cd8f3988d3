/* Goes through the events of a part in the order of the log, and adds what depends on that order. */
#include "format/tracelog/tracelog_replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/grow.h"

enum { UNKNOWN, PROCESS, FIRST }; /* indices of replay_thread */

/* Places of values on the tape, from the event's first. */
enum { CFG_NAME, CFG_VALUE };
enum { NAM_IID, NAM_NAME };
enum { SAM_STACK = 4 };

static int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the threads and stacks of the log");
}

/* The index of a new thread, or TL_HASH_NONE. */
static uint32_t add_thread(tracelog_replay *p, uint64_t iid, uint32_t track)
{
    if (!TL_GROW(p->thread, p->nthread, 1, p->thread_capacity) || !TL_GROW(p->iid, p->nthread, 1, p->iid_capacity))
        return TL_HASH_NONE;
    p->thread[p->nthread] = (replay_thread){.track = track, .names = p->names};
    p->iid[p->nthread] = iid;
    return p->nthread++;
}

int tracelog_replay_init(tracelog_replay *p, tracelog_reader *r, tl_error *e)
{
    p->reader = r;
    p->period = TRACELOG_DEFAULT_PERIOD;
    p->first_interval = UINT64_MAX;
    p->weight = TRACELOG_DEFAULT_PERIOD;
    p->facts.reader = r;
    if (add_thread(p, 0, r->unknown) == TL_HASH_NONE || add_thread(p, 0, r->process) == TL_HASH_NONE)
        return no_memory(e);
    return 0;
}

void tracelog_replay_fini(tracelog_replay *p)
{
    for (uint32_t i = 0; i < p->nthread; i++)
        free(p->thread[i].node);
    tl_shared_arena_release(p->stacks);
    free(p->thread);
    free(p->iid);
    free(p->function);
    tracelog_replay_unmix(p);
    free(p->call);
    tl_id_map_fini(&p->thread_of);
    tl_id_map_fini(&p->function_of);
    tl_hash_fini(&p->thread_of_os);
    tl_pair_map_fini(&p->compiling);
    tl_pair_map_fini(&p->compiled);
    tracelog_facts_fini(&p->facts);
    *p = (tracelog_replay){0};
}

TL_COLD static int meet_thread(tracelog_replay *p, uint64_t iid, uint32_t *index, tl_error *e)
{
    uint32_t track = tl_id_map_get(&p->reader->track, iid);
    int status = 0;
    if (track == TL_HASH_NONE && !p->reader->late)
        return tl_fail(e, TL_EIO, TL_NO_OFFSET, "the file changed while it was read: thread 0x%llx is new",
                       (unsigned long long)iid);
    if (track == TL_HASH_NONE)
        status = tracelog_add_track(p->reader, iid, &track, e);
    if (status == 0 && p->reader->late)
        status = tracelog_facts_thread(&p->facts, iid, e);
    if (status < 0)
        return status;
    *index = add_thread(p, iid, track);
    return *index != TL_HASH_NONE && tl_id_map_put(&p->thread_of, iid, *index) ? 0 : no_memory(e);
}

/* The thread that a record names. */
TL_ALWAYS_INLINE int find_thread(tracelog_replay *p, const tracelog_note *n, uint32_t *index, tl_error *e)
{
    *index = UNKNOWN;
    if (TL_LIKELY(n->flags & TRACELOG_HAS_THREAD)) {
        const uint32_t at = tl_id_map_get(&p->thread_of, n->thread);
        if (TL_UNLIKELY(at == TL_HASH_NONE))
            return meet_thread(p, n->thread, index, e);
        *index = at;
    } else if (n->flags & TRACELOG_OS_THREAD) {
        const uint32_t at = tl_hash_get(&p->thread_of_os, n->thread);
        *index = at == TL_HASH_NONE ? UNKNOWN : at;
    }
    return 0;
}

/* Reports an error in a line that still counts. */
TL_COLD static int tell(const tracelog_replay *p, const tracelog_note *n, unsigned kind, uint64_t bytes,
                        const char *rule, const char *what, tl_error *e)
{
    const tl_damage d = {.offset = n->offset, .at = n->offset, .bytes = bytes, .kind = kind, .rule = rule};
    if (p->reader->want.strict)
        return tl_fail(e, TL_EDAMAGED, n->offset, "%s: %s", rule, what);
    return tl_trace_report(p->reader->trace, e, &d, "%s", what);
}

TL_COLD static int tell_depth(const tracelog_replay *p, const replay_thread *t, const tracelog_note *n, tl_error *e)
{
    char what[80];
    snprintf(what, sizeof what, "stackSize is %u, the stack before had %u", n->size, t->depth);
    return tell(p, n, TL_DAMAGE_FAULT, 0, "tracelog.stack-size", what, e);
}

/* Not damage: the log may be right, but has more than anybody can view. */
TL_COLD static int tell_names(tracelog_replay *p, const tracelog_note *n, tl_error *e)
{
    const tl_damage d = {.offset = n->offset, .at = n->offset, .kind = TL_DAMAGE_NOTE, .rule = "tracelog.many-names"};
    p->told_names = true;
    return tl_trace_report(p->reader->trace, e, &d,
                           "names of functions change too often: from here on stacks may show earlier ones");
}

static bool is_text(const tl_value *v, const char *text)
{
    return v->n == strlen(text) && memcmp(v->as.p, text, v->n) == 0;
}

/* Sets the weight of samples from here on; 0 in an instrumented program, whatever their count. */
static void set_weight(tracelog_replay *p)
{
    p->weight = !p->instrumented ? p->period : p->no_execution ? 0 : TL_WEIGHT_CALLS;
    p->weight |= p->paused ? TL_WEIGHT_PAUSED : 0;
}

static void set_up(tracelog_replay *p, const tl_value *v)
{
    const tl_value *name = &v[CFG_NAME], *value = &v[CFG_VALUE];
    uint64_t number = 0;
    const bool ok = tracelog_parse_number(value->as.p, value->n, &number);
    if (is_text(name, "SamplingTimeoutMs"))
        p->period = ok && number > 0 && number <= TRACELOG_PERIOD_MAX ? number : TRACELOG_DEFAULT_PERIOD;
    else if (is_text(name, "CpuTraceTimeoutMs"))
        p->first_interval = ok && number <= TRACELOG_MS_MAX ? number : UINT64_MAX;
    else if (is_text(name, "CollectionMethod"))
        p->instrumented = is_text(value, "Instrumentation");
    else if (is_text(name, "ExecutionTraceEnabled"))
        p->no_execution = is_text(value, "F");
    else if (is_text(name, "TracingSuspendedOnStart") && is_text(value, "T") && !p->pauses_seen) {
        p->paused = true;
        p->tracing_from = UINT64_MAX;
    }
    set_weight(p);
}

static void pause(tracelog_replay *p, bool paused, uint64_t at)
{
    p->paused = paused;
    p->pauses_seen = true;
    if (!paused && p->tracing_from == UINT64_MAX)
        p->tracing_from = at;
    set_weight(p);
}

static int set_name(tracelog_replay *p, const tl_value *v, tl_error *e)
{
    if (v[NAM_IID].type != TL_HEX)
        return 0;
    replay_function *f = tracelog_replay_function(p, v[NAM_IID].as.u);
    const char *name = f ? tracelog_intern_name(p->reader, v[NAM_NAME].as.p, v[NAM_NAME].n) : NULL;
    if (!name)
        return no_memory(e);
    p->names += f->used && f->name != name;
    f->name = name;
    return 0;
}

/* When the measured interval began. If recording began suspended, the first begin is unknown. */
static uint64_t since(const tracelog_replay *p, replay_thread *t, uint64_t at)
{
    uint64_t begin = t->cpu_until;
    if (!t->has_cpu) {
        begin = at > p->first_interval ? at - p->first_interval : 0;
        if (p->first_interval == UINT64_MAX || begin < p->tracing_from)
            begin = TL_SINCE_UNKNOWN;
    }
    t->has_cpu = true;
    t->cpu_until = at;
    return begin;
}

/* A number for each pair of thread and compiled function: the key of begin and end. TL_HASH_NONE when memory runs
 * out. */
static uint32_t pair_of(tracelog_replay *p, uint32_t index, const tracelog_note *n)
{
    const bool known = index != UNKNOWN, os = n->flags & TRACELOG_OS_THREAD;
    const uint64_t thread = known ? p->iid[index] : os ? n->thread : 0;
    const uint32_t tag = (known ? 1u : os ? 2u : 0u) + (n->flags & TRACELOG_HAS_ID ? 4u : 0u);
    const uint32_t number = tl_pair_map_number(&p->compiling, thread, tag);
    return number == TL_HASH_NONE ? TL_HASH_NONE : tl_pair_map_number(&p->compiled, number, n->other);
}

/* How many frames of the previous stack stay. Frames that no line gave are unknown ones, or left out if there are too
 * many: see TRACELOG_UNTOLD_FREE. */
TL_ALWAYS_INLINE uint32_t kept_of(tracelog_replay *p, const replay_thread *t, const tracelog_note *n)
{
    if (TL_LIKELY(n->kept <= t->depth))
        return n->kept;
    const uint64_t lack = n->kept - t->depth;
    if (p->untold + lack > TRACELOG_UNTOLD_FREE + n->offset / 4)
        return t->depth;
    p->untold += lack;
    return n->kept;
}

/* Replays a sample that is calls. */
TL_NOINLINE static bool replay_calls(tracelog_replay *p, uint32_t index, const tracelog_part *part,
                                     const tracelog_note *n, uint32_t kept, tl_value *out)
{
    const bool makes = p->has_calls = p->reader->makes_calls;
    const uint32_t line = (uint32_t)(n - part->note);
    const uint64_t ms = part->batch.ts[line];
    for (uint32_t i = 0; i < n->nframes; i++)
        n->frame[i].flags |= TL_FRAME_CALL;
    return (!makes || tracelog_replay_leave(p, index, kept, line, ms)) &&
           tracelog_replay_stack(p, index, part, n, kept, out) &&
           (!makes || tracelog_replay_enter(p, index, n->nframes, line, ms));
}

/* The samples. */
TL_ALWAYS_INLINE int replay_sample(tracelog_replay *p, uint32_t index, const tracelog_part *part,
                                   const tracelog_note *n, tl_value *v, tl_error *e)
{
    replay_thread *t = &p->thread[index];
    int status = 0;
    if (TL_UNLIKELY(n->size != t->depth))
        status = tell_depth(p, t, n, e);
    if (status < 0)
        return status;
    const uint32_t kept = kept_of(p, t, n);
    if (!v)
        t->depth = kept + n->nframes;
    else if (!(TL_UNLIKELY(p->weight & TL_WEIGHT_CALLS) ? replay_calls : tracelog_replay_stack)(p, index, part, n, kept,
                                                                                                v + SAM_STACK))
        return no_memory(e);
    return TL_UNLIKELY(p->keeps_names && !p->told_names) ? tell_names(p, n, e) : 0;
}

/* Keeps persistent facts of a record other than a sample. */
static int note_fact(tracelog_replay *p, tracelog_record record, const tracelog_note *n, const tl_value *v, tl_error *e)
{
    p->facts.signs |= tracelog_signs_of(record, n->flags);
    return v && tracelog_is_fact(record) ? tracelog_facts_take(&p->facts, record, n->thread, v, e) : 0;
}

/* The specifics of other kinds of records. */
static int replay_other(tracelog_replay *p, tracelog_part *part, uint32_t i, uint32_t index, tl_error *e)
{
    tl_batch *b = &part->batch;
    const tracelog_note *n = &part->note[i];
    tl_value *v = b->v ? b->v + b->val[i] : NULL;
    switch ((tracelog_record)b->cls[i]) {
    case tracelog_prf_cfg:
        if (v)
            set_up(p, v);
        return 0;
    case tracelog_prf_tps:
        pause(p, true, b->ts[i]);
        return 0;
    case tracelog_prf_trs:
        pause(p, false, b->ts[i]);
        return 0;
    case tracelog_prc_cpu:
    case tracelog_thr_cpu:
        b->key[i] = since(p, &p->thread[index], b->ts[i]);
        return 0;
    case tracelog_thr_aos:
        return index < FIRST || tl_hash_put(&p->thread_of_os, n->other, index) ? 0 : no_memory(e);
    case tracelog_fun_nam:
        return v ? set_name(p, v, e) : 0;
    case tracelog_jit_cms:
    case tracelog_jit_cmf:
    case tracelog_jit_css:
    case tracelog_jit_csf:
        b->key[i] = pair_of(p, index, n);
        return b->key[i] != TL_HASH_NONE ? 0 : no_memory(e);
    case tracelog_fil_src:
    case tracelog_lin_src:
        if (p->reader->late)
            p->reader->has_lines = true;
        return 0;
    case tracelog_sam_mem:
        b->key[i] = 1;
        return 0;
    default:
        return 0;
    }
}

static int replay_event(tracelog_replay *p, tracelog_part *part, uint32_t i, tl_error *e)
{
    tl_batch *b = &part->batch;
    const tracelog_note *n = &part->note[i];
    const tracelog_record record = (tracelog_record)b->cls[i];
    uint32_t index = PROCESS;
    int status = tracelog_shapes[record].of_process ? 0 : find_thread(p, n, &index, e);
    if (TL_UNLIKELY(status < 0))
        return status;
    replay_thread *t = &p->thread[index];
    b->track[i] = t->track;
    if (n->flags & TRACELOG_HAS_TIME)
        p->now = b->ts[i] > p->now ? b->ts[i] : p->now;
    else
        b->ts[i] = p->now;
    if (TL_LIKELY(record == tracelog_sam_str || record == tracelog_str_sam)) {
        p->facts.signs |= record == tracelog_str_sam ? TRACELOG_OLD : 0u;
        b->key[i] = p->weight;
        status = replay_sample(p, index, part, n, b->v ? b->v + b->val[i] : NULL, e);
    } else {
        if (TL_UNLIKELY(n->flags & TRACELOG_OS_THREAD) && b->v && index != UNKNOWN)
            b->v[b->val[i]] = (tl_value){.type = TL_HEX, .as.u = p->iid[index]};
        status = replay_other(p, part, i, index, e);
        if (TL_UNLIKELY(p->reader->late) && status == 0)
            status = note_fact(p, record, n, b->v ? b->v + b->val[i] : NULL, e);
    }
    if (status == 0 && (n->flags & TRACELOG_HAS_TIME) && index != PROCESS) {
        if (TL_UNLIKELY(b->ts[i] < t->last_ms))
            status = tell(p, n, TL_DAMAGE_FAULT, 0, "tracelog.time-order", "time of this thread runs backwards", e);
        t->last_ms = b->ts[i];
    }
    if (status == 0 && TL_UNLIKELY(n->bad_text))
        status = tell(p, n, TL_DAMAGE_FAULT | TL_DAMAGE_LOSS, n->bad_text, "tracelog.utf8", "text is not UTF-8", e);
    return status;
}

int tracelog_replay_part(tracelog_replay *p, tracelog_part *part, tl_error *e)
{
    int status = 0;
    p->batch++;
    p->renewed = 0;
    p->has_calls = false;
    if (p->stacks && part->batch.arena)
        tl_arena_hold(part->batch.arena, p->stacks);
    for (uint32_t i = 0; i < part->batch.n; i++) {
        status = replay_event(p, part, i, e);
        if (TL_UNLIKELY(status < 0)) {
            part->batch.n = i;
            break;
        }
    }
    if (!tracelog_replay_save(p) && status >= 0)
        status = no_memory(e);
    return status < 0 ? status : 0;
}
