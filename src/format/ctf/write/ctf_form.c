/* Lowering: from the fields of a class to forms that a dialect supports.
 *
 * Types that a dialect lacks are expressed by others:
 *
 *   1.8    an optional field is a variant of an empty struct and the field; a blob is an array of bytes; flags are a
 *          plain integer; labels that choose an option must be the options' names, else the selector is our own
 *   2010   lists begin with their length; an optional field is a list of 0 or 1 elements, a variant a struct of such;
 *          the event's own context is part of the payload
 *   all    a field that may be null is an optional one; a stack is a list of structs, whose members may be null
 *
 * A length or selector that no field holds becomes a member of our own: __NAME_length, __NAME_tag, __NAME_there,
 * __NAME_known, which our reader does not show (ctf_fields_made()). Where there is no struct to put it into (in an
 * element or an option) one is made around both. */
#include "format/ctf/write/ctf_lower.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "format/ctf/plan/ctf_fields.h"
#include "model/stack_frames.h"

void *ctf_lower_alloc(ctf_lowering *l, size_t size)
{
    void *p = tl_arena_zalloc(&l->forms->arena, size);
    l->no_memory = l->no_memory || !p;
    return p;
}

ctf_form *ctf_lower_form(ctf_lowering *l, ctf_form_kind kind)
{
    ctf_form *f = ctf_lower_alloc(l, sizeof *f);
    if (f)
        f->kind = (uint8_t)kind;
    return f;
}

ctf_form *ctf_lower_int(ctf_lowering *l, unsigned bits)
{
    ctf_form *f = ctf_lower_form(l, CTF_FORM_INT);
    if (f) {
        f->bits = (uint8_t)bits;
        f->bytes = (uint8_t)((bits + 7) / 8);
        f->base = 10;
    }
    return f;
}

bool ctf_lower_parts(ctf_lowering *l, ctf_form *f, uint32_t n)
{
    f->part = ctf_lower_alloc(l, ((size_t)n + 1) * sizeof *f->part);
    return f->part != NULL;
}

bool ctf_is_identifier(const char *s)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    static const char *const words[] = {"align",  "callsite", "const",     "char",           "clock",    "double",
                                        "enum",   "env",      "event",     "floating_point", "float",    "integer",
                                        "int",    "long",     "short",     "signed",         "stream",   "string",
                                        "struct", "trace",    "typealias", "typedef",        "unsigned", "variant",
                                        "void",   "_Bool",    "_Complex",  "_Imaginary"};
    for (size_t i = 0; i < TL_COUNT(words); i++)
        if (strcmp(s, words[i]) == 0)
            return false;
    return *s != '\0' && !(*s >= '0' && *s <= '9') && s[strspn(s, letters)] == '\0';
}

/* A name for the metadata: in 1.8 with '_' in front, which readers remove, so that no name is a keyword or loses a '_'
 * of its own. */
static const char *raw_name(ctf_lowering *l, const char *name)
{
    const bool tsdl = l->forms->dialect == CTF_1_8;
    const char *text = name && *name ? name : "unnamed";
    const size_t n = strlen(text);
    char *raw = ctf_lower_alloc(l, n + 2);
    if (!raw)
        return "";
    raw[0] = '_';
    memcpy(raw + tsdl, text, n);
    if (tsdl)
        for (char *p = raw; *p; p++)
            if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9')))
                *p = '_';
    return raw;
}

const char *ctf_lower_name(ctf_lowering *l, tl_strings *names, const char *name)
{
    const char *raw = raw_name(l, name);
    const size_t n = strlen(raw);
    for (uint32_t i = names->n + 1; tl_strings_has(names, raw, strlen(raw)) && !l->no_memory; i++) {
        char *longer = ctf_lower_alloc(l, n + 12);
        if (!longer)
            break;
        snprintf(longer, n + 12, "%s_%u", raw, (unsigned)i);
        raw = longer;
    }
    if (!tl_strings_get(names, raw, strlen(raw)))
        l->no_memory = true;
    return raw;
}

ctf_part *ctf_lower_add(ctf_lowering *l, ctf_frame *fr, const char *name, const ctf_form *form, ctf_part_source source)
{
    ctf_part *p = &fr->form->part[fr->form->npart++];
    p->name = ctf_lower_name(l, &fr->names, name);
    p->form = form;
    p->source = (uint8_t)source;
    p->scope = (uint8_t)fr->scope;
    return p;
}

static ctf_part *remember_place(ctf_lowering *l, ctf_part *p)
{
    if (p->place == 0)
        p->place = ++l->forms->places;
    return p;
}

ctf_part *ctf_lower_make(ctf_lowering *l, ctf_frame *fr, const char *name, const char *what, const ctf_form *form)
{
    const size_t n = name ? strlen(name) : 0;
    char *text = ctf_lower_alloc(l, n + 16);
    if (!text || !form)
        return NULL;
    snprintf(text, n + 16, "__%s_%s", name ? name : "", what);
    return remember_place(l, ctf_lower_add(l, fr, text, form, CTF_PART_MADE));
}

/* --- numbers --- */

