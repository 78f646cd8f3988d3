/* Prefixes, opcode by table, ModRM, immediate. */
#include "isa/x86/x86_decode.h"

#include "isa/x86/x86_glance.h"

#include <assert.h>

/* What follows an opcode:
 *   .  nothing            m  ModRM                 b w z v  an immediate: 1 byte; 2; 2 or 4; 2, 4 or 8
 *   B  ModRM, 1 byte      Z  ModRM, 2 or 4 bytes   D        ModRM of registers alone, whatever it says (MOV CR)
 *   o  an address         e  2 bytes and 1         j J      a displacement of 1 byte; of 4 bytes
 *   T  ModRM, and an immediate of 1 byte if its reg is 0 or 1; U the same with 2 or 4 bytes
 *   Q  ModRM, and 2 bytes with prefix 66 or F2 (EXTRQ, INSERTQ)
 *   x  not in 64-bit mode: refused, as are prefixes and escapes where none may be */
static const char one_byte[] = "mmmmbzxx"
                               "mmmmbzxx" /* 00 */
                               "mmmmbzxx"
                               "mmmmbzxx"
                               "mmmmbzxx"
                               "mmmmbzxx" /* 20 */
                               "mmmmbzxx"
                               "mmmmbzxx"
                               "xxxxxxxx"
                               "xxxxxxxx" /* 40 */
                               "........"
                               "........"
                               "xxxmxxxx"
                               "zZbB...." /* 60 */
                               "jjjjjjjj"
                               "jjjjjjjj"
                               "BZxBmmmm"
                               "mmmmmmmm" /* 80 */
                               "........"
                               "..x....."
                               "oooo...."
                               "bz......" /* a0 */
                               "bbbbbbbb"
                               "vvvvvvvv"
                               "BBw.xxBZ"
                               "e.w..bx." /* c0 */
                               "mmmmxxx."
                               "mmmmmmmm"
                               "jjjjbbbb"
                               "JJxj...." /* e0 */
                               "x.xx..TU"
                               "......mm";

static const char map_0f[] = "mmmmx..."
                             "..x.xm.B" /* 00 */
                             "mmmmmmmm"
                             "mmmmmmmm"
                             "DDDDxxxx"
                             "mmmmmmmm" /* 20 */
                             "......x."
                             "xxxxxxxx"
                             "mmmmmmmm"
                             "mmmmmmmm" /* 40 */
                             "mmmmmmmm"
                             "mmmmmmmm"
                             "mmmmmmmm"
                             "mmmmmmmm" /* 60 */
                             "BBBBmmm."
                             "Qmxxmmmm"
                             "JJJJJJJJ"
                             "JJJJJJJJ" /* 80 */
                             "mmmmmmmm"
                             "mmmmmmmm"
                             "...mBmmm"
                             "...mBmmm" /* a0 */
                             "mmmmmmmm"
                             "mmBmmmmm"
                             "mmBmBBBm"
                             "........" /* c0 */
                             "mmmmmmmm"
                             "mmmmmmmm"
                             "mmmmmmmm"
                             "mmmmmmmm" /* e0 */
                             "mmmmmmmm"
                             "mmmmmmmm";

static_assert(X86_MAP_ONE == 0 && X86_MAP_0F == 1, "the number of escapes");
static_assert(sizeof one_byte == 257 && sizeof map_0f == 257, "a letter for each opcode");

#define VEX_MAPS  0x0eu  /* those that a VEX prefix can name: 0F, 0F38, 0F3A */
#define EVEX_MAPS 0x6eu  /* the same and 5, 6 */
#define XOP_MAPS  0x700u /* 8, 9, 10 */

typedef struct reader {
    const uint8_t *code;
    unsigned n, at;
    bool operand16, address32, lock, repne, rep; /* prefixes 66, 67, F0, F2, F3 */
    uint8_t rex;                                 /* 0: none */
    char follows;                                /* the opcode's letter */
} reader;

static bool is_wide(const reader *r)
{
    return r->rex & 8;
}

