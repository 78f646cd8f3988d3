/* Memory that `traceloom record --insn` shares with the plugin in QEMU. Each thread of the recorded program fills the
 * blocks of a stream; the command writes them to files, and gives them back. Nothing here is locked, and every token is
 * counted as soon as it is whole, so that a process that is killed loses none. */
#ifndef TL_QEMU_INSN_LAYOUT_H
#define TL_QEMU_INSN_LAYOUT_H

#include <stdint.h>

#define INSN_MAGIC        UINT64_C(0x314e534e494c5402)
#define INSN_STREAMS_MOST 256u        /* threads that are recorded at the same time */
#define INSN_BLOCKS       4u          /* of a stream, before its thread has to wait: a power of two */
#define INSN_BLOCK_BYTES  (1u << 20)  /* of tokens; pages that are not used take no memory */
#define INSN_STATES_BYTES (64u << 10) /* of snapshots taken in that block */
#define INSN_STATE        1424u       /* bytes of a snapshot with vectors of 128 bits */
#define INSN_STATE_HEADER 24u         /* bytes before the first one in a file */
#define INSN_TOKENS_MOST  (32u << 10) /* bytes of tokens of one instruction */
#define INSN_PATH         4096u       /* bytes of a library's path */

/* Why the plugin ended the program before its first instruction. */
typedef enum insn_refusal {
    INSN_ACCEPTED,
    INSN_NO_REGISTERS,
    INSN_WIDE_VECTORS,
    INSN_NO_MEMORY,
    INSN_NO_SLICES
} insn_refusal;

typedef enum insn_state {
    INSN_FREE,
    INSN_TAKEN, /* being made */
    INSN_OPEN,
    INSN_ENDED /* the command frees it when its blocks are written */
} insn_state;

typedef struct insn_block {
    uint64_t filled; /* bytes of tokens, and above INSN_FILLED_BITS the instructions among them: stored as one */
    uint64_t insns;  /* before it */
    uint64_t states; /* bytes of snapshots */
} insn_block;
#define INSN_FILLED_BITS 32

typedef struct insn_stream {
    uint32_t state; /* insn_state */
    int32_t pid, tid;
    uint32_t head; /* blocks filled; the thread writes into the next one */
    uint32_t tail; /* blocks written to the file */
    uint32_t has_times, reserved;
    uint64_t loads, stores, calls; /* so far; calls: of the system */
    insn_block block[INSN_BLOCKS];
} insn_stream;

/* Where recording begins and ends, if not with the program: at a call, or at an instruction of a thread. */
typedef struct insn_slice {
    uint32_t wanted;
    uint32_t in_library; /* the function is not the program's: libraries are asked for it as they are mapped */
    uint32_t taken;      /* by the first thread that got there: there is one slice */
    uint64_t function;   /* its address in the file; 0: by instruction */
    uint64_t entry;      /* of the program, in the file */
    uint64_t number;     /* of the call, counted from 1; of the instruction, from 0 */
    uint64_t calls;      /* of the function so far */
    uint64_t insns_most; /* 0: to the end of that call, or of the thread */
} insn_slice;

/* The plugin asks for a function of a library, which the command looks up in the file. */
enum { INSN_UNASKED, INSN_ASKING, INSN_ASKED, INSN_ANSWERED };
typedef struct insn_question {
    uint32_t state;
    uint32_t reserved;
    uint64_t offset; /* of the function behind the begin of the library in memory; 0: it has none */
    char path[INSN_PATH];
} insn_question;

typedef struct insn_shared {
    uint64_t magic;
    int32_t command;   /* its process; when it is gone, nothing more is recorded */
    uint32_t interval; /* instructions between snapshots; 0: none */
    uint32_t stop;     /* 1: nothing more is recorded */
    uint32_t filled;   /* counts blocks and ends of threads; the command sleeps on it */
    uint32_t attached; /* the plugin was loaded */
    uint32_t refused;  /* insn_refusal */
    uint32_t too_many; /* threads that found no stream */
    uint32_t frames;   /* each block begins with an instruction and its pc */
    uint32_t execs;    /* execve() that was called: what it starts is not recorded */
    uint32_t reserved;
    uint64_t accesses; /* the last TIME */
    insn_slice slice;
    insn_question question;
    insn_stream stream[INSN_STREAMS_MOST];
} insn_shared;

/* The blocks follow, each with its snapshots behind its tokens. */
#define INSN_HEAD        ((sizeof(insn_shared) + 4095u) & ~UINT64_C(4095))
#define INSN_BLOCK_ROOM  (INSN_BLOCK_BYTES + INSN_STATES_BYTES)
#define INSN_STREAM_ROOM ((uint64_t)INSN_BLOCKS * INSN_BLOCK_ROOM)
#define INSN_SHARED_SIZE (INSN_HEAD + INSN_STREAMS_MOST * INSN_STREAM_ROOM)

#endif
