/* Writing samples for speedscope: one "sampled" profile a track.
 *
 *   {"type":"sampled","name":"thread 0x2","unit":"nanoseconds","startValue":0,
 *    "samples":[[0,1],[0,1,2]],"weights":[20000000,10000000],"endValue":30000000}
 *
 * Samples are in the order in which they were taken, those of the same stack in a row as one. A sample weighs the
 * time that it stands for; time without samples is not shown. As with calls, the samples of a track are kept until the
 * end:
 *
 *   | varint: node of the tree of stacks | varint: weight in ns | */
#include "base/text/json_write.h"
#include "base/text/number.h"
#include "format/speedscope/speedscope_writer.h"
#include "model/histogram.h"

/* Keeps the collected sample. */
static bool keep_sample(speedscope_writer *w, speedscope_track *t)
{
    if (t->weight == 0)
        return true;
    tl_pb_varint(&t->pb, t->node);
    tl_pb_varint(&t->pb, t->weight);
    t->events++;
    t->sum = tl_add_saturated(t->sum, t->weight);
    t->weight = 0;
    return speedscope_put_record(w, t);
}

bool speedscope_add_samples(void *writer, const tl_timeline_samples *s)
{
    speedscope_track *t = speedscope_get_track(writer, s->track);
    const uint64_t weight = s->each > UINT64_MAX / s->count ? UINT64_MAX : s->each * s->count;
    if (!t || (t->node != s->node && !keep_sample(writer, t)))
        return false;
    t->node = s->node;
    t->weight = tl_add_saturated(t->weight, weight);
    return true;
}

/* A pass over the samples of a track. */
typedef struct pass {
    const speedscope_writer *w;
    tl_json *j;
    bool weights; /* otherwise the stacks */
} pass;

static void put_stack(const pass *p, uint32_t node)
{
    const tl_stack_node *all = p->w->line.stacks.node;
    uint32_t path[SPEEDSCOPE_DEPTH_MAX], n = 0;
    for (; node && n < SPEEDSCOPE_DEPTH_MAX; node = all[node].parent)
        path[n++] = all[node].label;
    tl_json_array(p->j);
    while (n > 0)
        tl_json_u64(p->j, path[--n]);
    tl_json_array_end(p->j);
}

static int read_piece(void *arg, const uint8_t *at, size_t n, tl_error *e)
{
    const pass *p = arg;
    (void)e;
    for (const uint8_t *end = at + n; at < end;) {
        const uint32_t node = (uint32_t)speedscope_varint(&at);
        const uint64_t weight = speedscope_varint(&at);
        if (p->weights)
            tl_json_u64(p->j, weight);
        else
            put_stack(p, node);
    }
    return 0;
}

static int put_track(speedscope_writer *w, tl_json *j, uint32_t index, tl_error *e)
{
    const speedscope_track *t = &w->track[index];
    pass p = {.w = w, .j = j};
    speedscope_begin_track(w, j, "sampled", index);
    tl_json_key(j, "samples");
    tl_json_array(j);
    int status = speedscope_read_track(w, t, read_piece, &p, e);
    tl_json_array_end(j);
    p.weights = true;
    tl_json_key(j, "weights");
    tl_json_array(j);
    if (status == 0)
        status = speedscope_read_track(w, t, read_piece, &p, e);
    tl_json_array_end(j);
    tl_json_key_u64(j, "endValue", t->sum);
    tl_json_object_end(j);
    return status;
}

int speedscope_finish_samples(speedscope_writer *w, tl_json *j, tl_error *e)
{
    uint32_t n = 0, active = 0;
    uint64_t most = 0;
    int status = 0;
    for (uint32_t i = 0; i < w->ntrack && status == 0; i++) {
        speedscope_track *t = &w->track[i];
        status = keep_sample(w, t) ? 0 : speedscope_failed(w, e);
        if (status < 0 || t->events == 0)
            continue;
        if (t->sum > most) {
            most = t->sum;
            active = n;
        }
        n++;
        status = put_track(w, j, i, e);
    }
    if (status < 0)
        return status;
    tl_speedscope_frames(j, active);
    for (uint32_t i = 0; i < w->line.stacks.nlabel; i++)
        tl_speedscope_frame(j, &(tl_function){.name = w->line.stacks.label[i]});
    tl_speedscope_end(j);
    tl_timeline_report(&w->line, 0);
    return 0;
}
