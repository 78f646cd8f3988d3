/* A file of HTML in the folder for the user's own short-lived files. */
#include "cli/serve/serve_open.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const char *folder(void)
{
    static const char *const names[] = {"XDG_RUNTIME_DIR", "TMPDIR"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value && *value == '/')
            return value;
    }
    return "/tmp";
}

static int write_file(tl_serve_redirect *r, const char *url, tl_error *e)
{
    static const char suffix[] = ".html";
    if (asprintf(&r->path, "%s/traceloom-XXXXXX%s", folder(), suffix) < 0) {
        r->path = NULL;
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the file that opens the browser");
    }
    const int fd = mkstemps(r->path, (int)strlen(suffix)); /* of mode 0600 */
    if (fd < 0) {
        const int status = tl_fail_errno(e, errno, "%s", r->path);
        free(r->path);
        r->path = NULL;
        return status;
    }
    FILE *f = fdopen(fd, "w");
    bool good = f && fprintf(f,
                             "<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>traceloom</title>\n"
                             "<meta http-equiv=\"refresh\" content=\"0; url=%s\">\n<a href=\"%s\">The page</a>\n",
                             url, url) > 0;
    good = (f ? fclose(f) : close(fd)) == 0 && good;
    return good ? 0 : tl_fail_errno(e, errno, "%s", r->path);
}

/* Starts the program that opens files; it does not wait for the browser. */
static int run(const char *path, tl_error *e)
{
    char command[] = "xdg-open";
    char *const argument[] = {command, (char *)(uintptr_t)path, NULL};
    posix_spawnattr_t how;
    sigset_t none;
    pid_t pid;
    int status;
    sigemptyset(&none);
    posix_spawnattr_init(&how);
    posix_spawnattr_setsigmask(&how, &none);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK);
    errno = posix_spawnp(&pid, command, NULL, &how, argument, environ);
    posix_spawnattr_destroy(&how);
    if (errno != 0)
        return tl_fail_errno(e, errno, "xdg-open");
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status == 0 ? 0 : tl_fail(e, TL_EIO, TL_NO_OFFSET, "xdg-open found no browser");
}

int tl_serve_redirect_open(tl_serve_redirect *r, const char *url, tl_error *e)
{
    int status = write_file(r, url, e);
    if (status == 0)
        status = run(r->path, e);
    if (status < 0)
        tl_serve_redirect_remove(r);
    return status;
}

void tl_serve_redirect_remove(tl_serve_redirect *r)
{
    if (r->path)
        unlink(r->path);
    free(r->path);
    r->path = NULL;
}
