/* Writes files of recordings of instructions. Compressed streams have an index, see docs/format/xtrace.md; without its
 * end, which a killed command does not write, a file is still read from front to back. */
#include "cli/insn/insn_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/xtrace/xtrace_layout.h"

#define LEVEL 1u

int tl_insn_file_open(tl_insn_file *f, int folder, const char *name, bool packed, tl_error *e)
{
    *f = (tl_insn_file){.target = {.fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)}};
    if (f->target.fd < 0)
        return tl_fail_errno(e, errno, "%s", name);
    int r = packed ? tl_compressor_new(&f->z, TL_ZSTD, LEVEL, e) : 0;
    f->target.path = r == 0 ? strdup(name) : NULL;
    if (r == 0 && !f->target.path)
        r = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "out of memory");
    if (r < 0) {
        close(f->target.fd);
        tl_compressor_free(f->z);
        *f = (tl_insn_file){.target = {.fd = -1}};
    }
    return r;
}

bool tl_insn_file_is_open(const tl_insn_file *f)
{
    return f->target.path != NULL;
}

int tl_insn_file_write(tl_insn_file *f, const void *data, size_t n, tl_error *e)
{
    return f->z ? tl_compressor_write(f->z, &f->target, data, n, false, e) : tl_target_write(&f->target, data, n, e);
}

int tl_insn_file_put_frame(tl_insn_file *f, const void *data, size_t n, const xtrace_frame *at, tl_error *e)
{
    int r = 0;
    if (f->z && f->index.n)
        r = tl_compressor_cut(f->z, &f->target, e);
    if (f->z && r == 0)
        r = xtrace_index_add(&f->index, at, e);
    return r < 0 ? r : tl_insn_file_write(f, data, n, e);
}

static int put_index(tl_insn_file *f, tl_error *e)
{
    uint8_t *bytes;
    size_t n;
    int r = xtrace_index_encode(&f->index, &bytes, &n, e);
    if (r == 0)
        r = tl_compressor_note(f->z, XTRACE_INDEX_FRAME_MAGIC, bytes, n, e);
    free(bytes);
    return r;
}

int tl_insn_file_close(tl_insn_file *f, tl_error *e)
{
    int r = 0;
    if (!tl_insn_file_is_open(f))
        return 0;
    if (f->z && f->index.n > 1)
        r = put_index(f, e);
    if (f->z && r == 0)
        r = tl_compressor_write(f->z, &f->target, NULL, 0, true, e);
    if (close(f->target.fd) != 0 && r == 0)
        r = tl_fail_errno(e, errno, "%s", f->target.path);
    tl_compressor_free(f->z);
    free(f->target.path);
    xtrace_index_fini(&f->index);
    *f = (tl_insn_file){.target = {.fd = -1}};
    return r;
}
