/* Finds the record of a line by its first eight bytes: a small hash table, and a guess. */
#ifndef TL_FORMAT_TRACELOG_WORDS_H
#define TL_FORMAT_TRACELOG_WORDS_H

#include "base/endian.h"
#include "format/tracelog/tracelog_classes.h"

#define TRACELOG_WORD_BITS  7u
#define TRACELOG_WORD_SLOTS (1u << TRACELOG_WORD_BITS)

typedef struct tracelog_word {
    uint64_t text; /* "sam str " as eight bytes; 0: free */
    uint32_t record;
} tracelog_word;

extern tracelog_word tracelog_words[TRACELOG_WORD_SLOTS];
/* Fills the table, once. Needed before the first lookup. */
void tracelog_words_init(void);

TL_ALWAYS_INLINE uint32_t tracelog_word_slot(uint64_t text)
{
    return (uint32_t)(text * UINT64_C(0x9e3779b97f4a7c15) >> (64 - TRACELOG_WORD_BITS));
}

/* The record whose words and a space are at p; TRACELOG_RECORDS if none. */
TL_ALWAYS_INLINE tracelog_record tracelog_record_at(const uint8_t *p)
{
    const uint64_t text = tl_load64(p, false);
    for (uint32_t i = tracelog_word_slot(text);; i = (i + 1) & (TRACELOG_WORD_SLOTS - 1)) {
        const tracelog_word *w = &tracelog_words[i];
        if (TL_UNLIKELY(w->text == 0))
            return TRACELOG_RECORDS;
        if (TL_LIKELY(w->text == text))
            return (tracelog_record)w->record;
    }
}

#endif
