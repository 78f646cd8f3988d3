/* Opens the page of `serve` in the user's browser. */
#ifndef TL_CLI_SERVE_OPEN_H
#define TL_CLI_SERVE_OPEN_H

#include "traceloom/error.h"

/* A file that leads to the page. */
typedef struct tl_serve_redirect {
    char *path; /* NULL: there is none */
} tl_serve_redirect;

/* Writes the file, which only its owner can read, and opens it: the command line of a browser, which others can read,
 * must not have the token. Errors: TL_EIO, TL_ENOMEM. */
int tl_serve_redirect_open(tl_serve_redirect *r, const char *url, tl_error *e);
/* Removes the file, if there is one. */
void tl_serve_redirect_remove(tl_serve_redirect *r);

#endif
