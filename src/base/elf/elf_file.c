/* Opens ELF64 files and gives out their sections; elf_symbols.c walks symbols and relocations.
 *
 * The file header, 64 bytes (numbers in the byte order that byte 5 names):
 *
 *     0     4     5      6          16    18                40               58          60      62
 *     +-----+-----+------+----------+-----+--------+--------+-------+--------+-----------+-------+----------+
 *     |7fELF|class|order | ...      |type |machine | ...    | shoff | ...    | shentsize | shnum | shstrndx |
 *     +-----+-----+------+----------+-----+--------+--------+-------+--------+-----------+-------+----------+
 *            2=64  1 little                         8 bytes, where the        = 64        sections, and which
 *                  2 big                            section headers begin                 one holds their names
 *
 * and a section header, 64 bytes: u32 name, u32 type, u64 flags, u64 address, u64 offset, u64 size, u32 link, u32 info,
 * u64 alignment, u64 entry size. Section 0 is void; if shnum is 0 its size is the number of sections, and if
 * shstrndx is 0xffff its link is the section of names.
 *
 * Only the headers, their names and two small notes are read on opening, other sections when they are asked for. */
#include "base/elf/elf_file.h"

#include <assert.h>
#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/endian.h"
#include "base/grow.h"
#include "base/io/input.h"

/* Sections of one file. A large program compiled with a section for each function has some 100,000 of them. */
#define SECTIONS_MAX      (1u << 20)
/* Bytes of one section that is read: room for 44 million symbols. */
#define SECTION_BYTES_MAX (UINT64_C(1) << 30)
/* Valid sections do not overlap, so their total is no larger than the file. Reading a few times more means that a small
 * file tries to be expensive. */
#define OVERLAP_MAX       2u
/* Larger note or debuglink sections are not read on opening. */
#define NOTE_BYTES_MAX    65536u
/* Build ids have 8 to 32 bytes in practice. */
#define BUILD_ID_MAX      64u

enum {
    HEADER_CLASS = 4,
    HEADER_ORDER = 5,
    HEADER_TYPE = 16,
    HEADER_MACHINE = 18,
    HEADER_SECTIONS_AT = 40,
    HEADER_SECTION_SIZE = 58,
    HEADER_SECTIONS = 60,
    HEADER_NAMES = 62,
    HEADER_BYTES = 64
};

enum {
    SECTION_NAME = 0,
    SECTION_TYPE = 4,
    SECTION_FLAGS = 8,
    SECTION_ADDRESS = 16,
    SECTION_OFFSET = 24,
    SECTION_SIZE = 32,
    SECTION_LINK = 40,
    SECTION_INFO = 44,
    SECTION_ENTRY_SIZE = 56,
    SECTION_BYTES = 64
};

struct tl_elf {
    tl_input *in;
    uint64_t size;
    uint64_t budget; /* bytes of sections that may still be read */
    bool big;
    uint16_t type, machine;
    uint32_t nsection;
    tl_elf_section *section;
    uint8_t **data; /* the bytes of each section, NULL until asked for */
    char build_id[2 * BUILD_ID_MAX + 1];
    const char *debuglink; /* in the data of its section */
    uint32_t debuglink_crc;
};

/* Reads exactly n bytes. */
static int read_exactly(tl_elf *elf, uint64_t offset, void *buf, size_t n, const char *what, tl_error *e)
{
    size_t got = 0;
    int rc = tl_input_read(elf->in, offset, buf, n, &got, e);
    if (rc < 0)
        return tl_error_context(e, "%s", tl_elf_path(elf)), rc;
    if (got < n)
        return tl_fail(e, TL_EDAMAGED, offset + got, "%s: the file ends inside its %s", tl_elf_path(elf), what);
    return TL_OK;
}

