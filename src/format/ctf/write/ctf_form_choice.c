/* Lowering of variants and optional fields, see ctf_form.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/ctf/write/ctf_lower.h"

/* --- variants --- */

/* A label of the selector, as shown by readers, which remove one '_'. */
typedef struct shown_label {
    const char *shown;
    const tl_mapping *mapping;
} shown_label;

static int compare_shown(const void *a_, const void *b_)
{
    const shown_label *a = a_, *b = b_;
    const int order = strcmp(a->shown, b->shown);
    return order != 0 ? order : TL_COMPARE(a->mapping, b->mapping);
}

static int compare_ranges(const void *a_, const void *b_)
{
    const tl_mapping *a = a_, *b = b_;
    return a->low != b->low ? TL_COMPARE(a->low, b->low) : TL_COMPARE(a->high, b->high);
}

static bool same_ranges(tl_mapping *a, tl_mapping *b, uint32_t n)
{
    qsort(a, n, sizeof *a, compare_ranges);
    qsort(b, n, sizeof *b, compare_ranges);
    for (uint32_t i = 0; i < n; i++)
        if (compare_ranges(&a[i], &b[i]) != 0)
            return false;
    return true;
}

static uint32_t sort_labels(const ctf_form *selector, shown_label *out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < selector->nmapping; i++) {
        const tl_mapping *m = &selector->mapping[i];
        if (m->label && ctf_is_identifier(m->label))
            out[n++] = (shown_label){m->label + (m->label[0] == '_'), m};
    }
    qsort(out, n, sizeof *out, compare_shown);
    return n;
}

