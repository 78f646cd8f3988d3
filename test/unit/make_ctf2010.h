/* Traces of the 2010 dialect to test with: packets with any header, types as text, and problems as text. */
#ifndef TL_TEST_MAKE_CTF2010_H
#define TL_TEST_MAKE_CTF2010_H

#include <inttypes.h>

#include "base/endian.h"
#include "check.h"
#include "format/ctf/ctf_layout.h"
#include "format/ctf/read/ctf_file.h"

#define SESSION 0x5e551011u

typedef struct made {
    uint8_t data[1 << 16];
    size_t n;
    bool big;
} made;

/* A packet header; sizes of 0 become those of the content and `padding`, others are stored as they are. */
typedef struct made_header {
    uint32_t session, content_size, packet_size, checksum, count, discarded;
    uint64_t begin, end;
    uint8_t bits, compression, encryption, checksum_scheme;
    size_t padding;
    bool no_packet_size;
} made_header;

static inline void made_bytes(made *m, const void *data, size_t n)
{
    assert_true(n <= sizeof m->data - m->n);
    if (n > 0)
        memcpy(m->data + m->n, data, n);
    m->n += n;
}

/* Adds a packet; returns its offset. */
static inline size_t made_packet(made *m, made_header h, const void *content, size_t n)
{
    static const uint8_t zeros[4096];
    const size_t at = m->n;
    const uint32_t content_size = h.content_size ? h.content_size : (uint32_t)(CTF_2010_HEADER + n);
    const uint32_t whole = (uint32_t)(CTF_2010_HEADER + n + h.padding);
    uint8_t p[CTF_2010_HEADER];
    tl_store32(p, (uint32_t)CTF_MAGIC_PACKET, m->big);
    tl_store32(p + CTF_2010_SESSION, h.session ? h.session : SESSION, m->big);
    tl_store32(p + CTF_2010_CONTENT_SIZE, content_size, m->big);
    tl_store32(p + CTF_2010_PACKET_SIZE, h.no_packet_size ? 0 : h.packet_size ? h.packet_size : whole, m->big);
    tl_store32(p + CTF_2010_CHECKSUM, h.checksum, m->big);
    tl_store32(p + CTF_2010_COUNT, h.count, m->big);
    tl_store64(p + CTF_2010_BEGIN, h.begin, m->big);
    tl_store64(p + CTF_2010_END, h.end, m->big);
    tl_store32(p + CTF_2010_DISCARDED, h.discarded, m->big);
    p[CTF_2010_COUNT_BITS] = h.bits;
    p[CTF_2010_COMPRESSION] = h.compression;
    p[CTF_2010_ENCRYPTION] = h.encryption;
    p[CTF_2010_CHECKSUM_SCHEME] = h.checksum_scheme;
    made_bytes(m, p, sizeof p);
    made_bytes(m, content, n);
    made_bytes(m, zeros, h.padding);
    return at;
}

/* The line TEXT, compressed by the usual tools. */
#define TEXT   "trace { major = 1; }\n"
#define TEXT_N (sizeof TEXT - 1)
static const uint8_t text_gz[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x2b, 0x29, 0x4a, 0x4c,
                                  0x4e, 0x55, 0xa8, 0x56, 0xc8, 0x4d, 0xcc, 0xca, 0x2f, 0x52, 0xb0, 0x55, 0x30, 0xb4,
                                  0x56, 0xa8, 0xe5, 0x02, 0x00, 0x16, 0x58, 0x41, 0x32, 0x15, 0x00, 0x00, 0x00};
static const uint8_t text_bz2[] = {0x42, 0x5a, 0x68, 0x39, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, 0x49, 0x9b, 0x20,
                                   0x40, 0x00, 0x00, 0x09, 0x59, 0x80, 0x00, 0x10, 0x40, 0x00, 0x20, 0x0a, 0x2a,
                                   0x12, 0x94, 0x0a, 0x20, 0x00, 0x31, 0x4c, 0x00, 0x01, 0x04, 0x7a, 0x46, 0x9a,
                                   0x7a, 0x9e, 0xa2, 0x92, 0xae, 0xb7, 0x51, 0x26, 0xfb, 0x00, 0xf9, 0x20, 0xdf,
                                   0x17, 0x72, 0x45, 0x38, 0x50, 0x90, 0x49, 0x9b, 0x20, 0x40};