static bool byte(reader *r, uint8_t *out)
{
    if (r->at >= r->n)
        return false;
    *out = r->code[r->at++];
    return true;
}

static bool skip(reader *r, unsigned bytes)
{
    r->at += bytes;
    return r->at <= r->n;
}

static bool legacy_prefix(reader *r, uint8_t b)
{
    switch (b) {
    case 0x66:
        return r->operand16 = true;
    case 0x67:
        return r->address32 = true;
    case 0xf0:
        return r->lock = true;
    case 0xf2: /* of both, the last one counts */
        r->rep = false;
        return r->repne = true;
    case 0xf3:
        r->repne = false;
        return r->rep = true;
    case 0x26:
    case 0x2e:
    case 0x36:
    case 0x3e:
    case 0x64:
    case 0x65:
        return true;
    default:
        return false;
    }
}

/* Passes over the prefixes. REX counts only right before the opcode, which *op is then. */
static bool prefixes(reader *r, uint8_t *op)
{
    while (byte(r, op)) {
        if ((*op & 0xf0) == 0x40)
            r->rex = *op;
        else if (legacy_prefix(r, *op))
            r->rex = 0;
        else
            return true;
    }
    return false;
}

static bool modrm(reader *r, x86_insn *out, bool registers_alone)
{
    uint8_t m, sib = 0;
    out->modrm_at = (uint8_t)r->at;
    if (!byte(r, &m))
        return false;
    const unsigned mod = m >> 6, rm = m & 7;
    if (mod == 3 || registers_alone)
        return true;
    if (rm == 4 && !byte(r, &sib))
        return false;
    out->rip = mod == 0 && rm == 5;
    const bool absolute = mod == 0 && rm == 4 && (sib & 7) == 5;
    out->disp_size = mod == 1 ? 1 : mod == 2 || out->rip || absolute ? 4 : 0;
    out->disp_at = out->disp_size ? (uint8_t)r->at : 0;
    return skip(r, out->disp_size);
}

static unsigned reg_of(const reader *r, const x86_insn *out)
{
    return r->code[out->modrm_at] >> 3 & 7;
}

static bool relative(reader *r, x86_insn *out, uint8_t bytes)
{
    out->rel_at = (uint8_t)r->at;
    out->rel_size = bytes;
    out->disputed = r->operand16 && !is_wide(r) && bytes != 2; /* XBEGIN alone says what it means */
    return skip(r, bytes);
}

/* XBEGIN is a MOV of an immediate but for its ModRM; it goes on there when the transaction fails. */
static bool is_xbegin(const reader *r, const x86_insn *out)
{
    return !out->vector && r->code[out->modrm_at - 1] == 0xc7 && r->code[out->modrm_at] == 0xf8;
}

static bool operands(reader *r, x86_insn *out)
{
    const unsigned z = r->operand16 && !is_wide(r) ? 2 : 4;
    switch (r->follows) {
    case '.':
        return true;
    case 'm':
        return modrm(r, out, false);
    case 'D':
        return modrm(r, out, true);
    case 'b':
        return skip(r, 1);
    case 'w':
        return skip(r, 2);
    case 'z':
        return skip(r, z);
    case 'v':
        return skip(r, is_wide(r) ? 8 : z);
    case 'o':
        return skip(r, r->address32 ? 4 : 8);
    case 'e':
        return skip(r, 3);
    case 'B':
        return modrm(r, out, false) && skip(r, 1);
    case 'Z':
        return modrm(r, out, false) && (is_xbegin(r, out) ? relative(r, out, (uint8_t)z) : skip(r, z));
    case 'T':
        return modrm(r, out, false) && skip(r, reg_of(r, out) <= 1);
    case 'U':
        return modrm(r, out, false) && skip(r, reg_of(r, out) <= 1 ? z : 0);
    case 'Q':
        return modrm(r, out, false) && skip(r, r->operand16 || r->repne ? 2 : 0);
    case 'j':
        return relative(r, out, 1);
    case 'J':
        return relative(r, out, 4);
    default:
        return false;
    }
}

