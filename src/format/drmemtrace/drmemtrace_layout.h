/* Traces of DynamoRIO's drmemtrace as its tools read them: entries of 12 bytes, little-endian.
 *
 *     0 u16 type   2 u16 size   4 u64 value: an address, a number, or bytes of an opcode
 *
 *     HEADER version, MARKER version, MARKER file type, THREAD id, PID id, MARKER timestamp, MARKER processor,
 *     then for each instruction: maybe ENCODING, maybe MARKER branch target, INSTR..., READ and WRITE, MARKER system
 * call THREAD_EXIT id, FOOTER
 *
 * Numbers as in version 5, where branches have their targets. */
#ifndef TL_FORMAT_DRMEMTRACE_LAYOUT_H
#define TL_FORMAT_DRMEMTRACE_LAYOUT_H

enum { DRMEMTRACE_SIZE = 12, DRMEMTRACE_VERSION = 5 };

/* Types. */
enum {
    DRMEMTRACE_READ = 0,
    DRMEMTRACE_WRITE = 1,
    DRMEMTRACE_INSTR = 10,
    DRMEMTRACE_DIRECT_JUMP = 11,
    DRMEMTRACE_INDIRECT_JUMP = 12,
    DRMEMTRACE_CONDITIONAL_JUMP = 13, /* unknown whether it was taken */
    DRMEMTRACE_DIRECT_CALL = 14,
    DRMEMTRACE_INDIRECT_CALL = 15,
    DRMEMTRACE_RETURN = 16,
    DRMEMTRACE_THREAD = 22,
    DRMEMTRACE_THREAD_EXIT = 23,
    DRMEMTRACE_PID = 24,
    DRMEMTRACE_HEADER = 25,
    DRMEMTRACE_FOOTER = 26,
    DRMEMTRACE_MARKER = 28,
    DRMEMTRACE_ENCODING = 47,
    DRMEMTRACE_TAKEN_JUMP = 48,
    DRMEMTRACE_UNTAKEN_JUMP = 49
};

/* Sizes of markers: their meaning. */
enum {
    DRMEMTRACE_MARK_TIMESTAMP = 2,
    DRMEMTRACE_MARK_CPU = 3,
    DRMEMTRACE_MARK_FILETYPE = 9,
    DRMEMTRACE_MARK_VERSION = 12,
    DRMEMTRACE_MARK_SYSCALL = 25,
    DRMEMTRACE_MARK_BRANCH_TARGET = 29
};

/* Bits of the file type. */
enum { DRMEMTRACE_FILE_AARCH64 = 0x08, DRMEMTRACE_FILE_ENCODINGS = 0x200, DRMEMTRACE_FILE_SYSCALLS = 0x400 };

#endif
