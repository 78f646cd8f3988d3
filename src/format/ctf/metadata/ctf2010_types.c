/* Makes types of the metadata of 2010: names, inheritance, and members of structs. The order of checks is that of the
 * executable specification, so that of several mistakes the same one is reported. */
#include "format/ctf/metadata/ctf2010_types.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "format/ctf/metadata/ctf2010_make.h"

static const char *const root_name[CTF2010_ROOTS] = {
    [CTF2010_INTEGER] = "integer", [CTF2010_BITFIELD] = "gcc_bitfield", [CTF2010_ENUM] = "enum",
    [CTF2010_STRUCT] = "struct",   [CTF2010_ARRAY] = "array",           [CTF2010_SEQUENCE] = "sequence",
    [CTF2010_TEXT] = "string",     [CTF2010_FLOAT] = "floating_point",
};

static const char *const key_name[CTF2010_KEYS] = {
    [CTF2010_SIZE] = "size",     [CTF2010_ALIGN] = "align",           [CTF2010_UNIT_SIZE] = "unit_size",
    [CTF2010_LENGTH] = "length", [CTF2010_EXP_DIG] = "exp_dig",       [CTF2010_MANT_DIG] = "mant_dig",
    [CTF2010_SIGNED] = "signed", [CTF2010_BYTE_ORDER] = "byte_order", [CTF2010_MAP] = "map",
    [CTF2010_FIELDS] = "fields", [CTF2010_ELEM_TYPE] = "elem_type",   [CTF2010_LENGTH_TYPE] = "length_type",
    [CTF2010_PARENT] = "parent",
};

static bool is_word(const ctf2010_node *node)
{
    return node->kind == CTF2010_NAME || node->kind == CTF2010_STRING || node->kind == CTF2010_NUMBER;
}

static unsigned root_of(const ctf2010_types *t, const ctf2010_node *node)
{
    unsigned root = 0;
    while (root < CTF2010_ROOTS && !ctf2010_is(t->source, node, root_name[root]))
        root++;
    return root;
}

static uint32_t find_named(const ctf2010_types *t, const ctf2010_node *node)
{
    return ctf2010_names_find(&t->names, t->source->text + node->position, node->n);
}

/* intN_t, uintN_t, int, uint: the number of bits, or 0. */
static unsigned predefined(const char *s, size_t n, bool *is_signed)
{
    *is_signed = n > 0 && s[0] != 'u';
    if (n > 0 && s[0] == 'u') {
        s++;
        n--;
    }
    if (n < 3 || memcmp(s, "int", 3) != 0)
        return 0;
    if (n == 3)
        return 32;
    if (n < 6 || n > 7 || memcmp(s + n - 2, "_t", 2) != 0 || s[3] < '1' || s[3] > '9')
        return 0;
    unsigned bits = (unsigned)(s[3] - '0');
    if (n == 7 && (s[4] < '0' || s[4] > '9'))
        return 0;
    if (n == 7)
        bits = 10 * bits + (unsigned)(s[4] - '0');
    return bits <= 64 ? bits : 0;
}

/* --- attributes --- */

/* The attributes of a block itself; the last of a name counts. */
static ctf2010_attributes attributes_of(const ctf2010_types *t, const ctf2010_node *block)
{
    ctf2010_attributes a = {0};
    for (const ctf2010_node *m = block->first; m; m = m->next)
        for (unsigned key = 0; key < CTF2010_KEYS; key++)
            if (ctf2010_is(t->source, m, key_name[key]))
                a.value[key] = m->first;
    return a;
}

/* Adds inherited attributes to *a, and determines the kind of type. `self`: the number of the type if it has a name,
 * else TL_HASH_NONE. */
