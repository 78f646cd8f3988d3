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

#include "base/text/json_write.h"
#include "base/text/number.h"
#include "format/speedscope/speedscope_writer.h"

#define AT_MOST (UINT64_MAX >> 1) /* a time, doubled, must fit */

typedef speedscope_writer writer;
typedef speedscope_track track;

int speedscope_no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to collect the events of all tracks");
}

static int create(void *writer_, const tl_write_context *context, tl_error *e)
{
    writer *w = writer_;
    w->context = *context;
    tl_spool_init(&w->spool);
    w->nclass = tl_trace_classes(context->trace);
    w->has_fields = calloc((size_t)w->nclass + 1, sizeof *w->has_fields);
    bool calls = false;
    for (uint32_t i = 0; i < w->nclass; i++) {
        const tl_class *c = tl_trace_class(context->trace, i);
        calls = calls || (c->kind == TL_ENTER && c->key == TL_KEY_FUNCTION);
        w->samples = w->samples || tl_sample_class(c);
    }
    w->samples = w->samples && !calls;
    tl_stack_nodes_init(&w->stacks, context->trace, SPEEDSCOPE_DEPTH_MAX);
    return w->has_fields ? 0 : speedscope_no_memory(e);
}

static tl_accept accept_class(void *writer_, const tl_class *c)
{
    writer *w = writer_;
    if (c->kind == TL_FORMAT)
        return TL_ACCEPT_IGNORE;
    if (w->samples)
        return tl_sample_class(c) ? TL_ACCEPT_KEEP : TL_ACCEPT_DROP;
    if ((c->kind != TL_ENTER && c->kind != TL_EXIT) || c->key != TL_KEY_FUNCTION)
        return TL_ACCEPT_DROP;
    if (c->id < w->nclass)
        w->has_fields[c->id] = c->nfield > 0;
    return TL_ACCEPT_KEEP;
}

/* The frame of a function, made if new; TL_HASH_NONE when memory runs out. */
static uint32_t intern_frame(writer *w, uint64_t function)
{
    uint32_t frame = tl_hash_get(&w->frame_index, function);
    if (TL_LIKELY(frame != TL_HASH_NONE))
        return frame;
    if (w->nframe == w->frame_capacity) {
        uint32_t capacity = w->frame_capacity ? w->frame_capacity * 2 : 256;
        int64_t *larger = realloc(w->frame, capacity * sizeof *larger);
        if (!larger)
            return TL_HASH_NONE;
        w->frame = larger;
        w->frame_capacity = capacity;
    }
    if (!tl_hash_put(&w->frame_index, function, w->nframe))
        return TL_HASH_NONE;
    w->frame[w->nframe] = (int64_t)function;
    return w->nframe++;
}

static bool grow_tracks(writer *w, uint32_t index)
{
    size_t n = w->ntrack ? w->ntrack : 16;
    while (n <= index && n <= UINT32_MAX / 2)
        n *= 2;
    track *larger = n > index && n <= SIZE_MAX / sizeof *larger ? realloc(w->track, n * sizeof *larger) : NULL;
    if (!larger)
        return false;
    memset(larger + w->ntrack, 0, (n - w->ntrack) * sizeof *larger);
    w->track = larger;
    w->ntrack = (uint32_t)n;
    return true;
}

track *speedscope_get_track(writer *w, uint32_t index)
{
    if (TL_UNLIKELY(index >= w->ntrack) && !grow_tracks(w, index))
        return NULL;
    return &w->track[index];
}

static int spill(writer *w, track *t, tl_error *e)
{
    if (t->n == t->capacity) {
        uint32_t capacity = t->capacity ? t->capacity * 2 : 16;
        speedscope_chunk *larger = realloc(t->chunk, capacity * sizeof *larger);
        if (!larger)
            return speedscope_no_memory(e);
        t->chunk = larger;
        t->capacity = capacity;
    }
    t->chunk[t->n] = (speedscope_chunk){w->spool.size, (uint32_t)t->pb.n};
    int status = tl_spool_append(&w->spool, t->pb.data, t->pb.n, e);
    if (status < 0)
        return status;
    t->n++;
    tl_pb_clear(&t->pb);
    return 0;
}

int speedscope_put_record(writer *w, track *t, tl_error *e)
{
    if (t->pb.failed)
        return speedscope_no_memory(e);
    return t->pb.n + SPEEDSCOPE_RECORD_MOST > SPEEDSCOPE_CHUNK ? spill(w, t, e) : 0;
}

static int put_event(writer *w, track *t, uint64_t at, bool open, uint32_t frame, tl_error *e)
{
    tl_pb_varint(&t->pb, (at - t->at) << 1 | open);
    if (open)
        tl_pb_varint(&t->pb, frame);
    t->at = at;
    t->events++;
    return speedscope_put_record(w, t, e);
}

/* Time of an event in ns since the beginning, not before that of the previous event. */
static uint64_t time_of(writer *w, tl_nest_track *open, uint64_t ts)
{
    const uint64_t begin = w->context.options->begin;
    if (TL_UNLIKELY(ts < begin)) {
        w->early++;
        ts = begin;
    }
    uint64_t at = tl_scale_ns(&w->context.trace->scale, tl_nest_time(&w->nest, open, ts) - begin);
    if (TL_UNLIKELY(at > AT_MOST)) {
        w->late++;
        at = AT_MOST;
    }
    return at;
}

