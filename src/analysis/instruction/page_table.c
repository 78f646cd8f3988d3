/* Counts pages. An access to the same page as the previous one costs a comparison; most others are found in a small
 * table before the hash. */
#include "analysis/instruction/page_table.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/instruction/insn_access.h"
#include "base/grow.h"

static int fail_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table of pages");
}

static void forget_last(tl_pages *p)
{
    p->last_code.number = p->last_data.number = TL_NO_PAGE;
}

static void forget_recent(tl_pages *p)
{
    forget_last(p);
    for (size_t i = 0; i < TL_COUNT(p->recent); i++)
        p->recent[i].number = TL_NO_PAGE;
}

static int init(void *table, const void *options, tl_error *e)
{
    tl_pages *p = table;
    (void)e;
    p->length = options ? ((const tl_page_options *)options)->interval : 0;
    forget_recent(p);
    return 0;
}

static int begin(void *table, const tl_trace *t, tl_error *e)
{
    tl_pages *p = table;
    (void)e;
    p->trace = t;
    tl_insn_classes_find(&p->classes, t);
    p->first = p->now + 1;
    forget_last(p);
    return 0;
}

/* Index of a page, new or not; TL_HASH_NONE when memory runs out, see fail_pages(). */
static uint32_t find(tl_pages *p, uint64_t number)
{
    const size_t i = (size_t)(number % TL_COUNT(p->recent));
    if (p->recent[i].number == number)
        return p->recent[i].at;
    uint32_t at = tl_hash_get(&p->index, number);
    if (at == TL_HASH_NONE) {
        if (p->n >= TL_PAGES_MAX || !TL_GROW(p->page, p->n, 1, p->capacity) || !tl_hash_put(&p->index, number, p->n))
            return TL_HASH_NONE;
        at = p->n++;
        p->page[at] = (tl_page){.number = number};
    }
    p->recent[i].number = number;
    p->recent[i].at = at;
    return at;
}

static TL_COLD int fail_pages(const tl_pages *p, tl_error *e)
{
    if (p->n < TL_PAGES_MAX)
        return fail_memory(e);
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "more than %u pages are touched: choose a part of the trace",
                   TL_PAGES_MAX);
}

/* Intervals */

static int close_interval(tl_pages *p, tl_error *e)
{
    if (!p->is_open)
        return 0;
    p->is_open = false;
    if (p->nintervals >= TL_PAGE_INTERVALS_MAX)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "there are more than %u intervals: choose longer ones",
                       TL_PAGE_INTERVALS_MAX);
    if (!TL_GROW(p->interval, p->nintervals, 1, p->interval_capacity))
        return fail_memory(e);
    p->interval[p->nintervals++] = p->open;
    return 0;
}

static TL_NOINLINE int next_interval(tl_pages *p, uint64_t ts, uint32_t track, tl_error *e)
{
    const bool other_track = p->is_open && track != p->open_track;
    const tl_track *of = tl_trace_track(p->trace, track);
    const char *name = of && of->name ? of->name : "";
    int status = close_interval(p, e);
    if (status < 0)
        return status;
    name = tl_strings_get(&p->names, name, strlen(name));
    if (!name)
        return fail_memory(e);
    if (p->now == UINT32_MAX) /* merged or not; see TL_PAGE_INTERVALS_MAX */
        return fail_memory(e);
    p->now++;
    if (other_track)
        p->first = p->now;
    p->open = (tl_page_interval){.track = name, .from = ts - ts % p->length, .to = ts};
    p->open_track = track;
    p->is_open = true;
    forget_last(p);
    return 0;
}

/* Records that a page is touched in this interval. */
static bool see(tl_pages *p, uint32_t at, bool code)
{
    if (!TL_GROW_TO(p->seen, p->seen_capacity, at, TL_PAGES_MAX))
        return false;
    tl_page_seen *seen = &p->seen[at];
    if (seen->code < p->first && seen->data < p->first)
        p->open.new_pages++;
    uint32_t *in = code ? &seen->code : &seen->data;
    if (*in != p->now) {
        *in = p->now;
        (code ? &p->open.code_pages : &p->open.data_pages)[0]++;
    }
    return true;
}

