/* Space-separated lists of words. */
#ifndef TL_BASE_WORDS_H
#define TL_BASE_WORDS_H

#include <string.h>

/* The index of a word in such a list, or -1. */
static inline int tl_word_place(const char *word, const char *list)
{
    size_t length = strlen(word);
    for (int place = 0; *list; place++) {
        size_t n = strcspn(list, " ");
        if (n == length && memcmp(word, list, n) == 0)
            return place;
        list += n + (list[n] == ' ');
    }
    return -1;
}

#endif
