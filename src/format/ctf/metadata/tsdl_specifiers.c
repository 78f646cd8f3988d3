/* Type specifiers of TSDL, and enumerations. */
#include <inttypes.h>
#include <string.h>

#include "base/grow.h"
#include "format/ctf/metadata/tsdl_parser.h"

/* Whether a token follows the name of a declarator; then the word before it is that name, even if it has another
 * meaning. */
static bool ends_name(int kind)
{
    return kind == ';' || kind == ',' || kind == '[' || kind == ')';
}

static int ends_here(tsdl_parser *p, bool named, bool *ends)
{
    const tsdl_token *ahead;
    *ends = false;
    if (!named)
        return 0;
    TSDL_TRY(tsdl_peek(&p->l, &ahead));
    *ends = ends_name(ahead->kind);
    return 0;
}

static bool is_word(const tsdl_parser *p, tsdl_word word)
{
    return tsdl_is(&p->l, TSDL_WORD) && p->l.token.name->word == word;
}

/* `const` does not change how a value is read, so it is not part of any name. */
static int skip_const(tsdl_parser *p, bool named)
{
    for (bool ends; is_word(p, TSDL_W_CONST);) {
        TSDL_TRY(ends_here(p, named, &ends));
        if (ends)
            return 0;
        TSDL_TRY(tsdl_next(&p->l));
    }
    return 0;
}

/* "unsigned long" */
static int arithmetic_name(tsdl_parser *p, bool named, tsdl_name **out)
{
    *out = p->l.token.name;
    TSDL_TRY(tsdl_next(&p->l));
    for (unsigned words = 1;; words++) {
        bool ends;
        TSDL_TRY(skip_const(p, named));
        if (!is_word(p, TSDL_W_ARITHMETIC))
            return 0;
        TSDL_TRY(ends_here(p, named, &ends));
        if (ends)
            return 0; /* `unsigned int;` is a field named int, but `unsigned int :4;` one without a name */
        if (words == TSDL_WORDS_MAX)
            return tsdl_fail(&p->l, p->l.token.position, "the name of a type with more than %u words", TSDL_WORDS_MAX);
        TSDL_TRY(tsdl_join(&p->l, *out, " ", p->l.token.name, out));
        TSDL_TRY(tsdl_next(&p->l));
    }
}

int tsdl_specifiers(tsdl_parser *p, bool named, tsdl_base *base)
{
    TSDL_TRY(skip_const(p, false));
    *base = (tsdl_base){.position = p->l.token.position};
    if (!tsdl_is(&p->l, TSDL_WORD))
        return tsdl_fail_expected(&p->l, "a type");
    switch (p->l.token.name->word) {
    case TSDL_W_STRUCT:
        TSDL_TRY(tsdl_struct(p, base));
        break;
    case TSDL_W_VARIANT:
        TSDL_TRY(tsdl_variant(p, base));
        break;
    case TSDL_W_ENUM:
        TSDL_TRY(tsdl_enum(p, base));
        break;
    case TSDL_W_INTEGER:
        TSDL_TRY(tsdl_integer(p, &base->type));
        break;
    case TSDL_W_FLOATING_POINT:
        TSDL_TRY(tsdl_floating_point(p, &base->type));
        break;
    case TSDL_W_STRING:
        TSDL_TRY(tsdl_string(p, &base->type));
        break;
    case TSDL_W_ARITHMETIC:
        TSDL_TRY(arithmetic_name(p, named, &base->name));
        break;
    case TSDL_PLAIN:
        base->name = p->l.token.name;
        TSDL_TRY(tsdl_next(&p->l));
        break;
    default:
        return tsdl_fail_expected(&p->l, "a type");
    }
    return skip_const(p, named);
}

int tsdl_base_type(tsdl_parser *p, const tsdl_base *base, uint32_t pointers, tsdl_type **out)
{
    static const tsdl_name star = {.text = "*", .n = 1};
    tsdl_name *name = base->name;
    if (pointers == 0 && base->type) {
        *out = base->type;
        return 0;
    }
    if (!name)
        return tsdl_fail(&p->l, base->position, "a pointer to a type without a name");
    while (pointers-- > 0)
        TSDL_TRY(tsdl_join(&p->l, name, " ", &star, &name));
    const tsdl_symbol *symbol = tsdl_find(p, TSDL_TYPE, name);
    if (!symbol)
        return tsdl_fail(&p->l, base->position, "no type is named '%.60s'", name->text);
    *out = symbol->type;
    return 0;
}

