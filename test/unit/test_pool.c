/* Tests of base/pool.h. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "base/pool.h"
#include "check.h"

enum { N = 5000 };

typedef struct shared {
    unsigned threads;
    uint32_t calls[N];
    uint64_t result[N];
    uint32_t disorder; /* a worker got a lower number than before */
    uint32_t last[64];
    bool bad_worker;
    uint32_t fail_from;
    pthread_t caller;
    bool worker_0_elsewhere;
    bool signal_open;
} shared;

static void wait_a_little(uint32_t i)
{
    struct timespec t = {.tv_nsec = (long)(i * 7919 % 20000)};
    nanosleep(&t, NULL);
}

static int task(void *arg, unsigned worker, uint32_t i)
{
    shared *s = arg;
    if (worker >= s->threads)
        __atomic_store_n(&s->bad_worker, true, __ATOMIC_RELAXED);
    else if (s->last[worker] > i)
        __atomic_add_fetch(&s->disorder, 1, __ATOMIC_RELAXED);
    else
        s->last[worker] = i;
    if ((worker == 0) != (pthread_equal(pthread_self(), s->caller) != 0))
        __atomic_store_n(&s->worker_0_elsewhere, true, __ATOMIC_RELAXED);
    __atomic_add_fetch(&s->calls[i], 1, __ATOMIC_RELAXED);
    s->result[i] = (uint64_t)i * i;
    if (i % 64 == 0)
        wait_a_little(i);
    return i >= s->fail_from ? -(int)i - 1 : (int)(i % 3);
}

static shared *shared_new(unsigned threads)
{
    shared *s = calloc(1, sizeof *s);
    s->threads = threads;
    s->fail_from = UINT32_MAX;
    s->caller = pthread_self();
    return s;
}

static void test_processors(void **state)
{
    assert_true(tl_processors() >= 1);
    assert_true(tl_processors() < 100000);
}

static void test_each_once_in_ascending_order(void **state)
{
    static const unsigned threads[] = {1, 2, 3, 8, 64};
    for (size_t k = 0; k < sizeof threads / sizeof *threads; k++) {
        shared *s = shared_new(threads[k]);
        assert_int_equal(tl_parallel(threads[k], N, task, s), 0);
        for (uint32_t i = 0; i < N; i++) {
            assert_int_equal(s->calls[i], 1);
            assert_int_equal(s->result[i], (uint64_t)i * i);
        }
        assert_false(s->bad_worker);
        assert_false(s->worker_0_elsewhere);
        assert_int_equal(s->disorder, 0);
        free(s);
    }
}

static void test_none_and_few(void **state)
{
    shared *s = shared_new(4);
    assert_int_equal(tl_parallel(4, 0, task, s), 0);
    assert_int_equal(s->calls[0], 0);
    assert_int_equal(tl_parallel(4, 1, task, s), 0);
    assert_int_equal(s->calls[0], 1);
    assert_int_equal(s->calls[1], 0);
    free(s);
    /* No threads at all still means the calling one. */
    s = shared_new(1);
    assert_int_equal(tl_parallel(0, 3, task, s), 0);
    assert_int_equal(s->calls[2], 1);
    free(s);
}

static atomic_uint highest;

static int note_worker(void *arg, unsigned worker, uint32_t i)
{
    (void)arg;
    (void)i;
    unsigned before = atomic_load(&highest);
    while (worker > before && !atomic_compare_exchange_weak(&highest, &before, worker))
        continue;
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL); /* otherwise a few would do everything */
    return 0;
}

static void test_threads_have_a_limit(void **state)
{
    atomic_store(&highest, 0);
    assert_int_equal(tl_parallel(UINT32_MAX, 4000, note_worker, NULL), 0);
    assert_in_range(atomic_load(&highest), 1, 1023);
}

/* Whatever the threads' timing, the failure of the lowest number wins, all below it were done, and it ends soon. */
static void test_lowest_failure_is_returned(void **state)
{
    for (unsigned round = 0; round < rounds(200); round++) {
        unsigned threads = 1 + round % 8;
        shared *s = shared_new(threads);
        s->fail_from = round * 7 % 1000;
        assert_int_equal(tl_parallel(threads, N, task, s), -(int)s->fail_from - 1);
        uint32_t beyond = 0;
        for (uint32_t i = 0; i < N; i++)
            if (i <= s->fail_from)
                assert_int_equal(s->calls[i], 1);
            else
                beyond += s->calls[i];
        assert_true(beyond < threads);
        free(s);
    }
}

static int look_at_signals(void *arg, unsigned worker, uint32_t i)
{
    shared *s = arg;
    sigset_t blocked;
    (void)i;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    if (worker != 0 && !sigismember(&blocked, SIGINT))
        __atomic_store_n(&s->signal_open, true, __ATOMIC_RELAXED);
    wait_a_little(19999);
    return 0;
}

static void test_signals_stay_with_the_caller(void **state)
{
    shared *s = shared_new(4);
    sigset_t before, after;
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    assert_int_equal(tl_parallel(4, 100, look_at_signals, s), 0);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    assert_false(s->signal_open);
    assert_int_equal(sigismember(&before, SIGINT), sigismember(&after, SIGINT));
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_processors),
        cmocka_unit_test(test_each_once_in_ascending_order),
        cmocka_unit_test(test_none_and_few),
        cmocka_unit_test(test_threads_have_a_limit),
        cmocka_unit_test(test_lowest_failure_is_returned),
        cmocka_unit_test(test_signals_stay_with_the_caller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
