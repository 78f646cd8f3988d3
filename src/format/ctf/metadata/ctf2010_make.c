/* Makes one type of the metadata of 2010: checks, sizes, and alignments. `align` is where a type starts; its
 * contribution is the alignment of a struct around it, for bit-fields in the style of compilers their unit. */
#include "format/ctf/metadata/ctf2010_make.h"

#include <string.h>

static int64_t number_or(const ctf2010_spec *spec, ctf2010_key key, int64_t otherwise)
{
    return spec->has[key] ? ctf2010_to_int64(spec->number[key]) : otherwise;
}

static int no_memory(ctf2010_types *t, const ctf2010_spec *spec)
{
    return tl_fail(t->source->e, TL_ENOMEM, spec->position, "no memory for types");
}

int ctf2010_make_inner(ctf2010_types *t, ctf2010_spec *spec, const ctf2010_type *inner)
{
    if (inner->contribution > spec->contribution)
        spec->contribution = inner->contribution;
    if (inner->height > spec->height)
        spec->height = inner->height;
    spec->fields += inner->fields;
    if (spec->height >= CTF_DEPTH_MAX)
        return ctf2010_fail(t->source, spec->position, "types in types more than %u deep (the limit)", CTF_DEPTH_MAX);
    if (spec->fields >= CTF2010_FIELDS_MAX)
        return ctf2010_fail(t->source, spec->position, "a type that holds more than %u others (the limit)",
                            CTF2010_FIELDS_MAX);
    return 0;
}

/* --- maps --- */

/* A range as values of an integer of this sign; false: it contains none. */
static bool range_of(ctf2010_number low, ctf2010_number high, bool is_signed, tl_mapping *m)
{
    if (is_signed) {
        if (!low.negative && low.magnitude > INT64_MAX)
            return false;
        m->low = (uint64_t)ctf2010_to_int64(low);
        m->high = (uint64_t)ctf2010_to_int64(high);
        return (int64_t)m->low <= (int64_t)m->high;
    }
    if (high.negative)
        return false;
    m->low = low.negative ? 0 : low.magnitude;
    m->high = high.magnitude;
    return m->low <= m->high;
}

static int map_entry(ctf2010_types *t, const ctf2010_node *entry, ctf2010_spec *spec, tl_mapping *m)
{
    if (entry->kind != CTF2010_BRACES || entry->count < 2)
        return ctf2010_fail(t->source, entry->position, "expected a mapping as { value, label }");
    const ctf2010_node *first = entry->first, *low = first, *high = first;
    if (first->kind == CTF2010_BRACES) {
        if (first->count == 0)
            return ctf2010_fail(t->source, first->position, "expected a range as { low, high }");
        for (low = high = first->first; high->next;)
            high = high->next;
    }
    ctf2010_number from, to;
    int r = ctf2010_number_of(t->source, low, &from);
    if (r < 0 || (r = ctf2010_number_of(t->source, high, &to)) < 0 ||
        (r = ctf2010_text_of(t->source, first->next, &t->schema->arena, &m->label)) < 0)
        return r;
    spec->nmapping += range_of(from, to, spec->is_signed, m);
    return 0;
}

int ctf2010_make_map(ctf2010_types *t, const ctf2010_node *value, ctf2010_spec *spec)
{
    if (value->kind != CTF2010_BRACES)
        return ctf2010_fail(t->source, value->position, "expected a map in braces");
    tl_mapping *mapping = tl_arena_zalloc(&t->schema->arena, (value->count + (size_t)1) * sizeof *mapping);
    if (!mapping)
        return no_memory(t, spec);
    spec->mapping = mapping;
    for (const ctf2010_node *entry = value->first; entry; entry = entry->next) {
        int r = map_entry(t, entry, spec, &mapping[spec->nmapping]);
        if (r < 0)
            return r;
    }
    return 0;
}

/* --- kinds --- */

static int make_integer(ctf2010_types *t, const ctf2010_spec *spec, ctf_type *type, int64_t *align)
{
    static const tl_mapping none;
    const int64_t bits = number_or(spec, CTF2010_SIZE, spec->base_bits);
    if (bits < 1 || bits > 64)
        return ctf2010_fail(t->source, spec->position, "the size of an integer must be 1 to 64 bits");
    type->bits = (uint32_t)bits;
    type->is_signed = spec->is_signed;
    type->order = (uint8_t)spec->order;
    /* A type derived from a predefined integer has its alignment, even with another size. */
    const int64_t like = spec->base_bits ? spec->base_bits : bits;
    *align = number_or(spec, CTF2010_ALIGN, like % 8 == 0 && spec->root != CTF2010_BITFIELD ? 8 : 1);
    if (spec->root == CTF2010_BITFIELD) {
        const int64_t unit = number_or(spec, CTF2010_UNIT_SIZE, 0);
        if (unit < bits || (unit & (unit - 1)) || unit > CTF_ALIGN_MAX)
            return ctf2010_fail(t->source, spec->position,
                                "the unit_size of a bit-field must be a power of two, at least its size of %u bits",
                                type->bits);
        type->unit = (uint32_t)unit;
    }
    if (spec->root == CTF2010_ENUM) {
        type->mapping = spec->mapping ? spec->mapping : &none; /* an enumeration, even without labels */
        type->nmapping = spec->nmapping;
    }
    return 0;
}

