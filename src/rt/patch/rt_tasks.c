/* Reads /proc/self/task: how many threads there are, and where, is asked before code is changed. */
#include "rt/patch/rt_tasks.h"

#include <fcntl.h>

#include "rt/rt_sys.h"

enum { ROOM = 4096, LENGTH = 16, NAME = 19 }; /* d_reclen, and d_name behind d_type */

bool tl_rt_tasks(rt_task_visit *visit, void *arg)
{
    char room[ROOM];
    long folder = RT_SYS4(SYS_openat, AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0), got = 1;
    bool ok = folder >= 0;
    while (ok && (got = RT_SYS3(SYS_getdents64, folder, room, ROOM)) > 0)
        for (long i = 0; ok && i < got; i += *(uint16_t *)(void *)(room + i + LENGTH))
            ok = room[i + NAME] == '.' || visit(arg, folder, room + i + NAME);
    if (folder >= 0)
        RT_SYS1(SYS_close, folder);
    return ok && got == 0;
}
