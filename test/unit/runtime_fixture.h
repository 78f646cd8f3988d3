/* Shared by tests of the tables of managed runtimes: a format of their own, whose events a test lists one by one, with
 * values by role. It replaces src/formats.c, as fake_format.h does. */
#ifndef TL_TEST_RUNTIME_FIXTURE_H
#define TL_TEST_RUNTIME_FIXTURE_H

#include "check.h"
#include "model/format_impl.h"
#include "traceloom/profile.h"
#include "traceloom/source.h"

enum {
    RT_ALLOC,
    RT_GC,
    RT_GC_END,
    RT_JIT,
    RT_JIT_END,
    RT_SEARCH,
    RT_SEARCH_END,
    RT_CODE,
    RT_FUNCTION,
    RT_TYPE,
    RT_LIVE,
    RT_SIZES,
    RT_CPU,
    RT_SAMPLE,
    RT_PAUSE,
    RT_RESUME,
    RT_OTHER,
    RT_CLASSES
};

#define RT_FIELD(name_, type_, role_)                                                                                  \
    {                                                                                                                  \
        .name = name_, .type = type_, .role = role_                                                                    \
    }
#define RT_LIST(name_, element)                                                                                        \
    {                                                                                                                  \
        .name = name_, .type = TL_LIST, .role = TL_FIELD_ITEMS, .member = element, .nmember = 1                        \
    }
#define RT_STRUCT(members)                                                                                             \
    {                                                                                                                  \
        .type = TL_STRUCT, .member = members, .nmember = TL_COUNT(members)                                             \
    }

/* A list precedes a field that matters, so that finding fields has to pass over its values. */
static const tl_field rt_object[] = {RT_FIELD("type", TL_HEX, TL_FIELD_TYPE), RT_FIELD("count", TL_U64, TL_FIELD_COUNT),
                                     RT_FIELD("bytes", TL_U64, TL_FIELD_BYTES), RT_FIELD("ip", TL_HEX, TL_FIELD_IP)};
static const tl_field rt_piece[] = {RT_FIELD("start", TL_HEX, TL_FIELD_PLAIN), RT_FIELD("size", TL_HEX, TL_FIELD_SIZE)};
static const tl_field rt_size[] = {RT_FIELD("name", TL_STRING, TL_FIELD_NAME), RT_FIELD("used", TL_U64, TL_FIELD_BYTES),
                                   RT_FIELD("reserved", TL_U64, TL_FIELD_RESERVED)};
static const tl_field rt_objects[] = {RT_STRUCT(rt_object)}, rt_pieces[] = {RT_STRUCT(rt_piece)},
                      rt_sizes[] = {RT_STRUCT(rt_size)};
static const tl_field rt_alloc[] = {RT_FIELD("when", TL_U64, TL_FIELD_PLAIN), RT_LIST("items", rt_objects)};
static const tl_field rt_gc[] = {RT_FIELD("reason", TL_STRING, TL_FIELD_REASON),
                                 RT_FIELD("generations", TL_STRING, TL_FIELD_GENERATIONS)};
static const tl_field rt_jit[] = {RT_FIELD("code", TL_HEX, TL_FIELD_CODE_ID),
                                  RT_FIELD("status", TL_HEX, TL_FIELD_STATUS)};
static const tl_field rt_code[] = {RT_LIST("pieces", rt_pieces), RT_FIELD("function", TL_HEX, TL_FIELD_FUNCTION),
                                   RT_FIELD("code", TL_HEX, TL_FIELD_CODE_ID)};
static const tl_field rt_function[] = {RT_FIELD("function", TL_HEX, TL_FIELD_FUNCTION),
                                       RT_FIELD("name", TL_STRING, TL_FIELD_NAME)};