static int make_float(ctf2010_types *t, const ctf2010_spec *spec, ctf_type *type, int64_t *align)
{
    const int64_t exponent = number_or(spec, CTF2010_EXP_DIG, 8), mantissa = number_or(spec, CTF2010_MANT_DIG, 24);
    const bool is_sane = exponent >= 0 && exponent <= 64 && mantissa >= 0 && mantissa <= 64;
    if (!is_sane || (exponent + mantissa != 32 && exponent + mantissa != 64))
        return ctf2010_fail(t->source, spec->position, "a floating point number must have 32 or 64 bits");
    type->bits = (uint32_t)(exponent + mantissa);
    type->order = (uint8_t)spec->order;
    *align = number_or(spec, CTF2010_ALIGN, 8);
    return 0;
}

static int make_list(ctf2010_types *t, ctf2010_spec *spec, ctf_type *type, int64_t *align)
{
    const bool is_array = spec->root == CTF2010_ARRAY;
    if (!spec->element.type || (is_array ? !spec->has[CTF2010_LENGTH] : !spec->length.type))
        return ctf2010_fail(t->source, spec->position,
                            is_array ? "an array needs length and elem_type"
                                     : "a sequence needs length_type and elem_type");
    if (!is_array && spec->length.root != CTF2010_INTEGER)
        return ctf2010_fail(t->source, spec->position, "the length of a sequence must be an integer");
    ctf_member *element = tl_arena_zalloc(&t->schema->arena, sizeof *element);
    if (!element)
        return no_memory(t, spec);
    element->type = spec->element.type;
    type->member = element;
    type->nmember = 1;
    spec->contribution = spec->height = 0;
    spec->fields = 0;
    int r = ctf2010_make_inner(t, spec, &spec->element);
    if (r >= 0 && !is_array)
        r = ctf2010_make_inner(t, spec, &spec->length);
    if (is_array) {
        const ctf2010_number length = spec->number[CTF2010_LENGTH];
        type->length = length.negative ? 0 : length.magnitude;
        *align = spec->element.type->align;
    } else {
        type->dynamic = true;
        type->inline_length = spec->length.type;
        *align = spec->length.type->align;
    }
    return r;
}

static ctf_kind kind_of(ctf2010_root root)
{
    switch (root) {
    case CTF2010_STRUCT:
        return CTF_STRUCT;
    case CTF2010_ARRAY:
    case CTF2010_SEQUENCE:
        return CTF_ARRAY;
    case CTF2010_TEXT:
        return CTF_STRING;
    case CTF2010_FLOAT:
        return CTF_FLOAT;
    default:
        return CTF_INT;
    }
}

int ctf2010_make(ctf2010_types *t, const ctf2010_spec *made_of, ctf2010_type *out)
{
    ctf2010_spec spec = *made_of;
    ctf_type *type = ctf_type_new(t->schema, kind_of(spec.root), spec.position);
    if (!type)
        return no_memory(t, &spec);
    int r = 0;
    int64_t align = 8;
    switch (kind_of(spec.root)) {
    case CTF_INT:
        r = make_integer(t, &spec, type, &align);
        break;
    case CTF_FLOAT:
        r = make_float(t, &spec, type, &align);
        break;
    case CTF_ARRAY:
        r = make_list(t, &spec, type, &align);
        break;
    case CTF_STRUCT:
        type->member = spec.member;
        type->nmember = spec.nmember;
        align = number_or(&spec, CTF2010_ALIGN, 1);
        align = align > spec.contribution ? align : spec.contribution;
        break;
    default:
        type->encoding = CTF_UTF8;
    }
    if (r < 0)
        return r;
    if (align < 1 || (align & (align - 1)) || align > CTF_ALIGN_MAX)
        return ctf2010_fail(t->source, spec.position, "an alignment must be a power of two, at most %u bits",
                            CTF_ALIGN_MAX);
    type->align = (uint32_t)align;
    *out = (ctf2010_type){.type = type, .contribution = type->align, .height = 1, .fields = 1, .root = spec.root};
    if (type->unit > out->contribution)
        out->contribution = type->unit;
    if (type->kind == CTF_STRUCT || type->kind == CTF_ARRAY) {
        out->contribution = type->kind == CTF_ARRAY ? spec.contribution : type->align;
        out->height = spec.height + 1;
        out->fields = (uint32_t)spec.fields + 1;
    }
    return 0;
}
