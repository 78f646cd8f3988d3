/* What tests of event writers share: a trace made by hand, events put into batches one by one, and the bytes that a
 * writer makes of them. */
#ifndef TL_TEST_WRITER_FIXTURE_H
#define TL_TEST_WRITER_FIXTURE_H

#include "check.h"
#include "model/batch.h"
#include "model/format_impl.h"

/* The classes of the trace: those of XRay, and one of every kind that they lack. */
enum { ENTER, EXIT, TAIL_EXIT, ENTER_ARGS, CUSTOM, TYPED, COUNTER, LOSS, FRAMING, INSN, STRUCTURED, CLASSES };

static const tl_field fixture_args[] = {{.name = "args", .type = TL_LIST}};
static const tl_field fixture_data[] = {{.name = "data", .type = TL_BYTES}};
static const tl_field fixture_typed[] = {{.name = "type", .type = TL_U64}, {.name = "data", .type = TL_BYTES}};
static const tl_field fixture_counter[] = {
    {.name = "heap", .type = TL_U64}, {.name = "what", .type = TL_STRING}, {.name = "load", .type = TL_F64}};
static const tl_field fixture_insn[] = {{.name = "opcode", .type = TL_HEX}};
static const tl_field fixture_point[] = {{.name = "x", .type = TL_I64}, {.name = "ok", .type = TL_BOOL}};
static const tl_field fixture_structured[] = {
    {.name = "point", .type = TL_STRUCT, .member = fixture_point, .nmember = 2},
    {.name = "text", .type = TL_STRING},
    {.name = "none", .type = TL_NULL}};

static const tl_class fixture_classes[CLASSES] = {
    [ENTER] = {.kind = TL_ENTER, .key = TL_KEY_FUNCTION, .name = "xray.enter"},
    [EXIT] = {.kind = TL_EXIT, .key = TL_KEY_FUNCTION, .name = "xray.exit"},
    [TAIL_EXIT] = {.kind = TL_EXIT, .key = TL_KEY_FUNCTION, .name = "xray.tail_exit"},
    [ENTER_ARGS] =
        {.kind = TL_ENTER, .key = TL_KEY_FUNCTION, .name = "xray.enter_args", .field = fixture_args, .nfield = 1},
    [CUSTOM] = {.kind = TL_INSTANT, .name = "xray.custom", .field = fixture_data, .nfield = 1},
    [TYPED] = {.kind = TL_INSTANT, .name = "xray.typed", .field = fixture_typed, .nfield = 2},
    [COUNTER] = {.kind = TL_COUNTER, .name = "memory", .field = fixture_counter, .nfield = 3},
    [LOSS] = {.kind = TL_LOSS, .name = "lost"},
    [FRAMING] = {.kind = TL_FORMAT, .name = "buffer"},
    [INSN] = {.kind = TL_INSN, .key = TL_KEY_PC, .name = "insn", .field = fixture_insn, .nfield = 1},
    [STRUCTURED] = {.kind = TL_INSTANT, .name = "structured", .field = fixture_structured, .nfield = 3},
};

typedef struct fixture {
    tl_trace trace;
    tl_batch batch;
    tl_write_options options;
    char version[16];
    tl_drops drops;
    tl_output *out;
    const tl_format *format;
    void *writer;
    bool created;
    uint8_t *bytes; /* after fixture_finish(), with a NUL behind */
    size_t size;
} fixture;

/* A trace of 1 GHz (a tick is one ns) with threads 7 and 8 of process 5, and functions 1 "main" and 2 "fib". */
static inline void fixture_init(fixture *f)
{
    const tl_want all = {.fields = true, .cpu = true};
    memset(f, 0, sizeof *f);
    tl_trace_init(&f->trace);
    f->trace.path = "dir/app.xray";
    tl_trace_set_clock(&f->trace, "tsc", 1000000000);
    assert_int_equal(tl_trace_set_classes(&f->trace, fixture_classes, CLASSES, NULL), 0);
    for (int64_t tid = 7; tid <= 8; tid++) {
        tl_track track = {
            .name = tid == 7 ? "thread 7" : "thread 8", .pid = 5, .tid = tid, .has_pid = true, .has_tid = true};
        uint32_t index;
        assert_int_equal(tl_trace_add_track(&f->trace, &track, &index, NULL), 0);
    }
    tl_function function[] = {{.id = 1, .name = "main"}, {.id = 2, .name = "fib"}};
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(tl_trace_add_function(&f->trace, &function[i], NULL), 0);
    assert_int_equal(tl_batch_init(&f->batch, &f->trace, &all, TL_BATCH_MAX, NULL), 0);
}

