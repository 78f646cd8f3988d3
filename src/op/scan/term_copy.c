/* A copy of the terms of a scan. */
#include "op/scan/term_copy.h"

#include <string.h>

static bool copy_values(tl_arena *a, tl_term *t)
{
    tl_cell *value = tl_arena_alloc(a, ((size_t)t->n + 1) * sizeof *value);
    for (uint32_t i = 0; value && i < t->n; i++) {
        value[i] = t->value[i];
        if (value[i].kind == TL_CELL_TEXT &&
            !(value[i].text = tl_arena_strndup(a, value[i].text, strlen(value[i].text))))
            return false;
    }
    t->value = value;
    return value != NULL;
}

int tl_term_copy_init(tl_term_copy *c, tl_scan_ask *ask, tl_error *e)
{
    tl_term *term = tl_arena_alloc(&c->arena, ((size_t)ask->nterm + 1) * sizeof *term);
    bool ok = term != NULL;
    for (uint32_t i = 0; ok && i < ask->nterm; i++) {
        term[i] = ask->term[i];
        ok = copy_values(&c->arena, &term[i]);
    }
    ask->term = term;
    return ok ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a scan");
}

void tl_term_copy_fini(tl_term_copy *c)
{
    tl_arena_fini(&c->arena);
}

bool tl_term_takes_text(const tl_scan_ask *ask, const tl_term *t, const char *text)
{
    if (!text)
        return t->n == 0 || t->value[0].kind != TL_CELL_TEXT;
    if (t->op == TL_TERM_GLOB)
        return !ask->glob || t->value[0].kind != TL_CELL_TEXT || ask->glob(t->value[0].text, text);
    if (t->op != TL_TERM_IS)
        return true;
    for (uint32_t i = 0; i < t->n; i++)
        if (t->value[i].kind != TL_CELL_TEXT || strcmp(t->value[i].text, text) == 0)
            return true;
    return false;
}

bool tl_term_takes_int(const tl_term *t, int64_t v)
{
    const bool is_int = t->n > 0 && t->value[0].kind == TL_CELL_INT;
    if (t->op == TL_TERM_IS) {
        for (uint32_t i = 0; i < t->n; i++)
            if (t->value[i].kind != TL_CELL_INT || t->value[i].i64 == v)
                return true;
        return false;
    }
    return !is_int || (t->op == TL_TERM_BELOW      ? v < t->value[0].i64
                       : t->op == TL_TERM_AT_MOST  ? v <= t->value[0].i64
                       : t->op == TL_TERM_ABOVE    ? v > t->value[0].i64
                       : t->op == TL_TERM_AT_LEAST ? v >= t->value[0].i64
                                                   : true);
}
