/* Writing events for speedscope: one "evented" profile a track, a time line of its calls.
 *
 *   {"type":"evented","name":"thread 7","unit":"nanoseconds","startValue":0,
 *    "events":[{"type":"O","frame":0,"at":0},{"type":"O","frame":1,"at":100},
 *              {"type":"C","frame":1,"at":500},{"type":"C","frame":0,"at":1000}],"endValue":1000}
 *
 * A trace of samples without calls has "sampled" profiles instead, see speedscope_samples.c.
 *
 * The enclosing object is described in speedscope_profile.c. Events of a profile must be contiguous, opens and closes
 * must nest, and times must not go back. Tracks may come in any mixture, though, so each track's events are kept until
 * the end in a spool (in memory up to a limit, then in a temporary file), in this form:
 *
 *   open    | varint: ns since the track's last event, * 2 + 1 | varint: frame |
 *   close   | varint: ns since the track's last event, * 2     |                  of the innermost open frame */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text/json_write.h"
#include "base/text/number.h"
#include "format/speedscope/speedscope_writer.h"

#define AT_MOST (UINT64_MAX >> 1) /* a time, doubled, must fit */

typedef speedscope_writer writer;
typedef speedscope_track track;

int speedscope_failed(const writer *w, tl_error *e)
{
    if (w->status == 0)
        return tl_timeline_no_memory(&w->line, e);
    if (e)
        *e = w->error;
    return w->status;
}

static tl_accept accept_class(void *writer_, const tl_class *c)
{
    writer *w = writer_;
    if (c->kind == TL_FORMAT)
        return TL_ACCEPT_IGNORE;
    if (w->samples)
        return tl_sample_class(c) ? TL_ACCEPT_KEEP : TL_ACCEPT_DROP;
    return (c->kind == TL_ENTER || c->kind == TL_EXIT) && c->key == TL_KEY_FUNCTION ? TL_ACCEPT_KEEP : TL_ACCEPT_DROP;
}

/* The frame of a function, made if new; TL_HASH_NONE when memory runs out. */
static uint32_t intern_frame(writer *w, uint64_t function)
{
    uint32_t frame = tl_hash_get(&w->frame_index, function);
    if (TL_LIKELY(frame != TL_HASH_NONE))
        return frame;
    if (!TL_GROW(w->frame, w->nframe, 1, w->frame_capacity) || !tl_hash_put(&w->frame_index, function, w->nframe))
        return TL_HASH_NONE;
    w->frame[w->nframe] = (int64_t)function;
    return w->nframe++;
}

track *speedscope_get_track(writer *w, uint32_t index)
{
    return TL_GROW_TO(w->track, w->ntrack, index, UINT32_MAX) ? &w->track[index] : NULL;
}

bool speedscope_spill(writer *w, track *t)
{
    if (!TL_GROW(t->chunk, t->n, 1, t->capacity))
        return false;
    t->chunk[t->n] = (speedscope_chunk){w->spool.size, (uint32_t)t->pb.n};
    w->status = tl_spool_append(&w->spool, t->pb.data, t->pb.n, &w->error);
    t->n += w->status == 0;
    tl_pb_clear(&t->pb);
    return w->status == 0;
}

TL_ALWAYS_INLINE bool put_event(writer *w, track *t, uint64_t ns, bool open, uint32_t frame)
{
    const uint64_t at = ns < AT_MOST ? ns : AT_MOST;
    w->late += at < ns;
    tl_pb_varint(&t->pb, (at - t->at) << 1 | open);
    if (open)
        tl_pb_varint(&t->pb, frame);
    t->at = at;
    t->events++;
    return speedscope_put_record(w, t);
}

