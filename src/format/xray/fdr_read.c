/* Reading XRay flight data recorder logs: one stream per thread, its buffers one after another.
 *
 * The layout is in fdr_layout.h. A cursor decodes only the records that the index (fdr_index.c) found to be good. */
#include "format/xray/fdr_read.h"

#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "base/grow.h"
#include "format/xray/fdr_layout.h"
#include "format/xray/fdr_typed.h"

enum { WINDOW = 64 << 10 };

int fdr_stream_open(void *reader, uint32_t stream, void *cursor, tl_error *e)
{
    const fdr_reader *r = reader;
    fdr_cursor *c = cursor;
    c->reader = r;
    c->track = stream;
    c->buffer = r->index.buffer + r->index.first[stream];
    c->last = r->index.buffer + r->index.first[stream + 1];
    uint64_t largest = FDR_METADATA_SIZE; /* many threads may be read at once: no larger window than useful */
    for (const fdr_buffer *b = c->buffer; b < c->last; b++)
        if (b->end - b->begin > largest)
            largest = b->end - b->begin;
    return tl_window_init(&c->window, r->in, largest < WINDOW ? (size_t)largest : WINDOW, e);
}

void fdr_stream_close(void *cursor)
{
    fdr_cursor *c = cursor;
    tl_window_fini(&c->window);
    free(c->scratch);
}

int fdr_stream_limit(void *cursor, uint64_t from, uint64_t to, tl_error *e)
{
    fdr_cursor *c = cursor;
    (void)e;
    c->from = from;
    /* A later buffer may be earlier, and events before it decide where a merge puts it: only the last ones go. */
    while (c->last > c->buffer && c->last[-1].least >= to)
        c->last--;
    return 0;
}

/* At least `need` bytes at the cursor's position, as the index promised; NULL if the file changed since. */
TL_ALWAYS_INLINE const uint8_t *look(fdr_cursor *c, size_t need, size_t *available, tl_error *e)
{
    tl_window *w = &c->window;
    uint64_t at = c->position - w->base;
    if (TL_UNLIKELY(at > w->n || w->n - at < need)) {
        uint64_t left = c->end - c->position;
        if (tl_window_load(w, c->position, left < w->capacity ? (size_t)left : w->capacity, e) < 0)
            return NULL;
        if (w->n < need) {
            tl_fail(e, TL_EIO, c->position, "the file changed while it was read");
            return NULL;
        }
        at = 0;
    }
    size_t have = w->n - (size_t)at;
    uint64_t left = c->end - c->position;
    *available = have < left ? have : (size_t)left;
    return w->data + at;
}

/* Adds an event to the columns; its tape values come after. */
TL_ALWAYS_INLINE void append(fdr_cursor *c, tl_batch *b, uint64_t tsc, uint64_t key, uint32_t cls, int32_t cpu,
                             bool rich)
{
    b->ts[b->n] = tsc;
    b->key[b->n] = key;
    b->cls[b->n] = cls;
    if (rich) {
        if (b->cpu)
            b->cpu[b->n] = cpu;
        if (b->val)
            b->val[b->n] = b->nval;
    }
    b->n++;
    (void)c;
}

/* An argument of the previous event: makes it an entry with arguments. */
static int add_argument(tl_batch *b, uint64_t value)
{
    const uint32_t event = b->n - 1;
    b->cls[event] = XRAY_ENTER_ARGS;
    if (!b->val)
        return 0;
    if (b->nval == b->val[event]) {
        tl_value *list = tl_batch_slots(b, 1);
        if (!list)
            return -1;
        *list = (tl_value){.type = TL_LIST};
    }
    tl_value *slot = tl_batch_slots(b, 1);
    if (!slot)
        return -1;
    *slot = (tl_value){.type = TL_U64, .as.u = value};
    b->v[b->val[event]].n++;
    return 0;
}

/* Memory for a payload: in the batch's arena if it has one; otherwise until the next payload. */
static uint8_t *payload_room(fdr_cursor *c, tl_batch *b, size_t size)
{
    if (b->arena)
        return tl_arena_alloc(b->arena, size);
    return TL_GROW(c->scratch, 0, size, c->scratch_size) ? c->scratch : NULL;
}

/* A copy of the payload at an offset. NULL when memory runs out or reading fails. */
static const void *payload(fdr_cursor *c, tl_batch *b, uint64_t offset, size_t size, tl_error *e)
{
    uint8_t *copy = payload_room(c, b, size ? size : 1);
    if (!copy) {
        tl_fail(e, TL_ENOMEM, offset, "no memory for an event of %zu bytes", size);
        return NULL;
    }
    const tl_window *w = &c->window;
    if (offset >= w->base && offset - w->base <= w->n && w->n - (offset - w->base) >= size) {
        memcpy(copy, w->data + (offset - w->base), size);
        return copy;
    }
    size_t got = 0;
    if (tl_input_read(w->in, offset, copy, size, &got, e) < 0)
        return NULL;
    if (got < size) {
        tl_fail(e, TL_EIO, offset, "the file changed while it was read");
        return NULL;
    }
    return copy;
}

