/* The shim's versions of calls that open, name and close files, and that make threads. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shim.h"

/* The mode is passed only if a file may be made. */
static mode_t mode_of(int flags, va_list list)
{
    return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(list, mode_t) : 0;
}

static int open_at(int folder, const char *path, int flags, mode_t mode)
{
    return tl_fault_due(FAULT_OPEN) ? -1 : (int)syscall(SYS_openat, folder, path, flags, mode);
}

int open(const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    const mode_t mode = mode_of(flags, list);
    va_end(list);
    return open_at(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    const mode_t mode = mode_of(flags, list);
    va_end(list);
    return open_at(AT_FDCWD, path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    const mode_t mode = mode_of(flags, list);
    va_end(list);
    return open_at(folder, path, flags, mode);
}

int openat64(int folder, const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    const mode_t mode = mode_of(flags, list);
    va_end(list);
    return open_at(folder, path, flags, mode);
}

/* A descriptor is closed even if close fails. */
int close(int fd)
{
    const int fails = tl_fault_due(FAULT_CLOSE), error = errno;
    const int result = (int)syscall(SYS_close, fd);
    errno = fails ? error : errno;
    return fails ? -1 : result;
}

int rename(const char *from, const char *to)
{
    return tl_fault_due(FAULT_NAME) ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags)
{
    return tl_fault_due(FAULT_NAME) ? -1 : (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
}

int link(const char *from, const char *to)
{
    return tl_fault_due(FAULT_NAME) ? -1 : (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
    return tl_fault_due(FAULT_NAME) ? -1 : (int)syscall(SYS_linkat, from_folder, from, to_folder, to, flags);
}

int mkdir(const char *path, mode_t mode)
{
    return tl_fault_due(FAULT_MKDIR) ? -1 : (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

int mkdirat(int folder, const char *path, mode_t mode)
{
    return tl_fault_due(FAULT_MKDIR) ? -1 : (int)syscall(SYS_mkdirat, folder, path, mode);
}

typedef int create_thread(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
static create_thread *real_create;

__attribute__((constructor(101))) static void find_real(void)
{
    real_create = (create_thread *)dlsym(RTLD_NEXT, "pthread_create");
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *arg)
{
    return tl_fault_due(FAULT_THREAD) ? EAGAIN : real_create(thread, attributes, run, arg);
}
