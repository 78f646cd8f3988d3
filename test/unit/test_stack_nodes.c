/* Stacks as nodes of a tree: what is recognized within a batch, and what is not. */
#include "base/arena.h"
#include "check.h"
#include "model/stack_nodes.h"
#include "model/trace_impl.h"

enum { DEPTH = 1000 };

/* A stack of DEPTH functions, outermost first, numbered from `first` on; all with this name, or none. */
static tl_frame *make_frames(tl_arena *a, uint64_t first, const char *name)
{
    tl_frame *f = tl_arena_alloc(a, DEPTH * sizeof *f);
    assert_non_null(f);
    for (uint32_t i = 0; i < DEPTH; i++)
        f[i] = (tl_frame){.caller = i > 0 ? &f[i - 1] : NULL,
                          .function = first + i,
                          .name = name,
                          .depth = i + 1,
                          .flags = TL_FRAME_FUNCTION};
    return f;
}

static const tl_frame *make_stack(tl_arena *a, uint64_t first, const char *name)
{
    return &make_frames(a, first, name)[DEPTH - 1];
}

static uint32_t node_of(tl_stack_nodes *s, const tl_batch *b, const tl_frame *f)
{
    const tl_value v = {.type = TL_STACK, .n = f->depth, .as.p = (const void *)f};
    uint32_t node = 0;
    tl_stack_nodes_run(s, b);
    assert_int_equal(tl_stack_nodes_get(s, &(tl_sample){.count = 1, .stack = &v}, &node), TL_STACK_NODE);
    return node;
}

static void frames_of_a_batch_are_known_again(void **state)
{
    tl_trace t;
    tl_arena a = {0};
    tl_stack_nodes s = {0};
    const tl_batch b = {.arena = &a};
    tl_trace_init(&t);
    tl_stack_nodes_init(&s, &t, 0);
    const tl_frame *f = make_stack(&a, 1, NULL);
    const uint32_t node = node_of(&s, &b, f);
    for (unsigned i = 0; i < 100; i++) /* each in a run of its own */
        assert_int_equal(node_of(&s, &b, f), node);
    assert_int_equal(s.looked, DEPTH + 100);

    /* Other frames at the same addresses, in another batch and in the next contents of this one. */
    tl_arena_reset(&a);
    const tl_frame *other = make_stack(&a, 7000, NULL);
    assert_ptr_equal(other, f);
    assert_int_not_equal(node_of(&s, &b, other), node);
    assert_int_equal(s.looked, DEPTH + 100 + DEPTH);
    tl_arena_reset(&a);
    assert_ptr_equal(make_stack(&a, 1, NULL), f);
    assert_int_equal(node_of(&s, &b, f), node);

    /* A batch without an arena is never recognized. */
    const tl_batch foreign = {.arena = NULL};
    const uint64_t looked = s.looked;
    assert_int_equal(node_of(&s, &foreign, f), node);
    assert_int_equal(node_of(&s, &foreign, f), node);
    assert_int_equal(s.looked, looked + 2 * DEPTH);
    tl_stack_nodes_fini(&s);
    tl_arena_fini(&a);
    tl_trace_fini(&t);
}

/* Lasting frames are recognized in other batches, too, as long as those hold the same ones. */
static void frames_that_stay_are_known_in_other_batches(void **state)
{
    tl_trace t;
    tl_arena a = {0}, other = {0};
    tl_stack_nodes s = {0};
    const tl_batch b = {.arena = &a}, c = {.arena = &other};
    tl_shared_arena *stays = tl_shared_arena_new();
    assert_non_null(stays);
    tl_trace_init(&t);
    tl_stack_nodes_init(&s, &t, 0);
    tl_frame *f = make_frames(&stays->arena, 1, NULL);
    for (unsigned i = 0; i < DEPTH; i++)
        f[i].lasts = 1;
    tl_arena_hold(&a, stays);
    tl_arena_hold(&other, stays);
    const uint32_t node = node_of(&s, &b, &f[DEPTH - 1]);
    assert_int_equal(node_of(&s, &c, &f[DEPTH - 1]), node);
    assert_int_equal(s.looked, DEPTH + 1);
    /* A batch adds to them. */
    tl_frame *more = make_frames(&a, 5000, NULL);
    more[0].caller = &f[DEPTH - 1];
    assert_int_equal(s.node[node_of(&s, &b, &more[0])].parent, node);
    assert_int_equal(s.looked, DEPTH + 3);

    /* Other frames at the same addresses. */
    tl_arena_reset(&stays->arena);
    tl_frame *again = make_frames(&stays->arena, 7000, NULL);
    assert_ptr_equal(again, f);
    for (unsigned i = 0; i < DEPTH; i++)
        again[i].lasts = 1;
    assert_int_not_equal(node_of(&s, &b, &f[DEPTH - 1]), node);
    assert_int_equal(s.looked, 2 * DEPTH + 3);
    tl_stack_nodes_fini(&s);
    tl_arena_fini(&a);
    tl_arena_fini(&other);
    tl_shared_arena_release(stays);
    tl_trace_fini(&t);
}

/* The memory about lasting frames does not grow for ever. */
static void frames_that_stayed_are_forgotten(void **state)
{
    enum { MANY = 600 };
    tl_trace t;
    tl_arena a = {0};
    tl_stack_nodes s = {0};
    const tl_batch b = {.arena = &a};
    tl_shared_arena *stays[MANY];
    tl_trace_init(&t);
    tl_stack_nodes_init(&s, &t, 0);
    uint32_t most = 0;
    for (unsigned i = 0; i < MANY; i++) { /* all at different addresses */
        stays[i] = tl_shared_arena_new();
        assert_non_null(stays[i]);
        tl_frame *f = make_frames(&stays[i]->arena, 1, NULL);
        for (unsigned k = 0; k < DEPTH; k++)
            f[k].lasts = 1;
        tl_arena_hold(&a, stays[i]);
        assert_int_equal(node_of(&s, &b, &f[DEPTH - 1]), DEPTH);
        most = s.nlast > most ? s.nlast : most;
    }
    assert_true(most >= 100 * DEPTH && most < MANY / 2 * DEPTH);
    assert_int_equal(s.looked, MANY * DEPTH);
    for (unsigned i = 0; i < MANY; i++)
        tl_shared_arena_release(stays[i]);
    tl_stack_nodes_fini(&s);
    tl_arena_fini(&a);
    tl_trace_fini(&t);
}

/* Names are equal if their texts are, wherever they are; another text at the same address is another name. */
static void names_go_by_their_text(void **state)
{
    tl_trace t;
    tl_arena a = {0};
    tl_stack_nodes s = {0};
    const tl_batch b = {.arena = &a};
    char name[] = "serve", same[] = "serve";
    tl_trace_init(&t);
    tl_stack_nodes_init(&s, &t, 0);
    const uint32_t node = node_of(&s, &b, make_stack(&a, 1, name));
    assert_int_equal(node_of(&s, &b, make_stack(&a, 1, same)), node);
    tl_arena_reset(&a);
    name[0] = 'n';
    assert_int_not_equal(node_of(&s, &b, make_stack(&a, 1, name)), node);
    assert_int_equal(s.nlabel, 2);
    tl_stack_nodes_fini(&s);
    tl_arena_fini(&a);
    tl_trace_fini(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_of_a_batch_are_known_again),
        cmocka_unit_test(frames_that_stay_are_known_in_other_batches),
        cmocka_unit_test(frames_that_stayed_are_forgotten),
        cmocka_unit_test(names_go_by_their_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
