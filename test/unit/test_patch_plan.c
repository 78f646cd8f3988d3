/* Tests of patch/patch_plan.h: each rule about what is a function, a fragment and a site, by code that is written here
 * byte by byte. What objdump says of programs of this machine is compared in test/patch/plan_compare.py. */
#include "patch_plan_fixture.h"

static void test_entries_and_ends(void **state)
{
    PLAN("ok E0.1* R2.1", {.code = "55 5d c3"});
    PLAN("ok E4.1* R6.1", {.code = "f3 0f 1e fa 53 5b c3"});
    PLAN("ok R0.1*", RET);
    PLAN("ok R4.1*", {.code = "f3 0f 1e fa c3"});
    PLAN("ok E0.1* R2.2 R4.3", {.code = "53 5b f3 c3 c2 08 00"});
    PLAN("ok E0.5* R5.1, ok R0.1*", {.code = "e8 >1 c3"}, RET); /* a call */
    PLAN("ok E0.2*", {.code = "0f 0b"});                        /* it never returns */
}

static void test_tail_calls(void **state)
{
    PLAN("ok E0.1* T2.5>1, ok R0.1*", {.code = "53 5b e9 >1"}, RET);
    PLAN("ok E0.2* T2.6>1 R8.1, ok R0.1*", {.code = "85 ff 0f 84 >1 c3"}, RET);
    PLAN("ok T0.5>1*, ok R0.1*", {.code = "e9 >1"}, RET);
    PLAN("ok E0.1* T2.5>1+4, ok R4.1*", {.code = "53 5b e9 >1+4"}, {.code = "f3 0f 1e fa c3"});
    PLAN("ok E0.1* T2.5>7", {.code = "53 5b e9 >7"}, {0}, {0}, {0}, {0}, {0}, {0}, {.code = "", .hole = true});
    PLAN("ok E0.1* T1.2>0+4 R3.1", {.code = "53 74 01 c3"}); /* what follows is not the function */
    PLAN("ok T0.5>1*, linkage", {.code = "e9 >1"}, {.code = "ff 25 00 00 00 00"});
    PLAN("ok T0.5>1+6*, linkage", {.code = "e9 >1+6"},
         {.code = "ff 35 00 00 00 00 ff 25 00 00 00 00", .rules = "0e 10"}); /* PLT */
}

static void test_jumps_to_the_own_begin(void **state)
{
    PLAN("ok E0.1* S3.6>0 Ra.1", {.code = "53 85 ff 0f 85 >0 5b c3"});
    PLAN("ok E4.1* S7.6>0+4 S10.5>0", {.code = "f3 0f 1e fa 53 85 ff 0f 84 >0+4 5b 90 90 e9 >0"});
    PLAN("ok E0.1* R6.1/2", {.code = "53 ff c8 75 fc 5b c3 90"}); /* behind the begin: a loop */
    PLAN("no-room", {.code = "eb fe"});
    PLAN("no-room", {.code = "0f 84 >0 c3"});
    PLAN("ok E0.5/6* R6.1", {.code = "e9 >0+6 90 c3"}); /* an entry that jumps within */
}

static void test_dead_bytes(void **state)
{
    PLAN("ok R0.1/5* R5.1", {.code = "c3 90 66 90 cc c3"});
    PLAN("ok E0.2* R2.1/2 R5.1", {.code = "74 02 c3 90 90 c3"}); /* a branch to the second nop */
    PLAN("ok E0.2* R2.1", {.code = "0f 05 c3 0f 0b"});
    PLAN("ok tables I0.2/4* R4.1", {.code = "ff e0 66 90 c3"});
    PLAN("ok E0.6* T6.5/9>1, ok R0.1*", {.code = "0f 85 >0+6 e9 >1 0f 1f 40 00"}, RET);
    PLAN("ok E0.1* R6.1", {.code = "53 e8 >1 c3"}, {.code = "90", .hole = true});
    t.filler = 0xcc;
    PLAN("ok R0.1/255*, ok R0.1/16*", RET, RET);
    t.filler = 0x90;
    PLAN("ok R0.1/32*, ok R0.1/16*", {.code = "c3", .at = 0xf0}, {.code = "c3", .at = 0x10});
}

