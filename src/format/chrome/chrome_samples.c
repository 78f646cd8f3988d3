/* Samples as Chrome trace events, in V8's way: all viewers know it, and it can be streamed.
 *
 *   {"ph":"P","name":"Profile","cat":"v8","id":"0x1","pid":7,"tid":8,"ts":0.000,"args":{"data":{"startTime":0}}}
 *   {"ph":"P","name":"ProfileChunk","cat":"v8","id":"0x1","pid":7,"tid":8,"ts":30.000,"args":{"data":{"cpuProfile":{
 *    "nodes":[{"id":3,"parent":1,"callFrame":{"functionName":"Main","scriptId":0}}],"samples":[3,3]},
 *    "timeDeltas":[10000,10000]}}}
 *
 * A profile a thread: its chunks bring new nodes of its tree, the nodes that were sampled, and the microseconds between
 * them. A sample lasts until the next one of its thread, so that gaps begin with one of the node "(idle)". */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "format/chrome/chrome_writer.h"

/* Most nodes known to the profiles of all threads: real programs stay far below, and hostile files cannot grow. */
#define CHROME_TOLD_MAX (1u << 22)

enum { NODE_ROOT = 1, NODE_IDLE = 2, NODE_FIRST = 2 /* our node 1 is number 3 */ };

/* The profile of a thread. */
typedef struct chrome_profile {
    bool started;
    bool idle;      /* the last sample is one of "(idle)" */
    uint64_t at;    /* us of the last sample */
    uint64_t until; /* us at which the last real sample ends */
} chrome_profile;

static chrome_profile *get_profile(chrome_writer *w, uint32_t track)
{
    return TL_GROW_TO(w->profile, w->nprofile, track, TL_TRACKS_MAX) ? &w->profile[track] : NULL;
}

/* {"ph":"P","name":"...","cat":"v8","id":"0x1","pid":7,"tid":8,"ts":0.000,"args":{"data":{ */
static bool begin_profile(chrome_writer *w, const char *name, uint32_t track, uint64_t ns)
{
    tl_pb *line = chrome_begin_event(w, 'P');
    tl_pb_text(line, ",\"name\":\"");
    tl_pb_text(line, name);
    tl_pb_text(line, "\",\"cat\":\"v8\",\"id\":");
    chrome_put_id(line, (uint64_t)track + 1);
    if (!chrome_put_place(w, track, ns))
        return false;
    tl_pb_text(line, ",\"args\":{\"data\":{");
    return true;
}

static void put_node(chrome_writer *w, uint64_t id, uint64_t parent, const char *name, bool comma)
{
    tl_pb_text(&w->text, comma ? ",{\"id\":" : "{\"id\":");
    tl_pb_text_u64(&w->text, id);
    if (parent > 0) {
        tl_pb_text(&w->text, ",\"parent\":");
        tl_pb_text_u64(&w->text, parent);
    }
    tl_pb_text(&w->text, ",\"callFrame\":{\"functionName\":");
    chrome_put_string(w, name);
    tl_pb_text(&w->text, ",\"scriptId\":0}}");
}

/* "nodes":[...] of a stack that the profile does not know, the outermost first. */
static bool put_nodes(chrome_writer *w, uint32_t track, uint32_t node, bool first)
{
    const tl_stack_nodes *s = &w->line.stacks;
    uint32_t unknown[CHROME_DEPTH_MAX], n = 0;
    const uint64_t of_track = (uint64_t)track << 32;
    for (; node && n < CHROME_DEPTH_MAX && tl_hash_get(&w->told, of_track | node) == TL_HASH_NONE;
         node = s->node[node].parent)
        unknown[n++] = node;
    tl_pb_text(&w->text, "\"nodes\":[");
    if (first) {
        put_node(w, NODE_ROOT, 0, "(root)", false);
        put_node(w, NODE_IDLE, NODE_ROOT, "(idle)", true);
    }
    for (bool comma = first; n > 0; comma = true) {
        node = unknown[--n];
        const uint32_t parent = s->node[node].parent;
        if (!tl_hash_put(&w->told, of_track | node, 1))
            return false;
        put_node(w, (uint64_t)node + NODE_FIRST, parent ? (uint64_t)parent + NODE_FIRST : NODE_ROOT,
                 s->label[s->node[node].label], comma);
    }
    tl_pb_text(&w->text, "],");
    return true;
}

