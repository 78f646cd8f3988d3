/* Lowering of whole classes: contexts that several share, and those of their own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/grow.h"
#include "base/text/same_text.h"
#include "format/ctf/write/ctf_lower.h"

/* --- equal contexts --- */

static void hash_field(tl_hasher *h, const tl_field *f, unsigned depth)
{
    tl_hasher_text(h, f->name);
    tl_hasher_add(h, (uint64_t)f->type | (uint64_t)f->bits << 8 | (uint64_t)(f->base ? f->base : 10) << 16 |
                         (uint64_t)f->context << 24 | (uint64_t)(f->flags & ~TL_FIELD_CLASH) << 32);
    tl_hasher_add(h, (uint64_t)f->length << 32 | f->governor);
    tl_hasher_add(h, (uint64_t)f->nmember << 32 | f->nmapping);
    for (uint32_t i = 0; i < f->nmapping; i++) {
        tl_hasher_text(h, f->mapping[i].label);
        tl_hasher_add(h, f->mapping[i].low);
        tl_hasher_add(h, f->mapping[i].high);
    }
    for (uint32_t i = 0; f->member && depth < CTF_DEPTH_MAX && i < f->nmember; i++)
        hash_field(h, &f->member[i], depth + 1);
}

void ctf_hash_field(tl_hasher *h, const tl_field *f)
{
    hash_field(h, f, 0);
}

/* A clash of names is with the class's own context, so it does not matter here. */
static bool same_field(const tl_field *a, const tl_field *b, unsigned depth)
{
    if (a == b)
        return true;
    if (!tl_same_text(a->name, b->name) || a->type != b->type || a->bits != b->bits || a->base != b->base ||
        a->context != b->context || ((a->flags ^ b->flags) & ~TL_FIELD_CLASH) || a->length != b->length ||
        a->governor != b->governor || a->nmember != b->nmember || a->nmapping != b->nmapping ||
        !a->member != !b->member || depth > CTF_DEPTH_MAX)
        return false;
    for (uint32_t i = 0; i < a->nmapping; i++)
        if (!tl_same_text(a->mapping[i].label, b->mapping[i].label) || a->mapping[i].low != b->mapping[i].low ||
            a->mapping[i].high != b->mapping[i].high)
            return false;
    for (uint32_t i = 0; a->member && i < a->nmember; i++)
        if (!same_field(&a->member[i], &b->member[i], depth + 1))
            return false;
    return true;
}

/* Fields of a class that belong to its stream class. */
static uint32_t shared_fields(const tl_class *c)
{
    uint32_t n = 0;
    while (n < c->ncontext && tl_field_scope(&c->field[n]) <= TL_SCOPE_STREAM)
        n++;
    return n;
}

static bool is_timeless(const ctf_forms *f, const tl_class *c)
{
    return (c->flags & TL_CLASS_TIMELESS) && !f->timed;
}

static bool shows_stream(const tl_class *c)
{
    return c->scopes >> TL_SCOPE_STREAM & 1;
}

static bool has_shape(const ctf_forms *f, const tl_class *c, uint32_t n, const ctf_shape *s)
{
    if (s->nfield != n || s->timeless != is_timeless(f, c) || s->shows_stream != shows_stream(c))
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (!same_field(&c->field[i], &s->first->field[i], 0))
            return false;
    return true;
}

/* --- lowering --- */

/* Members of packet contexts that we write ourselves. */
static bool is_own(const char *name)
{
    static const char *const own[] = {"timestamp_begin", "timestamp_end",    "content_size", "packet_size",
                                      "packet_seq_num",  "events_discarded", "cpu_id"};
    for (size_t i = 0; i < TL_COUNT(own); i++)
        if (strcmp(name, own[i]) == 0)
            return true;
    return false;
}

static bool start_frame(ctf_lowering *l, ctf_frame *fr, const ctf_lower_fields *fields, tl_scope scope, uint32_t n)
{
    *fr = (ctf_frame){.form = ctf_lower_form(l, CTF_FORM_STRUCT), .fields = fields, .scope = scope};
    return fr->form && ctf_lower_parts(l, fr->form, CTF_PARTS_OF_FIELD * n + 1);
}

