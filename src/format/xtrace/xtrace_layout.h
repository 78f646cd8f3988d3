/* The bytes of an instruction stream (.xinsndata.bin): tokens, each with its payload, little-endian, nothing else.
 *
 *     token   7 6 5 4 3 2 1 0
 *             h h h h h c c c      c: class, h: kind within its class
 *
 *     c  name      token                    payload
 *     1  INST      EL<<6 | 0x01             u32 opcode; the pc is that of the instruction before, plus 4
 *        PCINST    EL<<6 | 0x09             u64 pc, u32 opcode
 *     2  LOAD      k<<4 | 0x02              u64 address, 2^k bytes
 *        STORE     k<<4 | 0x0a              the same
 *     3  values    0x03 .. 0x2b             u64: STXR status, MRS or MSR value, SVC argument, SVC result, DC operand,
 *                                           target of a branch to a register
 *     4  ALLGPR    0x0c                     32 u64: X0 .. X30, SP
 *        FLAGS     0x1c                     u64: NZCV
 *        VEC       0x24                     u64 n, n times (u64 base, u64 length)
 *     7  TIME      0x07                     u64: order of the next access among all streams
 *
 * Tokens after an instruction belong to it. The layout of snapshots is in xtrace_snapshot.h. */
#ifndef TL_XTRACE_LAYOUT_H
#define TL_XTRACE_LAYOUT_H

enum {
    XTRACE_INST = 0x01, /* of level 0; the level is in the two highest bits */
    XTRACE_PCINST = 0x09,
    XTRACE_INSN_MASK = 0x3f, /* distinguishes INST and PCINST */
    XTRACE_LEVEL_SHIFT = 6,
    XTRACE_CLASS_MASK = 7,
    XTRACE_MEM = 2, /* the class */
    XTRACE_MEM_STORE = 8,
    XTRACE_MEM_SIZE_SHIFT = 4,
    XTRACE_STXR = 0x03,
    XTRACE_MRS = 0x0b,
    XTRACE_SVC_ARG = 0x13,
    XTRACE_SVC_RET = 0x1b,
    XTRACE_DC = 0x23,
    XTRACE_TARGET = 0x2b,
    XTRACE_ALLGPR = 0x0c,
    XTRACE_FLAGS = 0x1c,
    XTRACE_VEC = 0x24,
    XTRACE_TIME = 0x07
};

/* Bytes of a token with its payload. */
enum {
    XTRACE_INST_SIZE = 5,
    XTRACE_PCINST_SIZE = 13,
    XTRACE_MEM_HEAD = 9, /* of LOAD and STORE without the bytes */
    XTRACE_VALUE_SIZE = 9,
    XTRACE_ALLGPR_SIZE = 257,
    XTRACE_VEC_HEAD = 9,
    XTRACE_VEC_ENTRY = 16
};

#define XTRACE_REGISTERS 32u

/* The index of a stream in seekable zstd, in a skippable frame of its own: u32 magic, u32 version, u64 n, and n times
 * u64 offset in the content, u64 instructions before, u64 of these at level 0, u64 pc, u64 flags. The entries are the
 * begins of frames, each at a PCINST with that pc; only the first may begin with any token. */
#define XTRACE_INDEX_FRAME_MAGIC 0x184d2a5bu
#define XTRACE_INDEX_MAGIC       0x49584c54u /* "TLXI" */
enum { XTRACE_INDEX_VERSION = 1, XTRACE_INDEX_HEAD = 16, XTRACE_INDEX_ENTRY = 40, XTRACE_INDEX_HAS_PC = 1 };

/* Most entries of a VEC that are read: more than any system call takes (1024), few enough to keep in memory. */
#define XTRACE_VEC_MAX (1u << 20)

#endif
