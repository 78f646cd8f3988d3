/* What is known of a thread's registers and memory before an instruction: the last snapshot, and all instructions from
 * there on, replayed. Nothing is guessed: a register whose value does not follow is unknown.
 *
 * Memory: the pages that are touched between the snapshot and the instruction, and the bytes of one instruction. */
#ifndef TL_ANALYSIS_MACHINE_STATE_H
#define TL_ANALYSIS_MACHINE_STATE_H

#include "base/shadow.h"
#include "isa/a64_eval.h"
#include "traceloom/sink.h"
#include "traceloom/source.h"

/* Registers of the system that MRS and MSR tell, by the names that snapshots have for them. */
enum { TL_MACHINE_SYSTEM = 10 };
typedef struct tl_machine_register {
    uint16_t number; /* as of a64_system */
    const char *name;
    uint8_t changes; /* without being told: 1: with the level, 2: where it goes up to 1 */
} tl_machine_register;
extern const tl_machine_register tl_machine_system[TL_MACHINE_SYSTEM];

#define TL_VECTOR_BYTES 16u /* the low bytes of a vector register that are kept */

typedef struct tl_machine {
    uint64_t at;       /* instructions executed before */
    const char *track; /* its name; lives as long as the trace */
    bool is_cpu;       /* it is a processor, and its name says so */
    bool has_snapshot;
    uint64_t from; /* the instruction at which replaying began: that of the snapshot, or 0 */
    a64_state registers;
    uint8_t vector[32][TL_VECTOR_BYTES];
    uint32_t vectors;            /* a bit for each that is known */
    uint32_t vectors_written;    /* a bit for each that was written since `from` */
    uint32_t predicates_written; /* the same, as a64_regs.p */
    uint64_t system[TL_MACHINE_SYSTEM];
    uint16_t system_known;   /* a bit for each that was told since `from` */
    uint16_t system_unknown; /* ... or changed without being told */
    bool has_next;           /* the instruction that comes next: */
    bool has_pc;
    uint64_t pc;
    uint32_t opcode;
    unsigned level;
    bool has_address, has_target; /* of its first access; where a branch to a register goes: */
    uint64_t address, target;
    tl_shadow *memory; /* as last loaded or stored since `from`, without what system calls wrote */
} tl_machine;

/* The state before instruction number `at` of the only track that `select` (may be NULL) chooses. The source must have
 * been opened with tl_want.fields and companions. tl_machine_fini() has to be called also on failure. Errors: those of
 * reading; TL_EINVAL: several tracks, or fewer instructions than that; TL_EUNSUPPORTED: no instructions; TL_ENOMEM. */
int tl_machine_at(tl_machine *m, tl_source *s, const tl_select *select, uint64_t at, tl_error *e);
/* The same of one track, by its index. */
int tl_machine_at_track(tl_machine *m, tl_source *s, uint32_t track, uint64_t at, tl_error *e);
void tl_machine_fini(tl_machine *m);

/* Replaying, step by step, for those who have the events: one after the other, of one track. */
typedef struct tl_replay {
    tl_machine *machine;
    uint64_t pc; /* of the instruction that is waiting for what it did */
    uint32_t opcode;
    unsigned level;
    bool waiting;
    a64_seen seen;
    uint8_t loaded[256];
    bool has_stores, has_flags;
    uint32_t flags; /* NZCV behind it */
    uint64_t store_address;
    size_t store_size;
} tl_replay;

/* An event of the trace's track: what it is, from tl_insn_classes, and its place in a batch with fields. Snapshots are
 * left out. Errors: TL_ENOMEM. */
int tl_replay_event(tl_replay *r, unsigned what, const tl_batch *b, uint32_t i, tl_error *e);
/* Finishes the instruction that is waiting. */
void tl_replay_finish(tl_replay *r);
/* Instructions of this level follow: each level has a stack pointer of its own. */
void tl_replay_level(tl_replay *r, unsigned level);
/* All registers become those of a snapshot. */
void tl_replay_snapshot(tl_replay *r, const tl_batch *b, uint32_t i);

#endif
