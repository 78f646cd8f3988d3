/* Tests of patch/patch_frames.h: where the canonical frame address is at an instruction. */
#include "patch_fixture.h"

#define CODE 0x401000

typedef struct row {
    uint64_t at;
    int reg; /* -1: unknown */
    int64_t offset;
    bool returns;
} row;

static void check_rows(const char *common, const char *rules, const row *want, size_t n)
{
    patch_bytes b = begin_frames();
    char rest[200];
    snprintf(rest, sizeof rest, "01 1b %s", common);
    put_frame(&b, put_common(&b, "zR", rest), CODE, 0x100000, rules);
    put_number(&b, 4, 0);
    const patch_image image = image_of(&b);
    const patch_frame frame = only_frame(&image);
    patch_cfa_walk walk;
    patch_cfa_begin(&walk, &image, &frame);
    for (size_t i = 0; i < n; i++) {
        const uint64_t last = i + 1 < n ? want[i + 1].at - 1 : want[i].at + 1000;
        for (unsigned end = 0; end < 2; end++) {
            const uint64_t at = CODE + (end ? last : want[i].at);
            const patch_cfa cfa = end ? patch_cfa_next(&walk, at) : patch_cfa_at(&image, &frame, at);
            if (cfa.known != (want[i].reg >= 0) || cfa.returns != want[i].returns ||
                (cfa.known && (cfa.reg != want[i].reg || cfa.offset != want[i].offset)))
                fail_msg("%s | %s: at %lx known %d, %d%+ld, returns %d", common, rules, (unsigned long)(at - CODE),
                         cfa.known, cfa.reg, (long)cfa.offset, cfa.returns);
        }
    }
    free(b.at);
}

#define ROWS(common, rules, ...)                                                                                       \
    check_rows(common, rules, (row[]){__VA_ARGS__}, sizeof((row[]){__VA_ARGS__}) / sizeof(row))
#define USUAL "0c 07 08 90 01"

static void test_rows(void **state)
{
    ROWS(USUAL, "", {0, 7, 8, true});
    ROWS(USUAL, "41 0e 10 86 02 43 0d 06 52 0c 07 08", {0, 7, 8, true}, {1, 7, 16, true}, {4, 6, 16, true},
         {0x16, 7, 8, true});
    ROWS(USUAL, "02 80 0e 10 03 00 10 0e 18 04 00 00 01 00 0e 20", {0, 7, 8, true}, {0x80, 7, 16, true},
         {0x1080, 7, 24, true}, {0x11080, 7, 32, true});
    ROWS(USUAL, "44 0e 10 0a 44 0e 08 44 0b", {0, 7, 8, true}, {4, 7, 16, true}, {8, 7, 8, true}, {12, 7, 16, true});
    ROWS(USUAL, "44 12 06 7e 44 13 7d", {0, 7, 8, true}, {4, 6, 16, true}, {8, 6, 24, true}); /* signed, factored */
    ROWS(USUAL, "44 0f 03 77 78 06 44 0e 10 44 0c 0a 00", {0, 7, 8, true}, {4, -1, 0, true}, {8, -1, 0, true},
         {12, 10, 0, true}); /* an expression */
    ROWS(USUAL, "44 0f 03 77 78 06 44 0d 06 44 13 7e", {0, 7, 8, true}, {4, -1, 0, true}, {8, 6, 8, true},
         {12, 6, 16, true});
    ROWS(USUAL, "44 0f 03 77 78 06 44 13 7e 44 12 07 7f", {0, 7, 8, true}, {4, -1, 0, true}, {8, -1, 0, true},
         {12, 7, 8, true});
    ROWS("0c 07 08 07 10", "", {0, 7, 8, false});
    ROWS(USUAL, "44 07 10 44 06 10 44 07 10 44 08 10", {0, 7, 8, true}, {4, 7, 8, false}, {8, 7, 8, true},
         {12, 7, 8, false}, {16, 7, 8, true});
    ROWS(USUAL, "44 07 10 44 d0", {0, 7, 8, true}, {4, 7, 8, false}, {8, 7, 8, true}); /* restore */
    ROWS("0c 07 08 07 10", "44 90 01 44 05 10 01", {0, 7, 8, false}, {4, 7, 8, true});
    ROWS("0c 07 08 07 10", "44 90 01 44 d0", {0, 7, 8, false}, {4, 7, 8, true}, {8, 7, 8, false});
    ROWS("0c 07 08 07 10", "44 05 10 01 44 06 10", {0, 7, 8, false}, {4, 7, 8, true}, {8, 7, 8, false});
    ROWS("0c 07 08 07 10", "44 90 01 44 06 03 c3 07 03", {0, 7, 8, false}, {4, 7, 8, true});
    /* rules of other registers, passed over: each with the operands that it has */
    ROWS(USUAL,
         "05 03 04 06 03 07 03 08 03 09 03 04 10 03 01 30 11 03 7e 14 03 04 15 03 7e 16 03 02 30 31 2e 10 2f 03 04 2d"
         " 00 c3 83 04 44 0e 10",
         {0, 7, 8, true}, {4, 7, 16, true});
}

