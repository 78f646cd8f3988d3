/* Branch predictors: two-bit counters by pc or history, a stack of returns, a table of last targets. */
#include "analysis/instruction/predictor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/grow.h"

#define WEAKLY_NOT 1 /* initial value of counters */

/* A word, how many numbers may follow it, and their defaults. */
static const struct kind {
    const char *word;
    tl_predictor_kind kind;
    unsigned numbers;
    unsigned value, most; /* of the first number: default and maximum; at least 1 */
} kinds[] = {{"bimodal", TL_PREDICT_BIMODAL, 1, 12, TL_PREDICTOR_BITS_MAX},
             {"gshare", TL_PREDICT_GSHARE, 2, 12, TL_PREDICTOR_BITS_MAX},
             {"ras", TL_PREDICT_RAS, 1, 16, TL_PREDICTOR_ENTRIES_MAX},
             {"btb", TL_PREDICT_BTB, 1, 9, TL_PREDICTOR_BTB_MAX}};

/* A number after a colon at *p, which is advanced. */
static bool take_number(const char **p, const char *end, unsigned least, unsigned most, unsigned *out)
{
    const char *at = *p + 1;
    unsigned v = 0;
    if (at == end || *at < '0' || *at > '9')
        return false;
    for (; at < end && *at >= '0' && *at <= '9'; at++)
        if ((v = v * 10 + (unsigned)(*at - '0')) > most)
            return false;
    *p = at;
    *out = v;
    return v >= least;
}

static bool parse_model(tl_predictor_model *m, const char *p, const char *end)
{
    const size_t n = strcspn(p, ":,");
    for (size_t i = 0; i < TL_COUNT(kinds); i++) {
        const struct kind *k = &kinds[i];
        if (strlen(k->word) != n || strncmp(k->word, p, n) != 0)
            continue;
        unsigned first = k->value, history = 0;
        p += n;
        if (p < end && !take_number(&p, end, 1, k->most, &first))
            return false;
        history = first;
        if (k->numbers > 1 && p < end && (*p != ':' || !take_number(&p, end, 0, TL_PREDICTOR_HISTORY_MAX, &history)))
            return false;
        if (p < end)
            return false;
        *m = (tl_predictor_model){.kind = k->kind, .bits = first, .history = history, .entries = first};
        if (k->numbers > 1)
            snprintf(m->name, sizeof m->name, "%s:%u:%u", k->word, first, history);
        else
            snprintf(m->name, sizeof m->name, "%s:%u", k->word, first);
        return true;
    }
    return false;
}

/* Explains the numbers of a predictor, or lists the predictors. */
static void complain(const char *p, const char *end, char *message, size_t size)
{
    const size_t n = strcspn(p, ":,");
    const int shown = end - p < 40 ? (int)(end - p) : 40;
    for (size_t i = 0; i < TL_COUNT(kinds); i++)
        if (strlen(kinds[i].word) == n && strncmp(kinds[i].word, p, n) == 0) {
            const int used =
                snprintf(message, size, "predictor %.*s: expected %s[:%s], from 1 to %u", shown, p, kinds[i].word,
                         kinds[i].kind == TL_PREDICT_RAS ? "ENTRIES" : "BITS", kinds[i].most);
            if (kinds[i].numbers > 1 && used > 0 && (size_t)used < size)
                snprintf(message + used, size - (size_t)used, ", and :HISTORY behind it, from 0 to %u",
                         TL_PREDICTOR_HISTORY_MAX);
            return;
        }
    snprintf(message, size,
             "predictor %.*s: expected bimodal[:BITS], gshare[:BITS[:HISTORY]], ras[:ENTRIES] or btb[:BITS]", shown, p);
}

bool tl_predictor_parse(tl_predictor_list *out, const char *list, char *message, size_t size)
{
    *out = (tl_predictor_list){0};
    for (const char *p = list;; p++) {
        const char *const end = p + strcspn(p, ",");
        if (out->n == TL_PREDICTORS) {
            snprintf(message, size, "predictor: more than %u", TL_PREDICTORS);
            return false;
        }
        if (!parse_model(&out->model[out->n], p, end)) {
            complain(p, end, message, size);
            return false;
        }
        out->n++;
        p = end;
        if (!*p)
            return true;
    }
}

