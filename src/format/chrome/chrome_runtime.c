/* Chrome trace events of managed runtimes: spans, gauges, samples.
 *
 *   {"ph":"X","name":"JIT Work:Fib","cat":"JIT","pid":7,"tid":8,"ts":5.000,"dur":2.000,"args":{...}}
 *   {"ph":"b","name":"GC","cat":"GC","id":"0x1","pid":7,"tid":8,"ts":5.000,"args":{...}}
 *   {"ph":"e","name":"GC","cat":"GC","id":"0x1","pid":7,"tid":8,"ts":9.000}
 *   {"ph":"C","name":"CPU thread 0x2","pid":7,"tid":8,"ts":5.000,"args":{"%":12.5}}
 *   {"ph":"P","name":"Profile","cat":"v8","id":"0x1","pid":7,"tid":8,"ts":0.000,"args":{"data":{"startTime":0}}}
 *   {"ph":"P","name":"ProfileChunk","cat":"v8","id":"0x1","pid":7,"tid":8,"ts":30.000,"args":{"data":{"cpuProfile":{
 *    "nodes":[{"id":3,"parent":1,"callFrame":{"functionName":"Main","scriptId":0}}],"samples":[3,3]},
 *    "timeDeltas":[10000,10000]}}}
 *
 * A span that nests in those of its thread is an X, as viewers want them; others, and those of threads with calls, are
 * b and e. Samples are in the way of V8, which all viewers know, and which can be written as they come: a profile a
 * thread, whose chunks bring new nodes of its tree, the nodes that were sampled, and the microseconds between them. A
 * sample lasts until the next one of its thread, so that gaps begin with one of the node "(idle)". */
#include <stdlib.h>
#include <string.h>

#include "base/real.h"
#include "format/chrome/chrome_writer.h"

/* Deepest stack that is written: of deeper ones the outermost frames. */
#define CHROME_DEPTH_MAX 4096u
/* Samples that one event may stand for: a hostile file would blow up the output. */
#define CHROME_SAMPLES_MAX 1000u
/* Nodes that profiles of all threads know: real programs stay far below, hostile files do not grow. */
#define CHROME_TOLD_MAX (1u << 22)

enum { NODE_ROOT = 1, NODE_IDLE = 2, NODE_FIRST = 2 /* our node 1 is number 3 */ };

/* The profile of a thread. */
typedef struct chrome_profile {
    bool started;
    bool idle;      /* the last sample is one of "(idle)" */
    uint64_t at;    /* us of the last sample */
    uint64_t until; /* us up to which the last real one lasts */
} chrome_profile;

static void put(tl_pb *out, const char *s)
{
    tl_pb_raw(out, s, strlen(s));
}

static void put_u64(tl_pb *out, uint64_t v)
{
    char text[24];
    tl_pb_raw(out, text, (size_t)(tl_put_u64(text, v) - text));
}

static void put_id(tl_pb *out, uint64_t v)
{
    char text[24];
    put(out, "\"0x");
    tl_pb_raw(out, text, (size_t)(tl_put_hex(text, v) - text));
    put(out, "\"");
}

static uint64_t to_ns(const chrome_writer *w, uint64_t ts)
{
    const uint64_t begin = w->context.options->begin;
    return ts > begin ? tl_scale_ns(&w->context.trace->scale, ts - begin) : 0;
}

/* Microseconds with three digits. */
static void put_microseconds(tl_pb *out, uint64_t ns)
{
    const unsigned rest = (unsigned)(ns % 1000);
    const char digits[4] = {'.', (char)('0' + rest / 100), (char)('0' + rest / 10 % 10), (char)('0' + rest % 10)};
    put_u64(out, ns / 1000);
    tl_pb_raw(out, digits, sizeof digits);
}

/* {"ph":"X" */
static tl_pb *begin_event(chrome_writer *w, char ph)
{
    tl_pb *line = &w->line;
    tl_pb_clear(line);
    put(line, w->any ? ",\n{\"ph\":\"" : "{\"ph\":\"");
    tl_pb_raw(line, &ph, 1);
    put(line, "\"");
    return line;
}