static void test_rows_by_an_address(void **state)
{
    patch_bytes b = begin_frames();
    const size_t common = put_usual_common(&b), entry = begin_entry(&b);
    put_number(&b, 4, b.n - common);
    put_number(&b, 4, CODE - (HEADER + b.n));
    put_hex(&b, "00 10 00 00 00 01"); /* DW_CFA_set_loc */
    put_number(&b, 4, CODE + 0x20 - (HEADER + b.n));
    put_hex(&b, "0e 10");
    end_entry(&b, entry);
    put_number(&b, 4, 0);
    const patch_image image = image_of(&b);
    const patch_frame frame = only_frame(&image);
    assert_int_equal(patch_cfa_at(&image, &frame, CODE + 0x1f).offset, 8);
    assert_int_equal(patch_cfa_at(&image, &frame, CODE + 0x20).offset, 16);
    assert_true(patch_cfa_is_entry(patch_cfa_at(&image, &frame, CODE)));
    assert_false(patch_cfa_is_entry(patch_cfa_at(&image, &frame, CODE + 0x20)));
    free(b.at);
}

/* From a malformed rule on nothing is known. */
static void test_malformed_rows(void **state)
{
    static const char *const bad[] = {
        "44 3f",                /* no such instruction */
        "44 0c 07",             /* cut off */
        "44 0e",                /* */
        "44 0e ff ff ff ff 7f", /* too large */
        "44 0f 05 77",          /* an expression longer than the rules */
        "44 10 03 05 77",       /* also of another register */
        "44 05",                /* */
        "44 05 03",             /* */
        "44 12",                /* */
        "44 12 07",             /* */
        "44 83",                /* */
        "44 0b",                /* restored what was not remembered */
        "44 1d",                /* */
        "44 0e 80 80 80 80 80 80 80 80 80 80 00",
        "44 0c 80 02 08", /* a register that no processor has */
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ROWS(USUAL, bad[i], {0, 7, 8, true}, {4, -1, 0, true});
    ROWS("0c 07 08 44 0c 07 10", "", {0, -1, 0, true}); /* common rules are about no address */
    ROWS("0c 07 08 0c", "", {0, -1, 0, true});
    ROWS("0c 07 08 0c", "44 0c 07 08", {0, -1, 0, true}, {4, -1, 0, true});
}

static patch_cfa after_nops(unsigned common, unsigned own, unsigned remembered)
{
    patch_bytes b = begin_frames();
    const size_t at = b.n, entry = begin_entry(&b);
    put_hex(&b, "00 00 00 00 01 7a 52 00 01 78 10 01 1b 0c 07 08");
    for (unsigned i = 1; i < common; i++)
        put_number(&b, 1, 0);
    end_entry(&b, entry);
    const size_t frame_entry = begin_entry(&b);
    put_number(&b, 4, b.n - at);
    put_number(&b, 4, CODE - (HEADER + b.n));
    put_hex(&b, "10 00 00 00 00");
    for (unsigned i = 0; i < own; i++)
        put_number(&b, 1, i < remembered ? 0x0a : 0);
    end_entry(&b, frame_entry);
    put_number(&b, 4, 0);
    const patch_image image = image_of(&b);
    const patch_frame frame = only_frame(&image);
    const patch_cfa cfa = patch_cfa_at(&image, &frame, CODE);
    free(b.at);
    return cfa;
}

static void test_limits_of_rows(void **state)
{
    assert_true(after_nops(PATCH_COMMON_ROWS_MAX, 0, 0).known);
    assert_false(after_nops(PATCH_COMMON_ROWS_MAX + 1, 0, 0).known);
    assert_true(after_nops(1, PATCH_ROWS_MAX, 0).known);
    assert_false(after_nops(1, PATCH_ROWS_MAX + 1, 0).known);
    assert_true(after_nops(1, PATCH_KEPT_MAX, PATCH_KEPT_MAX).known);
    assert_false(after_nops(1, PATCH_KEPT_MAX + 1, PATCH_KEPT_MAX + 1).known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_rows_by_an_address),
        cmocka_unit_test(test_malformed_rows),
        cmocka_unit_test(test_limits_of_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
