/* Compiling a type tree to a program. */
#ifndef TL_FORMAT_CTF_COMPILE_H
#define TL_FORMAT_CTF_COMPILE_H

#include "format/ctf/plan/ctf_program.h"
#include "format/ctf/plan/ctf_scope.h"

typedef enum ctf_mode {
    CTF_STORE, /* every value goes onto the tape */
    CTF_LOAD,  /* every number is loaded, since any may be needed in a register */
    CTF_SKIP   /* only numbers with a register are loaded */
} ctf_mode;

typedef struct ctf_builder {
    ctf_scopes *scopes;
    tl_arena *arena; /* of finished programs */
    ctf_mode mode;
    ctf_order native;
    uint32_t *replay;         /* not NULL: a second compilation, from this occurrence on */
    bool hide_number;         /* STORE: the current number is loaded, in case it has a register, but not stored */
    bool hide_roles;          /* STORE: members of the root with a role (except the processor) are not stored */
    const ctf_member *member; /* being compiled */
    const ctf_member **op_member, **load_member;
    ctf_op *op;
    ctf_load *load;
    uint32_t *load_number; /* [nload] occurrence of each load, CTF_NO_NODE: none */
    ctf_choice *choice;
    uint32_t nop, op_capacity, op_member_capacity, nchoice, choice_capacity;
    uint32_t nload, load_capacity, load_number_capacity, load_member_capacity;
    uint32_t mod, res;  /* the position modulo mod, a power of two, is res */
    uint64_t run_bits;  /* of the current run */
    uint32_t run_load;  /* its first load */
    uint32_t run_shift; /* bits into its first byte */
    int last_big;       /* byte order of the last number; -1: none */
    uint32_t slots, depth, loops;
    uint64_t all_choices; /* of all programs so far; see CHOICES_MAX */
    uint32_t event_roles; /* possible roles of fields after the event header, ... */
    uint32_t roles;       /* ... and of the current tree */
    bool moves_clock;     /* a field of the current program has the role of a timestamp */
    bool no_memory;
} ctf_builder;

/* Starts a program at a position that is `res` modulo `mod`. */
void ctf_builder_start(ctf_builder *b, ctf_mode mode, uint32_t mod, uint32_t res);
/* Compiles a struct (NULL: nothing) as the root of a scope. */
int ctf_builder_root(ctf_builder *b, ctf_origin scope, const ctf_type *type, tl_error *e);
/* Ends it: the program, in the arena. ctf_program_settle() fills in the registers. */
int ctf_builder_end(ctf_builder *b, ctf_program *out, const uint32_t **load_number, tl_error *e);
void ctf_builder_fini(ctf_builder *b);

/* Puts the registers into the loads once all are known, and classifies the runs. */
void ctf_program_settle(ctf_program *p, const uint32_t *load_number, const ctf_scopes *s);

/* ctf_emit.c, for ctf_compile.c: operations and runs. */
ctf_op *ctf_emit(ctf_builder *b, ctf_code code);
void ctf_emit_flush(ctf_builder *b);
void ctf_emit_advance(ctf_builder *b, uint64_t bits);
void ctf_emit_align(ctf_builder *b, uint32_t align);
void ctf_emit_slot(ctf_builder *b, tl_type type, uint32_t n);
/* A number at the position. hidden: without a slot. Returns its load, or CTF_NO_NODE if it is only skipped. */
void ctf_emit_number(ctf_builder *b, const ctf_type *t, uint32_t number, bool hidden);
ctf_choice *ctf_emit_choice(ctf_builder *b);
/* Sorts choices from `first` on by value for searching: where ranges overlap, the first counts. */
void ctf_emit_order_choices(ctf_builder *b, uint32_t first, bool is_signed);
/* The load of a type, without a place. */
ctf_load ctf_load_of(const ctf_builder *b, const ctf_type *t);
uint32_t ctf_emit_load(ctf_builder *b, const ctf_load *l, uint32_t number);

#endif
