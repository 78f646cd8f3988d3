/* Output: buffered writing to a file (beside it, then renamed), to standard output, or to memory; compressed on
 * request. The first failure is kept: later writes do nothing, tl_output_finish() reports it. */
#ifndef TL_BASE_OUTPUT_H
#define TL_BASE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "traceloom/error.h"

typedef struct tl_output tl_output;

typedef enum tl_compression { TL_PLAIN, TL_GZIP, TL_ZSTD } tl_compression;

/* path "-": standard output. A file is created as PATH.XXXXXX beside its target with the mode that open() would give.
 */
int tl_output_open(tl_output **out, const char *path, bool overwrite, tl_compression c, unsigned level, tl_error *e);
/* Collects in memory: tl_output_take_memory() after finish. */
int tl_output_open_memory(tl_output **out, tl_compression c, tl_error *e);

void tl_output_write(tl_output *o, const void *data, size_t n);
/* Room for at least n bytes (n <= TL_OUTPUT_ROOM), to be written in place and completed by tl_output_commit() with the
 * end. For hot paths. After a failure the room is still valid memory. */
#define TL_OUTPUT_ROOM 65536u
char *tl_output_reserve(tl_output *o, size_t n);
void tl_output_commit(tl_output *o, char *end);
__attribute__((format(printf, 2, 3))) void tl_output_printf(tl_output *o, const char *format, ...);
void tl_output_puts(tl_output *o, const char *s);

/* Bytes written so far, before compression. */
uint64_t tl_output_bytes(const tl_output *o);

/* Marks a place where a reader could begin: ends a zstd frame that holds at least TL_OUTPUT_FRAME bytes. The file then
 * ends with a table of its frames (see seek_table.h); other compressions are unaffected. True: the next bytes begin a
 * frame. */
#define TL_OUTPUT_FRAME (1u << 20)
bool tl_output_cut(tl_output *o);
/* Bytes about the frames, to be written before that table in a frame that decoders skip; `magic` is one of its sixteen
 * magic numbers. Copied. Call once, before finish; does nothing if no frame was cut. */
void tl_output_note_frame(tl_output *o, uint32_t magic, const void *data, size_t n);

/* Overwrites n bytes written earlier at an offset (before compression). Only for plain files and memory. */
int tl_output_patch(tl_output *o, uint64_t offset, const void *data, size_t n, tl_error *e);
bool tl_output_can_patch(const tl_output *o);

/* Sends what was written so far to the reader at the other end. A compressor keeps what it needs to compress well, and
 * a file has no name before it is finished. A failure is kept, see above, and returned. */
int tl_output_flush(tl_output *o, tl_error *e);
/* Flushes, completes compression, renames. The output must still be closed. EPIPE on standard output is TL_EIO with
 * sys_errno EPIPE; the command line ends silently on it. */
int tl_output_finish(tl_output *o, tl_error *e);
/* After finish of a memory output: the bytes, owned by the caller (free()). */
void *tl_output_take_memory(tl_output *o, size_t *n);
/* Without finish: removes what was written. */
void tl_output_close(tl_output *o);

#endif