static inline bool draw_enter(void *writer_, const tl_class *c, const tl_batch *b, uint32_t i, uint64_t ns)
{
    writer *w = writer_;
    const uint32_t index = b->track[i];
    track *t = TL_LIKELY(index < w->ntrack) ? &w->track[index] : speedscope_get_track(w, index);
    const uint32_t frame = intern_frame(w, b->key[i]);
    (void)c;
    if (!t || frame == TL_HASH_NONE)
        return false;
    t->deepest += t->depth == t->deepest;
    t->depth++;
    return put_event(w, t, ns, true, frame);
}

static inline bool draw_exit(void *writer_, uint32_t index, uint64_t function, uint64_t ns)
{
    writer *w = writer_;
    track *t = &w->track[index]; /* of its enter */
    (void)function;
    t->depth--;
    return put_event(w, t, ns, false, 0);
}

static inline bool is_ready(void *writer_, uint32_t index, bool started)
{
    (void)writer_;
    (void)index;
    (void)started;
    return true;
}

/* Other events are not accepted. */
static const tl_drawing drawing = {
    .no_memory = "no memory to collect the events of all tracks",
    .open_calls = "calls still open at the end (closed there)",
    .deep_stacks = "samples of stacks of over 1024 calls (written without the innermost)",
    .depth_most = SPEEDSCOPE_DEPTH_MAX,
    .closes = true,
    .ready = is_ready,
    .enter = draw_enter,
    .exit = draw_exit,
    .samples = speedscope_add_samples,
};

static int create(void *writer_, const tl_write_context *context, tl_error *e)
{
    writer *w = writer_;
    tl_spool_init(&w->spool);
    const int status = tl_timeline_init(&w->line, context, &drawing, e);
    w->samples = w->line.samples && !w->line.calls;
    return status;
}

static int write_events(void *writer_, const tl_batch *b, uint32_t from, uint32_t to, tl_error *e)
{
    writer *w = writer_;
    for (uint32_t i = from; i < to && !w->samples; i++)
        w->fields += w->line.context.trace->cls[b->cls[i]].nfield > 0;
    return tl_timeline_write(&w->line, &drawing, b, from, to, NULL) < 0 ? speedscope_failed(w, e) : 0;
}

/* Writes the events of one track as JSON. */
typedef struct replay {
    tl_output *out;
    uint32_t *stack; /* frames: as many as the deepest call of the track needs */
    uint32_t depth;
    uint64_t at;
    bool comma;
} replay;

static void put_json(replay *r, char type, uint32_t frame)
{
    char *p = tl_output_reserve(r->out, 96);
    if (r->comma)
        *p++ = ',';
    r->comma = true;
    memcpy(p, "\n{\"type\":\"", 10);
    p += 10;
    *p++ = type;
    memcpy(p, "\",\"frame\":", 10);
    p = tl_put_u64(p + 10, frame);
    memcpy(p, ",\"at\":", 6);
    p = tl_put_u64(p + 6, r->at);
    *p++ = '}';
    tl_output_commit(r->out, p);
}

/* Our own bytes, so they need no checks. */
uint64_t speedscope_varint(const uint8_t **p)
{
    uint64_t v = 0;
    for (unsigned shift = 0;; shift += 7) {
        uint8_t byte = *(*p)++;
        v |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return v;
    }
}

static int replay_chunk(void *arg, const uint8_t *p, size_t n, tl_error *e)
{
    replay *r = arg;
    (void)e;
    for (const uint8_t *end = p + n; p < end;) {
        const uint64_t head = speedscope_varint(&p);
        r->at += head >> 1;
        if (head & 1) {
            r->stack[r->depth] = (uint32_t)speedscope_varint(&p);
            put_json(r, 'O', r->stack[r->depth++]);
        } else {
            put_json(r, 'C', r->stack[--r->depth]);
        }
    }
    return 0;
}

