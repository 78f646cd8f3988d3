/* What commands see of a recording, and the effects of stopping it: children record. */
#include "check.h"
#include "rt_host.h"

#if RT_HERE
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <time.h>

#include "rt/control/rt_command.h"
#include "rt/rt_record.h"
#include "rt_record_fixture.h"
#include "traceloom/rt.h"

void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);

/* ---- status ---- */

/* Places in this program, used as functions. */
static char code[3];

static void call_functions(void)
{
    for (size_t turn = 0; turn < 2; turn++)
        for (size_t i = 0; i < sizeof code; i++) {
            __cyg_profile_func_enter(&code[i], NULL);
            __cyg_profile_func_exit(&code[i], NULL);
        }
}

static void check_status(uint32_t modes)
{
    rt_status s;
    memset(&s, 0xff, sizeof s);
    tl_rt_command_status(&s);
    if (s.state != RT_ON || s.modes != modes || s.functions || s.known || s.lanes || s.lost || !s.since)
        _exit(3);
    call_functions();
    const uint64_t since = s.since;
    memset(&s, 0xff, sizeof s);
    tl_rt_command_status(&s);
    if (s.functions != sizeof code || s.known != sizeof code || s.lanes != 1 || s.lost || s.since != since)
        _exit(4);
    if (s.bytes < 4096 || s.bytes > UINT64_C(1) << 31)
        _exit(5);
    tl_rt_record_stop();
    tl_rt_command_status(&s);
    if (s.state != RT_WAITING || s.known != sizeof code || s.since != since || s.bytes < 4096)
        _exit(6);
}

static void check_fdr(void)
{
    check_status(RT_MODE_FDR);
}

static void check_profile(void)
{
    check_status(RT_MODE_PROFILE);
}

static void check_ctf(void)
{
    check_status(RT_MODE_CTF);
}

static void status_counts_what_was_met(void **state)
{
    assert_int_equal(record("mode=fdr:out=t.xray:control=off", check_fdr), 0);
    assert_int_equal(record("mode=profile:out=t.tlp:control=off", check_profile), 0);
    assert_int_equal(record("mode=ctf:out=t.ctf:control=off", check_ctf), 0);
}

/* ---- waiting for commands ---- */

/* Do all threads but this one wait for something? */
static bool others_sleep(void)
{
    bool sleep = true;
    DIR *d = opendir("/proc/self/task");
    for (struct dirent *entry; d && (entry = readdir(d));) {
        char path[300], line[400] = "";
        snprintf(path, sizeof path, "/proc/self/task/%s/stat", entry->d_name);
        FILE *f = atoi(entry->d_name) > 0 && atoi(entry->d_name) != getpid() ? fopen(path, "r") : NULL;
        if (!f)
            continue;
        const char *end = fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
        sleep = sleep && end && end[2] == 'S';
        fclose(f);
    }
    closedir(d);
    return sleep;
}

/* The recorder's thread may still be busy in the first moments. */
static void see_it_sleep(void)
{
    enum { LOOKS = 1000 };
    const struct timespec moment = {0, 1000000};
    int looks = 0;
    while (looks++ < LOOKS && !others_sleep())
        nanosleep(&moment, NULL);
    if (looks > LOOKS)
        _exit(3);
}

static void waiting_takes_no_processor(void **state)
{
    assert_int_equal(record("mode=fdr:out=t.xray", see_it_sleep), 0);
    unlink("t.xray");
    assert_int_equal(record("mode=fdr:out=t.xray:start=off", see_it_sleep), 0);
}

/* ---- descriptors ---- */

/* With closed standard files: the program's next files get their numbers, not the recorder's. */
static int open_standard_files(const char *settings)
{
    for (int fd = 0; fd < 3; fd++)
        close(fd);
    setenv("TRACELOOM", settings, 1);
    tl_rt_begin();
    for (int fd = 0; fd < 3; fd++)
        if (open("/dev/null", O_RDWR) != fd)
            return 3;
    call_functions();
    tl_rt_finish();
    return 0;
}

static void the_recorder_takes_no_standard_files(void **state)
{
    static const char *const settings[] = {"mode=fdr:out=t.xray", "mode=profile:out=t.tlp", "mode=ctf:out=t.ctf"};
    for (size_t i = 0; i < 3; i++) {
        int status = -1;
        const pid_t pid = fork();
        if (pid == 0)
            _exit(open_standard_files(settings[i]));
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
    }
}