static const tl_field rt_type[] = {RT_FIELD("type", TL_HEX, TL_FIELD_TYPE), RT_FIELD("name", TL_STRING, TL_FIELD_NAME)};
static const tl_field rt_live[] = {RT_LIST("items", rt_objects)};
static const tl_field rt_heap[] = {RT_LIST("generations", rt_sizes)};
static const tl_field rt_cpu[] = {RT_FIELD("used", TL_U64, TL_FIELD_USED)};
static const tl_field rt_sample[] = {RT_FIELD("count", TL_U64, TL_FIELD_COUNT),
                                     RT_FIELD("stack", TL_STACK, TL_FIELD_STACK)};

#define RT_CLASS(kind_, key_, role_, name_, fields, pair_)                                                             \
    {                                                                                                                  \
        .kind = kind_, .key = key_, .role = role_, .name = name_, .field = fields, .nfield = TL_COUNT(fields),         \
        .pair = pair_                                                                                                  \
    }
static const tl_class rt_classes[RT_CLASSES] = {
    [RT_ALLOC] = RT_CLASS(TL_INSTANT, TL_KEY_WEIGHT, TL_ROLE_ALLOCATION, "alloc", rt_alloc, 0),
    [RT_GC] = RT_CLASS(TL_BEGIN, TL_KEY_PAIR, TL_ROLE_COLLECTION, "gc", rt_gc, RT_GC_END),
    [RT_GC_END] = {.kind = TL_END, .key = TL_KEY_PAIR, .role = TL_ROLE_COLLECTION, .name = "gc end", .pair = RT_GC},
    [RT_JIT] = RT_CLASS(TL_BEGIN, TL_KEY_PAIR, TL_ROLE_COMPILATION, "jit", rt_jit, RT_JIT_END),
    [RT_JIT_END] = RT_CLASS(TL_END, TL_KEY_PAIR, TL_ROLE_COMPILATION, "jit end", rt_jit, RT_JIT),
    [RT_SEARCH] = RT_CLASS(TL_BEGIN, TL_KEY_PAIR, TL_ROLE_CODE_SEARCH, "search", rt_jit, RT_SEARCH_END),
    [RT_SEARCH_END] = RT_CLASS(TL_END, TL_KEY_PAIR, TL_ROLE_CODE_SEARCH, "search end", rt_jit, RT_SEARCH),
    [RT_CODE] = RT_CLASS(TL_INSTANT, TL_KEY_NONE, TL_ROLE_CODE, "code", rt_code, 0),
    [RT_FUNCTION] = RT_CLASS(TL_INSTANT, TL_KEY_NONE, TL_ROLE_FUNCTION_NAME, "function", rt_function, 0),
    [RT_TYPE] = RT_CLASS(TL_INSTANT, TL_KEY_NONE, TL_ROLE_TYPE_NAME, "type", rt_type, 0),
    [RT_LIVE] = RT_CLASS(TL_INSTANT, TL_KEY_NONE, TL_ROLE_LIVE_OBJECTS, "live", rt_live, 0),
    [RT_SIZES] = RT_CLASS(TL_INSTANT, TL_KEY_NONE, TL_ROLE_HEAP_SIZES, "sizes", rt_heap, 0),
    [RT_CPU] = RT_CLASS(TL_INSTANT, TL_KEY_SINCE, TL_ROLE_CPU, "cpu", rt_cpu, 0),
    [RT_SAMPLE] = RT_CLASS(TL_SAMPLE, TL_KEY_WEIGHT, TL_ROLE_NONE, "sample", rt_sample, 0),
    [RT_PAUSE] = {.kind = TL_INSTANT, .role = TL_ROLE_PAUSED, .name = "pause"},
    [RT_RESUME] = {.kind = TL_INSTANT, .role = TL_ROLE_RESUMED, .name = "resume"},
    [RT_OTHER] = {.kind = TL_INSTANT, .name = "other"},
};

/* Tracks. */
enum { RT_PROCESS, RT_ONE, RT_TWO, RT_TRACKS };
static const char *const rt_track[RT_TRACKS] = {"process", "thread 0x1", "thread 0x2"};

