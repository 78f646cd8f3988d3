/* The length of tokens, and why one cannot be read: shared by all readers of a stream. */
#ifndef TL_XTRACE_TOKENS_H
#define TL_XTRACE_TOKENS_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/endian.h"
#include "format/xtrace/xtrace_layout.h"

/* A VEC that does not fit into the file counts as truncated up to this number of entries (no system call takes more),
 * and as invalid beyond it. */
#define XTRACE_VEC_USUAL 1024u

typedef enum xtrace_fault {
    XTRACE_OK, /* 0 */
    XTRACE_UNKNOWN_TOKEN,
    XTRACE_TRUNCATED, /* the file ends before the token does */
    XTRACE_VEC_COUNT
} xtrace_fault;

static inline bool xtrace_token_is_insn(unsigned token)
{
    return (token & XTRACE_INSN_MASK) == XTRACE_INST || (token & XTRACE_INSN_MASK) == XTRACE_PCINST;
}

static inline bool xtrace_token_is_mem(unsigned token)
{
    return (token & XTRACE_CLASS_MASK) == XTRACE_MEM;
}

/* STXR .. TARGET. */
static inline bool xtrace_token_is_value(unsigned token)
{
    return (token & XTRACE_CLASS_MASK) == (XTRACE_STXR & XTRACE_CLASS_MASK) && token <= XTRACE_TARGET;
}

/* Bytes of a token with its payload, for VEC without its entries; 0: the token is unknown. */
static inline uint32_t xtrace_token_length(unsigned token)
{
    switch (token & XTRACE_CLASS_MASK) {
    case XTRACE_INST &XTRACE_CLASS_MASK:
        if ((token & XTRACE_INSN_MASK) == XTRACE_INST)
            return XTRACE_INST_SIZE;
        return (token & XTRACE_INSN_MASK) == XTRACE_PCINST ? XTRACE_PCINST_SIZE : 0;
    case XTRACE_MEM:
        return XTRACE_MEM_HEAD + ((uint32_t)1 << (token >> XTRACE_MEM_SIZE_SHIFT));
    case XTRACE_STXR &XTRACE_CLASS_MASK:
        return token <= XTRACE_TARGET ? XTRACE_VALUE_SIZE : 0;
    case XTRACE_ALLGPR &XTRACE_CLASS_MASK:
        if (token == XTRACE_ALLGPR)
            return XTRACE_ALLGPR_SIZE;
        return token == XTRACE_FLAGS ? XTRACE_VALUE_SIZE : token == XTRACE_VEC ? XTRACE_VEC_HEAD : 0;
    case XTRACE_TIME:
        return token == XTRACE_TIME ? XTRACE_VALUE_SIZE : 0;
    default:
        return 0;
    }
}

/* Can the token at p be read, with `left` bytes from it to the end of the file, at least one? p has at least
 * XTRACE_VEC_HEAD of them, or all. *size: its bytes, for VEC with its entries; only if the result is XTRACE_OK. */
static inline xtrace_fault xtrace_token_size(const uint8_t *p, uint64_t left, uint64_t *size)
{
    const uint32_t head = xtrace_token_length(*p);
    if (head == 0)
        return XTRACE_UNKNOWN_TOKEN;
    if (head > left)
        return XTRACE_TRUNCATED;
    *size = head;
    if (*p == XTRACE_VEC) {
        const uint64_t entries = tl_load64(p + 1, false);
        if (entries > (left - head) / XTRACE_VEC_ENTRY)
            return entries > XTRACE_VEC_USUAL ? XTRACE_VEC_COUNT : XTRACE_TRUNCATED;
        if (entries > XTRACE_VEC_MAX)
            return XTRACE_VEC_COUNT;
        *size = head + entries * XTRACE_VEC_ENTRY;
    }
    return XTRACE_OK;
}

/* The rule that a fault breaks. Static. */
static inline const char *xtrace_fault_rule(xtrace_fault f)
{
    return f == XTRACE_UNKNOWN_TOKEN ? "xtrace.unknown-token"
           : f == XTRACE_TRUNCATED   ? "xtrace.truncated"
                                     : "xtrace.vec-count";
}

/* "LOAD"; "?" for unknown tokens. Static. */
static inline const char *xtrace_token_name(unsigned token)
{
    static const char *const value[] = {"STXR", "MRS", "SVC argument", "SVC result", "DC", "TARGET"};
    if (xtrace_token_is_insn(token))
        return (token & XTRACE_INSN_MASK) == XTRACE_INST ? "INST" : "PCINST";
    if (xtrace_token_is_mem(token))
        return token & XTRACE_MEM_STORE ? "STORE" : "LOAD";
    if (xtrace_token_is_value(token))
        return value[token >> 3];
    return token == XTRACE_ALLGPR  ? "ALLGPR"
           : token == XTRACE_FLAGS ? "FLAGS"
           : token == XTRACE_VEC   ? "VEC"
           : token == XTRACE_TIME  ? "TIME"
                                   : "?";
}

/* What was found and what was expected, for a token that cannot be read; p and left as above. Returns buf. */
static inline const char *xtrace_fault_text(xtrace_fault f, const uint8_t *p, uint64_t left, char *buf, size_t size)
{
    const uint64_t room = left > XTRACE_VEC_HEAD ? (left - XTRACE_VEC_HEAD) / XTRACE_VEC_ENTRY : 0;
    const bool is_vec = *p == XTRACE_VEC && left >= XTRACE_VEC_HEAD;
    if (f == XTRACE_UNKNOWN_TOKEN)
        snprintf(buf, size, "no token begins with 0x%02x: its length is not known, and reading ends here", *p);
    else if (is_vec)
        snprintf(buf, size, "VEC of %" PRIu64 " entries, but the file has room for %" PRIu64, tl_load64(p + 1, false),
                 room);
    else
        snprintf(buf, size, "%s of %" PRIu32 " bytes is cut: the file ends after %" PRIu64, xtrace_token_name(*p),
                 xtrace_token_length(*p), left);
    return buf;
}

#endif
