/* Rings of the mode "fdr", and its running time: children record, and the library reads. */
#include "check.h"
#include "rt_host.h"

#if RT_HERE
#include <pthread.h>
#include <signal.h>

#include "rt/rt_clock.h"
#include "rt/rt_lane.h"
#include "rt_record_fixture.h"
#include "traceloom/rt.h"

/* ---- calls that carry their number ---- */

enum { SLOT = 16 << 10, SLOTS = 4, PREAMBLE = 80, PADDED = 48 }; /* of ring=64K */
enum {
    CALLS_OF_SLOT = (SLOT - PREAMBLE - PADDED) / 16,
    MANY = 20 * CALLS_OF_SLOT,
    MOVES = 100
}; /* MOVES: calls whose room the records of other processors take */

static void call(uint32_t id)
{
    tl_rt_handlers.enter(id, 0x1000, 0);
    tl_rt_handlers.exit(id, 0x1000, 0);
}

static void call_many(void)
{
    for (uint32_t i = 1; i <= MANY; i++)
        call(i);
}

/* The facts of `info` about a ring. */
typedef struct ring_facts {
    uint64_t reused, overwritten, complete_from; /* ns since the first event */
} ring_facts;

static ring_facts ring_of(const tl_source *s)
{
    ring_facts r = {0};
    const tl_field *field;
    uint32_t n;
    const tl_value *v = tl_trace_header(tl_source_trace(s), &field, &n);
    for (uint32_t i = 0; i < n; i++) {
        const tl_value *members = v + 1;
        if (strcmp(field[i].name, "ring") == 0) {
            assert_int_equal(v->n, 3);
            r = (ring_facts){members[0].as.u, members[1].as.u, members[2].as.u};
            assert_string_equal(field[i].member[0].name, "slots_reused");
            assert_string_equal(field[i].member[1].name, "events_overwritten");
            assert_string_equal(field[i].member[2].name, "complete_from");
        }
        v += 1 + (v->type == TL_STRUCT ? v->n : 0);
    }
    return r;
}

/* Contents of a recording. Threads count their calls from THREAD times their number on. */
enum { THREAD = 1 << 20, THREADS_MOST = 16 };
typedef struct kept {
    uint64_t events;
    struct {
        uint64_t first, last; /* calls, 0: none. All between are there, with entry and exit */
        uint64_t begin;       /* time of the first event, ns since the first of all */
    } thread[THREADS_MOST];
    uint64_t tick; /* one tick of the clock in ns, rounded up: complete_from is one after an event */
    ring_facts ring;
} kept;

static kept read_kept(const char *path)
{
    kept k = {0};
    tl_source *s = open_trace(path, false);
    const tl_trace *t = tl_source_trace(s);
    const tl_batch *b;
    tl_error e;
    uint64_t next[THREADS_MOST] = {0}, begin = UINT64_MAX;
    int status;
    while ((status = tl_source_next(s, &b, &e)) > 0)
        for (uint32_t i = 0; i < b->n; i++) {
            const tl_kind kind = tl_trace_class(t, b->cls[i])->kind;
            k.events++;
            begin = b->ts[i] < begin ? b->ts[i] : begin; /* streams come one after the other, not in order of time */
            if (kind != TL_ENTER && kind != TL_EXIT)
                continue;
            const uint64_t thread = b->key[i] / THREAD, call = b->key[i] % THREAD;
            const uint64_t at = 2 * call + (kind == TL_EXIT);
            assert_true(thread < THREADS_MOST);
            if (next[thread]) {
                assert_int_equal(at, next[thread]);
            } else {
                k.thread[thread].first = call;
                k.thread[thread].begin = b->ts[i];
            }
            k.thread[thread].last = call;
            next[thread] = at + 1;
        }
    assert_int_equal(status, 0);
    for (uint32_t i = 0; i < THREADS_MOST; i++)
        k.thread[i].begin = k.thread[i].first ? tl_trace_time(t, k.thread[i].begin - begin) : 0;
    k.tick = tl_trace_time(t, 1) + 1;
    k.ring = ring_of(s);
    is_sound(s);
    tl_source_close(s);
    return k;
}