/* The first label shown with the option's name, if its values choose the option; else NULL. */
static const char *label_of_option(ctf_lowering *l, tl_arena *scratch, const shown_label *labels, uint32_t n,
                                   const tl_field *option)
{
    uint32_t from = 0;
    for (uint32_t to = n; from < to;) {
        const uint32_t middle = from + (to - from) / 2;
        if (strcmp(labels[middle].shown, option->name) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    if (from == n || strcmp(labels[from].shown, option->name) != 0)
        return NULL;
    const char *const label = labels[from].mapping->label;
    tl_mapping *own = tl_arena_alloc(scratch, option->nmapping * sizeof *own);
    tl_mapping *named = tl_arena_alloc(scratch, option->nmapping * sizeof *named);
    l->no_memory = l->no_memory || !own || !named;
    uint32_t found = 0;
    for (uint32_t i = from; own && named && i < n && strcmp(labels[i].shown, option->name) == 0; i++) {
        if (strcmp(labels[i].mapping->label, label) != 0)
            continue;
        if (found == option->nmapping)
            return NULL;
        own[found] = option->mapping[found];
        named[found++] = *labels[i].mapping;
    }
    return found == option->nmapping && same_ranges(own, named, found) ? label : NULL;
}

/* 1.8: if the labels of the selector choose the options by name, so that the selector can stay: each
 * option's label. */
static const char **labels_of_options(ctf_lowering *l, const ctf_form *selector, const tl_field *f)
{
    tl_arena scratch = {0};
    const char **name = ctf_lower_alloc(l, f->nmember * sizeof *name);
    shown_label *labels = tl_arena_alloc(&scratch, ((size_t)selector->nmapping + 1) * sizeof *labels);
    l->no_memory = l->no_memory || !labels;
    const uint32_t n = labels ? sort_labels(selector, labels) : 0;
    for (uint32_t i = 0; name && i < f->nmember; i++)
        if (!(name[i] = label_of_option(l, &scratch, labels, n, &f->member[i])))
            name = NULL;
    tl_arena_fini(&scratch);
    return name;
}

/* Whether a field of the source can select the options in this dialect, apart from labels. */
static bool selects(const ctf_part *by, const tl_field *f)
{
    if (by->form->is_bool || by->form->is_flags)
        return false;
    for (uint32_t i = 0; i < f->nmember; i++)
        if (f->member[i].nmapping == 0 || ctf_has_labels(&f->member[i])) /* its own labels, not those that choose it */
            return false;
    return true;
}

/* Our own selector: a number, with the names of the options as labels. */
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

/* The values that choose an option, sorted and without overlap for searching, as in most sources. */
static void put_choosers(ctf_lowering *l, ctf_part *p, const tl_field *option, bool is_signed)
{
    const uint64_t bias = is_signed ? UINT64_C(1) << 63 : 0;
    const uint32_t n = option->nmapping;
    p->chooser = option->mapping;
    p->nchooser = n;
    uint32_t ordered = 1;
    while (ordered < n && (p->chooser[ordered - 1].high ^ bias) < (p->chooser[ordered].low ^ bias))
        ordered++;
    tl_mapping *m = ordered < n ? ctf_lower_alloc(l, n * sizeof *m) : NULL;
    if (!m)
        return;
    for (uint32_t i = 0; i < n; i++)
        m[i] = (tl_mapping){.low = option->mapping[i].low ^ bias, .high = option->mapping[i].high ^ bias};
    qsort(m, n, sizeof *m, compare_ranges);
    uint32_t made = 0;
    for (uint32_t i = 0; i < n; i++)
        if (made == 0 || m[i].low > m[made - 1].high)
            m[made++] = m[i];
        else if (m[i].high > m[made - 1].high)
            m[made - 1].high = m[i].high;
    for (uint32_t i = 0; i < made; i++)
        m[i] = (tl_mapping){.low = m[i].low ^ bias, .high = m[i].high ^ bias};
    p->chooser = m;
    p->nchooser = made;
}

/* selector: NULL if not the source's. label: its label for each option; NULL: the options have names of their own. */
static bool options(ctf_lowering *l, ctf_frame *fr, const tl_field *f, ctf_form *form, const ctf_form *selector,
                    const char **label, unsigned depth)
{
    tl_strings names = {0};
    for (uint32_t i = 0; i < f->nmember && !l->no_memory; i++) {
        const tl_field *option = &f->member[i];
        char numbered[24];
        snprintf(numbered, sizeof numbered, "option_%u", (unsigned)i);
        ctf_part *p = &form->part[i];
        p->form = ctf_lower_field(l, fr, option, false, depth + 1);
        if (label)
            p->name = label[i];
        else
            p->name = ctf_lower_name(l, &names, option->name && *option->name ? option->name : numbered);
        if (selector)
            put_choosers(l, p, option, selector->is_signed);
    }
    form->npart = f->nmember;
    tl_strings_fini(&names);
    return !l->no_memory;
}

const ctf_form *ctf_lower_variant(ctf_lowering *l, ctf_frame *fr, const tl_field *f, bool direct, unsigned depth)
{
    ctf_part *by = ctf_lower_governor(l, fr, f);
    if (f->nmember == 0)
        return NULL;
    if (by && !selects(by, f))
        by = NULL;
    if (by && l->forms->dialect == CTF_1_8 && by->scope != (uint8_t)fr->scope)
        by = NULL; /* babeltrace2 2.0.4 rejects a selector in another scope as a syntax error */
    const char **label = by && l->forms->dialect == CTF_1_8 ? labels_of_options(l, by->form, f) : NULL;
    if (!label && l->forms->dialect == CTF_1_8)
        by = NULL;
    if (!by && !direct && l->forms->dialect != CTF_2010)
        return ctf_lower_wrap(l, fr, f, depth);
    ctf_form *form = ctf_lower_form(l, CTF_FORM_VARIANT);
    if (!form || !ctf_lower_parts(l, form, f->nmember) || !options(l, fr, f, form, by ? by->form : NULL, label, depth))
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
    const bool nullable = !(f->flags & TL_FIELD_OPTIONAL); /* for a field that is both, the inner one */
    ctf_part *by = nullable ? NULL : ctf_lower_governor(l, fr, f);
    const bool boolean = by && by->form->is_bool; /* only in 2 */
    tl_field held = *f;
    held.flags &= (uint8_t) ~(nullable ? TL_FIELD_NULLABLE : TL_FIELD_OPTIONAL);
    if (!nullable)
        held.governor = 0; /* it may be the presence or the length: unknown */
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
