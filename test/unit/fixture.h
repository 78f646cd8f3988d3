/* Shared by tests of event writers: a trace with classes that the test chooses, events put into batches one by one, and
 * the bytes that a writer makes of them. */
#ifndef TL_TEST_FIXTURE_H
#define TL_TEST_FIXTURE_H

#include "check.h"
#include "model/batch.h"
#include "model/format_impl.h"

typedef struct fixture {
    tl_trace trace;
    tl_batch batch;
    tl_write_options options;
    char version[16];
    tl_drops drops;
    const char *path; /* name of the output, or NULL */
    tl_output *out;
    tl_output_folder *folder; /* opened by a test that needs one instead of `out` */
    const tl_format *format;
    void *writer;
    uint64_t count; /* instructions so far */
    uint8_t *bytes; /* after fixture_finish(), with a NUL after them; not for a folder */
    size_t size;
} fixture;

/* Completes an output to memory: its bytes, with a NUL after them; free(). */
static inline void *take_bytes(tl_output *out, size_t *n)
{
    tl_error e;
    must(tl_output_finish(out, &e), &e);
    void *memory = tl_output_take_memory(out, n);
    char *bytes = calloc(1, *n + 1);
    assert_non_null(bytes);
    if (*n > 0)
        memcpy(bytes, memory, *n);
    free(memory);
    return bytes;
}

/* How many of a thing were reported as dropped; `what` is the begin of the text. */
static inline uint64_t drops_of(const tl_drops *d, const char *what)
{
    for (uint32_t i = 0; i < d->n; i++)
        if (strncmp(d->drop[i].what, what, strlen(what)) == 0)
            return d->drop[i].n;
    return 0;
}

/* An empty trace with a clock and classes. Its tracks and functions follow, then the batch. */
static inline void fixture_trace(fixture *f, const char *path, const char *clock, uint64_t hz, const tl_class *classes,
                                 uint32_t n)
{
    memset(f, 0, sizeof *f);
    tl_trace_init(&f->trace);
    f->trace.path = path;
    tl_trace_set_clock(&f->trace, clock, hz);
    assert_int_equal(tl_trace_set_classes(&f->trace, classes, n, NULL), 0);
}

static inline void fixture_track(fixture *f, const tl_track *track)
{
    uint32_t index;
    assert_int_equal(tl_trace_add_track(&f->trace, track, &index, NULL), 0);
}

static inline void fixture_function(fixture *f, const tl_function *function)
{
    assert_int_equal(tl_trace_add_function(&f->trace, function, NULL), 0);
}

/* `cpu`: with the column of processors. */
static inline void fixture_batch(fixture *f, bool cpu)
{
    const tl_want want = {.fields = true, .cpu = cpu};
    assert_int_equal(tl_batch_init(&f->batch, &f->trace, &want, TL_BATCH_MAX, NULL), 0);
}

/* The version to write; 0: the default. */
static inline void fixture_version(fixture *f, int version)
{
    snprintf(f->version, sizeof f->version, "%d", version);
    f->options.version = version ? f->version : NULL;
}

/* Opens the writer for a trace's events, as options say; the trace must be complete. */
static inline int fixture_create_for(fixture *f, const tl_format *format, const tl_trace *t, tl_error *e)
{
    f->format = format;
    if (!f->folder && !f->out)
        assert_int_equal(tl_output_open_memory(&f->out, TL_PLAIN, NULL), 0);
    f->writer = calloc(1, format->event_writer->size);
    assert_non_null(f->writer);
    const tl_write_context context = {
        .path = f->path, .out = f->out, .folder = f->folder, .trace = t, .drops = &f->drops, .options = &f->options};
    return format->event_writer->create(f->writer, &context, e);
}

static inline int fixture_create(fixture *f, const tl_format *format)
{
    return fixture_create_for(f, format, &f->trace, NULL);
}

/* Hands the events so far to the writer. */
static inline int fixture_write(fixture *f, tl_error *e)
{
    const int r = f->batch.n > 0 ? f->format->event_writer->write(f->writer, &f->batch, 0, f->batch.n, e) : 0;
    tl_batch_clear(&f->batch);
    return r;
}

static inline void fixture_flush(fixture *f)
{
    tl_error e;
    must(fixture_write(f, &e), &e);
}

/* Appends an event; n values follow as slots of the tape. Ignores the processor if the batch has no column for it. */
static inline void fixture_event(fixture *f, uint32_t cls, uint32_t track, int32_t cpu, uint64_t ts, uint64_t key,
                                 const tl_value *v, uint32_t n)
{
    if (f->batch.n == TL_BATCH_MAX)
        fixture_flush(f);
    tl_batch *b = &f->batch;
    uint32_t i = b->n++;
    b->cls[i] = cls;
    b->track[i] = track;
    if (b->cpu)
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

/* Completes the file: f->bytes and f->size. */
static inline void fixture_finish(fixture *f)
{
    tl_error e;
    fixture_flush(f);
    must(f->format->event_writer->finish(f->writer, &e), &e);
    if (f->folder) {
        must(tl_output_folder_finish(f->folder, &e), &e);
        return;
    }
    f->bytes = take_bytes(f->out, &f->size);
}

static inline void fixture_fini(fixture *f)
{
    if (f->writer)
        f->format->event_writer->discard(f->writer);
    free(f->writer);
    tl_output_close(f->out);
    tl_output_folder_close(f->folder);
    free(f->bytes);
    free(f->drops.drop);
    tl_batch_fini(&f->batch);
    f->trace.path = f->trace.format = f->trace.version = NULL;
    tl_trace_fini(&f->trace);
}

/* Completes the file, which must be this text, and frees the fixture. */
static inline void fixture_expect(fixture *f, const char *text)
{
    fixture_finish(f);
    assert_string_equal((const char *)f->bytes, text);
    fixture_fini(f);
}

static inline uint64_t fixture_dropped(const fixture *f, const char *what)
{
    return drops_of(&f->drops, what);
}

#endif
