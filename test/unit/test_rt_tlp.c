/* What the recorder writes in the traced process against what the library makes of the same image, byte for byte. */
#include <inttypes.h>

#include "rt_tlp_fixture.h"

#ifdef RT_TLP_HERE

static void test_random_programs_are_written_exactly(void **state)
{
    uint64_t seed = 29;
    for (int i = 0; i < 30; i++) {
        live_image m;
        image_init(&m);
        image_random(&m, &seed, 1 + (uint32_t)i % 9, 3000);
        assert_written(&m);
        image_fini(&m);
    }
}

static void test_an_empty_image_is_written(void **state)
{
    live_image m;
    image_init(&m);
    assert_written(&m);
    image_fini(&m);
}

static void test_200_threads_are_written(void **state)
{
    uint64_t seed = 31;
    live_image m;
    image_init(&m);
    image_random(&m, &seed, 200, 40000);
    assert_written(&m);
    image_fini(&m);
}

static void test_a_stack_of_100000_is_written(void **state)
{
    live_image m;
    scene_deep(&m);
    assert_written(&m);
    image_fini(&m);
}

static void test_counts_beyond_32_bits_are_written(void **state)
{
    live_image m;
    scene_many_calls(&m);
    assert_written(&m);
    image_fini(&m);
}

static void test_lanes_are_written_as_threads(void **state)
{
    uint32_t root[6];
    live_image m;
    scene_lanes(&m, root, "a line\n and \\n 50", "thread tid=50 name=first\nthread tid=50 name=a line\\n and \\\\n\n");
    for (uint32_t i = 0; i < 6; i++)
        scene_losses(&m, root[i], i);
    m.p->unmatched_open = 15;
    m.p->unmatched_exits = 1500;
    m.p->lost_events = 151;
    image_text(&m, "lost late=1 depth=50 memory=100 disk=0 exits=1500 threads=0\n");
    assert_written(&m);
    image_fini(&m);
}

/* When tick 0 was: ticks as ns are rounded half to even. */
static void test_clocks_are_rounded(void **state)
{
    static const struct {
        uint64_t hz, ticks;
        int64_t ns;
    } clock[] = {{3, 1, 333333333},
                 {3, 2, 666666667},
                 {2000000000, 1, 0},
                 {2000000000, 3, 2},
                 {2000000000, 5, 2},
                 {4000000000, 3, 1},
                 {4000000000, 1, 0},
                 {1, 7, 7000000000},
                 {2999999999, 2999999998, 1000000000},
                 {3000000000, UINT64_C(27000000000000001), 9000000000000000}};
    for (size_t i = 0; i < TL_COUNT(clock); i++) {
        char line[120];
        live_image m;
        image_init(&m);
        snprintf(line, sizeof line, "clock name=tsc hz=%" PRIu64 " ticks=%" PRIu64 " raw=7 unix=1790000000000000000\n",
                 clock[i].hz, clock[i].ticks);
        image_text(&m, line);
        m.p->clock.hz = clock[i].hz;
        m.p->clock.utc_offset_ns = INT64_C(1790000000000000000) - clock[i].ns;
        assert_written(&m);
        image_fini(&m);
    }
}

/* Names are linkage names, of all functions that have a symbol; a note's name goes before. */
static void test_functions_get_their_symbols(void **state)
{
    static const struct {
        uint32_t id;
        const char *name;
    } expected[] = {{1, "_Z2fzv"}, {2, "_Z2fyv"},    {3, "_Z2fxv"},    {4, NULL},        {5, "_Z2fvv"},
                    {6, "_Z2fev"}, {7, "_Z2ftv"},    {22, "_Z2fev"},   {1001, "_Z2fzv"}, {1002, "_Z2fyv"},
                    {2000, "x y"}, {2001, "_Z2fwv"}, {2002, "_Z2fzv"}, {2003, NULL}};
    live_image m;
    image_init(&m);
    has_symbols = true;
    image_table(&m, 2, 0, 1000, 0x1000);
    image_table(&m, 3, 1000, 100, 0x2000);
    image_text(&m, "function id=2000 name=x y\nfunction id=2001 object=2 address=0x1030\n"
                   "function id=2001 object=3 address=0x2030\nfunction id=2002 object=2 address=4096\n"
                   "function id=2003 object=77 address=0x1000\nfunction id=2001 object=2 address=0x1030\n");
    const uint32_t root = image_lane(&m, 1, 1, "", "thread 1");
    tl_profile *p = m.p;
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        const uint32_t id = expected[i].id;
        tl_function f = {.id = id, .name = expected[i].name, .linkage_name = expected[i].name};
        if (id <= 1000 || id == 2001 || id == 2002) {
            f.module = "c0ffee";
            f.address = id <= 1000 ? 0x1000 + 16 * (uint64_t)(id - 1) : id == 2001 ? 0x1030 : 0x1000;
        } else if (id <= 1100) {
            f.library = "/lib/nothing.so";
            f.address = 0x2000 + 16 * (uint64_t)(id - 1001);
        } else if (id == 2003) {
            f.address = 0x1000;
        }
        if (id == 2001) /* k == 3 has no symbol */
            f.name = f.linkage_name = NULL;
        const uint32_t node = image_take(&m, LIVE_NODE_SIZE);
        put32(&m, image_at(node) + LIVE_NODE_FUNCTION, id);
        put32(&m, image_at(node) + LIVE_NODE_PARENT, root);
        put32(&m, image_at(node) + LIVE_NODE_SIBLING, get32(&m, image_at(root) + LIVE_NODE_CHILD));
        put32(&m, image_at(root) + LIVE_NODE_CHILD, node);
        tl_store64(m.bytes + image_at(node) + LIVE_NODE_MIN, UINT64_MAX, false);
        m.place[node] = tl_profile_child(p, m.place[root], tl_profile_add_function(p, &f));
        image_call(&m, node, 10 + i, 0);
    }
    assert_written(&m);
    has_symbols = false;
    image_fini(&m);
}

#else

RT_TLP_NOT_HERE(test_random_programs_are_written_exactly)
RT_TLP_NOT_HERE(test_an_empty_image_is_written)
RT_TLP_NOT_HERE(test_200_threads_are_written)
RT_TLP_NOT_HERE(test_a_stack_of_100000_is_written)
RT_TLP_NOT_HERE(test_counts_beyond_32_bits_are_written)
RT_TLP_NOT_HERE(test_lanes_are_written_as_threads)
RT_TLP_NOT_HERE(test_clocks_are_rounded)
RT_TLP_NOT_HERE(test_functions_get_their_symbols)

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_random_programs_are_written_exactly, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_an_empty_image_is_written, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_200_threads_are_written, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_a_stack_of_100000_is_written, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_counts_beyond_32_bits_are_written, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_lanes_are_written_as_threads, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_clocks_are_rounded, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_functions_get_their_symbols, scratch_enter, scratch_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
