/* Finds the separate debug file of a binary, where debuggers look for it. */
#include "op/symbols/debug_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/crc32.h"
#include "base/io/input.h"

typedef struct search {
    const tl_elf *elf;
    const char *root;
    char **refused; /* the first file that is of another build; or NULL */
} search;

/* The CRC-32 of a whole file, as in .gnu_debuglink. False if it cannot be read. */
static bool file_crc(const char *path, uint32_t *crc)
{
    enum { CHUNK = 65536 };
    uint64_t offset = 0;
    size_t got = 0;
    bool ok = false;
    tl_input *in = NULL;
    uint8_t *buf = malloc(CHUNK);
    if (!buf || tl_input_open(&in, path, NULL) < 0)
        goto out;
    *crc = 0;
    do {
        if (tl_input_read(in, offset, buf, CHUNK, &got, NULL) < 0)
            goto out;
        *crc = tl_crc32(*crc, buf, got);
        offset += got;
    } while (got == CHUNK);
    ok = true;
out:
    tl_input_close(in);
    free(buf);
    return ok;
}

/* Are a and b the same file, not just equal ones? */
static bool same_file(const char *a, const char *b)
{
    struct stat sa, sb;
    return stat(a, &sa) == 0 && stat(b, &sb) == 0 && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

/* Opens path if it is the debug file of elf. Takes path over; it is NULL if memory ran out. */
static int try(tl_elf **out, char *path, search *s, tl_error *e)
{
    const tl_elf *elf = s->elf;
    tl_elf *debug = NULL;
    struct stat status;
    uint32_t want = 0, crc = 0;
    int rc = 0;

    if (!path)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "%s: no memory to look for its debug file", tl_elf_path(elf));
    /* Only a regular file: opening a pipe would wait. */
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode) || same_file(path, tl_elf_path(elf)))
        goto out;
    if (tl_elf_open(&debug, path, NULL) < 0)
        goto out;
    const char *id = tl_elf_build_id(elf), *debug_id = tl_elf_build_id(debug);
    if (id && debug_id)
        rc = strcmp(id, debug_id) == 0;
    else
        rc = tl_elf_debuglink(elf, &want) && file_crc(path, &crc) && crc == want;
    if (rc == 1) {
        *out = debug;
        goto out;
    }
    tl_elf_close(debug);
    if (s->refused && !*s->refused) {
        *s->refused = path;
        return 0;
    }
out:
    free(path);
    return rc;
}

/* Concatenates three strings; NULL when memory runs out. */
static char *join(const char *a, const char *b, const char *c)
{
    size_t room = strlen(a) + strlen(b) + strlen(c) + 1;
    char *path = malloc(room);
    if (path)
        (void)snprintf(path, room, "%s%s%s", a, b, c);
    return path;
}

static int try_build_id(tl_elf **out, search *s, tl_error *e)
{
    const char *id = tl_elf_build_id(s->elf);
    char middle[] = "/.build-id/xx/";
    if (!id || strlen(id) < 3)
        return 0;
    memcpy(middle + sizeof "/.build-id/" - 1, id, 2);
    char *base = join(s->root, middle, id + 2);
    if (!base)
        return try(out, NULL, s, e);
    char *path = join(base, ".debug", "");
    free(base);
    return try(out, path, s, e);
}

static int try_debuglink(tl_elf **out, search *s, tl_error *e)
{
    const char *link = tl_elf_debuglink(s->elf, NULL);
    if (!link || strchr(link, '/'))
        return 0; /* only a plain name: the binary must not choose a folder */
    char *folder = realpath(tl_elf_path(s->elf), NULL);
    if (!folder)
        return 0;
    strrchr(folder, '/')[1] = '\0';

    int rc = try(out, join(folder, link, ""), s, e);
    if (rc == 0)
        rc = try(out, join(folder, ".debug/", link), s, e);
    if (rc == 0) {
        char *under_root = join(s->root, folder, link);
        rc = try(out, under_root, s, e);
    }
    free(folder);
    return rc;
}

int tl_debug_file_open(tl_elf **out, const tl_elf *elf, const char *root, char **refused, tl_error *e)
{
    search s = {.elf = elf, .root = root, .refused = refused};
    int rc = try_build_id(out, &s, e);
    if (rc == 0)
        rc = try_debuglink(out, &s, e);
    if (rc != 0 && refused) {
        free(*refused);
        *refused = NULL;
    }
    return rc;
}