static int inherit(const ctf2010_types *t, ctf2010_attributes *a, const ctf2010_node *where, uint32_t self,
                   ctf2010_spec *spec)
{
    uint32_t seen[CTF2010_PARENTS_MAX + 1], nseen = 0;
    if (self != TL_HASH_NONE)
        seen[nseen++] = self;
    for (const ctf2010_node *parent = a->value[CTF2010_PARENT];;) {
        if (!parent)
            return ctf2010_fail(t->source, where->position, "a type without a parent");
        if (!is_word(parent))
            return ctf2010_fail(t->source, parent->position, "expected the name of a type");
        const unsigned root = root_of(t, parent);
        if (root < CTF2010_ROOTS) {
            spec->root = (ctf2010_root)root;
            return 0;
        }
        const uint32_t number = find_named(t, parent);
        if (number == TL_HASH_NONE) {
            spec->root = CTF2010_INTEGER;
            spec->base_bits = predefined(t->source->text + parent->position, parent->n, &spec->is_signed);
            if (spec->base_bits == 0)
                return ctf2010_fail(t->source, parent->position, "unknown type %.*s", CTF2010_WORD(t->source, parent));
            return 0;
        }
        for (uint32_t i = 0; i < nseen; i++)
            if (seen[i] == number)
                return ctf2010_fail(t->source, parent->position, "type %.*s is its own parent",
                                    CTF2010_WORD(t->source, parent));
        if (nseen > CTF2010_PARENTS_MAX)
            return ctf2010_fail(t->source, parent->position, "a type with more than %u parents (the limit)",
                                CTF2010_PARENTS_MAX);
        seen[nseen++] = number;
        const ctf2010_attributes *inherited = &t->named[number].attributes;
        for (unsigned key = 0; key < CTF2010_PARENT; key++)
            if (!a->value[key])
                a->value[key] = inherited->value[key];
        where = parent;
        parent = inherited->value[CTF2010_PARENT];
    }
}

static int order_of(const ctf2010_types *t, const ctf2010_node *value, ctf_order *order)
{
    static const struct {
        const char *name;
        ctf_order order;
    } known[] = {{"native", CTF_NATIVE}, {"network", CTF_BE}, {"be", CTF_BE}, {"le", CTF_LE}};
    for (size_t i = 0; is_word(value) && i < TL_COUNT(known); i++)
        if (ctf2010_is(t->source, value, known[i].name)) {
            *order = known[i].order;
            return 0;
        }
    return ctf2010_fail(t->source, value->position, "expected a byte order: native, network, be or le");
}

static int fields_of(ctf2010_types *t, const ctf2010_node *value, ctf2010_spec *spec);

/* Makes the type of a block, whose own attributes are *a. */
static int build(ctf2010_types *t, ctf2010_attributes a, const ctf2010_node *where, uint32_t self, ctf2010_type *out)
{
    ctf2010_spec spec = {.position = where->position, .order = CTF_NATIVE};
    if (t->schema->arena.total > CTF2010_BYTES_MAX)
        return tl_fail(t->source->e, TL_ENOMEM, where->position, "types of more than %u bytes (the limit)",
                       CTF2010_BYTES_MAX);
    int r = inherit(t, &a, where, self, &spec);
    for (unsigned key = 0; r >= 0 && key < CTF2010_NUMBERS; key++)
        if (a.value[key]) {
            spec.has[key] = true;
            r = ctf2010_number_of(t->source, a.value[key], &spec.number[key]);
        }
    if (r < 0)
        return r;
    const ctf2010_node *is_signed = a.value[CTF2010_SIGNED];
    if (is_signed && !is_word(is_signed))
        return ctf2010_fail(t->source, is_signed->position, "expected true or false");
    if (is_signed)
        spec.is_signed = ctf2010_is(t->source, is_signed, "true") || ctf2010_is(t->source, is_signed, "1");
    if (a.value[CTF2010_BYTE_ORDER] && (r = order_of(t, a.value[CTF2010_BYTE_ORDER], &spec.order)) < 0)
        return r;
    if (a.value[CTF2010_MAP] && (r = ctf2010_make_map(t, a.value[CTF2010_MAP], &spec)) < 0)
        return r;
    if (a.value[CTF2010_FIELDS] && (r = fields_of(t, a.value[CTF2010_FIELDS], &spec)) < 0)
        return r;
    if (a.value[CTF2010_ELEM_TYPE] && (r = ctf2010_types_of(t, a.value[CTF2010_ELEM_TYPE], &spec.element)) < 0)
        return r;
    if (a.value[CTF2010_LENGTH_TYPE] && (r = ctf2010_types_of(t, a.value[CTF2010_LENGTH_TYPE], &spec.length)) < 0)
        return r;
    return ctf2010_make(t, &spec, out);
}

/* --- names --- */

