/* Shared by tests of the listing: a trace of instructions made by hand, and the text that a writer makes of it. Classes
 * have names of their own here, which the writer must not use; the built-in disassembler knows all texts, which are the
 * same in LLVM. */
#ifndef TL_TEST_LISTING_FIXTURE_H
#define TL_TEST_LISTING_FIXTURE_H

#include "fixture.h"

extern const tl_format tl_format_listing, tl_format_listing_values;

enum { IN, LD, ST, XR, SYS, ARG, RET, CACHE, TARGET, ORDER, FLAGS, VEC, ALL, SNAP, OTHER, LOST, CALL, NOTE, KINDS };

static const tl_field value_fields[] = {{.name = "addr", .type = TL_HEX},
                                        {.name = "raw", .type = TL_BYTES, .role = TL_FIELD_VALUE}};
static const tl_field one = {.type = TL_HEX};
static const tl_field buffer_members[] = {{.name = "b", .type = TL_HEX, .role = TL_FIELD_BASE},
                                          {.name = "n", .type = TL_U64, .role = TL_FIELD_BYTES}};
static const tl_field buffer = {.type = TL_STRUCT, .member = buffer_members, .nmember = 2};
static const tl_field buffers[] = {
    {.name = "list", .type = TL_LIST, .member = &buffer, .nmember = 1, .role = TL_FIELD_ITEMS}};
static const tl_field registers[] = {
    {.name = "n", .type = TL_U64},
    {.name = "x", .type = TL_LIST, .member = &one, .nmember = 1, .role = TL_FIELD_GENERAL},
    {.name = "z", .type = TL_BYTES},
    {.name = "nzcv", .type = TL_HEX, .role = TL_FIELD_FLAGS_REGISTER},
    {.name = "fpcr", .type = TL_HEX}};

#define STATE(role_, name_)                                                                                            \
    {                                                                                                                  \
        .kind = TL_STATE, .key = TL_KEY_VALUE, .name = (name_), .role = TL_ROLE_##role_                                \
    }
static const tl_class classes[KINDS] = {
    [IN] = {.kind = TL_INSN, .key = TL_KEY_PC, .aux = TL_AUX_INSN, .role = TL_ROLE_A64, .name = "i"},
    [LD] = {.kind = TL_MEM,
            .key = TL_KEY_ADDRESS,
            .aux = TL_AUX_SIZE,
            .role = TL_ROLE_LOAD,
            .name = "l",
            .field = value_fields,
            .nfield = 2},
    [ST] = {.kind = TL_MEM,
            .key = TL_KEY_ADDRESS,
            .aux = TL_AUX_SIZE,
            .role = TL_ROLE_STORE,
            .name = "s",
            .field = value_fields,
            .nfield = 2},
    [XR] = STATE(STORED, "x"),
    [SYS] = STATE(SYSTEM_VALUE, "y"),
    [ARG] = STATE(CALL_ARGUMENT, "a"),
    [RET] = STATE(CALL_RESULT, "r"),
    [CACHE] = STATE(CACHE_ADDRESS, "c"),
    [TARGET] = STATE(TARGET, "t"),
    [ORDER] = STATE(ORDER, "o"),
    [FLAGS] = STATE(FLAGS, "f"),
    [VEC] = {.kind = TL_STATE, .name = "v", .role = TL_ROLE_CALL_BUFFERS, .field = buffers, .nfield = 1},
    [ALL] = {.kind = TL_REGS, .name = "all", .role = TL_ROLE_GENERAL, .field = registers, .nfield = 2},
    [SNAP] = {.kind = TL_REGS, .name = "snapshot", .role = TL_ROLE_SNAPSHOT, .field = registers, .nfield = 5},
    [OTHER] = STATE(NONE, "other"),
    [LOST] = {.kind = TL_LOSS, .name = "lost"},
    [CALL] = {.kind = TL_ENTER, .key = TL_KEY_FUNCTION, .name = "enter"},
    [NOTE] = {.kind = TL_FORMAT, .name = "note"},
};

enum { NOP = 0xd503201f, LDR = 0xf9400420, SVC = 0xd4000001, RETURN = 0xd65f03c0 };
/* The blanks before more of an instruction that is not on the last line any more. */
#define BLANK "                                                                   "

static const tl_function *functions; /* of the trace that start() makes */
static unsigned nfunction;

static inline void start(fixture *f, const tl_format *format, unsigned tracks)
{
    fixture_trace(f, NULL, "instructions", 0, classes, KINDS);
    for (unsigned i = 0; i < tracks; i++)
        fixture_track(f, &(tl_track){.name = i == 0 ? "4711" : i == 1 ? "cpu\x1b[2J\xff" : "a third"});
    for (unsigned i = 0; i < nfunction; i++)
        fixture_function(f, &functions[i]);
    fixture_batch(f, true);
    assert_non_null(f->batch.aux);
    assert_int_equal(fixture_create(f, format), 0);
    for (uint32_t i = 0; i < KINDS; i++)
        assert_int_equal(format->event_writer->accept(f->writer, &f->trace.cls[i]), i == CALL   ? TL_ACCEPT_DROP
                                                                                    : i == NOTE ? TL_ACCEPT_IGNORE
                                                                                                : TL_ACCEPT_KEEP);
}

static inline void put(fixture *f, uint32_t cls, uint32_t track, uint64_t ts, uint64_t key, uint64_t aux)
{
    fixture_event(f, cls, track, -1, ts, key, NULL, 0);
    f->batch.aux[f->batch.n - 1] = aux;
}

static inline void put_bytes(fixture *f, uint32_t cls, uint64_t ts, uint64_t key, const void *data, uint32_t n)
{
    const tl_value v[2] = {{.type = TL_HEX, .as.u = key}, {.type = TL_BYTES, .n = n, .as.p = data}};
    fixture_event(f, cls, 0, -1, ts, key, v, 2);
    f->batch.aux[f->batch.n - 1] = n;
}

#endif
