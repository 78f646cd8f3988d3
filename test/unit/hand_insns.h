/* A source of instructions written by hand in a test, or at random: a list of lines for each stream. */
#ifndef TL_TEST_HAND_INSNS_H
#define TL_TEST_HAND_INSNS_H

#include "analysis/instruction/insn_pass.h"
#include "check.h"
#include "op/source_impl.h"

/* Snapshots and others come first, so that nobody can rely on ids. */
enum {
    HAND_SNAPSHOT,
    HAND_OTHER,
    HAND_STORE,
    HAND_LOAD,
    HAND_INSN,
    HAND_ARGUMENT,
    HAND_RESULT,
    HAND_TIME,
    HAND_CLASSES
};
enum { HAND_TRACKS = 6 };

/* Opcodes. */
#define OP_ADD   0x91000400u
#define OP_LDR   0xf9400020u
#define OP_STR   0xf9000020u
#define OP_NOP   0xd503201fu
#define OP_MRS   0xd53be040u
#define OP_FADD  0x1e602820u
#define OP_SVC   0xd4000001u
#define OP_ERET  0xd69f03e0u
#define OP_B     0x14000010u
#define OP_BL    0x94000010u
#define OP_BCOND 0x54000040u
#define OP_CBZ   0xb4000040u
#define OP_BR    0xd61f0020u
#define OP_BLR   0xd63f0020u
#define OP_RET   0xd65f03c0u

typedef struct hand_line {
    int cls;
    uint64_t key, aux;
} hand_line;

/* Lines of a script. */
#define INSN(pc, op)                                                                                                   \
    {                                                                                                                  \
        HAND_INSN, (pc), (op)                                                                                          \
    }
#define INSN_AT(pc, op, el)                                                                                            \
    {                                                                                                                  \
        HAND_INSN, (pc), (op) | (uint64_t)(el) << 32                                                                   \
    }
#define INSN_NO_PC(op)                                                                                                 \
    {                                                                                                                  \
        HAND_INSN, 0, (op) | TL_INSN_NO_PC                                                                             \
    }
#define LOAD(address, n)                                                                                               \
    {                                                                                                                  \
        HAND_LOAD, (address), (n)                                                                                      \
    }
#define STORE(address, n)                                                                                              \
    {                                                                                                                  \
        HAND_STORE, (address), (n)                                                                                     \
    }
#define ARGUMENT(value)                                                                                                \
    {                                                                                                                  \
        HAND_ARGUMENT, (value), 0                                                                                      \
    }
#define RESULT(value)                                                                                                  \
    {                                                                                                                  \
        HAND_RESULT, (value), 0                                                                                        \
    }
#define TIME(value)                                                                                                    \
    {                                                                                                                  \
        HAND_TIME, (value), 0                                                                                          \
    }
#define OTHER()                                                                                                        \
    {                                                                                                                  \
        HAND_OTHER, 0, 0                                                                                               \
    }
#define SNAPSHOT()                                                                                                     \
    {                                                                                                                  \
        HAND_SNAPSHOT, 0, 0                                                                                            \
    }

typedef struct hand_stream {
    const hand_line *line;
    uint32_t n;
} hand_stream;

typedef struct hand {
    tl_source source;
    hand_stream stream[HAND_TRACKS]; /* stream i is of track i */
    uint32_t nstream;
    uint32_t batch; /* events in one; 0: as many as fit */
    uint32_t fails; /* 1 + a stream that ends in an error */
    _Atomic uint64_t limit_from, limit_to;
} hand;

typedef struct hand_cursor {
    hand *hand;
    uint32_t stream, next;
    uint64_t insns;
} hand_cursor;

