/* Shared by both ways of showing `info`: sums, choices and texts. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/info/verb_info.h"

uint64_t tl_facts_zero(const tl_facts *f)
{
    return tl_trace_clock(f->trace)->from_zero ? 0 : f->count.first;
}

/* Decimals of a second that a clock resolves: three for ms, else nine. */
static int decimals(const tl_clock *clock)
{
    return clock->hz == 1000 && clock->utc_offset_ns % 1000000 == 0 ? 3 : 9;
}

char *tl_utc_text(char *buf, size_t size, const tl_trace *t, uint64_t ticks)
{
    const tl_clock *clock = tl_trace_clock(t);
    const int64_t ns = (int64_t)(tl_trace_time(t, ticks) + (uint64_t)clock->utc_offset_ns);
    int64_t second = ns / 1000000000, rest = ns % 1000000000;
    if (rest < 0) {
        rest += 1000000000;
        second--;
    }
    time_t when = (time_t)second;
    struct tm tm;
    size_t n = 0;
    if ((int64_t)when == second && gmtime_r(&when, &tm))
        n = strftime(buf, size, "%Y-%m-%dT%H:%M:%S", &tm);
    const int places = decimals(clock);
    snprintf(buf + n, size - n, ".%0*" PRId64 "Z", places, places == 3 ? rest / 1000000 : rest);
    return buf;
}

bool tl_info_counts(const tl_arguments *a, const tl_trace *t)
{
    uint64_t begin, end;
    return a->json || a->count || tl_trace_bytes(t) <= TL_INFO_READ_MAX || !tl_trace_range(t, &begin, &end);
}

bool tl_facts_sum_classes(tl_facts *f)
{
    const uint32_t n = tl_trace_classes(f->trace);
    tl_strings names = {0};
    tl_hash known = {0}; /* name and kind -> index */
    bool ok = (f->cls = calloc((size_t)n + 1, sizeof *f->cls)) != NULL;
    for (uint32_t i = 0; ok && i < n; i++) {
        const tl_class *c = tl_trace_class(f->trace, i);
        if (c->kind == TL_FORMAT || f->count.by_class[i] == 0)
            continue;
        const char *name = tl_strings_get(&names, c->name, strlen(c->name)); /* equal names, equal pointers */
        const uint64_t key = (uint64_t)(uintptr_t)name * 16 + (uint64_t)c->kind;
        uint32_t at = tl_hash_get(&known, key);
        if (at == TL_HASH_NONE) {
            at = f->ncls++;
            f->cls[at] = (tl_class_count){.name = c->name, .kind = c->kind};
            ok = name && tl_hash_put(&known, key, at);
        }
        f->cls[at].events += f->count.by_class[i];
    }
    tl_strings_fini(&names);
    tl_hash_fini(&known);
    return ok;
}

void tl_facts_fini(tl_facts *f)
{
    tl_count_free(&f->count);
    free(f->cls);
    f->cls = NULL;
}

bool tl_facts_lists_track(const tl_facts *f, uint32_t track)
{
    return f->not_counted || f->count.by_track[track] || tl_trace_track(f->trace, track)->has_range;
}

const tl_property *tl_facts_property(const tl_facts *f, uint32_t *next, tl_hash *seen)
{
    while (*next < tl_trace_properties(f->trace)) {
        const tl_property *p = tl_trace_property(f->trace, (*next)++);
        const uint64_t key = (uint64_t)(uintptr_t)p->name; /* interned: equal names, equal pointers */
        if (tl_hash_get(seen, key) == TL_HASH_NONE && tl_hash_put(seen, key, 1))
            return p;
    }
    return NULL;
}
