/* Values of TSDL: numbers, strings and paths, and the lists of assignments in all blocks and attributes. */
#include <inttypes.h>
#include <string.h>

#include "base/grow.h"
#include "format/ctf/metadata/tsdl_parser.h"

int tsdl_push_part(tsdl_parser *p, tsdl_name *name)
{
    if (!TL_GROW(p->part, p->npart, 1, p->part_capacity))
        return tsdl_no_memory(&p->l);
    p->part[p->npart++] = name;
    return 0;
}

/* a.b.c; its names stay on the stack of parts until the caller takes them off. */
static int parse_path(tsdl_parser *p, tsdl_value *v)
{
    tsdl_lexer *l = &p->l;
    v->kind = TSDL_V_PATH;
    v->first = p->npart;
    v->position = l->token.position;
    for (;;) {
        tsdl_name *name = l->token.name;
        uint64_t position = l->token.position;
        TSDL_TRY(tsdl_expect(l, TSDL_WORD));
        if (v->n == TSDL_PATH_MAX)
            return tsdl_fail(l, position, "a path of more than %u names", TSDL_PATH_MAX);
        TSDL_TRY(tsdl_push_part(p, name));
        v->n++;
        if (v->n == 1)
            v->text = name;
        else
            TSDL_TRY(tsdl_join(l, v->text, ".", name, &v->text));
        if (!tsdl_is(l, '.') && !tsdl_is(l, TSDL_ARROW))
            return 0;
        TSDL_TRY(tsdl_next(l));
    }
}

static int parse_constant(tsdl_parser *p, tsdl_value *v)
{
    tsdl_lexer *l = &p->l;
    v->kind = tsdl_is(l, TSDL_STRING) ? TSDL_V_TEXT : TSDL_V_NUMBER;
    v->number = l->token.number;
    v->text = l->token.name;
    return tsdl_next(l);
}

int tsdl_value_parse(tsdl_parser *p, tsdl_value *v)
{
    tsdl_lexer *l = &p->l;
    *v = (tsdl_value){.position = l->token.position};
    unsigned open = 0;
    bool has_sign = false;
    for (bool sign = false;;) {
        if (tsdl_is(l, '(') && ++open > CTF_DEPTH_MAX)
            return tsdl_fail(l, l->token.position, "more than %u parentheses", CTF_DEPTH_MAX);
        if (!tsdl_is(l, '(') && (sign || (!tsdl_is(l, '+') && !tsdl_is(l, '-'))))
            break;
        sign = !tsdl_is(l, '(');
        has_sign = has_sign || sign;
        v->negative = v->negative != tsdl_is(l, '-');
        TSDL_TRY(tsdl_next(l));
    }
    if (!has_sign && tsdl_is(l, TSDL_WORD))
        TSDL_TRY(parse_path(p, v));
    else if (tsdl_is(l, TSDL_NUMBER) || tsdl_is(l, TSDL_CHARACTER) || (!has_sign && tsdl_is(l, TSDL_STRING)))
        TSDL_TRY(parse_constant(p, v));
    else
        return tsdl_fail_expected(l, "a value");
    while (open-- > 0)
        TSDL_TRY(tsdl_expect(l, ')'));
    return 0;
}

/* Names of kinds of values in messages. */
static const char *kind_of(const tsdl_value *v)
{
    return v->kind == TSDL_V_NUMBER ? "a number" : v->kind == TSDL_V_TEXT ? "a string" : "a name";
}

int tsdl_value_number(tsdl_parser *p, tsdl_value *v)
{
    TSDL_TRY(tsdl_value_parse(p, v));
    if (v->kind != TSDL_V_NUMBER)
        return tsdl_fail(&p->l, v->position, "expected a number, found %s", kind_of(v));
    if (v->negative && v->number > (uint64_t)INT64_MAX + 1)
        return tsdl_fail(&p->l, v->position, "a negative number of more than 64 bits");
    return 0;
}

