/* Makes the operating system fail on purpose, preloaded into the command (LD_PRELOAD). TL_FAULT says what happens:
 *
 *     CALL:N[:ERROR]   the n-th call fails, with an errno of the table below, or the usual one; CALL is one of
 *                      malloc, read, write, close, open, name (rename, link), mkdir and thread
 *     CALL+:N[:ERROR]  and every one after it
 *     short            reads and writes do only 7 bytes, large ones 1009
 *     eintr            interrupts every other read and write
 *     shrink:N:P       at the n-th read, cuts the file TL_FAULT_FILE to P percent of its size
 *     grow:N           ... or appends its own first bytes to it
 *     vanish:N         at the n-th write, removes the folder TL_FAULT_FILE with its files
 *     readonly:N       ... or forbids everybody to write to it, even root
 *     count            nothing fails
 *
 * When the process ends, the file TL_FAULT_REPORT gets a line of numbers: faults made, allocations never freed, open
 * descriptors, and how often each CALL was called. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "shim.h"

/* The C library's own names of its allocator: finding them with dlsym would allocate. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *p);

enum { SHORT = 7, LARGE = 16384, LESS_SHORT = 1009, GROWTH = 5000, FDS = 256 };

static const struct {
    const char *name;
    int error;
} call_table[FAULT_CALLS] = {
    [FAULT_MALLOC] = {"malloc", ENOMEM}, [FAULT_READ] = {"read", EIO},        [FAULT_WRITE] = {"write", ENOSPC},
    [FAULT_CLOSE] = {"close", EIO},      [FAULT_OPEN] = {"open", EMFILE},     [FAULT_NAME] = {"name", EIO},
    [FAULT_MKDIR] = {"mkdir", ENOSPC},   [FAULT_THREAD] = {"thread", EAGAIN},
};
static const struct {
    const char *name;
    int error;
} error_table[] = {{"EIO", EIO},     {"EDQUOT", EDQUOT}, {"ENOSPC", ENOSPC}, {"EPIPE", EPIPE},   {"EXDEV", EXDEV},
                   {"EROFS", EROFS}, {"EMFILE", EMFILE}, {"ENFILE", ENFILE}, {"EACCES", EACCES}, {"ENOMEM", ENOMEM}};
/* Faults in files, and the call that triggers each. */
static const struct {
    const char *name;
    enum fault_call at;
} act_table[] = {{"shrink", FAULT_READ}, {"grow", FAULT_READ}, {"vanish", FAULT_WRITE}, {"readonly", FAULT_WRITE}};

static atomic_ulong calls[FAULT_CALLS], faults, turns;
static atomic_long live;
static unsigned long fail_at, act_at;
static enum fault_call fail_call, act_call;
static int fail_on, fail_error, be_short, interrupt;
static const char *act;
static unsigned act_number;

static int error_by_name(const char *name, int usual)
{
    for (size_t i = 0; i < sizeof(error_table) / sizeof(error_table[0]); i++) {
        if (strcmp(error_table[i].name, name) == 0)
            return error_table[i].error;
    }
    return usual;
}

/* Takes "CALL:N:ERROR" apart; changes word. */
static void understand(char *word)
{
    char *number = strchr(word, ':'), *more = number ? strchr(number + 1, ':') : NULL;
    be_short = strcmp(word, "short") == 0;
    interrupt = strcmp(word, "eintr") == 0;
    if (number == NULL)
        return;
    *number++ = 0;
    if (more != NULL)
        *more++ = 0;
    for (size_t i = 0; i < sizeof(act_table) / sizeof(act_table[0]); i++) {
        if (strcmp(act_table[i].name, word) == 0) {
            act = act_table[i].name;
            act_call = act_table[i].at;
            act_at = strtoul(number, NULL, 10);
            act_number = more != NULL ? (unsigned)strtoul(more, NULL, 10) : 0;
        }
    }
    fail_on = word[strlen(word) - 1] == '+';
    if (fail_on)
        word[strlen(word) - 1] = 0;
    for (int i = 0; i < FAULT_CALLS; i++) {
        if (strcmp(call_table[i].name, word) == 0) {
            fail_call = (enum fault_call)i;
            fail_at = strtoul(number, NULL, 10);
            fail_error = more != NULL ? error_by_name(more, call_table[i].error) : call_table[i].error;
        }
    }
}

/* After this even root needs permission. */
static void drop_rights(void)
{
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[2] = {{0}};
    syscall(SYS_capset, &head, none);
}

void tl_fault_begin(const char *fault)
{
    static char word[64];
    snprintf(word, sizeof(word), "%s", fault);
    understand(word);
    if (act != NULL && strcmp(act, "readonly") == 0)
        drop_rights();
    /* Allocations before main() are not the command's. */
    for (int i = 0; i < FAULT_CALLS; i++)
        atomic_store(&calls[i], 0);
    atomic_store(&live, 0);
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("TL_FAULT_REPORT");
    char text[400];
    int length, open_now = 0;
    for (int i = 0; i < FDS; i++)
        open_now += fcntl(i, F_GETFD) >= 0;
    const int fd = path != NULL ? (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
    if (fd < 0)
        return;
    length = snprintf(text, sizeof(text), "%lu %ld %d", faults, live, open_now);
    for (int i = 0; i < FAULT_CALLS; i++)
        length += snprintf(text + length, sizeof(text) - (size_t)length, " %lu", calls[i]);
    (void)!syscall(SYS_write, fd, text, (size_t)length);
    syscall(SYS_close, fd);
}

/* Changes files with system calls and the allocator's own names, which are not counted. */

static void cut(const char *path, unsigned percent)
{
    struct stat st;
    if (stat(path, &st) == 0)
        syscall(SYS_truncate, path, st.st_size * percent / 100);
}

static void grow(const char *path)
{
    static char bytes[GROWTH];
    const int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_APPEND);
    const long n = syscall(SYS_pread64, fd, bytes, sizeof(bytes), 0L);
    (void)!syscall(SYS_write, fd, bytes, n > 0 ? (size_t)n : 0);
    syscall(SYS_close, fd);
}

