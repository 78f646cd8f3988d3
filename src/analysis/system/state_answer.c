/* The relation `states`: how long threads ran, waited for a processor, and were blocked. */
#include <stdlib.h>
#include <string.h>

#include "analysis/system/thread_states.h"
#include "analysis/table_kind.h"
#include "base/grow.h"
#include "base/text/number.h"
#include "model/event_thread.h"
#include "op/source_impl.h"
#include "traceloom/events.h"

#define STATE_ROWS 19u /* on a terminal: with head and prompt it fits 24 lines */

static const char *const state_name[] = {[TL_THREAD_RUNNING] = "running",
                                         [TL_THREAD_READY] = "ready",
                                         [TL_THREAD_BLOCKED] = "blocked",
                                         [TL_THREAD_UNINTERRUPTIBLE] = "uninterruptible"};

/* Times as from tl_trace_time(). */
typedef struct state_row {
    int64_t tid;
    const char *name, *state;
    uint64_t count, total, shortest, p50, p99, longest;
    double share; /* of what is known of the thread */
} state_row;

typedef struct state_table {
    tl_thread_states states;
    state_row *row;
    uint32_t n;
    uint64_t threads;
} state_table;

static int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table of states");
}

/* Where the fields of a class are, or TL_NO_FIELD. */
typedef struct places {
    uint32_t thread, state, name, next, next_name;
} places;

static uint32_t place_of(const tl_class *c, tl_field_role role)
{
    for (uint32_t i = 0; i < c->nfield; i++)
        if (c->field[i].role == role)
            return i;
    return TL_NO_FIELD;
}

static bool get_number(const tl_batch *b, uint32_t i, uint32_t place, int64_t *out)
{
    const tl_value *v = tl_event_value(b, i, place);
    if (!v || (v->type != TL_I64 && v->type != TL_U64 && v->type != TL_HEX))
        return false;
    *out = v->as.i;
    return true;
}

static bool get_thread(const tl_batch *b, uint32_t i, uint32_t tid, uint32_t name, tl_state_name *out)
{
    const tl_value *v = tl_event_value(b, i, name);
    *out = (tl_state_name){0};
    if (v && v->type == TL_STRING) {
        out->name = v->as.p;
        out->length = v->n;
    }
    return get_number(b, i, tid, &out->tid);
}

static bool add_event(tl_thread_states *s, const tl_trace *t, const places *p, const tl_batch *b, uint32_t i)
{
    const tl_class *c = tl_trace_class(t, b->cls[i]);
    tl_state_name from, to;
    int64_t state;
    if (c->role == TL_ROLE_WAKE)
        return !get_thread(b, i, p->thread, p->name, &from) || tl_states_wake(s, b->ts[i], &from);
    if (!get_thread(b, i, p->thread, p->name, &from) || !get_thread(b, i, p->next, p->next_name, &to) ||
        !get_number(b, i, p->state, &state))
        return true;
    /* A stream of a trace that does not say which processor it is of is one. */
    const uint64_t cpu = b->cpu && b->cpu[i] >= 0 ? (uint64_t)b->cpu[i] : UINT64_C(1) << 32 | b->track[i];
    return tl_states_switch(s, b->ts[i], cpu, &from, (uint64_t)state, &to);
}

static int by_running(const void *left, const void *right)
{
    const tl_state_thread *a = left, *b = right;
    const uint64_t x = a->sums[TL_THREAD_RUNNING].total, y = b->sums[TL_THREAD_RUNNING].total;
    return x != y ? (x > y ? -1 : 1) : (a->tid > b->tid) - (a->tid < b->tid);
}

/* Makes the rows: of each thread its states, the threads that ran longest first. */
static int finish(state_table *c, const tl_trace *t, tl_error *e)
{
    tl_thread_states *s = &c->states;
    if (s->n)
        qsort(s->thread, s->n, sizeof *s->thread, by_running);
    c->row = tl_alloc((size_t)s->n * TL_THREAD_STATES + 1, sizeof *c->row);
    if (!c->row)
        return no_memory(e);
    for (uint32_t i = 0; i < s->n; i++) {
        const tl_state_thread *thread = &s->thread[i];
        double known = 0;
        const uint32_t before = c->n;
        for (unsigned k = 0; k < TL_THREAD_STATES; k++)
            known += (double)thread->sums[k].total;
        for (unsigned k = 0; k < TL_THREAD_STATES; k++) {
            const tl_state_sums *sums = &thread->sums[k];
            if (sums->n == 0)
                continue;
            c->row[c->n++] = (state_row){
                .tid = thread->tid,
                .name = thread->name,
                .state = state_name[k],
                .count = sums->n,
                .total = tl_trace_time(t, sums->total),
                .shortest = tl_trace_time(t, sums->shortest),
                .p50 = tl_trace_time(t, tl_hist_percentile(&sums->hist, 500, sums->shortest, sums->longest)),
                .p99 = tl_trace_time(t, tl_hist_percentile(&sums->hist, 990, sums->shortest, sums->longest)),
                .longest = tl_trace_time(t, sums->longest),
                .share = known > 0 ? (double)sums->total / known : 0};
        }
        c->threads += c->n > before;
    }
    return 0;
}

