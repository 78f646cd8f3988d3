/* Programs: the compiled form of a type tree. A straight list of operations on a bit position.
 *
 * Numbers at fixed places form runs: one bounds check, then a load for each. A load is branch-free: eight bytes in the
 * byte order of the field, shifted left to drop the bits above the field, then right to drop those below
 * (arithmetically if it is signed). That works for every integer from 1 to 64 bits that does not need a ninth byte,
 * aligned or not. After something of unknown length a new run begins. */
#ifndef TL_FORMAT_CTF_PROGRAM_H
#define TL_FORMAT_CTF_PROGRAM_H

#include "format/ctf/ctf_type.h"

#define CTF_NO_REGISTER UINT16_MAX
#define CTF_LOOPS_MAX   CTF_DEPTH_MAX /* nesting of arrays */
#define CTF_WIDE        UINT8_MAX

#define CTF_CONTEXT_END                                                                                                \
    13u /* in place of a role: where the stream context ends, if it holds the size of the payload                      \
         */

enum ctf_load_flag {
    CTF_LOAD_BIG = 1, /* most significant byte first */
    CTF_LOAD_SIGNED = 2,
    CTF_LOAD_FLOAT = 4, /* of 32 bits: widened to a double */
    CTF_LOAD_BOOL = 8,
    CTF_LOAD_REVERSED = 16 /* the bits are reversed */
};

/* A number. */
typedef struct ctf_load {
    uint64_t head;       /* first half of its slot on the tape: type, flags, variant, n */
    uint32_t offset;     /* bytes from the first byte of its run */
    uint16_t reg;        /* register for the value, or CTF_NO_REGISTER */
    uint8_t left, right; /* left CTF_WIDE: it needs a ninth byte */
    uint8_t flags;
    uint8_t bits; /* 0: not a number, only the slot (a struct begins) */
    uint32_t bit; /* from the begin of its run */
} ctf_load;

typedef enum ctf_code {
    CTF_OP_END,
    CTF_OP_ALIGN,  /* to a multiple of a bits */
    CTF_OP_UNIT,   /* to a multiple of a bits if b bits from here would cross one */
    CTF_OP_SKIP,   /* b bits */
    CTF_OP_RUN,    /* b bits with `n` loads from a on: of any kind */
    CTF_OP_RUN_LE, /* all are unsigned or signed integers, least significant byte first, without registers */
    CTF_OP_RUN_BE, /* the same, most significant byte first */
    CTF_OP_BITS,   /* load a at a bit position not known in advance */
    CTF_OP_VARINT, /* load a */
    CTF_OP_STRING, /* NUL-terminated, of encoding `n` */
    CTF_OP_TEXT,   /* b bytes (or as many as in reg), of encoding `n` */
    CTF_OP_BLOB,   /* the same, unconverted */
    CTF_OP_SLOT,   /* only a slot: its first half is b */
    CTF_OP_INTS,   /* a list of b (or reg) times load a, contiguous, at whole bytes */
    CTF_OP_LOOP,   /* a list: b times (or reg) the operations up to operation a */
    CTF_OP_NEXT,   /* end of the body of a loop */
    CTF_OP_CHOOSE, /* continues at the choice that contains reg; choices a .. a+b-1, by value; n: compare signed */
    CTF_OP_JUMP,   /* to operation a */
    CTF_OP_ROLE,   /* reg has the value for role a, of b bits; read just before */
    CTF_OP_HERE,   /* the bits at this position have role a */
    CTF_OP_FAIL    /* the byte order changes inside a byte */
} ctf_code;

typedef struct ctf_op {
    uint8_t code;
    uint8_t flags; /* CTF_OP_FROM_REGISTER, CTF_OP_BYTES_FIXED */
    uint16_t reg;
    uint32_t n;
    uint32_t a;
    uint32_t pad;
    uint64_t b;
} ctf_op;

enum ctf_op_flag {
    CTF_OP_FROM_REGISTER = 1, /* the count is in reg */
    CTF_OP_EMPTY_BODY = 2,    /* LOOP: elements may have no bits */
    CTF_OP_SIGNED_COUNT = 4,  /* the count in reg is signed: a negative one is an error */
    CTF_OP_HIDDEN = 8,        /* BITS: not onto the tape */
    CTF_OP_VARIABLE = 16      /* ROLE: the field was a VARINT */
};

/* What a choice puts onto the tape itself. */
enum ctf_choice_slot {
    CTF_SLOT_NONE,
    CTF_SLOT_VARIANT, /* TL_VARIANT of `option` */
    CTF_SLOT_ABSENT,  /* TL_ABSENT, and nothing else */
    CTF_SLOT_NULL     /* TL_NULL, and nothing else */
};

typedef struct ctf_choice {
    uint64_t low, high;
    uint32_t target; /* operation */
    uint32_t slot;   /* ctf_choice_slot */
    uint32_t option;
    bool always; /* the last one: nothing else matched */
} ctf_choice;

typedef struct ctf_program {
    const struct ctf_member *const *op_member;   /* for messages: the field of an operation ... */
    const struct ctf_member *const *load_member; /* ... or of a load; NULL: none */
    const ctf_op *op;
    const ctf_load *load;
    const ctf_choice *choice;
    uint32_t nop, nload;
    uint32_t slots; /* values that it puts on the tape, without those of lists */
    bool is_fixed;  /* always takes `bits` bits, from its start */
    uint64_t bits;
} ctf_program;

#endif
