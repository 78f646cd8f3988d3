/* Tables of opcodes whose length is seen at a glance. */
#include "isa/x86/x86_glance.h"

/* Words of a table, as in x86_decode.c: n nothing, m ModRM, b w z v immediates, B Z with ModRM, j J displacements;
 * capitals else: the same, which perhaps is not X86_OTHER, or a ModRM that decides. */
enum {
    x = X86_GLANCE_UNKNOWN,
    n = 0,
    m = X86_GLANCE_MODRM,
    b = 1,
    w = 2,
    z = 4 | X86_GLANCE_SHORT,
    v = z | X86_GLANCE_LONG,
    B = m | b,
    Z = m | z,
    j = 1 | X86_GLANCE_SPOT | X86_GLANCE_RELATIVE,
    J = 4 | X86_GLANCE_SPOT | X86_GLANCE_RELATIVE,
    S = n | X86_GLANCE_SPOT,
    M = m | X86_GLANCE_SPOT,
    E = j | X86_GLANCE_JUMP,
    G = J | X86_GLANCE_JUMP,
    L = J | X86_GLANCE_CALL,
    K = b | X86_GLANCE_SPOT,
    W = w | X86_GLANCE_SPOT,
    C = Z | X86_GLANCE_XBEGIN,
    T = B | X86_GLANCE_TEST,
    U = Z | X86_GLANCE_TEST
};

/* clang-format off */
const uint16_t x86_glance_of[512] = {
    m, m, m, m, b, z, x, x, m, m, m, m, b, z, x, x, /* 00 */
    m, m, m, m, b, z, x, x, m, m, m, m, b, z, x, x,
    m, m, m, m, b, z, x, x, m, m, m, m, b, z, x, x, /* 20 */
    m, m, m, m, b, z, x, x, m, m, m, m, b, z, x, x,
    x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, /* 40 */
    n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n,
    x, x, x, m, x, x, x, x, z, Z, b, B, n, n, n, n, /* 60 */
    j, j, j, j, j, j, j, j, j, j, j, j, j, j, j, j,
    B, Z, x, B, m, m, m, m, m, m, m, m, m, m, m, x, /* 80 */
    S, n, n, n, n, n, n, n, n, n, x, n, n, n, n, n,
    x, x, x, x, n, n, n, n, b, z, n, n, n, n, n, n, /* a0 */
    b, b, b, b, b, b, b, b, v, v, v, v, v, v, v, v,
    B, B, W, S, x, x, B, C, x, n, W, S, S, K, x, S, /* c0 */
    m, m, m, m, x, x, x, n, m, m, m, m, m, m, m, m,
    K, K, K, K, b, b, b, b, L, G, x, E, n, n, n, n, /* e0 */
    x, S, x, x, S, n, T, U, n, n, n, n, n, n, m, M,
    /* map 0F */
    m, m, m, m, x, S, n, S, n, n, x, S, x, m, n, B, /* 00 */
    m, m, m, m, m, m, m, m, m, m, m, m, m, m, M, M,
    x, x, x, x, x, x, x, x, m, m, m, m, m, m, m, m, /* 20 */
    n, n, n, n, S, S, x, n, x, x, x, x, x, x, x, x,
    m, m, m, m, m, m, m, m, m, m, m, m, m, m, m, m, /* 40 */
    m, m, m, m, m, m, m, m, m, m, m, m, m, m, m, m,
    m, m, m, m, m, m, m, m, m, m, m, m, m, m, m, m, /* 60 */
    B, B, B, B, m, m, m, n, x, m, x, x, m, m, m, m,
    J, J, J, J, J, J, J, J, J, J, J, J, J, J, J, J, /* 80 */
    m, m, m, m, m, m, m, m, m, m, m, m, m, m, m, m,
    n, n, n, m, B, m, x, x, n, n, n, m, B, m, m, m, /* a0 */
    m, m, m, m, m, m, m, m, m, M, B, m, m, m, m, m,
    m, m, B, m, B, B, B, m, n, n, n, n, n, n, n, n, /* c0 */
    m, m, m, m, m, m, m, m, m, m, m, m, m, m, m, m,
    m, m, m, m, m, m, m, m, m, m, m, m, m, m, m, m, /* e0 */
    m, m, m, m, m, m, m, m, m, m, m, m, m, m, m, M,
};
/* clang-format on */

const uint8_t x86_glance_prefix[256] = {
    [0x26] = 1, [0x2e] = 1, [0x36] = 1, [0x3e] = 1, [0x64] = 1,
    [0x65] = 1, [0x66] = 1, [0xf0] = 1, [0xf2] = 1, [0xf3] = 1,
};

#define SAME(n)       n, n, n, n, 1 + n, n, n, n /* 4: a SIB byte */
#define EIGHT_OF(row) row, row, row, row, row, row, row, row
#define FIRST         1, 1, 1, 1, 2, 5, 1, 1
#define REGISTERS     1, 1, 1, 1, 1, 1, 1, 1

const uint8_t x86_glance_operand[256] = {EIGHT_OF(FIRST), EIGHT_OF(SAME(2)), EIGHT_OF(SAME(5)), EIGHT_OF(REGISTERS)};

unsigned x86_glance_any(const uint8_t *code, unsigned *of)
{
    uint64_t bytes = x86_glance_load(code);
    const unsigned first = (unsigned)bytes & 255, prefix = x86_glance_prefix[first];
    bytes >>= 8 * prefix;
    const unsigned second = (unsigned)bytes & 255, rex = second >> 4 == 4, wide = rex & second >> 3;
    bytes >>= 8 * rex;
    const unsigned escape = ((unsigned)bytes & 255) == 0x0f;
    bytes >>= 8 * escape;
    const unsigned op = (unsigned)bytes & 255, modrm = (unsigned)(bytes >> 8) & 255;
    const unsigned what = x86_glance_of[escape << 8 | op], halved = (first == 0x66) & ~wide;
    const unsigned operand = x86_glance_operand[modrm] + x86_glance_absolute(modrm, (unsigned)(bytes >> 16));
    const unsigned none = what / X86_GLANCE_TEST & ((modrm & 0x30) != 0);
    const unsigned immediate = (what & X86_GLANCE_IMMEDIATE) - 2 * (what / X86_GLANCE_SHORT & halved & 1) +
                               4 * (what / X86_GLANCE_LONG & wide & 1);
    const unsigned unknown = what / X86_GLANCE_XBEGIN & (modrm == 0xf8);
    *of = (what | unknown * X86_GLANCE_UNKNOWN) & ~(prefix * X86_GLANCE_RELATIVE); /* of which 66 is disputed */
    return prefix + rex + escape + 1 + (operand & (0 - (what / X86_GLANCE_MODRM & 1))) + (immediate & (none - 1));
}
