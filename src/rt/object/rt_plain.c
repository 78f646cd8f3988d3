/* Plain names of C++ functions, as people write them in patterns: "net::Reader::read" for _ZN3net6Reader4readEi.
 *
 * This handles a small part of the mangling: names, nested names, operators, constructors. Arguments and template
 * arguments are left out. A name that holds more (back references in its path, local functions, expressions) has no
 * plain form; patterns then see the linkage name alone. */
#include "rt/object/rt_objects.h"
#include "rt/rt_sys.h"

struct plain {
    const char *s; /* the rest to read */
    char *out;
    size_t n, size;
    const char *latest; /* the latest name, which a constructor repeats */
    size_t nlatest;
};

/* Pairs of code and text. */
static const char *const operators[] = {
    "nw", " new", "na", " new[]", "dl", " delete", "da", " delete[]", "ng", "-",   "ad", "&",  "de", "*",  "co", "~",
    "pl", "+",    "mi", "-",      "ml", "*",       "dv", "/",         "rm", "%",   "an", "&",  "or", "|",  "eo", "^",
    "aS", "=",    "pL", "+=",     "mI", "-=",      "mL", "*=",        "dV", "/=",  "rM", "%=", "aN", "&=", "oR", "|=",
    "eO", "^=",   "ls", "<<",     "rs", ">>",      "lS", "<<=",       "rS", ">>=", "eq", "==", "ne", "!=", "lt", "<",
    "gt", ">",    "le", "<=",     "ge", ">=",      "ss", "<=>",       "nt", "!",   "aa", "&&", "oo", "||", "pp", "++",
    "mm", "--",   "cm", ",",      "pm", "->*",     "pt", "->",        "cl", "()",  "ix", "[]",
};

/* Abbreviations of the standard library; "St" is std itself. */
static const char *const standard[] = {"t", "std",          "a", "std::allocator", "b", "std::basic_string",
                                       "s", "std::string",  "i", "std::istream",   "o", "std::ostream",
                                       "d", "std::iostream"};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool put(struct plain *p, const char *s, size_t n)
{
    if (n >= p->size - p->n)
        return false;
    rt_copy(p->out + p->n, s, n);
    p->n += n;
    p->out[p->n] = '\0';
    return true;
}

static bool put_text(struct plain *p, const char *s)
{
    return put(p, s, rt_length(s));
}

/* Takes a name with its length in front; false: none, or longer than the text. */
static bool take_name(struct plain *p, const char **name, size_t *n)
{
    size_t length = 0;
    const char *s = p->s;
    while (is_digit(*s) && length < 65536)
        length = length * 10 + (size_t)(*s++ - '0');
    if (s == p->s || length == 0)
        return false;
    for (size_t i = 0; i < length; i++)
        if (!s[i])
            return false;
    *name = s;
    *n = length;
    p->s = s + length;
    return true;
}

/* Passes over a literal: type, value, E. */
static bool skip_literal(struct plain *p)
{
    const char *name;
    size_t n;
    p->s++;
    if (is_digit(*p->s) ? !take_name(p, &name, &n) : *p->s < 'a' || *p->s++ > 'z')
        return false;
    while (is_digit(*p->s) || *p->s == 'n')
        p->s++;
    return *p->s++ == 'E';
}

/* One step in the arguments of a template; *depth counts the open constructs that an E ends. */
static bool skip_step(struct plain *p, unsigned *depth)
{
    const char *name;
    size_t n;
    char c = *p->s;
    if (is_digit(c))
        return take_name(p, &name, &n);
    switch (c) {
    case 'L':
        return skip_literal(p);
    case 'I':
    case 'N':
    case 'J':
    case 'F':
        ++*depth;
        p->s++;
        return true;
    case 'E':
        --*depth;
        p->s++;
        return true;
    case 'S':
    case 'T':
    case 'A':
        p->s++;
        if (c == 'S' && *p->s >= 'a' && *p->s <= 'z')
            return *p->s++ != '\0';
        while (is_digit(*p->s) || (c == 'S' && *p->s >= 'A' && *p->s <= 'Z'))
            p->s++;
        return *p->s++ == '_';
    case 'D':
        if (p->s[1] == 'T' || p->s[1] == 't' || p->s[1] == 'v')
            return false;
        p->s += p->s[1] ? 2 : 1;
        return true;
    case 'X':
    case 'Z':
    case '\0':
    case '_':
    case '.':
        return false;
    default:
        p->s++;
        return true;
    }
}

static bool skip_template(struct plain *p)
{
    unsigned depth = 1;
    p->s++;
    while (depth > 0)
        if (!skip_step(p, &depth))
            return false;
    return true;
}

static bool put_operator(struct plain *p)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i += 2)
        if (p->s[0] == operators[i][0] && p->s[1] == operators[i][1]) {
            p->s += 2;
            p->latest = NULL;
            return put_text(p, "operator") && put_text(p, operators[i + 1]);
        }
    return false;
}

/* A constructor or destructor has its class's name. */
static bool put_structor(struct plain *p)
{
    bool destroys = *p->s == 'D';
    if (!p->latest || !is_digit(p->s[1]))
        return false;
    p->s += 2;
    return (!destroys || put(p, "~", 1)) && put(p, p->latest, p->nlatest);
}

static bool put_source_name(struct plain *p)
{
    static const char hidden[] = "_GLOBAL__N_";
    if (!take_name(p, &p->latest, &p->nlatest))
        return false;
    size_t i = 0;
    while (i < sizeof hidden - 1 && i < p->nlatest && p->latest[i] == hidden[i])
        i++;
    return i == sizeof hidden - 1 ? put_text(p, "(anonymous namespace)") : put(p, p->latest, p->nlatest);
}

/* One part of a name, with its tags and template arguments. */
static bool put_part(struct plain *p)
{
    const char *tag;
    size_t n;
    if (*p->s == 'L')
        p->s++;
    bool ok = is_digit(*p->s) ? put_source_name(p) : *p->s == 'C' || *p->s == 'D' ? put_structor(p) : put_operator(p);
    while (ok && *p->s == 'B') {
        p->s++;
        ok = take_name(p, &tag, &n);
    }
    return ok && (*p->s != 'I' || skip_template(p));
}

/* "St", "Ss" ...: also true if there is none. */
static bool put_standard(struct plain *p, bool *any)
{
    *any = false;
    if (*p->s != 'S')
        return true;
    for (size_t i = 0; i < sizeof standard / sizeof *standard; i += 2)
        if (p->s[1] == standard[i][0]) {
            p->s += 2;
            *any = true;
            p->latest = standard[i][0] == 't' ? NULL : standard[i + 1] + sizeof "std::" - 1;
            p->nlatest = p->latest ? rt_length(p->latest) : 0;
            return put_text(p, standard[i + 1]) && (*p->s != 'I' || skip_template(p));
        }
    return false;
}

bool tl_rt_symbols_plain(const char *linkage_name, char *out, size_t size)
{
    struct plain p = {.s = linkage_name, .out = out, .size = size};
    bool any, nested;
    if (size == 0 || p.s[0] != '_' || p.s[1] != 'Z')
        return false;
    p.s += 2;
    nested = *p.s == 'N';
    if (nested)
        for (p.s++; *p.s == 'r' || *p.s == 'V' || *p.s == 'K' || *p.s == 'R' || *p.s == 'O';)
            p.s++;
    if (!put_standard(&p, &any))
        return false;
    for (bool first = !any; first || (nested && *p.s != 'E') || any; first = any = false)
        if ((!first && !put(&p, "::", 2)) || !put_part(&p))
            return false;
    return true;
}