enum { BZIP2 = 1, GZIP = 2, AES = 1, MD5 = 1, SHA1 = 2, CRC32 = 3 };

static const struct codec {
    uint8_t scheme;
    const uint8_t *data;
    size_t n;
    bool is_built;
} codec[] = {
#ifdef TL_HAVE_BZIP2
    {BZIP2, text_bz2, sizeof text_bz2, true},
#else
    {BZIP2, text_bz2, sizeof text_bz2, false},
#endif
#ifdef TL_HAVE_ZLIB
    {GZIP, text_gz, sizeof text_gz, true},
#else
    {GZIP, text_gz, sizeof text_gz, false},
#endif
};
enum { CODECS = sizeof codec / sizeof *codec };

/* --- text that grows --- */

typedef struct shown {
    char text[8192];
    size_t n;
} shown;

__attribute__((format(printf, 2, 3))) static inline void show(shown *s, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    const int n = vsnprintf(s->text + s->n, sizeof s->text - s->n, format, ap);
    va_end(ap);
    assert_true(n >= 0 && (size_t)n < sizeof s->text - s->n);
    s->n += (size_t)n;
}

/* A type in one line: i32 u5@1 u8be s12:16 (unit 16), enums with {low-high=label}, f64, str, [3 u8], [u8: u16],
 * {u8 a, u16 b}@8, and role numbers as #1024. Alignments other than 8 follow '@'. */
static inline void show_type(shown *s, const ctf_type *t)
{
    static const char *const order[] = {[CTF_LE] = "le", [CTF_BE] = "be", [CTF_NATIVE] = ""};
    switch ((ctf_kind)t->kind) {
    case CTF_INT:
        show(s, "%c%u%s", t->is_signed ? 's' : 'u', t->bits, order[t->order]);
        if (t->unit)
            show(s, ":%u", t->unit);
        if (t->mapping) {
            show(s, "{");
            for (uint32_t i = 0; i < t->nmapping; i++)
                show(s, "%s%" PRId64 "-%" PRId64 "=%s", i ? "," : "", (int64_t)t->mapping[i].low,
                     (int64_t)t->mapping[i].high, t->mapping[i].label);
            show(s, "}");
        }
        break;
    case CTF_FLOAT:
        show(s, "f%u%s", t->bits, order[t->order]);
        break;
    case CTF_STRING:
        show(s, "str");
        break;
    case CTF_STRUCT:
    case CTF_VARIANT:
        show(s, t->kind == CTF_STRUCT ? "{" : "<%s.", t->kind == CTF_STRUCT ? "" : t->location->path[0]);
        for (uint32_t i = 0; i < t->nmember; i++) {
            const ctf_member *m = &t->member[i];
            show(s, "%s", i ? ", " : "");
            if (t->kind == CTF_VARIANT)
                show(s, "%" PRIu64 "-%" PRIu64 ":", m->range[0].low, m->range[0].high);
            show_type(s, m->type);
            if (t->kind == CTF_STRUCT)
                show(s, " %s", m->name);
        }
        show(s, t->kind == CTF_STRUCT ? "}" : ">");
        break;
    case CTF_ARRAY:
        show(s, "[");
        if (t->dynamic)
            show_type(s, t->inline_length);
        else
            show(s, "%" PRIu64, t->length);
        show(s, t->dynamic ? ": " : " ");
        show_type(s, t->member[0].type);
        show(s, "]");
        break;
    default:
        show(s, "?%d", t->kind);
    }
    if (t->align != 8)
        show(s, "@%u", t->align);
    if (t->roles)
        show(s, "#%x", t->roles);
}

/* One line for each problem: rule at offset+bytes, with F, L or N for its kind. */
static inline void show_damage(shown *s, const tl_damage *d, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        show(s, "%s%s%s %s %" PRIu64 " %" PRIu64 "+%" PRIu64 "\n", d[i].kind & TL_DAMAGE_FAULT ? "F" : "",
             d[i].kind & TL_DAMAGE_LOSS ? "L" : "", d[i].kind == TL_DAMAGE_NOTE ? "N" : "", d[i].rule, d[i].at,
             d[i].offset, d[i].bytes);
}

#endif