bool ctf_has_labels(const tl_field *f)
{
    return f->nmapping > 0 && f->mapping[0].label != NULL;
}

static ctf_form *number_form(ctf_lowering *l, const tl_field *f)
{
    const unsigned bits = f->bits == 0 || f->bits > 64 ? (f->type == TL_BOOL ? 8 : 64) : f->bits;
    ctf_form *form = ctf_lower_int(l, bits);
    if (!form)
        return NULL;
    form->is_signed = f->type == TL_I64;
    form->base = f->base ? f->base : f->type == TL_HEX ? 16 : 10;
    if (l->forms->dialect == CTF_2) {
        form->is_bool = f->type == TL_BOOL;
        form->is_flags = (f->flags & TL_FIELD_FLAGS) && ctf_has_labels(f) && !form->is_signed;
    }
    if (ctf_has_labels(f) && !form->is_bool && ((f->flags & TL_FIELD_FLAGS) ? form->is_flags : true)) {
        form->mapping = f->mapping;
        form->nmapping = f->nmapping;
    } else if (ctf_has_labels(f)) {
        l->forms->labels++;
    }
    return form;
}

static ctf_form *float_form(ctf_lowering *l, const tl_field *f)
{
    ctf_form *form = ctf_lower_form(l, CTF_FORM_FLOAT);
    if (form) {
        form->bits = f->bits == 32 ? 32 : 64;
        form->bytes = (uint8_t)(form->bits / 8);
    }
    return form;
}

/* --- lengths and selectors --- */

ctf_part *ctf_lower_governor(const ctf_lowering *l, const ctf_frame *fr, const tl_field *f)
{
    const uint32_t i = f->governor - 1;
    if (f->governor == 0 || l->forms->dialect == CTF_2010 || i >= fr->fields->n)
        return NULL;
    ctf_part *p = fr->fields->of[i];
    if (!p || p->form->kind != CTF_FORM_INT || p->source != CTF_PART_TAPE || p->scope == TL_SCOPE_PACKET)
        return NULL;
    return p;
}

void ctf_lower_set_by(ctf_lowering *l, const ctf_frame *fr, ctf_form *form, ctf_part *by)
{
    form->counted = CTF_COUNTED_PART;
    form->by = remember_place(l, by);
    form->elsewhere = by->scope != (uint8_t)fr->scope;
}

const ctf_form *ctf_lower_wrap(ctf_lowering *l, const ctf_frame *outer, const tl_field *f, unsigned depth)
{
    ctf_part *of[1] = {NULL};
    tl_field alone = *f;
    alone.governor = 0;
    alone.name = CTF_WRAPPED;
    const ctf_lower_fields one = {.field = &alone, .n = 1, .of = of};
    ctf_frame fr = {.form = ctf_lower_form(l, CTF_FORM_STRUCT), .fields = &one, .scope = outer->scope};
    if (!fr.form || !ctf_lower_parts(l, fr.form, CTF_PARTS_OF_FIELD))
        return NULL;
    fr.form->wraps = true;
    const ctf_form *form = ctf_lower_field(l, &fr, &alone, true, depth + 1);
    if (form)
        ctf_lower_add(l, &fr, CTF_WRAPPED, form, CTF_PART_TAPE);
    tl_strings_fini(&fr.names);
    return form ? fr.form : NULL;
}

/* --- things with a length --- */

static const ctf_form *element_form(ctf_lowering *l, ctf_frame *fr, const tl_field *f, unsigned depth)
{
    if (f->member && f->nmember > 0)
        return ctf_lower_field(l, fr, &f->member[0], false, depth + 1);
    ctf_form *form = ctf_lower_int(l, 64);
    if (form)
        form->untyped = true;
    return form;
}

/* Whether a form begins at a whole byte, even if its value has no bits. */
static bool is_aligned(const ctf_form *f)
{
    switch ((ctf_form_kind)f->kind) {
    case CTF_FORM_STRUCT:
        for (uint32_t i = 0; i < f->npart; i++)
            if (f->part[i].source != CTF_PART_PASSED && is_aligned(f->part[i].form))
                return true;
        return false;
    case CTF_FORM_LIST:
        return !f->loose;
    case CTF_FORM_VARIANT:
    case CTF_FORM_OPTIONAL:
    case CTF_FORM_NOTHING:
        return false;
    default:
        return true;
    }
}

