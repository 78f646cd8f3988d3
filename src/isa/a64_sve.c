/* Registers of SVE and SVE2 without memory: integers, permutations, predicates, floating point.
 *
 * There is a table for each value of bits 31 to 24. The first matching row counts, so exceptions precede the rule. */
#include "isa/a64_decode.h"

static const a64_row rows_04[] = {
    {0xff3fe000, 0x04102000, {W(ZD), R(PG), R(ZN)}},        /* MOVPRFX, zeroing */
    {0xff3fe000, 0x04112000, {U(ZD), R(PG), R(ZN)}},        /* MOVPRFX, merging */
    {0xff20e000, 0x04002000, {W(ZD), R(PG), R(ZN)}},        /* reductions */
    {0xff30e000, 0x04008000, {U(ZD), R(PG)}},               /* shifts by a constant */
    {0xff204000, 0x04000000, {U(ZD), R(PG), R(ZN)}},        /* two operands, or one, predicated */
    {0xff204000, 0x04004000, {U(ZD), R(PG), R(ZN), R(ZM)}}, /* MLA, MAD, ... */
    {0xff20fc00, 0x04203400, {U(ZD), R(ZN)}},               /* XAR */
    {0xff20f800, 0x04203800, {U(ZD), R(ZN), R(ZM)}},        /* EOR3, BCAX, BSL, ... */
    {0xff20fc00, 0x04204000, {W(ZD)}},                      /* INDEX */
    {0xff20fc00, 0x04204400, {W(ZD), R(XN)}},
    {0xff20fc00, 0x04204800, {W(ZD), R(XM)}},
    {0xff20fc00, 0x04204c00, {W(ZD), R(XN), R(XM)}},
    {0xffa0f000, 0x04a05000, {W(XD)}},               /* RDVL, RDSVL */
    {0xffa0f000, 0x04205000, {W(SD), R(SM)}},        /* ADDVL, ADDPL, ADDSVL, ADDSPL */
    {0xff20f000, 0x04209000, {W(ZD), R(ZN)}},        /* shifts by a constant */
    {0xff20f800, 0x0420b800, {W(ZD), R(ZN)}},        /* FEXPA, MOVPRFX */
    {0xff20c000, 0x04200000, {W(ZD), R(ZN), R(ZM)}}, /* two operands */
    {0xff20c000, 0x04204000, {W(ZD), R(ZN), R(ZM)}},
    {0xff20c000, 0x04208000, {W(ZD), R(ZN), R(ZM)}},
    {0xff20e000, 0x0420c000, {U(ZD)}}, /* INCW of a vector, ... */
    {0xff30f800, 0x0420e000, {W(XD)}}, /* CNTB, ... */
    {0xff20e000, 0x0420e000, {U(XD)}}, /* INCB, SQINCB, ... */
};

static const a64_row rows_05[] = {
    {0xfffc0000, 0x05c00000, {W(ZD)}},        /* DUPM */
    {0xff3c0000, 0x05000000, {U(ZD)}},        /* AND, ORR, EOR of a constant */
    {0xff30c000, 0x05100000, {W(ZD), R(PM)}}, /* CPY of a constant, zeroing */
    {0xff300000, 0x05100000, {U(ZD), R(PM)}}, /* CPY, FCPY, merging */
    {0xffe0e000, 0x05200000, {U(ZD), R(ZN)}}, /* EXT */
    {0xffe0e000, 0x05600000, {W(ZD), R(ZN_2)}},
    {0xff20e000, 0x05200000, {W(ZD), R(ZN), R(ZM)}},   /* ZIP, UZP, TRN of 128 bits */
    {0xfff0fc00, 0x05602400, {U(ZD), R(ZN)}},          /* EXTQ */
    {0xff20fc00, 0x05202400, {W(ZD), R(ZN)}},          /* DUPQ */
    {0xff20fc00, 0x05202000, {W(ZD), R(ZN)}},          /* DUP of a lane */
    {0xff20fc00, 0x05202800, {W(ZD), R(ZN_2), R(ZM)}}, /* TBL of two */
    {0xff20fc00, 0x05202c00, {U(ZD), R(ZN), R(ZM)}},   /* TBX */
    {0xff20fc00, 0x05203000, {W(ZD), R(ZN), R(ZM)}},   /* TBL */
    {0xff20fc00, 0x05203400, {U(ZD), R(ZN), R(ZM)}},   /* TBXQ */
    {0xff3ffc00, 0x05203800, {W(ZD), R(SN)}},          /* DUP */
    {0xff3ffc00, 0x05243800, {U(ZD), R(XN)}},          /* INSR */
    {0xff3ffc00, 0x05343800, {U(ZD), R(ZN)}},
    {0xff39fc00, 0x05283800, {W(PD), R(ZN)}},        /* PMOV to a predicate */
    {0xff39fc00, 0x05293800, {U(ZD), R(PN)}},        /* PMOV to a vector, a part of it */
    {0xff20fc00, 0x05203800, {W(ZD), R(ZN)}},        /* REV, SUNPKLO, ... */
    {0xff30e000, 0x05204000, {W(PD), R(PN), R(PM)}}, /* ZIP, UZP, TRN of predicates */
    {0xff30e000, 0x05304000, {W(PD), R(PN)}},        /* REV, PUNPKLO of predicates */
    {0xff20e000, 0x05206000, {W(ZD), R(ZN), R(ZM)}}, /* ZIP, UZP, TRN */
    {0xff3fe000, 0x05218000, {W(ZD), R(PG), R(ZN)}}, /* COMPACT */
    {0xff3ee000, 0x05228000, {W(ZD), R(PG), R(ZN)}}, /* LASTA, LASTB */
    {0xff3ee000, 0x0520a000, {W(XD), R(PG), R(ZN)}},
    {0xff3fe000, 0x052d8000, {W(ZD), R(PG), R(ZN_2)}},       /* SPLICE of two */
    {0xff3fe000, 0x0528a000, {U(ZD), R(PG), R(SN)}},         /* CPY of a general register */
    {0xff3ee000, 0x0530a000, {U(XD), R(PG), R(ZN)}},         /* CLASTA, CLASTB */
    {0xff20c000, 0x05208000, {U(ZD), R(PG), R(ZN)}},         /* CPY, CLASTA, SPLICE, REVB, ... */
    {0xff20c000, 0x0520c000, {W(ZD), R(PG4), R(ZN), R(ZM)}}, /* SEL */
};