/* ---- one thread ---- */

static void a_ring_keeps_the_last_calls(void **state)
{
    assert_int_equal(record("mode=fdr:out=t.xray:control=off:ring=64K", call_many), 0);
    const kept k = read_kept("t.xray");
    assert_int_equal(k.thread[0].last, MANY);
    assert_true(MANY - k.thread[0].first < SLOTS * CALLS_OF_SLOT);
    assert_true(MANY - k.thread[0].first >= (SLOTS - 1) * CALLS_OF_SLOT - MOVES);
    assert_int_equal(k.ring.overwritten + k.events, 2 * MANY);
    assert_true(k.ring.reused >= MANY / CALLS_OF_SLOT - SLOTS);
    assert_in_range(k.ring.complete_from, 0, k.tick);
}

static void call_few(void)
{
    for (uint32_t i = 1; i <= SLOTS * CALLS_OF_SLOT - MOVES; i++)
        call(i);
}

static void a_ring_that_is_not_full_lacks_nothing(void **state)
{
    assert_int_equal(record("mode=fdr:out=t.xray:control=off:ring=64K", call_few), 0);
    const kept k = read_kept("t.xray");
    assert_int_equal(k.events, 2 * (SLOTS * CALLS_OF_SLOT - MOVES));
    assert_int_equal(k.ring.reused + k.ring.overwritten + k.ring.complete_from, 0);
}

static void call_and_kill(void)
{
    call_many();
    raise(SIGKILL);
}

static void what_was_overwritten_is_known_after_a_kill(void **state)
{
    const int status = record("mode=fdr:out=t.xray:control=off:ring=64K", call_and_kill);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    const kept k = read_kept("t.xray.live");
    assert_int_equal(k.ring.overwritten + k.events, 2 * MANY);
}

/* All that is no record of eight bytes. */
enum { KINDS = 3000, EVENTS_OF_KIND = 5, TAKEN_BACK = 1000 };
static char text[200];

static void record_all_kinds(void)
{
    for (uint32_t i = 1; i <= KINDS; i++) {
        tl_rt_handlers.argument(1, 0x1000, 0, i);
        TL_RT_INSTANT("short");
        text[i % (sizeof text - 1)] = 'x';
        TL_RT_INSTANT_F("long", TL_RT_FIELD(text, "t", text), TL_RT_FIELD(u64, "n", i));
        tl_rt_handlers.custom(text, i % sizeof text + 1);
        tl_rt_handlers.exit(1, 0x1000, 0);
    }
}

static void record_and_take_back(void)
{
    for (uint32_t i = 1; i <= KINDS; i++) {
        for (uint32_t k = 0; k < i % 7; k++) { /* taken back */
            tl_rt_handlers.argument(2, 0x1000, 0, i);
            tl_rt_handlers.exit(2, 0x1000, 0);
            call(3);
        }
        record_all_kinds();
        if (i == 3)
            break;
    }
}

static void all_kinds_of_events_are_counted(void **state)
{
    assert_int_equal(record("mode=fdr:out=t.xray:control=off:ring=64K", record_all_kinds), 0);
    assert_int_equal(record("mode=fdr,profile:out=p:control=off:ring=64K", record_all_kinds), 0);
    assert_int_equal(record("mode=fdr:out=back.xray:control=off:ring=64K:threshold=100s", record_and_take_back), 0);
    static const struct {
        const char *path;
        uint64_t made;
    } recording[] = {{"t.xray", KINDS * EVENTS_OF_KIND},
                     {"p.xray", KINDS * EVENTS_OF_KIND},
                     {"back.xray", UINT64_C(3) * KINDS * EVENTS_OF_KIND}};
    for (size_t i = 0; i < 3; i++) {
        tl_source *s = open_trace(recording[i].path, false);
        tl_count count;
        tl_error e;
        assert_int_equal(tl_source_count(s, 1, &count, &e), 0);
        const ring_facts r = ring_of(s);
        assert_true(r.reused > 0);
        assert_int_equal(r.overwritten + count.events, recording[i].made);
        tl_count_free(&count);
        is_sound(s);
        tl_source_close(s);
    }
}

