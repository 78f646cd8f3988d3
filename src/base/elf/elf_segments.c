/* Reads program headers and the dynamic section.
 *
 * The file header is in elf_file.c; phoff is at 32, phentsize at 54 and phnum at 56. A program header of ELF64 has 56
 * bytes: u32 type, u32 flags, u64 offset, u64 address, u64 physical address, u64 bytes in the file, u64 bytes in
 * memory, u64 alignment. A dynamic entry has 16: i64 tag, u64 value. */
#include "base/elf/elf_segments.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "base/io/input.h"

/* Dynamic entries of one file; the largest programs have some 100. */
#define DYNAMIC_MAX 4096u
/* Bytes of notes that are searched; real ones have less than 200. */
#define NOTES_MAX   65536u
/* Of the path of a loader, or the name of a library: what the kernel accepts. */
#define NAME_SIZE   4096u

enum {
    HEADER_CLASS = 4,
    HEADER_ORDER = 5,
    HEADER_TYPE = 16,
    HEADER_MACHINE = 18,
    HEADER_ENTRY = 24,
    HEADER_SEGMENTS_AT = 32,
    HEADER_SEGMENT_SIZE = 54,
    HEADER_SEGMENTS = 56,
    HEADER_SHORT = 20, /* what ELF32 has, too */
    HEADER_BYTES = 64,
    SEGMENT_BYTES = 56,
    DYNAMIC_BYTES = 16,
    GO_BUILD_ID = 4
};

int tl_elf_segments_bytes(const tl_elf_segments *s, uint64_t offset, void *buf, size_t n, tl_error *e)
{
    size_t got = 0;
    const int status = tl_input_read(s->in, offset, buf, n, &got, e);
    if (status < 0)
        return status;
    if (got < n)
        return tl_fail(e, TL_EDAMAGED, offset + got, "%s: the file ends inside a segment", tl_input_path(s->in));
    return TL_OK;
}

const tl_elf_segment *tl_elf_segment_find(const tl_elf_segments *s, uint32_t type)
{
    for (uint32_t i = 0; i < s->nsegment; i++)
        if (s->segment[i].type == type)
            return &s->segment[i];
    return NULL;
}

static int read_header(tl_elf_segments *s, uint8_t header[HEADER_BYTES], tl_error *e)
{
    const char *path = tl_input_path(s->in);
    size_t got = 0;
    const int status = tl_input_read(s->in, 0, header, HEADER_BYTES, &got, e);
    if (status < 0)
        return status;
    if (got < SELFMAG || memcmp(header, ELFMAG, SELFMAG) != 0)
        return tl_fail(e, TL_EFORMAT, 0, "%s: not an ELF file", path);
    if (got < HEADER_SHORT)
        return tl_fail(e, TL_EDAMAGED, got, "%s: the file ends inside its ELF header", path);
    s->is64 = header[HEADER_CLASS] == ELFCLASS64;
    s->big = header[HEADER_ORDER] == ELFDATA2MSB;
    s->type = tl_load16(header + HEADER_TYPE, s->big);
    s->machine = tl_load16(header + HEADER_MACHINE, s->big);
    if (s->is64 && got < HEADER_BYTES)
        return tl_fail(e, TL_EDAMAGED, got, "%s: the file ends inside its ELF header", path);
    return TL_OK;
}