/* Lowers fields from .. to-1 into a frame. */
static void lower_fields(ctf_lowering *l, ctf_frame *fr, uint32_t from, uint32_t to, const char *prefix)
{
    for (uint32_t i = from; i < to && !l->no_memory; i++) {
        tl_field f = fr->fields->field[i];
        const char *name = f.name ? f.name : "";
        if (*prefix) {
            const size_t n = strlen(prefix) + strlen(name) + 1;
            char *longer = ctf_lower_alloc(l, n);
            if (!longer)
                break;
            snprintf(longer, n, "%s%s", prefix, name);
            name = f.name = longer; /* also for parts made for it */
        }
        const bool passed = fr->scope == TL_SCOPE_PACKET && (is_own(name) || l->forms->dialect == CTF_2010);
        const ctf_form *form = passed ? ctf_lower_form(l, CTF_FORM_NOTHING) : ctf_lower_field(l, fr, &f, true, 0);
        if (!form)
            break;
        ctf_part *p = ctf_lower_add(l, fr, name, form, passed ? CTF_PART_PASSED : CTF_PART_TAPE);
        fr->fields->of[i] = p;
        /* 2010 reserves this name in contexts; every payload must fit, so 16 bits are not enough. */
        p->payload_size = l->forms->dialect == CTF_2010 && fr->scope == TL_SCOPE_STREAM &&
                          strcmp(name, "payload_size") == 0 && form->kind == CTF_FORM_INT;
        if (p->payload_size)
            p->form = ctf_lower_int(l, 32);
    }
}

/* The processor number, with base and labels of the source's field "cpu_id", if that is among n packet fields. */
static const ctf_form *cpu_form(ctf_lowering *l, const tl_field *field, uint32_t n)
{
    ctf_form *form = ctf_lower_int(l, 32);
    for (uint32_t i = 0; form && i < n; i++) {
        const tl_field *f = &field[i];
        if (!tl_same_text(f->name, "cpu_id") || (f->type != TL_U64 && f->type != TL_I64 && f->type != TL_HEX))
            continue;
        form->base = f->base ? f->base : f->type == TL_HEX ? 16 : 10;
        if (f->bits > 0 && f->bits <= 32 && ctf_has_labels(f) && !(f->flags & TL_FIELD_FLAGS)) {
            form->is_signed = f->type == TL_I64;
            form->mapping = f->mapping;
            form->nmapping = f->nmapping;
        }
    }
    return form;
}

static bool make_shape(ctf_forms *forms, ctf_shape *s, const tl_class *c, uint32_t n)
{
    ctf_lowering l = {.forms = forms};
    uint32_t packet = 0;
    while (packet < n && tl_field_scope(&c->field[packet]) == TL_SCOPE_PACKET)
        packet++;
    s->cpu = cpu_form(&l, c->field, packet);
    s->of = ctf_lower_alloc(&l, ((size_t)n + 1) * sizeof(*s->of));
    const ctf_lower_fields fields = {.field = c->field, .n = n, .of = s->of};
    ctf_frame frame[2] = {0};
    if (s->cpu && s->of && start_frame(&l, &frame[0], &fields, TL_SCOPE_PACKET, packet) &&
        start_frame(&l, &frame[1], &fields, TL_SCOPE_STREAM, n - packet)) {
        lower_fields(&l, &frame[0], 0, packet, "");
        lower_fields(&l, &frame[1], packet, n, "");
    }
    tl_strings_fini(&frame[0].names);
    tl_strings_fini(&frame[1].names);
    if (l.no_memory)
        return false;
    s->packet = frame[0].form;
    s->stream = frame[1].form;
    s->first = c;
    s->nfield = n;
    for (uint32_t i = 0; i < s->packet->npart; i++)
        if (s->packet->part[i].source != CTF_PART_PASSED)
            s->has_packet = true;
        else if (!is_own(c->field[i].name))
            s->loses_packet = true;
    return true;
}

