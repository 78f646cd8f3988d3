/* XRay basic ("naive") files, versions 1 to 3: offsets and record kinds, shared by reader and writer.
 *
 *   file       header (32 bytes), then records of 32 bytes; the records of a thread are in order, threads interleave
 *
 *   header     0         2      4       8                 16              32
 *              | version | type | flags | cycle frequency | free          |
 *
 *   function   0      2     3      4          8          16    20    24      32
 *              | 0    | cpu | kind | function | ticks    | tid | pid | unused |
 *
 *   argument   0      2            4          8    12    16         24      32
 *              | 1    | unused     | function | tid| pid | argument | unused |
 *
 * An argument record belongs to the record before it of the same thread, if that is an entry with arguments (kind 3) of
 * the same function. Version 1 has no tail exits; pid is valid from version 3 on. Logs may follow each other in a file,
 * each with its header. */
#ifndef TL_FORMAT_BASIC_LAYOUT_H
#define TL_FORMAT_BASIC_LAYOUT_H

enum {
    BASIC_HEADER_VERSION = 0, /* u16 */
    BASIC_HEADER_TYPE = 2,    /* u16, BASIC_TYPE */
    BASIC_HEADER_FLAGS = 4,   /* u32, the upper 30 bits are undefined */
    BASIC_HEADER_HZ = 8,      /* u64; 0: not known */
    BASIC_HEADER_SIZE = 32
};
#define BASIC_HZ_MAX UINT64_C(100000000000) /* no counter is faster: larger values show that this is not a header */
enum { BASIC_TYPE = 0, BASIC_VERSION_MIN = 1, BASIC_VERSION_MAX = 3 };
enum { BASIC_FLAG_CONSTANT_TSC = 1, BASIC_FLAG_NONSTOP_TSC = 2 };

enum { BASIC_RECORD_SIZE = 32, BASIC_RECORD_TYPE = 0 /* u16, offset in every record */ };
enum { BASIC_FUNCTION, BASIC_ARGUMENT, BASIC_RECORD_TYPES };

/* Function records. */
enum {
    BASIC_FUNCTION_CPU = 2,  /* u8 */
    BASIC_FUNCTION_KIND = 3, /* u8 */
    BASIC_FUNCTION_ID = 4,   /* i32 */
    BASIC_FUNCTION_TSC = 8,  /* u64 */
    BASIC_FUNCTION_TID = 16, /* u32 */
    BASIC_FUNCTION_PID = 20  /* u32 */
};
enum { BASIC_ENTER, BASIC_EXIT, BASIC_TAIL_EXIT, BASIC_ENTER_ARGS, BASIC_KINDS };

/* Argument records. */
enum {
    BASIC_ARGUMENT_ID = 4,    /* i32 */
    BASIC_ARGUMENT_TID = 8,   /* u32 */
    BASIC_ARGUMENT_PID = 12,  /* u32 */
    BASIC_ARGUMENT_VALUE = 16 /* u64 */
};

#endif