static size_t entries_of(const tl_predictor *p)
{
    return p->model.kind == TL_PREDICT_RAS ? p->model.entries : (size_t)1 << p->model.bits;
}

int tl_predictor_init(tl_predictor *p, const tl_predictor_model *model, tl_error *e)
{
    *p = (tl_predictor){.model = *model};
    const size_t n = entries_of(p);
    const bool direction = model->kind == TL_PREDICT_BIMODAL || model->kind == TL_PREDICT_GSHARE;
    if (direction)
        p->counter = malloc(n);
    else
        p->target = tl_alloc(n, sizeof *p->target);
    if (model->kind == TL_PREDICT_BTB)
        p->pc = tl_alloc(n, sizeof *p->pc);
    if ((direction ? !p->counter : !p->target) || (model->kind == TL_PREDICT_BTB && !p->pc))
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a predictor of branches");
    tl_predictor_forget(p);
    return 0;
}

void tl_predictor_fini(tl_predictor *p)
{
    free(p->counter);
    free(p->pc);
    free(p->target);
    p->counter = NULL;
    p->pc = p->target = NULL;
}

void tl_predictor_forget(tl_predictor *p)
{
    const size_t n = entries_of(p);
    if (p->counter)
        memset(p->counter, WEAKLY_NOT, n);
    if (p->pc) /* no instruction has an odd address */
        memset(p->pc, 0xff, n * sizeof *p->pc);
    if (p->target)
        memset(p->target, 0, n * sizeof *p->target);
    p->history = 0;
    p->top = p->depth = 0;
}

/* Conditional branches: taken or not. */
static bool step_direction(tl_predictor *p, uint64_t pc, bool taken)
{
    const uint64_t mask = (UINT64_C(1) << p->model.bits) - 1;
    const uint64_t history = p->model.kind == TL_PREDICT_GSHARE ? p->history : 0;
    uint8_t *counter = &p->counter[(pc >> 2 ^ history) & mask];
    const bool wrong = (*counter >= 2) != taken;
    if (taken && *counter < 3)
        ++*counter;
    else if (!taken && *counter > 0)
        --*counter;
    p->history = (p->history << 1 | taken) & ((UINT64_C(1) << p->model.history) - 1);
    p->branches++;
    p->misses += wrong;
    return wrong;
}

static void push(tl_predictor *p, uint64_t target)
{
    p->target[p->top] = target;
    p->top = p->top + 1 < p->model.entries ? p->top + 1 : 0;
    p->depth += p->depth < p->model.entries;
}

/* Returns: after the open call. */
static bool step_return(tl_predictor *p, uint64_t target)
{
    bool wrong = true;
    if (p->depth > 0) {
        p->top = (p->top > 0 ? p->top : p->model.entries) - 1;
        p->depth--;
        wrong = p->target[p->top] != target;
    }
    p->branches++;
    p->misses += wrong;
    return wrong;
}

/* Branches to a register: the last target of the same branch. */
static bool step_target(tl_predictor *p, uint64_t pc, uint64_t target)
{
    const size_t i = (size_t)(pc >> 2 & ((UINT64_C(1) << p->model.bits) - 1));
    const bool wrong = p->pc[i] != pc || p->target[i] != target;
    p->pc[i] = pc;
    p->target[i] = target;
    p->branches++;
    p->misses += wrong;
    return wrong;
}

bool tl_predictor_foresees(const tl_predictor_model *m, a64_class cls)
{
    switch (m->kind) {
    case TL_PREDICT_BIMODAL:
    case TL_PREDICT_GSHARE:
        return cls == A64_COND;
    case TL_PREDICT_RAS:
        return cls == A64_RETURN;
    default:
        return cls == A64_INDIRECT || cls == A64_INDIRECT_CALL;
    }
}

bool tl_predictor_step(tl_predictor *p, uint64_t pc, a64_class cls, bool taken, uint64_t target)
{
    if (!tl_predictor_foresees(&p->model, cls)) {
        if (p->model.kind == TL_PREDICT_RAS && a64_is_call(cls))
            push(p, pc + 4);
        return false;
    }
    switch (p->model.kind) {
    case TL_PREDICT_BIMODAL:
    case TL_PREDICT_GSHARE:
        return step_direction(p, pc, taken);
    case TL_PREDICT_RAS:
        return step_return(p, target);
    default:
        return step_target(p, pc, target);
    }
}
