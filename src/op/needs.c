/* What tables are made from, and whether a source has it. */
#include "op/needs.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/pool.h"
#include "model/gauge.h"
#include "model/profile_impl.h"
#include "op/insn_calls.h"
#include "op/sample_profile.h"

#define OF_INSNS (TL_HAS_INSNS | TL_HAS_CALLS | TL_HAS_DURATIONS)

static const struct {
    const char *needs;
    unsigned any; /* one of these; 0: nothing */
} list[] = {{TL_NEEDS_NOTHING, 0},
            {TL_NEEDS_EVENTS, TL_HAS_EVENTS},
            {TL_NEEDS_CALLS, TL_HAS_CALLS},
            {TL_NEEDS_DURATIONS, TL_HAS_DURATIONS},
            {TL_NEEDS_SAMPLES, TL_HAS_SAMPLES},
            {TL_NEEDS_STACKS, TL_HAS_CALLS | TL_HAS_SAMPLES},
            {TL_NEEDS_RUNTIME, TL_HAS_RUNTIME},
            {TL_NEEDS_INSNS, TL_HAS_INSNS},
            {TL_NEEDS_SNAPSHOTS, TL_HAS_SNAPSHOTS},
            {TL_NEEDS_SPANS, TL_HAS_SPANS},
            {TL_NEEDS_SLICES, TL_HAS_CALLS | TL_HAS_SPANS},
            {TL_NEEDS_COUNTERS, TL_HAS_COUNTERS},
            {TL_NEEDS_SWITCHES, TL_HAS_SWITCHES}};

bool tl_needs_met(const char *needs, unsigned has)
{
    for (size_t i = 0; i < TL_COUNT(list); i++)
        if (strcmp(list[i].needs, needs) == 0)
            return list[i].any == 0 || has & list[i].any;
    return true;
}

static bool is_of_threads(const tl_class *c)
{
    return c->role == TL_ROLE_SWITCH || c->role == TL_ROLE_WAKE;
}

static bool is_snapshot(const tl_class *c)
{
    return c->role == TL_ROLE_SNAPSHOT;
}

static unsigned class_has(const tl_class *c)
{
    unsigned has = 0;
    if (c->key == TL_KEY_FUNCTION && c->kind == TL_ENTER)
        has |= TL_HAS_CALLS | TL_HAS_DURATIONS;
    if (c->role != TL_ROLE_NONE && !tl_class_of_machine(c) && !is_of_threads(c))
        has |= TL_HAS_RUNTIME;
    has |= c->role == TL_ROLE_SWITCH ? TL_HAS_SWITCHES : 0u;
    has |= is_snapshot(c) ? TL_HAS_SNAPSHOTS : 0u;
    has |= c->kind == TL_BEGIN ? TL_HAS_SPANS : 0u;
    has |= c->kind == TL_COUNTER || tl_gauge_class(c) ? TL_HAS_COUNTERS : 0u;
    return has;
}

unsigned tl_source_has(const tl_source *s, const tl_profile *p)
{
    const unsigned of_profile = TL_HAS_CALLS | TL_HAS_DURATIONS | TL_HAS_SAMPLES;
    const tl_trace *t = tl_source_trace(s);
    unsigned has = tl_source_is_profile(s) ? 0 : TL_HAS_EVENTS | TL_HAS_THREADS;
    for (uint32_t i = 0; i < tl_trace_classes(t); i++)
        has |= class_has(tl_trace_class(t, i));
    has |= tl_samples_wanted(t) ? TL_HAS_SAMPLES : 0u;
    has |= tl_insn_calls_wanted(t) ? OF_INSNS : 0u;
    has |= s->told_calls == TL_TOLD_SOME ? TL_HAS_CALLS : 0u;
    if (!p || !(has & (TL_HAS_CALLS | TL_HAS_SAMPLES) || tl_source_is_profile(s)))
        return has;
    has &= ~of_profile;
    has |= p->per_thread ? TL_HAS_THREADS : 0u;
    if (tl_profile_weights(p))
        return has | TL_HAS_SAMPLES;
    return has | TL_HAS_CALLS | (tl_profile_has_histogram(p) ? TL_HAS_DURATIONS : 0u);
}

/* For threads that look for an event of some classes. */
typedef struct looking {
    tl_source *source;
    bool (*counts)(const tl_class *c);
    atomic_bool found;
    pthread_mutex_t lock; /* of: */
    tl_error error;
} looking;

static bool look_in_batch(const looking *l, const tl_batch *b)
{
    uint32_t before = UINT32_MAX;
    for (uint32_t k = 0; k < b->n; k++) {
        if (b->cls[k] == before)
            continue;
        before = b->cls[k];
        if (l->counts(tl_trace_class(&l->source->trace, before)))
            return true;
    }
    return false;
}

static int look_in_stream(void *arg, unsigned worker, uint32_t i)
{
    looking *l = arg;
    tl_cursor *c = NULL;
    const tl_batch *b;
    tl_error e = {0};
    (void)worker;
    int status = tl_cursor_open(&c, l->source, i, &e);
    while (status >= 0 && !atomic_load(&l->found) && (status = tl_cursor_next(c, &b, &e)) > 0)
        if (look_in_batch(l, b))
            atomic_store(&l->found, true);
    tl_cursor_close(c);
    if (status >= 0)
        return 0;
    pthread_mutex_lock(&l->lock);
    l->error = e;
    pthread_mutex_unlock(&l->lock);
    return status;
}

int tl_source_find_event(tl_source *s, bool (*counts)(const tl_class *c), bool *found, tl_error *e)
{
    looking l = {.source = s, .counts = counts, .lock = PTHREAD_MUTEX_INITIALIZER};
    const int status = tl_parallel(tl_processors(), tl_source_streams(s), look_in_stream, &l);
    *found = atomic_load(&l.found);
    if (status < 0 && !*found && e)
        *e = l.error;
    return *found ? 0 : status;
}

bool tl_source_any_event(tl_source *s, bool (*counts)(const tl_class *c))
{
    bool found;
    return tl_source_find_event(s, counts, &found, NULL) < 0 || found;
}

static bool is_of_insns(const tl_class *c)
{
    return tl_class_of_machine(c) && !is_snapshot(c);
}

unsigned tl_source_really_has(tl_source *s, const tl_profile *p)
{
    unsigned has = tl_source_has(s, p);
    if (!(has & TL_HAS_INSNS) || tl_source_any_event(s, is_of_insns))
        return has;
    has &= ~(unsigned)OF_INSNS;
    return has & TL_HAS_SNAPSHOTS && !tl_source_any_event(s, is_snapshot) ? has & ~(unsigned)TL_HAS_SNAPSHOTS : has;
}
