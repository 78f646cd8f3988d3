/* Text of branches, exceptions and system instructions. System registers and operations have the names of the table
 * below; others are not known. */
#include "isa/a64_text_out.h"

/* op0 (2 bits), op1, CRn, CRm, op2 as in bits 5 to 20 of MSR and MRS; also of SYS, with op0 1. */
#define KEY(op0, op1, crn, crm, op2) ((op0) << 14 | (op1) << 11 | (crn) << 7 | (crm) << 3 | (op2))

#define READ_ONLY 0x10000u

typedef struct named {
    uint32_t key; /* with READ_ONLY: has no name in MSR */
    char name[17];
} named;

/* Registers that programs and kernels use. */
static const named registers[] = {
    {KEY(3, 0, 0, 0, 0) | READ_ONLY, "MIDR_EL1"},
    {KEY(3, 0, 0, 0, 5) | READ_ONLY, "MPIDR_EL1"},
    {KEY(3, 0, 0, 0, 6) | READ_ONLY, "REVIDR_EL1"},
    {KEY(3, 0, 1, 0, 0), "SCTLR_EL1"},
    {KEY(3, 0, 1, 0, 1), "ACTLR_EL1"},
    {KEY(3, 0, 1, 0, 2), "CPACR_EL1"},
    {KEY(3, 0, 2, 0, 0), "TTBR0_EL1"},
    {KEY(3, 0, 2, 0, 1), "TTBR1_EL1"},
    {KEY(3, 0, 2, 0, 2), "TCR_EL1"},
    {KEY(3, 0, 4, 0, 0), "SPSR_EL1"},
    {KEY(3, 0, 4, 0, 1), "ELR_EL1"},
    {KEY(3, 0, 4, 1, 0), "SP_EL0"},
    {KEY(3, 0, 4, 2, 0), "SPSel"},
    {KEY(3, 0, 4, 2, 2) | READ_ONLY, "CurrentEL"},
    {KEY(3, 0, 5, 2, 0), "ESR_EL1"},
    {KEY(3, 0, 6, 0, 0), "FAR_EL1"},
    {KEY(3, 0, 7, 4, 0), "PAR_EL1"},
    {KEY(3, 0, 10, 2, 0), "MAIR_EL1"},
    {KEY(3, 0, 12, 0, 0), "VBAR_EL1"},
    {KEY(3, 0, 13, 0, 1), "CONTEXTIDR_EL1"},
    {KEY(3, 0, 13, 0, 4), "TPIDR_EL1"},
    {KEY(3, 3, 0, 0, 1) | READ_ONLY, "CTR_EL0"},
    {KEY(3, 3, 0, 0, 7) | READ_ONLY, "DCZID_EL0"},
    {KEY(3, 3, 4, 2, 0), "NZCV"},
    {KEY(3, 3, 4, 2, 1), "DAIF"},
    {KEY(3, 3, 4, 4, 0), "FPCR"},
    {KEY(3, 3, 4, 4, 1), "FPSR"},
    {KEY(3, 3, 13, 0, 2), "TPIDR_EL0"},
    {KEY(3, 3, 13, 0, 3), "TPIDRRO_EL0"},
    {KEY(3, 3, 14, 0, 0), "CNTFRQ_EL0"},
    {KEY(3, 3, 14, 0, 1) | READ_ONLY, "CNTPCT_EL0"},
    {KEY(3, 3, 14, 0, 2) | READ_ONLY, "CNTVCT_EL0"},
    {KEY(3, 3, 14, 3, 1), "CNTV_CTL_EL0"},
    {KEY(3, 3, 14, 3, 2), "CNTV_CVAL_EL0"},
};

/* Operations of SYS with a register. */
static const named operations[] = {
    {KEY(1, 0, 7, 1, 0), "ic ialluis"},    {KEY(1, 0, 7, 5, 0), "ic iallu"},       {KEY(1, 0, 7, 6, 1), "dc ivac"},
    {KEY(1, 0, 7, 6, 2), "dc isw"},        {KEY(1, 0, 7, 8, 0), "at s1e1r"},       {KEY(1, 0, 7, 8, 1), "at s1e1w"},
    {KEY(1, 0, 7, 8, 2), "at s1e0r"},      {KEY(1, 0, 7, 8, 3), "at s1e0w"},       {KEY(1, 0, 7, 10, 2), "dc csw"},
    {KEY(1, 0, 7, 14, 2), "dc cisw"},      {KEY(1, 0, 8, 3, 0), "tlbi vmalle1is"}, {KEY(1, 0, 8, 3, 1), "tlbi vae1is"},
    {KEY(1, 0, 8, 3, 2), "tlbi aside1is"}, {KEY(1, 0, 8, 3, 3), "tlbi vaae1is"},   {KEY(1, 0, 8, 3, 5), "tlbi vale1is"},
    {KEY(1, 0, 8, 3, 7), "tlbi vaale1is"}, {KEY(1, 0, 8, 7, 0), "tlbi vmalle1"},   {KEY(1, 0, 8, 7, 1), "tlbi vae1"},
    {KEY(1, 0, 8, 7, 2), "tlbi aside1"},   {KEY(1, 0, 8, 7, 3), "tlbi vaae1"},     {KEY(1, 3, 7, 4, 1), "dc zva"},
    {KEY(1, 3, 7, 4, 3), "dc gva"},        {KEY(1, 3, 7, 4, 4), "dc gzva"},        {KEY(1, 3, 7, 5, 1), "ic ivau"},
    {KEY(1, 3, 7, 10, 1), "dc cvac"},      {KEY(1, 3, 7, 11, 1), "dc cvau"},       {KEY(1, 3, 7, 12, 1), "dc cvap"},
    {KEY(1, 3, 7, 14, 1), "dc civac"},
};

