/* The cache of indexes: its folder, the file for a trace, and whether it is valid.
 *
 * A file, little-endian:
 *   0 magic "tl-index"  8 version u32  12 size u32 (of the content)  16 identity u64[2] (of the folder's files)
 *   32 checksum u64 (of the content)  40 content */
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif

#include "format/ctf/read/index_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/endian.h"
#include "base/hash.h"
#include "base/io/output.h"

/* Increase it when the content, or the way to find it, changes. */
#define VERSION 3u

/* A file that changed less than this ago may change again with the same time stamp. */
#define SETTLED_NS INT64_C(2000000000)

#define PATH_SIZE 4096u
#define SUFFIX    ".index"

enum { MAGIC = 0, FILE_VERSION = 8, SIZE = 12, IDENTITY = 16, CHECKSUM = 32, HEAD = 40 };

static const char magic[8] = {'t', 'l', '-', 'i', 'n', 'd', 'e', 'x'};

typedef struct identity {
    uint64_t half[2];
} identity;

/* Names, sizes and times of all files: two hashes, so that collisions are practically impossible. */
static identity identity_of(const tl_folder *f)
{
    identity id;
    for (unsigned half = 0; half < 2; half++) {
        tl_hasher h = tl_hasher_stable();
        tl_hasher_add(&h, half);
        for (uint32_t i = 0; i < f->n; i++) {
            tl_hasher_text(&h, f->file[i].name);
            tl_hasher_add(&h, f->file[i].size);
            tl_hasher_add(&h, (uint64_t)f->file[i].modified_ns);
        }
        id.half[half] = tl_hasher_end(h);
    }
    return id;
}

static uint64_t stable_hash(const void *p, size_t n)
{
    tl_hasher h = tl_hasher_stable();
    tl_hasher_bytes(&h, p, n);
    return tl_hasher_end(h);
}

/* Whether every further change of a file would change its time stamp. */
static bool is_settled(const tl_folder *f)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    const int64_t limit = (int64_t)((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec) - SETTLED_NS;
    for (uint32_t i = 0; i < f->n; i++)
        if (f->file[i].modified_ns > limit)
            return false;
    return true;
}

static bool is_off(const tl_folder *f)
{
    const char *off = getenv("TRACELOOM_NO_CACHE");
    return f->fd < 0 || (off && *off && strcmp(off, "0") != 0);
}

/* The cache's folder, created on request. False: none. */
static bool cache_folder(char path[PATH_SIZE], bool make)
{
    const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int n = -1;
    if (base && *base == '/')
        n = snprintf(path, PATH_SIZE, "%s", base);
    else if (home && *home == '/')
        n = snprintf(path, PATH_SIZE, "%s/.cache", home);
    if (n < 0 || (size_t)n >= PATH_SIZE - sizeof "/traceloom")
        return false;
    if (make)
        (void)mkdir(path, 0700);
    memcpy(path + n, "/traceloom", sizeof "/traceloom");
    return !make || mkdir(path, 0700) == 0 || access(path, W_OK | X_OK) == 0;
}

/* The cache file for a folder. */
static bool cache_file(char path[PATH_SIZE], const tl_folder *f, bool make)
{
    if (is_off(f) || !cache_folder(path, make))
        return false;
    char *absolute = realpath(f->path, NULL);
    if (!absolute)
        return false;
    const size_t n = strlen(path);
    const int m = snprintf(path + n, PATH_SIZE - n, "/%016" PRIx64 SUFFIX, stable_hash(absolute, strlen(absolute)));
    free(absolute);
    return m > 0 && (size_t)m < PATH_SIZE - n;
}

/* Whether a file begins like our cache of this folder; *size: of its content. */
static bool check_head(const uint8_t *head, const tl_folder *f, uint64_t file_size, size_t *size)
{
    const identity id = identity_of(f);
    if (memcmp(head + MAGIC, magic, sizeof magic) != 0 || tl_load32(head + FILE_VERSION, false) != VERSION ||
        tl_load64(head + IDENTITY, false) != id.half[0] || tl_load64(head + IDENTITY + 8, false) != id.half[1])
        return false;
    *size = tl_load32(head + SIZE, false);
    return *size <= INDEX_CACHE_FILE_MAX && file_size - HEAD == *size;
}

