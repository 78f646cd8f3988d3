/* Input: any file, pipe or compressed file as bytes that can be read at any offset.
 *
 * A plain regular file is read in place by pread (never mapped: a file that shrinks must not kill us, and memory must
 * stay bounded). A pipe, and the decompressed content of .gz/.zst/.bz2, is kept in memory up to a limit and beyond it
 * in an unlinked temporary file ($TMPDIR, else /var/tmp, else /tmp). Who reads from front to back can have .zst
 * decompressed while it is read instead: tl_input_open_lazy(). Thread rule: tl_input_read() may be called from several
 * threads at once. */
#ifndef TL_BASE_INPUT_H
#define TL_BASE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "traceloom/error.h"

typedef struct tl_input tl_input;

#define TL_INPUT_MEMORY         (16u << 20) /* a pipe's content up to this size stays in memory */
#define TL_INPUT_EXPANSION      4096u       /* content may be this many times its compressed size, ... */
#define TL_INPUT_EXPANSION_FREE (1u << 30)  /* ... once it is larger than this: a guard against bombs */

/* Opens a path, or standard input for "-". A directory is TL_EUNSUPPORTED. Compression is found by content.
 * Messages begin with the name of the input. Damaged compressed data: what was decompressed before it is there;
 * tl_input_damage() says where it broke. */
int tl_input_open(tl_input **out, const char *path, tl_error *e);
/* The same, but .zst that says how large its content is, in a regular file, is decompressed when and where it is read:
 * well from front to back, and by several threads in different frames. Reading it far back costs decompressing a frame
 * again; after as much of that as there is content, everything is spooled. Damage is found when it is met: then
 * tl_input_size(), which until then is what the file says, changes to what is there, tl_input_damage() tells, and both
 * stay. They are those of tl_input_open() then, since all that comes before is looked at, too; but who reads elsewhere
 * may have got bytes from behind it before. A table of frames at the end of the file is believed until one of them
 * turns out to be something else; then everything is spooled. */
int tl_input_open_lazy(tl_input **out, const char *path, tl_error *e);
/* The same for a file that is found by the name of another one: only a regular file. A pipe, which might never have a
 * writer, is TL_EUNSUPPORTED. */
int tl_input_open_beside(tl_input **out, const char *path, tl_error *e);
/* As tl_input_open_lazy() for an open file, which becomes the input's, also on failure; and for bytes that are borrowed
 * until close.
 */
int tl_input_open_lazy_file(tl_input **out, int fd, const char *path, tl_error *e);
int tl_input_open_lazy_memory(tl_input **out, const void *data, size_t size, const char *path, tl_error *e);
/* For who will read in any order, or wants to know of damage now: decompresses everything, as tl_input_open() does. No
 * other thread may use the input. Does nothing if it is not lazy. On failure it is as before; messages do not name it.
 */
int tl_input_settle(tl_input *in, tl_error *e);
/* Content in memory: for tests and fuzzing. The bytes are borrowed until close. */
int tl_input_open_memory(tl_input **out, const void *data, size_t size, const char *path, tl_error *e);
/* A regular file that is open for reading, as it is, whatever it begins with. The descriptor becomes the input's, also
 * on failure. */
int tl_input_open_file(tl_input **out, int fd, const char *path, tl_error *e);
/* As tl_input_open() for content that is still being written: a plain regular file that grows, or a pipe that is read
 * as it comes. Does not wait for content: tl_input_size() is what is there, of a pipe 0. Compressed content is
 * TL_EUNSUPPORTED, here or from tl_input_wait(). Whoever writes into the file has to go on with the same one: that it
 * was replaced by another of the same name is not noticed. One thread at a time may use such an input. */
int tl_input_open_follow(tl_input **out, const char *path, tl_error *e);
bool tl_input_follows(const tl_input *in);
/* Waits until tl_input_size() is larger than size_known, or no more will come, or timeout_ms (0: just looks) are over,
 * or a signal came. *ended: tl_input_size() is final, because the writer closed the pipe, because the file became
 * shorter (damage: tl_input_damage() tells), or because the input is not one to follow. A regular file has no end:
 * whoever follows it stops some day. The size changes in here only. 0 in all these cases, else < 0; messages do not
 * name the input. */
int tl_input_wait(tl_input *in, uint64_t size_known, unsigned timeout_ms, bool *ended, tl_error *e);
void tl_input_close(tl_input *in);

/* Of a plain regular file that someone may be writing still: tl_input_size() becomes what it is now, if that is more.
 * For other inputs it stays. No other thread may use the input. */
void tl_input_look_again(tl_input *in);

const char *tl_input_path(const tl_input *in);
const char *tl_input_name(const tl_input *in); /* what messages call it: the path, or "standard input" */
uint64_t tl_input_size(const tl_input *in);    /* of the content, after decompression */
/* Message of damage in the compressed data, or NULL. *offset is where in the content it ends. */
const char *tl_input_damage(const tl_input *in, uint64_t *offset);

/* Of content that is decompressed when it is read: how many compressed parts it has, each of which can be read without
 * those before it; 0 if it is something else. */
uint32_t tl_input_frames(const tl_input *in);
/* Of the same: the first skippable frame (0x184d2a50 to 0x184d2a5f) with this magic number, if it is at most
 * TL_NOTE_BYTES_MAX long. 1: *data is to be freed; 0: there is none; < 0: error. */
int tl_input_note(const tl_input *in, uint32_t magic, void **data, size_t *n, tl_error *e);

/* Reads up to n bytes at an offset; returns in *got how many (fewer only at the end of the content). EINTR and short
 * reads are retried. A file that became shorter after it was opened is TL_EIO, with the offset where it ends now; one
 * that is followed says so as damage. Messages do not name the input: callers know what they read it for, and put both
 * in front. */
int tl_input_read(tl_input *in, uint64_t offset, void *buf, size_t n, size_t *got, tl_error *e);

#endif
