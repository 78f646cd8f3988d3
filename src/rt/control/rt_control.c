/* Control from outside: the page, and the thread that waits for commands there. */
#include "rt/control/rt_control.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>

#include "rt/control/control_layout.h"
#include "rt/control/rt_command.h"
#include "rt/rt_clock.h"
#include "rt/rt_say.h"
#include "rt/rt_store.h"
#include "rt/rt_sys.h"

/* Tells `traceloom record`, before it runs a program, that the recorder is linked in. */
__attribute__((section(".note.traceloom"), used, aligned(4))) static const struct {
    uint32_t name_size, size, type;
    char name[12];
    uint32_t version;
} recorder_note = {10, 4, 1, "traceloom", 1};

enum {
    STACK_SIZE = 256 << 10,
    SECOND = 1000000000,       /* in ns */
    WATCH_NS = SECOND / 5,     /* interval of checks that other threads are still alive */
    LEAVE_NS = SECOND / 2 * 3, /* how long the end of the program waits for the thread */
    FOREVER = 0
};
static const uint64_t STOP_NS = UINT64_C(5) * SECOND; /* how long stopping all other threads may take */

static struct {
    char *page; /* NULL: there is none */
    int fd;
    ino_t inode;             /* of the page's file */
    volatile uint32_t leave; /* asks the thread to end */
    volatile uint32_t gone;  /* the thread has ended, or never began */
    volatile uint32_t tid;
    volatile uint32_t orphan; /* the program's first thread has ended on its own */
    pthread_key_t key;
    bool has_key;
} control = {.fd = -1, .gone = 1};

static volatile uint32_t *word(unsigned offset)
{
    return (volatile uint32_t *)(void *)(control.page + offset);
}

static void put_number(unsigned offset, uint64_t v)
{
    *(volatile uint64_t *)(void *)(control.page + offset) = v;
}

/* Waits until *w is no longer `value`, it is woken, or the time is over. */
static void wait_on(volatile uint32_t *w, uint32_t value, uint64_t ns)
{
    struct timespec t = {(time_t)(ns / SECOND), (long)(ns % SECOND)};
    RT_SYS6(SYS_futex, w, FUTEX_WAIT, value, ns ? &t : NULL, 0, 0);
}

static void wake(volatile uint32_t *w)
{
    RT_SYS6(SYS_futex, w, FUTEX_WAKE, INT32_MAX, 0, 0, 0);
}

void tl_rt_control_show(void)
{
    if (!control.page)
        return;
    rt_status s;
    tl_rt_command_status(&s);
    *word(CONTROL_STATE) = s.state;
    *word(CONTROL_MODES) = s.modes;
    *word(CONTROL_FUNCTIONS) = s.functions;
    *word(CONTROL_KNOWN) = s.known;
    *word(CONTROL_LANES) = s.lanes;
    put_number(CONTROL_BYTES, s.bytes);
    put_number(CONTROL_LOST, s.lost);
    put_number(CONTROL_SINCE, s.since);
    rt_copy(control.page + CONTROL_PATH, tl_rt.path, rt_length(tl_rt.path) + 1);
    wake(word(CONTROL_REQUEST)); /* a thread that sleeps without a limit needs one if recording began */
}

static void answer(uint32_t request)
{
    char command[CONTROL_COMMAND_SIZE];
    rt_line result;
    rt_copy(command, control.page + CONTROL_COMMAND, sizeof command);
    command[sizeof command - 1] = 0;
    rt_line_begin(&result);
    *word(CONTROL_STATUS) = (uint32_t)tl_rt_command(command, &result);
    tl_rt_control_show();
    rt_copy(control.page + CONTROL_RESULT, result.text, result.n + 1);
    __atomic_store_n(word(CONTROL_ANSWER), request, __ATOMIC_RELEASE);
    wake(word(CONTROL_ANSWER));
}

_Static_assert(sizeof((rt_line *)0)->text <= CONTROL_RESULT_SIZE, "a line fits");
_Static_assert((int)RT_PATH == (int)CONTROL_PATH_SIZE, "a path fits");

/* Is every other thread of the program gone? Its first one stays as a zombie, if it ended by itself. */
static bool is_last_thread(void)
{
    char text[4096];
    long fd = RT_SYS4(SYS_openat, AT_FDCWD, "/proc/self/status", O_RDONLY | O_CLOEXEC, 0);
    long n = fd < 0 ? fd : RT_SYS3(SYS_read, fd, text, sizeof text - 1);
    if (fd >= 0)
        RT_SYS1(SYS_close, fd);
    if (n <= 0)
        return false;
    text[n] = 0;
    return tl_rt_glob("*\nState:\tZ*\nThreads:\t[12]\n*", text);
}

static uint64_t patience(void)
{
    if (control.orphan)
        return WATCH_NS;
    return tl_rt.state == RT_ON ? SECOND : FOREVER;
}

static void *serve(void *unused)
{
    (void)unused;
    prctl(PR_SET_NAME, "traceloom");
    *word(CONTROL_THREAD) = control.tid = (uint32_t)RT_SYS0(SYS_gettid);
    uint32_t answered = __atomic_load_n(word(CONTROL_ANSWER), __ATOMIC_ACQUIRE);
    uint64_t shown = tl_rt_clock_slow();
    while (!control.leave && !(control.orphan && is_last_thread())) {
        uint32_t request = __atomic_load_n(word(CONTROL_REQUEST), __ATOMIC_ACQUIRE);
        if (request != answered) {
            answered = request;
            if (!control.leave)
                answer(request);
            continue;
        }
        wait_on(word(CONTROL_REQUEST), request, patience());
        if (tl_rt.state == RT_ON && tl_rt_clock_slow() - shown >= SECOND && !control.leave) {
            tl_rt_look_around();
            tl_rt_control_show();
            shown = tl_rt_clock_slow();
        }
    }
    control.gone = 1;
    wake(&control.gone);
    return NULL; /* after the last thread, libc ends the program */
}

