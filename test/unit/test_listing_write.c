/* The listing of instructions: layout, additions to an instruction, several tracks, continued lines, names. */
#include "listing_fixture.h"

static void test_columns(void **state)
{
    fixture f;
    start(&f, &tl_format_listing, 1);
    put(&f, IN, 0, 0, 0x400580, NOP);
    put(&f, IN, 0, 1, 0xffff800010080400, NOP | UINT64_C(1) << 32);
    put(&f, IN, 0, 2, 0, NOP | TL_INSN_NO_PC);
    put(&f, IN, 0, 9, 0, 0x14000004 | TL_INSN_NO_PC);
    put(&f, IN, 0, 10, 0, 0x14000004); /* at 0, which is known */
    put(&f, IN, 0, 99, 0x400584, 0x38e28020 | UINT64_C(3) << 32);
    put(&f, IN, 0, 100, 0x400588, RETURN);
    put(&f, IN, 0, 999999999, 0x400588, RETURN);
    put(&f, IN, 0, 1000000000, 0x400588, RETURN);
    put(&f, IN, 0, 1000000001, 0x400588, RETURN);
    put(&f, IN, 0, UINT64_MAX, 0x400588, RETURN);
    put(&f, IN, 0, 0, 0x400588, RETURN);
    fixture_expect(&f, "        0               0x400580  d503201f  nop\n"
                       "        1 el1 0xffff800010080400  d503201f  nop\n"
                       "        2                      -  d503201f  nop\n"
                       "        9                      -  14000004  b       #16\n"
                       "       10                    0x0  14000004  b       0x10\n"
                       "       99 el3           0x400584  38e28020  swpalb  w2, w0, [x1]\n"
                       "      100               0x400588  d65f03c0  ret\n"
                       "999999999               0x400588  d65f03c0  ret\n"
                       "1000000000               0x400588  d65f03c0  ret\n"
                       "1000000001               0x400588  d65f03c0  ret\n"
                       "18446744073709551615               0x400588  d65f03c0  ret\n"
                       "        0               0x400588  d65f03c0  ret\n");
}

/* Every number, whichever digits change. */
static void test_numbers(void **state)
{
    fixture f;
    char line[32];
    start(&f, &tl_format_listing, 1);
    for (uint64_t i = 0; i < 12000; i++)
        put(&f, IN, 0, 99995000 + i, 0x400580, NOP);
    fixture_finish(&f);
    const char *p = (char *)f.bytes;
    for (unsigned i = 0; i < 12000; i++) {
        snprintf(line, sizeof line, "%9u  ", 99995000 + i);
        assert_memory_equal(p, line, 11);
        p = strchr(p, '\n') + 1;
    }
    assert_true(*p == '\0');
    fixture_fini(&f);
}

static void test_details(void **state)
{
    fixture f;
    start(&f, &tl_format_listing, 1);
    put(&f, IN, 0, 0, 0x1000, LDR);
    put(&f, LD, 0, 0, 0x7ffff0, 8);
    put(&f, LD, 0, 0, 0x7ffff8, 1);
    put(&f, IN, 0, 1, 0x1004, 0xa9bf7bfd);
    put(&f, ORDER, 0, 1, 12, 0);
    put(&f, ST, 0, 1, 0x7ffff0, 32768);
    put(&f, IN, 0, 2, 0x1008, 0xc8027c20);
    put(&f, XR, 0, 2, 0, 0);
    put(&f, XR, 0, 2, 1, 0);
    put(&f, IN, 0, 3, 0x100c, 0xd53bd040);
    put(&f, SYS, 0, 3, 0x7f00, 0);
    put(&f, FLAGS, 0, 3, 0x60000000, 0);
    put(&f, FLAGS, 0, 3, 0x60000001, 0);
    put(&f, IN, 0, 4, 0x1010, 0xd50b7420);
    put(&f, CACHE, 0, 4, 0x4000, 0);
    put(&f, OTHER, 0, 4, 5, 0);
    put(&f, IN, 0, 5, 0x1014, RETURN);
    put(&f, TARGET, 0, 5, 0x400900, 0);
    fixture_expect(
        &f,
        "        0                 0x1000  f9400420  ldr     x0, [x1, #8]            [0x7ffff0 -> 8 bytes] [0x7ffff8 "
        "-> 1 byte]\n"
        "        1                 0x1004  a9bf7bfd  stp     x29, x30, [sp, #-16]!   @12 [0x7ffff0 <- 32768 bytes]\n"
        "        2                 0x1008  c8027c20  stxr    w2, x0, [x1]            stored not stored\n"
        "        3                 0x100c  d53bd040  mrs     x0, TPIDR_EL0           = 0x7f00 flags nZCv flags "
        "0x60000001\n"
        "        4                 0x1010  d50b7420  dc      zva, x0                 at 0x4000 other 0x5\n"
        "        5                 0x1014  d65f03c0  ret                             -> 0x400900\n");
}