int tl_elf_section_data(tl_elf *elf, const tl_elf_section *s, const uint8_t **data, size_t *size, tl_error *e)
{
    static const uint8_t nothing[1];
    assert(s >= elf->section && s < elf->section + elf->nsection);
    size_t index = (size_t)(s - elf->section);

    if (s->type == SHT_NOBITS || s->type == SHT_NULL || s->size == 0) {
        *data = nothing;
        *size = 0;
        return TL_OK;
    }
    if (!elf->data[index]) {
        const char *path = tl_elf_path(elf), *name = s->name;
        if (s->offset > elf->size || s->size > elf->size - s->offset)
            return tl_fail(e, TL_EDAMAGED, s->offset,
                           "%s: section %s is said to have %" PRIu64 " bytes at %#" PRIx64
                           ", but the file ends at %#" PRIx64,
                           path, name, s->size, s->offset, elf->size);
        if (s->flags & SHF_COMPRESSED)
            return tl_fail(e, TL_EUNSUPPORTED, s->offset, "%s: section %s is compressed", path, name);
        if (s->size > SECTION_BYTES_MAX)
            return tl_fail(e, TL_ENOMEM, s->offset,
                           "%s: section %s has %" PRIu64 " bytes, more than the limit of %" PRIu64, path, name, s->size,
                           SECTION_BYTES_MAX);
        if (s->size > elf->budget)
            return tl_fail(e, TL_EDAMAGED, s->offset,
                           "%s: its sections overlap: together they are larger than the file", path);
        uint8_t *bytes = malloc((size_t)s->size);
        if (!bytes)
            return tl_fail(e, TL_ENOMEM, s->offset, "%s: no memory for section %s", path, name);
        int rc = read_exactly(elf, s->offset, bytes, (size_t)s->size, "sections", e);
        if (rc < 0) {
            free(bytes);
            return rc;
        }
        elf->budget -= s->size;
        elf->data[index] = bytes;
    }
    *data = elf->data[index];
    *size = (size_t)s->size;
    return TL_OK;
}

static int read_header(tl_elf *elf, uint8_t header[HEADER_BYTES], tl_error *e)
{
    const char *path = tl_elf_path(elf);
    size_t got = 0;
    int rc = tl_input_read(elf->in, 0, header, HEADER_BYTES, &got, e);
    if (rc < 0)
        return tl_error_context(e, "%s", path), rc;
    if (got < SELFMAG || memcmp(header, ELFMAG, SELFMAG) != 0)
        return tl_fail(e, TL_EFORMAT, 0, "%s: not an ELF file", path);
    if (got > HEADER_CLASS && header[HEADER_CLASS] == ELFCLASS32)
        return tl_fail(e, TL_EUNSUPPORTED, HEADER_CLASS, "%s: 32-bit ELF files are not read, only 64-bit ones", path);
    if (got < HEADER_BYTES)
        return tl_fail(e, TL_EDAMAGED, got, "%s: the file ends inside its ELF header", path);
    if (header[HEADER_CLASS] != ELFCLASS64)
        return tl_fail(e, TL_EDAMAGED, HEADER_CLASS, "%s: ELF class %u, expected 1 (32-bit) or 2 (64-bit)", path,
                       header[HEADER_CLASS]);
    if (header[HEADER_ORDER] != ELFDATA2LSB && header[HEADER_ORDER] != ELFDATA2MSB)
        return tl_fail(e, TL_EDAMAGED, HEADER_ORDER, "%s: ELF byte order %u, expected 1 (little) or 2 (big)", path,
                       header[HEADER_ORDER]);
    elf->big = header[HEADER_ORDER] == ELFDATA2MSB;
    elf->type = tl_load16(header + HEADER_TYPE, elf->big);
    elf->machine = tl_load16(header + HEADER_MACHINE, elf->big);
    return TL_OK;
}

static void parse_section(const tl_elf *elf, const uint8_t *p, tl_elf_section *s)
{
    *s = (tl_elf_section){
        .name = "",
        .type = tl_load32(p + SECTION_TYPE, elf->big),
        .link = tl_load32(p + SECTION_LINK, elf->big),
        .info = tl_load32(p + SECTION_INFO, elf->big),
        .flags = tl_load64(p + SECTION_FLAGS, elf->big),
        .address = tl_load64(p + SECTION_ADDRESS, elf->big),
        .offset = tl_load64(p + SECTION_OFFSET, elf->big),
        .size = tl_load64(p + SECTION_SIZE, elf->big),
        .entry_size = tl_load64(p + SECTION_ENTRY_SIZE, elf->big),
    };
}

