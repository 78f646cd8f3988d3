/* Reads --cache. */
#include "analysis/instruction/cache_setup.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "base/text/number.h"

#define PAGE      (1u << TL_CACHE_PAGE_SHIFT)
#define PART_MOST 40u /* letters of one part of the text: longer ones are unknown */

const tl_cache_setup tl_cache_default = {.cache = {[TL_CACHE_L1I] = {256, 4, 64},
                                                   [TL_CACHE_L1D] = {256, 4, 64},
                                                   [TL_CACHE_L2] = {1024, 8, 64},
                                                   [TL_CACHE_ITLB] = {1, 48, PAGE},
                                                   [TL_CACHE_DTLB] = {1, 48, PAGE},
                                                   [TL_CACHE_L2TLB] = {256, 5, PAGE}}};

static const char *const name[TL_CACHES] = {"l1i", "l1d", "l2", "itlb", "dtlb", "l2tlb"};

const char *tl_cache_name(tl_cache_id id)
{
    static const char *const title[] = {"L1I", "L1D", "L2", "ITLB", "DTLB", "L2 TLB"};
    return title[id];
}

static bool is_power(uint64_t x)
{
    return x && (x & (x - 1)) == 0;
}

/* "64K" -> 65536. */
static bool parse_size(char *text, uint64_t *out)
{
    const size_t n = strlen(text);
    unsigned shift = 0;
    if (n && (text[n - 1] == 'K' || text[n - 1] == 'k'))
        shift = 10;
    else if (n && (text[n - 1] == 'M' || text[n - 1] == 'm'))
        shift = 20;
    if (shift)
        text[n - 1] = 0;
    if (!tl_parse_u64(text, out) || *out > UINT64_MAX >> shift)
        return false;
    *out <<= shift;
    return true;
}

static int wrong(tl_error *e, const char *part, const char *why)
{
    return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "cache %.40s: %s", part, why);
}

/* size: bytes, or entries of a TLB. */
static int check(tl_cache_shape *c, tl_cache_id id, uint64_t size, uint64_t ways, uint64_t line, const char *part,
                 tl_error *e)
{
    const uint64_t unit = tl_cache_is_tlb(id) ? 1 : line;
    if (size == 0 && (id == TL_CACHE_L2 || id == TL_CACHE_L2TLB)) {
        *c = tl_cache_default.cache[id]; /* the default shape if only a size is given */
        c->sets = 0;
        return 0;
    }
    if (!is_power(line) || line < TL_CACHE_LINE_MIN || line > TL_CACHE_LINE_MAX)
        return wrong(e, part, "a line has a power of two of bytes, 16 to 4096");
    if (size % unit || size / unit == 0 || size / unit > TL_CACHE_LINES_MAX)
        return wrong(e, part, "its size must be 1 to 16777216 whole lines");
    if (ways == 0 || ways > TL_CACHE_WAYS_MAX)
        return wrong(e, part, "it must have 1 to 4096 ways");
    if (size / unit % ways || !is_power(size / unit / ways))
        return wrong(e, part, "the size divided by the ways must be a power of two of lines");
    c->sets = (uint32_t)(size / unit / ways);
    c->ways = (uint32_t)ways;
    c->line = (uint32_t)line;
    return 0;
}

static int parse_part(tl_cache_setup *s, const char *part, tl_error *e)
{
    char text[PART_MOST + 1], *field[3] = {NULL, NULL, NULL};
    uint64_t value[3] = {0};
    unsigned id = 0, n = 0;
    snprintf(text, sizeof text, "%s", part);
    char *at = strchr(text, '=');
    if (!at)
        return wrong(e, part, "expected NAME=SIZE:WAYS:LINE");
    *at++ = 0;
    while (id < TL_CACHES && strcmp(text, name[id]) != 0)
        id++;
    if (id == TL_CACHES)
        return wrong(e, part, "expected one of l1i, l1d, l2, itlb, dtlb, l2tlb");
    const bool tlb = tl_cache_is_tlb((tl_cache_id)id);
    for (; at && n < TL_COUNT(field); n++) {
        field[n] = at;
        at = strchr(at, ':');
        if (at)
            *at++ = 0;
    }
    if (at || (tlb && n > 2))
        return wrong(e, part, tlb ? "a TLB has ENTRIES:WAYS" : "a cache has SIZE:WAYS:LINE");
    for (unsigned i = 0; i < n; i++)
        if (!parse_size(field[i], &value[i]))
            return wrong(e, part, "expected numbers, with or without a suffix K or M");
    tl_cache_shape *c = &s->cache[id];
    const uint64_t ways = n > 1 ? value[1] : tlb ? value[0] : c->ways, line = n > 2 ? value[2] : c->line;
    return check(c, (tl_cache_id)id, value[0], ways, line, part, e);
}

int tl_cache_setup_parse(tl_cache_setup *s, const char *text, tl_error *e)
{
    tl_cache_setup changed = *s;
    char part[PART_MOST + 1];
    for (;; text++) {
        const size_t n = strcspn(text, ",");
        snprintf(part, sizeof part, "%.*s", n < sizeof part ? (int)n : (int)sizeof part - 1, text);
        if (n > PART_MOST)
            return wrong(e, part, "expected NAME=SIZE:WAYS:LINE, separated by commas");
        const int status = parse_part(&changed, part, e);
        if (status < 0)
            return status;
        text += n;
        if (*text != ',')
            break;
    }
    *s = changed;
    return 0;
}

char *tl_cache_setup_text(char text[static TL_CACHE_SETUP_TEXT], const tl_cache_setup *s)
{
    size_t at = 0;
    for (unsigned i = 0; i < TL_CACHES; i++) {
        const tl_cache_shape *c = &s->cache[i];
        const uint64_t lines = (uint64_t)c->sets * c->ways, bytes = lines * c->line;
        char *to = text + at;
        const size_t room = TL_CACHE_SETUP_TEXT - at;
        int n;
        if (!c->sets)
            n = snprintf(to, room, "%s=0,", name[i]);
        else if (tl_cache_is_tlb((tl_cache_id)i) && c->sets == 1)
            n = snprintf(to, room, "%s=%" PRIu64 ",", name[i], lines);
        else if (tl_cache_is_tlb((tl_cache_id)i))
            n = snprintf(to, room, "%s=%" PRIu64 ":%" PRIu32 ",", name[i], lines, c->ways);
        else
            n = snprintf(to, room, "%s=%" PRIu64 "%s:%" PRIu32 ":%" PRIu32 ",", name[i],
                         bytes % 1024 ? bytes : bytes / 1024, bytes % 1024 ? "" : "K", c->ways, c->line);
        at += (size_t)n; /* the longest has 35 bytes */
    }
    text[at - 1] = 0;
    return text;
}
