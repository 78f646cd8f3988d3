/* Finds the control page of a process, and talks to its recorder. */
#include "cli/record/control_page.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/message.h"
#include "cli/record/process_status.h"
#include "rt/control/control_layout.h"

#ifdef __linux__
#include <linux/futex.h>
#include <sys/syscall.h>
#endif

_Static_assert(TL_CONTROL_COMMAND == CONTROL_COMMAND_SIZE && TL_CONTROL_RESULT == CONTROL_RESULT_SIZE, "as laid out");

enum { PATIENCE_MS = 5000, STEP_MS = 50 };

static uint32_t *word(const tl_control *p, unsigned offset)
{
    return (uint32_t *)(void *)(p->page + offset);
}

static uint32_t load(const tl_control *p, unsigned offset)
{
    return __atomic_load_n(word(p, offset), __ATOMIC_ACQUIRE);
}

static uint64_t load64(const tl_control *p, unsigned offset)
{
    return __atomic_load_n((uint64_t *)(void *)(p->page + offset), __ATOMIC_RELAXED);
}

/* Explains who may control it. */
static int say_not_allowed(const tl_control *p)
{
    const long pid = p->pid;
    char path[64];
    struct stat st;
    snprintf(path, sizeof path, "/proc/%ld", pid);
    const bool known = stat(path, &st) == 0;
    if (geteuid() == 0)
        tl_say_error(NULL, "%s: process %ld cannot be looked at from here, not even by root", p->verb, pid);
    else if (known && st.st_uid == geteuid())
        tl_say_error(NULL, "%s: process %ld has protected itself; only root may command it", p->verb, pid);
    else if (known && st.st_uid != 0)
        tl_say_error(NULL, "%s: only user %lu and root may command process %ld", p->verb, (unsigned long)st.st_uid,
                     pid);
    else
        tl_say_error(NULL, "%s: only root may command process %ld", p->verb, pid);
    return TL_EXIT_DAMAGED;
}

static int say_no_recorder(const tl_control *p)
{
    if (tl_process_state(p->pid, 0) == 'Z') {
        tl_say_error(NULL, "%s: process %ld (%s) has ended", p->verb, p->pid, p->name);
        return TL_EXIT_DAMAGED;
    }
    tl_say_error(NULL,
                 "%s: process %ld (%s) has no recorder that takes commands; it is there in programs that were "
                 "built with one and run by traceloom record, or with TRACELOOM in the environment",
                 p->verb, p->pid, p->name);
    return TL_EXIT_NO;
}

/* Is the file behind this descriptor the page of this very process? */
static bool take_page(tl_control *p, const char *path)
{
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    struct stat st;
    if (fd < 0)
        return false;
    void *page = MAP_FAILED;
    if (fstat(fd, &st) == 0 && st.st_size >= CONTROL_SIZE)
        page = mmap(NULL, CONTROL_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (page == MAP_FAILED)
        return false;
    p->page = page;
    /* A freshly forked child, or one that runs another program's code, may have its parent's. */
    if (memcmp(p->page + CONTROL_HEAD, CONTROL_MAGIC, 8) == 0 &&
        load(p, CONTROL_PID) == (uint32_t)tl_process_inner(p->pid, 0))
        return true;
    tl_control_close(p);
    return false;
}

/* Takes the page from among the open files of the process; *denied: not allowed to look. */
static bool find_page(tl_control *p, bool *denied)
{
    static const char link_name[] = "/memfd:" CONTROL_NAME;
    char folder[64], path[sizeof folder + sizeof((struct dirent *)0)->d_name], to[128];
    snprintf(folder, sizeof folder, "/proc/%ld/fd", p->pid);
    DIR *d = opendir(folder);
    *denied = !d && (errno == EACCES || errno == EPERM);
    for (const struct dirent *entry; d && !p->page && (entry = readdir(d));) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        const ssize_t n = readlink(path, to, sizeof to - 1);
        *denied = *denied || (n < 0 && errno == EACCES);
        if (n < (ssize_t)sizeof link_name - 1 || memcmp(to, link_name, sizeof link_name - 1) != 0)
            continue;
        *denied = !take_page(p, path) && (errno == EACCES || errno == EPERM);
    }
    if (d)
        closedir(d);
    return p->page != NULL;
}

void tl_control_print_pids(void)
{
    DIR *d = opendir("/proc");
    for (const struct dirent *entry; d && (entry = readdir(d));) {
        tl_control p = {.pid = strtol(entry->d_name, NULL, 10)}; /* 0: not a process */
        bool denied;
        if (p.pid > 0 && find_page(&p, &denied)) {
            printf("%ld\n", p.pid);
            tl_control_close(&p);
        }
    }
    if (d)
        closedir(d);
}

bool tl_control_find(tl_control *p, const char *verb, long pid)
{
    bool denied;
    *p = (tl_control){.verb = verb, .pid = pid};
    return tl_process_name(pid, p->name, sizeof p->name) && find_page(p, &denied);
}