static const char *find(const named *list, size_t n, uint32_t op, bool read)
{
    const uint32_t key = a64_bits(op, 5, 16);
    for (size_t i = 0; i < n; i++)
        if (list[i].key == key || (read && list[i].key == (key | READ_ONLY)))
            return list[i].name;
    return NULL;
}

/* Hints with the same name in every version of the architecture; "": others. */
static bool put_hint(a64_out *o)
{
    static const char name[40][11] = {
        [0] = "nop",        [1] = "yield",    [2] = "wfe",        [3] = "wfi",        [4] = "sev",
        [5] = "sevl",       [7] = "xpaclri",  [8] = "pacia1716",  [10] = "pacib1716", [12] = "autia1716",
        [14] = "autib1716", [16] = "esb",     [17] = "psb csync", [18] = "tsb csync", [20] = "csdb",
        [24] = "paciaz",    [25] = "paciasp", [26] = "pacibz",    [27] = "pacibsp",   [28] = "autiaz",
        [29] = "autiasp",   [30] = "autibz",  [31] = "autibsp",   [32] = "bti",       [34] = "bti c",
        [36] = "bti j",     [38] = "bti jc",
    };
    const uint32_t which = a64_bits(o->op, 5, 7);
    if (which < 40 && name[which][0]) {
        a64_put(o, name[which]);
        return true;
    }
    if (which != 9 && which != 11 && which != 13 && which != 15) /* hints that are unlikely to get a meaning */
        return false;
    a64_put(o, "hint ");
    a64_put_imm(o, which);
    return true;
}

static bool put_barrier(a64_out *o)
{
    static const char domain[16][6] = {"", "oshld", "oshst", "osh", "", "nshld", "nshst", "nsh",
                                       "", "ishld", "ishst", "ish", "", "ld",    "st",    "sy"};
    const uint32_t which = a64_bits(o->op, 5, 3), option = a64_bits(o->op, 8, 4);
    if (which == 4 || which == 5) {
        a64_put(o, which == 4 ? "dsb " : "dmb ");
        a64_put(o, domain[option]);
        return domain[option][0] != '\0';
    }
    a64_put(o, which == 2 ? "clrex" : "isb");
    return option == 15 && (which == 2 || which == 6);
}

/* MSR of a field of the state, with an immediate */
static bool put_state(a64_out *o)
{
    const uint32_t which = a64_bits(o->op, 16, 3) << 3 | a64_bits(o->op, 5, 3), imm = a64_bits(o->op, 8, 4);
    if (which == 036 || which == 037)
        a64_put(o, which == 036 ? "msr DAIFSet, " : "msr DAIFClr, ");
    else if (which == 005 && imm < 2)
        a64_put(o, "msr SPSel, ");
    else
        return false;
    a64_put_imm(o, imm);
    return true;
}

static bool put_system(a64_out *o)
{
    const uint32_t op = o->op, rt = a64_bits(op, 0, 5);
    if ((op & 0xfffff01f) == 0xd503201f)
        return put_hint(o);
    if ((op & 0xfffff01f) == 0xd503301f)
        return put_barrier(o);
    if ((op & 0xfff8f01f) == 0xd500401f)
        return put_state(o);
    if ((op & 0xfff80000) == 0xd5080000) { /* SYS */
        const char *name = find(operations, TL_COUNT(operations), op, false);
        if (!name)
            return false;
        a64_put(o, name);
        const bool no_operand = strstr(name, "all") != NULL && strncmp(name, "tlbi va", 7) != 0;
        if (no_operand)
            return rt == 31;
        a64_comma(o);
        a64_put_reg(o, true, rt);
        return true;
    }
    const bool read = op >> 21 & 1;
    const char *name = (op & 0xffd00000) == 0xd5100000 ? find(registers, TL_COUNT(registers), op, read) : NULL;
    if (!name)
        return false;
    a64_put(o, read ? "mrs " : "msr ");
    if (read) {
        a64_put_reg(o, true, rt);
        a64_comma(o);
    }
    a64_put(o, name);
    if (!read) {
        a64_comma(o);
        a64_put_reg(o, true, rt);
    }
    return true;
}