static const a64_row rows_24[] = {
    {0xff200000, 0x24000000, {W(PD), R(PG), R(ZN), R(ZM), W(NZCV)}}, /* CMPEQ, ... */
    {0xff200000, 0x24200000, {W(PD), R(PG), R(ZN), W(NZCV)}},        /* of a constant */
};

static const a64_row rows_25[] = {
    {0xff204000, 0x25000000, {W(PD), R(PG), R(ZN), W(NZCV)}}, /* CMPEQ of a constant, ... */
    {0xff704000, 0x25004000, {W(PD), R(PG4), R(PN), R(PM)}},  /* AND, SEL, BRKPA, ... of predicates */
    {0xff704000, 0x25404000, {W(PD), R(PG4), R(PN), R(PM), W(NZCV)}},
    {0xff7fc010, 0x25104000, {W(PD), R(PG4), R(PN)}}, /* BRKA, BRKB, zeroing */
    {0xff7fc010, 0x25104010, {U(PD), R(PG4), R(PN)}}, /* merging */
    {0xff7fc000, 0x25504000, {W(PD), R(PG4), R(PN), W(NZCV)}},
    {0xff7fc000, 0x25184000, {U(PD), R(PG4), R(PN)}}, /* BRKN */
    {0xff7fc000, 0x25584000, {U(PD), R(PG4), R(PN), W(NZCV)}},
    {0xffffc000, 0x2550c000, {R(PG4), R(PN), W(NZCV)}}, /* PTEST */
    {0xff3ffe00, 0x2518c000, {U(PD), R(PN), W(NZCV)}},  /* PFIRST */
    {0xff3ffe00, 0x2519c400, {U(PD), R(PN), W(NZCV)}},  /* PNEXT */
    {0xff3ffc00, 0x2518e000, {W(PD)}},                  /* PTRUE */
    {0xff3ffc00, 0x2519e000, {W(PD), W(NZCV)}},         /* PTRUES */
    {0xff3ffc00, 0x2518e400, {W(PD)}},                  /* PFALSE */
    {0xfffffe00, 0x2518f000, {W(PD), R(PN), R(FFR)}},   /* RDFFR */
    {0xfffffe00, 0x2558f000, {W(PD), R(PN), R(FFR), W(NZCV)}},
    {0xfffffe00, 0x2519f000, {W(PD), R(FFR)}},
    {0xff20f000, 0x25202000, {R(XN), R(XM), U(NZCV)}},        /* CTERMEQ, CTERMNE */
    {0xff20e000, 0x25200000, {W(PD), R(XN), R(XM), W(NZCV)}}, /* WHILELT, ... */
    {0xff20f000, 0x25203000, {W(PD), R(XN), R(XM), W(NZCV)}}, /* WHILEWR, WHILERW */
    {0xff3ffc10, 0x25207010, {W(PD), R(PN8)}},                /* PEXT */
    {0xff3ffe10, 0x25207410, {W(PD_2), R(PN8)}},
    {0xff3ffff8, 0x25207810, {W(PD8)}},                        /* PTRUE of a counter */
    {0xff20d010, 0x25205010, {W(PD2), R(XN), R(XM), W(NZCV)}}, /* WHILELT of two */
    {0xff20d010, 0x25204010, {W(PD8), R(XN), R(XM), W(NZCV)}}, /* WHILELT of a counter */
    {0xff20c210, 0x25204000, {W(PD), R(PG4), R(PN), R(XS12)}}, /* PSEL */
    {0xff3ec000, 0x2538c000, {W(ZD)}},                         /* DUP, FDUP of a constant */
    {0xff20c000, 0x2520c000, {U(ZD)}},                         /* ADD, SMAX, MUL of a constant, ... */
    {0xff3ffa00, 0x25208200, {W(XD), R(PN)}},                  /* CNTP of a counter */
    {0xff38c000, 0x25208000, {W(XD), R(PG4), R(PN)}},          /* CNTP */
    {0xfffffe00, 0x25289000, {R(PN), W(FFR)}},                 /* WRFFR */
    {0xffffffff, 0x252c9000, {W(FFR)}},                        /* SETFFR */
    {0xff38f800, 0x25288000, {U(ZD), R(PN)}},                  /* INCP of a vector, ... */
    {0xff38f800, 0x25288800, {U(XD), R(PN)}},
};

