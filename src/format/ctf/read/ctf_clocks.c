/* Maps the clocks of all units to one, that of the trace.
 *
 * If all have the same frequency, ticks stay as they are, and count from the earliest of their offsets. Clocks of
 * different frequencies are mapped to one of nanoseconds. Differences are exact; those that do not fit into 64 bits
 * wrap, everywhere in the same way. */
#include <stdlib.h>

#include "base/text/same_text.h"
#include "format/ctf/read/ctf_reader.h"
#include "format/ctf/read/ctf_wide.h"

#define NS_PER_S 1000000000u

/* The value 0 of a clock, since the origin: whole ns, and the remainder in 1 / hz ns. */
typedef struct offset {
    ctf_wide whole;
    uint64_t rest;
} offset;

/* Common properties of the clocks of all files that have one. */
typedef struct common {
    uint64_t hz; /* of the first */
    const char *name;
    bool any, same_hz, same_name, all_unix;
    ctf_wide cycles; /* the earliest offset from the origin, ... */
    offset ns;       /* ... and the same in ns */
} common;

/* The value 0 of a clock, in its own cycles since the origin. */
static ctf_wide offset_cycles(const ctf_clock *c)
{
    return ctf_wide_add(ctf_wide_multiply(c->offset_s, c->hz), ctf_wide_of(c->offset));
}

static offset offset_ns(const ctf_clock *c)
{
    const uint64_t m = c->offset < 0 ? 0 - (uint64_t)c->offset : (uint64_t)c->offset;
    uint64_t whole = m / c->hz, rest = m % c->hz;
    if (c->offset < 0) {
        whole = 0 - whole - (rest > 0);
        rest = rest ? c->hz - rest : 0;
    }
    tl_scale scale;
    tl_scale_init(&scale, c->hz);
    const ctf_wide seconds =
        ctf_wide_add(ctf_wide_multiply(c->offset_s, NS_PER_S), ctf_wide_multiply((int64_t)whole, NS_PER_S));
    const uint64_t ns = tl_scale_ns_down(&scale, rest, 0);
    return (offset){ctf_wide_add(seconds, (ctf_wide){0, ns}), rest * NS_PER_S - ns * c->hz};
}

static void add_clock(common *all, const ctf_clock *c)
{
    const ctf_wide cycles = offset_cycles(c);
    const offset ns = offset_ns(c);
    if (!all->any)
        *all = (common){.hz = c->hz,
                        .name = c->name,
                        .any = true,
                        .same_hz = true,
                        .same_name = true,
                        .all_unix = true,
                        .cycles = cycles,
                        .ns = ns};
    all->same_hz = all->same_hz && all->hz == c->hz;
    all->same_name = all->same_name && tl_same_text(all->name, c->name);
    all->all_unix = all->all_unix && c->is_unix;
    if (ctf_wide_less(cycles, all->cycles))
        all->cycles = cycles;
    if (ctf_wide_less(ns.whole, all->ns.whole) || (!ctf_wide_less(all->ns.whole, ns.whole) && ns.rest < all->ns.rest))
        all->ns = ns; /* remainders are only comparable at the same frequency: otherwise they are dropped */
}

static ctf_time time_of(const common *all, const ctf_clock *c)
{
    ctf_time t = {.scaled = !all->same_hz};
    tl_scale_init(&t.scale, c->hz);
    const offset ns = offset_ns(c);
    t.rest = ns.rest;
    t.shift = all->same_hz ? ctf_wide_subtract(offset_cycles(c), all->cycles).low
                           : ctf_wide_subtract(ns.whole, all->ns.whole).low;
    return t;
}

/* Whether any file belongs to each unit: unused clocks do not count. */
static bool *find_used(const ctf_reader *r)
{
    bool *used = calloc((size_t)r->nunit + 1, sizeof *used);
    for (uint32_t i = 0; used && i < r->nfile; i++)
        used[r->file[i].unit - r->unit] = true;
    return used;
}

static int set_clock(tl_trace *t, const common *all, tl_error *e)
{
    if (!all->any) /* no event has a time: the clock keeps counting ticks */
        return 0;
    const char *name = all->same_name && all->name ? tl_trace_intern(t, all->name) : NULL;
    if (all->same_name && all->name && !name)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the clock");
    tl_trace_set_clock(t, name, all->same_hz ? all->hz : NS_PER_S);
    t->origin.known = ctf_wide_fits(all->ns.whole);
    t->origin.ns = t->origin.known ? (int64_t)all->ns.whole.low : 0;
    t->origin.rest = all->same_hz ? all->ns.rest : 0;
    t->clock.has_utc = all->all_unix && t->origin.known;
    t->clock.utc_offset_ns = t->clock.has_utc ? t->origin.ns : 0;
    return 0;
}

int ctf_clocks_open(ctf_reader *r, tl_error *e)
{
    common all = {0};
    bool *used = find_used(r);
    if (!used)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the clocks");
    for (uint32_t i = 0; i < r->nunit; i++)
        for (uint32_t k = 0; used[i] && k < r->unit[i].schema.nstream; k++)
            if (ctf_unit_clock(&r->unit[i], k))
                add_clock(&all, ctf_unit_clock(&r->unit[i], k));
    int status = set_clock(r->trace, &all, e);
    ctf_time **time = calloc((size_t)r->nunit + 1, sizeof *time); /* of each unit */
    for (uint32_t i = 0; status == 0 && time && i < r->nunit; i++) {
        const uint32_t n = used[i] ? r->unit[i].schema.nstream : 0;
        time[i] = tl_arena_zalloc(&r->arena, ((size_t)n + 1) * sizeof **time);
        for (uint32_t k = 0; time[i] && k < n; k++)
            if (ctf_unit_clock(&r->unit[i], k))
                time[i][k] = time_of(&all, ctf_unit_clock(&r->unit[i], k));
        if (!time[i])
            status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the clocks");
    }
    if (status == 0 && !time)
        status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the clocks");
    for (uint32_t i = 0; status == 0 && i < r->nfile; i++)
        r->file[i].time = time[r->file[i].unit - r->unit];
    free(time);
    free(used);
    return status;
}
