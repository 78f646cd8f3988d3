/* A source of samples written by hand in a test: each event is a line of a table, and stacks are text. */
#ifndef TL_TEST_SAMPLE_FIXTURE_H
#define TL_TEST_SAMPLE_FIXTURE_H

#include "check.h"
#include "op/source_impl.h"
#include "traceloom/profile.h"

enum { SCRIPT_SAMPLE, SCRIPT_ALLOCATION, SCRIPT_OTHER, SCRIPT_CLASSES };
enum { SCRIPT_TRACKS = 4, SCRIPT_DEPTH = 16 };

/* An event. A sample: n (-1: null), weight, stack: words "number", "number=name" or "?" or "=name", each with "@ip" if
 * need be, outermost first. Allocations: the weight, and words "type:count:bytes" or "type:count:bytes@ip". */
typedef struct script_line {
    int cls;
    uint32_t track;
    uint64_t ts;
    int64_t n;
    uint64_t weight;
    const char *text;
} script_line;

typedef struct script {
    const script_line *line;
    uint32_t n, batch; /* events in all, and in one batch; 0: as many as fit */
    uint32_t next;
    uint32_t frames; /* made so far */
} script;

/* Frames of a track's stack within a batch. */
typedef struct script_cursor {
    script *script;
    struct {
        char word[SCRIPT_DEPTH][32];
        tl_frame *frame[SCRIPT_DEPTH];
        uint32_t depth;
    } track[SCRIPT_TRACKS];
} script_cursor;

static const tl_field script_frame[] = {
    {.name = "function", .type = TL_STRING}, {.name = "iid", .type = TL_HEX}, {.name = "ip", .type = TL_HEX}};
static const tl_field script_item[] = {{.name = "type", .type = TL_HEX, .role = TL_FIELD_TYPE},
                                       {.name = "count", .type = TL_U64, .role = TL_FIELD_COUNT},
                                       {.name = "bytes", .type = TL_U64, .role = TL_FIELD_BYTES},
                                       {.name = "ip", .type = TL_HEX, .role = TL_FIELD_IP}};
static const tl_field script_items[] = {{.name = "", .type = TL_STRUCT, .member = script_item, .nmember = 4}};
static const tl_field script_sample[] = {
    {.name = "count", .type = TL_U64, .role = TL_FIELD_COUNT},
    {.name = "stack", .type = TL_STACK, .role = TL_FIELD_STACK, .member = script_frame, .nmember = 3}};
/* A list before that of the items: the second must be found after everything that the first contains. */
static const tl_field script_allocation[] = {
    {.name = "noise", .type = TL_LIST},
    {.name = "items", .type = TL_LIST, .role = TL_FIELD_ITEMS, .member = script_items, .nmember = 1}};
static const tl_class script_classes[SCRIPT_CLASSES] = {
    [SCRIPT_SAMPLE] = {.kind = TL_SAMPLE, .key = TL_KEY_WEIGHT, .name = "sample", .field = script_sample, .nfield = 2},
    [SCRIPT_ALLOCATION] = {.kind = TL_INSTANT,
                           .key = TL_KEY_WEIGHT,
                           .role = TL_ROLE_ALLOCATION,
                           .name = "alloc",
                           .field = script_allocation,
                           .nfield = 2},
    [SCRIPT_OTHER] = {.kind = TL_INSTANT, .name = "other"},
};

static uint32_t script_streams(void *reader)
{
    (void)reader;
    return 1;
}

static int script_open(void *reader, uint32_t stream, void *cursor, tl_error *e)
{
    script_cursor *c = cursor;
    (void)stream;
    (void)e;
    c->script = reader;
    c->script->next = c->script->frames = 0;
    return 0;
}

/* A frame from its word; names lie in the batch's arena, as they may. */
static tl_frame *script_make_frame(script_cursor *c, tl_batch *b, const tl_frame *caller, const char *word)
{
    char text[32], *name, *ip;
    tl_frame *f = tl_arena_zalloc(b->arena, sizeof *f);
    assert_non_null(f);
    snprintf(text, sizeof text, "%s", word);
    if ((ip = strchr(text, '@'))) {
        *ip++ = 0;
        f->ip = strtoull(ip, NULL, 16);
        f->flags |= TL_FRAME_IP;
    }
    if ((name = strchr(text, '='))) {
        *name++ = 0;
        f->name = tl_arena_strndup(b->arena, name, strlen(name));
    }
    if (*text && *text != '?') {
        f->function = strtoull(text, NULL, 16);
        f->flags |= TL_FRAME_FUNCTION;
    }
    f->caller = caller;
    f->depth = caller ? caller->depth + 1 : 1;
    c->script->frames++;
    return f;
}

