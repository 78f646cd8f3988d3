/* A small decoder of pprof profiles that were written to memory. */
#ifndef TL_TEST_PPROF_FIXTURE_H
#define TL_TEST_PPROF_FIXTURE_H

#include "profile_fixture.h"

extern const tl_format tl_format_pprof;

typedef struct message {
    const uint8_t *p, *end;
} message;

typedef struct field {
    unsigned number;
    uint64_t value; /* of a varint */
    message inside; /* of other types */
} field;

static inline uint64_t varint(message *m)
{
    uint64_t v = 0;
    for (unsigned shift = 0;; shift += 7) {
        assert_true(m->p < m->end && shift < 64);
        uint8_t byte = *m->p++;
        v |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return v;
    }
}

static inline bool next_field(message *m, field *f)
{
    *f = (field){0};
    if (m->p == m->end)
        return false;
    uint64_t tag = varint(m);
    f->number = (unsigned)(tag >> 3);
    f->value = varint(m);
    if ((tag & 7) == 0)
        return true;
    assert_int_equal(tag & 7, 2);
    assert_true(f->value <= (uint64_t)(m->end - m->p));
    f->inside = (message){m->p, m->p + f->value};
    m->p += f->value;
    return true;
}

static inline message whole(const profiled *f)
{
    return (message){(const uint8_t *)f->text, (const uint8_t *)f->text + f->n};
}

/* The n-th field with a number, from 0; false if there are fewer. */
static inline bool nth(message m, unsigned number, uint64_t n, field *f)
{
    while (next_field(&m, f))
        if (f->number == number && n-- == 0)
            return true;
    return false;
}

static inline uint64_t value_of(message m, unsigned number)
{
    field f;
    return nth(m, number, 0, &f) ? f.value : 0;
}

static inline void assert_text(const profiled *f, uint64_t number, const char *expected)
{
    field s;
    assert_true(nth(whole(f), 6, number, &s));
    assert_int_equal(s.inside.end - s.inside.p, strlen(expected));
    assert_memory_equal(s.inside.p, expected, strlen(expected));
}

typedef struct sample {
    uint64_t location[8], value[4];
    size_t nlocation, nvalue;
    bool has_latency;
    uint64_t latency, unit, thread; /* unit, thread: numbers of texts */
} sample;

static inline void unpack(message m, uint64_t *v, size_t *n, size_t most)
{
    for (*n = 0; m.p < m.end;) {
        assert_true(*n < most);
        v[(*n)++] = varint(&m);
    }
}

static inline bool get_sample(const profiled *f, uint64_t n, sample *s)
{
    field at, part;
    *s = (sample){0};
    if (!nth(whole(f), 2, n, &at))
        return false;
    while (next_field(&at.inside, &part)) {
        if (part.number == 1)
            unpack(part.inside, s->location, &s->nlocation, 8);
        if (part.number == 2)
            unpack(part.inside, s->value, &s->nvalue, 4);
        if (part.number == 3 && value_of(part.inside, 2)) {
            assert_text(f, value_of(part.inside, 1), "thread");
            s->thread = value_of(part.inside, 2);
        } else if (part.number == 3) {
            assert_text(f, value_of(part.inside, 1), "latency");
            s->has_latency = true;
            s->latency = value_of(part.inside, 3);
            s->unit = value_of(part.inside, 4);
        }
    }
    assert_int_equal(s->nvalue, f->p->nweight ? s->nvalue : 2);
    return true;
}

static inline void write_pprof(profiled *f)
{
    write_with(f, tl_format_pprof.profile_writer->write);
}

#endif
