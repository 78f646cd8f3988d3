/* A file mapped and shared piece by piece: what was stored in it survives even if the program is killed.
 *
 * Room is reserved on the disk before it is mapped, so that a full disk is an error here, not a SIGBUS later. */
#ifndef TL_RT_STORE_H
#define TL_RT_STORE_H

#include <stdbool.h>

#include "rt/rt_sys.h"

/* RT_PAGE is the smallest page; kernels for AArch64 may have 16 or 64 KiB. */
enum { RT_PAGE = 4096, RT_STORE_PATH = 4096 + 8 };

typedef struct rt_store {
    int fd; /* -1: closed. Programs may close descriptors that they do not know: see tl_rt_store_fd() */
    rt_lock lock;
    uint64_t page;  /* the kernel's page size; the size of each piece is a multiple of it */
    uint64_t size;  /* taken so far */
    uint64_t limit; /* 0: none */
    char *whole;    /* the mapping up to limit, if requested */
    int failed;     /* errno of the first failure, or 0; ENOBUFS: the limit was reached */
    uint64_t device, inode;
    char path[RT_STORE_PATH];
} rt_store;

/* Moves a descriptor to a high number, away from those that programs count on, and never to that of a closed standard
 * file, whose output would land in ours. Returns the new number, or -errno; then fd is closed. */
int tl_rt_move_up(int fd);
/* Creates the file, which must not exist, readable and writable by its user only. `whole`: one mapping for all of it,
 * with fixed addresses (limit is not 0 then). 0 or -errno. Not from hooks. */
int tl_rt_store_open(rt_store *s, const char *path, uint64_t limit, bool whole);
/* The file's descriptor, or -errno. Opens the file again if the program has closed it, even if the number now belongs
 * to another file. From anywhere. */
int tl_rt_store_fd(rt_store *s);
/* Appends *n bytes, rounded up to whole pages: zero, mapped, and present (no faults later). NULL if there is no room;
 * then the file is unchanged. From anywhere. *offset: where in the file. */
void *tl_rt_store_take(rt_store *s, uint64_t *n, uint64_t *offset);
/* n bytes as whole pages. */
RT_INLINE uint64_t rt_store_pages(const rt_store *s, uint64_t n)
{
    return (n + s->page - 1) & ~(s->page - 1);
}
/* RLIMIT_FSIZE: the largest size of a file. Writing beyond it raises SIGXFSZ. From anywhere. */
uint64_t tl_rt_store_largest(void);
/* Writes all n bytes into a file, or nothing if that would exceed the largest size; 0 or -errno. From anywhere. */
long tl_rt_store_write(long fd, const void *p, uint64_t n, uint64_t offset);
/* Reserves room on the disk; writes zeros on file systems that cannot. `mode`: of fallocate(). 0 or -errno. */
long tl_rt_store_reserve(long fd, int mode, uint64_t offset, uint64_t n);
/* Unmaps; the bytes stay in the file. */
void tl_rt_store_unmap(void *p, uint64_t n);
/* Cuts the file to n bytes (unless UINT64_MAX) and closes it. Mappings stay. */
int tl_rt_store_close(rt_store *s, uint64_t n);
/* After fork, in the child: forgets the file, and unmaps `whole`. `busy`: the fork was in a signal handler that
 * interrupted the recorder, whose stores go on when it returns: they then go to unused memory. */
void tl_rt_store_forget(rt_store *s, bool busy);
void tl_rt_store_leave(void *p, uint64_t n, bool busy); /* the same for a piece that was taken */

/* From now on all of the recorder's mappings lie far away from the program and its libraries, where jumps of patched
 * code want to go. Before the first of them, if possible. */
void tl_rt_memory_far(void);
/* The recorder's own memory, private and zero; NULL: out of memory. From anywhere. */
void *tl_rt_memory_take(size_t n);
void tl_rt_memory_give(void *p, size_t n);
void *tl_rt_memory_grow(void *p, size_t from, size_t to); /* may move; NULL: p is as it was */
/* The same, aligned to 8 bytes and never freed: small pieces share pages. */
void *tl_rt_memory_keep(size_t n);

#endif
