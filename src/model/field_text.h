/* Fields, prepared for writers of text: names and labels as text, made once for each class. */
#ifndef TL_MODEL_FIELD_TEXT_H
#define TL_MODEL_FIELD_TEXT_H

#include "base/text/number.h"
#include "base/text/text_writer.h"
#include "model/enum_text.h"
#include "model/stack_frames.h"

/* Deepest nesting of lists, structs and variants that is written: each level costs stack. */
#define TL_VALUE_DEPTH_MAX 64u

typedef struct tl_field_text {
    const char *lead; /* text before the value; followed by TL_TEXT_PADDING readable bytes */
    uint32_t nlead;
    uint32_t nmember;
    const struct tl_field_text *member; /* or NULL */
    tl_enum_text *labels;               /* or NULL */
    uint8_t base;                       /* 2, 8, 10, 16 */
    uint8_t bits;                       /* 1 .. 64 */
    bool single;                        /* a float */
    bool is_flags;                      /* TL_FIELD_FLAGS */
} tl_field_text;

/* A class. Fields are in the order of tl_class.field. */
typedef struct tl_class_text {
    const tl_field_text *field;
    uint32_t nfield;
    uint32_t npacket;  /* how many of the first are of TL_SCOPE_PACKET */
    uint32_t ncontext; /* how many of the first are not payload, npacket included */
} tl_class_text;

/* Appends the text before a field's value: its name in the syntax of the format. */
typedef void tl_field_lead(void *arg, const tl_field *f, tl_pb *text);

/* All classes of one writer, made on first use. */
typedef struct tl_field_texts {
    tl_field_lead *lead;
    void *arg;
    tl_arena arena;
    tl_class_text **cls; /* [ncls] */
    uint32_t ncls;
    tl_hash known;           /* address of members -> index in `made` */
    struct tl_members *made; /* types may share members: counting each use, there may be many more */
    uint32_t nmade, made_capacity;
    tl_pb scratch;
    tl_enum_texts enums;
} tl_field_texts;

/* After zeroing; ncls: classes of the trace. False when memory runs out; fini is needed in any case. */
bool tl_field_texts_init(tl_field_texts *t, uint32_t ncls, tl_field_lead *lead, tl_enum_make *labels, void *arg);
void tl_field_texts_fini(tl_field_texts *t);
const tl_class_text *tl_field_texts_make(tl_field_texts *t, const tl_class *c);

/* NULL when memory runs out. */
TL_ALWAYS_INLINE const tl_class_text *tl_field_texts_get(tl_field_texts *t, const tl_class *c)
{
    return TL_LIKELY(t->cls[c->id] != NULL) ? t->cls[c->id] : tl_field_texts_make(t, c);
}

/* What a writer of values needs besides the values. */
typedef struct tl_fields {
    tl_field_texts texts;
    tl_stack_frames frames;
    /* NULL, or called after each frame of a stack, to write out text that is collected in memory.
     * The size of a trace does not bound the text of an event. */
    void (*spill)(void *arg, tl_text_writer *tw);
    void *spill_arg;
    uint64_t bad; /* bytes that are not UTF-8 */
    bool failed;  /* memory ran out */
} tl_fields;

/* The same as for tl_field_texts, whose functions get `fields` as argument. */
bool tl_fields_init(tl_fields *fields, uint32_t ncls, tl_field_lead *lead, tl_enum_make *labels);
void tl_fields_fini(tl_fields *fields);

/* Appends the name of a field, prefixed by "stream." or "event." if both contexts have it. */
void tl_field_put_name(const tl_field *f, tl_pb *text);

/* The slot after a value and all that it owns; at most `end`. */
const tl_value *tl_value_skip(const tl_value *v, const tl_value *end);
/* The value of the first field of a role of event i, of class c; *end, unless NULL, is the end of the event's values.
 * NULL: it has none, or they were not read. */
const tl_value *tl_value_of_role(const tl_class *c, const tl_batch *b, uint32_t i, tl_field_role role,
                                 const tl_value **end);
/* The slot after n values. */
const tl_value *tl_values_skip(const tl_value *v, const tl_value *end, uint32_t n);
/* Is any of n values not TL_ABSENT? */
bool tl_values_present(const tl_value *v, const tl_value *end, uint32_t n);

/* The description of element i of a list, struct or variant; a list has one for all elements. NULL: none. */
TL_ALWAYS_INLINE const tl_field_text *tl_field_text_member(const tl_field_text *f, uint8_t type, uint32_t i)
{
    if (!f)
        return NULL;
    if (type == TL_LIST)
        i = 0;
    return i < f->nmember ? &f->member[i] : NULL;
}

/* Is it a struct in which every member has a name? */
TL_ALWAYS_INLINE bool tl_field_text_named(const tl_field_text *f, const tl_value *v)
{
    return v->type == TL_STRUCT && (v->n == 0 || (f && f->nmember >= v->n));
}

/* An unsigned integer in base 2, 8 or 16: the field's bits, rounded up to whole digits. At most 64 bytes. Returns the
 * end. digit: "0123456789abcdef". Base 2 keeps leading zeros, the others do not. */
char *tl_put_based(char *p, uint64_t v, const tl_field_text *f, const char *digit);

/* Any integer, in the base of its field (f may be NULL): 31, 0x1f, 017, 0b101; at most 80 bytes. */
TL_ALWAYS_INLINE char *tl_put_integer(char *p, const tl_value *v, const tl_field_text *f, const char *digit)
{
    if (TL_LIKELY(!f || f->base == 10))
        return v->type == TL_I64 ? tl_put_i64(p, v->as.i) : tl_put_u64(p, v->as.u);
    *p++ = '0';
    if (f->base != 8)
        *p++ = f->base == 2 ? 'b' : 'x';
    return tl_put_based(p, v->as.u, f, digit);
}

#endif
