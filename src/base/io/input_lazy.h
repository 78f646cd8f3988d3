/* Compressed content that is decompressed where and when it is read: the implementation of tl_input_open_lazy().
 *
 * A few decoders are each positioned in a frame. Threads that read different frames decompress at the same time. */
#ifndef TL_BASE_INPUT_LAZY_H
#define TL_BASE_INPUT_LAZY_H

#include "base/io/decompress.h"
#include "base/io/input_frames.h"
#include "base/io/spool.h"

/* Most decoders, and most bytes of all their windows (one may be larger). */
#define TL_LAZY_SLOTS        8u
#define TL_LAZY_WINDOW_BYTES (64u << 20)
/* Most bytes decompressed repeatedly before everything is spooled; or the content's size, if that is more. */
#define TL_LAZY_AGAIN        (64u << 20)

typedef struct tl_lazy tl_lazy;

/* 1: *out decompresses on reading; 0: it has to be spooled; < 0: error. A descriptor in *p is borrowed until
 * tl_lazy_own(). */
int tl_lazy_open(tl_lazy **out, const tl_packed *p, tl_error *e);
/* Takes the descriptor over. */
void tl_lazy_own(tl_lazy *l);
void tl_lazy_close(tl_lazy *l);

/* Any thread may call the rest. */
uint64_t tl_lazy_size(const tl_lazy *l);
/* A message about damage, which no longer changes, or NULL. */
const char *tl_lazy_damage(tl_lazy *l, uint64_t *offset);
int tl_lazy_read(tl_lazy *l, uint64_t offset, void *buf, size_t n, size_t *got, tl_error *e);
const tl_frames *tl_lazy_frames(const tl_lazy *l);
int tl_lazy_note(const tl_lazy *l, uint32_t magic, void **data, size_t *n, tl_error *e);
/* Decompresses everything into the empty *spool, and describes damage, or "". */
int tl_lazy_spool(const tl_lazy *l, tl_spool *spool, char damage[TL_CODEC_DAMAGE], tl_error *e);

#endif
