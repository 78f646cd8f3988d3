/* Traces of DynamoRIO's drmemtrace as its tools read them: entries of 12 bytes, little-endian.
 *
 *     0 u16 type   2 u16 size   4 u64 value: an address, a number, or bytes of an opcode
 *
 *     HEADER version; markers version, file type; THREAD id, PID id; markers cache line, chunk, page, time, processor;
 *     then for each instruction: maybe ENCODING, maybe marker branch target, INSTR..., READ, WRITE and FLUSH,
 *     and for a system call time, processor, its number, its arguments, time, processor, its result;
 *     THREAD_EXIT id, FOOTER
 *
 * Numbers as in version 7. */
#ifndef TL_FORMAT_DRMEMTRACE_LAYOUT_H
#define TL_FORMAT_DRMEMTRACE_LAYOUT_H

enum { DRMEMTRACE_SIZE = 12, DRMEMTRACE_VERSION = 7 };

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
    DRMEMTRACE_INSTR_FLUSH = 18,
    DRMEMTRACE_DATA_FLUSH = 20,
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
    DRMEMTRACE_MARK_KERNEL_EVENT = 0, /* a signal; the value: where the program was */
    DRMEMTRACE_MARK_KERNEL_XFER = 1,  /* the return from a signal's handler */
    DRMEMTRACE_MARK_TIMESTAMP = 2,
    DRMEMTRACE_MARK_CPU = 3,
    DRMEMTRACE_MARK_FUNCTION = 4, /* DRMEMTRACE_SYSTEM_CALL + the number of the call */
    DRMEMTRACE_MARK_ARGUMENT = 6,
    DRMEMTRACE_MARK_RESULT = 7,
    DRMEMTRACE_MARK_FILETYPE = 9,
    DRMEMTRACE_MARK_CACHE_LINE = 10,
    DRMEMTRACE_MARK_VERSION = 12,
    DRMEMTRACE_MARK_WINDOW = 14, /* there is a gap before it if its value is a new one */
    DRMEMTRACE_MARK_PAGE = 18,
    DRMEMTRACE_MARK_CHUNK = 20,
    DRMEMTRACE_MARK_SYSCALL = 25,
    DRMEMTRACE_MARK_BRANCH_TARGET = 29,
    DRMEMTRACE_MARK_FAILED = 30,
    DRMEMTRACE_MARK_UNCOMPLETED = 41 /* an instruction that failed: its opcode */
};

/* Bits of the file type. */
enum { DRMEMTRACE_FILE_AARCH64 = 0x08, DRMEMTRACE_FILE_ENCODINGS = 0x200, DRMEMTRACE_FILE_SYSCALLS = 0x400 };

#define DRMEMTRACE_SYSTEM_CALL (UINT64_C(1) << 32)

#endif
