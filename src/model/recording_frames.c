/* Notes about functions that are patched while a program runs: their addresses, and how many there are.
 *
 * A large program has a million of them, at five bytes each: so a line is checked when it is read, and stays text until
 * the trace gets its functions. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/grow.h"
#include "base/io/base_name.h"
#include "model/recording_line.h"

/* Where a walk over the addresses of a line is. */
typedef struct walk {
    piece rest;
    uint64_t address;
    bool bad; /* it ended before the value did */
} walk;

/* The next address; false at the end, or where the value is malformed: each is above the one before. */
static bool next_address(walk *w, bool first)
{
    uint64_t more;
    if (w->rest.n == 0)
        return false;
    w->bad = true;
    if (!first) {
        if (*w->rest.p != ',')
            return false;
        w->rest.p++;
        w->rest.n--;
    }
    if (!tl_piece_take_hex(&w->rest, &more) || (!first && (more == 0 || more > UINT64_MAX - w->address)))
        return false;
    w->address = first ? more : w->address + more;
    w->bad = false;
    return true;
}

/* The object of a line; NULL: *status is what to return. */
static tl_recording_object *object_of(const note *l, uint64_t id, int *status)
{
    const uint32_t at = tl_hash_get(&l->r->object_at, id);
    if (at != TL_HASH_NONE)
        return &l->r->object[at];
    *status = tl_note_bad(l, "note.no-object", "functions of object %" PRIu64 ", which is not known", id);
    return NULL;
}

int tl_note_take_frames(note *l)
{
    tl_recording *r = l->r;
    uint64_t id, first, n = 0;
    const char *line = l->end - l->bytes;
    piece at = {0};
    pair_spec spec[] = {{.key = "object", .needed = true, .number = &id},
                        {.key = "first", .needed = true, .number = &first},
                        {.key = "at", .needed = true, .text = &at}};
    int status = tl_note_pairs(l, spec, TL_COUNT(spec));
    if (status <= 0)
        return status;
    const tl_recording_object *o = object_of(l, id, &status);
    if (!o)
        return status;
    walk w = {.rest = at};
    while (next_address(&w, n == 0))
        n++;
    if (w.bad || n == 0)
        return tl_note_bad(l, "note.bad-line", "address %" PRIu64 " of functions from %" PRIu64 " on is malformed",
                           n + 1, first);
    if (first <= o->base || first - o->base > o->count || n > o->count - (first - o->base - 1))
        return tl_note_bad(l, "note.bad-line",
                           "%" PRIu64 " functions from %" PRIu64 " on; object %" PRIu64 " has those from %" PRIu64
                           " to %" PRIu64,
                           n, first, id, (uint64_t)o->base + 1, (uint64_t)o->base + o->count);
    if (n > TL_RECORDING_FRAMES_MAX - r->nframed)
        return tl_note_too_many(l, "patched functions", TL_RECORDING_FRAMES_MAX);
    if (!TL_GROW(r->frames, r->nframes, 1, r->frames_capacity))
        return tl_note_no_memory(l->e);
    r->nframed += (uint32_t)n;
    r->frames[r->nframes++] = (tl_recording_frames){.object = o->id,
                                                    .first = (uint32_t)first,
                                                    .count = (uint32_t)n,
                                                    .at = l->kept + (size_t)(at.p - line),
                                                    .bytes = at.n};
    return 1;
}

int tl_note_take_patched(note *l)
{
    uint64_t id, functions = 0, patched = 0, late = 0;
    piece why = {0};
    pair_spec spec[] = {{.key = "object", .needed = true, .number = &id},
                        {.key = "functions", .number = &functions},
                        {.key = "patched", .number = &patched},
                        {.key = "late", .number = &late},
                        {.key = "why", .text = &why}};
    int status = tl_note_pairs(l, spec, TL_COUNT(spec));
    if (status <= 0)
        return status;
    tl_recording_object *o = object_of(l, id, &status);
    if (!o)
        return status;
    const char *text = why.n ? tl_note_text(l, why) : NULL;
    if (why.n && !text)
        return tl_note_no_memory(l->e);
    o->has_counts = true;
    o->counts.functions = functions;
    o->counts.patched = patched;
    o->counts.late = late;
    o->counts.why = text;
    return 1;
}

int tl_recording_fill_frames(tl_trace *t, tl_error *e)
{
    const tl_recording *r = t->recording;
    const tl_recording_object *program = tl_recording_program(r);
    int status = 0;
    for (uint32_t i = 0; status == 0 && i < r->nframes; i++) {
        const tl_recording_frames *f = &r->frames[i];
        const tl_recording_object *o = tl_recording_object_of(r, f->object);
        walk w = {.rest = {r->text + f->at, f->bytes}};
        for (uint32_t k = 0; status == 0 && next_address(&w, k == 0); k++) {
            const tl_function new = {.id = (int64_t)f->first + k,
                                     .address = w.address,
                                     .module = o->build_id,
                                     .library = o != program ? o->path : NULL};
            status = tl_trace_add_function(t, &new, e);
        }
    }
    return status;
}