/* The innermost frame of a stack; its bottom frames are those of the stack before it, if the words are equal. */
static const tl_frame *script_stack(script_cursor *c, tl_batch *b, uint32_t track, const char *text)
{
    uint32_t depth = 0;
    bool same = true;
    while (*text) {
        const size_t n = strcspn(text, " ");
        char word[32];
        assert_true(n < sizeof word && depth < SCRIPT_DEPTH);
        memcpy(word, text, n);
        word[n] = 0;
        text += n + (text[n] == ' ');
        same = same && depth < c->track[track].depth && strcmp(word, c->track[track].word[depth]) == 0;
        if (!same) {
            strcpy(c->track[track].word[depth], word);
            c->track[track].frame[depth] =
                script_make_frame(c, b, depth ? c->track[track].frame[depth - 1] : NULL, word);
        }
        depth++;
    }
    c->track[track].depth = depth;
    return depth ? c->track[track].frame[depth - 1] : NULL;
}

static void script_put(tl_batch *b, tl_value v)
{
    tl_value *slot = tl_batch_slots(b, 1);
    assert_non_null(slot);
    *slot = v;
}

static void script_put_sample(script_cursor *c, tl_batch *b, const script_line *l)
{
    const tl_frame *top = script_stack(c, b, l->track, l->text);
    script_put(b, l->n < 0 ? (tl_value){.type = TL_NULL} : (tl_value){.type = TL_U64, .as.u = (uint64_t)l->n});
    script_put(b, (tl_value){.type = TL_STACK, .n = top ? top->depth : 0, .as.p = top});
}

static void script_put_items(tl_batch *b, const char *text)
{
    uint32_t n = *text != 0;
    for (const char *s = text; *s; s++)
        n += *s == ' ';
    script_put(b, (tl_value){.type = TL_LIST, .n = 2});
    script_put(b, (tl_value){.type = TL_U64, .as.u = 77});
    script_put(b, (tl_value){.type = TL_U64, .as.u = 78});
    script_put(b, (tl_value){.type = TL_LIST, .n = n});
    for (char *end = NULL; n > 0; n--, text = end + (*end == ' ')) {
        script_put(b, (tl_value){.type = TL_STRUCT, .n = 4});
        script_put(b, (tl_value){.type = TL_HEX, .as.u = strtoull(text, &end, 10)});
        script_put(b, (tl_value){.type = TL_U64, .as.u = strtoull(end + 1, &end, 10)});
        script_put(b, (tl_value){.type = TL_U64, .as.u = strtoull(end + 1, &end, 10)});
        if (*end == '@')
            script_put(b, (tl_value){.type = TL_HEX, .as.u = strtoull(end + 1, &end, 16)});
        else
            script_put(b, (tl_value){.type = TL_NULL});
    }
}

static int script_next(void *cursor, tl_batch *b, tl_error *e)
{
    script_cursor *c = cursor;
    script *s = c->script;
    (void)e;
    assert_non_null(b->val); /* fields are wanted */
    for (uint32_t i = 0; i < SCRIPT_TRACKS; i++)
        c->track[i].depth = 0;
    for (; b->n < b->capacity && (!s->batch || b->n < s->batch) && s->next < s->n; s->next++) {
        const script_line *l = &s->line[s->next];
        b->val[b->n] = b->nval;
        b->cls[b->n] = (uint32_t)l->cls;
        b->track[b->n] = l->track;
        b->ts[b->n] = l->ts;
        b->key[b->n] = l->weight;
        if (l->cls == SCRIPT_SAMPLE)
            script_put_sample(c, b, l);
        else if (l->cls == SCRIPT_ALLOCATION)
            script_put_items(b, l->text);
        b->n++;
    }
    b->val[b->n] = b->nval;
    return b->n > 0;
}