/* The name of a new type: a word, "unsigned long", "struct page *". */
static int alias_name(tsdl_parser *p, tsdl_name **out)
{
    tsdl_lexer *l = &p->l;
    tsdl_base base = {0};
    TSDL_TRY(skip_const(p, false));
    if (is_word(p, TSDL_W_ARITHMETIC)) {
        TSDL_TRY(arithmetic_name(p, false, out));
    } else if (is_word(p, TSDL_W_STRUCT) || is_word(p, TSDL_W_VARIANT) || is_word(p, TSDL_W_ENUM)) {
        base.name = l->token.name;
        TSDL_TRY(tsdl_next(l));
        if (!tsdl_is(l, TSDL_WORD))
            return tsdl_fail_expected(l, "a name");
        TSDL_TRY(tsdl_join(l, base.name, " ", l->token.name, out));
        TSDL_TRY(tsdl_next(l));
    } else if (is_word(p, TSDL_PLAIN)) {
        *out = l->token.name;
        TSDL_TRY(tsdl_next(l));
    } else {
        return tsdl_fail_expected(l, "the name of a type");
    }
    static const tsdl_name star = {.text = "*", .n = 1};
    for (unsigned pointers = 0;; pointers++) {
        TSDL_TRY(skip_const(p, false));
        int found = tsdl_accept(l, '*');
        if (found <= 0)
            return found;
        if (pointers == TSDL_WORDS_MAX)
            return tsdl_fail(l, l->token.position, "more than %u pointers", TSDL_WORDS_MAX);
        TSDL_TRY(tsdl_join(l, *out, " ", &star, out));
    }
}

int tsdl_typealias(tsdl_parser *p)
{
    tsdl_base base;
    tsdl_declarator d;
    tsdl_name *name = NULL;
    TSDL_TRY(tsdl_next(&p->l));
    TSDL_TRY(tsdl_specifiers(p, false, &base));
    TSDL_TRY(tsdl_declare_one(p, &base, false, &d));
    TSDL_TRY(tsdl_expect(&p->l, TSDL_BECOMES));
    uint64_t position = p->l.token.position;
    TSDL_TRY(alias_name(p, &name));
    TSDL_TRY(tsdl_declare(p, TSDL_TYPE, name, d.type, position));
    return tsdl_expect(&p->l, ';');
}

int tsdl_typedef(tsdl_parser *p)
{
    tsdl_base base;
    TSDL_TRY(tsdl_next(&p->l));
    TSDL_TRY(tsdl_specifiers(p, true, &base));
    for (int more = 1; more > 0;) {
        tsdl_declarator d;
        TSDL_TRY(tsdl_declare_one(p, &base, true, &d));
        TSDL_TRY(tsdl_declare(p, TSDL_TYPE, d.name, d.type, d.position));
        more = tsdl_accept(&p->l, ',');
        if (more < 0)
            return more;
    }
    return tsdl_expect(&p->l, ';');
}

/* One end of a label's range, as in the type that contains it. */
static int label_value(tsdl_parser *p, const tsdl_type *t, uint64_t *out)
{
    tsdl_value v;
    TSDL_TRY(tsdl_value_number(p, &v));
    if (t->t.is_signed) {
        int64_t value;
        TSDL_TRY(tsdl_value_i64(p, &v, &value));
        *out = (uint64_t)value;
        return 0;
    }
    /* As in C, -1 is the largest value of an unsigned type. */
    *out = v.negative ? -v.number : v.number;
    if (v.negative && t->t.bits < 64)
        *out &= ((uint64_t)1 << t->t.bits) - 1;
    return 0;
}

/* NAME, NAME = value, or NAME = value ... value; `next`: the default value, if *has_next. */
static int label(tsdl_parser *p, const tsdl_type *t, uint64_t *next, bool *has_next)
{
    tsdl_lexer *l = &p->l;
    uint64_t position = l->token.position;
    tl_mapping m = {.low = *next, .high = *next};
    tsdl_name *name = l->token.name;
    if (!tsdl_is(l, TSDL_WORD) && !tsdl_is(l, TSDL_STRING))
        return tsdl_fail_expected(l, "'}' or a label");
    TSDL_TRY(tsdl_next(l));
    if (tsdl_is(l, '=')) {
        TSDL_TRY(tsdl_next(l));
        TSDL_TRY(label_value(p, t, &m.low));
        m.high = m.low;
        if (tsdl_is(l, TSDL_ELLIPSIS)) {
            TSDL_TRY(tsdl_next(l));
            TSDL_TRY(label_value(p, t, &m.high));
        }
    } else if (!*has_next) {
        return tsdl_fail(l, position, "no value is left for '%.40s'", name->text);
    }
    if (t->t.is_signed ? (int64_t)m.low > (int64_t)m.high : m.low > m.high)
        return tsdl_fail(l, position, "the range of '%.40s' ends before it begins", name->text);
    *has_next = m.high != (t->t.is_signed ? (uint64_t)INT64_MAX : UINT64_MAX);
    *next = m.high + 1;
    m.label = name->text;

    TSDL_TRY(tsdl_count(l, 1));
    if (!TL_GROW(p->mapping, p->nmapping, 1, p->mapping_capacity))
        return tsdl_no_memory(l);
    p->mapping[p->nmapping++] = m;
    return tsdl_push_part(p, name);
}

