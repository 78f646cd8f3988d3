/* The hot path of reading: a line to an event.
 *
 *   sam str 0x00000000 17 1 3:5:0x00007F66683F7E90 0x1a 0x2b:0x00007F66683F7E88
 *   ^ words ^ thread   ^ ms ^ count                ^ new frames, each iid[:ip]
 *                           ^ kept:size[:ip]
 *
 * A function for each record is generated from records.def: its items one after another, each of which takes the text
 * after a space and gives back where it ends. A malformed line costs nothing: its event is not kept, and
 * tracelog_fault.c finds out why. Everything exists twice, with and without storing values. */
#include "format/tracelog/tracelog_scan.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "format/tracelog/tracelog_scan_lists.h"
#include "format/tracelog/tracelog_words.h"

/* ---- records */

#define FIELD(name, item, role)                                                                                        \
    p = read_##item(s, p, store);                                                                                      \
    if (TL_UNLIKELY(!p))                                                                                               \
        return NULL;
#define RECORD(id, words, kind, key, role, title, other, track, fields)                                                \
    TL_ALWAYS_INLINE const uint8_t *read_##id(scan *s, const uint8_t *p, const bool store)                             \
    {                                                                                                                  \
        fields return p;                                                                                               \
    }
#include "format/tracelog/records.def"
#undef RECORD
#undef FIELD

/* Reads what follows the words. */
TL_ALWAYS_INLINE const uint8_t *read_record(scan *s, tracelog_record record, const uint8_t *p, const bool store)
{
    switch (record) {
#define RECORD(id, words, kind, key, role, title, other, track, fields)                                                \
    case tracelog_##id:                                                                                                \
        return read_##id(s, p, store);
#include "format/tracelog/records.def"
#undef RECORD
    default:
        return NULL;
    }
}

TL_NOINLINE static const uint8_t *store_record(scan *s, tracelog_record record, const uint8_t *p)
{
    return read_record(s, record, p, true);
}

TL_NOINLINE static const uint8_t *check_record(scan *s, tracelog_record record, const uint8_t *p)
{
    return read_record(s, record, p, false);
}

/* What the replay needs from a jit record: the function. */
static void note_function(const tracelog_part *part, tracelog_note *note, tracelog_record record, uint32_t first)
{
    if (record < tracelog_jit_cmf || record > tracelog_jit_css)
        return;
    const tl_value *v = part->batch.v + first + 3;
    note->other = v->as.u;
    note->flags |= v->type == TL_HEX ? TRACELOG_HAS_ID : 0u;
}

/* A malformed line: reports and skips it. */
static int give_up(const tracelog_lines *l, const uint8_t *next, tl_error *e)
{
    char what[160];
    size_t n = (size_t)(next - l->at) - 1;
    if (n > 0 && l->at[n - 1] == '\r')
        n--;
    if (n == 0 || !l->trace)
        return 0;
    const uint64_t offset = l->offset + (uint64_t)(l->at - l->text);
    const char *rule = tracelog_find_fault(l->at, n, what);
    if (l->strict)
        return tl_fail(e, TL_EDAMAGED, offset, "%s: %s", rule, what);
    return tl_trace_add_damage(l->trace, e, offset, (uint64_t)(next - l->at), rule, "%s", what);
}

/* Nearly all lines are samples. These are read here; the state of scanning never escapes, so that it stays in
 * registers. */
TL_ALWAYS_INLINE int scan_lines(tracelog_lines *l, tracelog_part *part, const bool store, tl_error *e)
{
    tl_batch *b = &part->batch;
    tracelog_note *note = part->note + b->n;
    tl_value *v = store ? b->v + b->nval : NULL;
    const uint8_t *at = l->at, *const end = l->end;
    unsigned ms_digits = 0;
    int status = 0;
    while (at < end && b->n < b->capacity) {
        const uint8_t *next, *p;
        const tracelog_record record = tracelog_record_at(at);
        if (store && TL_UNLIKELY(b->val_capacity - (uint32_t)(v - b->v) < VALUES_OF_A_LINE) &&
            !(v = grow_tape(part, v, VALUES_OF_A_LINE)))
            break;
        const uint32_t first = store ? (uint32_t)(v - b->v) : 0, i = b->n;
        note->flags = note->bad_text = 0;
        if (TL_LIKELY(record == tracelog_sam_str)) {
            scan near = {.part = part, .note = note, .v = v, .end = end, .ms_digits = ms_digits};
            p = read_sam_str(&near, at + 7, store);
            v = near.v;
            ms_digits = near.ms_digits;
            b->ts[i] = near.ms;
        } else {
            note->thread = note->other = note->nframes = 0;
            scan far = {.part = part, .note = note, .v = v, .end = end};
            p = store ? store_record(&far, record, at + 7) : check_record(&far, record, at + 7);
            v = far.v;
            b->ts[i] = far.ms;
        }
        if (TL_LIKELY(p && tracelog_at_end(p, &next))) {
            b->n++;
            note->offset = l->offset + (uint64_t)(at - l->text);
            b->cls[i] = record;
            b->key[i] = 0;
            if (store) {
                b->val[i] = first;
                note_function(part, note, record, first);
            }
            note++;
        } else if (TL_UNLIKELY(part->no_memory)) {
            break;
        } else {
            next = (const uint8_t *)memchr(at, '\n', (size_t)(end - at)) + 1;
            v = store ? b->v + first : NULL;
            l->at = at;
            status = give_up(l, next, e);
            if (status < 0)
                break;
        }
        at = next;
    }
    l->at = at;
    if (store && v)
        b->val[b->n] = b->nval = (uint32_t)(v - b->v);
    return part->no_memory ? tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the values of a line") : status;
}

/* ---- parts */

int tracelog_part_init(tracelog_part *p, const tl_trace *t, const tl_want *want, tl_error *e)
{
    *p = (tracelog_part){0};
    tracelog_words_init();
    int status = tl_batch_init(&p->batch, t, want, TL_BATCH_MAX, e);
    if (status < 0)
        return status;
    p->note = tl_alloc(TL_BATCH_MAX, sizeof *p->note);
    if (p->note)
        return 0;
    tl_batch_fini(&p->batch);
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to read lines");
}

void tracelog_part_fini(tracelog_part *p)
{
    tl_batch_fini(&p->batch);
    free(p->note);
    *p = (tracelog_part){0};
}

void tracelog_part_clear(tracelog_part *p)
{
    tl_batch_clear(&p->batch);
    p->frame = p->frame_end = NULL;
    p->no_memory = false;
}

int tracelog_scan(tracelog_lines *l, tracelog_part *part, tl_error *e)
{
    return part->batch.v ? scan_lines(l, part, true, e) : scan_lines(l, part, false, e);
}
