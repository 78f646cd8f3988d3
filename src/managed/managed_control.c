/* Answers commands: stop and start are a pause of the log. */
#include "managed/managed_control.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/compiler.h"
#include "managed/managed_log.h"
#include "rt/control/control_layout.h"
#include "rt/rt_core.h"
#include "rt/rt_store.h"

static char *page;
static int file = -1;
static ino_t inode;    /* of the page's file */
static uint64_t since; /* ns since 1970, of the last start */

static _Atomic uint32_t *word(unsigned offset)
{
    return (_Atomic uint32_t *)(void *)(page + offset);
}

static void put_number(unsigned offset, uint64_t v)
{
    *(volatile uint64_t *)(void *)(page + offset) = v;
}

static uint64_t now_unix(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void show(uint32_t threads, uint64_t lost)
{
    *word(CONTROL_STATE) = managed_paused ? RT_WAITING : RT_ON;
    *word(CONTROL_LANES) = threads;
    put_number(CONTROL_BYTES, managed_log_bytes());
    put_number(CONTROL_LOST, lost);
    put_number(CONTROL_SINCE, since);
}

static const char *stop(void)
{
    if (managed_paused)
        return "was not recording";
    managed_log_pause(true);
    return "stopped";
}

static const char *start(void)
{
    if (!managed_paused)
        return "was recording already";
    managed_log_pause(false);
    since = now_unix();
    return "recording";
}

_Static_assert(sizeof managed_set.out <= CONTROL_PATH_SIZE, "a path fits");

static const char *flush(void)
{
    return "what was recorded is in the log";
}

static const char *show_only(void)
{
    return "";
}

/* 0 or -errno, and in *said what was done, or is wrong. */
static int do_command(const char *command, const char **said)
{
    static const struct {
        const char *name;
        const char *(*run)(void);
    } commands[] = {{"show", show_only}, {"stop", stop}, {"start", start}, {"flush", flush}};
    for (size_t i = 0; i < TL_COUNT(commands); i++)
        if (strcmp(command, commands[i].name) == 0) {
            *said = commands[i].run();
            managed_log_flush();
            return 0;
        }
    *said = "samples of a program of .NET know start, stop, flush and status";
    return -EINVAL;
}

void managed_control_look(uint32_t threads, uint64_t lost)
{
    char command[CONTROL_COMMAND_SIZE];
    const char *said;
    if (!page)
        return;
    const uint32_t request = atomic_load_explicit(word(CONTROL_REQUEST), memory_order_acquire);
    const bool asked = request != *word(CONTROL_ANSWER);
    if (asked) {
        memcpy(command, page + CONTROL_COMMAND, sizeof command);
        command[sizeof command - 1] = 0;
        *word(CONTROL_STATUS) = (uint32_t)do_command(command, &said);
        strcpy(page + CONTROL_RESULT, said);
    }
    show(threads, lost);
    if (!asked)
        return;
    atomic_store_explicit(word(CONTROL_ANSWER), request, memory_order_release);
    syscall(SYS_futex, word(CONTROL_ANSWER), FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

static ino_t inode_of(int of)
{
    struct stat st;
    return fstat(of, &st) == 0 ? st.st_ino : 0;
}

void managed_control_begin(void)
{
    const int low = memfd_create(CONTROL_NAME, MFD_CLOEXEC);
    void *at = MAP_FAILED;
    file = low < 0 ? -1 : tl_rt_move_up(low);
    if (file >= 0 && ftruncate(file, CONTROL_SIZE) == 0)
        at = mmap(NULL, CONTROL_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (at == MAP_FAILED) {
        managed_say("this recording cannot be controlled", NULL, errno);
        return;
    }
    page = at;
    inode = inode_of(file);
    since = managed_paused ? 0 : now_unix();
    *word(CONTROL_PID) = (uint32_t)getpid();
    *word(CONTROL_MODES) = CONTROL_MODE_SAMPLES;
    memcpy(page + CONTROL_PATH, managed_set.out, strlen(managed_set.out) + 1);
    show(0, 0);
    memcpy(page + CONTROL_HEAD, CONTROL_MAGIC, 8); /* last: the page is now complete */
}

void managed_control_end(void)
{
    if (page)
        munmap(page, CONTROL_SIZE);
    if (file >= 0 && inode_of(file) == inode) /* otherwise the program closed it, and may have another file there */
        close(file);
    page = NULL;
    file = -1;
}