/* Strings with a length, bytes, lists. */
static const ctf_form *counted_form(ctf_lowering *l, ctf_frame *fr, const tl_field *f, ctf_form_kind kind, bool direct,
                                    unsigned depth)
{
    const bool fixed = (f->flags & TL_FIELD_FIXED) != 0;
    ctf_part *by = fixed ? NULL : ctf_lower_governor(l, fr, f);
    if (by && (by->form->is_signed || by->form->is_bool || by->form->is_flags))
        by = NULL;
    if (!fixed && !by && !direct && l->forms->dialect != CTF_2010)
        return ctf_lower_wrap(l, fr, f, depth);
    ctf_form *form = ctf_lower_form(l, kind);
    if (!form)
        return NULL;
    if (fixed) {
        form->counted = CTF_COUNTED_FIXED;
        form->length = f->length;
    } else if (by) {
        ctf_lower_set_by(l, fr, form, by);
    } else if (l->forms->dialect == CTF_2010) {
        form->counted = CTF_COUNTED_INLINE;
    } else {
        by = ctf_lower_make(l, fr, f->name, "length", ctf_lower_int(l, 32));
        if (!by)
            return NULL;
        ctf_lower_set_by(l, fr, form, by);
    }
    if (kind == CTF_FORM_LIST) {
        if (!ctf_lower_parts(l, form, 1) || !(form->part[0].form = element_form(l, fr, f, depth)))
            return NULL;
        form->npart = 1;
        form->part[0].name = "";
        form->loose = !is_aligned(form->part[0].form);
    }
    return form;
}

static const ctf_form *string_form(ctf_lowering *l, ctf_frame *fr, const tl_field *f, bool direct, unsigned depth)
{
    const bool counted = l->forms->dialect != CTF_2010 && ((f->flags & TL_FIELD_FIXED) || ctf_lower_governor(l, fr, f));
    return counted ? counted_form(l, fr, f, CTF_FORM_TEXT, direct, depth) : ctf_lower_form(l, CTF_FORM_STRING);
}

/* --- structs --- */

static const ctf_form *struct_form(ctf_lowering *l, const ctf_frame *outer, const tl_field *f, unsigned depth)
{
    ctf_form *form = ctf_lower_form(l, CTF_FORM_STRUCT);
    ctf_part **of = ctf_lower_alloc(l, ((size_t)f->nmember + 1) * sizeof(*of));
    if (!form || !of || !ctf_lower_parts(l, form, CTF_PARTS_OF_FIELD * f->nmember))
        return NULL;
    form->length = f->nmember;
    const ctf_lower_fields inner = {.field = f->member, .n = f->nmember, .of = of};
    ctf_frame fr = {.form = form, .fields = &inner, .scope = outer->scope};
    for (uint32_t i = 0; i < f->nmember && !l->no_memory; i++) {
        const ctf_form *member = ctf_lower_field(l, &fr, &f->member[i], true, depth + 1);
        if (member)
            of[i] = ctf_lower_add(l, &fr, f->member[i].name, member, CTF_PART_TAPE);
    }
    tl_strings_fini(&fr.names);
    return l->no_memory ? NULL : form;
}

/* A list of frames. Unknown parts of one are null. */
static const ctf_form *stack_form(ctf_lowering *l, ctf_frame *fr, const tl_field *f, bool direct, unsigned depth)
{
    tl_field member[TL_FRAME_MEMBERS] = {{.name = "function", .type = TL_STRING, .flags = TL_FIELD_NULLABLE},
                                         {.name = "id", .type = TL_HEX, .flags = TL_FIELD_NULLABLE},
                                         {.name = "ip", .type = TL_HEX, .flags = TL_FIELD_NULLABLE}};
    for (uint32_t i = 0; f->nmember == TL_FRAME_MEMBERS && i < TL_FRAME_MEMBERS; i++)
        member[i].name = f->member[i].name;
    const tl_field frame = {.name = "", .type = TL_STRUCT, .member = member, .nmember = TL_FRAME_MEMBERS};
    tl_field list = *f;
    list.type = TL_LIST;
    list.member = &frame;
    list.nmember = 1;
    list.flags &= (uint8_t)~TL_FIELD_FIXED;
    return counted_form(l, fr, &list, CTF_FORM_LIST, direct, depth);
}

/* --- all of them --- */

static const ctf_form *nothing(ctf_lowering *l, bool is_loss)
{
    l->forms->unknown += is_loss;
    return ctf_lower_form(l, CTF_FORM_NOTHING);
}

const ctf_form *ctf_lower_field(ctf_lowering *l, ctf_frame *fr, const tl_field *f, bool direct, unsigned depth)
{
    if (depth >= CTF_DEPTH_MAX)
        return nothing(l, true);
    if (f->flags & (TL_FIELD_OPTIONAL | TL_FIELD_NULLABLE))
        return ctf_lower_optional(l, fr, f, direct, depth);
    switch (f->type) {
    case TL_BOOL:
    case TL_U64:
    case TL_I64:
    case TL_HEX:
        return number_form(l, f);
    case TL_F64:
        return float_form(l, f);
    case TL_STRING:
        return string_form(l, fr, f, direct, depth);
    case TL_BYTES:
        return counted_form(l, fr, f, CTF_FORM_BLOB, direct, depth);
    case TL_LIST:
        return counted_form(l, fr, f, CTF_FORM_LIST, direct, depth);
    case TL_STRUCT:
        return struct_form(l, fr, f, depth);
    case TL_VARIANT:
        return f->nmember > 0 ? ctf_lower_variant(l, fr, f, direct, depth) : nothing(l, true);
    case TL_STACK:
        return stack_form(l, fr, f, direct, depth);
    case TL_NULL:
    case TL_ABSENT:
        break;
    }
    return nothing(l, false);
}
