/* One file of one unit, and a walk over its packets: for tests. */
#ifndef TEST_CTF_WALK_FIXTURE_H
#define TEST_CTF_WALK_FIXTURE_H

#include "format/ctf/plan/ctf_plan_impl.h"
#include "format/ctf/read/ctf_file.h"
#include "make_ctf.h"

#include <inttypes.h>

/* One file of one unit. */
typedef struct fixture {
    tl_trace trace;
    ctf_unit unit;
    ctf_class_list classes;
    tl_arena arena;
    ctf_file file;
    ctf_bytes bytes;
    tl_input *in;
    tl_window window;
    ctf_walk walk;
    ctf_packet packet;
} fixture;

static unsigned parts;

static inline fixture *start_with(const ctf_made *m)
{
    fixture *x = calloc(1, sizeof *x);
    ctf_bytes text = {0};
    tl_error e = {0};
    assert_non_null(x);
    tl_trace_init(&x->trace);
    made_metadata(&text, m);
    char *copy = tl_arena_strndup(&x->arena, (const char *)text.data, text.n); /* names may point into it */
    must(ctf_tsdl_parse(&x->unit.schema, copy, text.n, &e), &e);
    x->classes.arena = &x->arena;
    must(ctf_plans_new(&x->unit.plans, &x->unit.schema, &x->classes, &e), &e);
    free(text.data);
    x->file = (ctf_file){.unit = &x->unit, .name = "stream"};
    parts = m->parts;
    return x;
}

static inline fixture *start(unsigned with)
{
    return start_with(&(ctf_made){.parts = with});
}

/* Begins to walk over the bytes put so far, with a window of `room` bytes. */
static inline void walk_with(fixture *x, size_t room)
{
    x->file.size = x->bytes.n;
    /* A copy of the exact size, to detect reading beyond it. */
    uint8_t *exact = realloc(x->bytes.data, x->bytes.n ? x->bytes.n : 1);
    assert_non_null(exact);
    x->bytes.capacity = x->bytes.n;
    x->bytes.data = exact;
    assert_int_equal(tl_input_open_memory(&x->in, exact, x->bytes.n, "stream", NULL), 0);
    assert_int_equal(tl_window_init(&x->window, x->in, room, NULL), 0);
    x->walk = (ctf_walk){.file = &x->file, .window = &x->window, .report = &x->trace};
}

static inline void walk(fixture *x)
{
    walk_with(x, 256);
}

static inline void rewind_walk(fixture *x)
{
    tl_window_fini(&x->window);
    tl_input_close(x->in);
    x->in = NULL;
}

static inline void stop(fixture *x)
{
    rewind_walk(x);
    ctf_plans_free(x->unit.plans);
    tl_arena_fini(&x->unit.schema.arena);
    tl_arena_fini(&x->arena);
    free(x->classes.cls);
    free(x->bytes.data);
    tl_trace_fini(&x->trace);
    free(x);
}

static inline size_t put(fixture *x, ctf_made_packet p)
{
    return made_packet(&x->bytes, parts, p);
}

/* The next packet begins here. */
static inline void expect(fixture *x, size_t offset, uint64_t number)
{
    tl_error e = {0};
    const int status = ctf_walk_next(&x->walk, &x->packet, &e);
    if (status != 1)
        fail_msg("expected a packet at %zu, got %d %s", offset, status, e.message);
    assert_int_equal(x->packet.offset, offset);
    assert_int_equal(x->packet.number, number);
}

static inline void expect_end(fixture *x)
{
    tl_error e = {0};
    const int status = ctf_walk_next(&x->walk, &x->packet, &e);
    if (status != 0)
        fail_msg("expected the end, got %d at %" PRIu64 " %s", status, x->packet.offset, e.message);
    assert_int_equal(ctf_walk_next(&x->walk, &x->packet, &e), 0); /* and so it stays */
}

/* The i-th problem. */
static inline void expect_problem(const fixture *x, uint32_t i, const char *rule, uint64_t at, uint64_t offset,
                                  uint64_t bytes)
{
    const tl_damage *d = tl_trace_damage(&x->trace, i);
    assert_non_null(d);
    assert_string_equal(d->rule, rule);
    assert_string_equal(d->file, "stream");
    assert_int_equal(d->at, at);
    assert_int_equal(d->offset, offset);
    assert_int_equal(d->bytes, bytes);
    assert_int_equal(d->kind, bytes ? TL_DAMAGE_FAULT | TL_DAMAGE_LOSS : TL_DAMAGE_FAULT);
}

static inline void expect_text(const fixture *x, uint32_t i, const char *what)
{
    const tl_damage *d = tl_trace_damage(&x->trace, i);
    assert_non_null(d);
    if (!strstr(d->what, what))
        fail_msg("no \"%s\" in \"%s\"", what, d->what);
}

static inline void expect_problems(const fixture *x, uint32_t n)
{
    if (tl_trace_damages(&x->trace) != n)
        fail_msg("%u problems, expected %u; the last: %s", tl_trace_damages(&x->trace), n,
                 tl_trace_damages(&x->trace) ? tl_trace_damage(&x->trace, tl_trace_damages(&x->trace) - 1)->what : "");
}

#endif
