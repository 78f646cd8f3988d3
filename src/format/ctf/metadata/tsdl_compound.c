/* struct {...} and variant {...} of TSDL, and the declarations and declarators in them. */
#include <stdio.h>
#include <string.h>

#include "base/grow.h"
#include "format/ctf/metadata/tsdl_parser.h"

/* A length in brackets. */
typedef struct dimension {
    uint64_t length, position;
    const tsdl_path *path;
} dimension;

static int pointers(tsdl_parser *p, uint32_t *n)
{
    for (*n = 0;;) {
        const tsdl_token *ahead;
        if (tsdl_is(&p->l, '*')) {
            if (++*n > TSDL_WORDS_MAX)
                return tsdl_fail(&p->l, p->l.token.position, "more than %u pointers", TSDL_WORDS_MAX);
        } else if (*n > 0 && tsdl_is(&p->l, TSDL_WORD) && p->l.token.name->word == TSDL_W_CONST) {
            TSDL_TRY(tsdl_peek(&p->l, &ahead));
            if (ahead->kind != TSDL_WORD && ahead->kind != '*' && ahead->kind != TSDL_BECOMES)
                return 0; /* a field with this name */
        } else {
            return 0;
        }
        TSDL_TRY(tsdl_next(&p->l));
    }
}

static int brackets(tsdl_parser *p, dimension *d)
{
    tsdl_value v;
    uint32_t parts = p->npart;
    *d = (dimension){.position = p->l.token.position};
    TSDL_TRY(tsdl_next(&p->l));
    TSDL_TRY(tsdl_value_parse(p, &v));
    if (v.kind == TSDL_V_PATH)
        TSDL_TRY(tsdl_path_new(p, &v, &d->path));
    else
        TSDL_TRY(tsdl_value_u64(p, &v, UINT64_MAX, &d->length));
    p->npart = parts;
    return tsdl_expect(&p->l, ']');
}

/* A name, or none, in any number of parentheses, followed by lengths. */
static int direct_declarator(tsdl_parser *p, bool named, tsdl_declarator *d, dimension *list, uint32_t *n)
{
    tsdl_lexer *l = &p->l;
    uint32_t open = 0;
    while (tsdl_is(l, '(')) {
        if (++open > CTF_DEPTH_MAX)
            return tsdl_fail(l, l->token.position, "more than %u parentheses", CTF_DEPTH_MAX);
        TSDL_TRY(tsdl_next(l));
    }
    if (open > 0 && tsdl_is(l, '*'))
        return tsdl_fail(l, l->token.position, "a pointer in parentheses");
    d->position = l->token.position;
    d->name = NULL;
    if (tsdl_is(l, TSDL_WORD)) {
        d->name = l->token.name;
        TSDL_TRY(tsdl_next(l));
    } else if (named) {
        return tsdl_fail_expected(l, "a name");
    }
    for (;;) {
        if (tsdl_is(l, '[')) {
            if (*n == CTF_DEPTH_MAX)
                return tsdl_fail(l, l->token.position, "an array of more than %u dimensions", CTF_DEPTH_MAX);
            TSDL_TRY(brackets(p, &list[(*n)++]));
        } else if (open > 0) {
            TSDL_TRY(tsdl_expect(l, ')'));
            open--;
        } else {
            return 0;
        }
    }
}

int tsdl_declare_one(tsdl_parser *p, const tsdl_base *base, bool named, tsdl_declarator *d)
{
    dimension list[CTF_DEPTH_MAX];
    uint32_t stars, n = 0;
    TSDL_TRY(pointers(p, &stars));
    TSDL_TRY(direct_declarator(p, named, d, list, &n));
    TSDL_TRY(tsdl_base_type(p, base, stars, &d->type));
    while (n-- > 0)
        TSDL_TRY(tsdl_array(p, d->type, list[n].length, list[n].path, list[n].position, &d->type));
    return 0;
}

