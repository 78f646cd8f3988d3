/* Parts of answers, and the values in their rows. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/json_write.h"
#include "model/relation_impl.h"

tl_part *tl_answer_add(tl_answer *a, const tl_ask *ask)
{
    tl_part *p = tl_arena_zalloc(&a->arena, sizeof *p);
    if (!p) {
        a->failed = true;
        return NULL;
    }
    p->answer = a;
    p->table = a->table;
    p->for_programs = ask->for_programs;
    p->for_people = !ask->for_programs;
    if (a->last)
        a->last->next = p;
    else
        a->first = p;
    a->last = p;
    return p;
}

tl_part *tl_answer_add_rows(tl_answer *a, const tl_ask *ask, const char *key, const tl_column *column, uint32_t ncolumn,
                            const void *row, size_t stride, const uint32_t *order, uint64_t n)
{
    static _Thread_local tl_part spare; /* a dummy, so that callers may set its members after a failure */
    tl_part *p = tl_answer_add(a, ask);
    if (!p)
        return &spare;
    p->key = key;
    p->column = column;
    p->ncolumn = ncolumn;
    p->row = row;
    p->stride = stride;
    p->order = order;
    p->n = n;
    return p;
}

tl_part *tl_answer_add_top(tl_answer *a, const tl_ask *ask, const char *key, const tl_column *column, uint32_t ncolumn,
                           const void *row, size_t stride, const uint32_t *order, uint32_t all, uint32_t usual,
                           const char *of, unsigned wish)
{
    const uint32_t n = tl_ask_rows(ask, all, usual, 0);
    tl_part *p = tl_answer_add_rows(a, ask, key, column, ncolumn, row, stride, order, n);
    p->left_out = all - n;
    p->of = of;
    p->name_wish = wish;
    return p;
}

tl_part *tl_answer_list(tl_answer *a, const tl_column *column, uint32_t ncolumn, const void *row, size_t stride)
{
    tl_part *p = tl_answer_alloc(a, 1, sizeof *p);
    if (p)
        *p = (tl_part){
            .answer = a, .table = a->table, .column = column, .ncolumn = ncolumn, .row = row, .stride = stride};
    return p;
}

void tl_say_subject(const tl_answer *a, const tl_prose *p)
{
    tl_say_styled(p, TL_STRONG, a->subject);
    tl_output_puts(p->out, "\n");
}

const tl_part *tl_answer_main(const tl_answer *a)
{
    const tl_part *p = a->first;
    while (p && !(p->key && p->for_programs))
        p = p->next;
    return p;
}

void *tl_answer_alloc(tl_answer *a, size_t n, size_t size)
{
    void *p = n <= SIZE_MAX / size ? tl_arena_zalloc(&a->arena, n * size) : NULL;
    a->failed = a->failed || !p;
    return p;
}

tl_column *tl_answer_columns(tl_answer *a, const tl_column *column, uint32_t *n, uint64_t without)
{
    tl_column *copy = tl_answer_alloc(a, *n, sizeof *copy);
    uint32_t kept = 0;
    for (uint32_t i = 0; copy && i < *n; i++)
        if (!(without >> i & 1))
            copy[kept++] = column[i];
    *n = kept;
    return copy;
}

typedef struct tl_owned {
    void *thing;
    void (*release)(void *thing);
    struct tl_owned *next;
} tl_owned;

void tl_answer_own_by(tl_answer *a, void *thing, void (*release)(void *thing))
{
    tl_owned *o = thing ? tl_arena_alloc(&a->arena, sizeof *o) : NULL;
    if (o) {
        *o = (tl_owned){thing, release, a->owned};
        a->owned = o;
        return;
    }
    release(thing);
    a->failed = true;
}

void tl_answer_own(tl_answer *a, void *array)
{
    tl_answer_own_by(a, array, free);
}

