/* One loader at a time for each trace: the lock is a statement of ours that the server works on as long as we live, so
 * that a loader that is killed leaves nothing behind. */
#ifndef TL_CLI_LOAD_LOCK_H
#define TL_CLI_LOAD_LOCK_H

#include "cli/load/server_link.h"
#include "cli/verbs.h"

typedef struct tl_load_lock {
    tl_http_hold *hold;
    char name[64];
} tl_load_lock;

/* Waits until no other loader has the trace, and until statements of one that was killed have ended. path: of messages.
 * fini is needed in any case. Errors: TL_EIO, TL_EINVAL, TL_ELIMIT (it takes too long). */
int tl_load_lock_take(tl_load_lock *l, tl_servers *s, int64_t trace, const tl_cli *c, const char *path, tl_error *e);
/* Shows the server that we are still there. False: the lock is lost. */
bool tl_load_lock_keep(tl_load_lock *l);
void tl_load_lock_fini(tl_load_lock *l);

/* Waits until no statement of this name runs on a server; a name that ends in % is a pattern. */
int tl_load_wait_idle(tl_shard *s, const char *id, tl_error *e);

#endif
