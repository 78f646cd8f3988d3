/* Prepared text for numbers that occur in every event: a writer makes the text for a function, a track or a class once,
 * and copies it from then on. */
#ifndef TL_MODEL_LABEL_H
#define TL_MODEL_LABEL_H

#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/compiler.h"
#include "base/hash.h"
#include "base/protobuf.h"

/* Limits before everything is dropped and made again: real programs stay far below, and hostile files cannot grow. */
#define TL_LABELS_MAX      (1u << 20)
#define TL_LABEL_BYTES_MAX ((size_t)64 << 20)

typedef struct tl_label {
    const char *p; /* NULL: out of memory */
    size_t n;
} tl_label;

/* Appends the text of a number to an empty buffer. */
typedef void tl_label_make(void *arg, uint64_t number, tl_pb *text);

typedef struct tl_labels {
    tl_label_make *make;
    void *arg;
    tl_hash index; /* number -> label */
    tl_label *label;
    uint32_t n, capacity;
    tl_arena arena;
    tl_pb scratch;
} tl_labels;

void tl_labels_init(tl_labels *l, tl_label_make *make, void *arg); /* after zeroing */
void tl_labels_fini(tl_labels *l);
tl_label tl_labels_make(tl_labels *l, uint64_t number);

/* Valid until the next call for the same labels. */
TL_ALWAYS_INLINE tl_label tl_labels_get(tl_labels *l, uint64_t number)
{
    uint32_t i = tl_hash_get(&l->index, number);
    return TL_LIKELY(i != TL_HASH_NONE) ? l->label[i] : tl_labels_make(l, number);
}

TL_ALWAYS_INLINE char *tl_put_label(char *p, tl_label label)
{
    memcpy(p, label.p, label.n);
    return p + label.n;
}

/* Copies a string constant. */
#define TL_PUT(p, text) (memcpy((p), (text), sizeof(text) - 1), (p) + sizeof(text) - 1)

#endif
