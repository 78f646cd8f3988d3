/* Fields, prepared for writers of text. */
#include "model/field_text.h"

#include <stdlib.h>

#include "base/grow.h"

/* Limits recursion: readers make no deeper types, and writers skip deeper values. */
enum { TYPE_DEPTH_MAX = 2 * TL_VALUE_DEPTH_MAX };

/* Members already made. */
struct tl_members {
    const tl_field *field;
    uint32_t n;
    tl_field_text *text;
};

bool tl_field_texts_init(tl_field_texts *t, uint32_t ncls, tl_field_lead *lead, tl_enum_make *labels, void *arg)
{
    t->lead = lead;
    t->arg = arg;
    t->ncls = ncls;
    t->cls = calloc((size_t)ncls + 1, sizeof *t->cls);
    tl_enum_texts_init(&t->enums, labels, arg);
    return t->cls != NULL;
}

void tl_field_texts_fini(tl_field_texts *t)
{
    tl_arena_fini(&t->arena);
    free(t->cls);
    tl_hash_fini(&t->known);
    free(t->made);
    tl_pb_fini(&t->scratch);
    tl_enum_texts_fini(&t->enums);
    *t = (tl_field_texts){0};
}

bool tl_fields_init(tl_fields *fields, uint32_t ncls, tl_field_lead *lead, tl_enum_make *labels)
{
    return tl_field_texts_init(&fields->texts, ncls, lead, labels, fields);
}

void tl_fields_fini(tl_fields *fields)
{
    tl_field_texts_fini(&fields->texts);
    tl_stack_frames_fini(&fields->frames);
}

void tl_field_put_name(const tl_field *f, tl_pb *text)
{
    const char *name = f->name ? f->name : "";
    if (f->flags & TL_FIELD_CLASH)
        tl_pb_raw(text, tl_field_scope(f) == TL_SCOPE_STREAM ? "stream." : "event.",
                  tl_field_scope(f) == TL_SCOPE_STREAM ? 7 : 6);
    tl_pb_raw(text, name, strlen(name));
}

static const tl_field_text *make_members(tl_field_texts *t, const tl_field *f, uint32_t n, unsigned depth);

static bool make_field(tl_field_texts *t, const tl_field *f, tl_field_text *out, unsigned depth)
{
    tl_pb_clear(&t->scratch);
    t->lead(t->arg, f, &t->scratch);
    const size_t n = t->scratch.n;
    char *lead = t->scratch.failed || n > UINT32_MAX ? NULL : tl_arena_zalloc(&t->arena, n + TL_TEXT_PADDING);
    if (!lead)
        return false;
    if (n > 0)
        memcpy(lead, t->scratch.data, n);
    *out = (tl_field_text){.lead = lead,
                           .nlead = (uint32_t)n,
                           .base = f->base ? f->base : 10,
                           .bits = f->bits && f->bits <= 64 ? f->bits : 64,
                           .single = f->type == TL_F64 && f->bits == 32,
                           .is_flags = f->flags & TL_FIELD_FLAGS};
    if (tl_enum_has_labels(f) && !(out->labels = tl_enum_texts_get(&t->enums, f)))
        return false;
    if (f->nmember == 0 || !f->member || depth == TYPE_DEPTH_MAX)
        return true;
    out->member = make_members(t, f->member, f->nmember, depth + 1);
    out->nmember = out->member ? f->nmember : 0;
    return out->member != NULL;
}

/* Stores members; returns the index, or TL_HASH_NONE when memory runs out. */
static uint32_t remember(tl_field_texts *t, struct tl_members m)
{
    if (!TL_GROW(t->made, t->nmade, 1, t->made_capacity) || !tl_hash_put(&t->known, (uintptr_t)m.field, t->nmade))
        return TL_HASH_NONE;
    t->made[t->nmade] = m;
    return t->nmade++;
}

static const tl_field_text *make_members(tl_field_texts *t, const tl_field *f, uint32_t n, unsigned depth)
{
    const uint32_t known = tl_hash_get(&t->known, (uintptr_t)f);
    if (known != TL_HASH_NONE && t->made[known].n == n)
        return t->made[known].text;
    tl_field_text *text = tl_arena_zalloc(&t->arena, (size_t)n * sizeof *text);
    if (!text)
        return NULL;
    for (uint32_t i = 0; i < n; i++)
        if (!make_field(t, &f[i], &text[i], depth))
            return NULL;
    return remember(t, (struct tl_members){f, n, text}) == TL_HASH_NONE ? NULL : text;
}

TL_COLD const tl_class_text *tl_field_texts_make(tl_field_texts *t, const tl_class *c)
{
    tl_class_text *text = tl_arena_zalloc(&t->arena, sizeof *text);
    if (!text)
        return NULL;
    text->nfield = c->nfield;
    text->ncontext = c->ncontext;
    while (text->npacket < c->ncontext && tl_field_scope(&c->field[text->npacket]) == TL_SCOPE_PACKET)
        text->npacket++;
    static const tl_field_text none; /* only for its address */
    text->field = c->nfield > 0 ? make_members(t, c->field, c->nfield, 0) : &none;
    return text->field ? t->cls[c->id] = text : NULL;
}

const tl_value *tl_value_skip(const tl_value *v, const tl_value *end)
{
    uint64_t pending = 1;
    for (; pending > 0 && v < end; v++) {
        pending--;
        if (v->type == TL_LIST || v->type == TL_STRUCT)
            pending += v->n;
        else if (v->type == TL_VARIANT)
            pending++;
    }
    return v;
}

const tl_value *tl_value_of_role(const tl_class *c, const tl_batch *b, uint32_t i, tl_field_role role,
                                 const tl_value **end)
{
    if (!b->val)
        return NULL;
    const tl_value *v = b->v + b->val[i], *const last = b->v + b->val[i + 1];
    if (end)
        *end = last;
    for (uint32_t f = 0; f < c->nfield && v < last; f++, v = tl_value_skip(v, last))
        if (c->field[f].role == (uint8_t)role)
            return v;
    return NULL;
}

const tl_value *tl_values_skip(const tl_value *v, const tl_value *end, uint32_t n)
{
    for (; n > 0 && v < end; n--)
        v = tl_value_skip(v, end);
    return v;
}

bool tl_values_present(const tl_value *v, const tl_value *end, uint32_t n)
{
    for (; n > 0 && v < end; n--, v++)
        if (v->type != TL_ABSENT)
            return true;
    return false;
}

char *tl_put_based(char *p, uint64_t v, const tl_field_text *f, const char *digit)
{
    const unsigned width = f->base == 2 ? 1 : f->base == 8 ? 3 : 4, mask = (1u << width) - 1;
    unsigned n = (f->bits + width - 1) / width; /* digits */
    if (n * width < 64)
        v &= ((uint64_t)1 << n * width) - 1;
    if (width > 1)
        n = (64 - (unsigned)__builtin_clzll(v | 1) + width - 1) / width;
    for (unsigned i = n; i-- > 0; v >>= width)
        p[i] = digit[v & mask];
    return p + n;
}