/* { labels } */
static int labels(tsdl_parser *p, tsdl_type *t)
{
    uint64_t next = 0;
    uint32_t first = p->npart;
    bool has_next = true;
    p->nmapping = 0;
    TSDL_TRY(tsdl_next(&p->l));
    while (!tsdl_is(&p->l, '}')) {
        TSDL_TRY(label(p, t, &next, &has_next));
        int more = tsdl_accept(&p->l, ',');
        if (more < 0)
            return more;
        if (more == 0 && !tsdl_is(&p->l, '}'))
            return tsdl_fail_expected(&p->l, "',' or '}'");
    }
    tl_mapping *mapping = tl_arena_alloc(&p->s->arena, p->nmapping * sizeof *mapping);
    tsdl_name **name = tl_arena_alloc(&p->s->arena, p->nmapping * sizeof *name);
    if (!mapping || !name)
        return tsdl_no_memory(&p->l);
    if (p->nmapping > 0) {
        memcpy(mapping, p->mapping, p->nmapping * sizeof *mapping);
        memcpy(name, p->part + first, p->nmapping * sizeof *name);
    }
    p->npart = first;
    t->t.mapping = mapping;
    t->t.nmapping = p->nmapping;
    t->name = name;
    t->labels = NULL;
    t->is_enum = true;
    return tsdl_next(&p->l);
}

/* The integer type of an enumeration. */
static int container(tsdl_parser *p, uint64_t position, tsdl_type **out)
{
    tsdl_base base = {.position = position};
    if (tsdl_is(&p->l, ':')) {
        if (p->nesting >= TSDL_NESTING_MAX)
            return tsdl_fail(&p->l, position, "types in types, more than %u levels", CTF_DEPTH_MAX);
        p->nesting++;
        TSDL_TRY(tsdl_next(&p->l));
        TSDL_TRY(tsdl_specifiers(p, false, &base));
        p->nesting--;
    } else {
        TSDL_TRY(tsdl_intern(&p->l, "int", 3, &base.name));
        if (!tsdl_find(p, TSDL_TYPE, base.name))
            return tsdl_fail(&p->l, position, "an enumeration without a type, and there is no type 'int'");
    }
    tsdl_type *t = NULL;
    TSDL_TRY(tsdl_base_type(p, &base, 0, &t));
    if (t->t.kind != CTF_INT)
        return tsdl_fail(&p->l, base.position, "an enumeration of a type that is not an integer");
    return tsdl_type_copy(p, t, position, out);
}

int tsdl_enum(tsdl_parser *p, tsdl_base *base)
{
    tsdl_lexer *l = &p->l;
    tsdl_name *name = NULL, *word = l->token.name;
    uint64_t position = l->token.position;
    TSDL_TRY(tsdl_next(l));
    if (tsdl_is(l, TSDL_WORD)) {
        name = l->token.name;
        TSDL_TRY(tsdl_join(l, word, " ", name, &base->name));
        TSDL_TRY(tsdl_next(l));
    }
    if (!tsdl_is(l, ':') && !tsdl_is(l, '{')) {
        if (!name)
            return tsdl_fail_expected(l, "'{', ':' or a name");
        const tsdl_symbol *symbol = tsdl_find(p, TSDL_ENUM, name);
        base->type = symbol ? symbol->type : NULL;
        return 0;
    }
    TSDL_TRY(container(p, position, &base->type));
    if (!tsdl_is(l, '{'))
        return tsdl_fail_expected(l, "'{'");
    TSDL_TRY(labels(p, base->type));
    return name ? tsdl_declare(p, TSDL_ENUM, name, base->type, position) : 0;
}
