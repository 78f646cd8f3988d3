/* Reads the notes of our own recorder, line by line. recording.h describes the result, docs/format/recording.md the
 * lines. */
#include "model/recording.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/grow.h"
#include "model/recording_line.h"

enum { FUNCTION_ID_MAX = 0x0fffffff };

/* ---- lines ---- */

static int take_process(note *l)
{
    tl_recording *r = l->r;
    uint64_t pid, parent = 0, start = 0;
    piece exe = {0};
    pair_spec spec[] = {{.key = "pid", .needed = true, .number = &pid},
                        {.key = "parent", .number = &parent},
                        {.key = "start", .number = &start},
                        {.key = "exe", .text = &exe}};
    int status = tl_note_pairs(l, spec, TL_COUNT(spec));
    if (status <= 0)
        return status;
    r->has_process = true;
    r->process.pid = pid;
    r->process.parent = parent;
    r->process.has_parent = spec[1].seen;
    r->process.start = start;
    r->process.has_start = spec[2].seen;
    r->process.exe = exe.n ? tl_note_text(l, exe) : NULL;
    return exe.n && !r->process.exe ? tl_note_no_memory(l->e) : 1;
}

static int take_clock(note *l)
{
    tl_recording *r = l->r;
    uint64_t hz, ticks = 0, unix_ns = 0;
    piece name;
    pair_spec spec[] = {{.key = "name", .needed = true, .text = &name},
                        {.key = "hz", .needed = true, .number = &hz},
                        {.key = "ticks", .number = &ticks},
                        {.key = "unix", .number = &unix_ns}};
    int status = tl_note_pairs(l, spec, TL_COUNT(spec));
    if (status <= 0)
        return status;
    const char *text = tl_note_text(l, name);
    if (!text)
        return tl_note_no_memory(l->e);
    if (!r->has_clock)
        r->clock.begin = ticks;
    r->has_clock = true;
    r->clock.name = text;
    r->clock.hz = hz;
    r->clock.ticks = ticks;
    r->clock.unix_ns = unix_ns;
    r->clock.has_moment = spec[2].seen && spec[3].seen;
    return 1;
}

