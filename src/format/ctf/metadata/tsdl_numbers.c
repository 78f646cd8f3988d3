/* integer {...}, floating_point {...} and string {...} of TSDL. */
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "format/ctf/metadata/tsdl_parser.h"

/* `align = N` and `align(N)`. */
int tsdl_alignment(tsdl_parser *p, const tsdl_value *v, uint32_t *out)
{
    uint64_t bits;
    TSDL_TRY(tsdl_value_u64(p, v, UINT64_MAX, &bits));
    if (bits == 0 || bits > CTF_ALIGN_MAX || (bits & (bits - 1)))
        return tsdl_fail(&p->l, v->position, "an alignment of %" PRIu64 " bits: it must be a power of two up to %u",
                         bits, CTF_ALIGN_MAX);
    *out = (uint32_t)bits;
    return 0;
}

static int byte_order(tsdl_parser *p, const tsdl_value *v, tsdl_type *t)
{
    tsdl_name *name;
    TSDL_TRY(tsdl_value_text(p, v, &name));
    t->native = strcmp(name->text, "native") == 0;
    if (strcmp(name->text, "be") == 0 || strcmp(name->text, "network") == 0)
        t->t.order = CTF_BE;
    else if (!t->native && strcmp(name->text, "le") != 0)
        return tsdl_fail(&p->l, v->position, "expected 'native', 'network', 'be' or 'le', found '%.40s'", name->text);
    return 0;
}

static int encoding(tsdl_parser *p, const tsdl_value *v, tsdl_type *t)
{
    static const char *const utf8[] = {"UTF8", "UTF-8", "ASCII"};
    tsdl_name *name;
    TSDL_TRY(tsdl_value_text(p, v, &name));
    for (size_t i = 0; i < sizeof utf8 / sizeof utf8[0]; i++)
        if (strcasecmp(name->text, utf8[i]) == 0) {
            t->t.encoding = CTF_UTF8;
            return 0;
        }
    if (strcasecmp(name->text, "none") != 0)
        return tsdl_fail(&p->l, v->position, "expected 'none', 'UTF8' or 'ASCII', found '%.40s'", name->text);
    return 0;
}

static int base(tsdl_parser *p, const tsdl_value *v, tsdl_type *t)
{
    static const struct {
        const char *word;
        uint8_t base;
    } known[] = {{"decimal", 10}, {"dec", 10},   {"d", 10},  {"i", 10}, {"u", 10},    {"hexadecimal", 16},
                 {"hex", 16},     {"x", 16},     {"X", 16},  {"p", 16}, {"octal", 8}, {"oct", 8},
                 {"o", 8},        {"binary", 2}, {"bin", 2}, {"b", 2}};
    if (v->kind == TSDL_V_NUMBER) {
        uint64_t number;
        TSDL_TRY(tsdl_value_u64(p, v, UINT64_MAX, &number));
        if (number != 2 && number != 8 && number != 10 && number != 16)
            return tsdl_fail(&p->l, v->position, "base %" PRIu64 ": only 2, 8, 10 and 16 are known", number);
        t->t.base = (uint8_t)number;
        return 0;
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(v->text->text, known[i].word) == 0) {
            t->t.base = known[i].base;
            return 0;
        }
    return tsdl_fail(&p->l, v->position, "'%.40s' is not a number base", v->text->text);
}

/* map = clock.NAME.value */
static int map(tsdl_parser *p, const tsdl_value *v, tsdl_type *t)
{
    if (v->kind != TSDL_V_PATH || v->n != 3 || strcmp(p->part[v->first]->text, "clock") != 0 ||
        strcmp(p->part[v->first + 2]->text, "value") != 0)
        return tsdl_fail(&p->l, v->position, "expected 'clock.NAME.value'");
    t->clock = p->part[v->first + 1];
    t->clock_position = v->position;
    return 0;
}

typedef struct tsdl_number {
    tsdl_type *t;
    uint32_t seen;
    uint64_t exponent, mantissa;
} tsdl_number;

enum { I_SIZE, I_ALIGN, I_SIGNED, I_BYTE_ORDER, I_BASE, I_ENCODING, I_MAP };

static const char *const integer_words[] = {"size", "align", "signed", "byte_order", "base", "encoding", "map", NULL};

