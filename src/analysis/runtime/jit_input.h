/* Compilations of one input, until they are assigned to methods.
 *
 * A compilation belongs to the function of the first code event with its id after the begin, or else of the latest
 * before. So those that begin between two code events of one id form a group, whose sums go to a method when the next
 * code event, or the end of the input, shows which. */
#ifndef TL_ANALYSIS_JIT_INPUT_H
#define TL_ANALYSIS_JIT_INPUT_H

#include "analysis/runtime/jit_table.h"
#include "analysis/runtime/latest_names.h"
#include "analysis/runtime/open_begins.h"

#define TL_JIT_NONE UINT32_MAX

typedef struct tl_jit_group {
    uint32_t method; /* TL_JIT_NONE: unknown so far, the sums are here */
    uint32_t open;   /* jobs without an end so far */
    uint32_t next;   /* free */
    uint64_t order;  /* of its first job */
    uint64_t compiled, searched, failed, max;
    tl_sum total;
} tl_jit_group;

typedef struct tl_jit_code { /* an id of code */
    uint64_t id;
    bool has_id;
    uint32_t group;    /* of jobs since its last code event; TL_JIT_NONE: none */
    bool has_function; /* of the last code event: */
    uint64_t function;
    tl_sum bytes;
} tl_jit_code;

typedef struct tl_jit_job { /* open */
    uint64_t begin;
    uint32_t group; /* TL_JIT_NONE: not selected */
    uint32_t thread, next;
} tl_jit_job;

typedef struct tl_jit_input {
    tl_jit *out;
    tl_begins begins; /* -> job */
    tl_names names;   /* of functions */
    tl_jit_code *code;
    uint32_t ncode, code_capacity;
    tl_hash codes;  /* id -> code */
    uint32_t no_id; /* 1 + the index of code without an id */
    tl_jit_group *group;
    uint32_t ngroup, group_capacity, free_group; /* 1 + */
    tl_jit_job *job;
    uint32_t njob, job_capacity, free_job; /* 1 + */
    tl_jit_method *method;
    uint32_t nmethod, method_capacity;
    tl_hash functions; /* number of a function -> index */
    tl_hash methods;   /* code and function -> method */
} tl_jit_input;

/* Errors of each: TL_ENOMEM. `id` is a value of role TL_FIELD_CODE_ID. */
int tl_jit_begin(tl_jit_input *in, const tl_runtime *r, const tl_runtime_event *ev, tl_error *e);
int tl_jit_end(tl_jit_input *in, const tl_runtime *r, const tl_runtime_event *ev, tl_error *e);
int tl_jit_code_event(tl_jit_input *in, const tl_runtime_event *ev, tl_error *e);
/* At the end of the input: groups without a later code event get the latest. */
int tl_jit_settle(tl_jit_input *in, tl_error *e);
void tl_jit_input_fini(tl_jit_input *in);

#endif
