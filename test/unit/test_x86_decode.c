/* Tests of isa/x86/x86_decode.h: lengths by opcode, prefixes and ModRM, kinds, targets, and what is refused. */
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "check.h"
#include "isa/x86/x86_decode.h"

typedef struct code {
    uint8_t byte[16];
    size_t n;
} code;

static code from_hex(const char *hex)
{
    code c = {.n = 0};
    for (const char *p = hex; *p; p += strcspn(p, " "), p += strspn(p, " "))
        c.byte[c.n++] = (uint8_t)strtoul(p, NULL, 16);
    return c;
}

static void test_lengths_and_kinds(void **state)
{
    static const struct {
        const char *hex; /* all of its bytes are one instruction */
        x86_kind kind;
        const char *text;
    } cases[] = {
        {"55", X86_OTHER, "push rbp"},
        {"90", X86_NOP, "nop"},
        {"41 90", X86_OTHER, "xchg r8, rax"},
        {"f3 90", X86_OTHER, "pause"},
        {"66 2e 0f 1f 84 00 00 00 00 00", X86_NOP, "nop word cs:[rax+rax+0]"},
        {"f3 0f 1e fa", X86_NOP, "endbr64"},
        {"f3 48 0f 1e c8", X86_OTHER, "rdsspq rax"},
        {"48 83 ec 08", X86_OTHER, "sub rsp, 8"},
        {"48 81 ec 00 01 00 00", X86_OTHER, "sub rsp, 256"},
        {"66 81 c1 34 12", X86_OTHER, "add cx, 0x1234"},
        {"66 48 81 c1 34 12 00 00", X86_OTHER, "REX.W outweighs 66"},
        {"48 66 81 c1 34 12", X86_OTHER, "a REX before another prefix does not count"},
        {"48 b8 01 02 03 04 05 06 07 08", X86_OTHER, "mov rax, imm64"},
        {"b8 01 02 03 04", X86_OTHER, "mov eax, imm32"},
        {"66 b8 01 02", X86_OTHER, "mov ax, imm16"},
        {"a1 01 02 03 04 05 06 07 08", X86_OTHER, "mov eax, [moffs64]"},
        {"67 a1 01 02 03 04", X86_OTHER, "mov eax, [moffs32]"},
        {"c8 10 00 01", X86_OTHER, "enter 16, 1"},
        {"f6 c1 01", X86_OTHER, "test cl, 1"},
        {"f6 d1", X86_OTHER, "not cl"},
        {"f7 c1 01 00 00 00", X86_OTHER, "test ecx, 1"},
        {"f7 d9", X86_OTHER, "neg ecx"},
        {"8b 44 24 08", X86_OTHER, "mov eax, [rsp+8]"},
        {"8b 04 25 00 10 00 00", X86_OTHER, "mov eax, [0x1000]"},
        {"8b 84 24 00 01 00 00", X86_OTHER, "mov eax, [rsp+256]"},
        {"8f 00", X86_OTHER, "pop qword [rax]"},
        {"0f 20 05", X86_OTHER, "mov rbp, cr0: no displacement"},
        {"0f 0f c1 9e", X86_OTHER, "pfadd mm0, mm1"},
        {"66 0f 78 c1 04 08", X86_OTHER, "extrq xmm1, 4, 8"},
        {"0f 78 c1", X86_OTHER, "vmread"},
        {"66 0f 3a 0f c1 08", X86_OTHER, "palignr xmm0, xmm1, 8"},
        {"0f 38 f0 00", X86_OTHER, "movbe eax, [rax]"},
        {"c5 f8 77", X86_OTHER, "vzeroupper"},
        {"c5 fd 6f 07", X86_OTHER, "vmovdqa ymm0, [rdi]"},
        {"c4 e3 7d 18 c1 01", X86_OTHER, "vinsertf128"},
        {"62 f1 7c 48 10 40 01", X86_OTHER, "vmovups zmm0, [rax+64]"},
        {"62 f5 7c 48 58 c1", X86_OTHER, "vaddph zmm0, zmm0, zmm1"},
        {"8f e9 78 01 c8", X86_OTHER, "blcfill eax, eax (XOP)"},
        {"8f ea 78 10 c1 01 00 00 00", X86_OTHER, "bextr eax, ecx, 1 (XOP)"},
        {"eb fe", X86_JUMP, "jmp"},
        {"e9 00 00 00 00", X86_JUMP, "jmp"},
        {"74 00", X86_COND, "je"},
        {"0f 84 00 00 00 00", X86_COND, "je"},
        {"e3 00", X86_COND, "jrcxz"},
        {"c7 f8 00 00 00 00", X86_COND, "xbegin"},
        {"66 c7 f8 00 00", X86_COND, "xbegin of 16 bits"},
        {"c7 c0 00 00 00 00", X86_OTHER, "mov eax, 0"},
        {"c6 f8 01", X86_OTHER, "xabort 1"},
        {"e8 00 00 00 00", X86_CALL, "call"},
        {"66 66 48 e8 00 00 00 00", X86_CALL, "call of a TLS sequence"},
        {"ff d0", X86_INDIRECT_CALL, "call rax"},
        {"ff 15 00 00 00 00", X86_INDIRECT_CALL, "call [rip+0]"},
        {"f2 ff 25 00 00 00 00", X86_INDIRECT, "bnd jmp [rip+0]"},
        {"ff 30", X86_OTHER, "push [rax]"},
        {"c3", X86_RETURN, "ret"},
        {"f3 c3", X86_RETURN, "rep ret"},
        {"c2 08 00", X86_RETURN, "ret 8"},
        {"48 cf", X86_RETURN, "iretq"},
        {"0f 07", X86_RETURN, "sysret"},
        {"0f 0b", X86_TRAP, "ud2"},
        {"0f b9 c0", X86_TRAP, "ud1"},
        {"cc", X86_TRAP, "int3"},
        {"f4", X86_TRAP, "hlt"},
        {"0f 05", X86_SYSCALL, "syscall"},
        {"cd 80", X86_SYSCALL, "int 0x80"},
    };
    for (size_t i = 0; i < TL_COUNT(cases); i++) {
        code c = from_hex(cases[i].hex);
        x86_insn insn;
        if (!x86_decode(c.byte, c.n, &insn) || insn.length != c.n || insn.kind != cases[i].kind)
            fail_msg("%s (%s): length %u, kind %u", cases[i].hex, cases[i].text, insn.length, insn.kind);
        for (size_t n = 0; n < c.n; n++)
            if (x86_decode(c.byte, n, &insn) && insn.length > n)
                fail_msg("%s: read behind %zu bytes", cases[i].hex, n);
        for (size_t n = c.n; n < sizeof c.byte; n++)
            c.byte[n] = 0xff;
        assert_true(x86_decode(c.byte, sizeof c.byte, &insn)); /* what follows does not matter */
        assert_int_equal(insn.length, c.n);
    }
}