/* Whether the custom event at the cursor's position is not the program's: text of our own recorder, or padding. */
static int is_word(fdr_cursor *c, uint32_t size, tl_error *e)
{
    uint8_t word[FDR_WORD_SIZE];
    const uint64_t offset = c->position + FDR_METADATA_SIZE;
    const tl_window *w = &c->window;
    size_t got = 0;
    if (!c->reader->index.marked || size < FDR_WORD_SIZE)
        return 0;
    if (offset - w->base <= w->n && w->n - (offset - w->base) >= FDR_WORD_SIZE) {
        memcpy(word, w->data + (offset - w->base), FDR_WORD_SIZE);
    } else {
        int status = tl_input_read(w->in, offset, word, sizeof word, &got, e);
        if (status < 0 || got < sizeof word)
            return status < 0 ? status : tl_fail(e, TL_EIO, offset, "the file changed while it was read");
    }
    return memcmp(word, FDR_WORD_NOTE, FDR_WORD_SIZE) == 0 || memcmp(word, FDR_WORD_PAD, FDR_WORD_SIZE) == 0;
}

/* The values of the last appended event. A typed event with known fields becomes one of their class. */
static int add_values(fdr_cursor *c, tl_batch *b, uint32_t size, bool typed, uint32_t type, tl_error *e)
{
    const tl_recording *r = c->reader->trace->recording;
    const tl_recording_event *known = typed && r ? tl_recording_event_of(r, type) : NULL;
    if (!b->val && !known)
        return 0;
    const uint8_t *data = payload(c, b, c->position + FDR_METADATA_SIZE, size, e);
    if (!data)
        return TL_EIO;
    if (known && fdr_typed_fits(known, data, size))
        b->cls[b->n - 1] = XRAY_CLASSES + (uint32_t)(known - r->event);
    else
        known = NULL;
    if (!b->val)
        return 0;
    const uint32_t slots = known ? known->nfield : typed ? 2 : 1;
    tl_value *slot = slots ? tl_batch_slots(b, slots) : NULL;
    if (slots && !slot)
        return tl_fail(e, TL_ENOMEM, c->position, "no memory for the values of a batch");
    if (known) {
        fdr_typed_values(known, data, slot);
        return 0;
    }
    if (typed)
        *slot++ = (tl_value){.type = TL_U64, .as.u = type};
    *slot = (tl_value){.type = TL_BYTES, .n = size, .as.p = data};
    return 0;
}

static int decode_event(fdr_cursor *c, tl_batch *b, const uint8_t *p, unsigned kind, tl_error *e)
{
    const fdr_index *x = &c->reader->index;
    const bool big = x->big, typed = kind == FDR_TYPED_EVENT;
    const uint32_t size = c->overwritten ? 0 : tl_load32(p + FDR_EVENT_SIZE, big);
    const uint32_t type = tl_load16(p + (x->version >= 5 ? FDR_TYPED_TYPE : FDR_TYPED_TYPE_OLD), big);
    uint64_t tsc;
    int32_t cpu = c->cpu;
    if (x->version >= 5) {
        c->tsc += (uint64_t)(int64_t)(int32_t)tl_load32(p + FDR_EVENT_DELTA, big);
        tsc = c->tsc;
    } else {
        tsc = tl_load64(p + FDR_EVENT_TSC, big);
        if (x->version == 4 && !typed)
            cpu = tl_load16(p + FDR_CUSTOM_CPU, big);
    }
    if (size > c->end - c->position - FDR_METADATA_SIZE)
        return tl_fail(e, TL_EIO, c->position, "the file changed while it was read");
    int status = typed ? 0 : is_word(c, size, e);
    if (status == 0) {
        append(c, b, tsc, 0, typed ? XRAY_TYPED : XRAY_CUSTOM, cpu, true);
        status = add_values(c, b, size, typed, type, e);
    }
    c->position += FDR_METADATA_SIZE + (uint64_t)size;
    return status < 0 ? status : 0;
}

