/* Nested values of the tape: the one walk over structs, lists, variants, labels and stacks for all
 * writers of values.
 *
 * A writer is a tl_value_walk, a constant: the walk is compiled into its functions, so that no value costs a call by
 * pointer. `out` is what it writes to. */
#ifndef TL_MODEL_VALUE_WALK_H
#define TL_MODEL_VALUE_WALK_H

#include "base/text/number.h"
#include "model/field_text.h"

typedef enum tl_value_part {
    TL_PART_FIELD,   /* a field, whose lead is due; i: does another one stand before it? */
    TL_PART_MEMBER,  /* the same, of a struct */
    TL_PART_STRUCT,  /* around all members */
    TL_PART_LIST,    /* around all elements: also of structs whose members have no names */
    TL_PART_ELEMENT, /* number i */
    TL_PART_VARIANT, /* around the value that was chosen */
    TL_PART_OPTION,  /* that value */
    TL_PART_DEEP,    /* in place of a value that is nested too deep; begins only */
    TL_PARTS
} tl_value_part;

/* What text has around the parts. */
typedef struct tl_value_marks {
    const char *begin[TL_PARTS], *end[TL_PARTS]; /* or NULL */
    const char *comma;                           /* between elements */
    bool numbers;                                /* elements have theirs: " [0] = " */
} tl_value_marks;

/* Writes one value and returns the slot after it and all that it owns. f: its field, or NULL. */
typedef const tl_value *tl_value_put(void *out, tl_fields *fields, const tl_value *v, const tl_value *end,
                                     const tl_field_text *f, unsigned depth);
typedef void tl_value_leaf(void *out, tl_fields *fields, const tl_value *v, const tl_field_text *f);

typedef struct tl_value_walk {
    tl_value_put *value;         /* a function that is tl_walk_value() of this walk: for values in values */
    const tl_value_marks *marks; /* `out` is a tl_text_writer; or else NULL, and these: */
    size_t (*begin)(void *out, tl_value_part part, const tl_field_text *f, uint32_t i);
    void (*end)(void *out, tl_value_part part, size_t begin); /* begin: what begin() returned */
    tl_value_leaf *scalar, *labelled;                         /* labelled: an integer that has labels */
    tl_value_leaf *quick; /* scalars without labels of types TL_U64 .. quick_last; text has TL_VALUE_ROOM for it */
    tl_type quick_last;
    bool variants;              /* shows them; else only the value that was chosen */
    bool hides;                 /* fields without a lead are not shown */
    const tl_field_text *frame; /* [TL_FRAME_MEMBERS] shows stacks as lists of structs, outermost frame first; these are
                                   the members if the field has none. NULL: a stack is a scalar */
} tl_value_walk;

#define TL_VALUE_ROOM 80u

/* A tl_field_text that is a constant, with padding after it. */
#define TL_FIELD_LEAD(text)                                                                                            \
    {                                                                                                                  \
        .lead = text "                                ", .nlead = sizeof(text) - 1                                     \
    }

TL_ALWAYS_INLINE void tl_walk_mark(tl_text_writer *tw, const char *text)
{
    const size_t n = text ? strlen(text) : 0;
    if (n == 0)
        return;
    tl_text_room(tw, n);
    memcpy(tw->p, text, n);
    tw->p += n;
}

TL_ALWAYS_INLINE size_t tl_walk_begin(const tl_value_walk *w, void *out, tl_value_part part, const tl_field_text *f,
                                      uint32_t i)
{
    enum { INDEX_MAX = 32 };
    tl_text_writer *tw = out;
    if (!w->marks)
        return w->begin(out, part, f, i);
    if (part == TL_PART_FIELD || part == TL_PART_MEMBER) {
        const size_t skipped = i == 0, lead = f->nlead - skipped; /* the first one has no comma, or space, in front */
        if (TL_LIKELY(lead <= TL_TEXT_ROOM - TL_TEXT_PADDING - TL_VALUE_ROOM)) {
            tl_text_room(tw, lead + TL_TEXT_PADDING + TL_VALUE_ROOM);
            tw->p = tl_put_padded(tw->p, f->lead + skipped, lead);
        } else {
            tl_text_raw(tw, f->lead + skipped, lead);
            tl_text_room(tw, TL_VALUE_ROOM);
        }
    } else if (part == TL_PART_ELEMENT) {
        tl_text_room(tw, INDEX_MAX + TL_VALUE_ROOM);
        if (i > 0)
            tl_walk_mark(tw, w->marks->comma);
        if (w->marks->numbers) {
            TL_TEXT_COPY(tw, " [");
            tw->p = tl_put_u64(tw->p, i);
            TL_TEXT_COPY(tw, "] = ");
        }
    } else {
        tl_walk_mark(tw, w->marks->begin[part]);
    }
    return 0;
}

TL_ALWAYS_INLINE void tl_walk_end(const tl_value_walk *w, void *out, tl_value_part part, size_t begin)
{
    if (w->marks)
        tl_walk_mark(out, w->marks->end[part]);
    else
        w->end(out, part, begin);
}

TL_ALWAYS_INLINE const tl_value *tl_walk_part(const tl_value_walk *w, void *out, tl_fields *fields, const tl_value *v,
                                              const tl_value *end, const tl_field_text *f, unsigned depth)
{
    if (TL_LIKELY(v->type >= TL_U64 && v->type <= w->quick_last && !(f && f->labels))) {
        w->quick(out, fields, v, f);
        return v + 1;
    }
    return w->value(out, fields, v, end, f, depth);
}

