/* Claims of snapshots about their stream: how many instructions precede a byte, and registers. Checked while the caller
 * reads the stream once from its begin. */
#ifndef TL_XTRACE_CLAIMS_H
#define TL_XTRACE_CLAIMS_H

#include "base/io/window.h"
#include "format/xtrace/xtrace_snapshot.h"

/* One snapshot. */
typedef struct xtrace_claim {
    uint64_t number; /* of the record */
    uint64_t offset, insns, user;
    uint64_t seen, seen_user; /* the stream's counts before that offset, if a token begins there */
    bool at_token;
} xtrace_claim;

/* Its count, and its index in the array. */
typedef struct xtrace_count {
    uint64_t insns;
    uint32_t claim;
} xtrace_count;

/* A register that contradicts the instruction. */
typedef struct xtrace_mismatch {
    uint32_t claim, opcode;
    uint64_t offset; /* of the instruction */
    uint64_t expected, found;
} xtrace_mismatch;

typedef struct xtrace_claims {
    const xtrace_snapshots *snapshots;
    tl_input *stream;
    uint64_t due_offset; /* call xtrace_claims_token() for tokens from here on */
    uint64_t due_insns;  /* call xtrace_claims_insn() for this instruction */
    xtrace_claim *claim; /* in the order of offsets */
    xtrace_count *count; /* in the order of counts */
    xtrace_mismatch *mismatch;
    uint32_t n, capacity, next_offset, next_count, nmismatch, mismatch_capacity;
    tl_window ahead; /* of the stream, to look ahead of an instruction */
} xtrace_claims;

/* Reads the counts of all snapshots, and reports those out of order. `stream` may be NULL: then that is all. fini is
 * needed in any case. */
int xtrace_claims_init(xtrace_claims *c, const xtrace_snapshots *s, tl_input *stream, tl_error *e);
void xtrace_claims_fini(xtrace_claims *c);

/* A token begins at an offset >= due_offset (or the stream ends there), after `insns` instructions. */
void xtrace_claims_token(xtrace_claims *c, uint64_t offset, uint64_t insns, uint64_t user);
/* Instruction number due_insns, whose token is at an offset; the next token is at `next`. */
int xtrace_claims_insn(xtrace_claims *c, uint32_t opcode, uint64_t offset, uint64_t next, tl_error *e);
/* The stream has ended after `insns` instructions: reports what is wrong. */
int xtrace_claims_end(const xtrace_claims *c, uint64_t insns, tl_error *e);

#endif