/* Decodes a metadata record at p. 1: done; 0: it needs room in the batch, which is full; < 0: error. */
static int decode_metadata(fdr_cursor *c, tl_batch *b, const uint8_t *p, tl_error *e)
{
    const bool big = c->reader->index.big;
    const unsigned kind = FDR_KIND(p[0], big);
    int status;
    if (kind == FDR_CALL_ARGUMENT) {
        if (c->after_entry && add_argument(b, tl_load64(p + FDR_CALL_ARGUMENT_VALUE, big)) < 0)
            return tl_fail(e, TL_ENOMEM, c->position, "no memory for the arguments of a call");
        c->position += FDR_METADATA_SIZE;
        return 1;
    }
    switch (kind) {
    case FDR_CUSTOM_EVENT:
    case FDR_TYPED_EVENT:
        if (b->n == b->capacity)
            return 0;
        c->after_entry = false;
        status = decode_event(c, b, p, kind, e);
        return status < 0 ? status : 1;
    case FDR_NEW_CPU_ID:
        c->cpu = tl_load16(p + FDR_NEW_CPU_ID_CPU, big);
        c->tsc = tl_load64(p + FDR_NEW_CPU_ID_TSC, big);
        break;
    case FDR_TSC_WRAP:
        c->tsc = tl_load64(p + FDR_TSC_WRAP_TSC, big);
        break;
    default:
        return tl_fail(e, TL_EIO, c->position, "the file changed while it was read");
    }
    c->after_entry = false;
    c->position += FDR_METADATA_SIZE;
    return 1;
}

/* Decodes function records: up to n at p, until another kind or the batch is full. Returns their number. */
TL_ALWAYS_INLINE size_t decode_run(fdr_cursor *c, tl_batch *b, const uint8_t *p, size_t n, bool big, bool rich)
{
    size_t i = 0, room = b->capacity - b->n;
    uint32_t action = FDR_ACTIONS;
    if (n > room)
        n = room;
    for (; i < n; i++) {
        const uint8_t *record = p + 8 * i;
        uint32_t word = tl_load32(record + FDR_FUNCTION_WORD, big);
        if (FDR_IS_METADATA(record[0], big))
            break;
        action = FDR_WORD_ACTION(word, big);
        c->tsc += tl_load32(record + FDR_FUNCTION_DELTA, big);
        append(c, b, c->tsc, FDR_WORD_ID(word, big), action & 3, c->cpu, rich);
        if (rich && action == FDR_ENTER_ARGS && b->val) {
            tl_value *list = tl_batch_slots(b, 1);
            if (!list)
                return SIZE_MAX;
            *list = (tl_value){.type = TL_LIST};
        }
    }
    if (i)
        c->after_entry = action == FDR_ENTER || action == FDR_ENTER_ARGS;
    return i;
}

TL_ALWAYS_INLINE int decode(fdr_cursor *c, tl_batch *b, bool big, bool rich, tl_error *e)
{
    for (;;) {
        if (c->position == c->end) {
            if (b->n == b->capacity || c->buffer == c->last)
                return 0;
            const fdr_buffer *buffer = c->buffer++;
            if (buffer->most < c->from)
                continue;
            c->position = buffer->begin;
            c->end = buffer->end;
            c->overwritten = buffer->overwritten;
            c->after_entry = false;
            if (c->reader->progress)
                __atomic_fetch_add(c->reader->progress, c->end - c->position, __ATOMIC_RELAXED);
            continue;
        }
        size_t available = 0;
        const uint8_t *p = look(c, FDR_FUNCTION_SIZE, &available, e);
        if (!p)
            return TL_EIO;
        if (FDR_IS_METADATA(p[0], big)) {
            p = look(c, FDR_METADATA_SIZE, &available, e);
            int status = p ? decode_metadata(c, b, p, e) : TL_EIO;
            if (status <= 0)
                return status;
        } else {
            if (b->n == b->capacity)
                return 0;
            size_t n = decode_run(c, b, p, available / FDR_FUNCTION_SIZE, big, rich);
            if (n == SIZE_MAX)
                return tl_fail(e, TL_ENOMEM, c->position, "no memory for the values of a batch");
            if (n == 0)
                return tl_fail(e, TL_EIO, c->position, "the file changed while it was read");
            c->position += n * FDR_FUNCTION_SIZE;
        }
    }
}

int fdr_stream_next(void *cursor, tl_batch *b, tl_error *e)
{
    fdr_cursor *c = cursor;
    const bool rich = b->val || b->cpu, big = c->reader->index.big;
    int status = big    ? rich ? decode(c, b, true, true, e) : decode(c, b, true, false, e)
                    : rich ? decode(c, b, false, true, e)
                        : decode(c, b, false, false, e);
    tl_batch_set_track(b, c->track);
    if (b->val)
        b->val[b->n] = b->nval;
    return status < 0 ? status : b->n > 0;
}
