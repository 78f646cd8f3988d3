/* Shared by tests of the TraceLog reader: logs in memory, and their contents as text. */
#ifndef TL_TEST_TRACELOG_FIXTURE_H
#define TL_TEST_TRACELOG_FIXTURE_H

#include "check.h"
#include "model/trace_impl.h"
#include "traceloom/source.h"

/* Growing text. Zeroed memory is an empty one. */
typedef struct log_text {
    char *p;
    size_t n, capacity;
} log_text;

__attribute__((format(printf, 2, 3), unused)) static void text_add(log_text *t, const char *format, ...)
{
    if (t->capacity - t->n < 512) {
        t->capacity = 2 * t->capacity + 4096;
        char *larger = realloc(t->p, t->capacity);
        assert_non_null(larger);
        t->p = larger;
    }
    va_list arguments;
    va_start(arguments, format);
    const int n = vsnprintf(t->p + t->n, t->capacity - t->n, format, arguments);
    va_end(arguments);
    assert_true(n >= 0 && (size_t)n < t->capacity - t->n);
    t->n += (size_t)n;
}

__attribute__((unused)) static void text_free(log_text *t)
{
    free(t->p);
    *t = (log_text){0};
}

/* Numbers that look random, the same everywhere. */
__attribute__((unused)) static uint32_t random_below(uint32_t *state, uint32_t most)
{
    *state = *state * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)(*state ^ *state >> 15) * most >> 32);
}

__attribute__((unused)) static tl_source *open_log_text(const char *log, size_t n, const tl_want *want)
{
    const tl_open_options options = {.from = "tracelog", .want = *want};
    tl_source *s = NULL;
    tl_error e = {0};
    must(tl_source_open_memory(&s, log, n, "test.log", &options, &e), &e);
    return s;
}

/* A stack, innermost first: iid=name@ip of each frame, with an L after an ip that is a line. */
__attribute__((unused)) static void show_stack(log_text *t, const tl_value *v)
{
    uint32_t depth = v->n;
    text_add(t, " [");
    for (const tl_frame *f = v->as.p; f; f = f->caller) {
        assert_int_equal(f->depth, depth--);
        text_add(t, f == v->as.p ? "" : " ");
        if (f->flags & TL_FRAME_FUNCTION)
            text_add(t, "%llx", (unsigned long long)f->function);
        else
            text_add(t, "?");
        if (f->name)
            text_add(t, "=%s", f->name);
        if (f->flags & TL_FRAME_IP)
            text_add(t, "@%llx%s", (unsigned long long)f->ip, f->flags & TL_FRAME_LINE ? "L" : "");
    }
    assert_int_equal(depth, 0);
    text_add(t, "]");
}

__attribute__((unused)) static void show_value(log_text *t, const tl_value *v)
{
    switch ((tl_type)v->type) {
    case TL_NULL:
        text_add(t, " null");
        break;
    case TL_ABSENT:
        text_add(t, " -");
        break;
    case TL_U64:
        text_add(t, " %llu", (unsigned long long)v->as.u);
        break;
    case TL_I64:
        text_add(t, " %lld", (long long)v->as.i);
        break;
    case TL_HEX:
        text_add(t, " 0x%llx", (unsigned long long)v->as.u);
        break;
    case TL_STRING:
        assert_true(v->n < 256);
        text_add(t, " \"%.*s\"", (int)v->n, (const char *)v->as.p);
        break;
    case TL_STACK:
        show_stack(t, v);
        break;
    default:
        text_add(t, " %c%u", v->type == TL_LIST ? 'L' : 'S', (unsigned)v->n);
        break;
    }
}

/* An event: class, time, track, key if it is not 0, and its values. */
__attribute__((unused)) static void show_event(log_text *t, const tl_batch *b, uint32_t i)
{
    const tl_class *c = tl_trace_class(b->trace, b->cls[i]);
    text_add(t, "%s %llu %s", c->name, (unsigned long long)b->ts[i], tl_trace_track(b->trace, b->track[i])->name);
    if (b->key[i] == TL_SINCE_UNKNOWN)
        text_add(t, " since ?");
    else if (b->key[i] && c->key != TL_KEY_PAIR) /* a hash of no importance */
        text_add(t, " %s %llu", c->key == TL_KEY_SINCE ? "since" : "key", (unsigned long long)b->key[i]);
    for (uint32_t k = b->val ? b->val[i] : 0; b->val && k < b->val[i + 1]; k++)
        show_value(t, &b->v[k]);
    text_add(t, "\n");
}

/* All events of a cursor, or of the source if it is NULL. Returns the last status. */
__attribute__((unused)) static int show_events(log_text *t, tl_source *s, tl_cursor *c, tl_error *e)
{
    const tl_batch *b;
    int status;
    while ((status = c ? tl_cursor_next(c, &b, e) : tl_source_next(s, &b, e)) > 0)
        for (uint32_t i = 0; i < b->n; i++)
            show_event(t, b, i);
    return status;
}

__attribute__((unused)) static void show_damage(log_text *t, const tl_trace *trace)
{
    for (uint32_t i = 0; i < tl_trace_damages(trace); i++) {
        const tl_damage *d = tl_trace_damage(trace, i);
        text_add(t, "%s %llu+%llu\n", d->rule, (unsigned long long)d->offset, (unsigned long long)d->bytes);
    }
}

/* Reads a log: its events, then its damage. */
__attribute__((unused)) static void show_log(log_text *t, const char *log, size_t n, const tl_want *want)
{
    tl_source *s = open_log_text(log, n, want);
    tl_error e = {0};
    must(show_events(t, s, NULL, &e), &e);
    show_damage(t, tl_source_trace(s));
    tl_source_close(s);
}

__attribute__((unused)) static void assert_log(const char *log, const char *expected)
{
    log_text t = {0};
    show_log(&t, log, strlen(log), &(const tl_want){.fields = true});
    text_add(&t, "%s", "");
    assert_string_equal(t.p, expected);
    text_free(&t);
}

#endif