/* Line ip % 100 of a file named after the function; nothing below 0x100. */
static bool script_locate(void *reader, const tl_frame *f, tl_location *out)
{
    static const char *const file[] = {"zero.cs", "one.cs", "two.cs", "three.cs"};
    (void)reader;
    if (!(f->flags & TL_FRAME_IP) || f->ip < 0x100 || f->function > 3)
        return false;
    *out = (tl_location){.file = file[f->function],
                         .line = (uint32_t)(f->ip & 0xff),
                         .has_offset = f->ip & 1,
                         .offset = (uint32_t)f->ip >> 8};
    return true;
}

static const tl_format script_format = {
    .name = "script",
    .reader = &(const tl_reader){.unsorted = true,
                                 .cursor_size = sizeof(script_cursor),
                                 .streams = script_streams,
                                 .stream_open = script_open,
                                 .stream_next = script_next,
                                 .locate = script_locate},
};

/* A source without a file: in ms, with tracks "thread 0" .. and the functions that a test adds to its trace. */
typedef struct scripted {
    tl_source source;
    script script;
} scripted;

static inline void scripted_init(scripted *s, const script_line *line, uint32_t n, uint32_t batch)
{
    memset(s, 0, sizeof *s);
    s->script = (script){.line = line, .n = n, .batch = batch};
    s->source.format = &script_format;
    s->source.reader = script_format.reader;
    s->source.state = &s->script;
    tl_trace *t = &s->source.trace;
    tl_trace_init(t);
    tl_trace_set_clock(t, "milliseconds", 1000);
    t->clock.from_zero = true;
    t->has_range = true;
    t->begin = 100; /* ignored: times count from zero */
    t->end = 10000;
    assert_int_equal(tl_trace_set_classes(t, script_classes, SCRIPT_CLASSES, NULL), 0);
    for (uint32_t i = 0; i < SCRIPT_TRACKS; i++) {
        char name[32];
        uint32_t index;
        snprintf(name, sizeof name, "thread %u", i);
        assert_int_equal(
            tl_trace_add_track(t, &(tl_track){.name = name, .tid = 100 + i, .has_tid = true}, &index, NULL), 0);
    }
}

static inline void scripted_fini(scripted *s)
{
    tl_trace_fini(&s->source.trace);
}

/* The profile of a script; it must be one. */
static inline tl_profile *scripted_profile(scripted *s, const tl_profile_options *o)
{
    tl_profile *p = NULL;
    tl_error e = {0};
    must(tl_profile_from_source(&p, &s->source, o, &e), &e);
    assert_false(s->source.want.fields); /* restored */
    return p;
}

/* The place of a stack of labels, "main;work"; fails if there is none. */
static inline uint32_t scripted_place(const tl_profile *p, uint32_t root, const char *stack)
{
    uint32_t place = root;
    while (*stack) {
        const size_t n = strcspn(stack, ";");
        uint32_t found = 0;
        for (uint32_t i = 1; i < p->nplace && !found; i++) {
            char buf[24];
            if (p->place[i].parent != place || p->place[i].function == TL_NO_FUNCTION)
                continue;
            const char *label = tl_function_label(&p->function[p->place[i].function], buf);
            if (strlen(label) == n && memcmp(label, stack, n) == 0)
                found = i;
        }
        if (!found)
            fail_msg("no place %s", stack);
        place = found;
        stack += n + (stack[n] == ';');
    }
    return place;
}

static inline void scripted_check(const tl_profile *p, const char *stack, uint64_t calls, uint64_t total, uint64_t self)
{
    tl_stat stat;
    tl_profile_stat(p, scripted_place(p, 0, stack), &stat);
    assert_int_equal(stat.calls, calls);
    assert_int_equal(stat.total, total);
    assert_int_equal(stat.self, self);
    assert_int_equal(stat.min, 0);
    assert_int_equal(stat.max, 0);
}

/* Index of the function with an id, TL_NO_FUNCTION if there is none. */
static inline uint32_t scripted_function(const tl_profile *p, int64_t id)
{
    for (uint32_t i = 0; i < p->nfunction; i++)
        if (p->function[i].id == id && !(p->function[i].flags & TL_FUNCTION_UNKNOWN))
            return i;
    return TL_NO_FUNCTION;
}

#endif
