/* XRay flight data recorder (FDR) files, versions 1 to 5: offsets, record kinds and masks, shared by reader and writer.
 *
 *   file    header (32 bytes), then thread buffers
 *   v1      ( NewBuffer Walltime NewCPUId body* EndOfBuffer  unused up to buffer_size )*
 *   v2      ( BufferExtents NewBuffer Walltime NewCPUId body* )*
 *   v3      Pid comes between Walltime and NewCPUId
 *   v4      CustomEvent carries its own cpu
 *   v5      CustomEvent and TypedEvent carry a time difference, before their time
 *   body    Function CallArgument NewCPUId TSCWrap CustomEvent TypedEvent
 *
 *   header    0        2      4        8                16               24        32
 *             | version | type | flags  | cycle frequency | buffer size     | unused  |
 *
 *   function  0             4             8         one u32 (below), then u32 ticks since the running time
 *             | kind and id | difference  |
 *
 *   metadata  0    1                            16  byte 0 = kind << 1 | 1 in little-endian files, 0x80 | kind in big
 *             | b0 | body (15 bytes)             |  ones; events are followed by their payload, without padding
 *
 *   function word     little: id << 4 | action << 1 | 0          big: 0 << 31 | action << 28 | id
 *
 * NewCPUId and TSCWrap set the running time (u64 ticks); a function record and the events of v5 add to it, modulo 2^64.
 * Walltime holds seconds and microseconds, of CLOCK_MONOTONIC in the files of the LLVM runtime. Logs may follow each
 * other in a file, each with its header. */
#ifndef TL_FORMAT_FDR_LAYOUT_H
#define TL_FORMAT_FDR_LAYOUT_H

/* File header; the first 16 bytes are the same in basic files. */
enum {
    FDR_HEADER_VERSION = 0,      /* u16 */
    FDR_HEADER_TYPE = 2,         /* u16, FDR_TYPE */
    FDR_HEADER_FLAGS = 4,        /* u32, the upper 30 bits are undefined */
    FDR_HEADER_HZ = 8,           /* u64; 0: not known */
    FDR_HEADER_BUFFER_SIZE = 16, /* u64, size of a slot in version 1; only information later */
    FDR_HEADER_MARK = 24,        /* 8 bytes: our recorder's mark, else anything */
    FDR_HEADER_SIZE = 32
};

/* Files of our own recorder (src/rt) are of version 5 and marked in the header: "tlrt", a letter, three zeros.
 *
 *   'D'  done: a usual file.
 *   'L'  live: being written, or its program was killed. The file is mapped and filled in place: extents are the room
 *        that a buffer has, and the first 8 bytes of zeros where a record could begin (less at its very end) say that
 *        the rest of the buffer is not written yet. Zeros where BufferExtents should be go on to the next multiple of
 *        FDR_LIVE_PAGE in the file. Nothing of this is damage.
 *
 * Custom events whose payload begins with one of these words are not events of the program. FDR_WORD_NOTE: lines of
 * text about the recording (rt/rt_note.h), in buffers of their own. FDR_WORD_PAD: fills a buffer up to its extents. */
#define FDR_MARK_DONE "tlrtD\0\0" /* 8 bytes with the final zero */
#define FDR_MARK_LIVE "tlrtL\0\0"
#define FDR_WORD_NOTE "tlrt.txt" /* 8 bytes */
#define FDR_WORD_PAD  "tlrt.pad"
enum { FDR_MARK_SIZE = 8, FDR_WORD_SIZE = 8, FDR_LIVE_PAGE = 4096 };
enum { FDR_TYPE = 1, FDR_VERSION_MIN = 1, FDR_VERSION_MAX = 5 };
enum { FDR_OVERWRITES_MAX = 2 }; /* the newest version whose producers wrote over the payloads of events */
enum { FDR_FLAG_CONSTANT_TSC = 1, FDR_FLAG_NONSTOP_TSC = 2 };

