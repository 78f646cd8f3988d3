/* Becomes a daemon the classic way: fault_daemon READY. The first process ends at once; its grandchild has no terminal
 * and no descriptors, makes calls, and creates the file READY when it is done. */
#define FUNCTIONS(X) X(main) X(leaf)
#include "count.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CALLS = 1000 };

TRACED static void leaf(void)
{
    __asm__ volatile("");
}

TRACED int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    if (fork() > 0)
        _exit(0);
    setsid();
    if (fork() > 0)
        _exit(0);
    for (int fd = 0; fd < 1024; fd++)
        close(fd);
    for (int i = 0; i < CALLS; i++)
        leaf();
    return open(argv[1], O_WRONLY | O_CREAT, 0600) < 0;
}