static const tl_class hand_classes[HAND_CLASSES] = {
    [HAND_SNAPSHOT] = {.kind = TL_REGS, .role = TL_ROLE_SNAPSHOT, .name = "snapshot"},
    [HAND_OTHER] = {.kind = TL_STATE, .role = TL_ROLE_FLAGS, .key = TL_KEY_VALUE, .name = "flags"},
    [HAND_STORE] = {.kind = TL_MEM, .role = TL_ROLE_STORE, .key = TL_KEY_ADDRESS, .aux = TL_AUX_SIZE, .name = "store"},
    [HAND_LOAD] = {.kind = TL_MEM, .role = TL_ROLE_LOAD, .key = TL_KEY_ADDRESS, .aux = TL_AUX_SIZE, .name = "load"},
    [HAND_INSN] = {.kind = TL_INSN, .role = TL_ROLE_A64, .key = TL_KEY_PC, .aux = TL_AUX_INSN, .name = "insn"},
    [HAND_ARGUMENT] = {.kind = TL_STATE, .role = TL_ROLE_CALL_ARGUMENT, .key = TL_KEY_VALUE, .name = "argument"},
    [HAND_TIME] = {.kind = TL_STATE, .role = TL_ROLE_ORDER, .key = TL_KEY_VALUE, .name = "time"},
    [HAND_RESULT] = {.kind = TL_STATE, .role = TL_ROLE_CALL_RESULT, .key = TL_KEY_VALUE, .name = "result"}};

static uint32_t hand_streams(void *reader)
{
    return ((hand *)reader)->nstream;
}

static uint64_t hand_weight(void *reader, uint32_t stream)
{
    return (uint64_t)((hand *)reader)->stream[stream].n << 20;
}

static int hand_open(void *reader, uint32_t stream, void *cursor, tl_error *e)
{
    (void)e;
    *(hand_cursor *)cursor = (hand_cursor){.hand = reader, .stream = stream};
    return 0;
}

static int hand_limit(void *cursor, uint64_t from, uint64_t to, tl_error *e)
{
    (void)e;
    hand *h = ((hand_cursor *)cursor)->hand;
    h->limit_from = from;
    h->limit_to = to;
    return 0;
}

static int hand_next(void *cursor, tl_batch *b, tl_error *e)
{
    hand_cursor *c = cursor;
    const hand_stream *s = &c->hand->stream[c->stream];
    for (; b->n < b->capacity && (!c->hand->batch || b->n < c->hand->batch) && c->next < s->n; c->next++, b->n++) {
        const hand_line *l = &s->line[c->next];
        c->insns += l->cls == HAND_INSN;
        b->cls[b->n] = (uint32_t)l->cls;
        b->track[b->n] = c->stream;
        b->ts[b->n] = c->insns ? c->insns - 1 : 0;
        b->key[b->n] = l->key;
        b->aux[b->n] = l->aux;
    }
    if (b->n == 0 && c->hand->fails == c->stream + 1)
        return tl_fail(e, TL_EIO, TL_NO_OFFSET, "stream %u failed", c->stream);
    return b->n > 0;
}

static const tl_format hand_format = {
    .name = "hand",
    .reader = &(const tl_reader){.cursor_size = sizeof(hand_cursor),
                                 .streams = hand_streams,
                                 .stream_weight = hand_weight,
                                 .stream_open = hand_open,
                                 .stream_limit = hand_limit,
                                 .stream_next = hand_next},
};

/* Tracks "t0", "t1", ... of tid 100, 101, ... hand_add() adds streams. */
static inline void hand_init(hand *h, uint32_t batch)
{
    memset(h, 0, sizeof *h);
    h->batch = batch;
    h->source.format = &hand_format;
    h->source.reader = hand_format.reader;
    h->source.state = h;
    assert_int_equal(tl_input_open_memory(&h->source.in, "", 0, "by hand", NULL), 0); /* for its name */
    tl_trace *t = &h->source.trace;
    tl_trace_init(t);
    tl_trace_set_clock(t, "instructions", 0);
    t->clock.from_zero = true;
    assert_int_equal(tl_trace_set_classes(t, hand_classes, HAND_CLASSES, NULL), 0);
    assert_true(t->has_aux);
    for (uint32_t i = 0; i < HAND_TRACKS; i++) {
        char name[8];
        uint32_t index;
        snprintf(name, sizeof name, "t%u", i);
        assert_int_equal(
            tl_trace_add_track(t, &(tl_track){.name = name, .tid = 100 + i, .has_tid = true}, &index, NULL), 0);
    }
}

