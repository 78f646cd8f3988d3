/* Simple models of branch predictors, to measure how predictable branches are. docs/instructions.md describes each.
 *
 * One thread at a time. */
#ifndef TL_ANALYSIS_PREDICTOR_H
#define TL_ANALYSIS_PREDICTOR_H

#include "isa/a64.h"
#include "traceloom/error.h"

#define TL_PREDICTORS            8u /* most in a list */
#define TL_PREDICTOR_NAME        24u
#define TL_PREDICTOR_BITS_MAX    24u
#define TL_PREDICTOR_BTB_MAX     20u /* bits of a table of targets: an entry is 16 bytes */
#define TL_PREDICTOR_HISTORY_MAX 32u
#define TL_PREDICTOR_ENTRIES_MAX 65536u

typedef enum tl_predictor_kind {
    TL_PREDICT_BIMODAL, /* direction of conditional branches, by pc */
    TL_PREDICT_GSHARE,  /* the same, by pc and the outcomes of earlier branches */
    TL_PREDICT_RAS,     /* target of returns, by a stack of calls */
    TL_PREDICT_BTB      /* target of other branches to a register: the last one */
} tl_predictor_kind;

/* One of a list. */
typedef struct tl_predictor_model {
    tl_predictor_kind kind;
    unsigned bits;                /* of the index of its table; not for RAS */
    unsigned history;             /* branches in GSHARE's history */
    unsigned entries;             /* of RAS */
    char name[TL_PREDICTOR_NAME]; /* "gshare:12:8" */
} tl_predictor_model;

typedef struct tl_predictor_list {
    tl_predictor_model model[TL_PREDICTORS];
    unsigned n;
} tl_predictor_list;

/* Reads "bimodal[:bits],gshare[:bits[:history]],ras[:entries],btb[:bits]", in any order. False, with a line of at most
 * `size` bytes about the mistake, if malformed. */
bool tl_predictor_parse(tl_predictor_list *out, const char *list, char *message, size_t size);

typedef struct tl_predictor {
    tl_predictor_model model;
    uint64_t branches, misses; /* branches that it predicted, and mispredictions */
    /* The kind decides which of these exist. */
    uint8_t *counter; /* 0 .. 3: taken from 2 up */
    uint64_t *pc, *target;
    uint64_t history;
    uint32_t top, depth; /* of the stack */
} tl_predictor;

/* Errors: TL_ENOMEM; fini is needed in every case. */
int tl_predictor_init(tl_predictor *p, const tl_predictor_model *model, tl_error *e);
/* Forgets everything but the counts: another program runs. */
void tl_predictor_forget(tl_predictor *p);
/* A branch at pc went to `target`; taken is false only for conditional ones. True if mispredicted. */
bool tl_predictor_step(tl_predictor *p, uint64_t pc, a64_class cls, bool taken, uint64_t target);
/* Does it predict branches of this class? */
bool tl_predictor_foresees(const tl_predictor_model *m, a64_class cls);
void tl_predictor_fini(tl_predictor *p); /* zeroed is fine */

#endif
