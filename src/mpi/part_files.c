/* A part is a hidden file: magic, CRC-32 of what follows, the size of the messages, the messages, the sum. A file that
 * differs from that in anything, as after a power failure, is made again. */
#include "mpi/part_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc32.h"
#include "base/endian.h"
#include "base/grow.h"
#include "base/io/base_name.h"
#include "base/io/folder_tree.h"
#include "base/io/input.h"
#include "base/io/output.h"
#include "mpi/sum_bytes.h"

#define PART_MAGIC  "TLMPART1"
#define PART_SUFFIX ".part"
#define NAME_DIGITS (2 * TL_DIGEST_MOST)

enum { MAGIC = 0, CHECKSUM = 8, MESSAGES = CHECKSUM + 4, CONTENT = MESSAGES + 8 };

bool tl_part_files_init(tl_part_files *f, const char *state, const char *output)
{
    const char *name = tl_base_name(output);
    const size_t n = strlen(output) + sizeof "..parts";
    f->folder = state ? strdup(state) : tl_alloc(n, 1);
    if (f->folder && !state)
        snprintf(f->folder, n, "%.*s.%s.parts", (int)(name - output), output, name);
    return f->folder;
}

int tl_part_files_make(const tl_part_files *f, tl_error *e)
{
    struct stat st;
    if (mkdir(f->folder, 0700) < 0 && errno != EEXIST)
        return tl_fail_errno(e, errno, "%s: the folder for parts cannot be made", f->folder);
    if (lstat(f->folder, &st) < 0)
        return tl_fail_errno(e, errno, "%s", f->folder);
    if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || st.st_mode & (S_IWGRP | S_IWOTH))
        return tl_fail(e, TL_EINVAL, TL_NO_OFFSET,
                       "%s: the folder for parts must be a folder of yours that nobody else can write to; --state DIR "
                       "names another",
                       f->folder);
    return 0;
}

static char *path_of(const tl_part_files *f, const tl_part_key *key)
{
    char name[1 + NAME_DIGITS + sizeof PART_SUFFIX];
    char *at = name;
    *at++ = '.';
    for (unsigned i = 0; i < TL_DIGEST_MOST; i++, at += 2)
        snprintf(at, 3, "%02x", key->byte[i]);
    memcpy(at, PART_SUFFIX, sizeof PART_SUFFIX);
    return tl_path_join(f->folder, name);
}

static uint32_t checksum_of(const tl_rank_bytes *messages, const tl_rank_bytes *sum)
{
    uint8_t size[8];
    tl_store64(size, messages->n, false);
    const uint32_t crc = tl_crc32(tl_crc32(0, size, sizeof size), messages->data, messages->n);
    return tl_crc32(crc, sum->data, sum->n);
}

/* False: it cannot be read. */
static bool read_file(const char *path, tl_rank_bytes *b)
{
    tl_input *in = NULL;
    size_t got = 0;
    if (tl_input_open_beside(&in, path, NULL) < 0)
        return false;
    const uint64_t size = tl_input_size(in);
    b->data = size < SIZE_MAX ? tl_alloc((size_t)size + 1, 1) : NULL;
    while (b->data && tl_input_read(in, b->n, b->data + b->n, (size_t)size - b->n, &got, NULL) == 0 && got)
        b->n += got;
    tl_input_close(in);
    return b->data && b->n == size;
}

/* The messages and the sum in a file. False: it is not as it was written. */
static bool split(const tl_rank_bytes *file, tl_rank_bytes *messages, tl_rank_bytes *sum)
{
    if (file->n < CONTENT || memcmp(file->data + MAGIC, PART_MAGIC, CHECKSUM) != 0)
        return false;
    const uint64_t n = tl_load64(file->data + MESSAGES, false);
    if (n > file->n - CONTENT)
        return false;
    *messages = (tl_rank_bytes){file->data + CONTENT, (size_t)n};
    *sum = (tl_rank_bytes){messages->data + messages->n, file->n - CONTENT - (size_t)n};
    return checksum_of(messages, sum) == tl_load32(file->data + CHECKSUM, false);
}

bool tl_part_files_take(const tl_part_files *f, const tl_part_key *key, tl_report_sum *sum, tl_rank_bytes *messages)
{
    tl_rank_bytes file = {0}, said, packed;
    tl_error e;
    char *path = path_of(f, key);
    bool took = path && read_file(path, &file) && split(&file, &said, &packed) &&
                tl_sum_unpack(sum, packed.data, packed.n, &e) == 0;
    if (took && (messages->data = tl_alloc(said.n + 1, 1))) {
        memcpy(messages->data, said.data, said.n);
        messages->n = said.n;
    } else if (took) {
        tl_profile_free(sum->profile);
        took = false;
    }
    free(file.data);
    free(path);
    return took;
}

static int write_file(const char *path, const tl_rank_bytes *messages, const tl_rank_bytes *sum, tl_error *e)
{
    uint8_t head[CONTENT];
    struct stat st;
    tl_output *out = NULL;
    if (lstat(path, &st) == 0 && !S_ISREG(st.st_mode)) /* would be written to, not replaced: a pipe blocks */
        unlink(path);
    int status = tl_output_open(&out, path, true, TL_PLAIN, 0, e);
    if (status < 0)
        return status;
    memcpy(head + MAGIC, PART_MAGIC, CHECKSUM);
    tl_store32(head + CHECKSUM, checksum_of(messages, sum), false);
    tl_store64(head + MESSAGES, messages->n, false);
    tl_output_write(out, head, sizeof head);
    tl_output_write(out, messages->data, messages->n);
    tl_output_write(out, sum->data, sum->n);
    status = tl_output_finish(out, e);
    tl_output_close(out);
    return status;
}

int tl_part_files_keep(const tl_part_files *f, const tl_part_key *key, const tl_report_sum *sum,
                       const tl_rank_bytes *messages, tl_error *e)
{
    tl_rank_bytes packed = {0};
    char *path = path_of(f, key);
    int status = path ? tl_sum_pack(sum, &packed, e) : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a part");
    if (status == 0)
        status = write_file(path, messages, &packed, e);
    free(packed.data);
    free(path);
    return status;
}

/* ".<hex>.part", or the same with the ending of a file that is being written. */
static bool is_part(const char *name)
{
    const size_t digits = name[0] == '.' ? strspn(name + 1, "0123456789abcdef") : 0;
    return digits == NAME_DIGITS && strncmp(name + 1 + digits, PART_SUFFIX, sizeof PART_SUFFIX - 1) == 0;
}

void tl_part_files_remove(const tl_part_files *f)
{
    DIR *d = opendir(f->folder);
    if (!d)
        return;
    for (const struct dirent *entry; (entry = readdir(d));)
        if (is_part(entry->d_name))
            unlinkat(dirfd(d), entry->d_name, 0);
    closedir(d);
    rmdir(f->folder);
}

void tl_part_files_fini(tl_part_files *f)
{
    free(f->folder);
    f->folder = NULL;
}
