/* Reads gates by recursive descent, without the recursion: terms are separated by "or". */
#include "analysis/compare/gate_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define DIGITS_MOST 15u /* of a number: a double holds them exactly */

typedef struct parser {
    const char *text, *p;
    tl_arena *arena;
    tl_error *e;
} parser;

TL_PRINTF(2, 3) static int wrong(const parser *p, const char *format, ...)
{
    char message[120];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return tl_fail(p->e, TL_ESYNTAX, (uint64_t)(p->p - p->text), "%s", message);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

static void skip_blanks(parser *p)
{
    while (is_blank(*p->p))
        p->p++;
}

/* The length of a word of letters, digits and what `more` has. */
static size_t word_length(const parser *p, const char *more)
{
    size_t n = 0;
    for (; (p->p[n] >= 'a' && p->p[n] <= 'z') || (p->p[n] >= '0' && p->p[n] <= '9') ||
           (p->p[n] && strchr(more, p->p[n]));)
        n++;
    return n;
}

static int parse_metric(parser *p, tl_gate_term *t)
{
    skip_blanks(p);
    const size_t n = word_length(p, ".-_");
    if (!tl_metric_parse(p->p, n, &t->metric))
        return wrong(p,
                     "expected calls, total, self, percall, mean, min, max, share, self-share or a percentile such as "
                     "p99");
    p->p += n;
    skip_blanks(p);
    if (*p->p != '(')
        return wrong(p, "expected '(' and the name of a function");
    p->p++;
    return 0;
}

/* Up to the parenthesis that closes it. */
static int parse_target(parser *p, tl_gate_term *t)
{
    static const char path[] = "path:";
    skip_blanks(p);
    const char *const begin = p->p;
    unsigned depth = 1;
    for (; *p->p; p->p++) {
        depth += *p->p == '(';
        depth -= *p->p == ')';
        if (depth == 0)
            break;
    }
    if (!*p->p)
        return wrong(p, "expected ')' after the name of a function");
    const char *end = p->p;
    while (end > begin && is_blank(end[-1]))
        end--;
    const size_t skip = strncmp(begin, path, sizeof path - 1) == 0 ? sizeof path - 1 : 0;
    if (end <= begin + skip) {
        p->p = begin;
        return wrong(p, "expected the name of a function, a pattern, or * for all");
    }
    t->is_path = skip > 0;
    t->target = tl_arena_strndup(p->arena, begin + skip, (size_t)(end - begin) - skip);
    if (!t->target)
        return tl_fail(p->e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a gate");
    t->is_all = !t->is_path && strcmp(t->target, "*") == 0;
    p->p++;
    return 0;
}

static int parse_number(parser *p, double *v)
{
    uint64_t digits = 0;
    unsigned n = 0;
    double divisor = 1;
    bool point = false;
    for (; (*p->p >= '0' && *p->p <= '9') || (*p->p == '.' && !point && n > 0); p->p++) {
        if (*p->p == '.') {
            point = true;
            continue;
        }
        if (++n > DIGITS_MOST)
            return wrong(p, "a number of at most %u digits is expected", DIGITS_MOST);
        digits = digits * 10 + (uint64_t)(*p->p - '0');
        divisor *= point ? 10 : 1;
    }
    if (n == 0 || p->p[-1] == '.')
        return wrong(p, "expected a number, such as +5%%, -1ms or 4us");
    *v = (double)digits / divisor;
    return 0;
}

static int parse_unit(parser *p, tl_gate_term *t)
{
    static const struct {
        const char *name;
        double ns;
    } unit[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"min", 60e9}, {"h", 3600e9}};
    skip_blanks(p);
    const char *const begin = p->p;
    if (*p->p == '%') {
        p->p++;
        if (t->kind == TL_AMOUNT_LIMIT && !tl_metric_is_share(t->metric)) {
            p->p = begin;
            return wrong(p, "a change has a sign, +5%%; only shares have limits in %%");
        }
        t->amount /= 100;
        t->kind = t->kind == TL_AMOUNT_LIMIT ? TL_AMOUNT_LIMIT : TL_AMOUNT_CHANGE;
        return 0;
    }
    const size_t n = word_length(p, "");
    if (n == 0 || (n == 2 && memcmp(p->p, "or", 2) == 0)) {
        if (!tl_metric_is_share(t->metric))
            return 0;
        return wrong(p, "expected %% after a share");
    }
    for (size_t i = 0; i < TL_COUNT(unit); i++)
        if (strlen(unit[i].name) == n && memcmp(unit[i].name, p->p, n) == 0 && tl_metric_is_time(t->metric)) {
            p->p += n;
            t->amount *= unit[i].ns;
            t->is_time = true;
            return 0;
        }
    return wrong(p, tl_metric_is_time(t->metric) ? "expected %%, ns, us, ms, s, min or h" : "expected %%, or nothing");
}

static int parse_amount(parser *p, tl_gate_term *t)
{
    skip_blanks(p);
    if (*p->p != '>' && *p->p != '<')
        return wrong(p, "expected > or <");
    t->above = *p->p++ == '>';
    skip_blanks(p);
    t->at = (uint64_t)(p->p - p->text);
    const char sign = *p->p == '+' || *p->p == '-' ? *p->p++ : 0;
    t->kind = sign ? TL_AMOUNT_DIFFERENCE : TL_AMOUNT_LIMIT;
    int status = parse_number(p, &t->amount);
    if (status == 0)
        status = parse_unit(p, t);
    if (status == 0 && sign == '-')
        t->amount = -t->amount;
    return status;
}

/* After a term: nothing, or "or". *more: another term follows. */
static int parse_or(parser *p, bool *more)
{
    skip_blanks(p);
    *more = p->p[0] == 'o' && p->p[1] == 'r' && is_blank(p->p[2]);
    if (!*more && *p->p)
        return wrong(p, "expected the end, or \"or\" and another gate");
    p->p += *more ? 2 : 0;
    return 0;
}

int tl_gate_parse(tl_gate_text *out, tl_arena *arena, const char *text, tl_error *e)
{
    parser p = {text, text, arena, e};
    tl_gate_term term[TL_GATE_TERMS_MAX];
    uint32_t n = 0;
    bool more = true;
    int status = 0;
    if (strlen(text) > TL_GATE_TEXT_MAX)
        return tl_fail(e, TL_ESYNTAX, TL_GATE_TEXT_MAX, "a gate has at most %u bytes", TL_GATE_TEXT_MAX);
    while (more && status == 0) {
        if (n == TL_GATE_TERMS_MAX)
            return wrong(&p, "a gate has at most %u parts", TL_GATE_TERMS_MAX);
        term[n] = (tl_gate_term){0};
        status = parse_metric(&p, &term[n]);
        if (status == 0)
            status = parse_target(&p, &term[n]);
        if (status == 0)
            status = parse_amount(&p, &term[n]);
        if (status == 0)
            status = parse_or(&p, &more);
        n++;
    }
    if (status < 0)
        return status;
    out->term = tl_arena_alloc(arena, n * sizeof *term);
    if (!out->term)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a gate");
    memcpy(out->term, term, n * sizeof *term);
    out->n = n;
    return 0;
}