static void put_list_number(tl_pb *out, uint64_t v, bool comma)
{
    if (comma)
        tl_pb_text(out, ",");
    tl_pb_text_u64(out, v);
}

/* us between samples; the n-th of them represents the time up to `end`. */
static void put_deltas(chrome_writer *w, chrome_profile *p, uint64_t idle_at, uint64_t end, uint64_t each, uint64_t n)
{
    bool comma = false;
    if (idle_at != UINT64_MAX) {
        put_list_number(&w->text, idle_at - p->at, false);
        p->at = idle_at;
        comma = true;
    }
    for (uint64_t k = n; k > 0; k--) {
        const uint64_t back = each <= end / k ? k * each : end;
        const uint64_t at = end - back > p->until ? end - back : p->until;
        put_list_number(&w->text, at - p->at, comma);
        p->at = at;
        comma = true;
    }
}

static bool start_profile(chrome_writer *w, chrome_profile *p, uint32_t track)
{
    if (p->started)
        return true;
    if (!begin_profile(w, "Profile", track, 0))
        return false;
    tl_pb_text(&w->text, "\"startTime\":0}}");
    p->started = p->idle = true;
    return chrome_end_event(w);
}

bool chrome_write_samples(void *writer, const tl_timeline_samples *s)
{
    chrome_writer *w = writer;
    tl_stack_nodes *stacks = &w->line.stacks;
    if (w->told.n >= CHROME_TOLD_MAX) {
        stacks->too_many = tl_add_saturated(stacks->too_many, s->count);
        return true;
    }
    const uint64_t n = tl_timeline_count(&w->line, s->count), each = s->each / 1000;
    chrome_profile *p = get_profile(w, s->track);
    if (!p)
        return false;
    const bool first = !p->started;
    if (!start_profile(w, p, s->track) || !begin_profile(w, "ProfileChunk", s->track, s->end / 1000 * 1000))
        return false;
    const uint64_t end = s->end / 1000 > p->until ? s->end / 1000 : p->until;
    const uint64_t begin = each <= end / n ? end - n * each : 0;
    const uint64_t idle_at = !p->idle && begin > p->until ? p->until : UINT64_MAX;
    tl_pb_text(&w->text, "\"cpuProfile\":{");
    if (!put_nodes(w, s->track, s->node, first))
        return false;
    tl_pb_text(&w->text, "\"samples\":[");
    if (idle_at != UINT64_MAX)
        put_list_number(&w->text, NODE_IDLE, false);
    for (uint64_t k = 0; k < n; k++)
        put_list_number(&w->text, s->node ? (uint64_t)s->node + NODE_FIRST : NODE_ROOT, k > 0 || idle_at != UINT64_MAX);
    tl_pb_text(&w->text, "]},\"timeDeltas\":[");
    put_deltas(w, p, idle_at, end, each, n);
    tl_pb_text(&w->text, "]}}");
    p->idle = false;
    p->until = end;
    return chrome_end_event(w);
}

bool chrome_end_profiles(chrome_writer *w)
{
    for (uint32_t track = 0; track < w->nprofile; track++) {
        chrome_profile *p = &w->profile[track];
        if (!p->started || p->idle)
            continue;
        if (!begin_profile(w, "ProfileChunk", track, p->until * 1000))
            return false;
        tl_pb_text(&w->text, "\"cpuProfile\":{\"samples\":[");
        put_list_number(&w->text, NODE_IDLE, false);
        tl_pb_text(&w->text, "]},\"timeDeltas\":[");
        put_deltas(w, p, p->until, 0, 0, 0);
        tl_pb_text(&w->text, "]}}");
        if (!chrome_end_event(w))
            return false;
    }
    return true;
}