static inline void hand_add(hand *h, const hand_line *line, uint32_t n)
{
    assert_true(h->nstream < HAND_TRACKS);
    h->stream[h->nstream++] = (hand_stream){line, n};
}

#define HAND_ADD(h, lines) hand_add((h), (lines), (uint32_t)(sizeof(lines) / sizeof *(lines)))

static inline void hand_fini(hand *h)
{
    tl_trace_fini(&h->source.trace);
    tl_input_close(h->source.in);
}

/* Passes all of it to the table; must not fail. */
static inline void hand_pass(hand *h, void *table, const tl_insn_table *how, const void *options, unsigned threads)
{
    tl_error e = {0};
    must(tl_insn_pass(table, how, options, true, &h->source, NULL, threads, &e), &e);
}

static inline uint32_t hand_random(uint32_t *x, uint32_t below)
{
    *x = *x * 1664525 + 1013904223;
    return (*x >> 8) % below;
}

/* A program of a few pages with random control flow: branches of all kinds, a system above it, interrupts, gaps in the
 * knowledge of the pc, and accesses. The opcode at a pc is always the same. */
static inline hand_line *hand_wander(uint32_t n, uint32_t seed)
{
    static const uint32_t plain[] = {OP_ADD, OP_ADD, OP_LDR, OP_STR, OP_NOP, OP_MRS, OP_FADD, OP_ADD};
    static const uint32_t branch[] = {OP_B, OP_BL, OP_BCOND, OP_CBZ, OP_BR, OP_BLR, OP_RET, OP_SVC, OP_ERET, OP_BCOND};
    hand_line *line = malloc(n * sizeof *line);
    uint32_t x = seed;
    uint64_t pc = 0x1000;
    unsigned el = 0, unknown = 9;
    assert_non_null(line);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t place = (uint32_t)(pc >> 2) * 2654435761u;
        const uint32_t at = hand_random(&place, 40);
        const uint32_t op = at < 8 ? branch[hand_random(&place, 10)] : plain[at % 8];
        line[i] = (hand_line)INSN_AT(pc, op, el);
        if (unknown > 0) {
            unknown--;
            line[i] = (hand_line)INSN_NO_PC(op);
        }
        uint64_t next = pc + 4;
        if (op == OP_RET || op == OP_BR) /* one way or another */
            next = 0x1000 + 4 * (uint64_t)hand_random(&x, hand_random(&x, 4) ? 8 : 512);
        else if (at < 8 && op != OP_SVC && (op != OP_BCOND || hand_random(&x, 3)))
            next = 0x1000 + 4 * (uint64_t)hand_random(&place, 512);
        if (hand_random(&x, 500) == 0)
            el ^= 1;
        if (hand_random(&x, 2000) == 0)
            unknown = 5;
        if (hand_random(&x, 100) == 0) /* for no known reason */
            next = 0x1000 + 4 * (uint64_t)hand_random(&x, 512);
        if ((op == OP_LDR || op == OP_STR) && i + 1 < n) {
            i++;
            line[i] = (hand_line){op == OP_LDR ? HAND_LOAD : HAND_STORE, 0x8000 + hand_random(&x, 4096),
                                  UINT64_C(1) << hand_random(&x, 5)};
        }
        if (op == OP_SVC)
            for (unsigned k = 0; k < 7 && i + 1 < n; k++)
                line[++i] = (hand_line)ARGUMENT(k);
        pc = next;
    }
    return line;
}

#endif
