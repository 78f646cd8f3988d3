/* Functions by address, and safe names. */
#include "format/listing/listing_symbol.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text/number.h"
#include "base/text/utf8.h"

static int by_address(const void *left, const void *right, void *functions)
{
    const tl_function *f = functions;
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    if (f[a].address != f[b].address)
        return f[a].address < f[b].address ? -1 : 1;
    return a < b ? -1 : a > b;
}

bool listing_symbols_init(listing_symbols *s, const tl_trace *t)
{
    *s = (listing_symbols){.trace = t};
    for (uint32_t i = 0; i < t->nfunction; i++)
        s->n += t->function[i].name && t->function[i].size > 0;
    if (s->n == 0)
        return true;
    s->order = tl_alloc(s->n, sizeof *s->order);
    if (!s->order)
        return false;
    s->n = 0;
    for (uint32_t i = 0; i < t->nfunction; i++)
        if (t->function[i].name && t->function[i].size > 0)
            s->order[s->n++] = i;
    qsort_r(s->order, s->n, sizeof *s->order, by_address, t->function);
    return true;
}

void listing_symbols_fini(listing_symbols *s)
{
    free(s->order);
}

/* The function that contains pc, or NULL. */
static const tl_function *find(const listing_symbols *s, uint64_t pc)
{
    uint32_t low = 0, high = s->n;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (s->trace->function[s->order[middle]].address <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    const tl_function *f = low > 0 ? &s->trace->function[s->order[low - 1]] : NULL;
    return f && pc - f->address < f->size ? f : NULL;
}

size_t listing_clean_name(char *out, const char *name, size_t most)
{
    static const char digits[] = "0123456789abcdef";
    const size_t n = strlen(name);
    char *p = out;
    for (size_t i = 0; i < n && i < most;) {
        const uint8_t c = (uint8_t)name[i];
        const size_t length = tl_utf8_shown(name + i, n - i);
        if (length > 0) {
            memcpy(p, name + i, length);
            p += length;
            i += length;
        } else {
            const char escaped[4] = {'\\', 'x', digits[c >> 4], digits[c & 15]};
            memcpy(p, escaped, sizeof escaped);
            p += sizeof escaped;
            i++;
        }
    }
    return (size_t)(p - out);
}

char *listing_put_symbol(const listing_symbols *s, char *p, uint64_t pc)
{
    const tl_function *f = find(s, pc);
    char offset[24] = "+0x", *end = offset, name[LISTING_NAME_BYTES(LISTING_SYMBOL + 1)];
    memset(p, ' ', LISTING_SYMBOL);
    if (!f)
        return p + LISTING_SYMBOL;
    if (pc != f->address)
        end = tl_put_hex(offset + 3, pc - f->address);
    const size_t tail = (size_t)(end - offset), room = LISTING_SYMBOL - tail;
    const size_t whole = listing_clean_name(name, f->name, LISTING_SYMBOL + 1);
    size_t n = whole;
    if (n > room) { /* cut between characters */
        for (n = room - 3; n > 0 && ((uint8_t)name[n] & 0xc0) == 0x80;)
            n--;
        memcpy(p + n, "...", 3);
    }
    memcpy(p, name, n);
    memcpy(p + (whole > room ? n + 3 : n), offset, tail);
    return p + LISTING_SYMBOL;
}
