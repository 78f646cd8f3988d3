/* The recorder's knowledge of recording threads: where they run, and what they lost. Children record. */
#include "check.h"
#include "rt_host.h"

#if RT_HERE
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "rt/mode/rt_ctf_stream.h"
#include "rt/rt_clock.h"
#include "rt/rt_lane.h"
#include "rt/rt_record.h"
#include "rt/rt_store.h"
#include "rt_record_fixture.h"
#include "traceloom/rt.h"

/* ---- processors ---- */

extern const unsigned int __rseq_size __attribute__((weak));

/* The n-th processor that this process may use; -1: there are fewer. */
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

/* Call k on the first processor or the second, in turn. */
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

/* ---- names ---- */

static void call_itself_x(void)
{
    prctl(PR_SET_NAME, "x");
    TL_RT_INSTANT("i");
}

static void call_itself_nothing(void)
{
    prctl(PR_SET_NAME, "");
    TL_RT_INSTANT("i");
}

/* How often a file contains a text. */
static unsigned found_in(const char *path, const char *text)
{
    static char bytes[1 << 16];
    unsigned n = 0;
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    const size_t size = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    for (size_t i = 0; i + strlen(text) <= size; i++)
        n += memcmp(bytes + i, text, strlen(text)) == 0;
    return n;
}

static void threads_without_a_name_are_not_named(void **state)
{
    assert_int_equal(record("mode=fdr:out=t.xray:control=off", call_itself_x), 0);
    assert_int_equal(found_in("t.xray", "thread tid="), 1);
    assert_int_equal(found_in("t.xray", " name=x\n"), 1);
    unlink("t.xray");
    assert_int_equal(record("mode=fdr:out=t.xray:control=off", call_itself_nothing), 0);
    assert_int_equal(found_in("t.xray", "thread tid="), 0);
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

/* A first packet is a page, exactly the limit of the file. */
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
    assert_int_equal(record("mode=ctf:out=t.ctf:control=off", fill_a_file), 0);
}

static void losses_have_their_reason(void **state)
{
    assert_int_equal(record("mode=ctf:out=t.ctf:control=off:limit=256K", reach_the_limit), 0);
    remove_folder("t.ctf");
    assert_int_equal(record("mode=ctf:out=t.ctf:control=off", reach_the_size_of_files), 0);
    assert_int_equal(record("mode=fdr:out=t.xray:control=off:limit=256K", reach_the_limit), 0);
    unlink("t.xray");
    assert_int_equal(record("mode=fdr:out=t.xray:control=off", reach_the_size_of_files), 0);
}

/* ---- stopped in the middle of an event ---- */

static void *stop_recording(void *arg)
{
    tl_rt_record_stop();
    return arg;
}

/* Events that signal handlers put aside meanwhile are lost. */
static void be_stopped(void)
{
    enum { ASIDE = 2 };
    pthread_t thread;
    rt_losses lost;
    rt_lane *l = tl_rt_record_take(0x1000);
    const uint32_t epoch = l->epoch;
    if (pthread_create(&thread, NULL, stop_recording, NULL))
        _exit(3);
    while (__atomic_load_n(&tl_rt.epoch, __ATOMIC_ACQUIRE) == epoch ||
           __atomic_load_n(&tl_rt.state, __ATOMIC_ACQUIRE) == RT_ON)
        sched_yield();
    l->nlate = ASIDE;
    tl_rt_record_give(l);
    pthread_join(thread, NULL);
    tl_rt_losses(&lost);
    if (lost.late != ASIDE || l->nlate || l->busy)
        _exit(4);
}

static void events_aside_are_lost_when_recording_stops(void **state)
{
    assert_int_equal(record("mode=fdr:out=t.xray:control=off", be_stopped), 0);
    assert_int_equal(lost_events("t.xray"), 2);
}

/* ---- given up before the entry is written ---- */

static void give_an_entry_up(void)
{
    tl_rt_handlers.enter(1, 0x3000, 0);
    rt_lane *l = tl_rt_record_take(0x1000);
    rt_frame *f = l->top + 1;
    *f = (rt_frame){.sp = 0x2000, .begin = rt_now() + 1000, .function = 2};
    l->top = f; /* and a signal handler leaves with longjmp: the lane stays busy */
    tl_rt_handlers.exit(1, 0x3000, 0);
    if (l->top != l->frame || l->busy)
        _exit(3);
}

