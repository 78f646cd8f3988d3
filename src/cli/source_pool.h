/* Inputs that stay open between questions of `serve`, by what is read of them. */
#ifndef TL_CLI_SOURCE_POOL_H
#define TL_CLI_SOURCE_POOL_H

#include "cli/verbs.h"
#include "traceloom/source.h"

typedef struct tl_source_pool tl_source_pool;

/* A pool whose sources end reading with TL_ELIMIT when `stop` says so. NULL: no memory. */
tl_source_pool *tl_source_pool_new(bool (*stop)(void *arg), void *arg);
/* Closes all. NULL is fine. */
void tl_source_pool_free(tl_source_pool *p);
/* Closes all, so that the next questions see what the files are then. None is in use. */
void tl_source_pool_empty(tl_source_pool *p);

/* An open source for the path, with the options of the command line; borrowed until the pool is emptied. *done counts
 * the bytes read. Errors: those of tl_source_open(). */
int tl_source_pool_get(tl_source_pool *p, const tl_cli *c, const char *path, const tl_want *want, tl_source **out,
                       uint64_t **done, tl_error *e);

#endif
