/* Internals of lowering, see ctf_form.c. */
#ifndef TL_FORMAT_CTF_LOWER_H
#define TL_FORMAT_CTF_LOWER_H

#include "format/ctf/write/ctf_form.h"

/* Most parts of a field: its presence, its length, and itself. */
#define CTF_PARTS_OF_FIELD 3u

/* Fields of one struct (or class), and their parts. */
typedef struct ctf_lower_fields {
    const tl_field *field;
    uint32_t n;
    ctf_part **of; /* [n]; NULL: not yet */
} ctf_lower_fields;

/* A struct in the making. */
typedef struct ctf_frame {
    ctf_form *form;
    tl_strings names; /* of its parts */
    const ctf_lower_fields *fields;
    tl_scope scope;
} ctf_frame;

typedef struct ctf_lowering {
    ctf_forms *forms;
    bool no_memory;
} ctf_lowering;

void *ctf_lower_alloc(ctf_lowering *l, size_t size); /* zeroed; sets no_memory */
ctf_form *ctf_lower_form(ctf_lowering *l, ctf_form_kind kind);
ctf_form *ctf_lower_int(ctf_lowering *l, unsigned bits);
/* Room for n parts (npart stays 0). */
bool ctf_lower_parts(ctf_lowering *l, ctf_form *f, uint32_t n);
/* A name that is not in the set yet, in the form for the metadata. */
const char *ctf_lower_name(ctf_lowering *l, tl_strings *names, const char *name);
/* Appends to the frame's struct. */
ctf_part *ctf_lower_add(ctf_lowering *l, ctf_frame *fr, const char *name, const ctf_form *form, ctf_part_source source);
/* Our own length or selector for a field called `name`; NULL without memory, or if form is NULL. */
ctf_part *ctf_lower_make(ctf_lowering *l, ctf_frame *fr, const char *name, const char *what, const ctf_form *form);
/* The earlier part with a field's length or selector, if usable. */
ctf_part *ctf_lower_governor(const ctf_lowering *l, const ctf_frame *fr, const tl_field *f);
void ctf_lower_set_by(ctf_lowering *l, const ctf_frame *fr, ctf_form *form, ctf_part *by);
/* A struct of one field and what must precede it, for places without a struct. */
const ctf_form *ctf_lower_wrap(ctf_lowering *l, const ctf_frame *outer, const tl_field *f, unsigned depth);
bool ctf_has_labels(const tl_field *f);

/* A field of the frame's struct; direct: not in an element or an option. NULL without memory. */
const ctf_form *ctf_lower_field(ctf_lowering *l, ctf_frame *fr, const tl_field *f, bool direct, unsigned depth);
/* ctf_form_choice.c: variants with options, and optional fields. */
const ctf_form *ctf_lower_variant(ctf_lowering *l, ctf_frame *fr, const tl_field *f, bool direct, unsigned depth);
const ctf_form *ctf_lower_optional(ctf_lowering *l, ctf_frame *fr, const tl_field *f, bool direct, unsigned depth);

#endif