/* The letter of an opcode behind VEX, EVEX or XOP. */
static char vector_letter(unsigned map, uint8_t op, bool evex)
{
    switch (map) {
    case 1:
        return op == 0x77 && !evex ? '.' : map_0f[op] == 'B' ? 'B' : 'm';
    case 3:
    case 8:
        return 'B';
    case 10:
        return 'Z';
    default:
        return 'm';
    }
}

/* What is behind *op if that is the first byte of VEX, EVEX or XOP; *op becomes the opcode. */
static bool vector_opcode(reader *r, x86_insn *out, uint8_t *op)
{
    const bool evex = *op == 0x62;
    const unsigned payload = evex ? 3 : *op == 0xc5 ? 1 : 2;
    const unsigned maps = evex ? EVEX_MAPS : *op == 0x8f ? XOP_MAPS : VEX_MAPS;
    if (r->n - r->at <= payload || r->operand16 || r->lock || r->repne || r->rep || r->rex)
        return false;
    const unsigned map = payload == 1 ? 1 : r->code[r->at] & (evex ? 7 : 0x1f);
    const bool apx = evex && (r->code[r->at] & 8 || !(r->code[r->at + 1] & 4)); /* names a register above 15 */
    if (!(maps >> map & 1) || apx)
        return false;
    r->at += payload;
    out->vector = true;
    out->map = map < X86_MAP_OTHER ? (uint8_t)map : X86_MAP_OTHER;
    *op = r->code[r->at++];
    r->follows = vector_letter(map, *op, evex);
    return true;
}

/* The opcode's map and letter; *op is the first byte behind the prefixes, and becomes the opcode. */
static bool find_opcode(reader *r, x86_insn *out, uint8_t *op)
{
    const bool xop = *op == 0x8f && r->at < r->n && (r->code[r->at] & 0x1f) >= 8; /* else POP */
    if (*op == 0xc4 || *op == 0xc5 || *op == 0x62 || xop)
        return vector_opcode(r, out, op);
    r->follows = one_byte[*op];
    if (*op != 0x0f)
        return true;
    if (!byte(r, op))
        return false;
    const bool longer = *op == 0x38 || *op == 0x3a;
    out->map = *op == 0x38 ? X86_MAP_0F38 : *op == 0x3a ? X86_MAP_0F3A : X86_MAP_0F;
    r->follows = *op == 0x38 ? 'm' : *op == 0x3a ? 'B' : map_0f[*op];
    return !longer || byte(r, op);
}

static x86_kind kind_of_ff(unsigned reg)
{
    return reg == 2 || reg == 3 ? X86_INDIRECT_CALL : reg == 4 || reg == 5 ? X86_INDIRECT : X86_OTHER;
}

static x86_kind kind_of_one(const reader *r, const x86_insn *out)
{
    switch (out->opcode) {
    case 0x90:
        return r->rep || r->rex & 1 ? X86_OTHER : X86_NOP;
    case 0xc2:
    case 0xc3:
    case 0xca:
    case 0xcb:
    case 0xcf:
        return X86_RETURN;
    case 0xcc:
    case 0xf1:
    case 0xf4:
        return X86_TRAP;
    case 0xcd:
        return X86_SYSCALL;
    case 0xe8:
        return X86_CALL;
    case 0xe9:
    case 0xeb:
        return X86_JUMP;
    case 0xff:
        return kind_of_ff(reg_of(r, out));
    default:
        return out->rel_at ? X86_COND : X86_OTHER;
    }
}

static x86_kind kind_of_0f(const reader *r, const x86_insn *out)
{
    switch (out->opcode) {
    case 0x05:
    case 0x34:
        return X86_SYSCALL;
    case 0x07:
    case 0x35:
        return X86_RETURN;
    case 0x0b:
    case 0xb9:
    case 0xff:
        return X86_TRAP;
    case 0x1e: /* ENDBR64 and ENDBR32; others with F3 read the shadow stack */
        return !r->rep || (r->code[out->modrm_at] & 0xfe) == 0xfa ? X86_NOP : X86_OTHER;
    case 0x1f:
        return X86_NOP;
    default:
        return out->rel_at ? X86_COND : X86_OTHER;
    }
}