/* ---- threads that end ---- */

static pthread_barrier_t all_there;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static uint32_t order; /* whose turn it is to make its last calls */

/* Threads that are there at the same time and end one after another. */
typedef struct worker {
    pthread_t thread;
    uint32_t number, calls;
    bool alone;
} worker;

static void *work(void *arg)
{
    const worker *w = arg;
    if (w->alone) {
        for (uint32_t i = 1; i <= w->calls; i++)
            call(w->number * THREAD + i);
        return NULL;
    }
    call(w->number * THREAD + 1); /* now it has a lane */
    pthread_barrier_wait(&all_there);
    for (bool done = false; !done;) {
        pthread_mutex_lock(&turn);
        done = order == w->number;
        for (uint32_t i = 2; done && i <= w->calls; i++)
            call(w->number * THREAD + i);
        order += done;
        pthread_mutex_unlock(&turn);
    }
    return NULL;
}

static void run_together(worker *w, uint32_t n)
{
    order = w[0].number;
    pthread_barrier_init(&all_there, NULL, n);
    for (uint32_t i = 0; i < n; i++)
        if (pthread_create(&w[i].thread, NULL, work, &w[i]))
            _exit(3);
    for (uint32_t i = 0; i < n; i++)
        pthread_join(w[i].thread, NULL);
    pthread_barrier_destroy(&all_there);
}

static void run_alone(uint32_t number, uint32_t calls_made)
{
    worker w = {.number = number, .calls = calls_made, .alone = true};
    if (pthread_create(&w.thread, NULL, work, &w))
        _exit(3);
    pthread_join(w.thread, NULL);
}

enum { SHORT = 300 };

/* The room of three threads; the last one uses only its own. */
static void short_ones_then_a_long_one(void)
{
    worker w[] = {{.number = 1, .calls = SHORT}, {.number = 2, .calls = SHORT}, {.number = 3, .calls = SHORT}};
    run_together(w, 3);
    run_alone(4, MANY);
    run_alone(5, MANY);
}

static void threads_that_ended_keep_their_calls(void **state)
{
    assert_int_equal(record("mode=fdr:out=t.xray:control=off:ring=64K", short_ones_then_a_long_one), 0);
    const kept k = read_kept("t.xray");
    for (uint32_t i = 1; i <= 3; i++) {
        assert_int_equal(k.thread[i].first, 1);
        assert_int_equal(k.thread[i].last, SHORT);
    }
    for (uint32_t i = 4; i <= 5; i++) {
        assert_int_equal(k.thread[i].last, MANY);
        assert_true(MANY - k.thread[i].first >= (SLOTS - 1) * CALLS_OF_SLOT - MOVES);
    }
    assert_int_equal(k.ring.overwritten + k.events, 2 * (3 * SHORT + 2 * MANY));
    /* Everything since then is there, so it is after the first calls left of the long ones. */
    assert_true(k.ring.complete_from >= k.thread[4].begin);
    assert_true(k.ring.complete_from <= k.thread[5].begin + k.tick);
}

enum { RINGFUL = SLOTS * CALLS_OF_SLOT };

/* Three threads fill their rings, and end in this order: 2, 3, 1 (by their last calls). Then one needs two slots. */
static void full_rings_then_a_short_one(void)
{
    worker w[] = {{.number = 1, .calls = RINGFUL}, {.number = 2, .calls = RINGFUL}, {.number = 3, .calls = RINGFUL}};
    run_together(w, 3);
    run_alone(4, 2 * CALLS_OF_SLOT);
}

