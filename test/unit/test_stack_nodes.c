/* Stacks as nodes of a tree: what is known again within a batch, and what is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/arena.h"
#include "model/stack_nodes.h"
#include "model/trace_impl.h"

enum { DEPTH = 1000 };

/* A stack of DEPTH functions, numbered from `first` on; all have this name, or none. */
static const tl_frame *make_stack(tl_arena *a, uint64_t first, const char *name)
{
    tl_frame *f = tl_arena_alloc(a, DEPTH * sizeof *f);
    assert_non_null(f);
    for (uint32_t i = 0; i < DEPTH; i++)
        f[i] = (tl_frame){.caller = i > 0 ? &f[i - 1] : NULL,
                          .function = first + i,
                          .name = name,
                          .depth = i + 1,
                          .flags = TL_FRAME_FUNCTION};
    return &f[DEPTH - 1];
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
    (void)state;
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

    /* Who has no arena is not known again. */
    const tl_batch foreign = {.arena = NULL};
    const uint64_t looked = s.looked;
    assert_int_equal(node_of(&s, &foreign, f), node);
    assert_int_equal(node_of(&s, &foreign, f), node);
    assert_int_equal(s.looked, looked + 2 * DEPTH);
    tl_stack_nodes_fini(&s);
    tl_arena_fini(&a);
    tl_trace_fini(&t);
}

/* A name is the same if its text is, wherever it stands; another text at the place of one is another name. */
static void names_go_by_their_text(void **state)
{
    (void)state;
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
        cmocka_unit_test(names_go_by_their_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
