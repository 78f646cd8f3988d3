/* Shortens names of functions by their structure: bracketed groups, and components. */
#include "model/name_fit.h"

#include <stdio.h>
#include <string.h>

#include "base/compiler.h"

#define NESTING_LEVELS 64u   /* of brackets: deeper names are cut in the middle */
#define WORK_SIZE      2048u /* bytes of a shortened name; a longer one is cut in the middle */
#define KEPT_LEVELS    2u    /* of template arguments, initially */

/* What to leave out of a name. */
typedef struct cuts {
    unsigned keep;   /* levels of template arguments that stay */
    bool parameters; /* leave these out, too */
    const char *gap; /* replaces the content of brackets; "": drops the brackets, too */
} cuts;

typedef struct bracket {
    char close;
    bool is_template, is_cut;
} bracket;

/* A walk through a name. */
typedef struct walk {
    const char *name;
    size_t at;
    bracket open[NESTING_LEVELS];
    unsigned depth, templates, hidden; /* open brackets; those of template arguments; those that are cut */
    bool after_operator;
} walk;

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
           (unsigned char)c >= 0x80;
}

/* Bytes of "operator<<", "->" or "=>" at s, whose signs are not brackets; 0: none. */
static size_t signs(const char *name, size_t at)
{
    static const char *const sign[] = {"()", "[]", "<=>", "<<=", ">>=", "->*", "<<", ">>", "->", "<=", ">=", "<", ">"};
    const char *s = name + at;
    if (strncmp(s, "->", 2) == 0 || strncmp(s, "=>", 2) == 0)
        return 2;
    const size_t word = strlen("operator");
    if (strncmp(s, "operator", word) != 0 || (at > 0 && is_word(name[at - 1])))
        return 0;
    for (size_t i = 0; i < TL_COUNT(sign); i++)
        if (strncmp(s + word, sign[i], strlen(sign[i])) == 0)
            return word + strlen(sign[i]);
    return 0;
}

static char closing(char open)
{
    static const char pair[] = "<>()[]{}";
    const char *p = open ? strchr(pair, open) : NULL;
    return p && (p - pair) % 2 == 0 ? p[1] : 0;
}

/* Whether a bracket holds the arguments of a name before it, rather than beginning a component. */
static bool follows_name(const walk *w, char open)
{
    const char before = w->at ? w->name[w->at - 1] : 0;
    if (w->after_operator || is_word(before) || (before && strchr(">])}'", before)))
        return true;
    return open == '<' && before == ':';
}

/* Opens a bracket; false if there are too many. */
static bool open_bracket(walk *w, const cuts *c, char open)
{
    if (w->depth == NESTING_LEVELS)
        return false;
    bracket *b = &w->open[w->depth++];
    *b = (bracket){.close = closing(open), .is_template = (open == '<' || open == '[') && follows_name(w, open)};
    const char *inside = w->name + w->at + 1;
    const bool is_short = *c->gap && (*inside == b->close || (*inside && inside[1] == b->close));
    if (b->is_template)
        b->is_cut = w->templates >= c->keep && !is_short;
    else
        b->is_cut = open == '(' && c->parameters && follows_name(w, open) && !is_short;
    w->templates += b->is_template;
    return true;
}

/* Closes the innermost bracket; false if it does not match. */
static bool close_bracket(walk *w, char close)
{
    if (w->depth == 0 || w->open[w->depth - 1].close != close)
        return false;
    const bracket *b = &w->open[--w->depth];
    w->templates -= b->is_template;
    w->hidden -= b->is_cut;
    return true;
}

typedef struct text {
    char *to;
    size_t n, size;
} text;

static void put(text *t, const char *s, size_t n)
{
    if (n < t->size - t->n) {
        memcpy(t->to + t->n, s, n);
        t->n += n;
        t->to[t->n] = 0;
    } else {
        t->size = t->n; /* too long: stops */
    }
}

/* Writes the bracket at the walk's place, or its replacement. */
static bool put_bracket(walk *w, const cuts *c, text *t)
{
    const char *s = w->name + w->at;
    const bool was_hidden = w->hidden > 0;
    if (closing(*s)) {
        if (!open_bracket(w, c, *s))
            return false;
        const bool is_cut = w->open[w->depth - 1].is_cut;
        w->hidden += is_cut;
        if (!was_hidden && (!is_cut || *c->gap))
            put(t, s, 1);
        if (!was_hidden && is_cut)
            put(t, c->gap, strlen(c->gap));
        return true;
    }
    if (!close_bracket(w, *s))
        return false;
    if (w->hidden == 0 && (!was_hidden || *c->gap))
        put(t, s, 1);
    return true;
}

/* Writes the name without the cuts; false if its brackets do not match, or it is too long. */
static bool shrink(const char *name, const cuts *c, char to[static WORK_SIZE])
{
    walk w = {.name = name};
    text t = {.to = to, .size = WORK_SIZE};
    to[0] = 0;
    while (name[w.at]) {
        const size_t n = signs(name, w.at);
        if (n == 0 && strchr("<>()[]{}", name[w.at])) {
            if (!put_bracket(&w, c, &t))
                return false;
        } else if (w.hidden == 0) {
            put(&t, name + w.at, n ? n : 1);
        }
        /* "operator< <int>": the blank is not the end */
        w.after_operator = n > 2 || (w.after_operator && name[w.at] == ' ');
        w.at += n ? n : 1;
    }
    return w.depth == 0 && t.n < t.size;
}

