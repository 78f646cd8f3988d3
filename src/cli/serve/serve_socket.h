/* Where `serve` listens: at an address of this machine, or at a socket file. */
#ifndef TL_CLI_SERVE_SOCKET_H
#define TL_CLI_SERVE_SOCKET_H

#include "cli/options.h"
#include "traceloom/error.h"

#define TL_SERVE_URL 128u /* bytes of an address */

typedef struct tl_serve_socket {
    int fd;
    const char *path; /* of a socket file, to be removed; or NULL */
    const char *host;
    unsigned port;
} tl_serve_socket;

/* TL_EXIT_DONE, or says that this build cannot serve. */
int tl_serve_check_build(void);
/* Listens as the options say. Errors: TL_EIO, TL_EEXIST. */
int tl_serve_listen(tl_serve_socket *s, const tl_arguments *a, tl_error *e);
/* "http://127.0.0.1:43121/1f0c..9e/" */
void tl_serve_url(const tl_serve_socket *s, const char *token, char url[static TL_SERVE_URL]);
/* Removes the file of the socket. Zeroed has none. */
void tl_serve_socket_remove(tl_serve_socket *s);

#endif
