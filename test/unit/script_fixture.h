/* A format whose events are a list in the test, and reading selected ones. */
#ifndef SCRIPT_FIXTURE_H
#define SCRIPT_FIXTURE_H

#include "op/source_impl.h"
#include "stack_fixture.h"
#include "traceloom/events.h"
#include "traceloom/source.h"

enum { SAMPLE, BEGIN, END, NOTE, SCRIPT_CLASSES, NOTHING = 99 };

static const tl_field sample_field[] = {
    {.name = "count", .type = TL_U64},
    {.name = "frames", .type = TL_STACK, .member = stack_members, .nmember = 3, .role = TL_FIELD_STACK}};
static const tl_field plain_field[] = {{.name = "id", .type = TL_U64}},
                      named_field[] = {{.name = "id", .type = TL_U64, .role = TL_FIELD_CODE_ID}};
#define CLASSES_OF(title_, field_)                                                                                     \
    {                                                                                                                  \
        [SAMPLE] = {.kind = TL_SAMPLE, .key = TL_KEY_WEIGHT, .name = "sample", .field = sample_field, .nfield = 2},    \
        [BEGIN] = {.kind = TL_BEGIN, .key = TL_KEY_PAIR, .name = "begin", .title = title_, .pair = END},               \
        [END] = {.kind = TL_END, .key = TL_KEY_PAIR, .name = "end", .title = title_, .pair = BEGIN},                   \
        [NOTE] = {.kind = TL_INSTANT, .name = "note", .field = field_, .nfield = 1},                                   \
    }
static const tl_class usual[SCRIPT_CLASSES] = CLASSES_OF("GC", plain_field),
                      titled[SCRIPT_CLASSES] = CLASSES_OF("JIT", plain_field),
                      roles[SCRIPT_CLASSES] = CLASSES_OF("GC", named_field);
/* The same, but the end has another name, and so the begin does, too. */
static const tl_class other_end[SCRIPT_CLASSES] = {
    [SAMPLE] = {.kind = TL_SAMPLE, .key = TL_KEY_WEIGHT, .name = "sample", .field = sample_field, .nfield = 2},
    [BEGIN] = {.kind = TL_BEGIN, .key = TL_KEY_PAIR, .name = "begin", .title = "GC", .pair = END},
    [END] = {.kind = TL_END, .key = TL_KEY_PAIR, .name = "finish", .title = "GC", .pair = BEGIN},
    [NOTE] = {.kind = TL_INSTANT, .name = "note", .field = plain_field, .nfield = 1},
};

typedef struct listed {
    uint64_t ts;
    uint32_t cls, track; /* NOTHING: a batch without events */
    const tl_frame *stack;
} listed;

static const tl_field said_field[] = {{.name = "vtid", .type = TL_U64, .context = TL_SCOPE_PAYLOAD - TL_SCOPE_STREAM}};
/* Only notes carry their thread. */
static const tl_class saying[SCRIPT_CLASSES] = {
    [SAMPLE] = {.kind = TL_SAMPLE, .key = TL_KEY_WEIGHT, .name = "sample", .field = sample_field, .nfield = 2},
    [BEGIN] = {.kind = TL_BEGIN, .key = TL_KEY_PAIR, .name = "begin", .title = "GC", .pair = END},
    [END] = {.kind = TL_END, .key = TL_KEY_PAIR, .name = "end", .title = "GC", .pair = BEGIN},
    [NOTE] = {.kind = TL_INSTANT, .name = "note", .field = said_field, .nfield = 1, .ncontext = 1},
};

typedef struct script {
    const tl_class *cls;
    const listed *event;
    uint32_t n;
    int64_t utc;
    bool has_utc, counts_from_first, grows, says_thread; /* a note's is the last but one digit of its time */
} script;

static const script *opened; /* the next trace */
static uint32_t passes;      /* cursors opened */

typedef struct reader {
    const script *script;
    tl_trace *trace;
} reader;

typedef struct cursor {
    reader *reader;
    uint32_t next;
} cursor;

static int add_track(tl_trace *t, uint32_t i, tl_error *e)
{
    static const tl_track track[] = {
        {.name = "process"}, {.name = "thread 0x2", .tid = 77, .has_tid = true}, {.name = "thread 0x1f"}};
    uint32_t index;
    return tl_trace_add_track(t, &track[i], &index, e);
}