static void test_calls(void **state)
{
    fixture f;
    start(&f, &tl_format_listing, 1);
    put(&f, IN, 0, 0, 0x1000, SVC);
    put(&f, ARG, 0, 0, 64, 0);
    put(&f, ARG, 0, 0, 1, 0);
    put(&f, ARG, 0, 0, 0x4000, 0);
    put(&f, VEC, 0, 0, 0, 0);
    put(&f, RET, 0, 0, 12, 0);
    put(&f, IN, 0, 1, 0x1004, SVC);
    put(&f, ARG, 0, 1, 57, 0);
    put(&f, RET, 0, 1, (uint64_t)-4095, 0);
    put(&f, IN, 0, 2, 0x1008, SVC);
    put(&f, ARG, 0, 2, 214, 0);
    put(&f, RET, 0, 2, (uint64_t)-4096, 0);
    put(&f, IN, 0, 3, 0x100c, NOP); /* the kernel went on for a while */
    put(&f, RET, 0, 3, 0, 0);
    fixture_expect(
        &f,
        "        0                 0x1000  d4000001  svc     #0                      syscall 64: 0x1, 0x4000 buffers = "
        "0xc\n"
        "        1                 0x1004  d4000001  svc     #0                      syscall 57 = -4095\n"
        "        2                 0x1008  d4000001  svc     #0                      syscall 214 = "
        "0xfffffffffffff000\n"
        "        3                 0x100c  d503201f  nop                             returns 0x0\n");
}

/* Registers and losses have lines of their own, and more of the same instruction continues after its number. */
static void test_own_lines(void **state)
{
    fixture f;
    start(&f, &tl_format_listing, 1);
    put(&f, ORDER, 0, 0, 7, 0); /* before the first instruction */
    put(&f, SNAP, 0, 0, 0, 0);
    put(&f, IN, 0, 0, 0x1000, LDR);
    put(&f, ALL, 0, 0, 0, 0);
    put(&f, LD, 0, 0, 0x20, 4);
    put(&f, LD, 0, 0, 0x24, 4);
    put(&f, LOST, 0, 1, 0, 0);
    put(&f, IN, 0, 1, 0x1004, NOP);
    fixture_expect(&f, "        0" BLANK "@7\n"
                       "        0  -- snapshot\n"
                       "        0                 0x1000  f9400420  ldr     x0, [x1, #8]\n"
                       "        0  -- all\n"
                       "        0" BLANK "[0x20 -> 4 bytes] [0x24 -> 4 bytes]\n"
                       "        1  -- lost\n"
                       "        1                 0x1004  d503201f  nop\n");
}

/* Names of tracks are padded to the widest, and cannot drive a terminal; an interrupted line continues with its
 * number. */
static void test_tracks(void **state)
{
    fixture f;
    start(&f, &tl_format_listing, 3);
    put(&f, IN, 0, 5, 0x1000, LDR);
    put(&f, IN, 1, 5, 0x1000, SVC);
    put(&f, ARG, 1, 5, 64, 0);
    put(&f, LD, 0, 5, 0x20, 4);
    put(&f, ARG, 1, 5, 1, 0);
    put(&f, IN, 2, 6, 0x1000, NOP);
    fixture_expect(
        &f, "4711                    5                 0x1000  f9400420  ldr     x0, [x1, #8]\n"
            "cpu\\x1b[2J\\xff          5                 0x1000  d4000001  svc     #0                      syscall 64\n"
            "4711                    5" BLANK "[0x20 -> 4 bytes]\n"
            "cpu\\x1b[2J\\xff          5                                                                  : 0x1\n"
            "a third                 6                 0x1000  d503201f  nop\n");
}

