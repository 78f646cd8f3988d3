/* Schemas that only differ as between the processes of one program: such folders contain hundreds. */
#include "format/ctf/read/ctf_same.h"
#include "base/text/same_text.h"

#include <string.h>

/* Types to compare: trees with shared subtrees may have very many paths. */
#define VISITS_MOST (1u << 20)
/* Clocks of a schema to compare: they are searched linearly. */
#define CLOCKS_MOST 64u

static bool same_location(const ctf_location *a, const ctf_location *b)
{
    if (!a || !b || a == b)
        return a == b;
    if (a->origin != b->origin || a->n != b->n)
        return false;
    for (uint32_t i = 0; i < a->n; i++)
        if (!tl_same_text(a->path[i], b->path[i]))
            return false;
    return true;
}

static bool same_mappings(const ctf_type *a, const ctf_type *b)
{
    if (a->nmapping != b->nmapping)
        return false;
    for (uint32_t i = 0; i < a->nmapping; i++)
        if (a->mapping[i].low != b->mapping[i].low || a->mapping[i].high != b->mapping[i].high ||
            !tl_same_text(a->mapping[i].label, b->mapping[i].label))
            return false;
    return true;
}

static bool same_ranges(const ctf_member *a, const ctf_member *b)
{
    if (a->nrange != b->nrange)
        return false;
    for (uint32_t i = 0; i < a->nrange; i++)
        if (a->range[i].low != b->range[i].low || a->range[i].high != b->range[i].high)
            return false;
    return true;
}

static bool same_attributes(const ctf_type *a, const ctf_type *b)
{
    return a->kind == b->kind && a->order == b->order && a->reversed == b->reversed && a->is_signed == b->is_signed &&
           a->base == b->base && a->encoding == b->encoding && a->dynamic == b->dynamic && a->bits == b->bits &&
           a->align == b->align && a->unit == b->unit && a->roles == b->roles && a->length == b->length &&
           a->nmember == b->nmember;
}

static bool same_type(const ctf_type *a, const ctf_type *b, uint32_t *visits)
{
    if (!a || !b || a == b)
        return a == b;
    if (++*visits > VISITS_MOST || !same_attributes(a, b) || !same_location(a->location, b->location) ||
        !same_mappings(a, b) || !same_type(a->inline_length, b->inline_length, visits))
        return false;
    for (uint32_t i = 0; i < a->nmember; i++)
        if (!tl_same_text(a->member[i].name, b->member[i].name) || !tl_same_text(a->member[i].raw, b->member[i].raw) ||
            !same_ranges(&a->member[i], &b->member[i]) || !same_type(a->member[i].type, b->member[i].type, visits))
            return false;
    return true;
}

static bool same_event(const ctf_event_class *a, const ctf_event_class *b, uint32_t *visits)
{
    return a->id == b->id && strcmp(a->name, b->name) == 0 && tl_same_text(a->level, b->level) &&
           a->level_value == b->level_value && tl_same_text(a->uri, b->uri) &&
           same_type(a->context, b->context, visits) && same_type(a->payload, b->payload, visits);
}

/* The index of the default clock in the schema's list; nclock: none. */
static uint32_t clock_number(const ctf_schema *s, const ctf_stream_class *c)
{
    uint32_t i = 0;
    while (i < s->nclock && s->clock[i] != c->clock)
        i++;
    return i;
}

static bool same_stream(const ctf_schema *sa, const ctf_schema *sb, uint32_t stream, uint32_t *visits)
{
    const ctf_stream_class *a = sa->stream[stream], *b = sb->stream[stream];
    if (a->id != b->id || !tl_same_text(a->name, b->name) || !a->clock != !b->clock ||
        clock_number(sa, a) != clock_number(sb, b) || a->nevent != b->nevent ||
        !same_type(a->packet_context, b->packet_context, visits) ||
        !same_type(a->event_header, b->event_header, visits) || !same_type(a->event_context, b->event_context, visits))
        return false;
    for (uint32_t i = 0; i < a->nevent; i++)
        if (!same_event(a->event[i], b->event[i], visits))
            return false;
    return true;
}

bool ctf_same_schema(const ctf_schema *a, const ctf_schema *b)
{
    uint32_t visits = 0;
    if (a->dialect != b->dialect || a->major != b->major || a->minor != b->minor || a->order != b->order ||
        a->has_uuid != b->has_uuid || a->nclock != b->nclock || a->nclock > CLOCKS_MOST || a->nstream != b->nstream ||
        !same_type(a->packet_header, b->packet_header, &visits))
        return false;
    for (uint32_t i = 0; i < a->nstream; i++)
        if (!same_stream(a, b, i, &visits))
            return false;
    return true;
}

uint64_t ctf_same_key(const ctf_schema *s)
{
    tl_hasher h = tl_hasher_begin();
    tl_hasher_add(&h, (uint64_t)s->nstream << 32 | s->dialect);
    for (uint32_t i = 0; i < s->nstream; i++) {
        tl_hasher_add(&h, s->stream[i]->id);
        tl_hasher_add(&h, s->stream[i]->nevent);
        for (uint32_t k = 0; k < s->stream[i]->nevent; k++)
            tl_hasher_text(&h, s->stream[i]->event[k]->name);
    }
    return tl_hasher_end(h);
}
