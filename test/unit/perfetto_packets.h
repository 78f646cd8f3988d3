/* Perfetto packets taken apart field by field, for tests of their writer. */
#ifndef TL_TEST_PERFETTO_PACKETS_H
#define TL_TEST_PERFETTO_PACKETS_H

#include "writer_fixture.h"

#include "base/endian.h"
#include "format/perfetto/perfetto_layout.h"

/* A message: its bytes, and a walk over its fields. */
typedef struct message {
    const uint8_t *p, *end;
} message;

typedef struct field {
    unsigned number, wire;
    uint64_t value;  /* of varints and fixed64 */
    message content; /* of the others */
} field;

static inline uint64_t varint(message *m)
{
    uint64_t v = 0;
    for (unsigned shift = 0;; shift += 7) {
        assert_true(m->p < m->end && shift < 64);
        v |= (uint64_t)(*m->p & 0x7f) << shift;
        if (!(*m->p++ & 0x80))
            return v;
    }
}

static inline bool next(message *m, field *f)
{
    if (m->p == m->end)
        return false;
    uint64_t tag = varint(m);
    *f = (field){.number = (unsigned)(tag >> 3), .wire = tag & 7};
    if (f->wire == 0) {
        f->value = varint(m);
    } else if (f->wire == 1) {
        assert_true(m->end - m->p >= 8);
        f->value = tl_load64(m->p, false);
        m->p += 8;
    } else {
        assert_int_equal(f->wire, 2);
        uint64_t n = varint(m);
        assert_true(n <= (uint64_t)(m->end - m->p));
        f->content = (message){m->p, m->p + n};
        m->p += n;
    }
    return true;
}

/* The first field with a number; number 0 if there is none. */
static inline field find(message m, unsigned number)
{
    field f;
    while (next(&m, &f))
        if (f.number == number)
            return f;
    return (field){0};
}

static inline uint64_t number(message m, unsigned field_number)
{
    return find(m, field_number).value;
}

static inline bool text_is(field f, const char *s)
{
    return (size_t)(f.content.end - f.content.p) == strlen(s) && memcmp(f.content.p, s, strlen(s)) == 0;
}

/* Packet i of the file. */
static inline message packet(const fixture *f, unsigned i)
{
    message m = {f->bytes, f->bytes + f->size};
    field p = {0};
    for (unsigned k = 0; k <= i; k++) {
        assert_true(next(&m, &p));
        assert_int_equal(p.number, TRACE_PACKET);
    }
    return p.content;
}

static inline unsigned packets(const fixture *f)
{
    message m = {f->bytes, f->bytes + f->size};
    field p;
    unsigned n = 0;
    while (next(&m, &p))
        n++;
    return n;
}

#endif