/* Code without an entry may begin with a nop, at a multiple of 16. */
static void test_dead_bytes_before_unknown_code(void **state)
{
    t.filler = 0x90;
    PLAN("ok R0.1/16*", RET, {.code = "53 c3", .hole = true});
    t.filler = 0xcc;
    PLAN("ok R0.1/9*", {.code = "c3", .at = 0xf7}, {.code = "53 c3", .hole = true});
    t.filler = 0x90;
    PLAN("ok R0.1/8*, ok T0.5/16>0+f8*", {.code = "c3", .at = 0xf0},
         {.code = "e9 >0+8", .at = 0x80}); /* called by a jump */
}

static void test_nops_where_a_function_begins(void **state)
{
    PLAN("ok E0.5* R6.1", {.code = "0f 1f 44 00 00 53 c3"});
    PLAN("ok E0.5* R6.1", {.code = "90 90 90 90 90 90 c3"});
    PLAN("ok E0.6* R6.1", {.code = "0f 1f 40 00 66 90 c3"});
    PLAN("ok E0.2* R2.1", {.code = "90 90 c3"});
    PLAN("ok E0.2* R7.1", {.code = "90 90 90 90 90 eb fb c3"}); /* a branch to the third */
    PLAN("ok E4.5* R9.1", {.code = "f3 0f 1e fa 90 90 90 90 90 c3"});
    /* all but endbr64 */
    PLAN("ok E0.5* R5.1", {.code = "0f 1f 40 fa 90 c3"});
    PLAN("ok E0.4* R5.1", {.code = "f3 0f 1e fb 53 c3"});
    PLAN("ok E0.4* R5.1", {.code = "66 0f 1e fa 53 c3"});
    PLAN("ok E0.4* R5.1", {.code = "f3 0f 1f fa 53 c3"});
    PLAN("ok late E0.2*, ok E0.3* R3.1", {.code = "90 90", .at = 0xfe}, {.code = "90 90 90 c3"});
}

static void test_indirect_jumps(void **state)
{
    PLAN("ok tables I0.2*", {.code = "ff e0"});
    PLAN("ok tables E0.1* R3.1", {.code = "53 ff e0 c3", .rules = PUSH});
    PLAN("ok tables E0.1* I2.2", {.code = "53 5b ff e0", .rules = "41 0e 10 41 0e 08"});
    PLAN("ok tables E0.1* R3.1", {.code = "53 ff e0 c3", .rules = "41 0f 03 77 08 06"}); /* an expression */
    PLAN("ok tables I0.7* R7.1", {.code = "ff 24 fd 00 10 40 00 c3"});                   /* a table, not one place */
    PLAN("linkage", {.code = "ff 25 00 00 00 00"});
    PLAN("linkage", {.code = "f3 0f 1e fa f2 ff 25 00 00 00 00 c3"});
    PLAN("linkage", {.code = "ff 24 25 00 10 40 00 c3"});
}

