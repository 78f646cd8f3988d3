/* Dictionaries of Parquet. */
#include "base/columnar/parquet_dictionary.h"

#include <stdlib.h>
#include <string.h>

#include "base/endian.h"

void tl_dictionary_fini(tl_dictionary *d)
{
    tl_hash_fini(&d->index);
    free(d->start);
    tl_pb_fini(&d->plain);
    *d = (tl_dictionary){0};
}

static bool is_full(const tl_dictionary *d, uint32_t most, size_t more)
{
    return d->n >= most || d->n >= TL_DICTIONARY_VALUES || d->plain.n + more > TL_DICTIONARY_BYTES;
}

static tl_lookup add_word(tl_dictionary *d, uint64_t word, uint32_t most)
{
    uint8_t bytes[8];
    if (is_full(d, most, sizeof bytes))
        return TL_LOOKUP_FULL;
    tl_store64(bytes, word, false);
    tl_pb_raw(&d->plain, bytes, sizeof bytes);
    if (d->plain.failed || !tl_hash_put(&d->index, word, d->n))
        return TL_LOOKUP_FAILED;
    d->n++;
    return TL_LOOKUP_DONE;
}

tl_lookup tl_dictionary_words(tl_dictionary *d, const uint64_t *word, uint32_t n, uint32_t most, uint32_t *index)
{
    for (uint32_t i = 0; i < n; i++) {
        index[i] = i > 0 && word[i] == word[i - 1] ? index[i - 1] : tl_hash_get(&d->index, word[i]);
        if (TL_LIKELY(index[i] != TL_HASH_NONE))
            continue;
        const tl_lookup status = add_word(d, word[i], most);
        if (status != TL_LOOKUP_DONE)
            return status;
        index[i] = d->n - 1;
    }
    return TL_LOOKUP_DONE;
}

const uint8_t *tl_dictionary_text(const tl_dictionary *d, uint32_t i, uint32_t *n)
{
    const uint8_t *p = d->plain.data + d->start[i];
    *n = tl_load32(p, false);
    return p + sizeof *n;
}

static bool is_same(const tl_dictionary *d, uint32_t i, const uint8_t *text, uint32_t n)
{
    uint32_t size;
    const uint8_t *p = tl_dictionary_text(d, i, &size);
    return size == n && (n == 0 || memcmp(p, text, n) == 0);
}

static tl_lookup add_text(tl_dictionary *d, uint64_t hash, const uint8_t *text, uint32_t n, uint32_t most)
{
    uint8_t size[4];
    if (is_full(d, most, sizeof size + (size_t)n))
        return TL_LOOKUP_FULL;
    if (!TL_GROW(d->start, d->n, 1, d->capacity))
        return TL_LOOKUP_FAILED;
    d->start[d->n] = (uint32_t)d->plain.n;
    tl_store32(size, n, false);
    tl_pb_raw(&d->plain, size, sizeof size);
    tl_pb_raw(&d->plain, text, n);
    if (d->plain.failed || !tl_hash_put(&d->index, hash, d->n))
        return TL_LOOKUP_FAILED;
    d->n++;
    return TL_LOOKUP_DONE;
}

tl_lookup tl_dictionary_texts(tl_dictionary *d, const tl_column_data *c, uint32_t most, uint32_t *index)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < c->rows; i++) {
        uint32_t n;
        const uint8_t *text = tl_column_text(c, i, &n);
        if (c->nulls > 0 && !tl_column_is_valid(c, i))
            continue;
        const uint32_t like = i < c->alikes ? c->alike[i] : k;
        if (like < k || (k > 0 && is_same(d, index[k - 1], text, n))) {
            index[k] = index[like < k ? like : k - 1];
            k++;
            continue;
        }
        const uint64_t hash = tl_hash_bytes(text, n);
        index[k] = tl_hash_get(&d->index, hash);
        if (index[k] == TL_HASH_NONE) {
            const tl_lookup status = add_text(d, hash, text, n, most);
            if (status != TL_LOOKUP_DONE)
                return status;
            index[k] = d->n - 1;
        } else if (!is_same(d, index[k], text, n)) {
            return TL_LOOKUP_FULL; /* another text has that hash */
        }
        k++;
    }
    return TL_LOOKUP_DONE;
}