static int read_segments(tl_elf_segments *s, const uint8_t *header, tl_error *e)
{
    const char *path = tl_input_path(s->in);
    s->entry = tl_load64(header + HEADER_ENTRY, s->big);
    const uint64_t at = tl_load64(header + HEADER_SEGMENTS_AT, s->big);
    const uint16_t n = tl_load16(header + HEADER_SEGMENTS, s->big),
                   size = tl_load16(header + HEADER_SEGMENT_SIZE, s->big);
    uint8_t raw[SEGMENT_BYTES];
    if (n == 0)
        return TL_OK;
    if (size != SEGMENT_BYTES)
        return tl_fail(e, TL_EDAMAGED, HEADER_SEGMENT_SIZE, "%s: program headers of %u bytes, expected %u", path, size,
                       (unsigned)SEGMENT_BYTES);
    s->segment = calloc(n, sizeof *s->segment);
    if (!s->segment)
        return tl_fail(e, TL_ENOMEM, at, "%s: no memory for %u program headers", path, n);
    for (uint32_t i = 0; i < n; i++) {
        if (at > UINT64_MAX - (uint64_t)SEGMENT_BYTES * (i + 1))
            return tl_fail(e, TL_EDAMAGED, HEADER_SEGMENTS_AT, "%s: program headers are said to be at %#" PRIx64, path,
                           at);
        const int status = tl_elf_segments_bytes(s, at + (uint64_t)i * SEGMENT_BYTES, raw, sizeof raw, e);
        if (status < 0)
            return status;
        s->segment[i] = (tl_elf_segment){.type = tl_load32(raw, s->big),
                                         .flags = tl_load32(raw + 4, s->big),
                                         .offset = tl_load64(raw + 8, s->big),
                                         .address = tl_load64(raw + 16, s->big),
                                         .in_file = tl_load64(raw + 32, s->big),
                                         .in_memory = tl_load64(raw + 40, s->big)};
        s->nsegment = i + 1;
    }
    return TL_OK;
}

/* Where the file has the bytes of an address, of which n can be read; false: nowhere. */
static bool find_bytes(const tl_elf_segments *s, uint64_t address, uint64_t *offset, uint64_t *n)
{
    for (uint32_t i = 0; i < s->nsegment; i++) {
        const tl_elf_segment *p = &s->segment[i];
        if (p->type != PT_LOAD || address < p->address || address - p->address >= p->in_file ||
            p->offset > UINT64_MAX - (address - p->address))
            continue;
        *offset = p->offset + (address - p->address);
        *n = p->in_file - (address - p->address);
        return true;
    }
    return false;
}

static int read_interpreter(tl_elf_segments *s, tl_error *e)
{
    const tl_elf_segment *p = tl_elf_segment_find(s, PT_INTERP);
    if (!p)
        return TL_OK;
    if (p->in_file > NAME_SIZE)
        return tl_fail(e, TL_EDAMAGED, p->offset, "%s: the loader's path is said to have %" PRIu64 " bytes",
                       tl_input_path(s->in), p->in_file);
    s->interpreter = calloc(1, (size_t)p->in_file + 1);
    if (!s->interpreter)
        return tl_fail(e, TL_ENOMEM, p->offset, "%s: no memory", tl_input_path(s->in));
    return tl_elf_segments_bytes(s, p->offset, s->interpreter, (size_t)p->in_file, e);
}

/* Notes: u32 name size, u32 size, u32 type, name, content, the last two padded to 4 bytes. */
static bool has_go_note(const tl_elf_segments *s, const uint8_t *p, size_t n)
{
    while (n >= 12) {
        const uint32_t name = tl_load32(p, s->big), size = tl_load32(p + 4, s->big), type = tl_load32(p + 8, s->big);
        p += 12;
        n -= 12;
        if (name > n || size > n)
            return false;
        if (type == GO_BUILD_ID && name == 4 && memcmp(p, "Go\0\0", 4) == 0)
            return true;
        const size_t all = (((size_t)name + 3) & ~(size_t)3) + (((size_t)size + 3) & ~(size_t)3);
        if (all > n)
            return false;
        p += all;
        n -= all;
    }
    return false;
}

static int read_notes(tl_elf_segments *s, tl_error *e)
{
    uint8_t *note = malloc(NOTES_MAX);
    uint64_t left = NOTES_MAX;
    if (!note)
        return tl_fail(e, TL_ENOMEM, 0, "%s: no memory for notes", tl_input_path(s->in));
    for (uint32_t i = 0; i < s->nsegment && !s->go; i++) {
        const tl_elf_segment *p = &s->segment[i];
        tl_error ignored = {0};
        if (p->type != PT_NOTE || p->in_file > left)
            continue;
        left -= p->in_file;
        if (tl_elf_segments_bytes(s, p->offset, note, (size_t)p->in_file, &ignored) == 0)
            s->go = has_go_note(s, note, (size_t)p->in_file);
    }
    free(note);
    return TL_OK;
}