/* Values of the tape. */
#define RT_U(x)                           ((tl_value){.type = TL_U64, .as.u = (x)})
#define RT_H(x)                           ((tl_value){.type = TL_HEX, .as.u = (x)})
#define RT_S(x)                           ((tl_value){.type = TL_STRING, .n = (uint32_t)strlen(x), .as.p = (x)})
#define RT_NONE                           ((tl_value){.type = TL_NULL})
#define RT_L(count)                       ((tl_value){.type = TL_LIST, .n = (count)})
#define RT_ST(count)                      ((tl_value){.type = TL_STRUCT, .n = (count)})
/* An object: type, count, bytes, ip. */
#define RT_OBJECT(type, count, bytes, ip) RT_ST(4), type, RT_U(count), RT_U(bytes), ip

#define RT_EVENTS 4096u
#define RT_VALUES 24u

/* The contents of the only stream of the trace. */
static struct {
    struct rt_event {
        uint32_t cls, track, n;
        uint64_t ts, key;
        tl_value v[RT_VALUES];
    } event[RT_EVENTS];
    uint32_t n;
    uint32_t batch; /* most events in one; 0: as many as fit */
    uint64_t hz;
    bool from_zero;
    uint32_t repeat; /* how often all events come; 0: once */
} rt;

typedef struct rt_cursor {
    const tl_trace *trace;
    uint32_t next, round;
} rt_cursor;

static int rt_probe(const tl_probe *p)
{
    (void)p;
    return 1;
}

static int rt_open(void *reader, tl_input *in, tl_trace *t, const tl_want *want, uint64_t *progress, tl_error *e)
{
    (void)reader;
    (void)in;
    (void)want;
    (void)progress;
    t->version = "1";
    tl_trace_set_clock(t, "ms", rt.hz);
    t->clock.from_zero = rt.from_zero;
    t->has_range = rt.n > 0;
    t->begin = rt.n ? rt.event[0].ts : 0;
    t->end = rt.n ? rt.event[rt.n - 1].ts : 0;
    int status = tl_trace_set_classes(t, rt_classes, RT_CLASSES, e);
    for (uint32_t i = 0; status == 0 && i < RT_TRACKS; i++) {
        const tl_track track = {.name = rt_track[i]};
        uint32_t index;
        status = tl_trace_add_track(t, &track, &index, e);
    }
    return status;
}

static uint32_t rt_streams(void *reader)
{
    (void)reader;
    return 1;
}

static int rt_stream_open(void *reader, uint32_t stream, void *cursor, tl_error *e)
{
    (void)reader;
    (void)stream;
    (void)e;
    *(rt_cursor *)cursor = (rt_cursor){0};
    return 0;
}

/* Frames and texts live in the arena of the batch, and nowhere else. */
static void rt_copy(tl_batch *b, tl_value *v)
{
    if (v->type == TL_STACK && v->as.p) {
        const tl_frame *from = v->as.p;
        tl_frame *frame = tl_arena_alloc(b->arena, sizeof *frame);
        assert_non_null(frame);
        *frame = *from;
        if (from->name)
            frame->name = tl_arena_strndup(b->arena, from->name, strlen(from->name));
        v->as.p = frame;
    } else if (v->type == TL_STRING && v->n) {
        char *text = tl_arena_alloc(b->arena, v->n);
        assert_non_null(text);
        memcpy(text, v->as.p, v->n);
        v->as.p = text;
    }
}

static int rt_stream_next(void *cursor, tl_batch *b, tl_error *e)
{
    rt_cursor *c = cursor;
    const uint32_t room = rt.batch && rt.batch < b->capacity ? rt.batch : b->capacity;
    (void)e;
    while (b->n < room) {
        if (c->next == rt.n) {
            if (rt.n == 0 || ++c->round >= (rt.repeat ? rt.repeat : 1)) {
                c->round--;
                break;
            }
            c->next = 0;
        }
        const struct rt_event *ev = &rt.event[c->next++];
        const uint32_t i = b->n++;
        b->ts[i] = ev->ts;
        b->key[i] = ev->key;
        b->cls[i] = ev->cls;
        b->track[i] = ev->track;
        if (!b->val)
            continue;
        b->val[i] = b->nval;
        tl_value *v = tl_batch_slots(b, ev->n);
        assert_true(ev->n == 0 || v);
        for (uint32_t k = 0; k < ev->n; k++) {
            v[k] = ev->v[k];
            rt_copy(b, &v[k]);
        }
        b->val[i + 1] = b->nval;
    }
    return b->n > 0;
}