static int set_integer(tsdl_parser *p, void *block, int word, const tsdl_assignment *a)
{
    tsdl_number *n = block;
    tsdl_type *t = n->t;
    TSDL_TRY(tsdl_wants_value(p, a));
    switch (word) {
    case I_SIZE: {
        uint64_t bits;
        TSDL_TRY(tsdl_value_u64(p, &a->value, UINT64_MAX, &bits));
        if (bits == 0 || bits > 64)
            return tsdl_fail(&p->l, a->value.position, "an integer of %" PRIu64 " bits: 1 to 64 are possible", bits);
        t->t.bits = (uint32_t)bits;
        return 0;
    }
    case I_ALIGN:
        return tsdl_alignment(p, &a->value, &t->t.align);
    case I_SIGNED:
        return tsdl_value_bool(p, &a->value, &t->t.is_signed);
    case I_BYTE_ORDER:
        return byte_order(p, &a->value, t);
    case I_BASE:
        return base(p, &a->value, t);
    case I_ENCODING:
        return encoding(p, &a->value, t);
    default:
        return map(p, &a->value, t);
    }
}

int tsdl_integer(tsdl_parser *p, tsdl_type **out)
{
    tsdl_number n = {0};
    TSDL_TRY(tsdl_type_new(p, CTF_INT, p->l.token.position, &n.t));
    n.t->native = true;
    TSDL_TRY(tsdl_next(&p->l));
    TSDL_TRY(tsdl_block(p, integer_words, &n.seen, set_integer, &n));
    if (n.t->t.bits == 0)
        return tsdl_fail(&p->l, n.t->t.position, "an integer without a size");
    if (!(n.seen & 1u << I_ALIGN))
        n.t->t.align = n.t->t.bits % 8 == 0 ? 8 : 1;
    if (n.t->native || n.t->clock)
        tsdl_pend(p, n.t);
    *out = n.t;
    return 0;
}

enum { F_EXPONENT, F_MANTISSA, F_BYTE_ORDER, F_ALIGN };

static const char *const floating_point_words[] = {"exp_dig", "mant_dig", "byte_order", "align", NULL};

static int set_floating_point(tsdl_parser *p, void *block, int word, const tsdl_assignment *a)
{
    tsdl_number *n = block;
    TSDL_TRY(tsdl_wants_value(p, a));
    switch (word) {
    case F_EXPONENT:
        return tsdl_value_u64(p, &a->value, UINT64_MAX, &n->exponent);
    case F_MANTISSA:
        return tsdl_value_u64(p, &a->value, UINT64_MAX, &n->mantissa);
    case F_BYTE_ORDER:
        return byte_order(p, &a->value, n->t);
    default:
        return tsdl_alignment(p, &a->value, &n->t->t.align);
    }
}

int tsdl_floating_point(tsdl_parser *p, tsdl_type **out)
{
    tsdl_number n = {0};
    TSDL_TRY(tsdl_type_new(p, CTF_FLOAT, p->l.token.position, &n.t));
    n.t->native = true;
    n.t->t.align = 8;
    TSDL_TRY(tsdl_next(&p->l));
    TSDL_TRY(tsdl_block(p, floating_point_words, &n.seen, set_floating_point, &n));
    if (n.exponent == 8 && n.mantissa == 24)
        n.t->t.bits = 32;
    else if (n.exponent == 11 && n.mantissa == 53)
        n.t->t.bits = 64;
    else
        return tsdl_fail(&p->l, n.t->t.position,
                         "a floating-point number with exp_dig %" PRIu64 " and mant_dig %" PRIu64
                         ": only 8 and 24, 11 and 53 are possible",
                         n.exponent, n.mantissa);
    if (n.t->native)
        tsdl_pend(p, n.t);
    *out = n.t;
    return 0;
}

static const char *const string_words[] = {"encoding", NULL};

static int set_string(tsdl_parser *p, void *block, int word, const tsdl_assignment *a)
{
    tsdl_number *n = block;
    (void)word;
    TSDL_TRY(tsdl_wants_value(p, a));
    return encoding(p, &a->value, n->t);
}

int tsdl_string(tsdl_parser *p, tsdl_type **out)
{
    tsdl_number n = {0};
    TSDL_TRY(tsdl_type_new(p, CTF_STRING, p->l.token.position, &n.t));
    n.t->t.align = 8;
    TSDL_TRY(tsdl_next(&p->l));
    if (tsdl_is(&p->l, '{'))
        TSDL_TRY(tsdl_block(p, string_words, &n.seen, set_string, &n));
    n.t->t.encoding = CTF_UTF8;
    *out = n.t;
    return 0;
}