static void test_what_is_refused(void **state)
{
    static const char *const cases[] = {
        "06",
        "27",
        "60",
        "82 c0 01",
        "9a 00 00 00 00 00 00", /* not in 64-bit mode */
        "ea 00",
        "ce",
        "d4 0a",
        "d6",
        "0f 04",
        "0f 24 c0",
        "0f 36",
        "66 c5 f8 77",
        "f2 c5 f8 77",
        "48 c5 f8 77", /* prefixes in front of VEX */
        "c4 e0 78 77",
        "c4 e4 78 10 c0",
        "62 f0 7c 48 10 c0",
        "62 f4 7c 48 10 c0",
        "62 f9 7c 48 10 c0",
        "62 f1 78 48 10 04 00",
        "8f eb 78 01 c8", /* no such map */
        "d5 00 90",
        "",
        "66",
        "48",
        "0f",
        "0f 38",
        "c5",
        "c4 e1",
        "62 f1 7c",
        "e8 00 00 00",
        "8b",
        "8b 04",
        "8b 04 25 00",
        "c2 08",
        "f7 c1 01 00 00",
    };
    for (size_t i = 0; i < TL_COUNT(cases); i++) {
        const code c = from_hex(cases[i]);
        x86_insn insn;
        if (x86_decode(c.byte, c.n, &insn))
            fail_msg("%s: taken, with length %u", cases[i], insn.length);
    }
}