/* ip 0x700 is line 7 of Work.cs, all others are unknown. */
static bool rt_locate(void *reader, const tl_frame *frame, tl_location *out)
{
    (void)reader;
    if (frame->ip != 0x700 && !(frame->flags & TL_FRAME_LINE))
        return false;
    *out = (tl_location){.file = "src\\Work.cs", .line = frame->flags & TL_FRAME_LINE ? (uint32_t)frame->ip : 7};
    return true;
}

static const tl_format rt_format = {
    .name = "made",
    .summary = "a format of tests",
    .suffixes = ".made",
    .reader = &(const tl_reader){.unsorted = true,
                                 .size = 1,
                                 .cursor_size = sizeof(rt_cursor),
                                 .probe = rt_probe,
                                 .open = rt_open,
                                 .streams = rt_streams,
                                 .stream_open = rt_stream_open,
                                 .stream_next = rt_stream_next,
                                 .locate = rt_locate},
};

/* Replaces src/formats.c. */
const tl_format *const tl_format_list[] = {&rt_format, NULL};

const tl_format *tl_format_by_name(const char *name)
{
    return strcmp(name, rt_format.name) == 0 ? &rt_format : NULL;
}

const tl_format *tl_format_by_suffix(const char *path, unsigned can)
{
    (void)path;
    (void)can;
    return NULL;
}

const tl_format *tl_format_of_empty(const char *path)
{
    (void)path;
    return NULL;
}

uint32_t tl_formats(void)
{
    return 1;
}

const tl_format_info *tl_format_get(uint32_t index)
{
    static const tl_format_info info = {.name = "made", .summary = "", .suffixes = ".made", .can = TL_CAN_READ_EVENTS};
    return index == 0 ? &info : NULL;
}

/* A trace without events, of milliseconds that count from zero. */
static inline void rt_reset(void)
{
    memset(&rt, 0, sizeof rt);
    rt.hz = 1000;
    rt.from_zero = true;
}

/* Appends an event; values follow. */
#define rt_add(cls, track, ts, key, ...)                                                                               \
    rt_put(cls, track, ts, key, (const tl_value[]){__VA_ARGS__},                                                       \
           sizeof((const tl_value[]){__VA_ARGS__}) / sizeof(tl_value))
static inline void rt_put(uint32_t cls, uint32_t track, uint64_t ts, uint64_t key, const tl_value *v, size_t n)
{
    assert_true(rt.n < RT_EVENTS && n <= RT_VALUES);
    struct rt_event *ev = &rt.event[rt.n++];
    *ev = (struct rt_event){.cls = cls, .track = track, .ts = ts, .key = key, .n = (uint32_t)n};
    memcpy(ev->v, v, n * sizeof *v);
}

/* An event without values. */
static inline void rt_bare(uint32_t cls, uint32_t track, uint64_t ts, uint64_t key)
{
    static const tl_value none[1];
    rt_put(cls, track, ts, key, none, 0);
}

static inline void rt_sample_of(uint32_t track, uint64_t ts, const tl_frame *frame)
{
    rt_add(RT_SAMPLE, track, ts, 10, RT_U(1), ((tl_value){.type = TL_STACK, .n = frame ? 1 : 0, .as.p = frame}));
}

static inline tl_source *rt_source(void)
{
    tl_source *s = NULL;
    tl_error e = {0};
    const tl_open_options o = {.want = {.fields = true}};
    must(tl_source_open_memory(&s, "x", 1, "made.log", &o, &e), &e);
    return s;
}

#endif
