/* The state before an instruction, replayed from the begin of a stream without snapshots. */
#include "analysis/instruction/machine_state.h"
#include "check.h"
#include "make_xtrace.h"
#include "traceloom/source.h"

#define NAME "xtrace.1.42.hint9.xinsndata.bin"

static tl_source *open_stream(const made_stream *s)
{
    tl_source *source = NULL;
    const tl_open_options o = {.want = {.fields = true, .companions = true}};
    assert_int_equal(tl_source_open_memory(&source, s->data, s->n, NAME, &o, NULL), 0);
    return source;
}

/* x0 = 5; x1 = x0 + 3; x2 from memory; x3 to memory; a system call; x4 = x0 + 1 after it. */
static made_stream make_program(void)
{
    made_stream s = {0};
    made_pcinst(&s, 0, 0x1000, 0xd28000a0); /* 0: mov x0, #5 */
    made_inst(&s, 0, 0x91000c01);           /* 1: add x1, x0, #3 */
    made_inst(&s, 0, 0xf9400522);           /* 2: ldr x2, [x9, #8] */
    made_access(&s, false, 0x2008, 3, 1);
    made_inst(&s, 0, 0xf90001a3); /* 3: str x3, [x13] */
    made_access(&s, true, 0x3000, 3, 0x40);
    made_inst(&s, 0, 0xd4000001); /* 4: svc #0 */
    for (unsigned i = 0; i < 7; i++)
        made_value(&s, XTRACE_SVC_ARG, i);
    made_value(&s, XTRACE_SVC_RET, 40);
    made_inst(&s, 0, 0x91000404); /* 5: add x4, x0, #1 */
    made_inst(&s, 0, 0xeb01001f); /* 6: cmp x0, x1 */
    made_inst(&s, 1, 0xd503201f); /* 7: nop, at another level */
    made_registers(&s, 1000);
    made_inst(&s, 1, 0xd503201f); /* 8 */
    return s;
}

static tl_machine state_at(const made_stream *s, uint64_t at)
{
    tl_machine m;
    tl_error e = {0};
    tl_source *source = open_stream(s);
    must(tl_machine_at(&m, source, NULL, at, &e), &e);
    tl_source_close(source);
    return m;
}

static bool knows(const tl_machine *m, unsigned n, uint64_t value)
{
    return (m->registers.known >> n & 1) && m->registers.x[n] == value;
}

static void replays(void **state)
{
    made_stream s = make_program();
    tl_machine m = state_at(&s, 0);
    assert_true(m.has_next && m.has_pc && m.pc == 0x1000 && m.opcode == 0xd28000a0);
    assert_int_equal(m.registers.known, 0);
    assert_false(m.has_snapshot);
    tl_machine_fini(&m);

    m = state_at(&s, 4);
    uint8_t bytes[8];
    assert_int_equal(m.pc, 0x1010);
    assert_true(knows(&m, 0, 5) && knows(&m, 1, 8) && knows(&m, 2, UINT64_C(0x0807060504030201)));
    assert_true(knows(&m, 9, 0x2000) && knows(&m, 13, 0x3000));
    assert_false(m.registers.known >> 3 & 1);
    assert_int_equal(tl_shadow_get(m.memory, 0x3000, bytes, sizeof bytes), 8);
    assert_int_equal(bytes[0], 0x40);
    tl_machine_fini(&m);

    m = state_at(&s, 7); /* the system may have changed memory */
    assert_true(knows(&m, 0, 40) && knows(&m, 4, 41) && m.registers.has_nzcv);
    assert_int_equal(m.registers.nzcv, 0x20000000);
    assert_false(tl_shadow_knows_any(m.memory, 0x3000, 8));
    assert_int_equal(m.level, 1);
    tl_machine_fini(&m);

    m = state_at(&s, 8); /* all registers were given */
    assert_true(knows(&m, 0, 1000) && knows(&m, 30, 1030) && knows(&m, 31, 1031));
    tl_machine_fini(&m);

    m = state_at(&s, 9); /* the end */
    assert_false(m.has_next);
    tl_machine_fini(&m);
    free(s.data);
}

/* All registers with flags: a signal's handler begins, and returns. Without flags they say no more. */
static void signals(void **state)
{
    made_stream s = {0};
    made_pcinst(&s, 0, 0x1000, 0xeb01001f); /* 0: cmp x0, x1 */
    made_inst(&s, 0, 0x3dc00120);           /* 1: ldr q0, [x9] */
    made_access(&s, false, 0x2000, 4, 7);
    made_registers(&s, 100);
    made_pcinst(&s, 0, 0x5000, 0xd503201f); /* 2: nop */
    made_registers(&s, 200);
    made_value(&s, XTRACE_FLAGS, 0x90000000);
    made_pcinst(&s, 0, 0x6000, 0xd4000001); /* 3: svc #0, the end of the handler */
    made_registers(&s, 300);
    made_value(&s, XTRACE_FLAGS, 0x60000000);
    made_pcinst(&s, 0, 0x1008, 0xd503201f); /* 4: nop */

    tl_machine m = state_at(&s, 2);
    assert_true(knows(&m, 5, 105) && (m.vectors & 1));
    assert_true(tl_shadow_knows_any(m.memory, 0x2000, 16));
    tl_machine_fini(&m);

    m = state_at(&s, 3);
    assert_true(knows(&m, 5, 205) && m.registers.has_nzcv && (m.vectors & 1));
    assert_int_equal(m.registers.nzcv, 0x90000000);
    assert_false(tl_shadow_knows_any(m.memory, 0x2000, 16));
    tl_machine_fini(&m);

    m = state_at(&s, 4);
    assert_true(knows(&m, 5, 305) && m.registers.has_nzcv);
    assert_int_equal(m.registers.nzcv, 0x60000000);
    assert_int_equal(m.vectors, 0);
    tl_machine_fini(&m);
    free(s.data);
}

static void refuses(void **state)
{
    made_stream s = make_program();
    tl_error e = {0};
    tl_machine m;
    tl_source *source = open_stream(&s);
    assert_int_equal(tl_machine_at(&m, source, NULL, 10, &e), TL_EINVAL);
    assert_contains(e.message, "there is no instruction 10: there are 9");
    tl_machine_fini(&m);
    const char *const glob[] = {"99"};
    const tl_select other = {.thread = glob, .nthread = 1};
    assert_true(tl_machine_at(&m, source, &other, 1, &e) < 0);
    tl_machine_fini(&m);
    tl_source_close(source);
    free(s.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(replays), cmocka_unit_test(signals), cmocka_unit_test(refuses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