static void test_fragments(void **state)
{
    const range parent = {.code = "53 85 ff 0f 84 >1 5b c3", .rules = PUSH};
    PLAN("ok E0.1* Ra.1, part of 0", parent, {.code = "0f 0b", .rules = IN});
    PLAN("ok E0.1* Ra.1, part of 0 R1.1", parent, {.code = "5b c3", .rules = IN});
    PLAN("ok E0.1* Ra.1, part of 0", parent, {.code = "90 e9 >0+9", .rules = IN});
    PLAN("ok E0.1* Ra.1, part of 0 S0.5>0", parent, {.code = "e9 >0", .rules = IN});
    PLAN("ok E0.1* Ra.1, part of 0 T0.5>2, ok R0.1*", parent, {.code = "e9 >2", .rules = IN}, RET);
    PLAN("ok tables E0.1* Ra.1, part of 0 tables", parent, {.code = "ff e0", .rules = IN});
    PLAN("ok tables E0.1* R9.1, part of 0 tables", {.code = "53 0f 84 >1 ff e0 c3", .rules = PUSH},
         {.code = "0f 0b", .rules = IN});
    /* fragments of a fragment */
    PLAN("ok E0.1* Ra.1, part of 0, part of 0 R0.1", parent, {.code = "e9 >2", .rules = IN},
         {.code = "c3", .rules = IN});
    /* of several functions */
    PLAN("shared, part alone, shared", parent, {.code = "5b c3", .rules = IN}, {.code = "53 e9 >1", .rules = PUSH});
    PLAN("shared, part alone, shared", parent, {.code = "e9 >2+1", .rules = IN}, {.code = "53 5b c3"});
    /* the same, but it never comes back */
    const range other = {.code = "53 e9 >1", .rules = PUSH};
    PLAN("ok E0.1* Ra.1, part alone, ok E0.1*", parent, {.code = "0f 0b", .rules = IN}, other);
    PLAN("shared, part alone, shared", parent, {.code = "e9 >0+9", .rules = IN}, other);
    PLAN("shared, part alone, shared", parent, {.code = "06", .rules = IN}, other);
    PLAN("shared, part alone, shared", parent, {.code = "5b", .rules = IN}, other);
    /* landing pads, which only the unwinder jumps to */
    PLAN("ok E0.1* R2.1, part of 0", {.code = "53 5b c3"}, {.code = "90 e9 >0+1", .rules = IN});
    PLAN("ok E0.1* R2.1, part alone", {.code = "53 5b c3"}, {.code = "90 c3", .rules = IN});
    /* what is wrong with a fragment */
    PLAN("unknown at 0, part of 0", parent, {.code = "06 c3", .rules = IN});
    PLAN("open, part of 0", parent, {.code = "5b", .rules = IN});
    PLAN("entered, part of 0, ok E0.5* R5.1", parent, {.code = "5b c3", .rules = IN}, {.code = "e8 >1 c3"});
    PLAN("entered, part of 0, ok E0.5* R5.1", parent, {.code = "5b c3", .rules = IN}, {.code = "e8 >1+1 c3"});
}

/* They begin like functions, and are told by who jumps where. */
static void test_fragments_without_a_frame(void **state)
{
    const range parent = {.code = "85 ff 0f 84 >1 c3"};
    PLAN("ok E0.2* R8.1, part of 0", parent, {.code = "ff c0 e9 >0+8", .at = 8});
    PLAN("ok E0.2* R8.1, part of 0", parent, {.code = "ff c0 e9 >0+8"});
    /* called: a function that jumps into the middle of another one */
    PLAN("entered, ok E0.2* T2.5>0+8, ok E0.5* R5.1", parent, {.code = "ff c0 e9 >0+8", .at = 8}, {.code = "e8 >1 c3"});
    /* with endbr64: somebody has its address */
    PLAN("entered, ok E4.2* T6.5>0+8", parent, {.code = "f3 0f 1e fa ff c0 e9 >0+8", .at = 8});
    /* it does not jump back: a tail call */
    PLAN("ok E0.2* T2.6>1+8 R8.1, ok E0.2* R2.1", parent, {.code = "ff c0 c3", .at = 8});
    /* two begins: only where no function begins */
    const range twice = {.code = "0f 84 >1 0f 85 >1+3 c3"};
    PLAN("ok E0.6* Rc.1, part of 0 R2.1 R5.1", twice, {.code = "ff c0 c3 ff c8 c3", .at = 8});
    PLAN("ok T0.6>1* T6.6>1+3 Rc.1, entered", twice, {.code = "ff c0 c3 ff c8 c3"});
    PLAN("ok E0.6* Rc.1, part of 0", twice, {.code = "ff c0 cc ff c8 cc"}); /* no end: it makes no difference */
    /* jumped to by another one, too */
    PLAN("entered, ok E0.2* T2.5>0+8, ok T0.5>1+8*", parent, {.code = "ff c0 e9 >0+8", .at = 8}, {.code = "e9 >1"});
}

