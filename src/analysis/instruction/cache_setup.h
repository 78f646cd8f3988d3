/* Which caches are simulated: their sizes, and their notation. */
#ifndef TL_ANALYSIS_CACHE_SETUP_H
#define TL_ANALYSIS_CACHE_SETUP_H

#include <stdint.h>

#include "traceloom/error.h"

typedef enum tl_cache_id {
    TL_CACHE_L1I,
    TL_CACHE_L1D,
    TL_CACHE_L2,
    TL_CACHE_ITLB,
    TL_CACHE_DTLB,
    TL_CACHE_L2TLB
} tl_cache_id;
#define TL_CACHES ((unsigned)TL_CACHE_L2TLB + 1)

#define TL_CACHE_PAGE_SHIFT 12u        /* of the TLBs */
#define TL_CACHE_LINES_MAX  (1u << 24) /* of one cache: 1 GiB in lines of 64 bytes, and 128 MiB of memory */
#define TL_CACHE_WAYS_MAX   4096u      /* a miss visits all ways of a set */
#define TL_CACHE_LINE_MIN   16u
#define TL_CACHE_LINE_MAX   4096u /* a page: a recently used line of L1 is then on a recently used page */

/* The size of one cache is sets * ways * line. */
typedef struct tl_cache_shape {
    uint32_t sets; /* a power of two; 0: no such cache */
    uint32_t ways;
    uint32_t line; /* bytes: a power of two. Of a TLB: the page */
} tl_cache_shape;

typedef struct tl_cache_setup {
    tl_cache_shape cache[TL_CACHES];
} tl_cache_setup;

/* Like a Neoverse N1: l1i=64K:4:64,l1d=64K:4:64,l2=512K:8:64,itlb=48,dtlb=48,l2tlb=1280:5. */
extern const tl_cache_setup tl_cache_default;

/* Changes what `text` names: NAME=SIZE[:WAYS[:LINE]] with commas between, sizes with K or M for powers of 1024; for a
 * TLB NAME=ENTRIES[:WAYS], without WAYS with only one set. l2=0 and l2tlb=0: none. Ways and lines that are
 * not given stay. Errors: TL_EINVAL with a line about the mistake; *s is then unchanged. */
int tl_cache_setup_parse(tl_cache_setup *s, const char *text, tl_error *e);

#define TL_CACHE_SETUP_TEXT 256u
/* The text that parses to this setup. Returns text. */
char *tl_cache_setup_text(char text[static TL_CACHE_SETUP_TEXT], const tl_cache_setup *s);

/* "L1I", ..., "L2 TLB". */
const char *tl_cache_name(tl_cache_id id);
static inline int tl_cache_is_tlb(tl_cache_id id)
{
    return id >= TL_CACHE_ITLB;
}

#endif