static void remove_tree(const char *path)
{
    static char inside[3][4096];
    static int depth;
    DIR *d = depth < 3 ? opendir(path) : NULL;
    for (struct dirent *entry; d != NULL && (entry = readdir(d)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        char *name = inside[depth];
        snprintf(name, sizeof(inside[0]), "%s/%s", path, entry->d_name);
        depth++;
        if (unlink(name) != 0)
            remove_tree(name);
        depth--;
    }
    if (d != NULL)
        closedir(d);
    rmdir(path);
}

static void do_act(void)
{
    const char *path = getenv("TL_FAULT_FILE");
    const int kept = errno;
    atomic_fetch_add(&faults, 1);
    if (path == NULL)
        return;
    if (strcmp(act, "shrink") == 0)
        cut(path, act_number);
    else if (strcmp(act, "grow") == 0)
        grow(path);
    else if (strcmp(act, "vanish") == 0)
        remove_tree(path);
    else
        chmod(path, 0555);
    errno = kept;
}

/* Counts a call. True: it must fail, and errno is set. */
int tl_fault_due(enum fault_call call)
{
    const unsigned long number = atomic_fetch_add(&calls[call], 1) + 1;
    if (act_at != 0 && act_call == call && number == act_at)
        do_act();
    if (fail_at == 0 || fail_call != call || !(number == fail_at || (fail_on && number > fail_at)))
        return 0;
    atomic_fetch_add(&faults, 1);
    errno = fail_error;
    return 1;
}

static void *counted(void *p)
{
    if (p != NULL)
        atomic_fetch_add(&live, 1);
    return p;
}

void *malloc(size_t size)
{
    return tl_fault_due(FAULT_MALLOC) ? NULL : counted(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
    return tl_fault_due(FAULT_MALLOC) ? NULL : counted(__libc_calloc(count, size));
}

void *realloc(void *old, size_t size)
{
    if (tl_fault_due(FAULT_MALLOC))
        return NULL;
    void *p = __libc_realloc(old, size);
    atomic_fetch_add(&live, (p != NULL && old == NULL) - (p == NULL && old != NULL && size == 0));
    return p;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return tl_fault_due(FAULT_MALLOC) ? NULL : counted(__libc_memalign(alignment, size));
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    void *p = aligned_alloc(alignment, size);
    if (p != NULL)
        *out = p;
    return p != NULL ? 0 : ENOMEM;
}

void free(void *p)
{
    if (p != NULL)
        atomic_fetch_sub(&live, 1);
    __libc_free(p);
}

/* How much a read or write may do now; 0: it must fail, and errno is set. */
static size_t allowed(enum fault_call call, size_t size)
{
    if (tl_fault_due(call))
        return 0;
    if (interrupt && atomic_fetch_add(&turns, 1) % 2 == 0) {
        atomic_fetch_add(&faults, 1);
        errno = EINTR;
        return 0;
    }
    if (be_short && size > SHORT) {
        atomic_fetch_add(&faults, 1);
        return size > LARGE ? LESS_SHORT : SHORT;
    }
    return size;
}

ssize_t read(int fd, void *buffer, size_t size)
{
    const size_t n = allowed(FAULT_READ, size);
    return n == 0 && size > 0 ? -1 : syscall(SYS_read, fd, buffer, n);
}

ssize_t pread(int fd, void *buffer, size_t size, off_t offset)
{
    const size_t n = allowed(FAULT_READ, size);
    return n == 0 && size > 0 ? -1 : syscall(SYS_pread64, fd, buffer, n, offset);
}

ssize_t pread64(int fd, void *buffer, size_t size, off64_t offset)
{
    return pread(fd, buffer, size, offset);
}

ssize_t write(int fd, const void *buffer, size_t size)
{
    if (fd == STDERR_FILENO) /* messages always get through, so that tests can demand them */
        return syscall(SYS_write, fd, buffer, size);
    const size_t n = allowed(FAULT_WRITE, size);
    return n == 0 && size > 0 ? -1 : syscall(SYS_write, fd, buffer, n);
}

ssize_t pwrite(int fd, const void *buffer, size_t size, off_t offset)
{
    const size_t n = allowed(FAULT_WRITE, size);
    return n == 0 && size > 0 ? -1 : syscall(SYS_pwrite64, fd, buffer, n, offset);
}

ssize_t pwrite64(int fd, const void *buffer, size_t size, off64_t offset)
{
    return pwrite(fd, buffer, size, offset);
}

ssize_t writev(int fd, const struct iovec *part, int count)
{
    for (int i = 0; i < count; i++) {
        if (part[i].iov_len > 0)
            return write(fd, part[i].iov_base, part[i].iov_len);
    }
    return 0;
}