/* Number of sections, and which one holds the names: from the header, or from section 0 if they are too many for its 16
 * bits. */
static int count_sections(tl_elf *elf, const uint8_t *header, uint64_t at, uint64_t *count, uint32_t *names,
                          tl_error *e)
{
    const char *path = tl_elf_path(elf);
    *count = tl_load16(header + HEADER_SECTIONS, elf->big);
    *names = tl_load16(header + HEADER_NAMES, elf->big);
    uint16_t entry = tl_load16(header + HEADER_SECTION_SIZE, elf->big);
    if (entry != SECTION_BYTES)
        return tl_fail(e, TL_EDAMAGED, HEADER_SECTION_SIZE, "%s: section headers of %u bytes, expected %u", path, entry,
                       SECTION_BYTES);
    if (*count == 0 || *names == SHN_XINDEX) {
        uint8_t raw[SECTION_BYTES];
        tl_elf_section first;
        int rc = read_exactly(elf, at, raw, sizeof raw, "section headers", e);
        if (rc < 0)
            return rc;
        parse_section(elf, raw, &first);
        if (*count == 0)
            *count = first.size;
        if (*names == SHN_XINDEX)
            *names = first.link;
    }
    if (*count > (elf->size - at) / SECTION_BYTES)
        return tl_fail(e, TL_EDAMAGED, at,
                       "%s: %" PRIu64 " section headers at %#" PRIx64 " do not fit the file of %" PRIu64 " bytes", path,
                       *count, at, elf->size);
    if (*count > SECTIONS_MAX)
        return tl_fail(e, TL_ENOMEM, at, "%s: %" PRIu64 " sections, more than the limit of %u", path, *count,
                       SECTIONS_MAX);
    if (*names >= *count && *names != SHN_UNDEF)
        return tl_fail(e, TL_EDAMAGED, HEADER_NAMES, "%s: section names are said to be in section %u of %" PRIu64, path,
                       *names, *count);
    return TL_OK;
}

/* Points section names into the section of names. */
static int name_sections(tl_elf *elf, const uint8_t *raw, uint64_t at, uint32_t names, tl_error *e)
{
    const uint8_t *text = NULL;
    size_t size = 0;
    if (names == SHN_UNDEF)
        return TL_OK;
    int rc = tl_elf_section_data(elf, &elf->section[names], &text, &size, e);
    if (rc < 0)
        return rc;
    while (size > 0 && text[size - 1] != '\0') /* only terminated names count */
        size--;
    for (uint32_t i = 0; i < elf->nsection; i++) {
        uint32_t name = tl_load32(raw + (size_t)i * SECTION_BYTES + SECTION_NAME, elf->big);
        if (name < size)
            elf->section[i].name = (const char *)text + name;
        else if (name != 0)
            return tl_fail(e, TL_EDAMAGED, at + (uint64_t)i * SECTION_BYTES,
                           "%s: the name of section %" PRIu32 " is said to be at %" PRIu32 " of %zu bytes of names",
                           tl_elf_path(elf), i, name, size);
    }
    return TL_OK;
}