static int open_script(void *r, tl_input *in, tl_trace *t, const tl_want *want, uint64_t *progress, tl_error *e)
{
    (void)in;
    (void)want;
    (void)progress;
    *(reader *)r = (reader){opened, t};
    tl_trace_set_clock(t, "milliseconds", 1000);
    t->clock.from_zero = !opened->counts_from_first;
    t->clock.has_utc = opened->has_utc;
    t->clock.utc_offset_ns = opened->utc;
    int status = tl_trace_set_classes(t, opened->cls, SCRIPT_CLASSES, e);
    for (uint32_t i = 0; status == 0 && i < (opened->grows ? 1 : 3); i++)
        status = add_track(t, i, e);
    return status;
}

static uint32_t one_stream(void *r)
{
    (void)r;
    return 1;
}

static int stream_open(void *r, uint32_t stream, void *c, tl_error *e)
{
    (void)stream;
    (void)e;
    *(cursor *)c = (cursor){.reader = r};
    passes++;
    return 0;
}

static int stream_next(void *c_, tl_batch *b, tl_error *e)
{
    cursor *c = c_;
    const script *s = c->reader->script;
    if (c->next == s->n)
        return 0;
    for (; c->next < s->n && b->n < 3; c->next++) {
        const listed *l = &s->event[c->next];
        if (l->cls == NOTHING) {
            if (b->n == 0)
                c->next++;
            break;
        }
        while (l->track >= c->reader->trace->ntrack)
            assert_int_equal(add_track(c->reader->trace, c->reader->trace->ntrack, e), 0);
        b->ts[b->n] = l->ts;
        b->key[b->n] = 1;
        b->cls[b->n] = l->cls;
        b->track[b->n] = l->track;
        if (b->val) {
            b->val[b->n] = b->nval;
            const uint32_t n = s->cls[l->cls].nfield;
            tl_value *v = tl_batch_slots(b, n);
            assert_true(n == 0 || v);
            for (uint32_t i = 0; i < n; i++)
                v[i] = i ? stack_value(l->stack)
                         : (tl_value){.type = TL_U64, .as.u = s->says_thread ? l->ts / 10 % 10 : 1};
            b->val[b->n + 1] = b->nval;
        }
        if (b->cpu)
            b->cpu[b->n] = -1;
        b->n++;
    }
    return 1;
}

static int probe(const tl_probe *p)
{
    (void)p;
    return 1;
}

static const tl_format scripted = {
    .name = "scripted",
    .summary = "",
    .suffixes = ".s",
    .reader = &(const tl_reader){.unsorted = true,
                                 .size = sizeof(reader),
                                 .cursor_size = sizeof(cursor),
                                 .probe = probe,
                                 .open = open_script,
                                 .streams = one_stream,
                                 .stream_open = stream_open,
                                 .stream_next = stream_next},
};

/* Replaces src/formats.c. */
const tl_format *const tl_format_list[] = {&scripted, NULL};
const tl_format *tl_format_by_name(const char *name)
{
    return strcmp(name, scripted.name) == 0 ? &scripted : NULL;
}
const tl_format *tl_format_by_suffix(const char *path, unsigned can)
{
    (void)path;
    (void)can;
    return NULL;
}
const tl_format *tl_format_of_empty(const char *path);
const tl_format *tl_format_of_empty(const char *path)
{
    (void)path;
    return NULL;
}

static tl_source *open_trace(const script *what, bool fields)
{
    tl_source *s = NULL;
    tl_error e = {0};
    const tl_open_options o = {.want = {.fields = fields}};
    opened = what;
    must(tl_source_open_memory(&s, "x", 1, "x.s", &o, &e), &e);
    return s;
}

typedef struct seen {
    uint64_t ts[32];
    uint32_t cls[32], n, empty;
    int status;
} seen;

static seen read_all(tl_source *const *s, uint32_t n, const tl_select *select, bool ordered)
{
    seen all = {0};
    tl_events *v = NULL;
    tl_error e = {0};
    if ((all.status = tl_events_open(&v, s, n, select, ordered, &e)) < 0)
        return all;
    const tl_batch *b;
    uint32_t from, to;
    while ((all.status = tl_events_next(v, &b, &from, &to, &e)) > 0) {
        all.empty += from == to;
        for (uint32_t i = from; i < to; i++) {
            assert_true(all.n < 32);
            all.ts[all.n] = b->ts[i] - tl_events_begin(v);
            all.cls[all.n++] = b->cls[i];
        }
    }
    tl_events_close(v);
    return all;
}

static void check_times(const seen *all, uint32_t n, const uint64_t *ts)
{
    assert_int_equal(all->status, 0);
    assert_int_equal(all->n, n);
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(all->ts[i], ts[i]);
}

#define GLOBS(name, ...)                                                                                               \
    .name = (const char *const[]){__VA_ARGS__}, .n##name = TL_COUNT(((const char *[]){__VA_ARGS__}))

#endif