int tl_control_open(tl_control *p, const char *verb, long pid)
{
    bool denied;
    *p = (tl_control){.verb = verb, .pid = pid};
    if (!tl_process_name(pid, p->name, sizeof p->name)) {
        tl_say_error(NULL, "%s: there is no process %ld", p->verb, pid);
        return TL_EXIT_DAMAGED;
    }
    if (find_page(p, &denied))
        return TL_EXIT_DONE;
    return denied ? say_not_allowed(p) : say_no_recorder(p);
}

void tl_control_close(tl_control *p)
{
    if (p->page)
        munmap(p->page, CONTROL_SIZE);
    p->page = NULL;
}

static void wake(uint32_t *w)
{
#ifdef __linux__
    syscall(SYS_futex, w, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
#else
    (void)w;
#endif
}

/* Waits while *w is `value`, at most one step. */
static void wait_step(uint32_t *w, uint32_t value)
{
    const struct timespec step = {0, STEP_MS * 1000000L};
#ifdef __linux__
    if (syscall(SYS_futex, w, FUTEX_WAIT, value, &step, NULL, 0) == 0 || errno == EAGAIN || errno == ETIMEDOUT)
        return;
#else
    (void)w;
    (void)value;
#endif
    nanosleep(&step, NULL);
}

bool tl_control_is_stopped(long pid)
{
    const char state = tl_process_state(pid, 0);
    return state == 'T' || state == 't';
}

bool tl_control_take(tl_control *p)
{
    const uint32_t me = (uint32_t)getpid();
    for (int waited = 0; waited < PATIENCE_MS; waited += STEP_MS) {
        uint32_t owner = 0;
        if (__atomic_compare_exchange_n(word(p, CONTROL_OWNER), &owner, me, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return true;
        if (kill((pid_t)owner, 0) != 0 && errno == ESRCH &&
            __atomic_compare_exchange_n(word(p, CONTROL_OWNER), &owner, me, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return true;
        wait_step(word(p, CONTROL_OWNER), owner);
    }
    tl_say_error(NULL, "%s: process %ld is being commanded by process %lu, which does not end", p->verb, p->pid,
                 (unsigned long)load(p, CONTROL_OWNER));
    return false;
}

static int say_silence(const tl_control *p)
{
    if (tl_process_has_ended(p->pid, 0)) {
        tl_say_error(NULL, "%s: process %ld (%s) has ended", p->verb, p->pid, p->name);
        return TL_EXIT_DAMAGED;
    }
    tl_say_error(NULL, "%s: process %ld (%s) does not answer for %d s%s", p->verb, p->pid, p->name, PATIENCE_MS / 1000,
                 tl_control_is_stopped(p->pid) ? "; it is stopped (kill -CONT lets it go on)" : "");
    return TL_EXIT_DAMAGED;
}

uint32_t *tl_control_word(const tl_control *p, unsigned offset)
{
    return word(p, offset);
}

uint32_t tl_control_send(tl_control *p, const char *command)
{
    snprintf(p->page + CONTROL_COMMAND, CONTROL_COMMAND_SIZE, "%s", command);
    const uint32_t request = __atomic_add_fetch(word(p, CONTROL_REQUEST), 1, __ATOMIC_RELEASE);
    wake(word(p, CONTROL_REQUEST));
    return request;
}

bool tl_control_is_answered(const tl_control *p, uint32_t request)
{
    return load(p, CONTROL_ANSWER) == request;
}

int tl_control_receive(tl_control *p, uint32_t request, char answer[static TL_CONTROL_RESULT])
{
    uint32_t answered = load(p, CONTROL_ANSWER);
    for (int waited = 0; answered != request && waited < PATIENCE_MS && !tl_process_has_ended(p->pid, 0);
         waited += STEP_MS) {
        wait_step(word(p, CONTROL_ANSWER), answered);
        answered = load(p, CONTROL_ANSWER);
    }
    int status = TL_EXIT_DAMAGED;
    if (answered == request) {
        snprintf(answer, TL_CONTROL_RESULT, "%.*s", (int)CONTROL_RESULT_SIZE - 1, p->page + CONTROL_RESULT);
        status = (int32_t)load(p, CONTROL_STATUS) < 0 ? TL_EXIT_NO : TL_EXIT_DONE;
    } else {
        status = say_silence(p);
    }
    __atomic_store_n(word(p, CONTROL_OWNER), 0, __ATOMIC_RELEASE);
    wake(word(p, CONTROL_OWNER));
    return status;
}

int tl_control_ask(tl_control *p, const char *command, char answer[static TL_CONTROL_RESULT])
{
    answer[0] = 0;
    return tl_control_take(p) ? tl_control_receive(p, tl_control_send(p, command), answer) : TL_EXIT_DAMAGED;
}

tl_control_status tl_control_read(const tl_control *p)
{
    tl_control_status s = {.state = load(p, CONTROL_STATE),
                           .modes = load(p, CONTROL_MODES),
                           .functions = load(p, CONTROL_FUNCTIONS),
                           .known = load(p, CONTROL_KNOWN),
                           .lanes = load(p, CONTROL_LANES),
                           .bytes = load64(p, CONTROL_BYTES),
                           .lost = load64(p, CONTROL_LOST),
                           .since = load64(p, CONTROL_SINCE)};
    memcpy(s.path, p->page + CONTROL_PATH, CONTROL_PATH_SIZE - 1);
    return s;
}