static int read_sections(tl_elf *elf, const uint8_t *header, tl_error *e)
{
    uint64_t at = tl_load64(header + HEADER_SECTIONS_AT, elf->big);
    uint64_t count = 0;
    uint32_t names = 0;
    uint8_t *raw = NULL;

    if (at == 0) /* all section headers were stripped */
        return TL_OK;
    if (at > elf->size)
        return tl_fail(e, TL_EDAMAGED, HEADER_SECTIONS_AT,
                       "%s: section headers are said to be at %#" PRIx64 ", but the file ends at %#" PRIx64,
                       tl_elf_path(elf), at, elf->size);
    int rc = count_sections(elf, header, at, &count, &names, e);
    if (rc < 0 || count == 0)
        return rc;

    raw = tl_alloc((size_t)count, SECTION_BYTES);
    elf->section = calloc((size_t)count, sizeof *elf->section);
    elf->data = calloc((size_t)count, sizeof *elf->data);
    if (!raw || !elf->section || !elf->data) {
        rc = tl_fail(e, TL_ENOMEM, at, "%s: no memory for %" PRIu64 " sections", tl_elf_path(elf), count);
        goto out;
    }
    rc = read_exactly(elf, at, raw, (size_t)count * SECTION_BYTES, "section headers", e);
    if (rc < 0)
        goto out;
    elf->nsection = (uint32_t)count;
    for (uint32_t i = 0; i < elf->nsection; i++)
        parse_section(elf, raw + (size_t)i * SECTION_BYTES, &elf->section[i]);
    rc = name_sections(elf, raw, at, names, e);
out:
    free(raw);
    return rc;
}

/* Looks for the build id among the notes of one section: u32 name size, u32 size, u32 type, name, content, the last two
 * padded to 4 bytes. */
static void find_build_id(tl_elf *elf, const uint8_t *p, size_t n)
{
    static const char digits[] = "0123456789abcdef";
    while (n >= 12) {
        uint32_t name_size = tl_load32(p, elf->big), size = tl_load32(p + 4, elf->big);
        uint32_t type = tl_load32(p + 8, elf->big);
        p += 12;
        n -= 12;
        if (name_size > n || size > n)
            return;
        size_t name_room = ((size_t)name_size + 3) & ~(size_t)3, room = ((size_t)size + 3) & ~(size_t)3;
        if (name_room > n || size > n - name_room)
            return;
        if (type == NT_GNU_BUILD_ID && name_size == 4 && memcmp(p, "GNU", 4) == 0 && size > 0 && size <= BUILD_ID_MAX) {
            const uint8_t *id = p + name_room;
            for (uint32_t i = 0; i < size; i++) {
                elf->build_id[(size_t)2 * i] = digits[id[i] >> 4];
                elf->build_id[(size_t)2 * i + 1] = digits[id[i] & 15];
            }
            return;
        }
        if (room >= n - name_room)
            return;
        p += name_room + room;
        n -= name_room + room;
    }
}

/* .gnu_debuglink: a file name, padded with zeros to 4 bytes, and the CRC of that file. */
static void find_debuglink(tl_elf *elf, const uint8_t *p, size_t n)
{
    const uint8_t *end = n > 0 ? memchr(p, '\0', n) : NULL;
    if (!end || end == p)
        return;
    size_t at = ((size_t)(end - p) + 4) & ~(size_t)3;
    if (at > n || n - at < 4)
        return;
    elf->debuglink = (const char *)p;
    elf->debuglink_crc = tl_load32(p + at, elf->big);
}

/* Build id and debuglink are optional: if they are broken, the file counts as having none. Only lack of memory is an
 * error. */
static int read_notes(tl_elf *elf, tl_error *e)
{
    for (uint32_t i = 0; i < elf->nsection; i++) {
        const tl_elf_section *s = &elf->section[i];
        const uint8_t *data = NULL;
        size_t size = 0;
        bool note = s->type == SHT_NOTE && !elf->build_id[0];
        bool link = s->type == SHT_PROGBITS && !elf->debuglink && strcmp(s->name, ".gnu_debuglink") == 0;
        if ((!note && !link) || s->size > NOTE_BYTES_MAX)
            continue;
        tl_error why = {0};
        int rc = tl_elf_section_data(elf, s, &data, &size, &why);
        if (rc == TL_ENOMEM)
            return tl_fail(e, TL_ENOMEM, s->offset, "%s: no memory for section %s", tl_elf_path(elf), s->name);
        if (rc == TL_EIO && e) /* comparing build-ids must not treat it as a file without one */
            *e = why;
        if (rc == TL_EIO)
            return rc;
        if (rc < 0)
            continue;
        if (note)
            find_build_id(elf, data, size);
        else
            find_debuglink(elf, data, size);
    }
    return 0;
}