int speedscope_read_track(writer *w, const track *t, speedscope_read *read, void *arg, tl_error *e)
{
    uint8_t *buffer = malloc(SPEEDSCOPE_CHUNK + SPEEDSCOPE_RECORD_MOST);
    int status = buffer ? 0 : tl_timeline_no_memory(&w->line, e);
    for (uint32_t i = 0; i < t->n && status == 0; i++) {
        status = tl_spool_read(&w->spool, t->chunk[i].offset, buffer, t->chunk[i].n, e);
        if (status >= 0)
            status = read(arg, buffer, t->chunk[i].n, e);
    }
    if (status == 0 && t->pb.n > 0)
        status = read(arg, t->pb.data, t->pb.n, e);
    free(buffer);
    return status;
}

void speedscope_begin_track(writer *w, tl_json *j, const char *type, uint32_t index)
{
    const tl_track *info = tl_trace_track(w->line.context.trace, index);
    char name[32];
    snprintf(name, sizeof name, "track %u", (unsigned)index);
    tl_json_object(j);
    tl_speedscope_profile(j, type, info && info->name ? info->name : name, w->line.context.trace->clock.hz != 0);
}

static int put_track(writer *w, tl_json *j, uint32_t index, tl_error *e)
{
    const track *t = &w->track[index];
    replay r = {.out = w->line.context.out, .stack = tl_alloc((size_t)t->deepest + 1, sizeof *r.stack)};
    speedscope_begin_track(w, j, "evented", index);
    tl_json_key(j, "events");
    tl_json_array(j);
    const int status = r.stack ? speedscope_read_track(w, t, replay_chunk, &r, e) : tl_timeline_no_memory(&w->line, e);
    tl_json_array_end(j);
    tl_json_key_u64(j, "endValue", r.at);
    tl_json_object_end(j);
    free(r.stack);
    return status;
}

static int finish(void *writer_, tl_error *e)
{
    writer *w = writer_;
    tl_json j;
    uint32_t n = 0, active = 0;
    uint64_t most = 0;
    int status = tl_timeline_finish(&w->line, NULL) < 0 ? speedscope_failed(w, e) : 0;
    tl_json_init(&j, w->line.context.out);
    tl_speedscope_begin(&j, w->line.context.options->title);
    if (w->samples && status == 0)
        return speedscope_finish_samples(w, &j, e);
    for (uint32_t i = 0; i < w->ntrack && status == 0; i++) {
        const uint64_t events = w->track[i].events;
        if (events == 0)
            continue;
        if (events > most) {
            most = events;
            active = n;
        }
        n++;
        status = put_track(w, &j, i, e);
    }
    if (status < 0)
        return status;
    tl_speedscope_frames(&j, active);
    for (uint32_t i = 0; i < w->nframe; i++) {
        const tl_function *known = tl_trace_function(w->line.context.trace, w->frame[i]);
        tl_speedscope_frame(&j, known ? known : &(tl_function){.id = w->frame[i]});
    }
    tl_speedscope_end(&j);

    tl_timeline_report(&w->line, 0);
    tl_drops_add(w->line.context.drops, "times beyond 292 years (moved there)", w->late);
    tl_drops_add(w->line.context.drops, "fields of calls", w->fields);
    return 0;
}

static void discard(void *writer_)
{
    writer *w = writer_;
    for (uint32_t i = 0; i < w->ntrack; i++) {
        tl_pb_fini(&w->track[i].pb);
        free(w->track[i].chunk);
    }
    free(w->track);
    free(w->frame);
    tl_hash_fini(&w->frame_index);
    tl_spool_fini(&w->spool);
    tl_timeline_fini(&w->line);
}

const tl_format tl_format_speedscope = {
    .name = "speedscope",
    .summary = "time lines or profiles for the viewer speedscope",
    .suffixes = ".speedscope.json",
    .event_writer = &(const tl_event_writer){.holds = "function calls and no stack samples",
                                             .wants = {.fields = true, .calls = true},
                                             .size = sizeof(writer),
                                             .create = create,
                                             .accept = accept_class,
                                             .write = write_events,
                                             .finish = finish,
                                             .discard = discard},
    .profile_writer = &(const tl_profile_writer){.per_thread = true, .write = tl_speedscope_write_profile},
};