/* Kinds of metadata records. */
enum {
    FDR_NEW_BUFFER,
    FDR_END_OF_BUFFER, /* version 1 only */
    FDR_NEW_CPU_ID,
    FDR_TSC_WRAP,
    FDR_WALLTIME,
    FDR_CUSTOM_EVENT,
    FDR_CALL_ARGUMENT,
    FDR_BUFFER_EXTENTS, /* from version 2 on */
    FDR_TYPED_EVENT,
    FDR_PID, /* from version 3 on, optional */
    FDR_KINDS
};

/* Sizes of records, in bytes; and the smallest slot of version 1 that can hold a buffer. */
enum { FDR_FUNCTION_SIZE = 8, FDR_METADATA_SIZE = 16, FDR_SLOT_MIN = 3 * FDR_METADATA_SIZE };

/* Offsets in metadata records, from their first byte on. */
enum {
    FDR_NEW_BUFFER_TID = 1,        /* i32 */
    FDR_NEW_CPU_ID_CPU = 1,        /* u16 */
    FDR_NEW_CPU_ID_TSC = 3,        /* u64 */
    FDR_TSC_WRAP_TSC = 1,          /* u64 */
    FDR_WALLTIME_SECONDS = 1,      /* i64 */
    FDR_WALLTIME_MICROSECONDS = 9, /* i32 */
    FDR_CALL_ARGUMENT_VALUE = 1,   /* u64 */
    FDR_BUFFER_EXTENTS_BYTES = 1,  /* u64, bytes that follow this record */
    FDR_PID_PID = 1,               /* i32 */
    FDR_EVENT_SIZE = 1,            /* i32, bytes of payload: custom and typed */
    FDR_EVENT_TSC = 5,             /* u64, versions 1 to 4: custom and typed */
    FDR_CUSTOM_CPU = 13,           /* u16, version 4 */
    FDR_TYPED_TYPE_OLD = 13,       /* u16, versions 1 to 4 */
    FDR_EVENT_DELTA = 5,           /* i32, version 5: custom and typed */
    FDR_TYPED_TYPE = 9             /* u16, version 5 */
};

/* Function records. */
enum {
    FDR_FUNCTION_WORD = 0,  /* u32 */
    FDR_FUNCTION_DELTA = 4, /* u32 */
};
/* Actions of function records; the same numbers as the kinds of basic records. */
enum { FDR_ENTER, FDR_EXIT, FDR_TAIL_EXIT, FDR_ENTER_ARGS, FDR_ACTIONS };

enum {
    FDR_METADATA_BIT_LITTLE = 0x01,
    FDR_METADATA_BIT_BIG = 0x80,
    FDR_KIND_SHIFT_LITTLE = 1,
    FDR_KIND_MASK_BIG = 0x7f,
    FDR_ACTION_MASK = 7,
    FDR_ACTION_SHIFT_LITTLE = 1,
    FDR_ID_SHIFT_LITTLE = 4,
    FDR_ACTION_SHIFT_BIG = 28,
    FDR_ID_MAX = 0x0fffffff /* 28 bits; also the mask of the id in a big-endian word */
};

/* Byte 0 of a metadata record. */
#define FDR_BYTE0(kind, big)        ((uint8_t)((big) ? FDR_METADATA_BIT_BIG | (kind) : (kind) << FDR_KIND_SHIFT_LITTLE | 1))
/* Is this first byte one of a metadata record, and of which kind? */
#define FDR_IS_METADATA(byte0, big) (((byte0) & ((big) ? FDR_METADATA_BIT_BIG : FDR_METADATA_BIT_LITTLE)) != 0)
#define FDR_KIND(byte0, big)        ((big) ? (byte0)&FDR_KIND_MASK_BIG : (byte0) >> FDR_KIND_SHIFT_LITTLE)
/* Parts of a function word that was loaded in the file's byte order. */
#define FDR_WORD_ACTION(word, big)                                                                                     \
    (((word) >> ((big) ? FDR_ACTION_SHIFT_BIG : FDR_ACTION_SHIFT_LITTLE)) & FDR_ACTION_MASK)
#define FDR_WORD_ID(word, big) ((big) ? (word)&FDR_ID_MAX : (word) >> FDR_ID_SHIFT_LITTLE)

#endif
