/* Rings of the mode "fdr", and its running time: children record, and the library reads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rt_host.h"

#if RT_HERE
#include "rt/rt_clock.h"
#include "rt/rt_lane.h"
#include "rt_record_fixture.h"
#include "traceloom/rt.h"

/* ---- calls that tell which they are ---- */

enum { SLOT = 16 << 10, SLOTS = 4, PREAMBLE = 80, PADDED = 48 }; /* of ring=64K */
enum {
    CALLS_OF_SLOT = (SLOT - PREAMBLE - PADDED) / 16,
    MANY = 20 * CALLS_OF_SLOT,
    MOVES = 100
}; /* MOVES: calls that those to other processors take the room of */

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

/* Which call is the first that was kept: all from there on are, in order. *kept: how many events. */
static uint64_t first_kept(const char *path, uint64_t last, uint64_t *kept)
{
    tl_source *s = open_trace(path, false);
    const tl_batch *b;
    tl_error e;
    uint64_t first = 0, next = 0;
    int status;
    *kept = 0;
    while ((status = tl_source_next(s, &b, &e)) > 0)
        for (uint32_t i = 0; i < b->n; i++) {
            const uint64_t at = 2 * b->key[i] + (tl_trace_class(tl_source_trace(s), b->cls[i])->kind == TL_EXIT);
            first = *kept ? first : b->key[i];
            if (*kept)
                assert_int_equal(at, next);
            next = at + 1;
            ++*kept;
        }
    assert_int_equal(status, 0);
    assert_int_equal(next, 2 * last + 2);
    is_sound(s);
    tl_source_close(s);
    return first;
}

static void a_ring_keeps_the_last_calls(void **state)
{
    (void)state;
    assert_int_equal(record("mode=fdr:out=t.xray:control=off:ring=64K", call_many), 0);
    uint64_t kept, first = first_kept("t.xray", MANY, &kept);
    assert_true(MANY - first < SLOTS * CALLS_OF_SLOT);
    assert_true(MANY - first >= (SLOTS - 1) * CALLS_OF_SLOT - MOVES);
}

/* ---- the running time ---- */

/* An event says what time it is. */
static void tell(void)
{
    TL_RT_INSTANT_F("tell", TL_RT_FIELD(u64, "now", rt_now()));
}

/* As if nothing had happened for so long: the time of the last record goes back. What is told next must not rest on it,
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

/* Each event is later than the time it tells, and earlier than that which the next one tells. */
static void long_pauses_keep_the_time(void **state)
{
    (void)state;
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
RT_SKIPPED(long_pauses_keep_the_time)
#define scratch_enter NULL
#define leave         NULL
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_ring_keeps_the_last_calls, scratch_enter, leave),
        cmocka_unit_test_setup_teardown(long_pauses_keep_the_time, scratch_enter, leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
