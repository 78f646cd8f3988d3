/* The source line of a frame of a TraceLog: by tables of code, and by lines of saved sessions. */
#include "tracelog_fixture.h"

#include "format/tracelog/tracelog_code.h"

/* A list of items of `members` numbers each, as on a tape; free(). */
static tl_value *make_list(const uint64_t *number, uint32_t n, uint32_t members)
{
    tl_value *v = calloc(1 + (size_t)n * (members + 1), sizeof *v), *at = v;
    assert_non_null(v);
    *at++ = (tl_value){.type = TL_LIST, .n = n};
    for (uint32_t i = 0; i < n; i++) {
        *at++ = (tl_value){.type = TL_STRUCT, .n = members};
        for (uint32_t k = 0; k < members; k++)
            *at++ = (tl_value){.type = TL_HEX, .as.u = *number++};
    }
    return v;
}

static void add(tracelog_code *c, uint64_t function, const uint64_t *code, uint32_t ncode, const uint64_t *map,
                uint32_t nmap)
{
    tl_value *code_info = make_list(code, ncode, 2), *il_map = make_list(map, nmap, 3);
    assert_int_equal(tracelog_code_add(c, function, code_info, il_map, NULL), 0);
    free(code_info);
    free(il_map);
}

#define NOWHERE (-1)

/* The offset of an address in the intermediate code. */
static int64_t offset_of(const tracelog_code *c, uint64_t function, uint64_t ip)
{
    const tl_frame f = {.function = function, .ip = ip, .flags = TL_FRAME_FUNCTION | TL_FRAME_IP};
    tl_location at = {0};
    if (!tracelog_code_locate(c, &f, &at))
        return NOWHERE;
    assert_true(at.has_offset);
    assert_null(at.file);
    assert_int_equal(at.line, 0);
    return at.offset;
}

static void by_map(void **state)
{
    static const uint64_t code[] = {0x1000, 0x10}, map[] = {0, 0, 8, 3, 8, 12, 5, 12, 16};
    tracelog_code c = {0};
    tracelog_code_sort(&c); /* an empty one */
    assert_int_equal(offset_of(&c, 5, 0x1000), NOWHERE);
    add(&c, 5, code, 1, map, 3);
    add(&c, 6, code, 1, NULL, 0);
    add(&c, 7, NULL, 0, map, 3);
    tracelog_code_sort(&c);
    assert_int_equal(offset_of(&c, 5, 0xfff), NOWHERE);
    assert_int_equal(offset_of(&c, 5, 0x1000), 0);
    assert_int_equal(offset_of(&c, 5, 0x1007), 0);
    assert_int_equal(offset_of(&c, 5, 0x1008), 3);
    assert_int_equal(offset_of(&c, 5, 0x100b), 3);
    assert_int_equal(offset_of(&c, 5, 0x100f), 5);
    assert_int_equal(offset_of(&c, 5, 0x1010), NOWHERE);
    assert_int_equal(offset_of(&c, 6, 0x1000), NOWHERE);
    assert_int_equal(offset_of(&c, 7, 0x1000), NOWHERE);
    assert_int_equal(offset_of(&c, 4, 0x1000), NOWHERE);
    assert_int_equal(offset_of(&c, 8, 0x1000), NOWHERE);
    tracelog_code_fini(&c);
}

/* Offsets of the native code continue from one piece to the next, in the order of the line, not of addresses. */
static void several_pieces(void **state)
{
    static const uint64_t code[] = {0x2000, 0x10, 0x1000, 0x20, 0xfffffffffffffff0u, 0x10},
                          map[] = {1, 0, 0x0f, 2, 0x0f, 0x11, 3, 0x11, 0x30, 4, 0x30, 0x40};
    tracelog_code c = {0};
    add(&c, 5, code, 3, map, 4);
    tracelog_code_sort(&c);
    assert_int_equal(offset_of(&c, 5, 0x2000), 1);
    assert_int_equal(offset_of(&c, 5, 0x200f), 2);
    assert_int_equal(offset_of(&c, 5, 0x2010), NOWHERE);
    assert_int_equal(offset_of(&c, 5, 0x1000), 2);
    assert_int_equal(offset_of(&c, 5, 0x1001), 3);
    assert_int_equal(offset_of(&c, 5, 0x101f), 3);
    assert_int_equal(offset_of(&c, 5, 0x1020), NOWHERE);
    assert_int_equal(offset_of(&c, 5, 0xfffffffffffffff0u), 4);
    assert_int_equal(offset_of(&c, 5, UINT64_MAX), 4);
    assert_int_equal(offset_of(&c, 5, 0), NOWHERE);
    tracelog_code_fini(&c);
}

/* Prologue, epilogue, and code of no instruction: nowhere, but another entry may have a place. */
static void special_offsets(void **state)
{
    static const uint64_t code[] = {0x1000, 0x10},
                          map[] = {0xfffffffe, 0, 2, 0xffffffff, 2, 4, 0xfffffffd, 4, 6, 0xfffffffc, 6, 8, 9, 0, 1};
    tracelog_code c = {0};
    add(&c, 5, code, 1, map, 5);
    tracelog_code_sort(&c);
    assert_int_equal(offset_of(&c, 5, 0x1000), 9);
    assert_int_equal(offset_of(&c, 5, 0x1001), NOWHERE);
    assert_int_equal(offset_of(&c, 5, 0x1003), NOWHERE);
    assert_int_equal(offset_of(&c, 5, 0x1005), NOWHERE);
    assert_int_equal(offset_of(&c, 5, 0x1007), 0xfffffffc);
    assert_int_equal(offset_of(&c, 5, 0x1008), NOWHERE);
    tracelog_code_fini(&c);
}

