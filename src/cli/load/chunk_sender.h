/* Sends chunks of one trace to their shards while the next ones are made: a few blocks, and threads that send them. */
#ifndef TL_CLI_CHUNK_SENDER_H
#define TL_CLI_CHUNK_SENDER_H

#include "cli/load/load_lock.h"

typedef struct tl_chunk_sender tl_chunk_sender;

/* A chunk that is to be sent. */
typedef struct tl_chunk_order {
    const char *table;
    uint32_t number;
    tl_native_block block;
} tl_chunk_order;

/* For a trace, whose lock is held until close(). Errors: TL_ENOMEM. */
int tl_chunk_sender_open(tl_chunk_sender **out, tl_servers *s, tl_load_lock *lock, int64_t trace, tl_error *e);
void tl_chunk_sender_close(tl_chunk_sender *c); /* NULL is fine; gives up what is not sent yet */

/* Waits for an order that nobody uses. Its block may have anything in it. Errors: those of sending any other one. */
int tl_chunk_sender_order(tl_chunk_sender *c, tl_chunk_order **out, tl_error *e);
/* Gives it back: to be sent, or not. */
void tl_chunk_sender_put(tl_chunk_sender *c, tl_chunk_order *order, bool send);
/* Waits until all are sent. 0: each was acknowledged, or a shard was asked for it and has it; whether it was stored
 * right is asked later, of all chunks at once. Errors: TL_EIO, TL_EINVAL. */
int tl_chunk_sender_wait(tl_chunk_sender *c, tl_error *e);

#endif
