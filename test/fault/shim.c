/* Makes the operating system fail on purpose, preloaded into the command (LD_PRELOAD):
 *
 *     TL_FAULT=malloc:N     the n-th allocation fails            TL_FAULT=malloc+:N   and every one after it
 *     TL_FAULT=write:N      the n-th write finds no space        TL_FAULT=read:N      the n-th read is an I/O error
 *     TL_FAULT=short        reads and writes do at most 7 bytes  TL_FAULT=eintr       every other call is interrupted
 *     TL_FAULT=count        nothing fails
 *
 * When the process ends, "<allocations> <reads> <writes> <faults that were made>" goes to the file TL_FAULT_REPORT. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* The C library's own names of its allocator: calling them needs no dlsym, which would allocate itself. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

enum kind { ALLOCATE, READ, WRITE, KINDS };
static atomic_ulong calls[KINDS], faults, turns;
static unsigned long fail_at[KINDS];
static int fail_on, be_short, interrupt;

__attribute__((constructor)) static void begin(void)
{
    static const struct {
        const char *name;
        enum kind kind;
        int on;
    } modes[] = {{"malloc:", ALLOCATE, 0}, {"malloc+:", ALLOCATE, 1}, {"read:", READ, 0}, {"write:", WRITE, 0}};
    const char *fault = getenv("TL_FAULT");
    if (fault == NULL)
        return;
    be_short = strcmp(fault, "short") == 0;
    interrupt = strcmp(fault, "eintr") == 0;
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        if (strncmp(fault, modes[i].name, strlen(modes[i].name)) == 0) {
            fail_on = modes[i].on;
            fail_at[modes[i].kind] = strtoul(fault + strlen(modes[i].name), NULL, 10);
        }
    }
    /* What was allocated before main() is not the command's doing. */
    atomic_store(&calls[ALLOCATE], 0);
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("TL_FAULT_REPORT");
    const int fd = path != NULL ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
    if (fd < 0)
        return;
    char text[120];
    const int length =
        snprintf(text, sizeof(text), "%lu %lu %lu %lu\n", calls[ALLOCATE], calls[READ], calls[WRITE], faults);
    (void)!syscall(SYS_write, fd, text, (size_t)length);
    close(fd);
}

static int fails(enum kind kind)
{
    const unsigned long number = atomic_fetch_add(&calls[kind], 1) + 1;
    const unsigned long at = fail_at[kind];
    if (at == 0 || !(number == at || (fail_on && number > at)))
        return 0;
    atomic_fetch_add(&faults, 1);
    return 1;
}

void *malloc(size_t size)
{
    if (!fails(ALLOCATE))
        return __libc_malloc(size);
    errno = ENOMEM;
    return NULL;
}

void *calloc(size_t count, size_t size)
{
    if (!fails(ALLOCATE))
        return __libc_calloc(count, size);
    errno = ENOMEM;
    return NULL;
}

void *realloc(void *old, size_t size)
{
    if (!fails(ALLOCATE))
        return __libc_realloc(old, size);
    errno = ENOMEM;
    return NULL;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    if (!fails(ALLOCATE))
        return __libc_memalign(alignment, size);
    errno = ENOMEM;
    return NULL;
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    void *p = fails(ALLOCATE) ? NULL : __libc_memalign(alignment, size);
    if (p != NULL)
        *out = p;
    return p != NULL ? 0 : ENOMEM;
}

/* How much a read or write may do now; 0: it has to fail, and errno says how. */
static size_t allowed(enum kind kind, size_t size)
{
    if (fails(kind)) {
        errno = kind == READ ? EIO : ENOSPC;
        return 0;
    }
    if (interrupt && atomic_fetch_add(&turns, 1) % 2 == 0) {
        atomic_fetch_add(&faults, 1);
        errno = EINTR;
        return 0;
    }
    if (be_short && size > 7) {
        atomic_fetch_add(&faults, 1);
        return 7;
    }
    return size;
}

ssize_t read(int fd, void *buffer, size_t size)
{
    const size_t n = allowed(READ, size);
    return n == 0 && size > 0 ? -1 : syscall(SYS_read, fd, buffer, n);
}

ssize_t pread(int fd, void *buffer, size_t size, off_t offset)
{
    const size_t n = allowed(READ, size);
    return n == 0 && size > 0 ? -1 : syscall(SYS_pread64, fd, buffer, n, offset);
}

ssize_t pread64(int fd, void *buffer, size_t size, off64_t offset)
{
    return pread(fd, buffer, size, offset);
}

ssize_t write(int fd, const void *buffer, size_t size)
{
    if (fd == STDERR_FILENO) /* messages must come through, or we could not demand them */
        return syscall(SYS_write, fd, buffer, size);
    const size_t n = allowed(WRITE, size);
    return n == 0 && size > 0 ? -1 : syscall(SYS_write, fd, buffer, n);
}

ssize_t pwrite(int fd, const void *buffer, size_t size, off_t offset)
{
    const size_t n = allowed(WRITE, size);
    return n == 0 && size > 0 ? -1 : syscall(SYS_pwrite64, fd, buffer, n, offset);
}

ssize_t writev(int fd, const struct iovec *part, int count)
{
    for (int i = 0; i < count; i++) {
        if (part[i].iov_len > 0)
            return write(fd, part[i].iov_base, part[i].iov_len);
    }
    return 0;
}
