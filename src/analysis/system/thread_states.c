/* Threads change their states at switches and wake-ups; see thread_states.h. */
#include "analysis/system/thread_states.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

enum { UNINTERRUPTIBLE = 2, WAITS = 0xff }; /* bits of a state */

/* The thread; *out is NULL if there are too many. False when memory runs out. */
static bool find(tl_thread_states *s, const tl_state_name *who, tl_state_thread **out)
{
    uint32_t i = tl_hash_get(&s->by_tid, (uint64_t)who->tid);
    *out = NULL;
    if (i == TL_HASH_NONE && s->n == TL_STATE_THREADS_MAX) {
        s->ignored++;
        return true;
    }
    if (i == TL_HASH_NONE) {
        i = s->n;
        if (!TL_GROW(s->thread, s->n, 1, s->capacity) || !tl_hash_put(&s->by_tid, (uint64_t)who->tid, i))
            return false;
        s->thread[s->n++] = (tl_state_thread){.tid = who->tid, .now = TL_THREAD_UNKNOWN};
    }
    tl_state_thread *t = &s->thread[i];
    if (who->name && (!t->name || strlen(t->name) != who->length || memcmp(t->name, who->name, who->length) != 0))
        if (!(t->name = tl_strings_get(&s->names, who->name, who->length)))
            return false;
    *out = t;
    return true;
}

/* The processor's entry; NULL when memory runs out. */
static struct tl_state_cpu *find_cpu(tl_thread_states *s, uint64_t cpu)
{
    uint32_t i = tl_hash_get(&s->by_cpu, cpu);
    if (i == TL_HASH_NONE) {
        i = s->ncpu;
        if (!TL_GROW(s->cpu, s->ncpu, 1, s->cpu_capacity) || !tl_hash_put(&s->by_cpu, cpu, i))
            return NULL;
        s->cpu[s->ncpu++] = (struct tl_state_cpu){.cpu = cpu, .tid = -1};
    }
    return &s->cpu[i];
}

/* Ends the state of the thread, if it is known, and begins another. */
static bool enter(tl_state_thread *t, tl_thread_state state, uint64_t ts)
{
    bool ok = true;
    if (t->now != TL_THREAD_UNKNOWN) {
        tl_state_sums *sums = &t->sums[t->now];
        const uint64_t time = ts > t->since ? ts - t->since : 0;
        sums->shortest = !sums->n || time < sums->shortest ? time : sums->shortest;
        sums->longest = time > sums->longest ? time : sums->longest;
        sums->total += time;
        sums->n++;
        ok = tl_hist_add(&sums->hist, time);
    }
    t->now = state;
    t->since = ts > t->since ? ts : t->since;
    return ok;
}

/* The thread that the processor ran is no longer known to run. */
static void forget(tl_thread_states *s, int64_t tid)
{
    const uint32_t i = tl_hash_get(&s->by_tid, (uint64_t)tid);
    if (i != TL_HASH_NONE && s->thread[i].now == TL_THREAD_RUNNING)
        s->thread[i].now = TL_THREAD_UNKNOWN;
}

static tl_thread_state state_after(uint64_t state)
{
    return !(state & WAITS) ? TL_THREAD_READY : state & UNINTERRUPTIBLE ? TL_THREAD_UNINTERRUPTIBLE : TL_THREAD_BLOCKED;
}

bool tl_states_switch(tl_thread_states *s, uint64_t ts, uint64_t cpu, const tl_state_name *from, uint64_t state,
                      const tl_state_name *to)
{
    struct tl_state_cpu *on = find_cpu(s, cpu);
    tl_state_thread *t;
    bool ok = on != NULL;
    s->switches++;
    const bool first = ok && on->tid < 0, lost = ok && !first && on->tid != from->tid;
    if (lost) {
        s->lost++;
        forget(s, on->tid);
    }
    if (ok && from->tid != 0 && (ok = find(s, from, &t)) && t) {
        if (first || lost || t->now != TL_THREAD_RUNNING)
            t->now = TL_THREAD_UNKNOWN;
        ok = enter(t, state_after(state), ts);
    }
    if (ok && to->tid != 0 && (ok = find(s, to, &t)) && t) {
        if (t->now == TL_THREAD_RUNNING) /* elsewhere: the switch from it is lost */
            t->now = TL_THREAD_UNKNOWN;
        ok = enter(t, TL_THREAD_RUNNING, ts);
    }
    if (ok)
        on->tid = to->tid;
    return ok;
}

bool tl_states_wake(tl_thread_states *s, uint64_t ts, const tl_state_name *thread)
{
    tl_state_thread *t;
    s->wakes++;
    if (thread->tid == 0)
        return true;
    if (!find(s, thread, &t))
        return false;
    return !t || t->now == TL_THREAD_RUNNING || t->now == TL_THREAD_READY || enter(t, TL_THREAD_READY, ts);
}

void tl_states_fini(tl_thread_states *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        for (unsigned k = 0; k < TL_THREAD_STATES; k++)
            tl_hist_fini(&s->thread[i].sums[k].hist);
    free(s->thread);
    free(s->cpu);
    tl_hash_fini(&s->by_tid);
    tl_hash_fini(&s->by_cpu);
    tl_strings_fini(&s->names);
}
