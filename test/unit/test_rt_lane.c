/* What the recorder knows of the threads that record: where they run, and what they lost. Children record. */
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
#include <sched.h>
#include <sys/resource.h>

#include "rt/rt_lane.h"
#include "rt_record_fixture.h"
#include "skip.h"
#include "traceloom/rt.h"

/* ---- processors ---- */

extern const unsigned int __rseq_size __attribute__((weak));

/* The n-th processor that this process may use; -1: there are not so many. */
static int processor(int n)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set))
        return -1;
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET((size_t)i, &set) && n-- == 0)
            return i;
    return -1;
}

static void move_to(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set))
        _exit(3);
}

enum { MOVES = 6 };

/* Call k on the first processor or on the second, in turns. */
static void call_on_two(void)
{
    const int cpu[2] = {processor(0), processor(1)};
    for (uint32_t k = 0; k < MOVES; k++) {
        move_to(cpu[k % 2]);
        tl_rt_handlers.enter(1 + k, 0x1000, 0);
        tl_rt_handlers.exit(1 + k, 0x1000, 0);
    }
}

static void events_say_where_they_ran(void **state)
{
    (void)state;
    if (!&__rseq_size || __rseq_size == 0)
        skip_because("libc does not say where the kernel keeps the number of the processor");
    if (processor(1) < 0)
        skip_because("this needs two processors");
    assert_int_equal(record("mode=fdr:out=t.xray:control=off", call_on_two), 0);
    const tl_open_options options = {.no_names = true, .want = {.cpu = true}};
    tl_source *s;
    tl_error e;
    const tl_batch *b;
    unsigned events = 0;
    assert_int_equal(tl_source_open(&s, "t.xray", &options, &e), 0);
    while (tl_source_next(s, &b, &e) > 0)
        for (uint32_t i = 0; i < b->n; i++)
            if (b->key[i] >= 1 && b->key[i] <= MOVES) {
                assert_int_equal(b->cpu[i], processor((int)(b->key[i] - 1) % 2));
                events++;
            }
    assert_int_equal(events, 2 * MOVES);
    tl_source_close(s);
}

/* ---- losses ---- */

enum { MANY = 200000 };

static void lose_some(bool of_memory)
{
    rt_losses lost;
    for (int i = 0; i < MANY; i++)
        TL_RT_INSTANT("i");
    tl_rt_losses(&lost);
    if (of_memory ? lost.disk || !lost.memory : lost.memory || !lost.disk)
        _exit(3);
    if (lost.late || lost.depth || lost.places || lost.exits || lost.threads)
        _exit(4);
}

static void reach_the_limit(void)
{
    lose_some(true);
}

static void reach_the_size_of_files(void)
{
    const struct rlimit most = {1 << 18, 1 << 18};
    if (setrlimit(RLIMIT_FSIZE, &most))
        _exit(5);
    lose_some(false);
}

/* A first packet is a page, which is just what a file may have. */
static void fill_a_file(void)
{
    const struct rlimit page = {(rlim_t)sysconf(_SC_PAGESIZE), (rlim_t)sysconf(_SC_PAGESIZE)};
    rt_losses lost;
    if (setrlimit(RLIMIT_FSIZE, &page))
        _exit(3);
    tl_rt_handlers.enter(1, 0x1000, 0);
    tl_rt_handlers.exit(1, 0x1000, 0);
    tl_rt_losses(&lost);
    if (lost.disk)
        _exit(4);
    for (int i = 0; i < MANY; i++) {
        tl_rt_handlers.enter(1, 0x1000, 0);
        tl_rt_handlers.exit(1, 0x1000, 0);
    }
    tl_rt_losses(&lost);
    if (!lost.disk)
        _exit(5);
}

static void a_file_may_be_as_large_as_the_limit(void **state)
{
    (void)state;
    assert_int_equal(record("mode=ctf:out=t.ctf:control=off", fill_a_file), 0);
}

static void losses_have_their_reason(void **state)
{
    (void)state;
    assert_int_equal(record("mode=ctf:out=t.ctf:control=off:limit=256K", reach_the_limit), 0);
    remove_folder("t.ctf");
    assert_int_equal(record("mode=ctf:out=t.ctf:control=off", reach_the_size_of_files), 0);
    assert_int_equal(record("mode=fdr:out=t.xray:control=off:limit=256K", reach_the_limit), 0);
    unlink("t.xray");
    assert_int_equal(record("mode=fdr:out=t.xray:control=off", reach_the_size_of_files), 0);
}

#else
RT_SKIPPED(events_say_where_they_ran)
RT_SKIPPED(a_file_may_be_as_large_as_the_limit)
RT_SKIPPED(losses_have_their_reason)
#define scratch_enter NULL
#define leave         NULL
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(events_say_where_they_ran, scratch_enter, leave),
        cmocka_unit_test_setup_teardown(a_file_may_be_as_large_as_the_limit, scratch_enter, leave),
        cmocka_unit_test_setup_teardown(losses_have_their_reason, scratch_enter, leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