/* Both jump into the other's middle: where they lie, or which one returns, says which is the function. */
static void test_which_is_the_fragment(void **state)
{
    const range first = {.code = "ff c0 ff c8 0f 84 >1+2 c3"};
    PLAN("ok E0.2* Ra.1, part of 0", first, {.code = "ff c0 ff c8 0f 84 >0+2 0f 0b", .at = 8});
    PLAN("ok E0.2* Ra.1, part of 0", first, {.code = "ff c0 ff c8 0f 84 >0+2 0f 0b"});
    PLAN("part of 1 Ra.1, ok E0.2* Ra.1", {.code = "ff c0 ff c8 0f 84 >1+2 c3", .at = 4},
         {.code = "ff c0 ff c8 0f 84 >0+2 c3"});
    PLAN("ok E0.2* Ra.1, part of 0 R8.1", {.code = "85 ff 0f 84 >1 31 c0 c3", .at = 4},
         {.code = "ff c8 0f 84 >0+8 c3"});
    PLAN("entered, entered", first, {.code = "ff c0 ff c8 0f 84 >0+2 c3"});
    const range endless = {.code = "ff c0 ff c8 0f 84 >1+2 0f 0b"};
    PLAN("ok E0.2*, part of 0 Ra.1", endless, {.code = "ff c0 ff c8 0f 84 >0+2 c3", .at = 8});
    PLAN("entered, entered", endless, {.code = "ff c0 ff c8 0f 84 >0+2 0f 0b"});
    PLAN("ok E0.2* Ra.1, part of 0", {.code = "ff c0 ff c8 0f 84 >1+2 c3", .at = 4},
         {.code = "ff c0 ff c8 0f 84 >0+2 0f 0b", .at = 8});
}

static void test_jumps_into_the_middle(void **state)
{
    PLAN("ok T0.5>1+2*, entered", {.code = "e9 >1+2"}, {.code = "ff c0 c3"});
    PLAN("entered, entered", {.code = "53 e9 >1+2", .rules = PUSH}, {.code = "ff c0 c3"});
    PLAN("entered, ok E0.5* R5.1", {.code = "ff c0 c3"}, {.code = "e8 >0+2 c3"}); /* a call */
    PLAN("entered", {.code = "e8 >0+6 c3 90 c3"});                                /* of itself */
    PLAN("ok E0.2* S2.6>0 R8.1, ok E0.5* R5.1", {.code = "ff c0 0f 84 >0 c3"}, {.code = "e8 >0 c3"});
    PLAN("entered", {.code = "eb 01 c2 90 90 c3"});          /* of a site */
    PLAN("ok E0.2* R6.1", {.code = "74 01 f0 ff 07 90 c3"}); /* of another instruction */
}

static void test_code_that_is_not_understood(void **state)
{
    PLAN("unknown at 1, ok R0.1*", {.code = "53 06 c3"}, RET);
    PLAN("unknown at 0", {.code = "b8 01 00"});          /* goes beyond the range */
    PLAN("unknown at 0", {.code = "66 e9 00 00 00 00"}); /* processors disagree */
    PLAN("unknown at 0", {.code = "cb"});                /* a far return */
    PLAN("unknown at 0", {.code = "ff 28"});             /* a far jump */
    PLAN("unknown at 1", {.code = "53 e2 7f c3"});       /* a loop that leaves */
    PLAN("unknown at 1", {.code = "53 e3 fd c3"});       /* or goes back to the begin */
    PLAN("ok E0.1* R5.1", {.code = "53 ff c9 e2 fc c3"});
    PLAN("ok T0.5>1*, unknown at 0", {.code = "e9 >1"}, {.code = "06"});
}