void *index_cache_load(const tl_folder *f, size_t *n)
{
    char path[PATH_SIZE];
    uint8_t head[HEAD];
    uint8_t *data = NULL;
    struct stat st;
    size_t size = 0;
    const int fd = cache_file(path, f, false) ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) : -1;
    if (fd < 0)
        return NULL;
    bool ok = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size >= HEAD &&
              read(fd, head, sizeof head) == (ssize_t)sizeof head && check_head(head, f, (uint64_t)st.st_size, &size);
    if (ok)
        ok = (data = malloc(size + 1)) && read(fd, data, size) == (ssize_t)size &&
             stable_hash(data, size) == tl_load64(head + CHECKSUM, false);
    if (ok)
        (void)futimens(fd, NULL); /* marks it as used */
    close(fd);
    if (!ok) {
        free(data);
        return NULL;
    }
    *n = size;
    return data;
}

/* ---- bounded size ---- */

typedef struct survey {
    uint64_t bytes;  /* of all our files */
    char oldest[64]; /* name; "": none */
    struct timespec time;
    uint64_t oldest_bytes;
} survey;

static bool is_ours(const char *name)
{
    return strlen(name) < sizeof((survey *)NULL)->oldest && strstr(name, SUFFIX) != NULL && name[0] != '.';
}

static survey look_around(int fd)
{
    survey s = {0};
    const int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = own < 0 ? NULL : fdopendir(own);
    if (own >= 0 && !d)
        close(own);
    for (const struct dirent *entry; d && (entry = readdir(d));) {
        struct stat st;
        if (!is_ours(entry->d_name) || fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
            continue;
        s.bytes += (uint64_t)st.st_size;
        const bool older = st.st_mtim.tv_sec < s.time.tv_sec ||
                           (st.st_mtim.tv_sec == s.time.tv_sec && st.st_mtim.tv_nsec < s.time.tv_nsec);
        if (!*s.oldest || older) {
            memcpy(s.oldest, entry->d_name, strlen(entry->d_name) + 1);
            s.time = st.st_mtim;
            s.oldest_bytes = (uint64_t)st.st_size;
        }
    }
    if (d)
        closedir(d);
    return s;
}

/* Deletes the oldest files until there is room for n bytes. */
static void make_room(uint64_t n)
{
    char path[PATH_SIZE];
    const int fd = cache_folder(path, false) ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    for (survey s = look_around(fd); s.bytes + n > INDEX_CACHE_FOLDER_MAX && *s.oldest; s = look_around(fd))
        if (unlinkat(fd, s.oldest, 0) < 0)
            break;
    close(fd);
}

void index_cache_store(const tl_folder *f, const void *data, size_t n)
{
    char path[PATH_SIZE];
    uint8_t head[HEAD];
    tl_output *out = NULL;
    if (n > INDEX_CACHE_FILE_MAX || !is_settled(f) || !cache_file(path, f, true))
        return;
    const identity id = identity_of(f);
    memcpy(head + MAGIC, magic, sizeof magic);
    tl_store32(head + FILE_VERSION, VERSION, false);
    tl_store32(head + SIZE, (uint32_t)n, false);
    tl_store64(head + IDENTITY, id.half[0], false);
    tl_store64(head + IDENTITY + 8, id.half[1], false);
    tl_store64(head + CHECKSUM, stable_hash(data, n), false);
    make_room(n + HEAD);
    if (tl_output_open(&out, path, true, TL_PLAIN, 0, NULL) < 0) /* renamed when complete */
        return;
    tl_output_write(out, head, sizeof head);
    tl_output_write(out, data, n);
    (void)tl_output_finish(out, NULL);
    tl_output_close(out);
}
