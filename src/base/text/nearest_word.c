/* Finds the word meant by a mistyped one. */
#include "base/text/nearest_word.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

/* How many letters must be changed, inserted, deleted or swapped with their neighbour to turn a into b. */
static unsigned distance(const char *a, const char *b)
{
    size_t m = strlen(a), n = strlen(b);
    if (m > TL_WORD_MAX || n > TL_WORD_MAX)
        return UINT_MAX;
    unsigned row[3][TL_WORD_MAX + 1]; /* of the table: two rows ago, previous, current */
    for (size_t j = 0; j <= n; j++)
        row[1][j] = (unsigned)j;
    for (size_t i = 1; i <= m; i++) {
        row[2][0] = (unsigned)i;
        for (size_t j = 1; j <= n; j++) {
            unsigned best = row[1][j - 1] + (a[i - 1] != b[j - 1]);
            if (row[1][j] + 1 < best)
                best = row[1][j] + 1;
            if (row[2][j - 1] + 1 < best)
                best = row[2][j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && row[0][j - 2] + 1 < best)
                best = row[0][j - 2] + 1;
            row[2][j] = best;
        }
        memcpy(row[0], row[1], sizeof row[0]);
        memcpy(row[1], row[2], sizeof row[1]);
    }
    return row[1][n];
}

const char *tl_nearest(const char *word, const char *const *candidate, size_t n)
{
    const char *best = NULL;
    unsigned least = (unsigned)strlen(word) / 3 + 1; /* more than a third wrong is another word */
    for (size_t i = 0; i < n; i++) {
        unsigned d = distance(word, candidate[i]);
        size_t length = strlen(word);
        if (d > 1 && length >= 3 && strncmp(word, candidate[i], length) == 0)
            d = 1; /* a prefix of a longer word */
        if (d < least || (d == least && !best)) {
            least = d;
            best = candidate[i];
        }
    }
    return best;
}