static int add_enter(writer *w, track *t, tl_nest_track *open, uint64_t function, uint64_t at, tl_error *e)
{
    uint32_t frame = intern_frame(w, function);
    tl_nest_result result = frame == TL_HASH_NONE ? TL_NEST_NO_MEMORY : tl_nest_enter(&w->nest, open, frame);
    if (result == TL_NEST_NO_MEMORY)
        return speedscope_no_memory(e);
    return result == TL_NEST_OPENED ? put_event(w, t, at, true, frame, e) : 0;
}

static int add_exit(writer *w, track *t, tl_nest_track *open, uint64_t function, uint64_t at, tl_error *e)
{
    uint32_t frame = tl_hash_get(&w->frame_index, function);
    uint32_t n = tl_nest_exit(&w->nest, open, frame == TL_HASH_NONE ? UINT64_MAX : frame);
    int status = 0;
    if (n > 1)
        w->closed_early += n - 1;
    for (; n > 0 && status == 0; n--) {
        tl_nest_pop(open);
        status = put_event(w, t, at, false, 0, e);
    }
    return status;
}

static int write_events(void *writer_, const tl_batch *b, uint32_t from, uint32_t to, tl_error *e)
{
    writer *w = writer_;
    int status = 0;
    tl_stack_nodes_run(&w->stacks, b);
    for (uint32_t i = from; i < to && status == 0 && w->samples; i++)
        status = speedscope_add_sample(w, tl_trace_class(w->context.trace, b->cls[i]), b, i, e);
    for (uint32_t i = from; i < to && status == 0 && !w->samples; i++) {
        track *t = speedscope_get_track(w, b->track[i]);
        tl_nest_track *open = t ? tl_nest_get(&w->nest, b->track[i]) : NULL;
        if (!open)
            return speedscope_no_memory(e);
        const tl_class *c = tl_trace_class(w->context.trace, b->cls[i]);
        uint64_t at = time_of(w, open, b->ts[i]);
        w->fields += w->has_fields[b->cls[i]];
        status = c->kind == TL_ENTER ? add_enter(w, t, open, b->key[i], at, e) : add_exit(w, t, open, b->key[i], at, e);
    }
    return status;
}

/* Writes the events of one track as JSON. */
typedef struct replay {
    tl_output *out;
    uint32_t *stack; /* frames */
    uint32_t depth, capacity;
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
    for (const uint8_t *end = p + n; p < end;) {
        uint64_t head = speedscope_varint(&p);
        r->at += head >> 1;
        if (!(head & 1)) {
            put_json(r, 'C', r->stack[--r->depth]);
            continue;
        }
        if (r->depth == r->capacity) {
            uint32_t capacity = r->capacity ? r->capacity * 2 : 256;
            uint32_t *larger = realloc(r->stack, capacity * sizeof *larger);
            if (!larger)
                return speedscope_no_memory(e);
            r->stack = larger;
            r->capacity = capacity;
        }
        uint32_t frame = (uint32_t)speedscope_varint(&p);
        r->stack[r->depth++] = frame;
        put_json(r, 'O', frame);
    }
    return 0;
}

int speedscope_read_track(writer *w, const track *t, speedscope_read *read, void *arg, tl_error *e)
{
    uint8_t *buffer = malloc(SPEEDSCOPE_CHUNK + SPEEDSCOPE_RECORD_MOST);
    int status = buffer ? 0 : speedscope_no_memory(e);
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

static int replay_track(writer *w, replay *r, const track *t, tl_error *e)
{
    int status = speedscope_read_track(w, t, replay_chunk, r, e);
    while (status == 0 && r->depth > 0) { /* calls that never ended: they end with the track */
        put_json(r, 'C', r->stack[--r->depth]);
        w->open_at_end++;
    }
    return status;
}

void speedscope_begin_track(writer *w, tl_json *j, const char *type, uint32_t index)
{
    const tl_track *info = tl_trace_track(w->context.trace, index);
    char name[32];
    snprintf(name, sizeof name, "track %u", (unsigned)index);
    tl_json_object(j);
    tl_speedscope_profile(j, type, info && info->name ? info->name : name, w->context.trace->clock.hz != 0);
}

static int put_track(writer *w, tl_json *j, uint32_t index, tl_error *e)
{
    replay r = {.out = w->context.out};
    speedscope_begin_track(w, j, "evented", index);
    tl_json_key(j, "events");
    tl_json_array(j);
    int status = replay_track(w, &r, &w->track[index], e);
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
    int status = 0;
    tl_json_init(&j, w->context.out);
    tl_speedscope_begin(&j, w->context.options->title);
    if (w->samples)
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
        const tl_function *known = tl_trace_function(w->context.trace, w->frame[i]);
        tl_speedscope_frame(&j, known ? known : &(tl_function){.id = w->frame[i]});
    }
    tl_speedscope_end(&j);

    tl_drops *drops = w->context.drops;
    tl_drops_add(drops, "exits of functions that were not open", w->nest.unmatched_exits);
    tl_drops_add(drops, "calls without an exit of their own (closed with their caller)", w->closed_early);
    tl_drops_add(drops, "calls still open at the end (closed there)", w->open_at_end);
    tl_drops_add(drops, "entries deeper than 1048576 calls", w->nest.too_deep);
    tl_drops_add(drops, "times that went back (moved forward)", w->nest.moved);
    tl_drops_add(drops, "times before the begin (moved there)", w->early);
    tl_drops_add(drops, "times beyond 292 years (moved there)", w->late);
    tl_drops_add(drops, "fields of calls", w->fields);
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
    free(w->has_fields);
    tl_hash_fini(&w->frame_index);
    tl_nest_fini(&w->nest);
    tl_spool_fini(&w->spool);
    tl_stack_nodes_fini(&w->stacks);
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
