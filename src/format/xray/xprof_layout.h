/* XRay profile ("xrayprof") files: offsets, shared by reader and writer.
 *
 *   file     header (32 bytes), then a block per thread
 *
 *   header   0       8         16           24    32
 *            | magic | version | time in ns | pid |           all u64
 *
 *   block    0      4        8          16
 *            | size | number | thread   | records ...         size counts the block header; u32, u32, u64
 *
 *   record   0                        4*n   4*n+4   4*n+12   4*n+20
 *            | function ids (i32 * n) | 0   | calls | time   |        leaf first; u64, u64 ticks
 *
 * The time of a record includes that of everything called from its innermost function. */
#ifndef TL_FORMAT_XPROF_LAYOUT_H
#define TL_FORMAT_XPROF_LAYOUT_H

#define XPROF_MAGIC   UINT64_C(0x7872617970726f66) /* "xrayprof" read as one number */
#define XPROF_VERSION UINT64_C(0x20180424)

enum {
    XPROF_HEADER_MAGIC = 0,
    XPROF_HEADER_VERSION = 8,
    XPROF_HEADER_TIME = 16,
    XPROF_HEADER_PID = 24,
    XPROF_HEADER_SIZE = 32
};
enum { XPROF_BLOCK_BYTES = 0, XPROF_BLOCK_NUMBER = 4, XPROF_BLOCK_THREAD = 8, XPROF_BLOCK_SIZE = 16 };
enum { XPROF_ID_SIZE = 4, XPROF_NUMBERS_SIZE = 16, XPROF_NUMBERS_TIME = 8 };

#endif
