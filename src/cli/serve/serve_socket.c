/* Sockets that only this machine reaches. There is no option for others: ssh -L leads here from elsewhere. */
#include "cli/serve/serve_socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/message.h"
#include "cli/verbs.h"

enum { BACKLOG = 16 };

int tl_serve_check_build(void)
{
#ifdef TL_HAVE_SERVE
    return TL_EXIT_DONE;
#else
    tl_say_error(NULL, "serve: this build has no server, since it was made without libmicrohttpd; report -o x.html "
                       "writes the page to a file");
    return TL_EXIT_USAGE;
#endif
}

typedef union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct sockaddr_un file;
} address;

/* A socket that listens; -1 with errno. */
static int listen_at(const address *where, socklen_t n)
{
    const int on = 1, fd = socket(where->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    if (where->any.sa_family != AF_UNIX)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, &where->any, n) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    const int why = errno;
    close(fd);
    errno = why;
    return -1;
}

static int listen_port(tl_serve_socket *s, const tl_arguments *a, tl_error *e)
{
    address where = {0};
    socklen_t n = a->ipv6 ? sizeof where.v6 : sizeof where.v4;
    s->host = a->ipv6 ? "[::1]" : "127.0.0.1";
    if (a->ipv6)
        where.v6 = (struct sockaddr_in6){
            .sin6_family = AF_INET6, .sin6_port = htons((uint16_t)a->port), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    else
        where.v4 = (struct sockaddr_in){
            .sin_family = AF_INET, .sin_port = htons((uint16_t)a->port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    s->fd = listen_at(&where, n);
    if (s->fd < 0 || getsockname(s->fd, &where.any, &n) != 0)
        return tl_fail_errno(e, errno, "cannot listen at %s:%u", s->host, (unsigned)a->port);
    s->port = ntohs(a->ipv6 ? where.v6.sin6_port : where.v4.sin_port);
    return 0;
}

/* A socket that nobody listens at any more, of one that was killed. */
static bool is_left_behind(const address *where)
{
    struct stat st;
    if (lstat(where->file.sun_path, &st) != 0 || !S_ISSOCK(st.st_mode))
        return false;
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool dead = fd >= 0 && connect(fd, &where->any, sizeof where->file) != 0 && errno == ECONNREFUSED;
    if (fd >= 0)
        close(fd);
    return dead;
}

static int listen_file(tl_serve_socket *s, const char *path, tl_error *e)
{
    address where = {.file = {.sun_family = AF_UNIX}};
    if (strlen(path) >= sizeof where.file.sun_path)
        return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "--socket: a path has at most %zu bytes",
                       sizeof where.file.sun_path - 1);
    memcpy(where.file.sun_path, path, strlen(path));
    if (is_left_behind(&where))
        unlink(path);
    const mode_t before = umask(0177);
    s->fd = listen_at(&where, sizeof where.file);
    umask(before);
    if (s->fd < 0 && errno == EADDRINUSE)
        return tl_fail(e, TL_EEXIST, TL_NO_OFFSET, "--socket: %s exists", path);
    if (s->fd < 0)
        return tl_fail_errno(e, errno, "cannot listen at %s", path);
    s->path = path;
    s->host = "localhost";
    return 0;
}

int tl_serve_listen(tl_serve_socket *s, const tl_arguments *a, tl_error *e)
{
    return a->socket ? listen_file(s, a->socket, e) : listen_port(s, a, e);
}

void tl_serve_url(const tl_serve_socket *s, const char *token, char url[static TL_SERVE_URL])
{
    if (s->port)
        snprintf(url, TL_SERVE_URL, "http://%s:%u/%s/", s->host, s->port, token);
    else
        snprintf(url, TL_SERVE_URL, "http://%s/%s/", s->host, token);
}

void tl_serve_socket_remove(tl_serve_socket *s)
{
    if (s->path)
        unlink(s->path);
    s->path = NULL;
}