static void test_open_ends(void **state)
{
    PLAN("open", {.code = "53"});
    PLAN("open", {.code = "53 c3 90 74 fd"});
    PLAN("ok E0.1* R1.1/3", {.code = "53 c3 90 90"});
    PLAN("ok E0.1*, ok R0.1*", {.code = "53 e8 >1"}, RET); /* what it calls does not return */
    PLAN("ok E0.1*", {.code = "53 ff d0 90"});
    PLAN("ok E0.1*", {.code = "53 f4"});
    PLAN("open, ok R0.1*", {.code = "53 5b", .at = 4}, RET); /* something lies between */
    /* into the next function, which is a call of that */
    PLAN("ok late E0.2* T2.6>2, ok R0.1*, ok R0.1*", {.code = "39 d1 0f 82 >2", .at = 0xf8}, RET, RET);
    PLAN("open, ok R0.1*", {.code = "53 53", .at = 0xfe, .rules = PUSH}, RET);
    PLAN("ok late E0.2* T2.6>1+2, entered", {.code = "39 d1 0f 82 >1+2", .at = 0xf8}, {.code = "ff c0 ff c8 0f 0b"});
    PLAN("ok late E0.2* R8.1, part of 0 late, ok R0.1*", {.code = "85 ff 0f 84 >1 c3"},
         {.code = "ff c0 0f 84 >0+8", .at = 0xf8}, RET);
    t.filler = 0x90;
    PLAN("ok late E0.2*, ok R0.1/16*", {.code = "39 d1", .at = 0xf8}, RET);
}

static void test_what_is_no_function(void **state)
{
    PLAN("return, ok R0.1*", {.code = "48 c7 c0 0f 00 00 00 0f 05", .signal = true}, RET);
    PLAN("start, ok R0.1*", {.code = "31 ed f4", .rules = "07 10"}, RET);
    PLAN("ok T0.5>1*, start", {.code = "e9 >1"}, {.code = "31 ed f4", .rules = "07 10"});
}

static void test_ranges_that_overlap(void **state)
{
    const range r[] = {{.code = "53 5b c3"}, {.code = "53 5b c3"}, RET};
    make_image(r, 3);
    t.frames.n -= 4;
    const size_t usual = 8;
    put_frame(&t.frames, usual, t.begin[0], 3, "");           /* twice */
    put_frame(&t.frames, usual, t.begin[1] + 1, 0x10, "");    /* overlaps */
    put_frame(&t.frames, usual, t.begin[1] + 0x11, 1, "");    /* behind it */
    put_frame(&t.frames, usual, CODE + CODE_SIZE - 1, 2, ""); /* not within the code */
    put_frame(&t.frames, usual, HEADER, 8, "");               /* no code */
    put_frame(&t.frames, usual, t.begin[2] + 5, 0, "");       /* empty */
    put_frame(&t.frames, usual, t.begin[2] + 9, 2, "");       /* two of the same begin */
    put_frame(&t.frames, usual, t.begin[2] + 9, 1, "");
    put_number(&t.frames, 4, 0);
    t.image.part[0] = image_of(&t.frames).part[0];
    assert_true(patch_plan_make(&t.plan, &t.image, &patch_x86_64, &fixture_memory, NULL, NULL, 0));
    assert_string_equal(describe(), "ok E0.1* R2.1, no-code, open, ok R0.1*, no-code, no-code, no-code");
    assert_int_equal(t.plan.function[2].size, 0x11);
    check_order();
    end_plan();
}

static void test_names(void **state)
{
    const range r[] = {{.code = "53 5b c3"}, {.code = "53 5b e9 >2"}, RET, {.code = "e9 >2"}};
    const uint64_t never[] = {CODE + 1, CODE + 7 * SLOT, 0}, enter[] = {CODE + SLOT, CODE + 3 * SLOT};
    plan_with(r, 4, &(patch_named){.never = never, .nevers = 3, .enter = enter, .enters = 2});
    assert_string_equal(describe(), "name, ok E0.1*, ok R0.1*, ok E0.5*");
    end_plan();
}

