/* More rules of format/xtrace/xtrace_check.h: handlers of signals, and how many exclusive stores are remembered. */
#include "snapshot_fixture.h"

#include "format/xtrace/xtrace_check.h"
#include "make_xtrace.h"

enum { NOP = 0xd503201fu, RET = 0xd65f03c0u, BLR_X3 = 0xd63f0060u, SVC = 0xd4000001u, STXR = 0xc8007c20u };
#define PC 0x400000u

#define B(words)   (0x14000000u | ((uint32_t)(words)&0x3ffffffu))
#define CBZ(words) (0xb4000000u | ((uint32_t)(words)&0x7ffffu) << 5)

/* Checks a stream and frees it. */
static void expect_stream(made_stream *s, const told *expected, size_t n)
{
    tl_input *in;
    tl_trace t;
    tl_trace_init(&t);
    assert_int_equal(tl_input_open_memory(&in, s->data, s->n, "made", NULL), 0);
    assert_int_equal(xtrace_check_stream(in, &t, NULL, NULL, false, NULL), 0);
    tl_input_close(in);
    expect_told(&t, expected, n);
    tl_trace_fini(&t);
    free(s->data);
}

/* The kernel puts a handler between two instructions, and continues after the handler's SVC where it was: the entry is
 * reported, once, and the return is not. */
static void test_signal_handlers(void **state)
{
    static const uint32_t interrupted[] = {NOP, B(1000), CBZ(100), BLR_X3};
    enum { HANDLER = 0x500000, TRAMPOLINE = 0x600000 };
    for (size_t i = 0; i < TL_COUNT(interrupted); i++)
        for (int nested = 0; nested < 2; nested++) {
            made_stream s = {0};
            told expected[2] = {{13, "xtrace.pc-chain"}, {0}};
            made_pcinst(&s, 0, PC, interrupted[i]);
            if (interrupted[i] == BLR_X3) {
                made_value(&s, XTRACE_TARGET, PC + 4000);
                expected[0].rule = "xtrace.target";
            }
            made_pcinst(&s, 0, HANDLER, NOP);
            if (nested) {
                expected[1] = (told){s.n, "xtrace.pc-chain"};
                made_pcinst(&s, 0, HANDLER + 0x1000, SVC);
                made_pcinst(&s, 0, HANDLER + 4, NOP);
            }
            made_inst(&s, 0, RET);
            made_value(&s, XTRACE_TARGET, TRAMPOLINE);
            made_pcinst(&s, 0, TRAMPOLINE, NOP);
            made_inst(&s, 0, SVC);
            made_value(&s, XTRACE_SVC_ARG, 139); /* rt_sigreturn */
            made_pcinst(&s, 0, interrupted[i] == NOP ? PC + 4 : PC + 4000, NOP);
            expect_stream(&s, expected, (size_t)nested + 1);
        }
}

/* As many stores as are remembered fail one by one; with one more, everything is forgotten. */
static void test_many_exclusive_stores(void **state)
{
    for (unsigned n = 64; n < 66; n++) {
        made_stream s = {0};
        made_pcinst(&s, 0, PC, NOP);
        made_access(&s, true, 0x1000, 3, 1);
        made_inst(&s, 0, STXR);
        for (unsigned i = 0; i < n; i++)
            made_access(&s, true, 0x2000 + i, 0, 1);
        made_value(&s, XTRACE_STXR, 1);
        const told other = {s.n, "xtrace.shadow"};
        made_access(&s, false, 0x1000, 3, 9);
        made_access(&s, false, 0x2000 + n - 1, 0, 2);
        expect_stream(&s, &other, n == 64);
    }
}

/* All registers say that an exception or a signal came: anything may follow, once, and memory may be other. */
static void test_all_registers(void **state)
{
    static const uint32_t interrupted[] = {NOP, B(1000), CBZ(100), BLR_X3};
    for (size_t i = 0; i < TL_COUNT(interrupted); i++)
        for (int pc_is_next = 0; pc_is_next < 2; pc_is_next++) {
            const uint64_t handler = pc_is_next ? PC + 4 : 0x500000;
            made_stream s = {0};
            made_pcinst(&s, 0, PC, interrupted[i]);
            made_access(&s, true, 0x1000, 3, 1);
            if (interrupted[i] == BLR_X3)
                made_value(&s, XTRACE_TARGET, PC + 4000);
            made_registers(&s, 0);
            made_value(&s, XTRACE_FLAGS, 0);
            made_pcinst(&s, 0, handler, NOP);
            made_access(&s, false, 0x1000, 3, 2);
            made_inst(&s, 0, NOP);
            const told expected[2] = {{s.n, "xtrace.shadow"}, {s.n + XTRACE_MEM_HEAD + 8, "xtrace.pc-chain"}};
            made_access(&s, false, 0x1000, 3, 3);
            made_pcinst(&s, 0, 0x600000, NOP);
            expect_stream(&s, expected, 2);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_signal_handlers),
        cmocka_unit_test(test_all_registers),
        cmocka_unit_test(test_many_exclusive_stores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