/* Suffixes after a dot that are not components: ".cold", ".constprop.0". */
static bool is_suffix(const char *s)
{
    static const char *const suffix[] = {"cold", "so", "dll", "exe"};
    size_t n = 0;
    while (is_word(s[n]))
        n++;
    if (s[n] == '.' && s[n + 1] >= '0' && s[n + 1] <= '9')
        return true;
    for (size_t i = 0; i < TL_COUNT(suffix); i++)
        if (n == strlen(suffix[i]) && strncmp(s, suffix[i], n) == 0)
            return true;
    return false;
}

/* Bytes of a separator between two components at name[at]; 0: none. */
static size_t separator(const char *name, size_t at, bool dots)
{
    const char *s = name + at;
    if (dots)
        return at > 0 && *s == '.' && is_word(s[1]) && !(s[1] >= '0' && s[1] <= '9') && !is_suffix(s + 1) ? 1 : 0;
    if (strncmp(s, "::", 2) != 0)
        return 0;
    if (s[2] == '{' || s[2] == '\'' || s[2] == '<') /* a lambda or closure means nothing without its context */
        return 0;
    return at > 0 && strchr("}'", s[-1]) && strncmp(s + 2, "operator()", 10) == 0 ? 0 : 2;
}

/* The last component, or the first whose rest fits into `width` columns. Brackets of the name match. */
static const char *last_fitting(const char *name, unsigned width)
{
    const bool dots = !strstr(name, "::");
    const char *last = name;
    unsigned depth = 0;
    for (size_t i = 0, n; name[i]; i += n) {
        n = signs(name, i);
        if (n)
            continue;
        n = depth ? 0 : separator(name, i, dots);
        if (n) {
            last = name + i + n;
            if (tl_text_width(last, strlen(last)) <= width)
                return last;
            continue;
        }
        n = 1;
        if (closing(name[i]))
            depth++;
        else if (strchr(">)]}", name[i]))
            depth--;
    }
    return last;
}

static bool fits(const char *s, unsigned width)
{
    return tl_text_width(s, strlen(s)) <= width;
}

/* Leaves out leading namespaces, or if that is not enough, everything but the last word. */
static const char *fit_components(const tl_terminal *t, char *buf, size_t size, const char *s, const char *name,
                                  unsigned width)
{
    static const char *const behind[] = {"", "::"};
    const char *gap = t->unicode ? "…" : "..";
    const bool colons = strstr(name, "::") != NULL;
    const unsigned taken = (t->unicode ? 1u : 2u) + (colons ? 2u : 0u);
    const char *last = last_fitting(name, width > taken ? width - taken : 0);
    if (last != name && width > taken && fits(last, width - taken)) {
        snprintf(buf, size, "%s%s%s", gap, behind[colons], last);
        return buf;
    }
    char bare[WORK_SIZE];
    if (!shrink(s, &(cuts){0, true, ""}, bare))
        return tl_text_fit(t, buf, size, s, width);
    last = last_fitting(bare, width);
    const char *fit = tl_text_fit(t, buf, size, last, width);
    if (fit != buf)
        snprintf(buf, size, "%s", fit);
    return buf;
}

static const char *fit_name(const tl_terminal *t, char *buf, size_t size, const char *s, unsigned width)
{
    const char *gap = t->unicode ? "…" : "..";
    char work[WORK_SIZE];
    if (fits(s, width))
        return s;
    if (size < WORK_SIZE || strchr(s, '/'))
        return tl_text_fit(t, buf, size, s, width);
    for (unsigned step = 0; step <= KEPT_LEVELS + 1; step++) {
        const cuts c = {step < KEPT_LEVELS ? KEPT_LEVELS - step : 0, step > KEPT_LEVELS, gap};
        if (!shrink(s, &c, work))
            continue; /* still too long, or brackets do not match */
        if (fits(work, width)) {
            memcpy(buf, work, strlen(work) + 1);
            return buf;
        }
        if (c.parameters)
            return fit_components(t, buf, size, s, work, width);
    }
    return tl_text_fit(t, buf, size, s, width);
}

const char *tl_name_fit(const tl_terminal *t, char *buf, size_t size, const char *s, unsigned width)
{
    static const char *const arrow[] = {" -> ", " → "};
    const char *between = strstr(s, arrow[t->unicode]);
    const size_t n = strlen(arrow[t->unicode]), before = between ? (size_t)(between - s) : 0;
    const unsigned taken = tl_text_width(arrow[t->unicode], n);
    char left[WORK_SIZE], fit[2][WORK_SIZE];
    if (fits(s, width) || !between || strstr(between + n, arrow[t->unicode]) || before >= sizeof left ||
        width < 4 * taken)
        return fit_name(t, buf, size, s, width);
    memcpy(left, s, before);
    left[before] = 0;
    const char *right = between + n;
    const unsigned room = width - taken, half = room / 2;
    const unsigned first = tl_text_width(left, before), second = tl_text_width(right, strlen(right));
    const unsigned share = first <= half ? first : second < room - half ? room - second : half;
    const char *a = fit_name(t, fit[0], WORK_SIZE, left, share);
    const char *b = fit_name(t, fit[1], WORK_SIZE, right, room - share);
    const int length = snprintf(buf, size, "%s%s%s", a, arrow[t->unicode], b);
    return length >= 0 && (size_t)length < size ? buf : tl_text_fit(t, buf, size, s, width);
}
