/* Lists of words in text. */
#ifndef TL_BASE_WORDS_H
#define TL_BASE_WORDS_H

#include <stdio.h>
#include <string.h>

/* The index of a word in a space-separated list, or -1. */
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

/* Adds a word to a list in `buf`, of which *at bytes are used: "a, b" if `between` is ", ". What does not fit is cut.
 */
static inline void tl_words_add(char *buf, size_t size, size_t *at, const char *between, const char *word)
{
    if (*at < size)
        *at += (size_t)snprintf(buf + *at, size - *at, "%s%s", *at ? between : "", word);
}

#endif
