/* Output: a buffer, then an optional compressor, then a target. */
#include "base/io/output.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/grow.h"
#include "base/io/compress.h"
#include "base/io/output_target.h"

/* A few times the largest room, so that reserving room rarely flushes a buffer that is far from full. */
#define BUFFER_SIZE ((size_t)TL_OUTPUT_ROOM * 4)

struct tl_output {
    char *buffer;
    size_t n;         /* bytes in the buffer */
    uint64_t flushed; /* bytes that have left it */
    tl_compressor *compressor;
    tl_target target;
    bool finished;
    bool cut; /* has frames to cut */
    bool failed;
    int result; /* with failed: the first failure */
    tl_error error;
};

static int output_new(tl_output **out, tl_compression c, unsigned level, tl_error *e)
{
    int r = 0;
    tl_output *o = calloc(1, sizeof *o);
    char *buffer = malloc(BUFFER_SIZE);
    if (!o || !buffer)
        r = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for an output buffer of %zu bytes", BUFFER_SIZE);
    else if (c != TL_PLAIN)
        r = tl_compressor_new(&o->compressor, c, level, e);
    if (r < 0) {
        free(o);
        free(buffer);
        return r;
    }
    o->buffer = buffer;
    tl_target_open_memory(&o->target);
    *out = o;
    return 0;
}

int tl_output_open(tl_output **out, const char *path, bool overwrite, tl_compression c, unsigned level, tl_error *e)
{
    tl_output *o;
    int r = output_new(&o, c, level, e);
    if (r < 0)
        return e ? tl_error_context(e, "%s", path) : r;
    r = tl_target_open(&o->target, path, overwrite, e);
    if (r < 0)
        tl_output_close(o);
    else
        *out = o;
    return r;
}

int tl_output_open_memory(tl_output **out, tl_compression c, tl_error *e)
{
    return output_new(out, c, 0, e);
}

/* Keeps the first failure. */
static void note(tl_output *o, int r, const tl_error *e)
{
    if (r >= 0 || o->failed)
        return;
    o->failed = true;
    o->result = r;
    o->error = *e;
}

/* Sends bytes past the buffer. */
static void emit(tl_output *o, const void *data, size_t n, bool last)
{
    tl_error e;
    o->flushed += n;
    if (o->failed)
        return;
    note(o,
         o->compressor ? tl_compressor_write(o->compressor, &o->target, data, n, last, &e)
                       : tl_target_write(&o->target, data, n, &e),
         &e);
}

TL_NOINLINE static void flush(tl_output *o)
{
    emit(o, o->buffer, o->n, false);
    o->n = 0;
}

void tl_output_write(tl_output *o, const void *data, size_t n)
{
    assert(!o->finished);
    if (TL_UNLIKELY(n > BUFFER_SIZE - o->n)) {
        flush(o);
        if (n >= BUFFER_SIZE) {
            emit(o, data, n, false);
            return;
        }
    }
    if (n > 0)
        memcpy(o->buffer + o->n, data, n);
    o->n += n;
}

char *tl_output_reserve(tl_output *o, size_t n)
{
    assert(n <= TL_OUTPUT_ROOM && !o->finished);
    if (TL_UNLIKELY(n > BUFFER_SIZE - o->n))
        flush(o);
    return o->buffer + o->n;
}

void tl_output_commit(tl_output *o, char *end)
{
    assert(end >= o->buffer + o->n && end <= o->buffer + BUFFER_SIZE);
    o->n = (size_t)(end - o->buffer);
}

