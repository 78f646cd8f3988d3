/* Metadata files: finds out which container a file is, takes the text out of it, and has it parsed.
 *
 *   first bytes                        container                                   language
 *   0x75D11D57, either byte order      packets of version 1.8 or 2.0               TSDL or JSON
 *   0xC1FC1FC1, either byte order      packets of the 2010 proposal                its own
 *   0x1E                               text                                        JSON (CTF 2)
 *   anything else                      text                                        TSDL (CTF 1.8)
 *
 * Packets of 2.0 have headers of 37 bytes (LTTng) or of at least 44 (CTF2-PMETA), which have their size: text cannot
 * have zeros in the places of the reserved bytes. ctf_layout.h has the bytes. A fragment or a word may be cut by the
 * end of a packet, so the contents are joined before anything is parsed. */
#include <inttypes.h>
#include <string.h>

#include "base/compiler.h"
#include "base/endian.h"
#include "format/ctf/ctf_layout.h"
#include "format/ctf/ctf_schema.h"

#define SEPARATOR 0x1e /* begins each fragment of CTF 2 */

typedef struct file {
    char *data; /* in the arena of the schema */
    size_t n;
    tl_error *e;
} file;

typedef struct packet {
    uint32_t header, content, size; /* bytes; content: including the header */
    unsigned major, minor;
} packet;

static bool is_magic(const void *p, uint32_t magic)
{
    return tl_load32(p, true) == magic || tl_load32(p, false) == magic;
}

static bool all_zero(const char *p, size_t n)
{
    return n == 0 || (*p == 0 && memcmp(p, p + 1, n - 1) == 0);
}

/* ---- packets ---- */

/* The size of a header, which is longer in CTF2-PMETA. */
static int header_size(const file *f, size_t at, uint64_t number, bool big, packet *p)
{
    const char *bytes = f->data + at;
    p->header = CTF_META_SIZE;
    if (p->major != 2 || f->n - at < CTF_META_LONG_SIZE || !all_zero(bytes + CTF_META_SIZE, 3) ||
        tl_load32(bytes + CTF_META_CONTENT_SIZE, big) < CTF_META_LONG_SIZE * 8) /* no content: only padding */
        return 0;
    const uint32_t bits = tl_load32(bytes + CTF_META_HEADER_SIZE, big);
    if (bits < CTF_META_LONG_SIZE * 8 || bits % 8)
        return tl_fail(f->e, TL_EDAMAGED, at + CTF_META_HEADER_SIZE,
                       "metadata packet %" PRIu64 ": header_size is %" PRIu32 " bits, expected %u", number, bits,
                       CTF_META_LONG_SIZE * 8);
    p->header = bits / 8;
    return 0;
}

static int check_sizes(const file *f, size_t at, uint64_t number, bool big, packet *p)
{
    const uint32_t content = tl_load32(f->data + at + CTF_META_CONTENT_SIZE, big);
    const uint32_t size = tl_load32(f->data + at + CTF_META_PACKET_SIZE, big);
    if (content % 8 || content / 8 < p->header)
        return tl_fail(f->e, TL_EDAMAGED, at + CTF_META_CONTENT_SIZE,
                       "metadata packet %" PRIu64 ": content_size is %" PRIu32
                       " bits, expected whole bytes and at least the header of %" PRIu32,
                       number, content, p->header * 8);
    if (size % 8 || size < content)
        return tl_fail(f->e, TL_EDAMAGED, at + CTF_META_PACKET_SIZE,
                       "metadata packet %" PRIu64 ": packet_size is %" PRIu32
                       " bits, expected whole bytes and at least content_size, %" PRIu32,
                       number, size, content);
    if (content / 8 > f->n - at)
        return tl_fail(f->e, TL_EDAMAGED, at,
                       "metadata packet %" PRIu64 ": %" PRIu32 " bytes of content, but the file ends after %zu", number,
                       content / 8, f->n - at);
    p->content = content / 8;
    p->size = size / 8;
    return 0;
}

static int check_schemes(const file *f, size_t at, uint64_t number)
{
    static const struct {
        unsigned offset;
        const char *name;
    } schemes[] = {{CTF_META_COMPRESSION, "compression"},
                   {CTF_META_ENCRYPTION, "encryption"},
                   {CTF_META_CHECKSUM_SCHEME, "checksum"}};
    for (size_t i = 0; i < TL_COUNT(schemes); i++) {
        const unsigned scheme = (unsigned char)f->data[at + schemes[i].offset];
        if (scheme != 0)
            return tl_fail(f->e, TL_EUNSUPPORTED, at + schemes[i].offset,
                           "metadata packet %" PRIu64 ": %s scheme %u; only none (0) can be read", number,
                           schemes[i].name, scheme);
    }
    return 0;
}