/* The function has a column of its own, if there are any. */
static void test_symbols(void **state)
{
    static const tl_function known[] = {
        {.id = 3, .address = 0x2000, .size = 0x100, .name = "a::very::long::name<of, a, template>(int)"},
        {.id = 1, .address = 0x1000, .size = 0x10, .name = "main"},
        {.id = 2, .address = 0x1010, .size = 4, .name = "evil\x1b\xc3\xa9"},
        {.id = 4, .address = 0x3000, .size = 0x10}, /* no name */
        {.id = 5, .address = 0x4000, .name = "of no known size"},
        {.id = 6,
         .address = 0x5000,
         .size = UINT64_MAX,
         .name = "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
                 "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
                 "\xc3\xa9\xc3\xa9\xc3\xa9"},
    };
    fixture f;
    functions = known;
    nfunction = TL_COUNT(known);
    start(&f, &tl_format_listing, 1);
    nfunction = 0;
    static const uint64_t pc[] = {0xffc,  0x1000, 0x100c, 0x1010, 0x1014, 0x2000,
                                  0x20fc, 0x2100, 0x3000, 0x4000, 0x5000, 0x6000};
    for (unsigned i = 0; i < TL_COUNT(pc); i++)
        put(&f, IN, 0, i, pc[i], NOP);
    put(&f, IN, 0, 12, 0, LDR | TL_INSN_NO_PC);
    put(&f, LD, 0, 12, 0x20, 4);
    put(&f, LOST, 0, 12, 0, 0);
    put(&f, LD, 0, 12, 0x20, 4);
    fixture_expect(
        &f,
        "        0                  0xffc                                    d503201f  nop\n"
        "        1                 0x1000  main                              d503201f  nop\n"
        "        2                 0x100c  main+0xc                          d503201f  nop\n"
        "        3                 0x1010  evil\\x1b\xc3\xa9                        d503201f  nop\n"
        "        4                 0x1014                                    d503201f  nop\n"
        "        5                 0x2000  a::very::long::name<of, a, te...  d503201f  nop\n"
        "        6                 0x20fc  a::very::long::name<of, ...+0xfc  d503201f  nop\n"
        "        7                 0x2100                                    d503201f  nop\n"
        "        8                 0x3000                                    d503201f  nop\n"
        "        9                 0x4000                                    d503201f  nop\n"
        "       10                 0x5000  \xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
        "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9...   d503201f  nop\n"
        "       11                 0x6000  \xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
        "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9...+0x1000  d503201f  nop\n"
        "       12                      -                                    f9400420  ldr     x0, [x1, #8]            "
        "[0x20 -> 4 bytes]\n"
        "       12  -- lost\n"
        "       12                                                                                                     "
        "[0x20 -> 4 bytes]\n");
}

/* A batch does not end a line. */
static void test_batches(void **state)
{
    fixture f;
    start(&f, &tl_format_listing, 1);
    put(&f, IN, 0, 0, 0x1000, LDR);
    fixture_flush(&f);
    put(&f, LD, 0, 0, 0x20, 4);
    fixture_flush(&f);
    fixture_flush(&f);
    put(&f, IN, 0, 1, 0x1004, NOP);
    fixture_expect(&f, "        0                 0x1000  f9400420  ldr     x0, [x1, #8]            [0x20 -> 4 bytes]\n"
                       "        1                 0x1004  d503201f  nop\n");
}

static void test_no_events(void **state)
{
    fixture f;
    start(&f, &tl_format_listing, 1);
    fixture_expect(&f, "");
    start(&f, &tl_format_listing, 0);
    fixture_expect(&f, "");
}

/* Lines are kept by place: another opcode or level there makes another line, and so do places that share a slot. */
static void test_kept_lines(void **state)
{
    enum { PLACES = 7, SHARED = 65536 * 4 };
    static const uint32_t op[PLACES] = {NOP, LDR, SVC, RETURN, 0xd4200020, 0x14000004, 0x8b020020};
    static const char *const text[PLACES] = {"nop",          "ldr     x0, [x1, #8]", "svc     #0",        "ret",
                                             "brk     #0x1", "b       0x",           "add     x0, x1, x2"};
    fixture f;
    start(&f, &tl_format_listing, 1);
    for (unsigned round = 0; round < 100; round++)
        for (unsigned i = 0; i < PLACES; i++)
            put(&f, IN, 0, round * PLACES + i, 0x1000 + (uint64_t)SHARED * ((i * 3 + round) % 11),
                op[i] | (uint64_t)(round % 4) << 32);
    fixture_finish(&f);
    const char *p = (char *)f.bytes;
    char line[96];
    for (unsigned k = 0; k < 100 * PLACES; k++) {
        const unsigned round = k / PLACES, i = k % PLACES;
        const uint64_t pc = 0x1000 + (uint64_t)SHARED * ((i * 3 + round) % 11);
        char level[8] = "    ", place[24];
        if (round % 4)
            snprintf(level, sizeof level, " el%u", round % 4);
        snprintf(place, sizeof place, "0x%llx", (unsigned long long)pc);
        const int n = snprintf(line, sizeof line, "%9u%s %18s  %08x  %s", k, level, place, (unsigned)op[i], text[i]);
        assert_memory_equal(p, line, (size_t)n);
        if (op[i] == 0x14000004) {
            assert_int_equal(strtoull(p + n, NULL, 16), pc + 16);
            p = strchr(p, '\n') + 1;
        } else {
            assert_true(p[n] == '\n');
            p += n + 1;
        }
    }
    assert_true(*p == '\0');
    fixture_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns),    cmocka_unit_test(test_numbers),   cmocka_unit_test(test_details),
        cmocka_unit_test(test_calls),      cmocka_unit_test(test_own_lines), cmocka_unit_test(test_tracks),
        cmocka_unit_test(test_symbols),    cmocka_unit_test(test_batches),   cmocka_unit_test(test_no_events),
        cmocka_unit_test(test_kept_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