int ctf2010_types_declare(ctf2010_types *t, const ctf2010_node *word, const ctf2010_node *name,
                          const ctf2010_node *block)
{
    const bool is_abstract = ctf2010_is(t->source, word, "abstract_type");
    const bool is_root = root_of(t, name) < CTF2010_ROOTS;
    if (find_named(t, name) != TL_HASH_NONE || (is_root && !is_abstract))
        return ctf2010_fail(t->source, name->position, "type %.*s is defined twice", CTF2010_WORD(t->source, name));
    if (is_root)
        return 0; /* a description of a predefined type */
    const uint32_t number = t->names.n;
    if (!TL_GROW(t->named, number, 1, t->named_capacity) ||
        !ctf2010_names_add(&t->names, t->source->text + name->position, name->n))
        goto no_memory;
    t->named[number] = (ctf2010_named){.name = name, .attributes = attributes_of(t, block), .is_abstract = is_abstract};
    return 0;
no_memory:
    return tl_fail(t->source->e, TL_ENOMEM, name->position, "no memory for %u types", number);
}

static int get_named(ctf2010_types *t, uint32_t number, const ctf2010_node *where, ctf2010_type *out)
{
    ctf2010_named *named = &t->named[number];
    const char *what = named->is_abstract ? "is abstract" : named->is_open ? "contains itself" : NULL;
    if (what)
        return ctf2010_fail(t->source, where->position, "type %.*s %s", CTF2010_WORD(t->source, named->name), what);
    if (!named->is_done) {
        named->is_open = true;
        int r = build(t, named->attributes, named->name, number, &named->type);
        named->is_open = false;
        if (r < 0)
            return r;
        named->is_done = true;
    }
    *out = named->type;
    return 0;
}

/* A name that the metadata does not declare. */
static int get_predefined(ctf2010_types *t, const char *s, size_t n, const ctf2010_node *where, ctf2010_type *out)
{
    ctf2010_spec spec = {.position = where->position, .order = CTF_NATIVE};
    ctf2010_type *known = &t->text;
    if (n == 6 && memcmp(s, "string", 6) == 0) {
        spec.root = CTF2010_TEXT;
    } else {
        spec.root = CTF2010_INTEGER;
        spec.base_bits = predefined(s, n, &spec.is_signed);
        known = &t->integer[spec.is_signed][spec.base_bits];
        if (spec.base_bits == 0)
            return ctf2010_fail(t->source, where->position, "unknown type %.*s",
                                (int)(n < CTF2010_SHOWN ? n : CTF2010_SHOWN), s);
    }
    int r = known->type ? 0 : ctf2010_make(t, &spec, known);
    if (r >= 0)
        *out = *known;
    return r;
}

static int get(ctf2010_types *t, const char *s, size_t n, const ctf2010_node *where, ctf2010_type *out)
{
    const uint32_t number = ctf2010_names_find(&t->names, s, n);
    return number == TL_HASH_NONE ? get_predefined(t, s, n, where, out) : get_named(t, number, where, out);
}

int ctf2010_types_get(ctf2010_types *t, const char *name, const ctf2010_node *where, ctf2010_type *out)
{
    return get(t, name, strlen(name), where, out);
}

int ctf2010_types_of(ctf2010_types *t, const ctf2010_node *value, ctf2010_type *out)
{
    if (value->kind != CTF2010_NAME && value->kind != CTF2010_TYPE)
        return ctf2010_fail(t->source, value->position, "expected a type");
    if (t->depth == CTF_DEPTH_MAX)
        return ctf2010_fail(t->source, value->position, "types in types more than %u deep (the limit)", CTF_DEPTH_MAX);
    t->depth++;
    int r = value->kind == CTF2010_TYPE ? build(t, attributes_of(t, value), value, TL_HASH_NONE, out)
                                        : get(t, t->source->text + value->position, value->n, value, out);
    t->depth--;
    return r;
}

int ctf2010_types_check(ctf2010_types *t)
{
    for (uint32_t i = 0; i < t->names.n; i++) {
        int r;
        ctf2010_type type;
        if (t->named[i].is_abstract) {
            ctf2010_attributes a = t->named[i].attributes;
            ctf2010_spec spec = {0};
            r = inherit(t, &a, t->named[i].name, i, &spec);
        } else {
            r = get_named(t, i, t->named[i].name, &type);
        }
        if (r < 0)
            return r;
    }
    return 0;
}

int ctf2010_types_alignment(ctf2010_types *t, const char *name, uint32_t *align)
{
    const uint32_t number = ctf2010_names_find(&t->names, name, strlen(name));
    ctf2010_type type;
    *align = 8;
    if (number == TL_HASH_NONE)
        return 0;
    int r = get_named(t, number, t->named[number].name, &type);
    if (r >= 0 && type.type->align > 8)
        *align = type.type->align;
    return r;
}