/* A text of the table, to be freed; NULL: it is not there, not terminated, or there is no memory. */
static char *read_text(const tl_elf_segments *s, uint64_t table, uint64_t at)
{
    char text[NAME_SIZE];
    uint64_t offset, room;
    tl_error ignored = {0};
    size_t got = 0;
    if (at > UINT64_MAX - table || !find_bytes(s, table + at, &offset, &room))
        return NULL;
    room = room < sizeof text ? room : sizeof text;
    if (tl_input_read(s->in, offset, text, (size_t)room, &got, &ignored) < 0 || !memchr(text, 0, got))
        return NULL;
    return strdup(text);
}

static bool has_text(int64_t tag)
{
    return tag == DT_NEEDED || tag == DT_SONAME || tag == DT_RPATH || tag == DT_RUNPATH;
}

static int read_dynamic(tl_elf_segments *s, tl_error *e)
{
    const tl_elf_segment *p = tl_elf_segment_find(s, PT_DYNAMIC);
    uint64_t table = 0;
    const uint64_t most = p ? p->in_file / DYNAMIC_BYTES : 0;
    const size_t n = most < DYNAMIC_MAX ? (size_t)most : DYNAMIC_MAX;
    if (n == 0)
        return TL_OK;
    s->dynamic = calloc(n, sizeof *s->dynamic);
    if (!s->dynamic)
        return tl_fail(e, TL_ENOMEM, p->offset, "%s: no memory for its dynamic section", tl_input_path(s->in));
    for (; s->ndynamic < n; s->ndynamic++) {
        uint8_t raw[DYNAMIC_BYTES];
        const uint64_t at = (uint64_t)s->ndynamic * DYNAMIC_BYTES;
        const int status = p->offset > UINT64_MAX - at
                               ? tl_fail(e, TL_EDAMAGED, p->offset, "%s: its dynamic section", tl_input_path(s->in))
                               : tl_elf_segments_bytes(s, p->offset + at, raw, sizeof raw, e);
        if (status < 0)
            return status;
        tl_elf_dynamic *d = &s->dynamic[s->ndynamic];
        d->tag = (int64_t)tl_load64(raw, s->big);
        d->value = tl_load64(raw + 8, s->big);
        if (d->tag == DT_NULL)
            break;
        table = d->tag == DT_STRTAB ? d->value : table;
    }
    for (uint32_t i = 0; i < s->ndynamic; i++)
        if (has_text(s->dynamic[i].tag))
            s->dynamic[i].text = read_text(s, table, s->dynamic[i].value);
    return TL_OK;
}

int tl_elf_segments_read(tl_elf_segments *out, const char *path, tl_error *e)
{
    uint8_t header[HEADER_BYTES] = {0};
    tl_elf_segments s = {0};
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return tl_fail_errno(e, errno, "%s", path);
    int status = tl_input_open_file(&s.in, fd, path, e); /* as it is, compressed or not */
    if (status < 0)
        return status;
    status = read_header(&s, header, e);
    if (status == 0 && s.is64) {
        status = read_segments(&s, header, e);
        if (status == 0)
            status = read_interpreter(&s, e);
        if (status == 0)
            status = read_notes(&s, e);
        if (status == 0)
            status = read_dynamic(&s, e);
    }
    if (status < 0) {
        tl_elf_segments_free(&s);
        return status;
    }
    *out = s;
    return TL_OK;
}

void tl_elf_segments_free(tl_elf_segments *s)
{
    free(s->segment);
    for (uint32_t i = 0; i < s->ndynamic; i++)
        free(s->dynamic[i].text);
    free(s->dynamic);
    free(s->interpreter);
    tl_input_close(s->in);
    *s = (tl_elf_segments){0};
}