/* n fields, or members of a struct, without those that are absent. *any: does one stand before; set if one is written.
 */
TL_ALWAYS_INLINE const tl_value *tl_walk_members(const tl_value_walk *w, void *out, tl_fields *fields,
                                                 tl_value_part part, const tl_field_text *f, uint32_t n,
                                                 const tl_value *v, const tl_value *end, unsigned depth, bool *any)
{
    for (uint32_t i = 0; i < n && v < end; i++) {
        if (TL_UNLIKELY(v->type == TL_ABSENT || (w->hides && f[i].nlead == 0))) {
            v = tl_value_skip(v, end);
            continue;
        }
        const size_t begin = tl_walk_begin(w, out, part, &f[i], *any);
        *any = true;
        v = tl_walk_part(w, out, fields, v, end, &f[i], depth);
        tl_walk_end(w, out, part, begin);
    }
    return v;
}

TL_ALWAYS_INLINE const tl_value *tl_walk_struct(const tl_value_walk *w, void *out, tl_fields *fields,
                                                const tl_field_text *member, uint32_t n, const tl_value *v,
                                                const tl_value *end, unsigned depth)
{
    bool any = false;
    const size_t begin = tl_walk_begin(w, out, TL_PART_STRUCT, NULL, 0);
    v = tl_walk_members(w, out, fields, TL_PART_MEMBER, member, n, v, end, depth, &any);
    tl_walk_end(w, out, TL_PART_STRUCT, begin);
    return v;
}

TL_ALWAYS_INLINE void tl_walk_stack(const tl_value_walk *w, void *out, tl_fields *fields, const tl_value *v,
                                    const tl_field_text *f)
{
    const tl_field_text *member = f && f->nmember == TL_FRAME_MEMBERS ? f->member : w->frame;
    fields->failed = fields->failed || !tl_stack_frames_set(&fields->frames, v);
    const uint32_t n = fields->frames.n;
    const size_t begin = tl_walk_begin(w, out, TL_PART_LIST, NULL, 0);
    for (uint32_t i = 0; i < n; i++) {
        const tl_frame *frame = fields->frames.frame[n - 1 - i];
        const tl_value value[TL_FRAME_MEMBERS] = {
            {.type = frame->name ? TL_STRING : TL_NULL,
             .n = frame->name ? (uint32_t)strlen(frame->name) : 0,
             .as.p = frame->name},
            {.type = frame->flags & TL_FRAME_FUNCTION ? TL_HEX : TL_NULL, .as.u = frame->function},
            {.type = frame->flags & TL_FRAME_IP ? TL_HEX : TL_NULL, .as.u = frame->ip},
        };
        const size_t element = tl_walk_begin(w, out, TL_PART_ELEMENT, NULL, i),
                     all = tl_walk_begin(w, out, TL_PART_STRUCT, NULL, 0);
        for (uint32_t k = 0; k < TL_FRAME_MEMBERS; k++) {
            const size_t one = tl_walk_begin(w, out, TL_PART_MEMBER, &member[k], k);
            w->scalar(out, fields, &value[k], &w->frame[k]);
            tl_walk_end(w, out, TL_PART_MEMBER, one);
        }
        tl_walk_end(w, out, TL_PART_STRUCT, all);
        tl_walk_end(w, out, TL_PART_ELEMENT, element);
        if (fields->spill)
            fields->spill(fields->spill_arg, out);
    }
    tl_walk_end(w, out, TL_PART_LIST, begin);
}

/* As tl_value_put. */
TL_ALWAYS_INLINE const tl_value *tl_walk_value(const tl_value_walk *w, void *out, tl_fields *fields, const tl_value *v,
                                               const tl_value *end, const tl_field_text *f, unsigned depth)
{
    for (; !w->variants && v->type == TL_VARIANT && end - v > 1; v++)
        f = tl_field_text_member(f, TL_VARIANT, v->variant);
    const uint8_t type = v->type;
    const bool is_variant = w->variants && type == TL_VARIANT;
    if (type != TL_LIST && type != TL_STRUCT && !is_variant) {
        if (TL_UNLIKELY(f && f->labels && (type == TL_U64 || type == TL_I64)))
            w->labelled(out, fields, v, f);
        else if (TL_UNLIKELY(w->frame && type == TL_STACK))
            tl_walk_stack(w, out, fields, v, f);
        else
            w->scalar(out, fields, v, f);
        return v + 1;
    }
    if (TL_UNLIKELY(depth == TL_VALUE_DEPTH_MAX)) {
        tl_walk_begin(w, out, TL_PART_DEEP, NULL, 0);
        return tl_value_skip(v, end);
    }
    if (tl_field_text_named(f, v))
        return tl_walk_struct(w, out, fields, f ? f->member : NULL, v->n, v + 1, end, depth + 1);
    const uint32_t first = is_variant ? v->variant : 0, n = is_variant ? 1 : v->n;
    const tl_value_part all = is_variant ? TL_PART_VARIANT : TL_PART_LIST,
                        each = is_variant ? TL_PART_OPTION : TL_PART_ELEMENT;
    const size_t begin = tl_walk_begin(w, out, all, NULL, 0);
    v++;
    for (uint32_t i = 0; i < n && v < end; i++) {
        const tl_field_text *m = tl_field_text_member(f, type, first + i);
        const size_t element = tl_walk_begin(w, out, each, m, i);
        v = tl_walk_part(w, out, fields, v, end, m, depth + 1);
        tl_walk_end(w, out, each, element);
    }
    tl_walk_end(w, out, all, begin);
    return v;
}

#endif
