/* Builds instruction streams in memory for tests: one call a token. */
#ifndef TL_TEST_MAKE_XTRACE_H
#define TL_TEST_MAKE_XTRACE_H

#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "format/xtrace/xtrace_layout.h"

typedef struct made_stream {
    uint8_t *data;
    size_t n, capacity;
} made_stream;

static inline uint8_t *stream_room(made_stream *s, size_t n)
{
    if (n > s->capacity - s->n) {
        s->capacity = 2 * s->capacity + n;
        s->data = realloc(s->data, s->capacity);
        if (!s->data)
            abort();
    }
    uint8_t *p = s->data + s->n;
    s->n += n;
    return p;
}

static inline void made_inst(made_stream *s, unsigned level, uint32_t opcode)
{
    uint8_t *p = stream_room(s, XTRACE_INST_SIZE);
    p[0] = (uint8_t)(XTRACE_INST | level << XTRACE_LEVEL_SHIFT);
    tl_store32(p + 1, opcode, false);
}

static inline void made_pcinst(made_stream *s, unsigned level, uint64_t pc, uint32_t opcode)
{
    uint8_t *p = stream_room(s, XTRACE_PCINST_SIZE);
    p[0] = (uint8_t)(XTRACE_PCINST | level << XTRACE_LEVEL_SHIFT);
    tl_store64(p + 1, pc, false);
    tl_store32(p + 9, opcode, false);
}

/* An access of 2^k bytes, which are seed, seed + 1, ... */
static inline void made_access(made_stream *s, bool store, uint64_t address, unsigned k, uint8_t seed)
{
    const size_t size = (size_t)1 << k;
    uint8_t *p = stream_room(s, XTRACE_MEM_HEAD + size);
    p[0] = (uint8_t)(XTRACE_MEM | (store ? XTRACE_MEM_STORE : 0) | k << XTRACE_MEM_SIZE_SHIFT);
    tl_store64(p + 1, address, false);
    for (size_t i = 0; i < size; i++)
        p[XTRACE_MEM_HEAD + i] = (uint8_t)(seed + i);
}

/* A token of 8 bytes: XTRACE_STXR .. XTRACE_TARGET, XTRACE_FLAGS, XTRACE_TIME. */
static inline void made_value(made_stream *s, unsigned token, uint64_t value)
{
    uint8_t *p = stream_room(s, XTRACE_VALUE_SIZE);
    p[0] = (uint8_t)token;
    tl_store64(p + 1, value, false);
}

static inline void made_registers(made_stream *s, uint64_t first)
{
    uint8_t *p = stream_room(s, XTRACE_ALLGPR_SIZE);
    p[0] = XTRACE_ALLGPR;
    for (uint32_t i = 0; i < XTRACE_REGISTERS; i++)
        tl_store64(p + 1 + 8 * i, first + i, false);
}

/* A list that claims `count` entries, and has `there`. */
static inline void made_buffers(made_stream *s, uint64_t count, uint32_t there)
{
    uint8_t *p = stream_room(s, XTRACE_VEC_HEAD + (size_t)there * XTRACE_VEC_ENTRY);
    p[0] = XTRACE_VEC;
    tl_store64(p + 1, count, false);
    for (uint32_t i = 0; i < 2 * there; i++)
        tl_store64(p + XTRACE_VEC_HEAD + 8 * (size_t)i, 0x1000 + i, false);
}

#endif