static void test_fifteen_bytes_at_most(void **state)
{
    uint8_t bytes[24];
    x86_insn insn;
    memset(bytes, 0x66, sizeof bytes);
    bytes[14] = 0x90;
    assert_true(x86_decode(bytes, sizeof bytes, &insn));
    assert_int_equal(insn.length, X86_INSN_BYTES);
    bytes[14] = 0x66;
    bytes[15] = 0x90;
    assert_false(x86_decode(bytes, sizeof bytes, &insn));
}

static void test_places_and_targets(void **state)
{
    static const struct {
        const char *hex;
        unsigned modrm_at, disp_at, disp_size, rel_at, rel_size;
        bool rip, vector, disputed;
        uint64_t target; /* at 0x401000 */
    } cases[] = {
        {"48 8d 3d fc ff ff ff", 2, 3, 4, 0, 0, true, false, false, 0x401003},
        {"83 3d 10 00 00 00 01", 1, 2, 4, 0, 0, true, false, false, 0x401017},
        {"c5 fa 10 05 00 01 00 00", 3, 4, 4, 0, 0, true, true, false, 0x401108},
        {"8b 45 f8", 1, 2, 1, 0, 0, false, false, false, 0},
        {"8b 84 24 00 01 00 00", 1, 3, 4, 0, 0, false, false, false, 0},
        {"8b c0", 1, 0, 0, 0, 0, false, false, false, 0},
        {"eb fe", 0, 0, 0, 1, 1, false, false, false, 0x401000},
        {"eb 7f", 0, 0, 0, 1, 1, false, false, false, 0x401081},
        {"e8 fb ff ff ff", 0, 0, 0, 1, 4, false, false, false, 0x401000},
        {"e9 00 00 00 80", 0, 0, 0, 1, 4, false, false, false, 0xffffffff80401005},
        {"0f 8f 01 00 00 00", 0, 0, 0, 2, 4, false, false, false, 0x401007},
        {"66 e9 01 00 00 00", 0, 0, 0, 2, 4, false, false, true, 0x401007},
        {"66 48 e8 01 00 00 00", 0, 0, 0, 3, 4, false, false, false, 0x401008},
        {"66 c7 f8 ff ff", 2, 0, 0, 3, 2, false, false, false, 0x401004},
    };
    for (size_t i = 0; i < TL_COUNT(cases); i++) {
        const code c = from_hex(cases[i].hex);
        x86_insn insn;
        assert_true(x86_decode(c.byte, c.n, &insn));
        assert_int_equal(insn.length, c.n);
        assert_int_equal(insn.modrm_at, cases[i].modrm_at);
        assert_int_equal(insn.disp_at, cases[i].disp_at);
        assert_int_equal(insn.disp_size, cases[i].disp_size);
        assert_int_equal(insn.rel_at, cases[i].rel_at);
        assert_int_equal(insn.rel_size, cases[i].rel_size);
        assert_int_equal(insn.rip, cases[i].rip);
        assert_int_equal(insn.vector, cases[i].vector);
        if (insn.disputed != cases[i].disputed)
            fail_msg("%s: disputed is %d", cases[i].hex, insn.disputed);
        if (cases[i].rip)
            assert_int_equal(x86_rip_target(&insn, c.byte, 0x401000), cases[i].target);
        if (cases[i].rel_at)
            assert_int_equal(x86_branch_target(&insn, c.byte, 0x401000), cases[i].target);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lengths_and_kinds),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_fifteen_bytes_at_most),
        cmocka_unit_test(test_places_and_targets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