int tsdl_declaration(tsdl_parser *p)
{
    tsdl_lexer *l = &p->l;
    const tsdl_token *ahead;
    tsdl_base base;
    if (tsdl_is(l, ';'))
        return tsdl_accept(l, ';');
    unsigned word = tsdl_is(l, TSDL_WORD) ? l->token.name->word : TSDL_PLAIN;
    if (word != TSDL_W_TYPEDEF && word != TSDL_W_TYPEALIAS && word != TSDL_W_STRUCT && word != TSDL_W_VARIANT &&
        word != TSDL_W_ENUM)
        return 0;
    TSDL_TRY(tsdl_peek(l, &ahead));
    if (ahead->kind == '=' || ahead->kind == TSDL_BECOMES || ahead->kind == '.' || ahead->kind == TSDL_ARROW)
        return 0; /* an attribute with this name */
    if (word == TSDL_W_TYPEDEF)
        TSDL_TRY(tsdl_typedef(p));
    else if (word == TSDL_W_TYPEALIAS)
        TSDL_TRY(tsdl_typealias(p));
    else {
        TSDL_TRY(tsdl_specifiers(p, false, &base));
        TSDL_TRY(tsdl_expect(l, ';'));
    }
    return 1;
}

/* Adds a member to the stack, where those from `first` on belong to the same struct or variant. */
static int add_member(tsdl_parser *p, const tsdl_type *t, uint32_t first, const tsdl_declarator *d)
{
    tsdl_space space = t->t.kind == CTF_VARIANT ? TSDL_OPTION : TSDL_FIELD;
    const tsdl_symbol *known = tsdl_find(p, space, d->name);
    uint32_t index = p->nmember - first;
    if (known && known->scope == p->scope)
        return tsdl_fail(&p->l, d->position, "'%.60s' is declared twice", d->name->text);
    if (index == CTF_MEMBERS_MAX)
        return tsdl_fail(&p->l, d->position, "more than %u fields in one structure", CTF_MEMBERS_MAX);
    TSDL_TRY(tsdl_wants_tag(p, d->type, d->position));
    TSDL_TRY(tsdl_count(&p->l, 1));
    if (!TL_GROW(p->member, p->nmember, 1, p->member_capacity))
        return tsdl_no_memory(&p->l);
    p->member[p->nmember++] = (tsdl_member){.name = d->name, .type = d->type};
    return space == TSDL_OPTION ? tsdl_push(p, space, d->name, d->type, p->scope, index)
                                : tsdl_push_field(p, d->name, d->type, p->scope, index);
}

/* `: bits` after a declarator, which without a name is named by its index. */
static int bit_field(tsdl_parser *p, uint32_t index, tsdl_declarator *d)
{
    tsdl_value v;
    uint64_t bits;
    TSDL_TRY(tsdl_next(&p->l));
    TSDL_TRY(tsdl_value_parse(p, &v));
    TSDL_TRY(tsdl_value_u64(p, &v, 64, &bits));
    if (bits == 0 && d->name)
        return tsdl_fail(&p->l, v.position, "a bit-field of 0 bits with a name");
    TSDL_TRY(tsdl_bit_field(p, d->type, bits, d->position, &d->type));
    if (d->name)
        return 0;
    char text[16];
    int n = snprintf(text, sizeof text, ":%u", (unsigned)index);
    return tsdl_intern(&p->l, text, (size_t)n, &d->name);
}

/* A declaration in a struct or variant. */
static int members(tsdl_parser *p, const tsdl_type *t, uint32_t first)
{
    tsdl_lexer *l = &p->l;
    tsdl_base base;
    unsigned word = tsdl_is(l, TSDL_WORD) ? l->token.name->word : TSDL_PLAIN;
    if (word == TSDL_W_TYPEDEF)
        return tsdl_typedef(p);
    if (word == TSDL_W_TYPEALIAS)
        return tsdl_typealias(p);
    if (tsdl_is(l, ';'))
        return tsdl_next(l);
    TSDL_TRY(tsdl_specifiers(p, true, &base));
    if (tsdl_is(l, ';') && (word == TSDL_W_STRUCT || word == TSDL_W_VARIANT || word == TSDL_W_ENUM) && base.name)
        return tsdl_next(l); /* declares only the type */
    for (int more = 1; more > 0;) {
        tsdl_declarator d = {.position = l->token.position};
        if (tsdl_is(l, ':'))
            TSDL_TRY(tsdl_base_type(p, &base, 0, &d.type));
        else
            TSDL_TRY(tsdl_declare_one(p, &base, true, &d));
        if (tsdl_is(l, ':'))
            TSDL_TRY(bit_field(p, p->nmember - first, &d));
        TSDL_TRY(add_member(p, t, first, &d));
        more = tsdl_accept(l, ',');
        if (more < 0)
            return more;
    }
    return tsdl_expect(l, ';');
}

