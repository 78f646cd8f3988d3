/* The canonical order of a profile's functions, threads and places, independent of how it was made. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/profile_impl.h"
#include "model/string_rank.h"

static int compare_text(const char *a, const char *b)
{
    if (a == b)
        return 0;
    return !a ? -1 : !b ? 1 : strcmp(a, b);
}

/* Ids shown in hexadecimal are unsigned; they come after the others. */
static int compare_ids_of(uint32_t flags_a, int64_t a, uint32_t flags_b, int64_t b)
{
    const bool hex_a = flags_a & TL_FUNCTION_HEX_ID, hex_b = flags_b & TL_FUNCTION_HEX_ID;
    if (hex_a != hex_b)
        return hex_a - hex_b;
    return hex_a ? TL_COMPARE((uint64_t)a, (uint64_t)b) : TL_COMPARE(a, b);
}

static int compare_ids(const tl_track *a, const tl_track *b)
{
    int c = a->has_pid - b->has_pid;
    if (!c && a->has_pid)
        c = TL_COMPARE(a->pid, b->pid);
    if (!c)
        c = a->has_tid - b->has_tid;
    return !c && a->has_tid ? TL_COMPARE(a->tid, b->tid) : c;
}

int tl_track_compare(const tl_track *a, const tl_track *b)
{
    int c = compare_ids(a, b);
    return c ? c : compare_text(a->name, b->name);
}

/* Sort key: strings as ranks, which compare like their text. */
typedef struct function_key {
    int64_t id;
    uint32_t module, name, file, line, library, renamed, offset, flags;
    uint32_t index;
} function_key;

static int compare_functions(const void *x, const void *y)
{
    const function_key *a = x, *b = y;
    int c = TL_COMPARE(a->module, b->module);
    if (!c)
        c = compare_ids_of(a->flags, a->id, b->flags, b->id);
    if (!c)
        c = TL_COMPARE(a->name, b->name);
    if (!c)
        c = TL_COMPARE(a->file, b->file);
    if (!c)
        c = TL_COMPARE(a->line, b->line);
    if (!c)
        c = TL_COMPARE(a->library, b->library);
    if (!c)
        c = TL_COMPARE(a->renamed, b->renamed);
    if (!c)
        c = TL_COMPARE(a->offset, b->offset);
    return c ? c : TL_COMPARE(a->flags, b->flags);
}

int tl_profile_function_order(const tl_profile *p, uint32_t *order, tl_error *e)
{
    tl_string_ranks ranks;
    int status = tl_string_ranks_init(&ranks, p, e);
    if (status < 0)
        return status;
    function_key *k = calloc((size_t)p->nfunction + 1, sizeof *k);
    if (!k) {
        status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to sort %" PRIu32 " functions", p->nfunction);
        goto out;
    }
    for (uint32_t i = 0; i < p->nfunction; i++) {
        const tl_function *f = &p->function[i];
        k[i] = (function_key){.id = f->id, .line = f->line, .offset = f->offset, .flags = f->flags, .index = i};
        k[i].module = tl_string_rank(&ranks, f->module);
        k[i].name = tl_string_rank(&ranks, f->name);
        k[i].file = tl_string_rank(&ranks, f->file);
        k[i].library = tl_string_rank(&ranks, f->library);
        k[i].renamed = tl_string_rank(&ranks, f->renamed);
    }
    qsort(k, p->nfunction, sizeof *k, compare_functions);
    for (uint32_t i = 0; i < p->nfunction; i++)
        order[i] = k[i].index;
out:
    free(k);
    tl_string_ranks_fini(&ranks);
    return status;
}

typedef struct track_key {
    const tl_track *track;
    uint32_t name, index;
} track_key;

static int compare_tracks(const void *x, const void *y)
{
    const track_key *a = x, *b = y;
    int c = compare_ids(a->track, b->track);
    return c ? c : TL_COMPARE(a->name, b->name);
}