static const a64_row rows_44[] = {
    {0xffe0fc00, 0x4480c800, {U(ZD), R(ZN), R(ZM8)}},  /* SDOT of two, with a lane */
    {0xffe0fc00, 0x4480cc00, {U(ZD), R(ZN), R(ZM8)}},  /* UDOT */
    {0xff208000, 0x44000000, {U(ZD), R(ZN), R(ZM)}},   /* SDOT, SMLALB, CMLA, ... */
    {0xff20c000, 0x44008000, {U(ZD), R(PG), R(ZN)}},   /* predicated */
    {0xff20e000, 0x4400c000, {U(ZD), R(ZN), R(ZM)}},   /* SCLAMP, SDOT of two */
    {0xff20e000, 0x4400e000, {W(ZD), R(ZN), R(ZM)}},   /* ZIPQ1, TBLQ, ... */
    {0xffe0c000, 0x44e0c000, {W(ZD), R(ZN), R(ZM16)}}, /* MUL, SMULLB, SQDMULH with a lane of 64 or 32 bits */
    {0xffe00000, 0x44e00000, {U(ZD), R(ZN), R(ZM16)}}, /* MLA, ... */
    {0xff20c000, 0x4420c000, {W(ZD), R(ZN), R(ZM8)}},  /* of 32 or 16 bits */
    {0xff200000, 0x44200000, {U(ZD), R(ZN), R(ZM8)}},
};

static const a64_row rows_45[] = {
    {0xff20f000, 0x4500a000, {W(ZD), R(ZN)}},                        /* SSHLLB, ... */
    {0xff20f800, 0x45009000, {U(ZD), R(ZN), R(ZM)}},                 /* EORBT, EORTB */
    {0xff20fc00, 0x45009800, {U(ZD), R(ZN), R(ZM)}},                 /* SMMLA, ... */
    {0xff20c000, 0x45008000, {W(ZD), R(ZN), R(ZM)}},                 /* BEXT, SADDLBT, ... */
    {0xff208000, 0x45000000, {W(ZD), R(ZN), R(ZM)}},                 /* SADDLB, ... */
    {0xff20f800, 0x4500d800, {U(ZD), R(ZN)}},                        /* CADD */
    {0xff20f000, 0x4500e000, {U(ZD), R(ZN)}},                        /* SSRA, ... */
    {0xff20f800, 0x4500f000, {U(ZD), R(ZN)}},                        /* SRI, SLI */
    {0xff20c000, 0x4500c000, {U(ZD), R(ZN), R(ZM)}},                 /* SABA, ADCLB, ... */
    {0xffb0c000, 0x45b00000, {W(ZD), R(ZN2)}},                       /* SQRSHRN of two */
    {0xffffe400, 0x45314000, {W(ZD), R(ZN2)}},                       /* SQCVTN, ... */
    {0xff20e400, 0x45206000, {W(ZD), R(ZN), R(ZM)}},                 /* ADDHNB, ... */
    {0xff20e400, 0x45206400, {U(ZD), R(ZN), R(ZM)}},                 /* ADDHNT, ... */
    {0xff208400, 0x45200000, {W(ZD), R(ZN)}},                        /* SHRNB, SQXTNB, ... */
    {0xff208400, 0x45200400, {U(ZD), R(ZN)}},                        /* SHRNT, SQXTNT, ... */
    {0xff20e000, 0x45208000, {W(PD), R(PG), R(ZN), R(ZM), W(NZCV)}}, /* MATCH, NMATCH */
    {0xff20e000, 0x4520c000, {W(ZD), R(PG), R(ZN), R(ZM)}},          /* HISTCNT */
    {0xff3ffbe0, 0x4520e000, {U(ZD)}},                               /* AESMC, AESIMC */
    {0xff3ef800, 0x4522e000, {U(ZD), R(ZN)}},                        /* AESE, AESD, SM4E */
    {0xff20fc00, 0x4520b400, {W(ZD), R(ZN_2), R(ZM)}},               /* LUTI4 of two */
    {0xff20a000, 0x4520a000, {W(ZD), R(ZN), R(ZM)}},                 /* HISTSEG, LUTI2, RAX1, ... */
};

