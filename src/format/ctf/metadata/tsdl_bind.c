/* Binds the types of TSDL at their uses: fields get roles, lengths and tags are located, and options get the values
 * that choose them. A type that is the same everywhere is shared; otherwise there is a copy for each kind of use. */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/grow.h"
#include "format/ctf/metadata/tsdl_parser.h"

/* How a copy differs from its source. */
typedef struct change {
    const ctf_location *location;
    const tsdl_labels *labels;
    uint32_t roles;
    bool blob, fixed;
    uint64_t length; /* if fixed */
    uint32_t first;  /* its members are p->bound[first ...) */
} change;

struct tsdl_copy {
    const tsdl_type *source;
    const ctf_location *location;
    const tsdl_labels *labels;
    uint32_t roles;
    const ctf_type *type;
};

static int bind(tsdl_parser *p, ctf_origin scope, const tsdl_name *name, tsdl_type *t, const ctf_type **out);

static int push_bound(tsdl_parser *p, const ctf_member *source, const ctf_type *type)
{
    if (!TL_GROW(p->bound, p->nbound, 1, p->bound_capacity))
        return tsdl_no_memory(&p->l);
    p->bound[p->nbound] = *source;
    p->bound[p->nbound++].type = type;
    return 0;
}

static bool same_copy(const tsdl_parser *p, const struct tsdl_copy *copy, const tsdl_type *source, const change *c)
{
    if (copy->source != source || copy->location != c->location || copy->labels != c->labels || copy->roles != c->roles)
        return false;
    for (uint32_t i = 0; i < copy->type->nmember; i++)
        if (copy->type->member[i].type != p->bound[c->first + i].type)
            return false;
    return true;
}

static uint64_t hash_change(const tsdl_parser *p, const tsdl_type *source, const change *c)
{
    tl_hasher h = tl_hasher_begin();
    tl_hasher_add(&h, (uint64_t)source->id << 32 | c->roles);
    tl_hasher_add(&h, (uintptr_t)c->location);
    tl_hasher_add(&h, (uintptr_t)c->labels);
    for (uint32_t i = c->first; i < p->nbound; i++)
        tl_hasher_add(&h, (uintptr_t)p->bound[i].type);
    return tl_hasher_end(h);
}

static int make_copy(tsdl_parser *p, tsdl_type *source, const change *c, const ctf_type **out)
{
    uint32_t n = p->nbound - c->first;
    ctf_type *t = tl_arena_alloc(&p->s->arena, sizeof *t);
    ctf_member *member = tl_arena_alloc(&p->s->arena, n * sizeof *member);
    if (!t || !member)
        return tsdl_no_memory(&p->l);
    if (n > 0)
        memcpy(member, p->bound + c->first, n * sizeof *member);
    for (uint32_t i = 0; c->labels && i < n; i++)
        TSDL_TRY(tsdl_option_ranges(p, source, c->labels, i, &member[i]));
    *t = source->t;
    t->location = c->location;
    t->roles = c->roles;
    t->member = member;
    t->nmember = n;
    if (c->blob) {
        t->kind = CTF_BLOB;
        t->encoding = CTF_NO_TEXT;
        t->member = NULL;
    }
    if (c->fixed) {
        t->dynamic = false;
        t->length = c->length;
    }
    *out = t;
    return 0;
}

/* The copy of a type with a change; takes its members off the stack. */
static int copy_type(tsdl_parser *p, tsdl_type *source, const change *c, const ctf_type **out)
{
    uint64_t hash = hash_change(p, source, c);
    uint32_t known = tl_hash_get(&p->copies, hash);
    if (known != TL_HASH_NONE && same_copy(p, &p->copy[known], source, c)) {
        *out = p->copy[known].type;
        p->nbound = c->first;
        return 0;
    }
    if (!TL_GROW(p->copy, p->ncopy, 1, p->copy_capacity))
        return tsdl_no_memory(&p->l);
    TSDL_TRY(make_copy(p, source, c, out));
    p->copy[p->ncopy] = (struct tsdl_copy){
        .source = source, .location = c->location, .labels = c->labels, .roles = c->roles, .type = *out};
    if (!tl_hash_put(&p->copies, hash, p->ncopy))
        return tsdl_no_memory(&p->l);
    p->ncopy++;
    p->nbound = c->first;
    return 0;
}

static int bind_struct(tsdl_parser *p, ctf_origin scope, tsdl_type *t, bool root, const ctf_type **out)
{
    change c = {.first = p->nbound};
    bool changed = false;
    uint32_t frame = p->nframe, symbols = p->nsymbol;
    assert(frame < TSDL_FRAMES_MAX); /* types are not so deeply nested */
    p->frame[p->nframe++] = (tsdl_frame){.type = t, .origin = (uint8_t)scope, .root = root};
    for (uint32_t i = 0; i < t->t.nmember; i++) {
        tsdl_type *member = tsdl_type_of(t->t.member[i].type);
        const ctf_type *bound = NULL;
        TSDL_TRY(bind(p, scope, t->name[i], member, &bound));
        TSDL_TRY(push_bound(p, &t->t.member[i], bound));
        TSDL_TRY(tsdl_push_field(p, t->name[i], member, frame, i));
        changed = changed || bound != &member->t;
    }
    if (!root) {
        tsdl_pop(p, symbols);
        p->nframe--;
    }
    if (changed)
        return copy_type(p, t, &c, out);
    p->nbound = c.first;
    *out = &t->t;
    return 0;
}