/* { declarations } */
static int body(tsdl_parser *p, tsdl_type *t)
{
    tsdl_mark mark;
    uint32_t first = p->nmember;
    TSDL_TRY(tsdl_next(&p->l));
    TSDL_TRY(tsdl_enter(p, &mark));
    while (!tsdl_is(&p->l, '}')) {
        if (tsdl_is(&p->l, TSDL_END))
            return tsdl_fail_expected(&p->l, "'}'");
        TSDL_TRY(members(p, t, first));
    }
    TSDL_TRY(tsdl_set_members(p, t, first));
    tsdl_leave(p, &mark);
    return tsdl_next(&p->l);
}

/* The name after `struct` or `variant`, if there is one. */
static int tag_name(tsdl_parser *p, tsdl_base *base, tsdl_name **name)
{
    tsdl_lexer *l = &p->l;
    tsdl_name *word = l->token.name;
    *name = NULL;
    TSDL_TRY(tsdl_next(l));
    if (!tsdl_is(l, TSDL_WORD))
        return 0;
    *name = l->token.name;
    TSDL_TRY(tsdl_join(l, word, " ", *name, &base->name));
    return tsdl_next(l);
}

/* `align(bits)` after a struct. */
static int align_attribute(tsdl_parser *p, uint32_t *bits)
{
    tsdl_lexer *l = &p->l;
    const tsdl_token *ahead;
    tsdl_value v;
    *bits = 0;
    if (!tsdl_is(l, TSDL_WORD) || l->token.name->word != TSDL_W_ALIGN)
        return 0;
    TSDL_TRY(tsdl_peek(l, &ahead));
    if (ahead->kind != '(')
        return 0; /* a field with this name */
    TSDL_TRY(tsdl_next(l));
    TSDL_TRY(tsdl_next(l));
    TSDL_TRY(tsdl_value_parse(p, &v));
    TSDL_TRY(tsdl_alignment(p, &v, bits));
    return tsdl_expect(l, ')');
}

int tsdl_struct(tsdl_parser *p, tsdl_base *base)
{
    tsdl_name *name;
    uint64_t position = p->l.token.position;
    uint32_t bits;
    TSDL_TRY(tag_name(p, base, &name));
    bool defined = tsdl_is(&p->l, '{');
    if (defined) {
        TSDL_TRY(tsdl_type_new(p, CTF_STRUCT, position, &base->type));
        TSDL_TRY(body(p, base->type));
    } else if (name) {
        const tsdl_symbol *symbol = tsdl_find(p, TSDL_STRUCT, name);
        base->type = symbol ? symbol->type : NULL;
    } else {
        return tsdl_fail_expected(&p->l, "'{' or a name");
    }
    TSDL_TRY(align_attribute(p, &bits));
    if (bits > 0 && !base->type)
        return tsdl_fail(&p->l, position, "no structure is named '%.60s'", name->text);
    if (bits > 0 && !defined)
        TSDL_TRY(tsdl_type_copy(p, base->type, position, &base->type));
    if (base->type && base->type->t.align < bits)
        base->type->t.align = bits;
    return defined && name ? tsdl_declare(p, TSDL_STRUCT, name, base->type, position) : 0;
}

int tsdl_variant(tsdl_parser *p, tsdl_base *base)
{
    tsdl_lexer *l = &p->l;
    tsdl_name *name;
    const tsdl_path *tag = NULL;
    uint64_t position = l->token.position;
    TSDL_TRY(tag_name(p, base, &name));
    if (tsdl_is(l, '<')) {
        tsdl_value v;
        uint32_t parts = p->npart;
        TSDL_TRY(tsdl_next(l));
        TSDL_TRY(tsdl_value_parse(p, &v));
        TSDL_TRY(tsdl_path_new(p, &v, &tag));
        p->npart = parts;
        TSDL_TRY(tsdl_expect(l, '>'));
    }
    bool defined = tsdl_is(l, '{');
    if (defined) {
        TSDL_TRY(tsdl_type_new(p, CTF_VARIANT, position, &base->type));
        TSDL_TRY(body(p, base->type));
    } else if (name) {
        const tsdl_symbol *symbol = tsdl_find(p, TSDL_VARIANT, name);
        base->type = symbol ? symbol->type : NULL;
        if (tag && !base->type)
            return tsdl_fail(l, position, "no variant is named '%.60s'", name->text);
        if (tag)
            TSDL_TRY(tsdl_type_copy(p, base->type, position, &base->type));
    } else {
        return tsdl_fail_expected(l, "'{' or a name");
    }
    if (tag)
        TSDL_TRY(tsdl_set_path(p, base->type, tag));
    return defined && name ? tsdl_declare(p, TSDL_VARIANT, name, base->type, position) : 0;
}