static void test_symbols(void **state)
{
    const range r[] = {{.code = "53 5b e9 >1"},
                       RET,
                       {.code = "53 ff e0"},
                       {.code = "f3 0f 1e fa c3"},
                       {.code = "53 ff 25 00 00 00 00"},
                       {.code = "53", .at = 0xff},
                       RET};
    make_image(r, 7);
    t.image.frame_header = 0;
    const patch_range
        symbol[] = {{HEADER, 1},     {t.begin[0], 7}, {t.begin[1], 1}, {t.begin[1], 1},
                    {t.begin[2], 3}, {t.begin[3], 0}, {t.begin[3], 5}, {t.begin[4], 7},
                    {t.begin[5], 1}, {t.begin[6], 1}, {t.begin[0], 1}}; /* another name of the first one */
    assert_true(patch_plan_make(&t.plan, &t.image, &patch_x86_64, &fixture_memory, NULL, symbol, 11));
    assert_false(t.plan.framed);
    assert_string_equal(describe(),
                        "ok E0.1* T2.5>1, ok R0.1*, unknown tables at 1, ok R4.1*, unknown tables at 1, open, "
                        "ok R0.1*, no-code");
    patch_plan_free(&t.plan);
    assert_false(patch_plan_make(&t.plan, &t.image, &patch_x86_64, &fixture_memory, NULL, NULL, 0));
    end_plan();
}

static void test_targets(void **state)
{
    const range r[] = {{.code = "e8 >1 74 00 c3"}, RET};
    plan_with(r, 2, NULL);
    for (uint64_t at = CODE - 1; at <= CODE + CODE_SIZE; at++)
        assert_int_equal(patch_plan_is_target(&t.plan, at), at == CODE + 7 || at == CODE + SLOT);
    assert_int_equal(patch_plan_find(&t.plan, CODE - 1), UINT32_MAX);
    assert_int_equal(patch_plan_find(&t.plan, CODE + 8), UINT32_MAX);
    end_plan();
    for (unsigned i = 0; i <= PATCH_WHYS; i++)
        assert_non_null(patch_why_text((patch_why)i));
}

/* The same code, in pieces that are executable each, in any order. */
static void test_several_parts(void **state)
{
    static const range r[] = {
        {.code = "53 5b e9 >2"}, {.code = "e8 >5+1 c3"}, {.code = "74 00 0f 84 >7 c3"},         RET, RET,
        {.code = "53 5b c3"},    {.code = "06"},         {.code = "ff c0 75 fc c3", .at = 0xfb}};
    static const char want[] = "ok E0.1* T2.5>2, ok E0.5* R5.1, ok E0.2* T2.6>7+fb R8.1, ok R0.1*, ok R0.1*, entered, "
                               "unknown at 0, ok E0.2* S2.2>7+fb R4.1";
    bool target[CODE_SIZE];
    plan_with(r, 8, NULL);
    assert_string_equal(describe(), want);
    for (unsigned i = 0; i < CODE_SIZE; i++)
        target[i] = patch_plan_is_target(&t.plan, CODE + i);
    patch_plan_free(&t.plan);

    static const struct {
        unsigned slot, slots;
    } part[] = {{4, 4}, {0, 2}, {2, 2}};
    for (unsigned i = 0; i < 3; i++)
        t.image.part[i + 1] =
            (patch_part){CODE + part[i].slot * SLOT, part[i].slots * SLOT, t.code + part[i].slot * SLOT, true};
    t.image.parts = 4;
    assert_true(patch_plan_make(&t.plan, &t.image, &patch_x86_64, &fixture_memory, NULL, NULL, 0));
    assert_string_equal(describe(), want);
    check_order();
    for (unsigned i = 0; i < CODE_SIZE; i++)
        assert_int_equal(patch_plan_is_target(&t.plan, CODE + i), target[i]);
    end_plan();
}

