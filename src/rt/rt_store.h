/* A file that is mapped and shared, piece by piece: what was stored in it is there whatever kills the program.
 *
 * Room is reserved on the disk before it is mapped, so that a full disk is an error here and no SIGBUS later. */
#ifndef TL_RT_STORE_H
#define TL_RT_STORE_H

#include <stdbool.h>

#include "rt/rt_sys.h"

/* RT_PAGE is the least page there is; kernels for AArch64 may have 16 or 64 KiB. */
enum { RT_PAGE = 4096, RT_STORE_PATH = 4096 + 8 };

typedef struct rt_store {
    int fd; /* -1: closed. Programs close descriptors that they do not know: see tl_rt_store_fd() */
    rt_lock lock;
    uint64_t page;  /* what the kernel maps at once; all pieces are multiples of it */
    uint64_t size;  /* taken so far */
    uint64_t limit; /* 0: none */
    char *whole;    /* the mapping of all up to limit, if it was asked for */
    int failed;     /* errno of the first failure, 0; ENOBUFS: the limit was reached */
    uint64_t device, inode;
    char path[RT_STORE_PATH];
} rt_store;

/* Out of the way of programs that count on the numbers of their own descriptors; never that of a standard file, which
 * may be closed: what the program prints would land in ours. The new number, or -errno; then fd is closed. */
int tl_rt_move_up(int fd);
/* Creates the file, which must not exist, readable and writable by its user only. `whole`: one mapping, in which
 * everything has its address from the begin (limit is not 0 then). 0 or -errno. Not from hooks. */
int tl_rt_store_open(rt_store *s, const char *path, uint64_t limit, bool whole);
/* The file's descriptor, or -errno. If the program has closed it, and perhaps got another file by the same number, the
 * file is opened again. From anywhere. */
int tl_rt_store_fd(rt_store *s);
/* *n more bytes at the end, which are made whole pages: zero, mapped, and present (no faults later). NULL if there is
 * no room; nothing of the file has changed then. From anywhere. *offset: where in the file. */
void *tl_rt_store_take(rt_store *s, uint64_t *n, uint64_t *offset);
/* n bytes as whole pages. */
RT_INLINE uint64_t rt_store_pages(const rt_store *s, uint64_t n)
{
    return (n + s->page - 1) & ~(s->page - 1);
}
/* RLIMIT_FSIZE: the largest size of the program's files. Writing beyond it raises SIGXFSZ. From anywhere. */
uint64_t tl_rt_store_largest(void);
/* Writes all n bytes into a file; 0 or -errno. Beyond the largest size nothing is written. From anywhere. */
long tl_rt_store_write(long fd, const void *p, uint64_t n, uint64_t offset);
/* Room on the disk. File systems that cannot reserve get zeros written. `mode`: of fallocate(). 0 or -errno. */
long tl_rt_store_reserve(long fd, int mode, uint64_t offset, uint64_t n);
/* Unmaps; the bytes stay in the file. */
void tl_rt_store_unmap(void *p, uint64_t n);
/* Cuts the file to n bytes (UINT64_MAX: leaves it) and closes it. What is mapped stays mapped. */
int tl_rt_store_close(rt_store *s, uint64_t n);
/* After fork, in the child: forgets the file, and unmaps `whole`. `busy`: a signal handler forked that came while the
 * recorder was writing to it, which goes on when the handler returns: then it writes to memory that nobody reads. */
void tl_rt_store_forget(rt_store *s, bool busy);
void tl_rt_store_leave(void *p, uint64_t n, bool busy); /* the same for a piece that was taken */

/* The recorder's own memory, private and zero; NULL: out of memory. From anywhere. */
void *tl_rt_memory_take(size_t n);
void tl_rt_memory_give(void *p, size_t n);
void *tl_rt_memory_grow(void *p, size_t from, size_t to); /* may move; NULL: p is as it was */
/* The same, aligned to 8 bytes and never given back: small pieces share pages. */
void *tl_rt_memory_keep(size_t n);

#endif