static const a64_row rows_64[] = {
    {0xff208000, 0x64000000, {U(ZD), R(PG), R(ZN), R(ZM)}}, /* FCMLA */
    {0xff30e000, 0x6410a000, {W(ZD), R(PG), R(ZN)}},        /* FADDQV, ... */
    {0xff20c000, 0x64008000, {U(ZD), R(PG), R(ZN)}},        /* FADDP, FCVTNT, FCADD, ... */
    {0xff20fc00, 0x64202400, {U(ZD), R(ZN), R(ZM)}},        /* FCLAMP */
    {0xff20c000, 0x64208000, {U(ZD), R(ZN), R(ZM)}},        /* FMLALB, FDOT, ... */
    {0xff20f000, 0x6420c000, {U(ZD), R(ZN), R(ZM8)}},       /* FMLALLBB with a lane, ... */
    {0xff20c000, 0x6420c000, {U(ZD), R(ZN), R(ZM)}},        /* FMMLA, ... */
    {0xffe0f000, 0x64e02000, {W(ZD), R(ZN), R(ZM16)}},      /* FMUL with a lane */
    {0xff20f000, 0x64202000, {W(ZD), R(ZN), R(ZM8)}},
    {0xffe0e000, 0x64e00000, {U(ZD), R(ZN), R(ZM16)}}, /* FMLA, FCMLA with a lane */
    {0xff200000, 0x64200000, {U(ZD), R(ZN), R(ZM8)}},
};

static const a64_row rows_65[] = {
    {0xff38fc00, 0x65108000, {U(ZD), R(ZN)}},               /* FTMAD */
    {0xff38e000, 0x65188000, {U(ZD), R(PG)}},               /* of a constant */
    {0xff20e000, 0x65008000, {U(ZD), R(PG), R(ZN)}},        /* two operands, predicated */
    {0xff20e000, 0x6500a000, {U(ZD), R(PG), R(ZN)}},        /* FRINTN, FCVT, ... */
    {0xff20e000, 0x65000000, {W(ZD), R(ZN), R(ZM)}},        /* two operands */
    {0xff3ffc00, 0x650a3c00, {U(ZD), R(ZN2)}},              /* FCVTNT to 8 bits */
    {0xff3ff000, 0x650a3000, {W(ZD), R(ZN2)}},              /* FCVTN, BFCVTN to 8 bits */
    {0xff38f000, 0x65083000, {W(ZD), R(ZN)}},               /* FRECPE, FRSQRTE, F1CVT, ... */
    {0xff38e000, 0x65102000, {W(PD), R(PG), R(ZN)}},        /* FCMEQ with zero, ... */
    {0xff38e000, 0x65182000, {U(ZD), R(PG), R(ZN)}},        /* FADDA */
    {0xff20e000, 0x65002000, {W(ZD), R(PG), R(ZN)}},        /* reductions */
    {0xff204000, 0x65004000, {W(PD), R(PG), R(ZN), R(ZM)}}, /* FCMEQ, ... */
    {0xff200000, 0x65200000, {U(ZD), R(PG), R(ZN), R(ZM)}}, /* FMLA, ... */
};

void a64_decode_sve(uint32_t op, a64_operands *o)
{
    static const struct {
        const a64_row *rows;
        size_t count;
    } tables[8] = {
        {rows_04, TL_COUNT(rows_04)}, {rows_05, TL_COUNT(rows_05)}, {rows_24, TL_COUNT(rows_24)},
        {rows_25, TL_COUNT(rows_25)}, {rows_44, TL_COUNT(rows_44)}, {rows_45, TL_COUNT(rows_45)},
        {rows_64, TL_COUNT(rows_64)}, {rows_65, TL_COUNT(rows_65)},
    };
    unsigned which = a64_field(op, 30, 29) << 1 | a64_bit(op, 24);
    a64_add_row(tables[which].rows, tables[which].count, op, o);
}