/* Counts what will be made from a type. */
static int count_fields(tsdl_parser *p, const tsdl_type *t, uint32_t n)
{
    if (n > TSDL_FIELDS_MAX - p->fields)
        return tsdl_fail(&p->l, t->t.position, "more than %u fields in all events", TSDL_FIELDS_MAX);
    p->fields += n;
    return 0;
}

static int bind_variant(tsdl_parser *p, ctf_origin scope, tsdl_type *t, const ctf_type **out)
{
    change c = {.first = p->nbound};
    tsdl_labels *labels = NULL;
    if (t->path->origin == TSDL_FROM_ENVIRONMENT)
        return tsdl_fail(&p->l, t->path->position, "the tag of a variant is not a field");
    TSDL_TRY(tsdl_locate(p, t, &c.location, &labels));
    c.labels = labels;
    for (uint32_t i = 0; i < t->t.nmember; i++) {
        const ctf_type *bound = NULL;
        TSDL_TRY(bind(p, scope, t->name[i], tsdl_type_of(t->t.member[i].type), &bound));
        TSDL_TRY(push_bound(p, &t->t.member[i], bound));
    }
    TSDL_TRY(copy_type(p, t, &c, out));
    for (uint32_t i = 0; i < t->t.nmember; i++)
        TSDL_TRY(count_fields(p, t, (*out)->member[i].nrange));
    return 0;
}

/* The length of an array from the environment. */
static int environment_length(tsdl_parser *p, const tsdl_path *path, uint64_t *length)
{
    const tsdl_name *name = path->name[0];
    if (path->n != 1 || name->property == 0)
        return tsdl_fail(&p->l, path->position, "the environment has no entry '%.60s'", name->text);
    const tl_property *entry = &p->property[name->property - 1];
    if (entry->text || entry->number < 0)
        return tsdl_fail(&p->l, path->position, "the environment's entry '%.60s' is not a length", name->text);
    *length = (uint64_t)entry->number;
    return 0;
}

static bool is_uuid(const tsdl_parser *p, ctf_origin scope, const tsdl_name *name, const tsdl_type *t)
{
    if (scope != CTF_FROM_PACKET_HEADER || p->in_array > 0 || !name || strcmp(name->text, "uuid") != 0 ||
        t->t.dynamic || t->t.length != 16)
        return false;
    const ctf_type *element = t->t.kind == CTF_ARRAY ? t->t.member[0].type : NULL;
    return t->t.kind == CTF_TEXT ||
           (element->kind == CTF_INT && element->bits == 8 && element->align == 8 && element->unit == 0);
}

static int bind_array(tsdl_parser *p, ctf_origin scope, const tsdl_name *name, tsdl_type *t, const ctf_type **out)
{
    change c = {.first = p->nbound, .location = t->t.location};
    if (is_uuid(p, scope, name, t)) {
        c.roles = CTF_ROLE_UUID;
        c.blob = true;
        return copy_type(p, t, &c, out);
    }
    if (t->path && t->path->origin == TSDL_FROM_ENVIRONMENT) {
        c.fixed = true;
        TSDL_TRY(environment_length(p, t->path, &c.length));
    } else if (t->path) {
        TSDL_TRY(tsdl_locate(p, t, &c.location, NULL));
    }
    bool changed = c.fixed || c.location != t->t.location;
    if (t->t.kind == CTF_ARRAY) {
        tsdl_type *element = tsdl_type_of(t->t.member[0].type);
        const ctf_type *bound = NULL;
        p->in_array++;
        TSDL_TRY(bind(p, scope, NULL, element, &bound));
        p->in_array--;
        TSDL_TRY(push_bound(p, &t->t.member[0], bound));
        changed = changed || bound != &element->t;
    }
    if (changed)
        return copy_type(p, t, &c, out);
    p->nbound = c.first;
    *out = &t->t;
    return 0;
}

static int bind(tsdl_parser *p, ctf_origin scope, const tsdl_name *name, tsdl_type *t, const ctf_type **out)
{
    change c = {.first = p->nbound};
    TSDL_TRY(count_fields(p, t, 1));
    switch (t->t.kind) {
    case CTF_INT:
        if (p->in_array == 0 || scope > CTF_FROM_EVENT_HEADER)
            c.roles = tsdl_roles(p, scope, name, t);
        if (c.roles != 0)
            return copy_type(p, t, &c, out);
        break;
    case CTF_STRUCT:
        return bind_struct(p, scope, t, false, out);
    case CTF_VARIANT:
        return bind_variant(p, scope, t, out);
    case CTF_ARRAY:
    case CTF_TEXT:
        return bind_array(p, scope, name, t, out);
    default:
        break;
    }
    *out = &t->t;
    return 0;
}

int tsdl_bind_root(tsdl_parser *p, ctf_origin scope, tsdl_type *root, const ctf_type **out)
{
    *out = NULL;
    p->base = p->nframe;
    p->in_array = 0;
    return root ? bind_struct(p, scope, root, true, out) : 0;
}
