/* The text of a gate:
 *
 *   gate    := metric '(' target ')' ('>' | '<') amount [ 'or' gate ]
 *   metric  := calls | total | self | percall | mean | min | max | share | self-share | p0.0001 .. p99.9999
 *   target  := GLOB | 'path:' GLOB { ';' GLOB } | '*'     parentheses in pairs
 *   amount  := ('+' | '-') NUMBER ('%' | unit)            a change
 *            | NUMBER ('%' | unit)                        a limit for NEW; % of shares only
 *   unit    := ns | us | ms | s | min | h, or nothing for counts
 */
#ifndef TL_ANALYSIS_GATE_TEXT_H
#define TL_ANALYSIS_GATE_TEXT_H

#include "analysis/compare/compare_impl.h"

#define TL_GATE_TERMS_MAX 64u   /* alternatives of one gate */
#define TL_GATE_TEXT_MAX  4096u /* bytes: patterns cost their length times that of every name */

typedef enum tl_amount_kind { TL_AMOUNT_CHANGE, TL_AMOUNT_DIFFERENCE, TL_AMOUNT_LIMIT } tl_amount_kind;

typedef struct tl_gate_term {
    tl_metric metric;
    const char *target; /* without "path:" */
    bool is_path, is_all;
    bool above; /* '>' */
    tl_amount_kind kind;
    double amount; /* 0.05 is 5 %; ns, if is_time; else as written */
    bool is_time;
    uint64_t at; /* of the amount in the text */
} tl_gate_term;

typedef struct tl_gate_text {
    tl_gate_term *term; /* [n], in the arena */
    uint32_t n;
} tl_gate_text;

/* Reads a text. Errors: TL_ESYNTAX with the offset of the mistake, TL_ENOMEM. */
int tl_gate_parse(tl_gate_text *out, tl_arena *arena, const char *text, tl_error *e);

#endif