/* ---- flush ---- */

/* No thread may be inside an event while lanes are visited: each has to ask again whether it may record. */
static void flush_twice(void)
{
    call_functions();
    for (int i = 0; i < 2; i++) {
        const uint32_t before = tl_rt.epoch;
        if (tl_rt_record_flush() != 0 || tl_rt.epoch == before || tl_rt.state != RT_ON)
            _exit(3);
        call_functions();
    }
}

static void flush_waits_for_threads(void **state)
{
    assert_int_equal(record("mode=fdr:out=t.xray:control=off", flush_twice), 0);
    unlink("t.xray");
    assert_int_equal(record("mode=fdr:out=t.xray:control=off:ring=64K", flush_twice), 0);
    assert_int_equal(record("mode=profile:out=t.tlp:control=off", flush_twice), 0);
}

/* ---- stopped ---- */

static void handlers_that_are_off_do_nothing(void **state)
{
    static const unsigned modes[] = {RT_MODE_FDR, RT_MODE_PROFILE, RT_MODE_FDR | RT_MODE_PROFILE, RT_MODE_CTF};
    const rt_handlers *off = tl_rt_record_handlers(false, RT_MODE_FDR, false);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        for (int threshold = 0; threshold < 2; threshold++) {
            assert_ptr_equal(tl_rt_record_handlers(false, modes[i], threshold != 0), off);
            assert_ptr_not_equal(tl_rt_record_handlers(true, modes[i], threshold != 0), off);
        }
    assert_ptr_not_equal(tl_rt_record_handlers(true, RT_MODE_FDR, true),
                         tl_rt_record_handlers(true, RT_MODE_FDR, false));
    off->enter(1, 0x1000, 0); /* nothing was begun: any action would crash */
    off->argument(1, 0x1000, 0, 7);
    off->exit(1, 0x1000, 0);
    off->tail(1, 0x1000, 0);
    off->custom("x", 1);
    off->typed(1, "x", 1);
}

/* ---- threads that are gone ---- */

enum { STACK = 1 << 20 };

static void *leave_calls_open(void *arg)
{
    tl_rt_handlers.enter(1, 0x2000, 0);
    tl_rt_handlers.enter(2, 0x1000, 0);
    return arg;
}

/* When recording stops, the thread's stack, with all that libc and the kernel keep there, is unmapped. */
static void stop_without_the_thread(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    void *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_attr_init(&attributes);
    if (stack == MAP_FAILED || pthread_attr_setstack(&attributes, stack, STACK) ||
        pthread_create(&thread, &attributes, leave_calls_open, NULL) || pthread_join(thread, NULL))
        _exit(3);
    munmap(stack, STACK);
    tl_rt_record_stop();
}

static void calls_of_a_thread_that_is_gone_end_with_the_recording(void **state)
{
    uint64_t unmatched;
    static const char *const mode[] = {"fdr", "ctf", "profile"}, *const file[] = {"t.xray", "t.ctf", "t.tlp"};
    for (size_t i = 0; i < 3; i++) {
        char settings[100];
        snprintf(settings, sizeof settings, "mode=%s:out=%s:control=off", mode[i], file[i]);
        assert_int_equal(record(settings, stop_without_the_thread), 0);
        if (i < 2) {
            calls(file[i], "", &unmatched);
            assert_int_equal(unmatched, 0);
        }
    }
}

#else
RT_SKIPPED(status_counts_what_was_met)
RT_SKIPPED(waiting_takes_no_processor)
RT_SKIPPED(the_recorder_takes_no_standard_files)
RT_SKIPPED(flush_waits_for_threads)
RT_SKIPPED(handlers_that_are_off_do_nothing)
RT_SKIPPED(calls_of_a_thread_that_is_gone_end_with_the_recording)
#define scratch_enter NULL
#define leave         NULL
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(status_counts_what_was_met, scratch_enter, leave),
        cmocka_unit_test_setup_teardown(waiting_takes_no_processor, scratch_enter, leave),
        cmocka_unit_test_setup_teardown(the_recorder_takes_no_standard_files, scratch_enter, leave),
        cmocka_unit_test_setup_teardown(flush_waits_for_threads, scratch_enter, leave),
        cmocka_unit_test_setup_teardown(handlers_that_are_off_do_nothing, scratch_enter, leave),
        cmocka_unit_test_setup_teardown(calls_of_a_thread_that_is_gone_end_with_the_recording, scratch_enter, leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