static bool end_event(chrome_writer *w)
{
    put(&w->line, "}");
    if (w->line.failed)
        return false;
    tl_output_write(w->context.out, w->line.data, w->line.n);
    w->any = true;
    return true;
}

static void put_text(chrome_writer *w, const char *s)
{
    tl_string_json(&w->line, s, strlen(s), &w->fields.bad);
}

/* ,"pid":7,"tid":8,"ts":0.123 */
static bool put_place(chrome_writer *w, uint32_t track, uint64_t ns)
{
    tl_label label = tl_labels_get(&w->track, track);
    if (!label.p)
        return false;
    tl_pb_raw(&w->line, label.p, label.n);
    put_microseconds(&w->line, ns);
    return true;
}

/* Spans */

/* "name":"JIT Work:Fib","cat":"JIT" */
static bool put_span_names(chrome_writer *w, const tl_span *s)
{
    char buf[24];
    const char *title = s->cls->title ? s->cls->title : s->cls->name;
    const char *label = tl_span_label(s, w->context.trace, buf);
    tl_pb *name = &w->args;
    tl_pb_clear(name);
    put(name, title);
    if (label) {
        put(name, " ");
        put(name, label);
    }
    tl_pb_raw(name, "", 1);
    if (name->failed)
        return false;
    put(&w->line, ",\"name\":");
    put_text(w, (const char *)name->data);
    put(&w->line, ",\"cat\":");
    put_text(w, title);
    return true;
}

static void put_span_args(chrome_writer *w, const tl_span *s)
{
    if (s->nargs == 0)
        return;
    put(&w->line, ",\"args\":{");
    tl_pb_raw(&w->line, s->args, s->nargs);
    put(&w->line, "}");
}

/* One of the two events of a span that overlaps others. */
static bool write_apart(chrome_writer *w, const tl_span *s, char ph, uint64_t ns)
{
    begin_event(w, ph);
    if (!put_span_names(w, s))
        return false;
    put(&w->line, ",\"id\":");
    put_id(&w->line, w->apart);
    if (!put_place(w, s->track, ns))
        return false;
    if (ph == 'b')
        put_span_args(w, s);
    return end_event(w);
}

static bool write_span(void *arg, const tl_span *s)
{
    chrome_writer *w = arg;
    const tl_nest_track *t = tl_nest_get(&w->nest, s->track);
    const uint64_t begin = to_ns(w, s->begin), end = to_ns(w, s->end);
    if (!t)
        return false;
    if (!s->nests || t->open) {
        w->apart++;
        return write_apart(w, s, 'b', begin) && write_apart(w, s, 'e', end);
    }
    begin_event(w, 'X');
    if (!put_span_names(w, s) || !put_place(w, s->track, begin))
        return false;
    put(&w->line, ",\"dur\":");
    put_microseconds(&w->line, end - begin);
    put_span_args(w, s);
    return end_event(w);
}

static bool begin_span(chrome_writer *w, const tl_class *c, const tl_batch *b, uint32_t i, uint64_t ts)
{
    tl_span *s;
    if (!tl_spans_begin(&w->spans, b, i, ts, &s))
        return false;
    const tl_pb *args = s ? chrome_args(w, c, b, i) : NULL;
    return !args || (!args->failed && !w->fields.failed && tl_span_keep(s, args->data, args->n));
}

static bool has_field(const tl_class *c, const char *name)
{
    for (uint32_t i = 0; i < c->nfield; i++)
        if (strcmp(c->field[i].name, name) == 0)
            return true;
    return false;
}