static void who_ended_first_is_overwritten_first(void **state)
{
    assert_int_equal(record("mode=fdr:out=t.xray:control=off:ring=64K", full_rings_then_a_short_one), 0);
    const kept k = read_kept("t.xray");
    const uint64_t all = (SLOTS - 1) * CALLS_OF_SLOT - MOVES;
    assert_int_equal(k.thread[4].first, 1);
    assert_int_equal(k.thread[4].last, 2 * CALLS_OF_SLOT);
    assert_true(k.thread[3].last - k.thread[3].first >= all && k.thread[2].last - k.thread[2].first >= all);
    assert_in_range(k.thread[1].last - k.thread[1].first, CALLS_OF_SLOT / 2, (SLOTS - 1) * CALLS_OF_SLOT);
    assert_int_equal(k.ring.overwritten + k.events, 2 * (3 * RINGFUL + 2 * CALLS_OF_SLOT));
}

/* More threads than fit a ring of one, but no more than eight at the same time. */
enum { TOGETHER = 8, VERY_MANY = 3000 };

static void *call_twice(void *arg)
{
    call(1);
    call(2);
    return arg;
}

static void many_short_threads(void)
{
    worker w[TOGETHER];
    for (uint32_t i = 0; i < TOGETHER; i++)
        w[i] = (worker){.number = i + 1, .calls = 2};
    run_together(w, TOGETHER);
    for (uint32_t i = 0; i < VERY_MANY; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, call_twice, NULL))
            _exit(3);
        pthread_join(thread, NULL);
    }
}

static void many_short_threads_lose_nothing(void **state)
{
    assert_int_equal(record("mode=fdr:out=t.xray:control=off:ring=64K", many_short_threads), 0);
    assert_int_equal(events("t.xray", "xray.enter"), 2 * (VERY_MANY + TOGETHER));
    assert_int_equal(events("t.xray", "xray.exit"), 2 * (VERY_MANY + TOGETHER));
    tl_source *s = open_trace("t.xray", false);
    assert_int_equal(ring_of(s).reused, 0);
    tl_source_close(s);
}

/* If the limit leaves no room for more slots, existing ones are reused. */
static void a_limit_makes_rings_smaller(void **state)
{
    assert_int_equal(record("mode=fdr:out=t.xray:control=off:ring=1M:limit=256K", call_many), 0);
    const kept k = read_kept("t.xray");
    assert_int_equal(k.thread[0].last, MANY);
    assert_int_equal(k.ring.overwritten + k.events, 2 * MANY);
    assert_int_equal(lost_events("t.xray"), 0);
}

static void fork_in_a_ring(void)
{
    call_many();
    const pid_t pid = fork();
    if (pid == 0) {
        call_many();
        call_many();
        tl_rt_finish();
        _exit(0);
    }
    waitpid(pid, NULL, 0);
}

static void a_child_has_a_ring_of_its_own(void **state)
{
    assert_int_equal(record("mode=fdr:out=t:control=off:ring=64K", fork_in_a_ring), 0);
    unsigned n = 0;
    DIR *d = opendir(".");
    for (struct dirent *entry; (entry = readdir(d));) {
        if (!strstr(entry->d_name, ".xray"))
            continue;
        tl_source *s = open_trace(entry->d_name, false);
        tl_count count;
        tl_error e;
        assert_int_equal(tl_source_count(s, 1, &count, &e), 0);
        const uint64_t turns = strcmp(entry->d_name, "t.xray") == 0 ? 1 : 2;
        assert_int_equal(ring_of(s).overwritten + count.events, turns * 2 * MANY);
        tl_count_free(&count);
        is_sound(s);
        tl_source_close(s);
        n++;
    }
    closedir(d);
    assert_int_equal(n, 2);
}

/* ---- the running time ---- */