void tl_answer_fini(tl_answer *a)
{
    for (tl_owned *o = a->owned; o; o = o->next)
        o->release(o->thing);
    tl_arena_fini(&a->arena);
    tl_arena_fini(&a->scratch);
    *a = (tl_answer){0};
}

uint32_t tl_ask_rows(const tl_ask *ask, uint32_t n, uint32_t on_terminal, uint32_t in_file)
{
    const uint32_t usual = ask->for_programs ? 0 : ask->tty ? on_terminal : in_file;
    const uint32_t most = ask->has_top ? ask->top : usual;
    return most && most < n ? most : n;
}

static void get_member(const void *row, const tl_column *c, tl_cell *out)
{
    const void *at = (const char *)row + c->offset;
    switch ((tl_member)c->member) {
    case TL_MEMBER_U64:
        tl_cell_u64(out, *(const uint64_t *)at);
        break;
    case TL_MEMBER_U32:
        tl_cell_u64(out, *(const uint32_t *)at);
        break;
    case TL_MEMBER_I64:
        tl_cell_i64(out, *(const int64_t *)at);
        break;
    case TL_MEMBER_SUM:
        tl_cell_sum(out, *(const tl_sum *)at);
        break;
    case TL_MEMBER_REAL:
        tl_cell_real(out, *(const double *)at);
        break;
    case TL_MEMBER_TEXT:
        tl_cell_text(out, *(const char *const *)at);
        break;
    case TL_MEMBER_NONE:
        break;
    }
}

uint32_t tl_part_next_column(const tl_part *part, uint32_t after)
{
    uint32_t best = part->ncolumn;
    for (uint32_t i = 0; i < part->ncolumn; i++) {
        const unsigned place = part->column[i].place;
        const bool is_behind = after == part->ncolumn || place > part->column[after].place ||
                               (place == part->column[after].place && i > after);
        if (is_behind && (best == part->ncolumn || place < part->column[best].place))
            best = i;
    }
    return best;
}

void tl_part_cell(const tl_part *part, uint64_t row, uint32_t column, tl_cell *out)
{
    const tl_column *c = &part->column[column];
    const void *at = tl_part_row(part, row);
    *out = (tl_cell){.kind = TL_CELL_NULL};
    if (c->guarded && !*((const bool *)at + c->guard))
        return;
    if (c->get)
        c->get(&(tl_at){part, part->table, at, c}, out);
    else
        get_member(at, c, out);
    if (!c->get && c->info.unit == TL_UNIT_SHARE && out->kind != TL_CELL_REAL)
        tl_cell_share(out, out->kind == TL_CELL_SUM ? tl_sum_double(out->sum) : (double)out->u64, part->answer->whole);
}

void tl_cell_growth(tl_cell *c, tl_sum now, tl_sum before)
{
    c->negative = tl_sum_compare(now, before) < 0;
    tl_cell_sum(c, c->negative ? tl_sum_minus(before, now) : tl_sum_minus(now, before));
}

void tl_cell_printf(const tl_at *at, tl_cell *c, const char *format, ...)
{
    char *text;
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    const int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    text = n < 0 ? NULL : tl_arena_alloc(&at->part->answer->scratch, (size_t)n + 1);
    if (text)
        vsnprintf(text, (size_t)n + 1, format, again);
    else
        at->part->answer->failed = true;
    va_end(again);
    tl_cell_text(c, text);
}

void tl_cell_texts(const tl_at *at, tl_cell *c, const char *const *text, size_t n)
{
    size_t size = 3;
    for (size_t i = 0; i < n; i++)
        size += 6 * strlen(text[i]) + 3;
    char *list = tl_arena_alloc(&at->part->answer->scratch, size), *p = list;
    at->part->answer->failed = at->part->answer->failed || !list;
    if (!list)
        return;
    *p++ = '[';
    for (size_t i = 0; i < n; i++) {
        if (i)
            *p++ = ',';
        p = tl_json_put_string(p, text[i], strlen(text[i]), NULL);
    }
    *p++ = ']';
    *p = 0;
    tl_cell_text(c, list);
}
