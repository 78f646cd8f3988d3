"""Where we differ from LLVM 19 by decision: why(llvm, ours, aspect) is a reason, or None. docs/isa-a64.md says more."""
import re

NZCV, FPCR, FPSR, ZA, ZT0 = (1 << bit for bit in (17, 18, 19, 20, 21))
SP = 1 << 31


def only(theirs, own, register_file, allowed):
    """Do both differ only in the allowed bits of one register file?"""
    return all(theirs[index] == own[index] or (index == register_file and not (theirs[index] ^ own[index]) & ~allowed)
               for index in range(3))


def calls(llvm, ours):
    return only(llvm.reads, ours.reads, 0, SP)


def flags_of_system(llvm, ours):
    return only(llvm.reads, ours.reads, 2, NZCV | FPCR | FPSR) and only(llvm.writes, ours.writes, 2, NZCV | FPCR | FPSR)


def parts(llvm, ours):
    return only(llvm.reads, ours.reads, 2, ZA | ZT0) and not (ours.reads[2] & ~ours.writes[2]) & (ZA | ZT0)


def any_case(llvm, ours):
    return True


# LLVM's names, aspects, a condition, the reason.
DECISIONS = [(re.compile(names), aspects.split(), condition, reason) for names, aspects, condition, reason in (
    (r"BLR?|BLRA[AB]Z?", "reads", calls, "a call does not read SP: that is LLVM's calling convention"),
    (r"MRS|MSR|MSRpstate.*", "reads writes", flags_of_system, "MRS and MSR of NZCV, FPCR and FPSR, and of no other, have flags"),
    (r"LD1_MXIPXX.*|LDR_ZA|MOVT.*|ZERO_M.*|INSERT_.*", "reads", parts, "what writes a part of ZA or ZT0 reads it"),
    (r"ZERO_M", "writes", any_case, "ZERO writes ZA: LLVM has only the mask"),
    (r"CTERM(EQ|NE)_(WW|XX)", "reads", any_case, "CTERMEQ and CTERMNE look at the carry flag"),
    (r"FMOVXDHighr", "reads", any_case, "FMOV to the upper half of a vector leaves the lower one"),
    (r"FCVTNT_Z2Z_StoB", "reads", any_case, "FCVTNT leaves the even lanes"),
    (r"GCSPOPM|GCSSS2", "reads", any_case, "GCSPOPM and GCSSS2 only write Xt"),
    (r"SYSLxt", "reads writes", any_case, "SYSL writes Xt: LLVM has it as a source"),
    (r"ERETA[AB]", "reads", any_case, "ERETAA and ERETAB do not look at X30 but at ELR"),
    (r"(PAC|AUT)I[AB]171615", "reads writes", any_case, "PACIA171615 and its like are about X15, X16, X17"),
    (r"LDA?X[RP][BHWX]|STL?X[RP][BHWX]", "flags", any_case, "exclusive: LLVM says both load and store, to keep their order"),
    (r"ST1_MXIPXX.*", "flags", any_case, "slices of ZA: LLVM says load and store"),
    (r"PRF.*", "flags", any_case, "prefetches of SVE: LLVM says load and store"),
    (r"LDAPURS.*|LD64B|ST64B.*|GCSST.*|LD[GZ].*|ST[GZ2].*|LDIAPP.*|STILP.*|LDAPR.*post|STLR.*pre|LDAP[R1].*|STL[1U].*", "flags", any_case,
     "LLVM does not say that it loads or stores"),
)]


def why(llvm, ours, aspect):
    for names, aspects, condition, reason in DECISIONS:
        if aspect in aspects and names.fullmatch(llvm.name) and condition(llvm, ours):
            return reason
    return None