/* An event that carries the time. */
static void tell(void)
{
    TL_RT_INSTANT_F("tell", TL_RT_FIELD(u64, "now", rt_now()));
}

/* As if nothing had happened for so long: moves the time of the last record back. The next record must not build on it,
 * since readers do not know that. */
static void be_idle(uint64_t ticks)
{
    tl_rt_lane->time -= ticks;
}

/* Records of calls hold 32 bits of the time since the last one, those of events 31. */
static void tell_after_pauses(void)
{
    static const uint64_t pause[] = {UINT64_C(1) << 31, UINT64_C(3) << 30, UINT32_MAX,
                                     UINT64_C(1) << 32, UINT64_C(5) << 30, UINT64_C(1) << 40};
    call(1);
    for (size_t i = 0; i < sizeof pause / sizeof pause[0]; i++) {
        tell();
        be_idle(pause[i]);
        tell();
        if (pause[i] > UINT32_MAX)
            be_idle(pause[i]);
        call(1);
    }
    tell();
}

/* Each event is later than the time it carries, and earlier than the time of the next one. */
static void long_pauses_keep_the_time(void **state)
{
    assert_int_equal(record("mode=fdr:out=t.xray:control=off:clock=monotonic", tell_after_pauses), 0);
    tl_source *s = open_trace("t.xray", true);
    const tl_batch *b;
    tl_error e;
    uint64_t told = 0, n = 0, last = 0;
    int status;
    while ((status = tl_source_next(s, &b, &e)) > 0)
        for (uint32_t i = 0; i < b->n; i++) {
            if (strcmp(tl_trace_class(tl_source_trace(s), b->cls[i])->name, "tell") == 0) {
                const tl_value *v = b->v + b->val[i];
                assert_int_equal(v->type, TL_U64);
                assert_true(v->as.u >= last);
                told = v->as.u;
                n++;
            }
            assert_true(b->ts[i] >= told);
            last = b->ts[i];
        }
    assert_int_equal(status, 0);
    assert_int_equal(n, 13);
    is_sound(s);
    tl_source_close(s);
}

#else
RT_SKIPPED(a_ring_keeps_the_last_calls)
RT_SKIPPED(a_ring_that_is_not_full_lacks_nothing)
RT_SKIPPED(what_was_overwritten_is_known_after_a_kill)
RT_SKIPPED(all_kinds_of_events_are_counted)
RT_SKIPPED(threads_that_ended_keep_their_calls)
RT_SKIPPED(who_ended_first_is_overwritten_first)
RT_SKIPPED(many_short_threads_lose_nothing)
RT_SKIPPED(a_limit_makes_rings_smaller)
RT_SKIPPED(a_child_has_a_ring_of_its_own)
RT_SKIPPED(long_pauses_keep_the_time)
#define scratch_enter NULL
#define leave         NULL
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_ring_keeps_the_last_calls, scratch_enter, leave),
        cmocka_unit_test_setup_teardown(a_ring_that_is_not_full_lacks_nothing, scratch_enter, leave),
        cmocka_unit_test_setup_teardown(what_was_overwritten_is_known_after_a_kill, scratch_enter, leave),
        cmocka_unit_test_setup_teardown(all_kinds_of_events_are_counted, scratch_enter, leave),
        cmocka_unit_test_setup_teardown(threads_that_ended_keep_their_calls, scratch_enter, leave),
        cmocka_unit_test_setup_teardown(who_ended_first_is_overwritten_first, scratch_enter, leave),
        cmocka_unit_test_setup_teardown(many_short_threads_lose_nothing, scratch_enter, leave),
        cmocka_unit_test_setup_teardown(a_limit_makes_rings_smaller, scratch_enter, leave),
        cmocka_unit_test_setup_teardown(a_child_has_a_ring_of_its_own, scratch_enter, leave),
        cmocka_unit_test_setup_teardown(long_pauses_keep_the_time, scratch_enter, leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