/* A function may get new code at the same place. */
static void the_later_code_counts(void **state)
{
    static const uint64_t code[] = {0x1000, 0x10}, first[] = {1, 0, 0x10}, later[] = {2, 0, 0x10};
    tracelog_code c = {0};
    add(&c, 5, code, 1, first, 1);
    add(&c, 5, code, 1, later, 1);
    tracelog_code_sort(&c);
    assert_int_equal(offset_of(&c, 5, 0x1004), 2);
    tracelog_code_fini(&c);
}

/* Many functions, against their input. */
static void many_functions(void **state)
{
    enum { FUNCTIONS = 300, PIECES = 5 };
    tracelog_code c = {0};
    uint32_t seed = 17;
    uint64_t code[FUNCTIONS][PIECES * 2];
    for (uint32_t f = 0; f < FUNCTIONS; f++) {
        uint64_t map[PIECES * 3], before = 0;
        for (uint32_t i = 0; i < PIECES; i++) {
            const uint32_t place = (i * 3 + f) % PIECES; /* not in order */
            code[f][2 * i] = 0x10000 + 0x100 * (uint64_t)place;
            code[f][2 * i + 1] = random_below(&seed, 0x100);
            map[3 * i] = i + 1;
            map[3 * i + 1] = before;
            map[3 * i + 2] = before += code[f][2 * i + 1];
        }
        add(&c, (f * 7919u) % FUNCTIONS, code[f], PIECES, map, PIECES);
    }
    tracelog_code_sort(&c);
    for (uint32_t f = 0; f < FUNCTIONS; f++)
        for (uint64_t ip = 0xff80; ip < 0x10000 + 0x100 * PIECES + 0x80; ip += 1 + random_below(&seed, 20)) {
            int64_t expected = NOWHERE;
            for (uint32_t i = 0; i < PIECES; i++)
                if (ip >= code[f][2 * i] && ip < code[f][2 * i] + code[f][2 * i + 1])
                    expected = i + 1;
            assert_int_equal(offset_of(&c, (f * 7919u) % FUNCTIONS, ip), expected);
        }
    tracelog_code_fini(&c);
}

static void lines_of_saved_sessions(void **state)
{
    static const char a[] = "a.cs", b[] = "b.cs";
    const uint64_t large = UINT64_C(0x100000005);
    tracelog_code c = {0};
    tl_location at = {0};
    tl_frame f = {.ip = 1, .flags = TL_FRAME_IP | TL_FRAME_LINE};
    assert_int_equal(tracelog_code_add_line(&c, 1, 0x10, 42, NULL), 0); /* its file comes later */
    assert_int_equal(tracelog_code_add_line(&c, 2, 0x11, 7, NULL), 0);
    assert_int_equal(tracelog_code_add_line(&c, large, 0x10, UINT32_MAX - 1, NULL), 0);
    assert_int_equal(tracelog_code_add_line(&c, 4, 0x10, UINT64_C(1) << 32, NULL), 0);
    assert_int_equal(tracelog_code_add_file(&c, 0x10, b, NULL), 0);
    assert_int_equal(tracelog_code_add_file(&c, 0x10, a, NULL), 0);
    tracelog_code_sort(&c);
    assert_true(tracelog_code_locate(&c, &f, &at));
    assert_ptr_equal(at.file, a);
    assert_int_equal(at.line, 42);
    assert_false(at.has_offset);
    f.ip = 2;
    assert_true(tracelog_code_locate(&c, &f, &at));
    assert_null(at.file);
    assert_int_equal(at.line, 7);
    f.ip = large;
    assert_true(tracelog_code_locate(&c, &f, &at));
    assert_int_equal(at.line, UINT32_MAX - 1);
    f.ip = 4;
    assert_true(tracelog_code_locate(&c, &f, &at));
    assert_int_equal(at.line, 0);
    f.ip = 5;
    assert_false(tracelog_code_locate(&c, &f, &at));
    assert_int_equal(tracelog_code_add_line(&c, 1, 0x10, 43, NULL), 0); /* the latest counts */
    f.ip = 1;
    assert_true(tracelog_code_locate(&c, &f, &at));
    assert_int_equal(at.line, 43);
    f.flags = TL_FRAME_LINE;
    assert_false(tracelog_code_locate(&c, &f, &at));
    f.flags = TL_FRAME_IP; /* an address, of no known function */
    assert_false(tracelog_code_locate(&c, &f, &at));
    f.flags = TL_FRAME_FUNCTION;
    assert_false(tracelog_code_locate(&c, &f, &at));
    tracelog_code_fini(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_map),          cmocka_unit_test(several_pieces),
        cmocka_unit_test(special_offsets), cmocka_unit_test(the_later_code_counts),
        cmocka_unit_test(many_functions),  cmocka_unit_test(lines_of_saved_sessions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
