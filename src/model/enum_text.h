/* Labels of integers as ready-made text.
 *
 * A value may match any number of overlapping ranges. The number line is cut where the set of matching ranges changes;
 * the text of each piece is made on first use. */
#ifndef TL_MODEL_ENUM_TEXT_H
#define TL_MODEL_ENUM_TEXT_H

#include "base/hash.h"
#include "model/label.h"
#include "traceloom/model.h"

/* Text to keep before all of it is dropped and made again. */
#define TL_ENUM_BYTES_MAX ((size_t)16 << 20)

/* Appends the text of n labels (n may be 0). */
typedef void tl_enum_make(void *arg, const char *const *label, uint32_t n, tl_pb *text);

typedef struct tl_enum_text tl_enum_text;

/* All texts of one writer. */
typedef struct tl_enum_texts {
    tl_enum_make *make;
    void *arg;
    tl_arena arena; /* the tables */
    tl_arena text;
    tl_hash known; /* address of the mappings -> index */
    tl_enum_text **all;
    uint32_t n, capacity;
    const char **match; /* room for the labels of the largest table */
    uint32_t most;
    tl_pb scratch;
} tl_enum_texts;

void tl_enum_texts_init(tl_enum_texts *t, tl_enum_make *make, void *arg); /* after zeroing */
void tl_enum_texts_fini(tl_enum_texts *t);

/* Does the field have labels for its own values (not just for those of a sibling that chooses it)? */
bool tl_enum_has_labels(const tl_field *f);
/* For a field with labels, which must live as long as the writer. NULL when memory runs out. */
tl_enum_text *tl_enum_texts_get(tl_enum_texts *t, const tl_field *f);

/* The text of a value's labels, each once, in the order of the mappings; for flags (TL_FIELD_FLAGS), of the bits that
 * are set. Valid until the next call. p is NULL when memory runs out. */
tl_label tl_enum_label(tl_enum_texts *t, tl_enum_text *e, uint64_t value);

#endif
