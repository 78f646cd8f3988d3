/* Where the other threads are while a debugger, or traceloom record -p, has stopped them: /proc/self/task/TID/syscall
 * ends with a thread's program counter, or says "running". */
#include <fcntl.h>

#include "rt/patch/rt_patch_write.h"
#include "rt/patch/rt_tasks.h"
#include "rt/rt_say.h"
#include "rt/rt_store.h"
#include "rt/rt_sys.h"

enum { THREADS_MOST = 4096, TEXT = 256 };

static uint64_t *at; /* [THREADS_MOST] */
static uint32_t n;
static bool met; /* one of them stands on what was to be taken back */

/* The number at the end of a line; 0: none. */
static uint64_t last_number(char *text, long length)
{
    uint64_t value = 0;
    while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == ' '))
        length--;
    text[length] = '\0';
    while (length > 0 && text[length - 1] != ' ')
        length--;
    return tl_rt_read_number(text + length, &value) ? value : 0;
}

/* Is the name that of the calling thread? */
static bool is_own(const char *name)
{
    uint64_t tid = 0;
    return tl_rt_read_number(name, &tid) && tid == (uint64_t)RT_SYS0(SYS_gettid);
}

static bool read_thread(void *arg, long folder, const char *name)
{
    char path[64], text[TEXT];
    const size_t length = rt_length(name);
    (void)arg;
    if (is_own(name))
        return true;
    if (length > 20 || n == THREADS_MOST)
        return false;
    rt_copy(path, name, length);
    rt_copy(path + length, "/syscall", sizeof "/syscall");
    long fd = RT_SYS4(SYS_openat, folder, path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return false;
    long got = RT_SYS3(SYS_read, fd, text, TEXT - 1);
    RT_SYS1(SYS_close, fd);
    at[n] = got > 0 ? last_number(text, got) : 0;
    return at[n++] != 0;
}

bool tl_rt_patch_stopped_look(void)
{
    n = 0;
    met = false;
    at = at ? at : tl_rt_memory_take(THREADS_MOST * sizeof *at);
    return at && tl_rt_tasks(read_thread, NULL);
}

bool tl_rt_patch_can_stopped(const patch_change *c)
{
    for (uint32_t i = 0; i < n && c->live == 0; i++)
        if (at[i] - c->address < c->size) {
            met = true;
            return false;
        }
    return !c->several;
}

bool tl_rt_patch_stopped_met(void)
{
    return met;
}
