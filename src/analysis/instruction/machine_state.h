/* A thread's registers and memory before an instruction, as far as known: the last snapshot, with all instructions from
 * there replayed. Nothing is guessed: other registers are unknown.
 *
 * Memory: the pages touched between the snapshot and the instruction, and the bytes of one instruction. */
#ifndef TL_ANALYSIS_MACHINE_STATE_H
#define TL_ANALYSIS_MACHINE_STATE_H

#include "base/shadow.h"
#include "isa/a64_eval.h"
#include "traceloom/sink.h"
#include "traceloom/source.h"

/* System registers seen in MRS and MSR, by their names in snapshots. */
enum { TL_MACHINE_SYSTEM = 10 };
typedef struct tl_machine_register {
    uint16_t number; /* as of a64_system */
    const char *name;
    uint8_t changes; /* implicitly: 1: with the level, 2: when it rises to 1 */
} tl_machine_register;
extern const tl_machine_register tl_machine_system[TL_MACHINE_SYSTEM];

#define TL_VECTOR_BYTES 16u /* low bytes of a vector register that are kept */

typedef struct tl_machine {
    uint64_t at;       /* instructions executed before */
    const char *track; /* its name; lives as long as the trace */
    bool is_cpu;       /* a processor, named as such */
    bool has_snapshot;
    uint64_t from; /* the instruction where replaying began: that of the snapshot, or 0 */
    a64_state registers;
    uint8_t vector[32][TL_VECTOR_BYTES];
    uint32_t vectors;            /* a bit for each known one */
    uint32_t vectors_written;    /* a bit for each one written since `from` */
    uint32_t predicates_written; /* the same, as a64_regs.p */
    uint64_t system[TL_MACHINE_SYSTEM];
    uint16_t system_known;   /* a bit for each one seen since `from` */
    uint16_t system_unknown; /* ... or changed implicitly */
    bool has_next;           /* the next instruction: */
    bool has_pc;
    uint64_t pc;
    uint32_t opcode;
    unsigned level;
    bool has_address, has_target; /* of its first access; the target of a branch to a register: */
    uint64_t address, target;
    tl_shadow *memory; /* as last loaded or stored since `from`, without writes by system calls */
} tl_machine;

/* The state before instruction number `at` of the only track that `select` (may be NULL) selects. The source must have
 * been opened with tl_want.fields and companions. Call tl_machine_fini() even on failure. Errors: those of reading;
 * TL_EINVAL: several tracks, or fewer instructions than that; TL_EUNSUPPORTED: no instructions; TL_ENOMEM. */
int tl_machine_at(tl_machine *m, tl_source *s, const tl_select *select, uint64_t at, tl_error *e);
/* The same for a track by index. */
int tl_machine_at_track(tl_machine *m, tl_source *s, uint32_t track, uint64_t at, tl_error *e);
void tl_machine_fini(tl_machine *m);

/* Step-by-step replay for callers with the events of one track in order. */
typedef struct tl_replay {
    tl_machine *machine;
    uint64_t pc; /* of the pending instruction */
    uint32_t opcode;
    unsigned level;
    bool waiting;
    a64_seen seen;
    uint8_t loaded[256];
    bool has_stores, has_flags;
    bool has_general; /* all general registers came after it */
    uint32_t flags;   /* NZCV after it */
    uint64_t store_address;
    size_t store_size;
} tl_replay;

/* An event of the track: its kind, from tl_insn_classes, and its place in a batch with fields. No snapshots. Errors:
 * TL_ENOMEM. */
int tl_replay_event(tl_replay *r, unsigned what, const tl_batch *b, uint32_t i, tl_error *e);
/* Completes the pending instruction. */
void tl_replay_finish(tl_replay *r);
/* Instructions of this level follow: each level has a stack pointer of its own. */
void tl_replay_level(tl_replay *r, unsigned level);
/* Sets all registers to those of a snapshot. */
void tl_replay_snapshot(tl_replay *r, const tl_batch *b, uint32_t i);

#endif
