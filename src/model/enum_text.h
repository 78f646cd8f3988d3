/* Labels of integers as ready-made text.
 *
 * A value may match any number of overlapping ranges. The number line is cut where the set of matching ranges changes;
 * for each piece the text is made when it is first asked for. */
#ifndef TL_MODEL_ENUM_TEXT_H
#define TL_MODEL_ENUM_TEXT_H

#include "base/hash.h"
#include "model/label.h"
#include "traceloom/model.h"

/* Text that is kept before all of it is forgotten and made anew. */
#define TL_ENUM_BYTES_MAX ((size_t)16 << 20)

/* Appends the text of n labels (n may be 0). */
typedef void tl_enum_make(void *arg, const char *const *label, uint32_t n, tl_pb *text);

typedef struct tl_enum_text tl_enum_text;

/* All of one writer. */
typedef struct tl_enum_texts {
    tl_enum_make *make;
    void *arg;
    tl_arena arena; /* the tables */
    tl_arena text;
    tl_hash known; /* address of the mappings -> index */
    tl_enum_text **all;
    uint32_t n, capacity;
    const char **match; /* room for the labels of the largest of them */
    uint32_t most;
    tl_pb scratch;
} tl_enum_texts;

void tl_enum_texts_init(tl_enum_texts *t, tl_enum_make *make, void *arg); /* of zeroed memory */
void tl_enum_texts_fini(tl_enum_texts *t);

/* Has the field labels for its values (and not only for those of a sibling that chooses it)? */
bool tl_enum_has_labels(const tl_field *f);
/* Of a field that has labels; they must live as long as the writer. NULL when memory runs out. */
tl_enum_text *tl_enum_texts_get(tl_enum_texts *t, const tl_field *f);

/* The text of a value's labels, each once, in the order of the mappings. Of flags (TL_FIELD_FLAGS) those of the bits
 * that are set. Valid until the next call. p is NULL when memory runs out. */
tl_label tl_enum_label(tl_enum_texts *t, tl_enum_text *e, uint64_t value);

#endif
