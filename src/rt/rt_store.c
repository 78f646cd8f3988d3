/* The file that is recorded into, in mapped pieces; and the recorder's own memory. System calls only. */
#include "rt/rt_store.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
enum { FILE_MODE = 0600 };
#define FAR_AWAY     UINT64_C(0x100000000000)
#define LARGEST_PAGE UINT64_C(65536)

static uintptr_t wished; /* where the next mapping shall be; 0: anywhere */

void tl_rt_memory_far(void)
{
    if (!wished)
        wished = FAR_AWAY;
}

/* An address for a new mapping, which the kernel takes if it is free. */
static uintptr_t wish(uint64_t n)
{
    return wished ? __atomic_fetch_add(&wished, (n + LARGEST_PAGE - 1) & ~(LARGEST_PAGE - 1), __ATOMIC_RELAXED) : 0;
}

static void clear(rt_store *s, uint64_t limit)
{
    s->fd = -1;
    s->lock = (rt_lock){.held = 0};
    s->size = 0;
    s->page = getauxval(AT_PAGESZ);
    s->limit = limit & ~(s->page - 1);
    s->whole = NULL;
    s->failed = 0;
    s->device = s->inode = 0;
    s->path[0] = '\0';
}

int tl_rt_move_up(int fd)
{
    enum { HIGH = 100, STANDARD = 3 };
    long high = RT_SYS3(SYS_fcntl, fd, F_DUPFD_CLOEXEC, HIGH);
    if (high < 0 && fd >= STANDARD)
        return fd;
    if (high < 0) /* a small RLIMIT_NOFILE */
        high = RT_SYS3(SYS_fcntl, fd, F_DUPFD_CLOEXEC, STANDARD);
    RT_SYS1(SYS_close, fd);
    return (int)high;
}

static bool is_ours(const rt_store *s, int fd)
{
    struct stat st;
    return fd >= 0 && RT_SYS2(SYS_fstat, fd, &st) == 0 && st.st_dev == s->device && st.st_ino == s->inode;
}

int tl_rt_store_fd(rt_store *s)
{
    int fd = s->fd;
    if (fd < 0)
        return -EBADF;
    if (RT_LIKELY(is_ours(s, fd)))
        return fd;
    fd = (int)RT_SYS4(SYS_openat, AT_FDCWD, s->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0);
    if (fd < 0)
        return fd;
    fd = tl_rt_move_up(fd);
    if (fd < 0)
        return fd;
    if (!is_ours(s, fd)) {
        RT_SYS1(SYS_close, fd);
        return -ESTALE;
    }
    s->fd = fd;
    return fd;
}

int tl_rt_store_open(rt_store *s, const char *path, uint64_t limit, bool whole)
{
    struct stat st;
    size_t length = rt_length(path);
    clear(s, limit);
    if (length >= RT_STORE_PATH)
        return -ENAMETOOLONG;
    long fd = RT_SYS4(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, FILE_MODE);
    if (fd < 0)
        return (int)fd;
    if (whole) {
        /* Beyond the end of the file, which grows into it; inaccessible until then, to valgrind as well. */
        long p = RT_SYS6(SYS_mmap, wish(s->limit), s->limit, PROT_NONE, MAP_SHARED | MAP_NORESERVE, fd, 0);
        if (RT_IS_ERROR(p)) {
            RT_SYS1(SYS_close, fd);
            RT_SYS3(SYS_unlinkat, AT_FDCWD, path, 0);
            return (int)p;
        }
        s->whole = (char *)p;
    }
    s->fd = tl_rt_move_up((int)fd);
    if (s->fd < 0) {
        int error = s->fd;
        RT_SYS3(SYS_unlinkat, AT_FDCWD, path, 0);
        if (s->whole)
            RT_SYS2(SYS_munmap, s->whole, s->limit);
        clear(s, 0);
        return error;
    }
    if (RT_SYS2(SYS_fstat, s->fd, &st) == 0) {
        s->device = st.st_dev;
        s->inode = st.st_ino;
    }
    rt_copy(s->path, path, length + 1);
    return 0;
}

long tl_rt_store_reserve(long fd, int mode, uint64_t offset, uint64_t n)
{
    long done = RT_SYS4(SYS_fallocate, fd, mode, offset, n);
    if (done != -EOPNOTSUPP && done != -ENOSYS)
        return done;
    static const char zeros[RT_PAGE];
    for (uint64_t i = 0; i < n; i += RT_PAGE) {
        long written = RT_SYS4(SYS_pwrite64, fd, zeros, RT_PAGE, offset + i);
        if (written != RT_PAGE)
            return written < 0 ? written : -ENOSPC;
    }
    return 0;
}

uint64_t tl_rt_store_largest(void)
{
    uint64_t most[2] = {UINT64_MAX, UINT64_MAX};
    RT_SYS4(SYS_prlimit64, 0, RLIMIT_FSIZE, NULL, most);
    return most[0];
}

