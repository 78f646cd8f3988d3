/* Shared by tests of profile writers: profiles made by hand, written to memory, and a reader of protocol buffers. */
#ifndef TL_TEST_PROFILE_FIXTURE_H
#define TL_TEST_PROFILE_FIXTURE_H

#include "fixture.h"
#include "model/place_tree.h"

typedef struct profiled {
    tl_profile *p;
    tl_write_options options;
    tl_drops drops;
    char *text; /* after write_profile(), with a NUL after it */
    size_t n;
} profiled;

static inline void profiled_init(profiled *f, uint64_t hz)
{
    memset(f, 0, sizeof *f);
    assert_int_equal(tl_profile_new(&f->p, &(tl_clock){.name = "test", .hz = hz}, NULL), 0);
}

static inline uint32_t add_function(profiled *f, int64_t id, const char *name, const char *file, uint32_t line)
{
    uint32_t index = tl_profile_add_function(f->p, &(tl_function){.id = id, .name = name, .file = file, .line = line});
    assert_int_not_equal(index, TL_HASH_NONE);
    return index;
}

/* A call of `ticks`, part of them in its callees; makes its place and those above it. */
static inline uint32_t add_call(profiled *f, uint32_t parent, uint32_t function, uint64_t ticks, uint64_t self)
{
    uint32_t place = tl_profile_child(f->p, parent, function);
    assert_int_not_equal(place, TL_HASH_NONE);
    tl_place_stat *s = &f->p->stat[place];
    s->calls++;
    s->total += ticks;
    s->self += self;
    s->min = ticks < s->min ? ticks : s->min;
    s->max = ticks > s->max ? ticks : s->max;
    if (f->p->has_histogram)
        assert_true(tl_hist_add(&s->hist, ticks));
    return place;
}

/* One thread: main[0,1000] a[100,500] b[150,400] a[600,900]. Self: main 300, main;a 450, main;a;b 250. */
static inline void add_example(profiled *f, uint32_t root)
{
    uint32_t main_function = add_function(f, 1, "main", "app.c", 10), a = add_function(f, 2, "a", "app.c", 20),
             b = add_function(f, 3, "b", "b.c", 30);
    uint32_t place = add_call(f, root, main_function, 1000, 300);
    uint32_t inner = add_call(f, place, a, 400, 150);
    add_call(f, inner, b, 250, 250);
    add_call(f, place, a, 300, 300);
}

/* A tree of `depth` places, each below the last and with one tick of its own, of two functions in turn. */
static inline void add_chain(profiled *f, uint32_t depth)
{
    uint32_t function[] = {add_function(f, 1, "even", NULL, 0), add_function(f, 2, "odd", NULL, 0)};
    uint32_t place = 0;
    for (uint32_t i = 0; i < depth; i++)
        place = add_call(f, place, function[i & 1], depth - i, 1);
}

static inline uint32_t add_thread(profiled *f, const char *name, int64_t pid, int64_t tid)
{
    uint32_t root = tl_profile_thread_root(
        f->p, &(tl_track){.name = name, .pid = pid, .tid = tid, .has_pid = true, .has_tid = true});
    assert_int_not_equal(root, TL_HASH_NONE);
    return root;
}

static inline void write_with(profiled *f, int (*write)(const tl_write_context *, const tl_profile *, tl_error *))
{
    tl_output *out;
    tl_error e = {0};
    free(f->text);
    free(f->drops.drop);
    f->drops = (tl_drops){0};
    assert_int_equal(tl_output_open_memory(&out, TL_PLAIN, &e), 0);
    const tl_write_context context = {.out = out, .drops = &f->drops, .options = &f->options};
    assert_int_equal(write(&context, f->p, &e), 0);
    f->text = take_bytes(out, &f->n);
    tl_output_close(out);
}

static inline void profiled_fini(profiled *f)
{
    tl_profile_free(f->p);
    free(f->text);
    free(f->drops.drop);
}

static inline uint64_t dropped(const profiled *f, const char *what)
{
    return drops_of(&f->drops, what);
}

#endif