int tsdl_value_u64(tsdl_parser *p, const tsdl_value *v, uint64_t most, uint64_t *out)
{
    if (v->kind != TSDL_V_NUMBER)
        return tsdl_fail(&p->l, v->position, "expected a number, found %s", kind_of(v));
    if ((v->negative && v->number != 0) || v->number > most)
        return tsdl_fail(&p->l, v->position, "expected a number from 0 to %" PRIu64 ", found %s%" PRIu64, most,
                         v->negative ? "-" : "", v->number);
    *out = v->number;
    return 0;
}

int tsdl_value_i64(tsdl_parser *p, const tsdl_value *v, int64_t *out)
{
    if (v->kind != TSDL_V_NUMBER)
        return tsdl_fail(&p->l, v->position, "expected a number, found %s", kind_of(v));
    if (v->number > (uint64_t)INT64_MAX + v->negative)
        return tsdl_fail(&p->l, v->position, "a signed number of more than 64 bits");
    *out = (int64_t)(v->negative ? -v->number : v->number);
    return 0;
}

int tsdl_value_bool(tsdl_parser *p, const tsdl_value *v, bool *out)
{
    const char *s = v->kind == TSDL_V_NUMBER ? "" : v->text->text;
    bool yes = v->kind == TSDL_V_NUMBER ? v->number != 0 : strcmp(s, "true") == 0 || strcmp(s, "TRUE") == 0;
    if (!yes && v->kind != TSDL_V_NUMBER && strcmp(s, "false") != 0 && strcmp(s, "FALSE") != 0)
        return tsdl_fail(&p->l, v->position, "expected 'true' or 'false', found '%.40s'", s);
    *out = yes;
    return 0;
}

int tsdl_value_text(tsdl_parser *p, const tsdl_value *v, tsdl_name **out)
{
    if (!v->text)
        return tsdl_fail(&p->l, v->position, "expected a string, found a number");
    *out = v->text;
    return 0;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int tsdl_value_uuid(tsdl_parser *p, const tsdl_value *v, uint8_t uuid[16])
{
    tsdl_name *text = NULL;
    TSDL_TRY(tsdl_value_text(p, v, &text));
    const char *s = text->text;
    for (unsigned i = 0; i < 16; i++, s += 2) {
        if (*s == '-' && (i == 4 || i == 6 || i == 8 || i == 10))
            s++;
        int high = hex_digit(s[0]), low = high < 0 ? -1 : hex_digit(s[1]);
        if (low < 0)
            return tsdl_fail(&p->l, v->position, "'%.40s' is not a UUID", text->text);
        uuid[i] = (uint8_t)(high << 4 | low);
    }
    if (*s != '\0')
        return tsdl_fail(&p->l, v->position, "'%.40s' is not a UUID", text->text);
    return 0;
}

/* The absolute prefixes of paths; a longer one before its prefix. */
static const struct {
    const char *word[3];
    uint8_t n, origin;
} prefixes[] = {
    {{"trace", "packet", "header"}, 3, CTF_FROM_PACKET_HEADER},
    {{"stream", "packet", "context"}, 3, CTF_FROM_PACKET_CONTEXT},
    {{"stream", "event", "header"}, 3, CTF_FROM_EVENT_HEADER},
    {{"stream", "event", "context"}, 3, CTF_FROM_STREAM_CONTEXT},
    {{"event", "context"}, 2, CTF_FROM_EVENT_CONTEXT},
    {{"event", "fields"}, 2, CTF_FROM_PAYLOAD},
    {{"env"}, 1, TSDL_FROM_ENVIRONMENT},
};

static uint8_t origin_of(tsdl_name *const *name, uint32_t n, uint32_t *words)
{
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        uint32_t same = 0;
        while (same < prefixes[i].n && same < n && strcmp(name[same]->text, prefixes[i].word[same]) == 0)
            same++;
        if (same == prefixes[i].n && n > same) {
            *words = same;
            return prefixes[i].origin;
        }
    }
    *words = 0;
    return CTF_FROM_SCOPES;
}

