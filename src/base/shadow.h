/* Memory as last seen: bytes by address, each known or not. Pages of 4 KiB, one for each that was touched.
 *
 * Addresses wrap at 2^64. Thread rule: one thread at a time. */
#ifndef TL_BASE_SHADOW_H
#define TL_BASE_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "traceloom/error.h"

#define TL_SHADOW_PAGE 4096u

typedef struct tl_shadow tl_shadow;

/* A page as tl_shadow_next_page() shows it. */
typedef struct tl_shadow_page {
    uint64_t address;                    /* a multiple of TL_SHADOW_PAGE */
    uint8_t data[TL_SHADOW_PAGE];        /* 0 if unknown */
    uint64_t known[TL_SHADOW_PAGE / 64]; /* a bit for each byte */
} tl_shadow_page;

/* Empty memory, owned by the caller: tl_shadow_free(). Errors: TL_ENOMEM. */
int tl_shadow_new(tl_shadow **out, tl_error *e);
void tl_shadow_free(tl_shadow *s); /* NULL is fine */

/* Makes these bytes known, whatever was known before. Errors: TL_ENOMEM. */
int tl_shadow_set(tl_shadow *s, uint64_t address, const void *data, size_t n, tl_error *e);
/* The same, but only for bytes that are not known yet. */
int tl_shadow_fill(tl_shadow *s, uint64_t address, const void *data, size_t n, tl_error *e);
/* The index of the first of n bytes that is known to be different; n if none. */
size_t tl_shadow_differs(const tl_shadow *s, uint64_t address, const void *data, size_t n);
/* Copies bytes up to the first unknown one; returns how many. */
size_t tl_shadow_get(const tl_shadow *s, uint64_t address, void *data, size_t n);
/* Is any of n bytes known? */
bool tl_shadow_knows_any(const tl_shadow *s, uint64_t address, size_t n);
/* Makes n bytes unknown. */
void tl_shadow_forget(tl_shadow *s, uint64_t address, size_t n);
/* Makes everything unknown, at the same cost however many pages there are. */
void tl_shadow_clear(tl_shadow *s);

/* The page with the lowest address >= `from` that has a known byte; NULL if none. Valid until the next change. The
 * first call after a change is slower: it sorts. */
const tl_shadow_page *tl_shadow_next_page(tl_shadow *s, uint64_t from);
/* Number of pages that hold memory. */
size_t tl_shadow_pages(const tl_shadow *s);

#endif