static x86_kind kind_of(const reader *r, const x86_insn *out)
{
    if (out->vector || out->map > X86_MAP_0F)
        return X86_OTHER;
    return out->map == X86_MAP_ONE ? kind_of_one(r, out) : kind_of_0f(r, out);
}

/* ModRM and what belongs to it, of which all can be read. */
static void modrm_common(const uint8_t *code, unsigned at, x86_insn *out)
{
    const uint8_t m = code[at];
    const unsigned mod = m >> 6, rm = m & 7;
    out->modrm_at = (uint8_t)at++;
    if (mod == 3)
        return;
    out->rip = mod == 0 && rm == 5;
    const bool far = mod == 2 || out->rip || (mod == 0 && rm == 4 && (code[at] & 7) == 5);
    at += rm == 4;
    out->disp_size = mod == 1 ? 1 : far ? 4 : 0;
    out->disp_at = out->disp_size ? (uint8_t)at : 0;
}

/* Most of all code: REX at most, an opcode of one byte, or of two, and what follows it. X86_INSN_BYTES can be read.
 * False: not that, and *out is not touched. */
static bool decode_common(const uint8_t *code, x86_insn *out)
{
    unsigned of;
    const unsigned length = x86_glance(code, &of), rex = (code[0] & 0xf0) == 0x40, escape = code[rex] == 0x0f;
    const unsigned at = rex + escape + 1, relative = of & X86_GLANCE_RELATIVE;
    const uint8_t op = code[at - 1];
    if (of & X86_GLANCE_UNKNOWN || x86_glance_prefix[code[0]] || (of & X86_GLANCE_SPOT && !relative))
        return false;
    *out = (x86_insn){.opcode = op, .map = (uint8_t)escape, .length = (uint8_t)length};
    if (relative) {
        out->rel_at = (uint8_t)at;
        out->rel_size = of & X86_GLANCE_IMMEDIATE;
        out->kind = of & X86_GLANCE_CALL ? X86_CALL : of & X86_GLANCE_JUMP ? X86_JUMP : X86_COND;
    } else if (of & X86_GLANCE_MODRM) {
        modrm_common(code, at, out);
    }
    return true;
}

bool x86_decode(const uint8_t *code, size_t n, x86_insn *out)
{
    if (n >= X86_INSN_BYTES && decode_common(code, out))
        return true;
    reader r = {.code = code, .n = n < X86_INSN_BYTES ? (unsigned)n : X86_INSN_BYTES};
    uint8_t op;
    *out = (x86_insn){0};
    if (!prefixes(&r, &op) || !find_opcode(&r, out, &op) || !operands(&r, out))
        return false;
    out->opcode = op;
    out->length = (uint8_t)r.at;
    out->kind = (uint8_t)kind_of(&r, out);
    return true;
}

/* pc behind the instruction and the little-endian, signed number of so many bytes. */
static uint64_t target(const x86_insn *insn, uint64_t pc, const uint8_t *at, unsigned bytes)
{
    uint64_t displacement = 0;
    for (unsigned i = 0; i < bytes; i++)
        displacement |= (uint64_t)at[i] << 8 * i;
    const uint64_t sign = (uint64_t)1 << (8 * bytes - 1);
    return pc + insn->length + ((displacement ^ sign) - sign);
}

uint64_t x86_branch_target(const x86_insn *insn, const uint8_t *code, uint64_t pc)
{
    return target(insn, pc, code + insn->rel_at, insn->rel_size);
}

uint64_t x86_rip_target(const x86_insn *insn, const uint8_t *code, uint64_t pc)
{
    return target(insn, pc, code + insn->disp_at, 4);
}
