/* Pages touched by instructions, loads and stores; and how many in each interval of instructions.
 *
 * An access that touches two pages counts in both; one of 32 KiB touches up to nine. Pages are counted over all
 * streams; each track has its own intervals, in which a page is new if the track did not touch it before.
 *
 * Memory: up to 128 bytes per page, at most TL_PAGES_MAX pages; with intervals up to 16 bytes more per page, and 96 per
 * interval, at most TL_PAGE_INTERVALS_MAX. */
#ifndef TL_ANALYSIS_PAGE_TABLE_H
#define TL_ANALYSIS_PAGE_TABLE_H

#include "analysis/instruction/insn_classes.h"
#include "analysis/instruction/insn_pass.h"
#include "base/hash.h"

#define TL_PAGE_SHIFT         12u
#define TL_PAGE_BYTES         (1u << TL_PAGE_SHIFT)
#define TL_PAGES_MAX          (1u << 24) /* 64 GiB in use: more is TL_ENOMEM */
#define TL_PAGE_INTERVALS_MAX (1u << 20) /* more is TL_ENOMEM: unreadable, and a longer interval shows more */

typedef struct tl_page {
    uint64_t number; /* address >> TL_PAGE_SHIFT */
    uint64_t code, loads, stores;
} tl_page;

/* The number of the last interval in which a page was touched; 0: none. */
typedef struct tl_page_seen {
    uint32_t code, data;
} tl_page_seen;

/* Instructions from .. to-1 of a track, by their times. */
typedef struct tl_page_interval {
    const char *track; /* name */
    uint64_t from, to;
    uint64_t code_pages, data_pages; /* distinct ones; a page may be both */
    uint64_t new_pages;
} tl_page_interval;

typedef struct tl_page_options {
    uint64_t interval; /* instructions; 0: no intervals */
} tl_page_options;

typedef struct tl_pages {
    tl_page *page; /* unordered */
    uint32_t n, capacity;
    tl_hash index; /* number -> index in page */
    tl_page_interval *interval;
    uint32_t nintervals, interval_capacity;
    uint64_t length; /* of an interval; 0: no intervals */
    /* State of reading: */
    struct {
        uint64_t number; /* TL_NO_PAGE: none */
        uint32_t at;
    } last_code, last_data, recent[256];
    tl_page_seen *seen; /* [seen_capacity] */
    uint32_t seen_capacity;
    uint32_t now, first;   /* number of the interval, and of the first of its track */
    tl_page_interval open; /* if is_open */
    uint32_t open_track;   /* index */
    bool is_open;
    const tl_trace *trace;
    tl_insn_classes classes;
    tl_strings names;
} tl_pages;

#define TL_NO_PAGE UINT64_MAX /* not the number of a page */

extern const tl_insn_table tl_page_table;

/* Indexes of pages by number, ascending, or, if by_use, most accesses first; the caller frees them. NULL when memory
 * runs out. */
uint32_t *tl_pages_sort(const tl_pages *p, bool by_use);
/* Indexes of intervals by track and time; the same. */
uint32_t *tl_pages_sort_intervals(const tl_pages *p);

/* Contiguous pages. */
typedef struct tl_page_region {
    uint64_t first, pages; /* number of the first */
    uint64_t code, loads, stores;
} tl_page_region;

/* The regions in ascending order; the caller frees them. NULL when memory runs out. */
tl_page_region *tl_pages_regions(const tl_pages *p, uint32_t *n);
/* Sorts them by accesses, descending. */
void tl_page_regions_by_use(tl_page_region *region, uint32_t n);

#endif
