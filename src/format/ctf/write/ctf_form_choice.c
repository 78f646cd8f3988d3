/* Lowering of variants and optional fields, see ctf_form.c. */
#include <stdio.h>
#include <string.h>

#include "format/ctf/write/ctf_lower.h"

/* --- variants --- */

/* 1.8: whether the labels of the selector choose the options by name, so that the selector can stay. */
static const char *label_of_option(const ctf_part *by, const tl_field *option)
{
    const size_t n = strlen(option->name);
    for (uint32_t i = 0; i < by->form->nmapping; i++) {
        const char *label = by->form->mapping[i].label;
        if (!label || !ctf_is_identifier(label))
            continue;
        const size_t shown = label[0] == '_'; /* readers remove one '_' of the option's name */
        if (strlen(label) == n + shown && strcmp(label + shown, option->name) == 0)
            return label;
    }
    return NULL;
}

static bool same_choice(const ctf_part *by, const char *label, const tl_field *option)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < by->form->nmapping; i++) {
        if (!by->form->mapping[i].label || strcmp(by->form->mapping[i].label, label) != 0)
            continue;
        bool same = false;
        for (uint32_t k = 0; k < option->nmapping; k++)
            same = same || (option->mapping[k].low == by->form->mapping[i].low &&
                            option->mapping[k].high == by->form->mapping[i].high);
        if (!same)
            return false;
        found++;
    }
    return found == option->nmapping;
}

/* Whether a field of the source can select the options in this dialect. */
static bool selects(const ctf_lowering *l, const ctf_part *by, const tl_field *f)
{
    if (by->form->is_bool || by->form->is_flags)
        return false;
    for (uint32_t i = 0; i < f->nmember; i++) {
        const tl_field *option = &f->member[i];
        if (option->nmapping == 0 || ctf_has_labels(option)) /* its own labels, not what chooses it */
            return false;
        if (l->forms->dialect != CTF_1_8)
            continue;
        const char *label = label_of_option(by, option);
        if (!label || !same_choice(by, label, option))
            return false;
    }
    return true;
}

/* The selector of our own: a number, with the names of the options as labels. */
static const ctf_form *make_tag(ctf_lowering *l, const ctf_form *variant)
{
    ctf_form *form = ctf_lower_int(l, variant->npart <= 256 ? 8 : 32);
    tl_mapping *m = ctf_lower_alloc(l, ((size_t)variant->npart + 1) * sizeof *m);
    for (uint32_t i = 0; form && m && i < variant->npart; i++)
        m[i] = (tl_mapping){.label = variant->part[i].name, .low = i, .high = i};
    if (!form || !m)
        return NULL;
    form->mapping = m;
    form->nmapping = variant->npart;
    for (uint32_t i = 0; i < variant->npart; i++) {
        variant->part[i].chooser = &m[i];
        variant->part[i].nchooser = 1;
    }
    return form;
}

static bool options(ctf_lowering *l, ctf_frame *fr, const tl_field *f, ctf_form *form, const ctf_part *by,
                    unsigned depth)
{
    tl_hash names = {0};
    for (uint32_t i = 0; i < f->nmember && !l->no_memory; i++) {
        const tl_field *option = &f->member[i];
        char numbered[24];
        snprintf(numbered, sizeof numbered, "option_%u", (unsigned)i);
        ctf_part *p = &form->part[i];
        p->form = ctf_lower_field(l, fr, option, false, depth + 1);
        if (by && l->forms->dialect == CTF_1_8)
            p->name = label_of_option(by, option);
        else
            p->name = ctf_lower_name(l, &names, option->name && *option->name ? option->name : numbered);
        p->chooser = option->mapping;
        p->nchooser = option->nmapping;
    }
    form->npart = f->nmember;
    tl_hash_fini(&names);
    return !l->no_memory;
}

const ctf_form *ctf_lower_variant(ctf_lowering *l, ctf_frame *fr, const tl_field *f, bool direct, unsigned depth)
{
    ctf_part *by = ctf_lower_governor(l, fr, f);
    if (f->nmember == 0)
        return NULL;
    if (by && !selects(l, by, f))
        by = NULL;
    if (!by && !direct && l->forms->dialect != CTF_2010)
        return ctf_lower_wrap(l, fr, f, depth);
    ctf_form *form = ctf_lower_form(l, CTF_FORM_VARIANT);
    if (!form || !ctf_lower_parts(l, form, f->nmember) || !options(l, fr, f, form, by, depth))
        return NULL;
    if (l->forms->dialect == CTF_2010) {
        form->counted = CTF_COUNTED_INLINE;
        return form;
    }
    if (!by)
        by = ctf_lower_make(l, fr, f->name, "tag", make_tag(l, form));
    if (!by)
        return NULL;
    ctf_lower_set_by(l, fr, form, by);
    return form;
}

/* --- optional fields --- */

static const ctf_form *make_presence(ctf_lowering *l)
{
    static const tl_mapping labels[] = {{"none", 0, 0}, {"some", 1, 1}};
    ctf_form *form = ctf_lower_int(l, 8);
    if (form && l->forms->dialect == CTF_1_8) {
        form->mapping = labels;
        form->nmapping = 2;
    } else if (form) {
        form->is_bool = true;
    }
    return form;
}

const ctf_form *ctf_lower_optional(ctf_lowering *l, ctf_frame *fr, const tl_field *f, bool direct, unsigned depth)
{
    const bool nullable = !(f->flags & TL_FIELD_OPTIONAL); /* of a field that is both, the inner one */
    ctf_part *by = nullable ? NULL : ctf_lower_governor(l, fr, f);
    const bool boolean = by && by->form->is_bool; /* only in 2 */
    tl_field held = *f;
    held.flags &= (uint8_t) ~(nullable ? TL_FIELD_NULLABLE : TL_FIELD_OPTIONAL);
    if (!nullable)
        held.governor = 0; /* it may say whether or how much: not known */
    if (!boolean && !direct && l->forms->dialect != CTF_2010)
        return ctf_lower_wrap(l, fr, f, depth);
    const ctf_form *inner = ctf_lower_field(l, fr, &held, direct, depth + 1);
    ctf_form *form = ctf_lower_form(l, CTF_FORM_OPTIONAL);
    if (!inner || !form || !ctf_lower_parts(l, form, 1))
        return NULL;
    form->part[0] = (ctf_part){.name = "some", .form = inner};
    form->npart = 1;
    form->is_null = nullable;
    if (l->forms->dialect == CTF_2010) {
        form->counted = CTF_COUNTED_INLINE;
        return form;
    }
    if (!boolean)
        by = ctf_lower_make(l, fr, f->name, nullable ? "known" : "there", make_presence(l));
    if (!by)
        return NULL;
    ctf_lower_set_by(l, fr, form, by);
    return form;
}
