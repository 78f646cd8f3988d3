/* A number that stands for content. */
#include "base/io/content_id.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/endian.h"
#include "base/hash.h"
#include "base/io/folder.h"
#include "base/io/input.h"

#define PIECE ((size_t)1 << 16)

static void add_number(tl_digest *d, uint64_t v)
{
    uint8_t bytes[8];
    tl_store64(bytes, v, false);
    tl_digest_add(d, bytes, sizeof bytes);
}

static int add_content(tl_digest *d, tl_input *in, tl_error *e)
{
    uint8_t piece[PIECE];
    size_t got = 0;
    int status = 0;
    for (uint64_t at = 0; status == 0; at += got) {
        status = tl_input_read(in, at, piece, sizeof piece, &got, e);
        if (status < 0 || got == 0)
            break;
        tl_digest_add(d, piece, got);
    }
    return status;
}

static int add_folder(tl_digest *d, const tl_folder *f, tl_error *e)
{
    int status = 0;
    for (uint32_t i = 0; i < f->n && status == 0; i++) {
        tl_input *in = NULL;
        status = tl_folder_input(f, i, &in, e);
        if (status < 0)
            break;
        tl_digest_add(d, f->file[i].name, strlen(f->file[i].name) + 1);
        add_number(d, tl_input_size(in));
        status = add_content(d, in, e);
        tl_input_close(in);
    }
    return status;
}

static tl_content_state state_of_folder(const tl_folder *f)
{
    tl_content_state state = {.changed = f->n};
    for (uint32_t i = 0; i < f->n; i++) {
        state.bytes += f->file[i].size;
        state.changed = tl_hash_mix(state.changed + f->file[i].size) ^ (uint64_t)f->file[i].modified_ns;
    }
    return state;
}

static tl_content_state state_of_file(const struct stat *s)
{
    const uint64_t size = (uint64_t)s->st_size;
    return (tl_content_state){size, tl_hash_mix(size ^ tl_hash_mix((uint64_t)s->st_ino)) ^
                                        ((uint64_t)s->st_mtim.tv_sec * 1000000000u + (uint64_t)s->st_mtim.tv_nsec)};
}

static int open_file(int *fd, struct stat *s, const char *path, tl_error *e)
{
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (*fd < 0 || fstat(*fd, s) < 0) {
        const int code = errno;
        if (*fd >= 0)
            close(*fd);
        return tl_fail_errno(e, code, "%s", path);
    }
    if (S_ISREG(s->st_mode) || S_ISDIR(s->st_mode))
        return 0;
    close(*fd);
    return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "%s is neither a file nor a folder", path);
}

/* d: NULL, or what the content is added to. */
static int look(tl_digest *d, tl_content_state *state, const char *path, tl_error *e)
{
    int fd;
    struct stat s;
    int status = open_file(&fd, &s, path, e);
    if (status < 0)
        return status;
    if (S_ISDIR(s.st_mode)) {
        tl_folder *f = NULL;
        close(fd);
        status = tl_folder_open(&f, path, e);
        if (status < 0)
            return status;
        *state = state_of_folder(f);
        status = d ? add_folder(d, f, e) : 0;
        tl_folder_close(f);
        return status;
    }
    *state = state_of_file(&s);
    if (!d) {
        close(fd);
        return 0;
    }
    tl_input *in = NULL;
    status = tl_input_open_file(&in, fd, path, e);
    if (status == 0)
        status = add_content(d, in, e);
    tl_input_close(in);
    return status;
}

int tl_content_id_of(tl_content_id *id, const char *path, tl_error *e)
{
    tl_digest d;
    uint8_t bytes[TL_DIGEST_MOST];
    tl_digest_begin(&d, TL_DIGEST_SHA256);
    const int status = look(&d, &id->state, path, e);
    tl_digest_end(&d, bytes);
    id->number = (int64_t)(tl_load64(bytes, true) >> 1);
    return status;
}

int tl_content_look(tl_content_state *state, const char *path, tl_error *e)
{
    return look(NULL, state, path, e);
}