static ino_t inode_of(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 ? st.st_ino : 0;
}

/* The page and the descriptor by which it is found. 0 or -errno. */
static int make_page(void)
{
    long fd = RT_SYS2(SYS_memfd_create, CONTROL_NAME, MFD_CLOEXEC);
    if (fd >= 0)
        fd = tl_rt_move_up((int)fd);
    if (fd < 0)
        return (int)fd;
    long status = CONTROL_SIZE > tl_rt_store_largest() ? -EFBIG : RT_SYS2(SYS_ftruncate, fd, CONTROL_SIZE);
    long page = status < 0 ? status : RT_SYS6(SYS_mmap, 0, CONTROL_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (RT_IS_ERROR(page)) {
        RT_SYS1(SYS_close, fd);
        return (int)page;
    }
    control.fd = (int)fd;
    control.page = (char *)page;
    control.inode = inode_of(control.fd);
    *word(CONTROL_PID) = (uint32_t)tl_rt.pid;
    return 0;
}

static void drop_page(void)
{
    char *page = control.page;
    control.page = NULL;
    if (!page)
        return;
    RT_SYS2(SYS_munmap, page, CONTROL_SIZE);
    if (inode_of(control.fd) == control.inode) /* otherwise the program closed it, and may have another file there */
        RT_SYS1(SYS_close, control.fd);
    control.fd = -1;
}

/* The program's first thread ends, and the program does not: the control thread now has to see the last one end. */
static void first_thread_ends(void *unused)
{
    (void)unused;
    control.orphan = 1;
    if (control.page)
        wake(word(CONTROL_REQUEST));
}

static int make_thread(void)
{
    sigset_t all, before;
    pthread_attr_t attr;
    pthread_t thread;
    if (!control.has_key)
        control.has_key = pthread_key_create(&control.key, first_thread_ends) == 0;
    bool watched =
        control.has_key && RT_SYS0(SYS_gettid) == tl_rt.pid && pthread_setspecific(control.key, &control) == 0;
    control.orphan = !watched;
    control.tid = 0;
    control.leave = control.gone = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attr, STACK_SIZE);
    int status = pthread_create(&thread, &attr, serve, NULL);
    if (status == EINVAL) { /* too small a stack for a program with much thread-local memory */
        pthread_attr_destroy(&attr);
        pthread_attr_init(&attr);
        pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
        status = pthread_create(&thread, &attr, serve, NULL);
    }
    pthread_attr_destroy(&attr);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (status)
        control.gone = 1;
    return -status;
}

int tl_rt_control_begin(void)
{
    drop_page(); /* in a child: the parent's page */
    int status = make_page();
    if (status < 0)
        return status;
    tl_rt_control_show();
    rt_copy(control.page + CONTROL_HEAD, CONTROL_MAGIC, 8); /* last: the page is now complete */
    status = make_thread();
    if (status < 0)
        drop_page();
    return status;
}

static bool set_world(uint32_t from, uint32_t to)
{
    bool done = __atomic_compare_exchange_n(word(CONTROL_WORLD), &from, to, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    if (done)
        wake(word(CONTROL_WORLD));
    return done;
}

static bool stopper_died(void)
{
    return __atomic_load_n(word(CONTROL_STOPPER), __ATOMIC_SEQ_CST) & FUTEX_OWNER_DIED;
}

bool tl_rt_world_is_stopped(void)
{
    return control.page && __atomic_load_n(word(CONTROL_WORLD), __ATOMIC_SEQ_CST) == CONTROL_WORLD_STOPPED &&
           !stopper_died();
}

/* Until the commander has done what it does in this state, has died, or takes too long. */
static void wait_for_commander(uint32_t state)
{
    const uint64_t from = tl_rt_clock_slow();
    while (*word(CONTROL_WORLD) == state && !stopper_died() && tl_rt_clock_slow() - from < STOP_NS)
        wait_on(word(CONTROL_WORLD), state, WATCH_NS);
}

bool tl_rt_world_stop(void)
{
    if (!control.page || control.tid != (uint32_t)RT_SYS0(SYS_gettid))
        return false;
    wait_for_commander(CONTROL_WORLD_OVER);
    if (!set_world(CONTROL_WORLD_SERVED, CONTROL_WORLD_WANTED))
        return false;
    wait_for_commander(CONTROL_WORLD_WANTED);
    if (set_world(CONTROL_WORLD_WANTED, CONTROL_WORLD_RUNS)) /* the commander is gone, or too slow */
        return false;
    return tl_rt_world_is_stopped();
}

void tl_rt_world_go(void)
{
    set_world(CONTROL_WORLD_STOPPED, CONTROL_WORLD_OVER);
}

void tl_rt_control_end(void)
{
    if (!control.page)
        return;
    control.leave = 1;
    __atomic_fetch_add(word(CONTROL_REQUEST), 1, __ATOMIC_RELEASE);
    wake(word(CONTROL_REQUEST));
    bool self = control.tid == (uint32_t)RT_SYS0(SYS_gettid);
    for (uint64_t from = tl_rt_clock_slow(); !self && !control.gone && tl_rt_clock_slow() - from < LEAVE_NS;)
        wait_on(&control.gone, 0, LEAVE_NS);
    *word(CONTROL_STATE) = RT_OVER;
    if (self || control.gone)
        drop_page();
}