int tl_profile_track_order(const tl_profile *p, uint32_t *order, tl_error *e)
{
    tl_string_ranks ranks;
    int status = tl_string_ranks_init(&ranks, p, e);
    if (status < 0)
        return status;
    track_key *k = calloc((size_t)p->ntrack + 1, sizeof *k);
    if (!k) {
        status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to sort %" PRIu32 " threads", p->ntrack);
        goto out;
    }
    for (uint32_t i = 0; i < p->ntrack; i++)
        k[i] = (track_key){.track = &p->track[i], .name = tl_string_rank(&ranks, p->track[i].name), .index = i};
    qsort(k, p->ntrack, sizeof *k, compare_tracks);
    for (uint32_t i = 0; i < p->ntrack; i++)
        order[i] = k[i].index;
out:
    free(k);
    tl_string_ranks_fini(&ranks);
    return status;
}

int tl_profile_depth_first(const tl_profile *p, const uint32_t *sorted, uint32_t *order, tl_error *e)
{
    uint32_t *first = calloc(p->nplace, 2 * sizeof *first); /* first child of each place, 0: none */
    if (!first)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to walk through %" PRIu32 " places", p->nplace);
    uint32_t *next = first + p->nplace; /* next sibling, 0: none */
    for (uint32_t i = p->nplace - 1; i > 0; i--) {
        uint32_t place = sorted[i - 1], parent = p->place[place].parent;
        next[place] = first[parent];
        first[parent] = place;
    }
    uint32_t at = 0;
    for (uint32_t i = 0; i < p->nplace; i++) {
        order[i] = at;
        if (first[at]) {
            at = first[at];
            continue;
        }
        while (at && !next[at])
            at = p->place[at].parent;
        at = next[at];
    }
    free(first);
    return 0;
}

/* Turns an order into ranks: rank[order[i]] = base + i. */
static void rank_of(const uint32_t *order, uint32_t n, uint32_t base, uint32_t *rank)
{
    for (uint32_t i = 0; i < n; i++)
        rank[order[i]] = base + i;
}

/* Sorts places 1 .. nplace-1 by a key below nkey, by counting. */
static void sort_by_key(const tl_profile *p, const uint32_t *track_rank, const uint32_t *function_rank, uint32_t *start,
                        uint32_t nkey, uint32_t *sorted)
{
    for (int fill = 0; fill < 2; fill++) {
        for (uint32_t i = 1; i < p->nplace; i++) {
            const tl_place *at = &p->place[i];
            uint32_t k = at->function == TL_NO_FUNCTION ? track_rank[at->track] : function_rank[at->function];
            if (fill)
                sorted[start[k]++] = i;
            else
                start[k + 1]++;
        }
        for (uint32_t k = 0; !fill && k < nkey; k++)
            start[k + 1] += start[k];
    }
}

int tl_profile_canonical_order(const tl_profile *p, uint32_t *order, tl_error *e)
{
    size_t nkey = (size_t)p->ntrack + p->nfunction, longest = nkey > p->nplace ? nkey : p->nplace;
    int status = TL_ENOMEM;
    uint32_t *rank = calloc(nkey + 1, sizeof *rank), *start = calloc(nkey + 2, sizeof *start);
    uint32_t *sorted = calloc(longest + 1, sizeof *sorted); /* of functions, of tracks, then of places */
    if (!rank || !start || !sorted) {
        tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to sort %" PRIu32 " places", p->nplace);
        goto out;
    }
    status = tl_profile_track_order(p, sorted, e);
    if (status < 0)
        goto out;
    rank_of(sorted, p->ntrack, 0, rank);
    status = tl_profile_function_order(p, sorted, e);
    if (status < 0)
        goto out;
    rank_of(sorted, p->nfunction, p->ntrack, rank + p->ntrack);
    sort_by_key(p, rank, rank + p->ntrack, start, (uint32_t)nkey, sorted);
    status = tl_profile_depth_first(p, sorted, order, e);
out:
    free(rank);
    free(start);
    free(sorted);
    return status;
}