/* --- fields --- */

/* The next field: its type and its name; advances *at. */
static int next_field(const ctf2010_types *t, const ctf2010_node *list, const ctf2010_node **at,
                      const ctf2010_node **kind, const ctf2010_node **name)
{
    const ctf2010_node *entry = *at;
    if (entry->kind == CTF2010_BRACES) {
        if (entry->count != 2)
            return ctf2010_fail(t->source, entry->position, "expected a field as { type, name }");
        *kind = entry->first;
        *name = entry->first->next;
        *at = entry->next;
    } else {
        if (!entry->next)
            return ctf2010_fail(t->source, list->position, "a field without a name");
        *kind = entry;
        *name = entry->next;
        *at = entry->next->next;
    }
    return is_word(*name) ? 0 : ctf2010_fail(t->source, (*name)->position, "expected the name of a field");
}

/* Adds one field; `names` has the previous ones. */
static int add_field(ctf2010_types *t, const ctf2010_node *kind, const ctf2010_node *name, ctf2010_names *names,
                     ctf2010_spec *spec)
{
    const char *word = t->source->text + name->position;
    if (ctf2010_names_find(names, word, name->n) != TL_HASH_NONE)
        return ctf2010_fail(t->source, name->position, "field %.*s is there twice", CTF2010_WORD(t->source, name));
    if (!ctf2010_names_add(names, word, name->n))
        return tl_fail(t->source->e, TL_ENOMEM, name->position, "no memory for the names of %u fields", names->n);
    ctf_member *m = &spec->member[spec->nmember];
    ctf2010_type type;
    int r = ctf2010_text_of(t->source, name, &t->schema->arena, &m->name);
    if (r < 0 || (r = ctf2010_types_of(t, kind, &type)) < 0)
        return r;
    m->raw = m->name;
    m->type = type.type;
    spec->nmember++;
    return ctf2010_make_inner(t, spec, &type);
}

static int fail_members(const ctf2010_types *t, const ctf2010_node *value)
{
    return ctf2010_fail(t->source, value->position, "more than %u fields in one struct (the limit)", CTF_MEMBERS_MAX);
}

static int fields_of(ctf2010_types *t, const ctf2010_node *value, ctf2010_spec *spec)
{
    if (value->kind != CTF2010_BRACES)
        return ctf2010_fail(t->source, value->position, "expected fields in braces");
    const uint32_t least = (value->count + 1) / 2; /* in one of the two forms a field is two values */
    if (least > CTF_MEMBERS_MAX)
        return fail_members(t, value);
    spec->member = tl_arena_zalloc(&t->schema->arena, value->count * sizeof *spec->member);
    if (!spec->member)
        return tl_fail(t->source->e, TL_ENOMEM, value->position, "no memory for %u fields", value->count);
    ctf2010_names names = {0};
    int r = 0;
    for (const ctf2010_node *at = value->first, *kind = NULL, *name = NULL; r >= 0 && at;)
        if ((r = next_field(t, value, &at, &kind, &name)) >= 0)
            r = spec->nmember == CTF_MEMBERS_MAX ? fail_members(t, value) : add_field(t, kind, name, &names, spec);
    ctf2010_names_fini(&names);
    return r;
}

int ctf2010_types_fields(ctf2010_types *t, const ctf2010_node *value, ctf2010_type *out)
{
    ctf2010_spec spec = {.position = value->position, .root = CTF2010_STRUCT};
    int r = fields_of(t, value, &spec);
    return r < 0 ? r : ctf2010_make(t, &spec, out);
}

int ctf2010_types_single(ctf2010_types *t, const char *name, const ctf2010_type *field, ctf2010_type *out)
{
    ctf2010_spec spec = {.root = CTF2010_STRUCT, .nmember = name != NULL};
    int r = 0;
    if (name) {
        spec.member = tl_arena_zalloc(&t->schema->arena, sizeof *spec.member);
        if (!spec.member)
            return tl_fail(t->source->e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a field");
        *spec.member = (ctf_member){.name = name, .raw = name, .type = field->type};
        r = ctf2010_make_inner(t, &spec, field);
    }
    return r < 0 ? r : ctf2010_make(t, &spec, out);
}

void ctf2010_types_fini(ctf2010_types *t)
{
    ctf2010_names_fini(&t->names);
    free(t->named);
    *t = (ctf2010_types){0};
}