void tl_output_printf(tl_output *o, const char *format, ...)
{
    va_list ap, again;
    va_start(ap, format);
    va_copy(again, ap);
    char *p = tl_output_reserve(o, TL_OUTPUT_ROOM);
    int n = vsnprintf(p, TL_OUTPUT_ROOM, format, ap);
    if (n >= 0 && (size_t)n < TL_OUTPUT_ROOM) {
        tl_output_commit(o, p + n);
    } else if (n >= 0) {
        char *text = malloc((size_t)n + 1);
        tl_error e;
        if (text) {
            vsnprintf(text, (size_t)n + 1, format, again);
            tl_output_write(o, text, (size_t)n);
        } else {
            note(o, tl_fail(&e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a text of %d bytes", n), &e);
        }
        free(text);
    }
    va_end(again);
    va_end(ap);
}

void tl_output_puts(tl_output *o, const char *s)
{
    tl_output_write(o, s, strlen(s));
}

uint64_t tl_output_bytes(const tl_output *o)
{
    return o->flushed + o->n;
}

bool tl_output_cut(tl_output *o)
{
    assert(!o->finished);
    if (!o->compressor || o->failed)
        return false;
    const uint64_t frame = tl_compressor_frame(o->compressor);
    if (frame == UINT64_MAX || frame + o->n < TL_OUTPUT_FRAME)
        return false;
    flush(o);
    if (!o->failed) {
        tl_error e;
        note(o, tl_compressor_cut(o->compressor, &o->target, &e), &e);
    }
    o->cut = !o->failed;
    return o->cut;
}

void tl_output_note_frame(tl_output *o, uint32_t magic, const void *data, size_t n)
{
    tl_error e;
    assert(!o->finished);
    if (o->cut && !o->failed)
        note(o, tl_compressor_note(o->compressor, magic, data, n, &e), &e);
}

bool tl_output_can_patch(const tl_output *o)
{
    return !o->compressor && o->target.seekable;
}

int tl_output_patch(tl_output *o, uint64_t offset, const void *data, size_t n, tl_error *e)
{
    const char *p = data;
    uint64_t bytes = tl_output_bytes(o);
    assert(!o->finished);
    if (!tl_output_can_patch(o))
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "%s: only plain files and memory can be written out of order",
                       o->target.path ? o->target.path : "memory");
    if (offset > bytes || n > bytes - offset)
        return tl_fail(e, TL_EINVAL, offset, "%zu bytes to overwrite, but only %" PRIu64 " were written", n, bytes);
    if (o->failed) {
        if (e)
            *e = o->error;
        return o->result;
    }
    if (offset < o->flushed && n > 0) {
        tl_error why;
        size_t part = n < o->flushed - offset ? n : (size_t)(o->flushed - offset);
        int r = tl_target_patch(&o->target, offset, p, part, &why);
        note(o, r, &why);
        if (r < 0) {
            if (e)
                *e = why;
            return r;
        }
        offset += part;
        p += part;
        n -= part;
    }
    if (n > 0)
        memcpy(o->buffer + (size_t)(offset - o->flushed), p, n);
    return 0;
}

int tl_output_flush(tl_output *o, tl_error *e)
{
    assert(!o->finished);
    if (o->n > 0)
        flush(o);
    if (o->failed && e)
        *e = o->error;
    return o->result;
}

int tl_output_finish(tl_output *o, tl_error *e)
{
    tl_error why;
    if (!o->finished) {
        emit(o, o->buffer, o->n, true);
        o->n = 0;
        if (!o->failed)
            note(o, tl_target_finish(&o->target, &why), &why);
        /* Removes anything incomplete, except a memory output's bytes, which can still be taken. */
        if (o->failed)
            tl_target_close(&o->target);
        o->finished = true;
    }
    if (o->failed && e)
        *e = o->error;
    return o->result;
}

void *tl_output_take_memory(tl_output *o, size_t *n)
{
    tl_target *t = &o->target;
    if (!o->finished || o->failed || t->path)
        return NULL;
    (void)TL_RESIZE(t->memory, t->n); /* if n is 0: not NULL, which would mean failure */
    void *memory = t->memory;
    *n = t->n;
    t->memory = NULL;
    t->n = t->capacity = 0;
    return memory;
}

void tl_output_close(tl_output *o)
{
    if (!o)
        return;
    tl_compressor_free(o->compressor);
    tl_target_close(&o->target);
    free(o->buffer);
    free(o);
}
