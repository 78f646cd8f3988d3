/* Input: any file, pipe or compressed file as bytes that can be read at any offset.
 *
 * A plain regular file is read in place by pread (never mapped: a file that shrinks must not kill us, and memory must
 * stay bounded). A pipe, and the decompressed content of .gz/.zst/.bz2, is kept in memory up to a limit and beyond it
 * in an unlinked temporary file ($TMPDIR, else /var/tmp, else /tmp). Callers that read from front to back can have .zst
 * decompressed while reading: tl_input_open_lazy(). Thread rule: tl_input_read() may be called from several threads at
 * once. */
#ifndef TL_BASE_INPUT_H
#define TL_BASE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "traceloom/error.h"

typedef struct tl_input tl_input;

#define TL_INPUT_MEMORY         (16u << 20) /* a pipe's content stays in memory up to this size */
#define TL_INPUT_EXPANSION      4096u       /* content may be this many times its compressed size, ... */
#define TL_INPUT_EXPANSION_FREE (1u << 30)  /* ... once it is larger than this: a guard against decompression bombs */

/* Opens a path, or standard input for "-". A directory is TL_EUNSUPPORTED. Compression is found by content.
 * Messages begin with the name of the input. If compressed data is damaged, the content before it is there, and
 * tl_input_damage() says where it ends. */
int tl_input_open(tl_input **out, const char *path, tl_error *e);
/* The same, but .zst with a known content size, in a regular file, is decompressed where and when it is read: best from
 * front to back, or by several threads in different frames. Reading far back decompresses a frame again; after doing
 * that for as much as the content's size, everything is spooled. Damage is found on reading: then tl_input_size(),
 * until then the file's claim, changes to what is there, tl_input_damage() is set, and both stay. The results are those
 * of tl_input_open(), since everything before is checked first; but bytes after the damage may have been read earlier.
 * The table of frames at the end of the file is trusted until one of them turns out to differ; then everything is
 * spooled. */
int tl_input_open_lazy(tl_input **out, const char *path, tl_error *e);
/* The same for a file found by another one's name: only a regular file. A pipe, which might never have a writer, is
 * TL_EUNSUPPORTED. */
int tl_input_open_beside(tl_input **out, const char *path, tl_error *e);
/* As tl_input_open_lazy(), for an open file, which the input takes over, also on failure; and for bytes that are
 * borrowed until close. */
int tl_input_open_lazy_file(tl_input **out, int fd, const char *path, tl_error *e);
int tl_input_open_lazy_memory(tl_input **out, const void *data, size_t size, const char *path, tl_error *e);
/* For callers that read in any order, or need to know of damage now: decompresses everything, as tl_input_open() does.
 * No other thread may use the input. Does nothing if it is not lazy. On failure it is unchanged; messages do not name
 * it. */
int tl_input_settle(tl_input *in, tl_error *e);
/* Content in memory: for tests and fuzzing. The bytes are borrowed until close. */
int tl_input_open_memory(tl_input **out, const void *data, size_t size, const char *path, tl_error *e);
/* An open regular file, read as is without looking for compression. The input takes the descriptor over, also on
 * failure. */
int tl_input_open_file(tl_input **out, int fd, const char *path, tl_error *e);
/* As tl_input_open(), for content still being written: a growing plain file, or a pipe read as data arrives. Does not
 * wait for content: tl_input_size() is what is there, 0 for a pipe. Compressed content is TL_EUNSUPPORTED, here or from
 * tl_input_wait(). The writer must keep writing to the same file: a replacement by another file of the same name is not
 * noticed. One thread at a time may use such an input. */
int tl_input_open_follow(tl_input **out, const char *path, tl_error *e);
bool tl_input_follows(const tl_input *in);
/* Waits until tl_input_size() is larger than size_known, or no more will come, or timeout_ms (0: only looks) have
 * passed, or a signal came. *ended: tl_input_size() is final, because the writer closed the pipe, the file became
 * shorter (damage: see tl_input_damage()), or the input does not follow. A regular file never ends: the caller has to
 * stop following. The size changes only in here. 0 in all these cases, else < 0; messages do not name the input. */
int tl_input_wait(tl_input *in, uint64_t size_known, unsigned timeout_ms, bool *ended, tl_error *e);
void tl_input_close(tl_input *in);

/* Updates tl_input_size() of a plain regular file that may still be growing. Other inputs do not change. No other
 * thread may use the input. */
void tl_input_look_again(tl_input *in);

const char *tl_input_path(const tl_input *in);
const char *tl_input_name(const tl_input *in); /* its name in messages: the path, or "standard input" */
uint64_t tl_input_size(const tl_input *in);    /* of the content, after decompression */
/* Message about damage in the compressed data, or NULL. *offset: where the content ends. */
const char *tl_input_damage(const tl_input *in, uint64_t *offset);

/* How many independently readable compressed parts there are, if content is decompressed on reading; otherwise 0. */
uint32_t tl_input_frames(const tl_input *in);
/* The first skippable frame (0x184d2a50 to 0x184d2a5f) with this magic number, of at most TL_NOTE_BYTES_MAX, also only
 * then. 1: free *data; 0: none; < 0: error. */
int tl_input_note(const tl_input *in, uint32_t magic, void **data, size_t *n, tl_error *e);

/* Reads up to n bytes at an offset; *got is how many (fewer only at the end of the content). Retries EINTR and short
 * reads. A file that became shorter since it was opened is TL_EIO, with its new end as offset; if it is followed, that
 * is damage. Messages do not name the input: the caller puts its name and the purpose in front. */
int tl_input_read(tl_input *in, uint64_t offset, void *buf, size_t n, size_t *got, tl_error *e);

#endif