/* Takes over `in`, also on failure. */
static int open_input(tl_elf **out, tl_input *in, tl_error *e)
{
    uint8_t header[HEADER_BYTES];
    tl_elf *elf = calloc(1, sizeof *elf);
    if (!elf) {
        int rc = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "%s: no memory to open it", tl_input_path(in));
        tl_input_close(in);
        return rc;
    }
    elf->in = in;
    elf->size = tl_input_size(in);
    elf->budget = elf->size > UINT64_MAX / OVERLAP_MAX ? UINT64_MAX : elf->size * OVERLAP_MAX;
    int rc = read_header(elf, header, e);
    if (rc >= 0)
        rc = read_sections(elf, header, e);
    if (rc >= 0)
        rc = read_notes(elf, e);
    if (rc < 0) {
        tl_elf_close(elf);
        return rc;
    }
    *out = elf;
    return TL_OK;
}

/* Opens nothing that may wait or never end: the path may come from a trace. */
static int check_regular(const char *path, tl_error *e)
{
    struct stat st;
    if (strcmp(path, "-") != 0 && stat(path, &st) < 0) /* opening will report it */
        return TL_OK;
    const char *kind = strcmp(path, "-") == 0 ? "standard input"
                       : S_ISREG(st.st_mode)  ? NULL
                       : S_ISDIR(st.st_mode)  ? "a folder"
                       : S_ISFIFO(st.st_mode) ? "a pipe"
                       : S_ISSOCK(st.st_mode) ? "a socket"
                                              : "a device";
    return kind ? tl_fail(e, TL_EFORMAT, TL_NO_OFFSET, "%s: expected a binary, found %s", path, kind) : TL_OK;
}

int tl_elf_open(tl_elf **out, const char *path, tl_error *e)
{
    tl_input *in;
    int rc = check_regular(path, e);
    if (rc == TL_OK)
        rc = tl_input_open(&in, path, e);
    return rc < 0 ? rc : open_input(out, in, e);
}

int tl_elf_open_memory(tl_elf **out, const void *data, size_t size, const char *path, tl_error *e)
{
    tl_input *in;
    int rc = tl_input_open_memory(&in, data, size, path, e);
    return rc < 0 ? rc : open_input(out, in, e);
}

void tl_elf_close(tl_elf *elf)
{
    if (!elf)
        return;
    for (uint32_t i = 0; i < elf->nsection; i++)
        free(elf->data[i]);
    free(elf->data);
    free(elf->section);
    tl_input_close(elf->in);
    free(elf);
}

const char *tl_elf_path(const tl_elf *elf)
{
    return tl_input_path(elf->in);
}

bool tl_elf_big_endian(const tl_elf *elf)
{
    return elf->big;
}

uint16_t tl_elf_machine(const tl_elf *elf)
{
    return elf->machine;
}

uint16_t tl_elf_type(const tl_elf *elf)
{
    return elf->type;
}

const char *tl_elf_build_id(const tl_elf *elf)
{
    return elf->build_id[0] ? elf->build_id : NULL;
}

const char *tl_elf_debuglink(const tl_elf *elf, uint32_t *crc)
{
    if (elf->debuglink && crc)
        *crc = elf->debuglink_crc;
    return elf->debuglink;
}

uint32_t tl_elf_sections(const tl_elf *elf)
{
    return elf->nsection;
}

const tl_elf_section *tl_elf_section_get(const tl_elf *elf, uint32_t index)
{
    return index < elf->nsection ? &elf->section[index] : NULL;
}

const tl_elf_section *tl_elf_section_find(const tl_elf *elf, const char *name)
{
    for (uint32_t i = 1; i < elf->nsection; i++)
        if (strcmp(elf->section[i].name, name) == 0)
            return &elf->section[i];
    return NULL;
}