/* Accesses */

static TL_NOINLINE int touch(tl_pages *p, tl_insn_what what, uint64_t address, uint64_t size, tl_error *e)
{
    const uint64_t n = tl_access_units(address, size, TL_PAGE_SHIFT);
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t number = tl_access_unit(address, i, TL_PAGE_SHIFT);
        const uint32_t at = find(p, number);
        if (at == TL_HASH_NONE)
            return fail_pages(p, e);
        if (p->length && !see(p, at, what == TL_IS_INSN))
            return fail_memory(e);
        if (what == TL_IS_INSN) {
            p->page[at].code++;
            p->last_code.number = number;
            p->last_code.at = at;
        } else {
            (what == TL_IS_LOAD ? &p->page[at].loads : &p->page[at].stores)[0]++;
            p->last_data.number = number;
            p->last_data.at = at;
        }
    }
    return 0;
}

TL_ALWAYS_INLINE bool is_within(uint64_t address, uint64_t size, uint64_t number)
{
    return address >> TL_PAGE_SHIFT == number && size <= TL_PAGE_BYTES - (address & (TL_PAGE_BYTES - 1));
}

static int events(void *table, const tl_batch *b, uint32_t from, uint32_t to, bool gap, tl_error *e)
{
    tl_pages *p = table;
    int status = 0;
    (void)gap;
    for (uint32_t i = from; i < to && status == 0; i++) {
        const tl_insn_what what = tl_insn_what_is(&p->classes, b->cls[i]);
        const uint64_t address = b->key[i], aux = b->aux[i];
        if (what == TL_IS_OTHER || what > TL_IS_STORE)
            continue;
        if (p->length) {
            if (TL_UNLIKELY(!p->is_open || b->ts[i] - p->open.from >= p->length || b->track[i] != p->open_track))
                status = next_interval(p, b->ts[i], b->track[i], e);
            if (status == 0)
                p->open.to = b->ts[i] < UINT64_MAX ? b->ts[i] + 1 : UINT64_MAX;
            else
                break;
        }
        if (what == TL_IS_INSN) {
            if (TL_LIKELY(is_within(address, TL_INSN_BYTES, p->last_code.number)) && tl_insn_has_pc(aux))
                p->page[p->last_code.at].code++;
            else if (tl_insn_has_pc(aux))
                status = touch(p, what, address, TL_INSN_BYTES, e);
        } else if (TL_LIKELY(is_within(address, aux, p->last_data.number))) {
            tl_page *page = &p->page[p->last_data.at];
            page->loads += what == TL_IS_LOAD;
            page->stores += what == TL_IS_STORE;
        } else {
            status = touch(p, what, address, aux, e);
        }
    }
    return status;
}

static int end(void *table, tl_error *e)
{
    return close_interval(table, e);
}

static int merge(void *into, void *from, tl_error *e)
{
    tl_pages *p = into;
    const tl_pages *o = from;
    for (uint32_t i = 0; i < o->n; i++) {
        const uint32_t at = find(p, o->page[i].number);
        if (at == TL_HASH_NONE)
            return fail_pages(p, e);
        p->page[at].code += o->page[i].code;
        p->page[at].loads += o->page[i].loads;
        p->page[at].stores += o->page[i].stores;
    }
    for (uint32_t i = 0; i < o->nintervals; i++) {
        p->open = o->interval[i];
        p->open.track = tl_strings_get(&p->names, p->open.track, strlen(p->open.track));
        if (!p->open.track)
            return fail_memory(e);
        p->is_open = true;
        const int status = close_interval(p, e);
        if (status < 0)
            return status;
    }
    return 0;
}

static void fini(void *table)
{
    tl_pages *p = table;
    free(p->page);
    free(p->interval);
    free(p->seen);
    tl_hash_fini(&p->index);
    tl_strings_fini(&p->names);
    memset(p, 0, sizeof *p);
}

const tl_insn_table tl_page_table = {
    .size = sizeof(tl_pages), .init = init, .begin = begin, .events = events, .end = end, .merge = merge, .fini = fini};
