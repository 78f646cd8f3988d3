/* Choosing and giving the names of recordings. */
#include "rt/rt_files.h"

#include <fcntl.h>

#include "rt/rt_settings.h"
#include "rt/rt_sys.h"

enum { FILE_MODE = 0600 };

static char paths[3][RT_PATH];

static unsigned index_of(unsigned mode)
{
    return mode == RT_MODE_FDR ? 0 : mode == RT_MODE_PROFILE ? 1 : 2;
}

void tl_rt_files_choose(unsigned modes)
{
    for (unsigned mode = RT_MODE_FDR; mode <= RT_MODE_CTF; mode <<= 1)
        if (modes & mode)
            tl_rt_settings_path(&tl_rt.set, mode, tl_rt.exe, tl_rt.pid, paths[index_of(mode)]);
    unsigned first = tl_rt.set.modes & -tl_rt.set.modes;
    rt_copy(tl_rt.path, paths[index_of(first)], RT_PATH);
}

const char *tl_rt_files_path(unsigned mode)
{
    return paths[index_of(mode)];
}

static void append(char *out, const char *path, const char *suffix)
{
    size_t n = rt_length(path);
    n = n < RT_PATH ? n : RT_PATH - 1;
    rt_copy(out, path, n);
    rt_copy(out + n, suffix, rt_length(suffix) + 1);
}

void tl_rt_files_live(char out[static RT_PATH + 8], unsigned mode)
{
    append(out, tl_rt_files_path(mode), ".live");
}

int tl_rt_files_settle(unsigned mode)
{
    char live[RT_PATH + 8];
    tl_rt_files_live(live, mode);
    return (int)RT_SYS4(SYS_renameat, AT_FDCWD, live, AT_FDCWD, tl_rt_files_path(mode));
}

int tl_rt_files_beside(const char *path, char beside[static RT_PATH + 8])
{
    append(beside, path, ".part");
    RT_SYS3(SYS_unlinkat, AT_FDCWD, beside, 0); /* left by a process that was killed */
    return (int)RT_SYS4(SYS_openat, AT_FDCWD, beside, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, FILE_MODE);
}

int tl_rt_files_rename(int fd, const char *beside, const char *path, int status)
{
    long closed = RT_SYS1(SYS_close, fd);
    if (status == 0)
        status = (int)closed;
    if (status == 0)
        status = (int)RT_SYS4(SYS_renameat, AT_FDCWD, beside, AT_FDCWD, path);
    if (status < 0)
        RT_SYS3(SYS_unlinkat, AT_FDCWD, beside, 0);
    return status;
}