/* The packet at `at`: 1; 0: only zeros are left in the file. */
static int read_packet(const file *f, size_t at, uint64_t number, packet *p)
{
    const size_t left = f->n - at;
    if (left < 4 || !is_magic(f->data + at, CTF_MAGIC_METADATA)) {
        if (all_zero(f->data + at, left))
            return 0;
        return tl_fail(f->e, TL_EDAMAGED, at, "metadata packet %" PRIu64 ": expected the magic number 0x%08x", number,
                       (unsigned)CTF_MAGIC_METADATA);
    }
    if (left < CTF_META_SIZE)
        return tl_fail(f->e, TL_EDAMAGED, at, "metadata packet %" PRIu64 ": the file ends in its header", number);
    const bool big = tl_load32(f->data + at, true) == CTF_MAGIC_METADATA;
    p->major = (unsigned char)f->data[at + CTF_META_MAJOR];
    p->minor = (unsigned char)f->data[at + CTF_META_MINOR];
    if (!(p->major == 1 && p->minor == 8) && !(p->major == 2 && p->minor == 0))
        return tl_fail(f->e, TL_EUNSUPPORTED, at + CTF_META_MAJOR,
                       "metadata packet %" PRIu64 ": version %u.%u, expected 1.8 or 2.0", number, p->major, p->minor);
    int rc = check_schemes(f, at, number);
    if (rc >= 0)
        rc = header_size(f, at, number, big, p);
    if (rc >= 0)
        rc = check_sizes(f, at, number, big, p);
    return rc < 0 ? rc : 1;
}

/* All packets of a file must belong together. */
static int check_same(const file *f, size_t at, uint64_t number, const packet *first, const packet *p)
{
    if (p->major != first->major || p->minor != first->minor)
        return tl_fail(f->e, TL_EDAMAGED, at + CTF_META_MAJOR,
                       "metadata packet %" PRIu64 ": version %u.%u after packets of %u.%u", number, p->major, p->minor,
                       first->major, first->minor);
    if (memcmp(f->data + at + CTF_META_UUID, f->data + CTF_META_UUID, 16) != 0)
        return tl_fail(f->e, TL_EDAMAGED, at + CTF_META_UUID,
                       "metadata packet %" PRIu64 ": another uuid than the packets before", number);
    return 0;
}

/* Checks all packets; returns their number, and the first one. */
static int check_packets(const file *f, uint64_t *count, packet *first)
{
    uint64_t number = 0;
    for (size_t at = 0; at < f->n; number++) {
        packet p = {0};
        int rc = read_packet(f, at, number, &p);
        if (rc == 0)
            break;
        if (rc > 0 && number == 0)
            *first = p;
        if (rc > 0)
            rc = check_same(f, at, number, first, &p);
        if (rc < 0)
            return rc;
        /* Truncated padding is not a loss. */
        at = p.size < f->n - at ? at + p.size : f->n;
    }
    *count = number;
    return 0;
}

