/* Types of TSDL as declared, before their uses are known. */
#include <inttypes.h>
#include <string.h>

#include "format/ctf/metadata/tsdl_parser.h"

int tsdl_type_new(tsdl_parser *p, ctf_kind kind, uint64_t position, tsdl_type **out)
{
    TSDL_TRY(tsdl_count(&p->l, 1));
    tsdl_type *t = tl_arena_zalloc(&p->s->arena, sizeof *t);
    if (!t)
        return tsdl_no_memory(&p->l);
    t->t.kind = (uint8_t)kind;
    t->t.align = 1;
    t->t.position = position;
    t->id = p->types++;
    t->weight = t->depth = 1;
    *out = t;
    return 0;
}

int tsdl_type_copy(tsdl_parser *p, const tsdl_type *source, uint64_t position, tsdl_type **out)
{
    tsdl_type *t = NULL;
    TSDL_TRY(tsdl_type_new(p, source->t.kind, position, &t));
    uint32_t id = t->id;
    *t = *source;
    t->id = id;
    t->t.position = position;
    t->indexed = false;
    if (t->native || t->clock)
        tsdl_pend(p, t);
    *out = t;
    return 0;
}

void tsdl_pend(tsdl_parser *p, tsdl_type *t)
{
    t->next = p->pending;
    p->pending = t;
}

int tsdl_settle(tsdl_parser *p)
{
    for (tsdl_type *t = p->pending; t; t = t->next) {
        if (t->native)
            t->t.order = (uint8_t)p->s->order;
        if (t->clock && t->clock->clock == 0)
            return tsdl_fail(&p->l, t->clock_position, "no clock is named '%.60s'", t->clock->text);
    }
    return 0;
}

uint32_t tsdl_type_alignment(const tsdl_type *t)
{
    /* A variant has the alignment of the chosen option, and needs none. */
    if (t->t.kind == CTF_VARIANT)
        return 1;
    return t->t.unit > t->t.align ? t->t.unit : t->t.align;
}

/* Adds a type to the one that contains it. */
static int contain(tsdl_parser *p, tsdl_type *t, const tsdl_type *inner, uint64_t position)
{
    if (inner->depth >= CTF_DEPTH_MAX)
        return tsdl_fail(&p->l, position, "types in types, more than %u levels", CTF_DEPTH_MAX);
    if (t->depth <= inner->depth)
        t->depth = (uint8_t)(inner->depth + 1);
    if (inner->weight > TSDL_TYPE_FIELDS_MAX - t->weight)
        return tsdl_fail(&p->l, position, "a type with more than %u fields in it", TSDL_TYPE_FIELDS_MAX);
    t->weight += inner->weight;
    if (t->t.kind != CTF_VARIANT && t->t.align < tsdl_type_alignment(inner))
        t->t.align = tsdl_type_alignment(inner);
    return 0;
}

int tsdl_wants_tag(tsdl_parser *p, const tsdl_type *t, uint64_t position)
{
    if (t->t.kind == CTF_VARIANT && !t->path)
        return tsdl_fail(&p->l, position, "a variant without a tag");
    return 0;
}

/* The location of a path, as written. */
static int simple_location(tsdl_parser *p, const tsdl_path *path, const ctf_location **out)
{
    ctf_location *location = tl_arena_alloc(&p->s->arena, sizeof *location);
    const char **name = tl_arena_alloc(&p->s->arena, path->n * sizeof *name);
    if (!location || !name)
        return tsdl_no_memory(&p->l);
    for (uint32_t i = 0; i < path->n; i++)
        name[i] = path->name[i]->text;
    *location =
        (ctf_location){.origin = (ctf_origin)path->origin, .n = path->n, .path = name, .position = path->position};
    *out = location;
    return 0;
}

/* Gives a type the path to its length or tag. */
int tsdl_set_path(tsdl_parser *p, tsdl_type *t, const tsdl_path *path)
{
    t->path = path;
    if (path->origin == TSDL_FROM_ENVIRONMENT)
        return 0;
    TSDL_TRY(simple_location(p, path, &t->simple));
    t->t.location = t->simple;
    return 0;
}