static void plan_aarch64(const range *r, const char *rules)
{
    make_image(r, 1);
    t.frames.n = 8;
    put_frame(&t.frames, put_common(&t.frames, "zR", "01 1b 0c 1f 00"), t.begin[0], t.size[0], rules);
    put_number(&t.frames, 4, 0);
    t.image.part[0] = image_of(&t.frames).part[0];
    assert_true(patch_plan_make(&t.plan, &t.image, &patch_aarch64, &fixture_memory, NULL, NULL, 0));
    check_order();
}

/* Code of AArch64 is sought for the same things. */
static void test_aarch64(void **state)
{
    static const struct {
        const char *code, *rules, *want;
    } cases[] = {
        {"5f 24 03 d5 3f 23 03 d5 e0 03 1f aa c0 03 5f d6", "", "ok E8.4* Rc.4"}, /* bti, paciasp, mov, ret */
        {"00 00 80 52 ff 0f 5f d6", "", "ok E0.4* R4.4"},                         /* retab */
        {"00 00 80 52 00 00 1f d6", "", "ok tables E0.4* I4.4"},
        {"ff 83 00 d1 00 00 1f d6", "44 0e 20", "ok tables E0.4*"},
        {"00 00 80 52 01 00 00 d4", "", "open"}, /* svc comes back */
        {"00 00 80 52 20 00 20 d4", "", "ok E0.4*"},
        {"1f 20 03 d5 e0 03 9f d6", "", "unknown at 4"},                            /* eret */
        {"00 00 80 52 e0 ff ff 34 c0 03 5f d6", "", "ok E0.4* S4.4>0 R8.4"},        /* cbz */
        {"00 00 80 52 40 00 00 14", "", "ok E0.4* T4.4>1+4"},                       /* b */
        {"00 00 80 52 02 00 00 94 1f 20 03 d5 c0 03 5f d6", "", "entered"},         /* bl, to the return */
        {"7f 23 03 d5 3f 20 03 d5 c0 03 5f d6 1f 20 03 d5", "", "ok E4.4* R8.4/8"}, /* pacibsp, yield, nop */
        {"00 00 80 52 00 00 00 00", "", "ok E0.4*"},                                /* udf */
        {"00 00 80 52 c0 03 5f", "", "unknown at 4"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        plan_aarch64(&(range){.code = cases[i].code}, cases[i].rules);
        assert_string_equal(describe(), cases[i].want);
        end_plan();
    }
    plan_aarch64(&(range){.code = "c0 03 5f d6", .at = 2}, "");
    assert_string_equal(describe(), "unknown at 0");
    end_plan();
}

static unsigned left, taken;

static void *scarce_take(size_t n)
{
    if (left == 0)
        return NULL;
    left--;
    taken++;
    return fixture_take(n);
}

static void *scarce_grow(void *p, size_t from, size_t to)
{
    if (left == 0)
        return NULL;
    left--;
    return fixture_grow(p, from, to);
}

static void scarce_give(void *p, size_t n)
{
    taken--;
    fixture_give(p, n);
}

static void test_memory_that_ends(void **state)
{
    static const patch_memory scarce = {scarce_take, scarce_give, scarce_grow, scarce_take};
    range r[] = {{.code = "53 5b c3"}, RET, RET, {.code = "c3", .at = 1}};
    unsigned n = 0;
    make_image(r, 4);
    t.frames.n -= 4;
    put_frame(&t.frames, 8, CODE + 5 * SLOT, 200, "");
    memset(t.code + 5 * SLOT, 0xc3, 200);
    for (unsigned i = 0; i < 50; i++)
        put_frame(&t.frames, 8, CODE + 6 * SLOT - i, 1, ""); /* from the last one: they must be sorted */
    put_number(&t.frames, 4, 0);
    t.image.part[0] = image_of(&t.frames).part[0];
    do {
        left = n++;
        taken = 0;
        if (patch_plan_make(&t.plan, &t.image, &patch_x86_64, &scarce, NULL, NULL, 0))
            break;
        assert_int_equal(taken, 0);
    } while (n < 100);
    assert_in_range(n, 7, 99);
    assert_int_equal(t.plan.functions, 1 + 4 + 1 + 50); /* all of them, and the empty one */
    assert_true(t.plan.sites > 200 && taken > 0);
    patch_plan_free(&t.plan);
    assert_int_equal(taken, 0);
    free(t.frames.at);
}

static void test_limit_of_functions(void **state)
{
    const uint32_t n = PATCH_FUNCTIONS_MAX + 1;
    uint8_t *code = malloc(n);
    assert_non_null(code);
    memset(code, 0xc3, n);
    t.frames = begin_frames();
    const size_t usual = put_usual_common(&t.frames);
    for (uint32_t i = 0; i < n; i++)
        put_frame(&t.frames, usual, CODE + i, 1, "");
    put_number(&t.frames, 4, 0);
    patch_image image = image_of(&t.frames);
    image.part[image.parts++] = (patch_part){CODE + 0, n, code, true};
    image.part[0].address = image.frame_header = HEADER;
    for (uint32_t more = 0; more < 2; more++) {
        image.part[1].size = n;
        if (!more) /* without the last one */
            set_number(&t.frames, t.frames.n - 4 - 17, 4, 0);
        else
            set_number(&t.frames, t.frames.n - 4 - 17, 4, 13);
        assert_true(patch_plan_make(&t.plan, &image, &patch_x86_64, &fixture_memory, NULL, NULL, 0));
        assert_int_equal(t.plan.functions, PATCH_FUNCTIONS_MAX + 1); /* with the empty one */
        assert_int_equal(t.plan.beyond, more);
        patch_plan_free(&t.plan);
    }
    free(t.frames.at);
    free(code);
}

static void test_limit_of_sites(void **state)
{
    const uint32_t n = PATCH_SITES_MAX + 1;
    uint8_t *code = malloc(n);
    assert_non_null(code);
    memset(code, 0xc3, n);
    for (uint32_t more = 0; more < 2; more++) {
        t.frames = begin_frames();
        const size_t usual = put_usual_common(&t.frames);
        put_frame(&t.frames, usual, CODE, 1, "");
        put_frame(&t.frames, usual, CODE + 1, n - 2 + more, "");
        put_number(&t.frames, 4, 0);
        patch_image image = image_of(&t.frames);
        image.part[image.parts++] = (patch_part){CODE, n, code, true};
        image.part[0].address = image.frame_header = HEADER;
        assert_true(patch_plan_make(&t.plan, &image, &patch_x86_64, &fixture_memory, NULL, NULL, 0));
        assert_int_equal(t.plan.sites, more ? 1 : PATCH_SITES_MAX);
        assert_int_equal(t.plan.function[2].why, more ? PATCH_BEYOND : PATCH_OK);
        patch_plan_free(&t.plan);
        free(t.frames.at);
    }
    free(code);
}

static int setup(void **state)
{
    t.filler = 0xf8;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_entries_and_ends),
        cmocka_unit_test(test_tail_calls),
        cmocka_unit_test(test_jumps_to_the_own_begin),
        cmocka_unit_test(test_dead_bytes),
        cmocka_unit_test(test_dead_bytes_before_unknown_code),
        cmocka_unit_test(test_nops_where_a_function_begins),
        cmocka_unit_test(test_indirect_jumps),
        cmocka_unit_test(test_fragments),
        cmocka_unit_test(test_fragments_without_a_frame),
        cmocka_unit_test(test_which_is_the_fragment),
        cmocka_unit_test(test_jumps_into_the_middle),
        cmocka_unit_test(test_code_that_is_not_understood),
        cmocka_unit_test(test_open_ends),
        cmocka_unit_test(test_what_is_no_function),
        cmocka_unit_test(test_ranges_that_overlap),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_symbols),
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_several_parts),
        cmocka_unit_test(test_aarch64),
        cmocka_unit_test(test_memory_that_ends),
        cmocka_unit_test(test_limit_of_functions),
        cmocka_unit_test(test_limit_of_sites),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