/* An end adds what its begin could not know. */
static bool end_span(chrome_writer *w, const tl_class *c, const tl_batch *b, uint32_t i, uint64_t ts)
{
    tl_span *s;
    tl_pen pen;
    if (!tl_spans_end(&w->spans, b, i, ts, &s))
        return false;
    if (s && b->val) {
        const tl_class_text *text = tl_field_texts_get(&w->fields.texts, c);
        const tl_value *end = b->v + b->val[i + 1], *v = tl_values_skip(b->v + b->val[i], end, c->ncontext);
        bool any = s->nargs > 0;
        tl_pb_clear(&w->args);
        if (!text || !tl_pen_open_buffer(&pen, &w->args))
            return false;
        for (uint32_t f = c->ncontext; f < c->nfield && v < end; f++) {
            const tl_value *next = tl_value_skip(v, end);
            if (!has_field(s->cls, c->field[f].name))
                tl_fields_json(&pen, &w->fields, &text->field[f], 1, v, next, &any);
            v = next;
        }
        tl_pen_close(&pen);
        if (w->args.failed || w->fields.failed || !tl_span_keep(s, w->args.data, w->args.n))
            return false;
    }
    return tl_spans_flush(&w->spans);
}

/* Gauges */

static bool write_gauge(void *arg, const tl_gauge *g)
{
    chrome_writer *w = arg;
    tl_pb *name = &w->args;
    const tl_track *track = tl_trace_track(w->context.trace, g->track);
    const char *words[] = {g->part, g->suffix, g->of_process || !track ? NULL : track->name};
    tl_pb_clear(name);
    put(name, g->name);
    for (size_t i = 0; i < TL_COUNT(words); i++)
        if (words[i]) {
            put(name, " ");
            put(name, words[i]);
        }
    tl_pb_raw(name, "", 1);
    if (name->failed)
        return false;
    tl_pb *line = begin_event(w, 'C');
    put(line, ",\"name\":");
    put_text(w, (const char *)name->data);
    if (!put_place(w, g->track, to_ns(w, g->ts)))
        return false;
    put(line, ",\"args\":{");
    put_text(w, g->unit);
    put(line, ":");
    if (g->is_real) {
        char text[TL_REAL_TEXT_MAX];
        tl_pb_raw(line, text, (size_t)(tl_put_double(text, g->real) - text));
    } else {
        put_u64(line, g->value);
    }
    put(line, "}");
    return end_event(w);
}

/* Samples */

static chrome_profile *get_profile(chrome_writer *w, uint32_t track)
{
    if (track >= w->nprofile) {
        uint32_t n = w->nprofile ? w->nprofile : 16;
        while (n <= track && n < TL_TRACKS_MAX)
            n *= 2;
        chrome_profile *larger = track < n ? realloc(w->profile, n * sizeof *larger) : NULL;
        if (!larger)
            return NULL;
        memset(larger + w->nprofile, 0, (n - w->nprofile) * sizeof *larger);
        w->profile = larger;
        w->nprofile = n;
    }
    return &w->profile[track];
}

/* {"ph":"P","name":"...","cat":"v8","id":"0x1","pid":7,"tid":8,"ts":0.000,"args":{"data":{ */
static bool begin_profile(chrome_writer *w, const char *name, uint32_t track, uint64_t ns)
{
    tl_pb *line = begin_event(w, 'P');
    put(line, ",\"name\":\"");
    put(line, name);
    put(line, "\",\"cat\":\"v8\",\"id\":");
    put_id(line, (uint64_t)track + 1);
    if (!put_place(w, track, ns))
        return false;
    put(line, ",\"args\":{\"data\":{");
    return true;
}

static void put_node(chrome_writer *w, uint64_t id, uint64_t parent, const char *name, bool comma)
{
    put(&w->line, comma ? ",{\"id\":" : "{\"id\":");
    put_u64(&w->line, id);
    if (parent > 0) {
        put(&w->line, ",\"parent\":");
        put_u64(&w->line, parent);
    }
    put(&w->line, ",\"callFrame\":{\"functionName\":");
    put_text(w, name);
    put(&w->line, ",\"scriptId\":0}}");
}

/* "nodes":[...] of those on a stack that the profile does not know, the outermost first. */
static bool put_nodes(chrome_writer *w, uint32_t track, uint32_t node, bool first)
{
    const tl_stack_nodes *s = &w->stacks;
    uint32_t unknown[CHROME_DEPTH_MAX], n = 0;
    const uint64_t of_track = (uint64_t)track << 32;
    for (; node && n < CHROME_DEPTH_MAX && tl_hash_get(&w->told, of_track | node) == TL_HASH_NONE;
         node = s->node[node].parent)
        unknown[n++] = node;
    put(&w->line, "\"nodes\":[");
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
    put(&w->line, "],");
    return true;
}