/* Consecutive whole bytes without labels. */
static bool is_byte(const tsdl_type *t)
{
    return t->t.kind == CTF_INT && t->t.bits == 8 && t->t.align == 8 && t->t.unit == 0 && !t->is_enum;
}

int tsdl_array(tsdl_parser *p, tsdl_type *element, uint64_t length, const tsdl_path *path, uint64_t position,
               tsdl_type **out)
{
    tsdl_type *t = NULL;
    bool text = is_byte(element) && element->t.encoding != CTF_NO_TEXT;
    TSDL_TRY(tsdl_wants_tag(p, element, position));
    TSDL_TRY(tsdl_type_new(p, text ? CTF_TEXT : CTF_ARRAY, position, &t));
    TSDL_TRY(contain(p, t, element, position));
    t->t.length = length;
    if (path) {
        t->t.dynamic = true;
        TSDL_TRY(tsdl_set_path(p, t, path));
    }
    *out = t;
    if (text) {
        t->t.encoding = element->t.encoding;
        return 0;
    }
    ctf_member *m = tl_arena_zalloc(&p->s->arena, sizeof *m);
    if (!m)
        return tsdl_no_memory(&p->l);
    m->type = &element->t;
    t->t.member = m;
    t->t.nmember = 1;
    return 0;
}

int tsdl_bit_field(tsdl_parser *p, const tsdl_type *unit, uint64_t bits, uint64_t position, tsdl_type **out)
{
    if (unit->t.kind != CTF_INT || unit->t.unit > 0)
        return tsdl_fail(&p->l, position, "a bit-field of a type that is not an integer");
    if (unit->t.bits & (unit->t.bits - 1))
        return tsdl_fail(&p->l, position, "a bit-field in units of %" PRIu32 " bits, which is not a power of two",
                         unit->t.bits);
    if (bits > unit->t.bits)
        return tsdl_fail(&p->l, position, "a bit-field of %" PRIu64 " bits in a type of %" PRIu32, bits, unit->t.bits);
    /* One without bits begins a new unit. */
    if (bits == 0) {
        TSDL_TRY(tsdl_type_new(p, CTF_STRUCT, position, out));
        (*out)->t.align = unit->t.bits;
        return 0;
    }
    TSDL_TRY(tsdl_type_copy(p, unit, position, out));
    (*out)->t.bits = (uint32_t)bits;
    (*out)->t.unit = unit->t.bits;
    (*out)->t.align = 1;
    return 0;
}

/* Whether a member's name is shown without its leading '_': not if another member has that name, unless it, too, has a
 * shorter one. */
static int is_stripped(tsdl_parser *p, tsdl_space space, tsdl_name *name, bool *yes)
{
    for (;;) {
        tsdl_name *stripped;
        TSDL_TRY(tsdl_strip(&p->l, name, &stripped));
        *yes = stripped != name;
        if (!*yes)
            return 0;
        const tsdl_symbol *other = tsdl_find(p, space, stripped);
        if (!other || other->scope != p->scope)
            return 0;
        name = stripped;
    }
}

int tsdl_set_members(tsdl_parser *p, tsdl_type *t, uint32_t first)
{
    uint32_t n = p->nmember - first;
    ctf_member *member = tl_arena_zalloc(&p->s->arena, n * sizeof *member);
    tsdl_name **name = tl_arena_alloc(&p->s->arena, n * sizeof *name);
    if (!member || !name)
        return tsdl_no_memory(&p->l);
    tsdl_space space = t->t.kind == CTF_VARIANT ? TSDL_OPTION : TSDL_FIELD;
    for (uint32_t i = 0; i < n; i++) {
        const tsdl_member *m = &p->member[first + i];
        bool stripped = false;
        TSDL_TRY(contain(p, t, m->type, m->type->t.position));
        TSDL_TRY(is_stripped(p, space, m->name, &stripped));
        name[i] = m->name;
        member[i].raw = m->name->text;
        member[i].name = stripped ? m->name->stripped->text : m->name->text;
        member[i].type = &m->type->t;
    }
    t->t.member = member;
    t->t.nmember = n;
    t->name = name;
    t->scope = p->scope;
    p->nmember = first;
    return 0;
}