/* The position of an object's range in by_base: before the first that begins at or after it. */
static uint32_t place_of(const tl_recording *r, const tl_recording_object *o)
{
    uint32_t low = 0, high = r->nobject;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const tl_recording_object *m = &r->object[r->by_base[middle]];
        if (m->base < o->base || (m->base == o->base && m->count < o->count))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The object whose range overlaps that of a new one, or NULL. Objects without a range come first in by_base; an older
 * version of the same object does not count. */
static const tl_recording_object *overlapping(const tl_recording *r, const tl_recording_object *o)
{
    const uint32_t at = place_of(r, o);
    for (uint32_t i = at; i > 0 && o->count > 0; i--) {
        const tl_recording_object *before = &r->object[r->by_base[i - 1]];
        if (before->id == o->id)
            continue;
        if (before->count > 0 && before->base + before->count > o->base)
            return before;
        break;
    }
    for (uint32_t i = at; i < r->nobject && o->count > 0; i++) {
        const tl_recording_object *after = &r->object[r->by_base[i]];
        if (after->id == o->id)
            continue;
        return after->base < o->base + o->count ? after : NULL;
    }
    return NULL;
}

static void forget_place(tl_recording *r, uint32_t index)
{
    uint32_t at = 0;
    while (r->by_base[at] != index)
        at++;
    memmove(&r->by_base[at], &r->by_base[at + 1], (r->nobject - at - 1) * sizeof r->by_base[0]);
}

/* Adds an object, or updates a known one, which the caller has removed from by_base. */
static bool put_object(tl_recording *r, uint32_t index, const tl_recording_object *o)
{
    if (index == r->nobject) {
        if (!TL_GROW(r->object, r->nobject, 1, r->object_capacity) || !tl_hash_put(&r->object_at, o->id, index))
            return false;
    } else {
        forget_place(r, index);
        r->nobject--;
    }
    const uint32_t at = place_of(r, o);
    memmove(&r->by_base[at + 1], &r->by_base[at], (r->nobject - at) * sizeof r->by_base[0]);
    r->by_base[at] = (uint16_t)index;
    r->object[index] = *o;
    r->nobject++;
    return true;
}

static int take_object(note *l)
{
    tl_recording *r = l->r;
    uint64_t id, base = 0, count = 0, bias = 0;
    piece hooks = {0}, build_id = {0}, path = {0};
    pair_spec spec[] = {{.key = "id", .needed = true, .number = &id},
                        {.key = "base", .number = &base},
                        {.key = "count", .needed = true, .number = &count},
                        {.key = "bias", .number = &bias},
                        {.key = "hooks", .text = &hooks},
                        {.key = "build-id", .text = &build_id},
                        {.key = "path", .text = &path}};
    int status = tl_note_pairs(l, spec, TL_COUNT(spec));
    if (status <= 0)
        return status;
    if (id == 0 || id > UINT32_MAX || base > FUNCTION_ID_MAX || count > FUNCTION_ID_MAX - base)
        return tl_note_bad(l, "note.bad-line",
                           "object %" PRIu64 " with functions from %" PRIu64 " on, %" PRIu64 " of them", id, base,
                           count);
    tl_recording_object o = {.id = (uint32_t)id,
                             .base = count ? (uint32_t)base : 0,
                             .count = (uint32_t)count,
                             .bias = bias,
                             .build_id = tl_piece_is_hex(build_id) ? tl_note_text(l, build_id) : NULL,
                             .path = path.n ? tl_note_text(l, path) : NULL,
                             .is_patched = tl_piece_is(hooks, "patch")};
    if ((tl_piece_is_hex(build_id) && !o.build_id) || (path.n && !o.path))
        return tl_note_no_memory(l->e);
    const uint32_t known = tl_hash_get(&r->object_at, id);
    if (known != TL_HASH_NONE) { /* a line of its own has them */
        o.has_counts = r->object[known].has_counts;
        o.counts = r->object[known].counts;
    }
    const tl_recording_object *other = overlapping(r, &o);
    if (other)
        return tl_note_bad(l, "note.overlap", "functions of object %" PRIu64 " are those of object %" PRIu32 " already",
                           id, other->id);
    if (known == TL_HASH_NONE && r->nobject == TL_RECORDING_OBJECTS_MAX)
        return tl_note_too_many(l, "objects", TL_RECORDING_OBJECTS_MAX);
    return put_object(r, known == TL_HASH_NONE ? r->nobject : known, &o) ? 1 : tl_note_no_memory(l->e);
}

static int take_function(note *l)
{
    tl_recording *r = l->r;
    uint64_t id, object = 0, address = 0;
    piece name = {0};
    pair_spec spec[] = {{.key = "id", .needed = true, .number = &id},
                        {.key = "object", .number = &object},
                        {.key = "address", .number = &address},
                        {.key = "name", .text = &name}};
    int status = tl_note_pairs(l, spec, TL_COUNT(spec));
    if (status <= 0)
        return status;
    if (id > FUNCTION_ID_MAX)
        return tl_note_bad(l, "note.bad-line", "function %" PRIu64 "; the largest is %d", id, FUNCTION_ID_MAX);
    if (spec[1].seen != spec[2].seen || (!spec[1].seen && !spec[3].seen))
        return tl_note_bad(l, "note.bad-line", "function %" PRIu64 " has neither object and address nor a name", id);
    if (object > UINT32_MAX || (object && !tl_recording_object_of(r, (uint32_t)object)))
        return tl_note_bad(l, "note.no-object", "function %" PRIu64 " is of object %" PRIu64 ", which is not known", id,
                           object);
    const uint32_t known = tl_hash_get(&r->function_at, id);
    if (known == TL_HASH_NONE && r->nfunction == TL_RECORDING_FUNCTIONS_MAX)
        return tl_note_too_many(l, "functions", TL_RECORDING_FUNCTIONS_MAX);
    const uint32_t index = known == TL_HASH_NONE ? r->nfunction : known;
    const char *text = spec[3].seen ? tl_note_text(l, name) : NULL;
    if ((spec[3].seen && !text) || !TL_GROW(r->function, r->nfunction, 1, r->function_capacity) ||
        !tl_hash_put(&r->function_at, id, index))
        return tl_note_no_memory(l->e);
    r->nfunction += known == TL_HASH_NONE;
    r->function[index] =
        (tl_recording_function){.id = (uint32_t)id, .object = (uint32_t)object, .address = address, .name = text};
    return 1;
}

/* "bytes:u64,what:string": the fields of an event. *n: how many; -1: malformed. NULL when memory runs out. */
static tl_field *take_fields(const note *l, piece list, int *n)
{
    static const struct {
        const char *word;
        tl_type type;
    } types[] = {{"i64", TL_I64}, {"u64", TL_U64}, {"f64", TL_F64}, {"string", TL_STRING}};
    tl_field field[TL_RECORDING_FIELDS_MAX];
    const char *end = list.p + list.n;
    *n = 0;
    for (const char *p = list.p; p < end;) {
        const char *comma = memchr(p, ',', (size_t)(end - p)), *stop = comma ? comma : end;
        const char *colon = stop;
        while (colon > p && *colon != ':') /* the last colon: names may contain others */
            colon--;
        size_t k = 0;
        while (k < TL_COUNT(types) &&
               !tl_piece_is((piece){colon + 1, (size_t)(stop - colon) - (colon < stop)}, types[k].word))
            k++;
        if (colon == p || k == TL_COUNT(types) || *n == (int)TL_RECORDING_FIELDS_MAX) {
            *n = -1;
            break;
        }
        field[*n] = (tl_field){.name = tl_note_text(l, (piece){p, (size_t)(colon - p)}), .type = types[k].type};
        if (!field[(*n)++].name)
            return NULL;
        p = comma ? comma + 1 : end;
    }
    tl_field *copy = tl_arena_alloc(&l->t->strings.arena, (size_t)(*n > 0 ? *n : 1) * sizeof *copy);
    for (int i = 0; copy && i < *n; i++)
        copy[i] = field[i];
    return copy;
}

static int take_event(note *l)
{
    tl_recording *r = l->r;
    uint64_t id;
    piece kind, fields = {.p = ""}, name; /* fields may be missing */
    int n;
    pair_spec spec[] = {{.key = "id", .needed = true, .number = &id},
                        {.key = "kind", .needed = true, .text = &kind},
                        {.key = "fields", .text = &fields},
                        {.key = "name", .needed = true, .text = &name}};
    int status = tl_note_pairs(l, spec, TL_COUNT(spec));
    if (status <= 0)
        return status;
    if (id > UINT16_MAX || (!tl_piece_is(kind, "instant") && !tl_piece_is(kind, "counter")))
        return tl_note_bad(l, "note.bad-line", "event %" PRIu64 ": its number is too large, or its kind is not known",
                           id);
    const uint32_t known = tl_hash_get(&r->event_at, id);
    if (known == TL_HASH_NONE && r->nevent == TL_RECORDING_EVENTS_MAX)
        return tl_note_too_many(l, "kinds of events", TL_RECORDING_EVENTS_MAX);
    const uint32_t index = known == TL_HASH_NONE ? r->nevent : known;
    const tl_field *field = take_fields(l, fields, &n);
    const char *text = tl_note_text(l, name);
    if (field && n < 0)
        return tl_note_bad(l, "note.bad-line", "event %" PRIu64 ": its fields are not NAME:TYPE,...", id);
    if (!field || !text || !TL_GROW(r->event, r->nevent, 1, r->event_capacity) || !tl_hash_put(&r->event_at, id, index))
        return tl_note_no_memory(l->e);
    r->nevent += known == TL_HASH_NONE;
    r->event[index] = (tl_recording_event){.id = (uint32_t)id,
                                           .kind = tl_piece_is(kind, "counter") ? TL_COUNTER : TL_INSTANT,
                                           .name = text,
                                           .field = field,
                                           .nfield = (uint32_t)n};
    return 1;
}

/* A repeated key in one line is a list; in a later line it replaces the value. */
static int take_option(note *l)
{
    tl_recording *r = l->r;
    piece key, value;
    int more;
    const uint32_t before = r->noption;
    while ((more = tl_note_pair(l, &key, &value)) > 0) {
        uint32_t i = 0;
        while (i < before && !tl_piece_is(key, r->option[i].name))
            i++;
        if (i == before)
            i = r->noption;
        if (i == TL_RECORDING_OPTIONS_MAX)
            return tl_note_too_many(l, "options", TL_RECORDING_OPTIONS_MAX);
        const char *name = tl_note_text(l, key), *text = tl_note_text(l, value);
        if (!name || !text || !TL_GROW(r->option, r->noption, 1, r->option_capacity))
            return tl_note_no_memory(l->e);
        r->option[i].name = name;
        r->option[i].text = text;
        r->noption += i == r->noption;
    }
    return more < 0 ? tl_note_bad(l, "note.bad-line", "words without key=value") : 1;
}

static int take_thread(note *l)
{
    tl_recording *r = l->r;
    uint64_t tid;
    piece name;
    pair_spec spec[] = {{.key = "tid", .needed = true, .number = &tid}, {.key = "name", .needed = true, .text = &name}};
    int status = tl_note_pairs(l, spec, TL_COUNT(spec));
    if (status <= 0)
        return status;
    const uint32_t known = tl_hash_get(&r->thread_at, tid);
    if (known == TL_HASH_NONE && r->nthread == TL_RECORDING_THREADS_MAX)
        return tl_note_too_many(l, "names of threads", TL_RECORDING_THREADS_MAX);
    const uint32_t index = known == TL_HASH_NONE ? r->nthread : known;
    const char *plain = tl_note_text(l, name);
    char text[TL_RECORDING_LINE_MAX + 32];
    snprintf(text, sizeof text, "%s %" PRIu64, plain ? plain : "", tid);
    const char *full = tl_trace_intern(l->t, text);
    if (!plain || !full || !TL_GROW(r->thread, r->nthread, 1, r->thread_capacity) ||
        !tl_hash_put(&r->thread_at, tid, index))
        return tl_note_no_memory(l->e);
    r->nthread += known == TL_HASH_NONE;
    r->thread[index] = *plain ? full : NULL;
    return 1;
}

static int take_lost(note *l)
{
    tl_recording *r = l->r;
    pair_spec spec[] = {{.key = "late", .number = &r->lost.late},     {.key = "depth", .number = &r->lost.depth},
                        {.key = "memory", .number = &r->lost.memory}, {.key = "disk", .number = &r->lost.disk},
                        {.key = "exits", .number = &r->lost.exits},   {.key = "threads", .number = &r->lost.threads}};
    int status = tl_note_pairs(l, spec, TL_COUNT(spec));
    r->has_lost |= status > 0;
    return status;
}

static int take_ring(note *l)
{
    tl_recording *r = l->r;
    pair_spec spec[] = {{.key = "reused", .number = &r->ring.reused},
                        {.key = "overwritten", .number = &r->ring.overwritten},
                        {.key = "complete", .number = &r->ring.complete}};
    return tl_note_pairs(l, spec, TL_COUNT(spec));
}

static int take_version(note *l)
{
    uint64_t version;
    pair_spec spec[] = {{.key = "version", .needed = true, .number = &version}};
    int status = tl_note_pairs(l, spec, TL_COUNT(spec));
    if (status > 0 && version != 1)
        return tl_note_bad(l, "note.version", "version %" PRIu64 " of notes; known is 1", version);
    return status;
}

static int take_end(note *l)
{
    l->r->ended = true;
    return 1;
}

static int take_line(note *l)
{
    static const struct {
        const char *word, *last;
        int (*take)(note *l);
    } lines[] = {
        {"traceloom", NULL, take_version},
        {"process", "exe", take_process},
        {"clock", NULL, take_clock},
        {"object", "path", take_object},
        {"function", "name", take_function},
        {"frames", NULL, tl_note_take_frames},
        {"patched", "why", tl_note_take_patched},
        {"event", "name", take_event},
        {"option", NULL, take_option},
        {"thread", "name", take_thread},
        {"lost", NULL, take_lost},
        {"ring", NULL, take_ring},
        {"end", NULL, take_end},
    };
    if (l->bytes > TL_RECORDING_LINE_MAX)
        return tl_note_bad(l, "note.bad-line", "a line of %" PRIu64 " bytes; expected at most %u", l->bytes,
                           TL_RECORDING_LINE_MAX);
    if (memchr(l->p, '\0', (size_t)(l->end - l->p)))
        return tl_note_bad(l, "note.bad-line", "a line with a byte 0");
    const char *blank = memchr(l->p, ' ', (size_t)(l->end - l->p));
    const piece word = {l->p, (size_t)((blank ? blank : l->end) - l->p)};
    for (size_t i = 0; i < TL_COUNT(lines); i++)
        if (tl_piece_is(word, lines[i].word)) {
            l->p += word.n;
            l->last = lines[i].last;
            return lines[i].take(l);
        }
    return 1; /* from a later recorder */
}

/* ---- the whole recording ---- */

int tl_recording_begin(tl_trace *t, tl_error *e)
{
    t->recording = calloc(1, sizeof *t->recording);
    return t->recording ? 0 : tl_note_no_memory(e);
}

void tl_recording_free(tl_recording *r)
{
    if (!r)
        return;
    free(r->text);
    free(r->object);
    free(r->function);
    free(r->frames);
    free(r->event);
    free(r->option);
    free((void *)(uintptr_t)r->thread);
    tl_hash_fini(&r->object_at);
    tl_hash_fini(&r->function_at);
    tl_hash_fini(&r->event_at);
    tl_hash_fini(&r->thread_at);
    free(r);
}

/* Keeps the text, each line with its line feed. */
static int keep_text(tl_recording *r, const char *text, size_t n, tl_error *e)
{
    if (!TL_GROW(r->text, r->n, n + 1, r->capacity))
        return tl_note_no_memory(e);
    memcpy(r->text + r->n, text, n);
    r->n += n;
    if (text[n - 1] != '\n')
        r->text[r->n++] = '\n';
    return 0;
}

int tl_recording_add(tl_trace *t, const char *text, size_t n, uint64_t offset, tl_error *e)
{
    tl_recording *r = t->recording;
    note all = {.t = t, .r = r, .e = e, .offset = offset, .bytes = n};
    if (n == 0)
        return 0;
    if (n > TL_RECORDING_BYTES_MAX - r->n || n + 1 > TL_RECORDING_BYTES_MAX - r->n)
        return tl_note_too_many(&all, "bytes of notes", TL_RECORDING_BYTES_MAX);
    const size_t kept = r->n;
    int status = keep_text(r, text, n, e);
    for (const char *p = text, *end = text + n; status >= 0 && p < end;) {
        const char *feed = memchr(p, '\n', (size_t)(end - p)), *stop = feed ? feed : end;
        note l = all;
        l.p = p;
        l.end = stop;
        l.offset = offset + (uint64_t)(p - text);
        l.bytes = (uint64_t)(stop - p);
        l.kept = kept + (size_t)(p - text);
        if (p < stop)
            status = take_line(&l);
        p = feed ? feed + 1 : end;
    }
    return status < 0 ? status : 0;
}
