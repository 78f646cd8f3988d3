/* What was typed in earlier shells. Several shells may add lines at the same time. */
#include "cli/query/query_history.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_ROOM  4096u
#define BYTES_KEPT ((off_t)256 << 10) /* of the file; older lines are dropped */

/* Makes the folders of a path; those that are there stay as they are. */
static void make_folders(char *path)
{
    for (char *p = path + 1; *p; p++) {
        if (*p != '/')
            continue;
        *p = '\0';
        mkdir(path, S_IRWXU);
        *p = '/';
    }
}

int tl_history_open(void)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    char path[PATH_ROOM];
    struct stat s;
    const int n = state && *state == '/' ? snprintf(path, sizeof path, "%s/traceloom/history", state)
                  : home && *home == '/' ? snprintf(path, sizeof path, "%s/.local/state/traceloom/history", home)
                                         : -1;
    if (n < 0 || (size_t)n >= sizeof path)
        return -1;
    make_folders(path);
    const int fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (fd < 0)
        return -1;
    if (fstat(fd, &s) < 0 || !S_ISREG(s.st_mode) || s.st_uid != geteuid() ||
        ((s.st_mode & (S_IRWXG | S_IRWXO)) && fchmod(fd, S_IRUSR | S_IWUSR) < 0)) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Control characters would be commands for the terminal. */
static bool is_plain(const char *line)
{
    for (; *line; line++)
        if (((unsigned char)*line < 0x20 && *line != '\t') || *line == 0x7f)
            return false;
    return true;
}

/* The end of the file, from the begin of a line; NULL: nothing. */
static char *read_end(int fd, size_t *size)
{
    const off_t end = lseek(fd, 0, SEEK_END), from = end > BYTES_KEPT ? end - BYTES_KEPT : 0;
    char *text = end > 0 ? malloc((size_t)(end - from) + 1) : NULL;
    const ssize_t n = text ? pread(fd, text, (size_t)(end - from), from) : 0;
    if (n <= 0) {
        free(text);
        return NULL;
    }
    text[n] = '\0';
    *size = (size_t)n;
    if (from > 0) {
        const char *begin = memchr(text, '\n', *size);
        *size -= begin ? (size_t)(begin + 1 - text) : 0;
        memmove(text, begin ? begin + 1 : text, *size + 1);
    }
    return text;
}

/* Drops older lines of a file that has grown to twice of what is kept. */
static void shorten(int fd, const char *text, size_t size)
{
    if (lseek(fd, 0, SEEK_END) > 2 * BYTES_KEPT && ftruncate(fd, 0) == 0 && write(fd, text, size) < 0)
        (void)ftruncate(fd, 0);
}

void tl_history_read(int fd, void (*each)(void *arg, const char *line), void *arg)
{
    size_t size;
    if (fd < 0)
        return;
    flock(fd, LOCK_EX);
    char *text = read_end(fd, &size);
    if (text)
        shorten(fd, text, size);
    flock(fd, LOCK_UN);
    for (char *line = text, *end; line && *line; line = end) {
        end = line + strcspn(line, "\n");
        if (*end)
            *end++ = '\0';
        if (*line && is_plain(line))
            each(arg, line);
    }
    free(text);
}

void tl_history_add(int fd, const char *line)
{
    char *copy = NULL;
    const int n = fd < 0 || !is_plain(line) ? -1 : asprintf(&copy, "%s\n", line);
    if (n < 0)
        return;
    flock(fd, LOCK_EX);
    const ssize_t written = write(fd, copy, (size_t)n);
    (void)written; /* a full disk: the line is forgotten */
    flock(fd, LOCK_UN);
    free(copy);
}
