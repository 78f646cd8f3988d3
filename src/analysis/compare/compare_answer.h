/* A comparison, and the gates that were tested, as an answer. */
#ifndef TL_ANALYSIS_COMPARE_ANSWER_H
#define TL_ANALYSIS_COMPARE_ANSWER_H

#include "model/relation_impl.h"
#include "traceloom/compare.h"

/* What is shown. */
typedef struct tl_compare_show {
    const tl_compare *compare;
    const char *side[2]; /* as the user named them */
    const tl_gate *const *gate;
    size_t ngate;
    const char *again; /* a command that gives the same answer; NULL: not shown */
} tl_compare_show;

/* Makes the answer; everything is borrowed as long as it lives. Errors: TL_ENOMEM. */
int tl_compare_answer(const tl_compare_show *show, const tl_ask *ask, tl_answer *a, tl_error *e);

/* Changes up to this do not matter: 0.05 is 5 %. */
double tl_compare_noise(const tl_compare *c);

/* The name of the part with a row for each case of a gate, and of its columns that views read. */
#define TL_GATES_PART   "gates"
#define TL_GATE_TEXT    "gate"
#define TL_GATE_STATUS  "status"
#define TL_GATE_MESSAGE "message"
#define TL_GATE_FAIL    "failed"
#define TL_GATE_PASS    "passed"
#define TL_GATE_UNKNOWN "not shown"

#endif
