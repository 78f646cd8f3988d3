/* Memory that `traceloom record --insn` shares with the plugin in QEMU. Each thread of the recorded program fills the
 * blocks of a stream; the command writes them to files, and gives them back. Nothing here is locked, and every token is
 * counted as soon as it is whole, so that a process that is killed loses none. */
#ifndef TL_QEMU_INSN_LAYOUT_H
#define TL_QEMU_INSN_LAYOUT_H

#include <stdint.h>

#define INSN_MAGIC        UINT64_C(0x314e534e494c5401)
#define INSN_STREAMS_MOST 256u        /* threads that are recorded at the same time */
#define INSN_BLOCKS       4u          /* of a stream, before its thread has to wait: a power of two */
#define INSN_BLOCK_BYTES  (1u << 20)  /* of tokens; pages that are not used take no memory */
#define INSN_STATES_BYTES (64u << 10) /* of snapshots taken in that block */
#define INSN_STATE        1424u       /* bytes of a snapshot with vectors of 128 bits */
#define INSN_STATE_HEADER 24u         /* bytes before the first one in a file */
#define INSN_TOKENS_MOST  (32u << 10) /* bytes of tokens of one instruction */

/* Why the plugin ended the program before its first instruction. */
typedef enum insn_refusal { INSN_ACCEPTED, INSN_NO_REGISTERS, INSN_WIDE_VECTORS, INSN_NO_MEMORY } insn_refusal;

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

typedef struct insn_shared {
    uint64_t magic;
    int32_t command;   /* its process; when it is gone, nothing more is recorded */
    uint32_t interval; /* instructions between snapshots; 0: none */
    uint32_t stop;     /* 1: nothing more is recorded */
    uint32_t filled;   /* counts blocks and ends of threads; the command sleeps on it */
    uint32_t attached; /* the plugin was loaded */
    uint32_t refused;  /* insn_refusal */
    uint32_t too_many; /* threads that found no stream */
    uint32_t execs;    /* execve() that was called: what it starts is not recorded */
    uint64_t accesses; /* the last TIME */
    insn_stream stream[INSN_STREAMS_MOST];
} insn_shared;

/* The blocks follow, each with its snapshots behind its tokens. */
#define INSN_HEAD        ((sizeof(insn_shared) + 4095u) & ~UINT64_C(4095))
#define INSN_BLOCK_ROOM  (INSN_BLOCK_BYTES + INSN_STATES_BYTES)
#define INSN_STREAM_ROOM ((uint64_t)INSN_BLOCKS * INSN_BLOCK_ROOM)
#define INSN_SHARED_SIZE (INSN_HEAD + INSN_STREAMS_MOST * INSN_STREAM_ROOM)

#endif