uint32_t ctf_forms_shape(ctf_forms *f, const tl_class *c)
{
    const uint32_t n = shared_fields(c);
    tl_hasher h = tl_hasher_begin();
    tl_hasher_add(&h, n | (uint64_t)is_timeless(f, c) << 32 | (uint64_t)shows_stream(c) << 33);
    for (uint32_t i = 0; i < n; i++)
        ctf_hash_field(&h, &c->field[i]);
    const uint64_t hash = tl_hasher_end(h);
    for (uint32_t i = tl_hash_get(&f->shapes, hash); i < f->nshape && f->shape[i].hash == hash; i++)
        if (has_shape(f, c, n,
                      &f->shape[i])) /* of equal hashes only neighbours are compared: a shape may exist twice */
            return i;
    if (!TL_GROW(f->shape, f->nshape, 1, f->capacity))
        return UINT32_MAX;
    ctf_shape *s = &f->shape[f->nshape];
    *s = (ctf_shape){.hash = hash, .timeless = is_timeless(f, c), .shows_stream = shows_stream(c)};
    if (!make_shape(f, s, c, n) || !tl_hash_put(&f->shapes, hash, f->nshape))
        return UINT32_MAX;
    return f->nshape++;
}

static void add_key(ctf_lowering *l, ctf_frame *fr, tl_key key)
{
    ctf_form *form = ctf_lower_int(l, 64);
    if (!form)
        return;
    form->is_signed = key == TL_KEY_FUNCTION;
    form->base = key == TL_KEY_PC || key == TL_KEY_ADDRESS ? 16 : 10;
    ctf_lower_add(l, fr, "id", form, CTF_PART_KEY);
}

/* Whether something in a form needs a length or selector to be read. */
static bool is_governed(const ctf_form *f)
{
    if (f->counted == CTF_COUNTED_PART)
        return true;
    for (uint32_t i = 0; i < f->npart; i++)
        if (is_governed(f->part[i].form))
            return true;
    return false;
}

/* merged: the context is part of the payload. */
static bool lower_class(ctf_forms *f, const ctf_shape *shape, const tl_class *c, bool has_key, bool merged,
                        const ctf_form **context, const ctf_form **payload)
{
    ctf_lowering l = {.forms = f};
    ctf_part **of = tl_alloc((size_t)c->nfield + 1, sizeof(*of));
    if (!of)
        return false;
    memcpy(of, shape->of, shape->nfield * sizeof(*of));
    memset(of + shape->nfield, 0, ((size_t)c->nfield - shape->nfield) * sizeof(*of));
    const ctf_lower_fields fields = {.field = c->field, .n = c->nfield, .of = of};
    ctf_frame own = {0}, pay = {0};
    const uint32_t first = c->ncontext < shape->nfield ? shape->nfield : c->ncontext;
    if (start_frame(&l, &own, &fields, TL_SCOPE_EVENT, first - shape->nfield) &&
        start_frame(&l, &pay, &fields, TL_SCOPE_PAYLOAD, c->nfield)) {
        if (has_key)
            add_key(&l, &pay, c->key);
        lower_fields(&l, merged ? &pay : &own, shape->nfield, first, merged ? "context_" : "");
        lower_fields(&l, &pay, first, c->nfield, "");
    }
    tl_strings_fini(&own.names);
    tl_strings_fini(&pay.names);
    free(of);
    *context = own.form;
    *payload = pay.form;
    return !l.no_memory;
}

bool ctf_forms_class(ctf_forms *f, const ctf_shape *shape, const tl_class *c, bool has_key, const ctf_form **context,
                     const ctf_form **payload)
{
    const uint64_t labels = f->labels, unknown = f->unknown;
    if (!lower_class(f, shape, c, has_key, f->dialect == CTF_2010, context, payload))
        return false;
    if (f->dialect != CTF_1_8 || !is_governed(*context))
        return true;
    f->labels = labels;
    f->unknown = unknown;
    return lower_class(f, shape, c, has_key, true, context, payload);
}

void ctf_forms_fini(ctf_forms *f)
{
    tl_arena_fini(&f->arena);
    tl_hash_fini(&f->shapes);
    free(f->shape);
}
