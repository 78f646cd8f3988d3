/* A signal handler leaves the recorder for good after each of its instructions in turn: what is recorded afterwards is
 * right, and the file is sound. */
#include "check.h"
#include "rt_host.h"

#if RT_HERE && defined(__x86_64__)
#include <setjmp.h>
#include <signal.h>
#include <sys/ptrace.h>

#include "model/trace_impl.h"
#include "rt_record_fixture.h"
#include "traceloom/rt.h"

enum { FUNCTION = 7, PLACE = 0x1000, CALLS = 3, LONGEST = 20000 /* instructions of an event */ };

/* ---- in the process that records ---- */

static sigjmp_buf back;
static volatile sig_atomic_t armed;
static bool exits; /* it is an exit that is left; otherwise an entry */

static void leave_event(int number)
{
    (void)number;
    if (armed) {
        armed = 0;
        siglongjmp(back, 1);
    }
}

static void call(uint32_t id)
{
    tl_rt_handlers.enter(id, PLACE, 0);
    tl_rt_handlers.exit(id, PLACE, 0);
}

/* The tracer counts instructions from the trap on. Did the handler leave? */
static bool is_left(uint32_t id)
{
    if (exits) {
        call(id); /* a profile adds it when the next one ends */
        tl_rt_handlers.enter(id, PLACE, 0);
    }
    if (sigsetjmp(back, 1))
        return true;
    armed = 1;
    __asm__ volatile("int3");
    if (exits)
        tl_rt_handlers.exit(id, PLACE, 0);
    else
        tl_rt_handlers.enter(id, PLACE, 0);
    const bool left = !armed;
    armed = 0;
    return left;
}

/* A function for each instruction: the recorder knows nothing about it yet. */
static void leave_each(void)
{
    uint32_t id = FUNCTION;
    bool left;
    signal(SIGALRM, leave_event);
    do {
        left = is_left(++id);
        for (int i = 0; i < CALLS; i++)
            call(id);
    } while (left);
}

static void record_in_steps(const char *settings)
{
    setenv("TRACELOOM", settings, 1);
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
        _exit(3);
    tl_rt_begin();
    leave_each();
    tl_rt_finish();
    _exit(0);
}

/* ---- in the tracer ---- */

/* The tracee's next stop, by a signal; 0: it has ended well. */
static int next_stop(pid_t pid)
{
    int status = -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (!WIFSTOPPED(status))
        assert_int_equal(status, 0);
    return WIFSTOPPED(status) ? WSTOPSIG(status) : 0;
}

static void go_on(enum __ptrace_request how, pid_t pid, int signal)
{
    assert_int_equal(ptrace(how, pid, NULL, (void *)(intptr_t)signal), 0);
}

/* The instructions that were left. */
static uint32_t leave_after_each(const char *settings)
{
    const char *preloaded = getenv("LD_PRELOAD");
    if (preloaded && strstr(preloaded, "valgrind"))
        skip_because("valgrind has no single steps");
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0)
        record_in_steps(settings);
    uint32_t events = 0;
    for (int stop; (stop = next_stop(pid)) != 0;) {
        if (stop != SIGTRAP) {
            go_on(PTRACE_CONT, pid, stop);
            continue;
        }
        for (uint32_t i = 0; i < events && stop == SIGTRAP; i++) {
            go_on(PTRACE_SINGLESTEP, pid, 0);
            stop = next_stop(pid);
        }
        events++;
        assert_in_range(events, 1, LONGEST);
        assert_int_equal(stop, SIGTRAP);
        go_on(PTRACE_CONT, pid, SIGALRM);
    }
    return events;
}

/* All calls are there, but for the one that was left: that has at most an open entry. */
static void check_calls(const char *path, uint32_t events)
{
    tl_source *s = open_trace(path, false);
    tl_profile *p;
    tl_error e;
    must(tl_profile_from_source(&p, s, &(tl_profile_options){.flat = true, .threads = 1}, &e), &e);
    is_sound(s);
    assert_in_range(tl_source_trace(s)->lost_events, 1, events);
    assert_int_equal(tl_profile_functions(p), events);
    for (uint32_t i = 0; i < events; i++) {
        tl_stat stat;
        tl_profile_function_stat(p, i, &stat);
        const uint32_t id = (uint32_t)tl_profile_get_function(p, i)->id;
        assert_in_range(id, FUNCTION + 1, FUNCTION + events);
        if (exits)
            assert_in_range(stat.calls, CALLS + 1, CALLS + 2);
        else
            assert_int_equal(stat.calls, CALLS);
    }
    tl_profile_free(p);
    tl_source_close(s);
}

static void check_mode(const char *settings, const char *path, bool of_exits)
{
    exits = of_exits;
    check_calls(path, leave_after_each(settings));
}

static void entries_of_profiles_may_be_left_anywhere(void **state)
{
    check_mode("mode=profile:out=t.tlp:control=off", "t.tlp", false);
}

static void exits_of_profiles_may_be_left_anywhere(void **state)
{
    check_mode("mode=profile:out=t.tlp:control=off", "t.tlp", true);
}

static void entries_of_fdr_may_be_left_anywhere(void **state)
{
    check_mode("mode=fdr:out=t.xray:control=off", "t.xray", false);
}

static void exits_of_fdr_may_be_left_anywhere(void **state)
{
    check_mode("mode=fdr:out=t.xray:control=off", "t.xray", true);
}

static void entries_of_ctf_may_be_left_anywhere(void **state)
{
    check_mode("mode=ctf:out=t.ctf:control=off", "t.ctf", false);
}

static void exits_of_ctf_may_be_left_anywhere(void **state)
{
    check_mode("mode=ctf:out=t.ctf:control=off", "t.ctf", true);
}
#else
#define NO_STEPS(name) RT_SKIPPED_BECAUSE(name, "only x86-64 is stepped through")
NO_STEPS(entries_of_profiles_may_be_left_anywhere)
NO_STEPS(exits_of_profiles_may_be_left_anywhere)
NO_STEPS(entries_of_fdr_may_be_left_anywhere)
NO_STEPS(exits_of_fdr_may_be_left_anywhere)
NO_STEPS(entries_of_ctf_may_be_left_anywhere)
NO_STEPS(exits_of_ctf_may_be_left_anywhere)
#define scratch_enter  NULL
#define leave          NULL
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(entries_of_profiles_may_be_left_anywhere, scratch_enter, leave),
        cmocka_unit_test_setup_teardown(exits_of_profiles_may_be_left_anywhere, scratch_enter, leave),
        cmocka_unit_test_setup_teardown(entries_of_fdr_may_be_left_anywhere, scratch_enter, leave),
        cmocka_unit_test_setup_teardown(exits_of_fdr_may_be_left_anywhere, scratch_enter, leave),
        cmocka_unit_test_setup_teardown(entries_of_ctf_may_be_left_anywhere, scratch_enter, leave),
        cmocka_unit_test_setup_teardown(exits_of_ctf_may_be_left_anywhere, scratch_enter, leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