/* The version to write; 0: not said. */
static inline void fixture_version(fixture *f, int version)
{
    snprintf(f->version, sizeof f->version, "%d", version);
    f->options.version = version ? f->version : NULL;
}

/* Opens the writer; the trace and the options must be complete. */
static inline int fixture_create(fixture *f, const tl_format *format)
{
    f->format = format;
    assert_int_equal(tl_output_open_memory(&f->out, TL_PLAIN, NULL), 0);
    f->writer = calloc(1, format->writer_size);
    assert_non_null(f->writer);
    const tl_write_context context = {.out = f->out, .trace = &f->trace, .drops = &f->drops, .options = &f->options};
    return format->create(f->writer, &context, NULL);
}

/* Hands the events so far to the writer. */
static inline void fixture_flush(fixture *f)
{
    if (f->batch.n > 0)
        assert_int_equal(f->format->write(f->writer, &f->batch, 0, f->batch.n, NULL), 0);
    tl_batch_clear(&f->batch);
}

/* Appends an event; n values follow as slots of the tape. */
static inline void fixture_event(fixture *f, uint32_t cls, uint32_t track, int32_t cpu, uint64_t ts, uint64_t key,
                                 const tl_value *v, uint32_t n)
{
    if (f->batch.n == TL_BATCH_MAX)
        fixture_flush(f);
    tl_batch *b = &f->batch;
    uint32_t i = b->n++;
    b->cls[i] = cls;
    b->track[i] = track;
    b->cpu[i] = cpu;
    b->ts[i] = ts;
    b->key[i] = key;
    b->val[i] = b->nval;
    tl_value *slot = tl_batch_slots(b, n);
    assert_true(n == 0 || slot);
    if (n > 0)
        memcpy(slot, v, n * sizeof *v);
    b->val[i + 1] = b->nval;
}

static inline void fixture_call(fixture *f, uint32_t cls, uint32_t track, uint64_t ts, uint64_t function)
{
    fixture_event(f, cls, track, 0, ts, function, NULL, 0);
}

/* An xray.custom event; the payload must live until the next flush. */
static inline void fixture_custom(fixture *f, uint32_t track, int32_t cpu, uint64_t ts, const void *data, uint32_t n)
{
    tl_value v = {.type = TL_BYTES, .n = n, .as.p = data};
    fixture_event(f, CUSTOM, track, cpu, ts, 0, &v, 1);
}

static inline void fixture_typed_event(fixture *f, uint32_t track, int32_t cpu, uint64_t ts, uint64_t type,
                                       const void *data, uint32_t n)
{
    tl_value v[2] = {{.type = TL_U64, .as.u = type}, {.type = TL_BYTES, .n = n, .as.p = data}};
    fixture_event(f, TYPED, track, cpu, ts, 0, v, 2);
}

/* Completes the file: f->bytes and f->size. */
static inline void fixture_finish(fixture *f)
{
    fixture_flush(f);
    assert_int_equal(f->format->finish(f->writer, NULL), 0);
    assert_int_equal(tl_output_finish(f->out, NULL), 0);
    void *memory = tl_output_take_memory(f->out, &f->size);
    f->bytes = calloc(1, f->size + 1);
    assert_non_null(f->bytes);
    if (f->size > 0)
        memcpy(f->bytes, memory, f->size);
    free(memory);
}

static inline void fixture_fini(fixture *f)
{
    if (f->writer)
        f->format->discard(f->writer);
    free(f->writer);
    tl_output_close(f->out);
    free(f->bytes);
    free(f->drops.drop);
    tl_batch_fini(&f->batch);
    f->trace.path = f->trace.format = f->trace.version = NULL;
    tl_trace_fini(&f->trace);
}

/* How many of a thing were reported as dropped; the text only has to begin so. */
static inline uint64_t fixture_dropped(const fixture *f, const char *what)
{
    for (uint32_t i = 0; i < f->drops.n; i++)
        if (strncmp(f->drops.drop[i].what, what, strlen(what)) == 0)
            return f->drops.drop[i].n;
    return 0;
}

#endif
