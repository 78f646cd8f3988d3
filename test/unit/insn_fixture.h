/* What tests of writers of instruction streams share: a trace with their classes, events put into batches one by one,
 * and the bytes that a writer makes of them. */
#ifndef TL_TEST_INSN_FIXTURE_H
#define TL_TEST_INSN_FIXTURE_H

#include "base/endian.h"
#include "check.h"
#include "format/xtrace/xtrace_classes.h"
#include "format/xtrace/xtrace_snapshot.h"
#include "model/format_impl.h"

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

typedef struct insn_fixture {
    tl_trace trace;
    tl_batch batch;
    tl_write_options options;
    tl_drops drops;
    tl_output *out;
    tl_output_folder *folder;
    const tl_format *format;
    void *writer;
    const char *path; /* how the output is called, or NULL */
    uint64_t count;   /* instructions so far */
    uint8_t *bytes;   /* after insn_finish() */
    size_t size;
} insn_fixture;

static inline void insn_init(insn_fixture *f)
{
    const tl_want all = {.fields = true};
    tl_class classes[XTRACE_CLASSES];
    memset(f, 0, sizeof *f);
    tl_trace_init(&f->trace);
    tl_trace_set_clock(&f->trace, "instructions", 0);
    memcpy(classes, xtrace_classes, sizeof xtrace_classes);
    classes[XTRACE_CLASS_SNAPSHOT] = xtrace_snapshot_class;
    assert_int_equal(tl_trace_set_classes(&f->trace, classes, XTRACE_CLASSES, NULL), 0);
    for (int64_t tid = 7; tid <= 8; tid++) {
        tl_track track = {.name = tid == 7 ? "7" : "8", .tid = tid, .has_tid = true};
        uint32_t index;
        assert_int_equal(tl_trace_add_track(&f->trace, &track, &index, NULL), 0);
    }
    assert_int_equal(tl_batch_init(&f->batch, &f->trace, &all, TL_BATCH_MAX, NULL), 0);
    assert_non_null(f->batch.aux);
}

static inline int insn_create(insn_fixture *f, const tl_format *format, tl_error *e)
{
    f->format = format;
    if (!f->folder && !f->out)
        assert_int_equal(tl_output_open_memory(&f->out, TL_PLAIN, NULL), 0);
    f->writer = calloc(1, format->writer_size);
    assert_non_null(f->writer);
    const tl_write_context context = {.path = f->path,
                                      .out = f->out,
                                      .folder = f->folder,
                                      .trace = &f->trace,
                                      .drops = &f->drops,
                                      .options = &f->options};
    return format->create(f->writer, &context, e);
}

static inline void insn_start(insn_fixture *f, const tl_format *format)
{
    tl_error e;
    insn_init(f);
    must(insn_create(f, format, &e), &e);
}

/* Hands the events so far to the writer. */
static inline int insn_flush(insn_fixture *f, tl_error *e)
{
    const int r = f->batch.n > 0 ? f->format->write(f->writer, &f->batch, 0, f->batch.n, e) : 0;
    tl_batch_clear(&f->batch);
    return r;
}

/* Appends an event; n values follow as slots of the tape. */
static inline void insn_event(insn_fixture *f, uint32_t cls, uint32_t track, uint64_t key, uint64_t aux,
                              const tl_value *v, uint32_t n)
{
    if (f->batch.n == TL_BATCH_MAX) {
        tl_error e;
        must(insn_flush(f, &e), &e);
    }
    tl_batch *b = &f->batch;
    const uint32_t i = b->n++;
    b->cls[i] = cls;
    b->track[i] = track;
    b->ts[i] = cls == XTRACE_CLASS_INSN || f->count == 0 ? f->count : f->count - 1;
    b->key[i] = key;
    b->aux[i] = aux;
    b->val[i] = b->nval;
    tl_value *slot = tl_batch_slots(b, n);
    assert_true(n == 0 || slot);
    if (n > 0)
        memcpy(slot, v, n * sizeof *v);
    b->val[i + 1] = b->nval;
}

static inline void put_insn(insn_fixture *f, uint64_t pc, uint32_t op, unsigned level)
{
    const tl_value v[] = {{.type = TL_HEX, .as.u = pc}, {.type = TL_HEX, .as.u = op}, {.type = TL_U64, .as.u = level}};
    insn_event(f, XTRACE_CLASS_INSN, 0, pc, op | (uint64_t)level << 32, v, 3);
    f->count++;
}

static inline void put_insn_without_pc(insn_fixture *f, uint32_t op)
{
    const tl_value v[] = {{.type = TL_NULL}, {.type = TL_HEX, .as.u = op}, {.type = TL_U64}};
    insn_event(f, XTRACE_CLASS_INSN, 0, 0, op | TL_INSN_NO_PC, v, 3);
    f->count++;
}

/* The bytes must live until the next flush. */
static inline void put_mem(insn_fixture *f, bool store, uint64_t address, const void *data, uint32_t n)
{
    const tl_value v[] = {
        {.type = TL_HEX, .as.u = address}, {.type = TL_U64, .as.u = n}, {.type = TL_BYTES, .n = n, .as.p = data}};
    insn_event(f, store ? XTRACE_CLASS_STORE : XTRACE_CLASS_LOAD, 0, address, n, v, 3);
}

static inline void put_state(insn_fixture *f, uint32_t cls, uint64_t value)
{
    const tl_value v = {.type = cls == XTRACE_CLASS_TIME ? TL_U64 : TL_HEX, .as.u = value};
    insn_event(f, cls, 0, value, 0, &v, 1);
}

static inline void put_all_gpr(insn_fixture *f, uint64_t first)
{
    tl_value v[33] = {{.type = TL_LIST, .n = 32}};
    for (uint32_t i = 0; i < 32; i++)
        v[1 + i] = (tl_value){.type = TL_HEX, .as.u = first + i};
    insn_event(f, XTRACE_CLASS_ALL_GPR, 0, 0, 0, v, 33);
}

/* A snapshot of vectors of 128 bits: registers are first, first + 1, ...; vectors and predicates hold their number. */
static inline void put_snapshot(insn_fixture *f, uint64_t insns, uint64_t first, uint64_t sp)
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

/* Completes the file: f->bytes and f->size. */
static inline void insn_finish(insn_fixture *f)
{
    tl_error e;
    must(insn_flush(f, &e), &e);
    must(f->format->finish(f->writer, &e), &e);
    if (f->folder) {
        must(tl_output_folder_finish(f->folder, &e), &e);
        return;
    }
    must(tl_output_finish(f->out, &e), &e);
    f->bytes = tl_output_take_memory(f->out, &f->size);
}

static inline void insn_fini(insn_fixture *f)
{
    if (f->writer)
        f->format->discard(f->writer);
    free(f->writer);
    tl_output_close(f->out);
    tl_output_folder_close(f->folder);
    free(f->bytes);
    free(f->drops.drop);
    tl_batch_fini(&f->batch);
    tl_trace_fini(&f->trace);
}

/* How many of a thing were reported as dropped; the text only has to begin so. */
static inline uint64_t insn_dropped(const insn_fixture *f, const char *what)
{
    for (uint32_t i = 0; i < f->drops.n; i++)
        if (strncmp(f->drops.drop[i].what, what, strlen(what)) == 0)
            return f->drops.drop[i].n;
    return 0;
}

#endif
