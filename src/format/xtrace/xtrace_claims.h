/* What the snapshots of a stream claim about it: at which byte how many instructions have been, and registers. Looked
 * at while somebody else goes through the stream once, from its begin. */
#ifndef TL_XTRACE_CLAIMS_H
#define TL_XTRACE_CLAIMS_H

#include "base/io/window.h"
#include "format/xtrace/xtrace_snapshot.h"

/* One snapshot. */
typedef struct xtrace_claim {
    uint64_t number; /* of the record */
    uint64_t offset, insns, user;
    uint64_t seen, seen_user; /* what the stream has before that offset, if a token begins there */
    bool at_token;
} xtrace_claim;

/* Its count, and where it stands in the array. */
typedef struct xtrace_count {
    uint64_t insns;
    uint32_t claim;
} xtrace_count;

/* A register that does not go with the instruction. */
typedef struct xtrace_mismatch {
    uint32_t claim, opcode;
    uint64_t offset; /* of the instruction */
    uint64_t expected, found;
} xtrace_mismatch;

typedef struct xtrace_claims {
    const xtrace_snapshots *snapshots;
    tl_input *stream;
    uint64_t due_offset; /* xtrace_claims_token() is wanted for tokens from here on */
    uint64_t due_insns;  /* xtrace_claims_insn() is wanted for this instruction */
    xtrace_claim *claim; /* in the order of offsets */
    xtrace_count *count; /* in the order of counts */
    xtrace_mismatch *mismatch;
    uint32_t n, capacity, next_offset, next_count, nmismatch, mismatch_capacity;
    tl_window ahead; /* of the stream: for what follows an instruction */
} xtrace_claims;

/* Reads the counts of all snapshots, and tells of those that are out of order. `stream` may be NULL: that is all then.
 * fini is needed in any case. */
int xtrace_claims_init(xtrace_claims *c, const xtrace_snapshots *s, tl_input *stream, tl_error *e);
void xtrace_claims_fini(xtrace_claims *c);

/* A token begins at an offset >= due_offset (or the stream ends there); so many instructions were before it. */
void xtrace_claims_token(xtrace_claims *c, uint64_t offset, uint64_t insns, uint64_t user);
/* Instruction number due_insns, whose token is at an offset; the next token is at `next`. */
int xtrace_claims_insn(xtrace_claims *c, uint32_t opcode, uint64_t offset, uint64_t next, tl_error *e);
/* The stream has ended after so many instructions: tells what is wrong. */
int xtrace_claims_end(const xtrace_claims *c, uint64_t insns, tl_error *e);

#endif