static int read_events(state_table *c, tl_source *s, const tl_select *select, const places *place, tl_error *e)
{
    const tl_trace *t = tl_source_trace(s);
    tl_want want = tl_source_want(s, true);
    want.cpu = true;
    tl_events *events = NULL;
    const tl_run *run;
    uint32_t n = 0;
    bool ok = true;
    int status = tl_events_open_want(&events, &s, 1, select, true, &want, e);
    while (status == 0 && ok && (status = tl_events_runs(events, &run, &n, e)) > 0) {
        status = 0;
        for (uint32_t k = 0; ok && k < n; k++)
            for (uint32_t i = run[k].from; ok && i < run[k].to; i++) {
                const uint32_t cls = run[k].batch->cls[i];
                const tl_role role = tl_trace_class(t, cls)->role;
                if (role == TL_ROLE_SWITCH || role == TL_ROLE_WAKE)
                    ok = add_event(&c->states, t, &place[cls], run[k].batch, i);
            }
    }
    tl_events_close(events);
    return status == 0 && !ok ? no_memory(e) : status;
}

static int read_states(void *table, tl_source *s, const tl_select *select, tl_error *e)
{
    state_table *c = table;
    const tl_trace *t = tl_source_trace(s);
    places *place = tl_alloc((size_t)tl_trace_classes(t) + 1, sizeof *place);
    if (!place)
        return no_memory(e);
    for (uint32_t i = 0; i < tl_trace_classes(t); i++) {
        const tl_class *cls = tl_trace_class(t, i);
        place[i] = (places){place_of(cls, TL_FIELD_THREAD), place_of(cls, TL_FIELD_STATE), place_of(cls, TL_FIELD_NAME),
                            place_of(cls, TL_FIELD_NEXT), place_of(cls, TL_FIELD_NEXT_NAME)};
    }
    int status = read_events(c, s, select, place, e);
    free(place);
    return status == 0 ? finish(c, t, e) : status;
}

static void fini(void *table)
{
    state_table *c = table;
    tl_states_fini(&c->states);
    free(c->row);
}

/* ---- output ---- */

#define DURATION(name, heading, member, at, dropped, text)                                                             \
    {                                                                                                                  \
        TL_COL(name, heading, INTEGER, TIME, text), TL_AT(U64, state_row, member), .place = at, .drop = dropped        \
    }
static const tl_column columns[] = {
    {TL_COL("tid", "thread", INTEGER, NONE, "the thread"), TL_AT(I64, state_row, tid), .place = 1},
    {TL_COL(
         "state", "state", TEXT, NONE,
         "running; ready: it waits for a processor; blocked; or uninterruptible: blocked, mostly by input or output"),
     TL_AT(TEXT, state_row, state), .place = 2},
    DURATION("total", "time", total, 3, 0, "how long the thread was in that state"),
    {TL_COL("share", "share", REAL, SHARE, "the part of the time in which its state is known"),
     TL_AT(REAL, state_row, share), .flags = TL_WITH_BAR, .place = 4, .drop = 4},
    {TL_COL("count", "times", INTEGER, COUNT, "how often"), TL_AT(U64, state_row, count), .place = 5, .drop = 5},
    DURATION("min_dur", NULL, shortest, 6, 0, "the shortest time"),
    DURATION("p50", "p50", p50, 6, 1, "half of the times are at most that"),
    DURATION("p99", "p99", p99, 7, 2, "99 % of the times"),
    DURATION("max_dur", "longest", longest, 8, 3, "the longest time"),
    {TL_COL("name", "name", TEXT, NONE, "its name, the latest"), TL_AT(TEXT, state_row, name), .role = TL_ROLE_NAME},
};

static const tl_column facts[] = {
    {TL_COL("switches", NULL, INTEGER, COUNT, "switches from a thread to another"),
     TL_AT(U64, state_table, states.switches)},
    {TL_COL("wakes", NULL, INTEGER, COUNT, "events that wake a thread"), TL_AT(U64, state_table, states.wakes)},
    {TL_COL("lost", NULL, INTEGER, COUNT, "switches from a thread that did not run there, because events are lost"),
     TL_AT(U64, state_table, states.lost)},
    {TL_COL("ignored", NULL, INTEGER, COUNT, "events about threads beyond the first 65,536"),
     TL_AT(U64, state_table, states.ignored)},
};

/* "kernel: ctf 1.8, 4,687 switches of 130 threads; 3 from a thread that did not run there: events are lost" */
static void head(const tl_answer *a, const tl_prose *p)
{
    const state_table *c = a->table;
    tl_say_styled(p, TL_STRONG, a->subject);
    tl_output_puts(p->out, ", ");
    tl_say_count(p, c->states.switches, "switch", "switches");
    tl_output_puts(p->out, " of ");
    tl_say_count(p, c->threads, "thread", "threads");
    if (c->states.lost) {
        tl_output_puts(p->out, "; ");
        tl_say_count(p, c->states.lost, "of them from a thread that did not run there: events are lost",
                     "of them from threads that did not run there: events are lost");
    }
    if (c->states.ignored) {
        tl_output_puts(p->out, "; too many threads: ");
        tl_say_count(p, c->states.ignored, "event ignored", "events ignored");
    }
    if (!a->is_ns)
        tl_output_printf(p->out, "; times in %s", a->unit);
    tl_output_puts(p->out, "\n");
}

static int answer(void *table, const tl_ask *ask, tl_answer *a, tl_error *e)
{
    const state_table *c = table;
    (void)e;
    a->head = head;
    TL_ADD_TOP(a, ask, "states", columns, c->row, NULL, c->n, STATE_ROWS, "states", 16);
    if (ask->for_programs)
        TL_ADD_FACTS(a, ask, facts, c);
    return 0;
}

const tl_table_kind tl_table_state = {
    .info = {"state", "how long threads ran, were ready, or were blocked", TL_NEEDS_SWITCHES},
    .sql = "states",
    .what = "switches of threads",
    .tab = "events",
    .no_thread = "the state of a thread depends on the events of all",
    .size = sizeof(state_table),
    .read = read_states,
    TL_EMPTY_IF_0(state_table, states.switches),
    .answer = answer,
    .fini = fini,
    TL_TABLE_COLUMNS(columns)};
