/* Shared by tests of writers of instruction streams: a trace with their classes, events put into batches one by one,
 * and the bytes that a writer makes of them. */
#ifndef TL_TEST_INSN_FIXTURE_H
#define TL_TEST_INSN_FIXTURE_H

#include "base/endian.h"
#include "fixture.h"
#include "format/xtrace/xtrace_classes.h"
#include "format/xtrace/xtrace_snapshot.h"

#define NOP    UINT32_C(0xd503201f)
#define ADD    UINT32_C(0x91000400) /* add x0, x0, #1 */
#define LDR    UINT32_C(0xf9400041) /* ldr x1, [x2] */
#define STR    UINT32_C(0xf9000041) /* str x1, [x2] */
#define B_EQ   UINT32_C(0x54000040) /* b.eq +8 */
#define CBZ    UINT32_C(0xb4000043) /* cbz x3, +8 */
#define CALL   UINT32_C(0x94000002) /* bl +8 */
#define JUMP   UINT32_C(0x14000002) /* b +8 */
#define RETURN UINT32_C(0xd65f03c0) /* ret */
#define BR     UINT32_C(0xd61f0220) /* br x17 */
#define BLR    UINT32_C(0xd63f0220) /* blr x17 */
#define SVC    UINT32_C(0xd4000001)

/* Instructions of two threads. */
static inline void insn_init(fixture *f)
{
    tl_class classes[XTRACE_CLASSES];
    memcpy(classes, xtrace_classes, sizeof xtrace_classes);
    classes[XTRACE_CLASS_SNAPSHOT] = xtrace_snapshot_class;
    fixture_trace(f, NULL, "instructions", 0, classes, XTRACE_CLASSES);
    fixture_track(f, &(tl_track){.name = "7", .tid = 7, .has_tid = true});
    fixture_track(f, &(tl_track){.name = "8", .tid = 8, .has_tid = true});
    fixture_batch(f, false);
    assert_non_null(f->batch.aux);
}

static inline int insn_create(fixture *f, const tl_format *format, tl_error *e)
{
    return fixture_create_for(f, format, &f->trace, e);
}

static inline void insn_start(fixture *f, const tl_format *format)
{
    tl_error e;
    insn_init(f);
    must(insn_create(f, format, &e), &e);
}

/* Appends an event; n values follow as slots of the tape. */
static inline void insn_event(fixture *f, uint32_t cls, uint32_t track, uint64_t key, uint64_t aux, const tl_value *v,
                              uint32_t n)
{
    fixture_event(f, cls, track, -1, cls == XTRACE_CLASS_INSN || f->count == 0 ? f->count : f->count - 1, key, v, n);
    f->batch.aux[f->batch.n - 1] = aux;
}

static inline void put_insn(fixture *f, uint64_t pc, uint32_t op, unsigned level)
{
    const tl_value v[] = {{.type = TL_HEX, .as.u = pc}, {.type = TL_HEX, .as.u = op}, {.type = TL_U64, .as.u = level}};
    insn_event(f, XTRACE_CLASS_INSN, 0, pc, op | (uint64_t)level << 32, v, 3);
    f->count++;
}

static inline void put_insn_without_pc(fixture *f, uint32_t op)
{
    const tl_value v[] = {{.type = TL_NULL}, {.type = TL_HEX, .as.u = op}, {.type = TL_U64}};
    insn_event(f, XTRACE_CLASS_INSN, 0, 0, op | TL_INSN_NO_PC, v, 3);
    f->count++;
}

/* The bytes must live until the next flush. */
static inline void put_mem(fixture *f, bool store, uint64_t address, const void *data, uint32_t n)
{
    const tl_value v[] = {
        {.type = TL_HEX, .as.u = address}, {.type = TL_U64, .as.u = n}, {.type = TL_BYTES, .n = n, .as.p = data}};
    insn_event(f, store ? XTRACE_CLASS_STORE : XTRACE_CLASS_LOAD, 0, address, n, v, 3);
}

static inline void put_state(fixture *f, uint32_t cls, uint64_t value)
{
    const tl_value v = {.type = cls == XTRACE_CLASS_TIME ? TL_U64 : TL_HEX, .as.u = value};
    insn_event(f, cls, 0, value, 0, &v, 1);
}

static inline void put_all_gpr(fixture *f, uint64_t first)
{
    tl_value v[33] = {{.type = TL_LIST, .n = 32}};
    for (uint32_t i = 0; i < 32; i++)
        v[1 + i] = (tl_value){.type = TL_HEX, .as.u = first + i};
    insn_event(f, XTRACE_CLASS_ALL_GPR, 0, 0, 0, v, 33);
}

/* A snapshot of vectors of 128 bits: registers are first, first + 1, ...; vectors and predicates are their numbers. */
static inline void put_snapshot(fixture *f, uint64_t insns, uint64_t first, uint64_t sp)
{
    static uint8_t byte[33][16], zero[256];
    tl_value v[128];
    uint32_t n = 0;
    const uint64_t count[] = {0, 1000 + insns, insns, insns};
    for (uint32_t i = 0; i < 33; i++)
        memset(byte[i], (int)i, 16);
    for (uint32_t i = 0; i < 4; i++)
        v[n++] = (tl_value){.type = TL_U64, .as.u = count[i]};
    v[n++] = (tl_value){.type = TL_LIST, .n = 32};
    for (uint32_t i = 0; i < 32; i++)
        v[n++] = (tl_value){.type = TL_HEX, .as.u = i == 31 ? sp : first + i};
    v[n++] = (tl_value){.type = TL_LIST, .n = 32};
    for (uint32_t i = 0; i < 32; i++)
        v[n++] = (tl_value){.type = TL_BYTES, .n = 16, .as.p = byte[i]};
    v[n++] = (tl_value){.type = TL_LIST, .n = 16};
    for (uint32_t i = 0; i < 17; i++)
        v[n++] = (tl_value){.type = TL_BYTES, .n = 2, .as.p = byte[i]};
    v[n++] = (tl_value){.type = TL_BYTES, .n = 256, .as.p = zero};
    for (uint32_t i = 0; i < 11; i++)
        v[n++] = (tl_value){.type = TL_HEX, .as.u = UINT64_C(0x100) << i}; /* a bit each */
    v[n++] = (tl_value){.type = TL_U64, .as.u = 128};
    insn_event(f, XTRACE_CLASS_SNAPSHOT, 0, 0, 0, v, n);
    f->batch.ts[f->batch.n - 1] = insns;
}

/* Two threads in one file are refused, with a hint. */
static inline void insn_refuses_tracks(const tl_format *format, const char *hint)
{
    fixture f;
    tl_error e;
    insn_start(&f, format);
    put_insn(&f, 0x400000, NOP, 0);
    put_insn(&f, 0x400004, NOP, 0);
    f.batch.track[1] = 1;
    assert_int_equal(fixture_write(&f, &e), TL_EUNSUPPORTED);
    assert_contains(e.message, hint);
    fixture_fini(&f);
}

#endif
