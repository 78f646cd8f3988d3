/* Pages of a table sorted, and as regions. */
#include <stdlib.h>
#include <string.h>

#include "analysis/instruction/page_table.h"
#include "base/grow.h"

/* Sort keys: qsort() passes no argument for the table. */
typedef struct page_key {
    uint64_t use, number;
    uint32_t at;
} page_key;

typedef struct interval_key {
    const tl_page_interval *interval;
    uint32_t at;
} interval_key;

static int compare_pages(const void *left, const void *right)
{
    const page_key *a = left, *b = right;
    const int order = TL_COMPARE(b->use, a->use);
    return order ? order : TL_COMPARE(a->number, b->number);
}

uint32_t *tl_pages_sort(const tl_pages *p, bool by_use)
{
    page_key *key = tl_alloc(p->n + (size_t)1, sizeof *key);
    uint32_t *index = tl_alloc(p->n + (size_t)1, sizeof *index);
    if (!key || !index) {
        free(key);
        free(index);
        return NULL;
    }
    for (uint32_t i = 0; i < p->n; i++) {
        const tl_page *page = &p->page[i];
        key[i] = (page_key){.number = page->number, .at = i};
        key[i].use = by_use ? page->code + page->loads + page->stores : 0;
    }
    qsort(key, p->n, sizeof *key, compare_pages);
    for (uint32_t i = 0; i < p->n; i++)
        index[i] = key[i].at;
    free(key);
    return index;
}

/* Sorts names that are numbers as numbers. */
static int compare_names(const char *a, const char *b)
{
    const size_t m = strlen(a), n = strlen(b);
    if (m != n && a[strspn(a, "0123456789")] == 0 && b[strspn(b, "0123456789")] == 0)
        return m < n ? -1 : 1;
    return strcmp(a, b);
}

/* Two inputs may have tracks of one name: all members count, so that the order does not depend on the readers. */
static int compare_intervals(const void *left, const void *right)
{
    const tl_page_interval *a = ((const interval_key *)left)->interval, *b = ((const interval_key *)right)->interval;
    const uint64_t one[] = {a->from, a->to, a->code_pages, a->data_pages, a->new_pages};
    const uint64_t other[] = {b->from, b->to, b->code_pages, b->data_pages, b->new_pages};
    int order = compare_names(a->track, b->track);
    for (size_t i = 0; order == 0 && i < TL_COUNT(one); i++)
        order = TL_COMPARE(one[i], other[i]);
    return order;
}

uint32_t *tl_pages_sort_intervals(const tl_pages *p)
{
    interval_key *key = tl_alloc(p->nintervals + (size_t)1, sizeof *key);
    uint32_t *index = tl_alloc(p->nintervals + (size_t)1, sizeof *index);
    if (!key || !index) {
        free(key);
        free(index);
        return NULL;
    }
    for (uint32_t i = 0; i < p->nintervals; i++)
        key[i] = (interval_key){.interval = &p->interval[i], .at = i};
    qsort(key, p->nintervals, sizeof *key, compare_intervals);
    for (uint32_t i = 0; i < p->nintervals; i++)
        index[i] = key[i].at;
    free(key);
    return index;
}

tl_page_region *tl_pages_regions(const tl_pages *p, uint32_t *n)
{
    uint32_t *index = tl_pages_sort(p, false);
    tl_page_region *region = tl_alloc(p->n + (size_t)1, sizeof *region), *last = NULL;
    if (!index || !region) {
        free(index);
        free(region);
        return NULL;
    }
    *n = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        const tl_page *page = &p->page[index[i]];
        if (!last || page->number != last->first + last->pages) {
            last = &region[(*n)++];
            *last = (tl_page_region){.first = page->number};
        }
        last->pages++;
        last->code += page->code;
        last->loads += page->loads;
        last->stores += page->stores;
    }
    free(index);
    return region;
}

static int compare_regions(const void *left, const void *right)
{
    const tl_page_region *a = left, *b = right;
    const int order = TL_COMPARE(b->code + b->loads + b->stores, a->code + a->loads + a->stores);
    return order ? order : TL_COMPARE(a->first, b->first);
}

void tl_page_regions_by_use(tl_page_region *region, uint32_t n)
{
    qsort(region, n, sizeof *region, compare_regions);
}
