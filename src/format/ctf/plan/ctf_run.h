/* Running a program over the bits of a packet. */
#ifndef TL_FORMAT_CTF_RUN_H
#define TL_FORMAT_CTF_RUN_H

#include "base/compiler.h"
#include "base/endian.h"
#include "format/ctf/plan/ctf_program.h"
#include "model/batch.h"

/* Events with more values count as damage: the tape takes 16 bytes for each. */
#define CTF_EVENT_SLOTS_MAX (4u << 20)
/* Elements that may have no bits are counted over the events of a stream: at most CTF_EVENT_SLOTS_MAX at a time, and
 * each bit read allows this many more. Otherwise each event of a few bytes could have that many. */
#define CTF_EMPTY_A_BIT     8u
/* Bytes that must be readable after the data: loads take eight at once. */
#define CTF_SLACK           16u

typedef enum ctf_run_status {
    CTF_RUN_OK,
    CTF_RUN_SHORT,    /* the field at bit `bad` does not end before `end` */
    CTF_RUN_SELECTOR, /* the selector of a variant has no option (value in bad_value) */
    CTF_RUN_LENGTH,   /* a negative length */
    CTF_RUN_ORDER,    /* the byte order changes inside a byte */
    CTF_RUN_VARINT,   /* more than 64 bits */
    CTF_RUN_TEXT,     /* a length that is not a whole number of code units */
    CTF_RUN_LARGE,    /* more than CTF_EVENT_SLOTS_MAX values, or elements without bits */
    CTF_RUN_MEMORY
} ctf_run_status;

/* Values of roles, by the number of their bit. */
#define CTF_ROLES 14u

typedef struct ctf_run {
    const uint8_t *data;
    uint64_t at, end; /* bits from data[0] */
    uint64_t *reg;
    uint64_t empty;        /* elements without bits in the stream so far that are not paid for */
    uint64_t clock;        /* running value of the default clock */
    tl_batch *batch;       /* destination of values; NULL: none */
    char *text, *text_end; /* room in the batch's arena */
    uint64_t bad, bad_value;
    uint32_t bad_op; /* the operation that failed, and in a run the load */
    uint32_t bad_load;
    unsigned varint_bits; /* of the last VARINT: 7 per byte */
    uint32_t seen;        /* roles that were set, or-ed */
    uint64_t role[CTF_ROLES];
    uint8_t role_bits[CTF_ROLES];
    uint64_t role_end[CTF_ROLES]; /* bit after the field */
} ctf_run;

/* Runs with r->at at the begin, and leaves it after the last field. With `store`, values go onto the tape of r->batch,
 * where there must be room for p->slots more. */
ctf_run_status ctf_run_store(ctf_run *r, const ctf_program *p);
ctf_run_status ctf_run_skip(ctf_run *r, const ctf_program *p);

/* The number of a role: the index of its bit. */
TL_ALWAYS_INLINE unsigned ctf_role_number(uint32_t role)
{
    return (unsigned)__builtin_ctz(role);
}

/* Moves the clock forward to the next value with the low bits v. */
TL_ALWAYS_INLINE uint64_t ctf_clock_update(uint64_t clock, uint64_t v, unsigned bits)
{
    const uint64_t mask = bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    return clock + ((v - clock) & mask);
}

/* The value of a load of plain integers; p: the first byte of the run. */
TL_ALWAYS_INLINE uint64_t ctf_load_int(const uint8_t *p, const ctf_load *l, bool big)
{
    const uint64_t x = tl_load64(p + l->offset, big) << l->left;
    const uint64_t plain = x >> l->right, extended = (uint64_t)((int64_t)x >> l->right);
    return l->flags & CTF_LOAD_SIGNED ? extended : plain;
}

#endif