/* Joins the contents, in place. */
static int join_packets(ctf_schema *s, file *f, uint64_t count)
{
    ctf_text_part *part = tl_arena_alloc(&s->arena, (size_t)count * sizeof *part);
    if (!part)
        return tl_fail(f->e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the metadata");
    size_t at = 0, n = 0;
    for (uint32_t i = 0; i < count; i++) {
        packet p = {0};
        read_packet(f, at, i, &p);
        part[i] = (ctf_text_part){.text = n, .file = at + p.header};
        memmove(f->data + n, f->data + at + p.header, p.content - p.header);
        n += p.content - p.header;
        at += p.size;
    }
    f->n = n;
    s->part = part;
    s->npart = (uint32_t)count;
    return 0;
}

static int parse(ctf_schema *s, const file *f, bool json)
{
    s->text = f->data;
    s->ntext = f->n;
    int rc = json ? ctf_json_parse(s, f->data, f->n, f->e) : ctf_tsdl_parse(s, f->data, f->n, f->e);
    if (rc < 0 && f->e && f->e->offset != TL_NO_OFFSET)
        f->e->offset = ctf_metadata_offset(s, f->e->offset);
    return rc;
}

static int read_packets(ctf_schema *s, file *f)
{
    uint8_t uuid[16];
    uint64_t count = 0;
    packet first = {0};
    int rc = check_packets(f, &count, &first);
    if (rc < 0)
        return rc;
    memcpy(uuid, f->data + CTF_META_UUID, sizeof uuid);
    rc = join_packets(s, f, count);
    if (rc >= 0)
        rc = parse(s, f, first.major == 2);
    if (rc >= 0 && !s->has_uuid && !all_zero((const char *)uuid, sizeof uuid)) {
        s->has_uuid = true;
        memcpy(s->uuid, uuid, sizeof uuid);
    }
    return rc;
}

/* ---- text ---- */

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The first word or symbol, after white space and comments. */
static size_t skip_comments(const char *p, size_t n)
{
    size_t at = 0;
    for (;;) {
        while (at < n && is_space(p[at]))
            at++;
        if (n - at < 2 || p[at] != '/' || (p[at + 1] != '*' && p[at + 1] != '/'))
            return at;
        const bool line = p[at + 1] == '/';
        at += 2;
        while (at < n && (line ? p[at] != '\n' : p[at] != '*' || n - at < 2 || p[at + 1] != '/'))
            at++;
        if (at == n)
            return at;
        at += line ? 1 : 2;
    }
}

/* Everything in TSDL begins with a word. This rejects files of other kinds. */
static int check_tsdl(const file *f)
{
    const size_t at = skip_comments(f->data, f->n);
    const char c = at < f->n ? f->data[at] : 'a';
    if (c == '_' || c == ';' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
        return 0;
    return ctf_metadata_fail(
        f->e, f->data, f->n, at,
        c == '{' ? "'{' without a record separator (the byte 0x1e) before it: expected metadata of CTF 2 or 1.8"
                 : "not metadata of CTF 2 or 1.8");
}

static int read_text(ctf_schema *s, file *f)
{
    size_t at = f->n >= 3 && memcmp(f->data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0, json;
    while (f->n > at && f->data[f->n - 1] == '\0')
        f->n--;
    for (json = at; json < f->n && is_space(f->data[json]); json++)
        ;
    const bool is_json = json < f->n && f->data[json] == SEPARATOR;
    if (is_json)
        at = json;
    ctf_text_part *part = tl_arena_alloc(&s->arena, sizeof *part);
    if (!part)
        return tl_fail(f->e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the metadata");
    *part = (ctf_text_part){.text = 0, .file = at};
    s->part = part;
    s->npart = 1;
    f->data += at;
    f->n -= at;
    if (f->n == 0)
        return tl_fail(f->e, TL_EDAMAGED, at, "the metadata is empty");
    if (!is_json && check_tsdl(f) < 0) {
        if (f->e)
            f->e->offset = ctf_metadata_offset(s, f->e->offset);
        return TL_EDAMAGED;
    }
    return parse(s, f, is_json);
}

/* ---- files ---- */

static int read_file(ctf_schema *s, tl_input *in, file *f)
{
    char head[4];
    size_t got;
    int rc = tl_input_read(in, 0, head, sizeof head, &got, f->e);
    if (rc < 0)
        return rc;
    if (got == sizeof head && is_magic(head, (uint32_t)CTF_MAGIC_PACKET))
        return ctf_2010_metadata(s, in, f->e);
    const uint64_t size = tl_input_size(in);
    if (size > CTF_METADATA_MAX)
        return tl_fail(f->e, TL_EUNSUPPORTED, 0, "%" PRIu64 " bytes of metadata; expected at most %u", size,
                       CTF_METADATA_MAX);
    f->data = tl_arena_alloc(&s->arena, (size_t)size + 1);
    if (!f->data)
        return tl_fail(f->e, TL_ENOMEM, TL_NO_OFFSET, "no memory for %" PRIu64 " bytes of metadata", size);
    rc = tl_input_read(in, 0, f->data, (size_t)size, &f->n, f->e);
    if (rc < 0)
        return rc;
    if (f->n >= 4 && is_magic(f->data, CTF_MAGIC_METADATA))
        return read_packets(s, f);
    return read_text(s, f);
}

int ctf_metadata_read(ctf_schema *s, const tl_folder *folder, uint32_t index, tl_error *e)
{
    tl_input *in;
    int rc = tl_folder_input(folder, index, &in, e);
    if (rc < 0)
        return rc;
    file f = {.e = e};
    rc = read_file(s, in, &f);
    tl_input_close(in);
    return rc;
}

uint64_t ctf_metadata_offset(const ctf_schema *s, uint64_t position)
{
    uint32_t low = 0, high = s->npart;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (s->part[middle].text <= position)
            low = middle;
        else
            high = middle;
    }
    return s->npart > 0 ? s->part[low].file + (position - s->part[low].text) : position;
}