static void put_list_number(tl_pb *out, uint64_t v, bool comma)
{
    if (comma)
        put(out, ",");
    put_u64(out, v);
}

/* us between samples, each after the one before it; the n-th of them stands for the time up to `end`. */
static void put_deltas(chrome_writer *w, chrome_profile *p, uint64_t idle_at, uint64_t end, uint64_t each, uint64_t n)
{
    bool comma = false;
    if (idle_at != UINT64_MAX) {
        put_list_number(&w->line, idle_at - p->at, false);
        p->at = idle_at;
        comma = true;
    }
    for (uint64_t k = n; k > 0; k--) {
        const uint64_t back = each <= end / k ? k * each : end;
        const uint64_t at = end - back > p->until ? end - back : p->until;
        put_list_number(&w->line, at - p->at, comma);
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
    put(&w->line, "\"startTime\":0}}");
    p->started = p->idle = true;
    return end_event(w);
}

/* node: of our tree; n times, each for so many us before `end`. */
static bool write_samples(chrome_writer *w, uint32_t track, uint32_t node, uint64_t n, uint64_t each, uint64_t end)
{
    chrome_profile *p = get_profile(w, track);
    if (!p)
        return false;
    const bool first = !p->started;
    if (!start_profile(w, p, track) || !begin_profile(w, "ProfileChunk", track, end * 1000))
        return false;
    end = end > p->until ? end : p->until;
    const uint64_t begin = each <= end / n ? end - n * each : 0;
    const uint64_t idle_at = !p->idle && begin > p->until ? p->until : UINT64_MAX;
    put(&w->line, "\"cpuProfile\":{");
    if (!put_nodes(w, track, node, first))
        return false;
    put(&w->line, "\"samples\":[");
    if (idle_at != UINT64_MAX)
        put_list_number(&w->line, NODE_IDLE, false);
    for (uint64_t k = 0; k < n; k++)
        put_list_number(&w->line, node ? (uint64_t)node + NODE_FIRST : NODE_ROOT, k > 0 || idle_at != UINT64_MAX);
    put(&w->line, "]},\"timeDeltas\":[");
    put_deltas(w, p, idle_at, end, each, n);
    put(&w->line, "]}}");
    p->idle = false;
    p->until = end;
    return end_event(w);
}

static bool add_sample(chrome_writer *w, const tl_class *c, const tl_batch *b, uint32_t i, uint64_t ts)
{
    const tl_sample s = tl_sample_get(b, i, c);
    uint32_t node;
    if (s.count == 0)
        return true;
    tl_stack_found found = tl_stack_nodes_get(&w->stacks, s.stack, &node);
    if (found != TL_STACK_NODE)
        return found == TL_STACK_TOO_MANY;
    if (w->told.n >= CHROME_TOLD_MAX) {
        w->too_many_told++;
        return true;
    }
    const uint64_t n = s.count < CHROME_SAMPLES_MAX ? s.count : CHROME_SAMPLES_MAX;
    w->too_many_in_one += s.count - n;
    return write_samples(w, b->track[i], node, n, tl_scale_ns(&w->context.trace->scale, s.weight) / 1000,
                         to_ns(w, ts) / 1000);
}

/* The last sample of a thread ends. */
static bool end_profile(chrome_writer *w, uint32_t track)
{
    chrome_profile *p = &w->profile[track];
    if (!p->started || p->idle)
        return true;
    if (!begin_profile(w, "ProfileChunk", track, p->until * 1000))
        return false;
    put(&w->line, "\"cpuProfile\":{\"samples\":[");
    put_list_number(&w->line, NODE_IDLE, false);
    put(&w->line, "]},\"timeDeltas\":[");
    put_deltas(w, p, p->until, 0, 0, 0);
    put(&w->line, "]}}");
    return end_event(w);
}

/* All together */

static chrome_use use_of(const tl_trace *t, const tl_class *c)
{
    const tl_class *other = tl_trace_class(t, c->pair);
    if (c->kind == TL_BEGIN && other && other->kind == TL_END)
        return CHROME_BEGIN;
    if (c->kind == TL_END && other && other->kind == TL_BEGIN)
        return CHROME_END;
    if (c->role == TL_ROLE_CODE)
        return CHROME_CODE;
    return tl_gauge_class(c) ? CHROME_GAUGE : tl_sample_class(c) ? CHROME_SAMPLE : CHROME_EVENT;
}

bool chrome_runtime_init(chrome_writer *w)
{
    const tl_trace *t = w->context.trace;
    w->use = calloc((size_t)t->ncls + 1, sizeof *w->use);
    bool samples = false, calls = false;
    for (uint32_t i = 0; w->use && i < t->ncls; i++) {
        w->use[i] = (uint8_t)use_of(t, &t->cls[i]);
        samples = samples || w->use[i] == CHROME_SAMPLE;
        calls = calls || (t->cls[i].kind == TL_ENTER && t->cls[i].key == TL_KEY_FUNCTION);
    }
    w->samples_first = samples && !calls;
    tl_spans_init(&w->spans, t, write_span, w);
    tl_gauges_init(&w->gauges, t, write_gauge, w);
    tl_stack_nodes_init(&w->stacks, t, CHROME_DEPTH_MAX);
    return w->use != NULL;
}

void chrome_runtime_fini(chrome_writer *w)
{
    if (!w->use)
        return;
    tl_spans_fini(&w->spans);
    tl_gauges_fini(&w->gauges);
    tl_stack_nodes_fini(&w->stacks);
    tl_hash_fini(&w->told);
    tl_track_ids_fini(&w->ids);
    free(w->profile);
    free(w->use);
}

bool chrome_runtime_event(chrome_writer *w, const tl_class *c, const tl_batch *b, uint32_t i, uint64_t ts)
{
    switch ((chrome_use)w->use[c->id]) {
    case CHROME_BEGIN:
        return begin_span(w, c, b, i, ts);
    case CHROME_END:
        return end_span(w, c, b, i, ts);
    case CHROME_CODE:
        return tl_spans_code(&w->spans, b, i);
    case CHROME_GAUGE:
        return tl_gauges_event(&w->gauges, b, i);
    case CHROME_SAMPLE:
        return add_sample(w, c, b, i, ts);
    default:
        return true;
    }
}

bool chrome_runtime_finish(chrome_writer *w)
{
    uint64_t last = 0;
    for (uint32_t i = 0; i < w->nest.ntrack; i++)
        if (w->nest.track[i].started && w->nest.track[i].last > last)
            last = w->nest.track[i].last;
    bool ok = tl_spans_finish(&w->spans, last) && tl_gauges_finish(&w->gauges);
    for (uint32_t i = 0; ok && i < w->nprofile; i++)
        ok = end_profile(w, i);
    return ok;
}

void chrome_runtime_report(const chrome_writer *w)
{
    tl_drops *d = w->context.drops;
    tl_drops_add(d, TL_DROP_NO_BEGIN, w->spans.no_begin);
    tl_drops_add(d, "begins still open at the end (closed there)", w->spans.open_at_end);
    tl_drops_add(d, TL_DROP_MANY_SPANS, w->spans.too_many);
    tl_drops_add(d, TL_DROP_NO_INTERVAL, w->gauges.no_interval);
    tl_drops_add(d, TL_DROP_MANY_PARTS, w->gauges.too_many_parts);
    tl_drops_add(d, TL_DROP_TYPES, w->gauges.types);
    tl_drops_add(d, TL_DROP_MANY_STACKS, w->stacks.too_many + w->too_many_told);
    tl_drops_add(d, "samples of stacks of over 4096 calls (written without the innermost)", w->stacks.cut);
    tl_drops_add(d, "samples beyond 1000 of one event", w->too_many_in_one);
}