static bool put_exception(a64_out *o)
{
    static const struct {
        uint8_t key; /* opc, op2, LL */
        char name[4];
    } known[] = {{0x01, "svc"}, {0x02, "hvc"}, {0x03, "smc"}, {0x20, "brk"}, {0x40, "hlt"}};
    const uint32_t key = a64_bits(o->op, 21, 3) << 5 | a64_bits(o->op, 0, 5);
    for (size_t i = 0; i < TL_COUNT(known); i++)
        if (known[i].key == key) {
            a64_put(o, known[i].name);
            a64_put(o, " #");
            if (a64_bits(o->op, 5, 16) == 0)
                a64_put_char(o, '0');
            else
                a64_put_hex(o, a64_bits(o->op, 5, 16));
            return true;
        }
    return false;
}

/* Branches to a register */
static bool put_register(a64_out *o)
{
    static const struct {
        uint32_t op;
        char name[7];
    } fixed[] = {{0xd65f03c0, "ret"},   {0xd69f03e0, "eret"},   {0xd6bf03e0, "drps"},  {0xd65f0bff, "retaa"},
                 {0xd65f0fff, "retab"}, {0xd69f0bff, "eretaa"}, {0xd69f0fff, "eretab"}},
      one[] = {{0xd61f0000, "br "},    {0xd63f0000, "blr "},   {0xd65f0000, "ret "},  {0xd61f081f, "braaz "},
               {0xd61f0c1f, "brabz "}, {0xd63f081f, "blraaz"}, {0xd63f0c1f, "blrabz"}},
      two[] = {{0xd71f0800, "braa "}, {0xd71f0c00, "brab "}, {0xd73f0800, "blraa "}, {0xd73f0c00, "blrab "}};
    const uint32_t op = o->op;
    for (size_t i = 0; i < TL_COUNT(fixed); i++)
        if (op == fixed[i].op) {
            a64_put(o, fixed[i].name);
            return true;
        }
    for (size_t i = 0; i < TL_COUNT(one); i++)
        if ((op & 0xfffffc1f) == one[i].op) {
            a64_put(o, one[i].name);
            if (o->p[-1] != ' ')
                a64_put_char(o, ' ');
            a64_put_reg(o, true, a64_bits(op, 5, 5));
            return true;
        }
    for (size_t i = 0; i < TL_COUNT(two); i++)
        if ((op & 0xfffffc00) == two[i].op) {
            a64_put(o, two[i].name);
            a64_put_reg(o, true, a64_bits(op, 5, 5));
            a64_comma(o);
            a64_put_reg_sp(o, true, a64_bits(op, 0, 5));
            return true;
        }
    return false;
}

/* CBZ, CBNZ, TBZ, TBNZ */
static bool put_test(a64_out *o)
{
    const uint32_t op = o->op;
    const bool bit = op >> 25 & 1;
    a64_put(o, bit ? "tb" : "cb");
    a64_put(o, op >> 24 & 1 ? "nz " : "z ");
    a64_put_reg(o, op >> 31, a64_bits(op, 0, 5));
    a64_comma(o);
    if (bit) {
        a64_put_imm(o, (int64_t)(a64_bits(op, 31, 1) << 5 | a64_bits(op, 19, 5)));
        a64_comma(o);
    }
    a64_put_place(o, a64_signed(op, 5, bit ? 14 : 19) * 4);
    return true;
}

bool a64_text_control(a64_out *o)
{
    const uint32_t op = o->op;
    switch (a64_bits(op, 29, 3)) {
    case 0:
    case 4:
        a64_put(o, op >> 31 ? "bl " : "b ");
        a64_put_place(o, a64_signed(op, 0, 26) * 4);
        return true;
    case 1:
    case 5:
        return put_test(o);
    case 2:
        if ((op & 0xff000010) != 0x54000000)
            return false;
        a64_put(o, "b.");
        a64_put_cond(o, a64_bits(op, 0, 4));
        a64_put_char(o, ' ');
        a64_put_place(o, a64_signed(op, 5, 19) * 4);
        return true;
    case 6:
        return a64_bits(op, 24, 5) == 0x14   ? put_exception(o)
               : a64_bits(op, 24, 5) == 0x15 ? put_system(o)
                                             : put_register(o);
    default:
        return false;
    }
}