static void an_entry_that_is_given_up_is_no_call(void **state)
{
    uint64_t unmatched;
    assert_int_equal(record("mode=fdr:out=t.xray:control=off", give_an_entry_up), 0);
    calls("t.xray", "", &unmatched);
    assert_int_equal(unmatched, 0);
    assert_int_equal(lost_events("t.xray"), 1);
}

/* ---- no memory for a stream ---- */

enum { LANE_FRAMES = 1024, CALLS = 5 };
static volatile uint32_t turn; /* 1: the thread is there; 2: it calls; 3: it has called */

static void wait_for(uint32_t which)
{
    while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != which)
        sched_yield();
}

static void *call_some(void *arg)
{
    __atomic_store_n(&turn, 1, __ATOMIC_RELEASE);
    wait_for(2);
    for (uint32_t i = 0; i < CALLS; i++) {
        tl_rt_handlers.enter(1, 0x1000, 0);
        tl_rt_handlers.exit(1, 0x1000, 0);
    }
    __atomic_store_n(&turn, 3, __ATOMIC_RELEASE);
    return arg;
}

enum { UNLIMITED = 77 }; /* status: RLIMIT_AS has no effect here */

/* The thread gets a lane, and then there is no memory. */
static void run_out_of_memory(void)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t pages = 0;
    pthread_t thread;
    struct rlimit before, most;
    TL_RT_INSTANT("first");
    if (pthread_create(&thread, NULL, call_some, NULL))
        _exit(3);
    wait_for(1);
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%" SCNu64, &pages) != 1)
        _exit(4);
    fclose(f);
    pages += (sizeof(rt_lane) + page - 1) / page + (LANE_FRAMES * sizeof(rt_frame) + page - 1) / page;
    getrlimit(RLIMIT_AS, &before);
    most = (struct rlimit){.rlim_cur = pages * page, .rlim_max = before.rlim_max};
    setrlimit(RLIMIT_AS, &most);
    void *lane = tl_rt_memory_take(sizeof(rt_lane)), *frames = tl_rt_memory_take(LANE_FRAMES * sizeof(rt_frame));
    if (!lane || !frames || tl_rt_memory_take(sizeof(rt_ctf_stream)))
        _exit(UNLIMITED);
    tl_rt_memory_give(lane, sizeof(rt_lane));
    tl_rt_memory_give(frames, LANE_FRAMES * sizeof(rt_frame));
    __atomic_store_n(&turn, 2, __ATOMIC_RELEASE);
    wait_for(3);
    setrlimit(RLIMIT_AS, &before);
    pthread_join(thread, NULL);
    rt_losses lost;
    tl_rt_losses(&lost);
    if (lost.memory != 2 * CALLS || lost.threads)
        _exit(5);
}

static void a_thread_without_memory_is_counted(void **state)
{
    const int status = record("mode=ctf:out=t.ctf:control=off", run_out_of_memory);
    if (WIFEXITED(status) && (WEXITSTATUS(status) == UNLIMITED || WEXITSTATUS(status) == 1))
        skip_because("RLIMIT_AS does not hold here, or valgrind ends itself over it");
    assert_int_equal(status, 0);
    assert_int_equal(lost_events("t.ctf"), 2 * CALLS);
}

#else
RT_SKIPPED(threads_without_a_name_are_not_named)
RT_SKIPPED(an_entry_that_is_given_up_is_no_call)
RT_SKIPPED(events_aside_are_lost_when_recording_stops)
RT_SKIPPED(a_thread_without_memory_is_counted)
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
        cmocka_unit_test_setup_teardown(threads_without_a_name_are_not_named, scratch_enter, leave),
        cmocka_unit_test_setup_teardown(an_entry_that_is_given_up_is_no_call, scratch_enter, leave),
        cmocka_unit_test_setup_teardown(a_file_may_be_as_large_as_the_limit, scratch_enter, leave),
        cmocka_unit_test_setup_teardown(losses_have_their_reason, scratch_enter, leave),
        cmocka_unit_test_setup_teardown(events_aside_are_lost_when_recording_stops, scratch_enter, leave),
        cmocka_unit_test_setup_teardown(a_thread_without_memory_is_counted, scratch_enter, leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
