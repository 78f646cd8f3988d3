/* The recorder's locks while the program ends: a holder may be interrupted for ever, or still at work. */
#include "check.h"
#include "rt_host.h"

#if RT_HERE
#include <pthread.h>
#include <unistd.h>

#include "rt/rt_sys.h"

static rt_lock lock;
static volatile uint32_t taken, given;

static void *work(void *unused)
{
    (void)unused;
    rt_lock_take(&lock);
    __atomic_store_n(&taken, 1, __ATOMIC_SEQ_CST);
    usleep(1500000); /* longer than a hundred thousand attempts take */
    __atomic_store_n(&given, 1, __ATOMIC_SEQ_CST);
    rt_lock_give(&lock);
    return NULL;
}

static void test_waits_for_other_threads(void **state)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, work, NULL), 0);
    while (!__atomic_load_n(&taken, __ATOMIC_SEQ_CST))
        usleep(1000);
    tl_rt_ending = 1;
    assert_true(rt_lock_take(&lock));
    assert_int_equal(__atomic_load_n(&given, __ATOMIC_SEQ_CST), 1);
    rt_lock_give(&lock);
    pthread_join(thread, NULL);
    tl_rt_ending = 0;
}

static void test_not_for_what_was_interrupted(void **state)
{
    assert_true(rt_lock_take(&lock));
    tl_rt_ending = 1;
    assert_false(rt_lock_take(&lock)); /* in a signal handler that called exit() */
    tl_rt_ending = 0;
    rt_lock_give(&lock);
    assert_true(rt_lock_take(&lock));
    rt_lock_give(&lock);
}
#else
RT_SKIPPED(test_waits_for_other_threads)
RT_SKIPPED(test_not_for_what_was_interrupted)
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_waits_for_other_threads),
        cmocka_unit_test(test_not_for_what_was_interrupted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