long tl_rt_store_write(long fd, const void *p, uint64_t n, uint64_t offset)
{
    uint64_t most = tl_rt_store_largest();
    if (offset > most || n > most - offset)
        return -EFBIG;
    long written = RT_SYS4(SYS_pwrite64, fd, p, n, offset);
    return written == (long)n ? 0 : written < 0 ? written : -ENOSPC;
}

void *tl_rt_store_take(rt_store *s, uint64_t *size, uint64_t *offset)
{
    uint64_t n = *size = rt_store_pages(s, *size);
    uint64_t mask = rt_signals_block(); /* signals would interrupt the kernel's work, and the lock must be released */
    rt_lock_take(&s->lock);
    uint64_t at = s->size;
    long error = 0, p = 0;
    int fd = s->failed ? -s->failed : tl_rt_store_fd(s); /* repeated attempts would slow the program down */
    if (fd < 0)
        error = fd;
    else if (s->limit && (n > s->limit || at > s->limit - n))
        error = -ENOBUFS;
    else if (at + n > tl_rt_store_largest())
        error = -EFBIG;
    else
        error = tl_rt_store_reserve(fd, 0, at, n);
    if (error == 0) {
        if (s->whole) {
            p = (long)(s->whole + at);
            error = RT_SYS3(SYS_mprotect, p, n, PROT_READ | PROT_WRITE);
        } else {
            p = RT_SYS6(SYS_mmap, 0, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, at);
            error = RT_IS_ERROR(p) ? p : 0;
        }
    }
    if (error == 0)
        s->size = at + n;
    else if (!s->failed)
        __atomic_store_n(&s->failed, (int)-error, __ATOMIC_RELAXED);
    rt_lock_give(&s->lock);
    rt_signals_restore(mask);
    if (error)
        return NULL;
    RT_SYS3(SYS_madvise, p, n, MADV_POPULATE_WRITE); /* on kernels without it, pages come one by one */
    *offset = at;
    return (void *)p;
}

void tl_rt_store_unmap(void *p, uint64_t n)
{
    RT_SYS2(SYS_munmap, p, n);
}

int tl_rt_store_close(rt_store *s, uint64_t n)
{
    long error = 0;
    rt_lock_take(&s->lock);
    int fd = tl_rt_store_fd(s);
    if (fd >= 0) {
        if (n != UINT64_MAX)
            error = RT_SYS2(SYS_ftruncate, fd, n);
        RT_SYS1(SYS_close, fd);
    }
    s->fd = -1;
    rt_lock_give(&s->lock);
    return (int)error;
}

void tl_rt_store_leave(void *p, uint64_t n, bool busy)
{
    enum { OWN = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED };
    if (!busy || RT_IS_ERROR(RT_SYS6(SYS_mmap, p, n, PROT_READ | PROT_WRITE, OWN, -1, 0)))
        RT_SYS2(SYS_munmap, p, n);
}

void tl_rt_store_forget(rt_store *s, bool busy)
{
    if (is_ours(s, s->fd))
        RT_SYS1(SYS_close, s->fd);
    if (s->whole)
        tl_rt_store_leave(s->whole, s->limit, busy);
    clear(s, 0);
}

void *tl_rt_memory_take(size_t n)
{
    enum { HOW = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE };
    long p = RT_SYS6(SYS_mmap, wish(n), n, PROT_READ | PROT_WRITE, HOW, -1, 0);
    return RT_IS_ERROR(p) ? NULL : (void *)p;
}

void tl_rt_memory_give(void *p, size_t n)
{
    RT_SYS2(SYS_munmap, p, n);
}

void *tl_rt_memory_grow(void *p, size_t from, size_t to)
{
    void *place = wished ? tl_rt_memory_take(to) : NULL;
    if (wished && !place)
        return NULL;
    long q = RT_SYS6(SYS_mremap, p, from, to, MREMAP_MAYMOVE | (place ? MREMAP_FIXED : 0), place, 0);
    if (RT_IS_ERROR(q) && place)
        tl_rt_memory_give(place, to);
    return RT_IS_ERROR(q) ? NULL : (void *)q;
}

void *tl_rt_memory_keep(size_t n)
{
    enum { PIECE = 1 << 16 };
    static struct piece {
        size_t used;
        char bytes[];
    } *volatile piece;
    n = (n + 7) & ~(size_t)7;
    if (n > PIECE / 2)
        return tl_rt_memory_take(n);
    for (;;) {
        struct piece *p = __atomic_load_n(&piece, __ATOMIC_ACQUIRE);
        size_t at = p ? __atomic_fetch_add(&p->used, n, __ATOMIC_RELAXED) : 0;
        if (p && at <= PIECE - sizeof *p - n)
            return p->bytes + at;
        struct piece *fresh = tl_rt_memory_take(PIECE);
        if (!fresh)
            return NULL;
        if (!__atomic_compare_exchange_n(&piece, &p, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            tl_rt_memory_give(fresh, PIECE);
    }
}
