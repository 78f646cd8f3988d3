/* Tests of isa/x86/x86_glance.h: whatever it knows of an instruction, the decoder says, too, which reads prefixes and
 * operands one after the other. */
#include <string.h>

#include "check.h"
#include "isa/x86/x86_decode.h"
#include "isa/x86/x86_glance.h"

enum {
    BYTES = X86_INSN_BYTES,
    SLOW = BYTES - 1 /* with fewer bytes than the longest instruction has, the decoder takes no glance */
};

static unsigned known, all;

static void compare_branch(const x86_insn *insn, unsigned of)
{
    const x86_kind kind = of & X86_GLANCE_CALL ? X86_CALL : of & X86_GLANCE_JUMP ? X86_JUMP : X86_COND;
    assert_int_equal(insn->kind, kind);
    assert_int_equal(insn->rel_size, of & X86_GLANCE_IMMEDIATE);
    assert_int_equal(insn->rel_at + insn->rel_size, insn->length);
    assert_false(insn->disputed);
}

static void compare(const uint8_t *code)
{
    unsigned of;
    const unsigned length = x86_glance(code, &of);
    x86_insn slow, quick;
    const bool valid = x86_decode(code, SLOW, &slow);
    all++;
    known += !(of & X86_GLANCE_UNKNOWN);
    if (!(of & X86_GLANCE_UNKNOWN)) {
        assert_true(valid || of & X86_GLANCE_SPOT);
        assert_true(!valid || slow.length == length);
        assert_true(of & X86_GLANCE_SPOT || slow.kind == X86_OTHER);
        if (of & X86_GLANCE_RELATIVE)
            compare_branch(&slow, of);
    }
    assert_int_equal(x86_decode(code, BYTES, &quick), valid);
    if (valid)
        assert_memory_equal(&quick, &slow, sizeof slow);
}

/* All opcodes behind some first bytes, with all ModRM, and SIB with and without a displacement. */
static void compare_all(const uint8_t *first, size_t n)
{
    uint8_t code[BYTES] = {0};
    memcpy(code, first, n);
    memset(code + n, 0x11, BYTES - n);
    for (unsigned op = 0; op < 256; op++)
        for (unsigned modrm = 0; modrm < 256; modrm++)
            for (unsigned sib = 0x24; sib < 0x26; sib++) {
                code[n] = (uint8_t)op;
                code[n + 1] = (uint8_t)modrm;
                code[n + 2] = (uint8_t)sib;
                compare(code);
            }
}

static void test_same_as_the_decoder(void **state)
{
    static const uint8_t prefix[] = {0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf0, 0xf2, 0xf3};
    static const uint8_t rex[] = {0x40, 0x41, 0x44, 0x48, 0x4f};
    known = all = 0;
    for (unsigned escape = 0; escape < 2; escape++) {
        uint8_t first[3] = {0x0f};
        compare_all(first, escape);
        for (unsigned p = 0; p < sizeof prefix; p++) {
            memcpy(first, (uint8_t[]){prefix[p], 0x0f}, 2);
            compare_all(first, 1 + escape);
            memcpy(first, (uint8_t[]){prefix[p], 0x48, 0x0f}, 3);
            compare_all(first, 2 + escape);
        }
        for (unsigned r = 0; r < sizeof rex; r++) {
            memcpy(first, (uint8_t[]){rex[r], 0x0f}, 2);
            compare_all(first, 1 + escape);
        }
    }
    assert_true(known > all / 2);
}

/* Of what code is made of, nothing needs the decoder. */
static void test_usual_instructions(void **state)
{
    static const struct {
        uint8_t byte[8];
        unsigned length, of;
    } usual[] = {{{0x55}, 1, 0},
                 {{0x41, 0x57}, 2, 0},
                 {{0x48, 0x89, 0xe5}, 3, 0},
                 {{0x8b, 0x04, 0x25, 0, 0x10, 0, 0}, 7, 0},
                 {{0x48, 0x8b, 0x44, 0x24, 8}, 5, 0},
                 {{0xc7, 0x45, 0xfc, 0, 0, 0, 0}, 7, 0},
                 {{0xf6, 0xc1, 1}, 3, 0},
                 {{0xf7, 0xd9}, 2, 0},
                 {{0x66, 0x81, 0xc1, 0x34, 0x12}, 5, 0},
                 {{0x75, 2}, 2, X86_GLANCE_RELATIVE},
                 {{0x0f, 0x84, 0, 1, 0, 0}, 6, X86_GLANCE_RELATIVE},
                 {{0xe8, 0, 1, 0, 0}, 5, X86_GLANCE_RELATIVE | X86_GLANCE_CALL},
                 {{0xe9, 0, 1, 0, 0}, 5, X86_GLANCE_RELATIVE | X86_GLANCE_JUMP},
                 {{0xeb, 2}, 2, X86_GLANCE_RELATIVE | X86_GLANCE_JUMP},
                 {{0xc3}, 1, X86_GLANCE_SPOT},
                 {{0xff, 0xe0}, 2, X86_GLANCE_SPOT}};
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++) {
        uint8_t code[BYTES] = {0};
        unsigned of;
        memcpy(code, usual[i].byte, sizeof usual[i].byte);
        assert_int_equal(x86_glance(code, &of), usual[i].length);
        assert_int_equal(of & (X86_GLANCE_RELATIVE | X86_GLANCE_CALL | X86_GLANCE_JUMP | X86_GLANCE_UNKNOWN),
                         usual[i].of & ~(unsigned)X86_GLANCE_SPOT);
        assert_true(!usual[i].of == !(of & X86_GLANCE_SPOT));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_as_the_decoder),
                                       cmocka_unit_test(test_usual_instructions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
