/* Takes the numbers of standard files that are not open, so that no trace gets them. */
#include "cli/standard_files.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

bool tl_standard_files_fill(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF)
            continue;
        /* The wrong way round, so that use fails; a program that we run finds them closed, as it would without us. */
        const int way = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;
        if (open("/dev/null", way | O_CLOEXEC) != fd)
            return false;
    }
    return true;
}