int tsdl_path_new(tsdl_parser *p, const tsdl_value *v, const tsdl_path **out)
{
    if (v->kind != TSDL_V_PATH)
        return tsdl_fail(&p->l, v->position, "expected the name of a field, found %s", kind_of(v));
    uint32_t words;
    uint8_t origin = origin_of(p->part + v->first, v->n, &words);
    TSDL_TRY(tsdl_count(&p->l, 2));
    tsdl_path *path = tl_arena_alloc(&p->s->arena, sizeof *path);
    tsdl_name **name = tl_arena_alloc(&p->s->arena, (v->n - words) * sizeof *name);
    if (!path || !name)
        return tsdl_no_memory(&p->l);
    memcpy(name, p->part + v->first + words, (v->n - words) * sizeof *name);
    *path = (tsdl_path){.position = v->position, .origin = origin, .n = v->n - words, .name = name, .scope = TSDL_NONE};
    if (origin == CTF_FROM_SCOPES) {
        const tsdl_symbol *symbol;
        TSDL_TRY(tsdl_find_field(p, name[0], &symbol));
        path->scope = symbol ? symbol->scope : TSDL_NONE;
    }
    *out = path;
    return 0;
}

enum { UNKNOWN = 1000 };

/* Index of a->left in the list, each allowed once (bits in *seen); UNKNOWN. */
static int attribute(tsdl_parser *p, const tsdl_assignment *a, const char *const *words, uint32_t *seen)
{
    for (int i = 0; words[i]; i++)
        if (strcmp(a->left, words[i]) == 0) {
            if (*seen & 1u << i)
                return tsdl_fail(&p->l, a->position, "'%s' is given twice", a->left);
            *seen |= 1u << i;
            return i;
        }
    return UNKNOWN;
}

static int assignment(tsdl_parser *p, const char *const *words, uint32_t *seen, tsdl_setter set, void *block)
{
    tsdl_lexer *l = &p->l;
    tsdl_value left = {.kind = TSDL_V_PATH};
    tsdl_assignment a = {.position = l->token.position};
    uint32_t parts = p->npart;

    if (!tsdl_is(l, TSDL_WORD))
        return tsdl_fail_expected(l, "'}' or the name of an attribute");
    TSDL_TRY(parse_path(p, &left));
    a.left = left.text->text;
    a.is_type = tsdl_is(l, TSDL_BECOMES);
    if (a.is_type) {
        tsdl_base base;
        TSDL_TRY(tsdl_next(l));
        TSDL_TRY(tsdl_specifiers(p, false, &base));
        TSDL_TRY(tsdl_base_type(p, &base, 0, &a.type));
    } else if (tsdl_is(l, '=')) {
        TSDL_TRY(tsdl_next(l));
        TSDL_TRY(tsdl_value_parse(p, &a.value));
    } else {
        return tsdl_fail_expected(l, "'=' or ':='");
    }
    TSDL_TRY(tsdl_expect(l, ';'));
    const int word = words ? attribute(p, &a, words, seen) : 0;
    if (word != UNKNOWN)
        TSDL_TRY(word < 0 ? word : set(p, block, word, &a));
    p->npart = parts;
    return 0;
}

int tsdl_block(tsdl_parser *p, const char *const *words, uint32_t *seen, tsdl_setter set, void *block)
{
    tsdl_mark mark;
    TSDL_TRY(tsdl_expect(&p->l, '{'));
    TSDL_TRY(tsdl_enter(p, &mark));
    while (!tsdl_is(&p->l, '}')) {
        int found = tsdl_declaration(p);
        if (found == 0)
            found = assignment(p, words, seen, set, block);
        if (found < 0)
            return found;
    }
    tsdl_leave(p, &mark);
    return tsdl_next(&p->l);
}

int tsdl_wants_value(tsdl_parser *p, const tsdl_assignment *a)
{
    return a->is_type ? tsdl_fail(&p->l, a->position, "'%s' takes a value, not a type", a->left) : 0;
}

int tsdl_wants_struct(tsdl_parser *p, const tsdl_assignment *a, tsdl_type **out)
{
    if (!a->is_type || a->type->t.kind != CTF_STRUCT)
        return tsdl_fail(&p->l, a->position, "'%s' takes a structure", a->left);
    *out = a->type;
    return 0;
}
