/* Decodes the body of a .tlp file into a profile. Accepts only the canonical encoding of a profile.
 *
 * The first error ends it: `status` is set and nothing is left to read, so that every further number is 0 and every
 * loop ends.
 * Memory: every count is checked against the remaining bytes, with the least size of an entry, and a histogram takes
 * memory only for its used buckets. So the profile takes at most 64 times the size of the file plus half a megabyte;
 * the worst file that we could make reaches 36 times. */
#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "base/grow.h"
#include "format/tlp/tlp_format.h"
#include "format/tlp/tlp_function.h"
#include "format/tlp/tlp_layout.h"
#include "model/hist_bytes.h"
#include "model/recording.h"

typedef struct decoder {
    const uint8_t *file, *at, *end;
    tl_profile *p;
    tl_error *e;
    int status;
    unsigned flags;
    bool extended;                                /* version 2 ... */
    bool needs_version;                           /* ... and needed for something */
    uint32_t nstring, nfunction, nthread, nplace; /* nplace: including the root of all */
    const char **string;                          /* [nstring + 1], 0: NULL */
    uint8_t *is_used;                             /* [nstring + 1] */
    tl_track *thread;                             /* [nthread] */
    uint32_t *parent;                             /* [nplace] */
    uint32_t *next;                               /* [nplace] least code allowed for the next child */
    tl_hist_pair *pair;                           /* [TL_HIST_BUCKETS] scratch */
} decoder;

/* ---- failing ---- */

/* The text begins with the broken rule. `at`: where. */
TL_COLD static void damaged(decoder *d, const uint8_t *at, const char *format, ...) TL_PRINTF(3, 4);

static void damaged(decoder *d, const uint8_t *at, const char *format, ...)
{
    if (d->status < 0)
        return;
    char text[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    d->status = tl_fail(d->e, TL_EDAMAGED, (uint64_t)(at - d->file), "%s", text);
    d->at = d->end;
}

TL_COLD static void out_of_memory(decoder *d)
{
    if (d->status >= 0)
        d->status =
            tl_fail(d->e, TL_ENOMEM, (uint64_t)(d->at - d->file), "no memory for %" PRIu32 " places", d->nplace);
    d->at = d->end;
}

/* ---- numbers ---- */

TL_COLD static void malformed(decoder *d, const uint8_t *at, tl_varint_fault why, const char *what)
{
    if (why == TL_VARINT_TOO_LARGE)
        damaged(d, at, "tlp.bad-number: %s is larger than 64 bits", what);
    else if (why == TL_VARINT_SUPERFLUOUS)
        damaged(d, at, "tlp.bad-number: %s ends in a superfluous zero byte", what);
    else
        damaged(d, at, "tlp.ended: the body ends inside %s", what);
}

TL_ALWAYS_INLINE uint64_t number(decoder *d, const char *what)
{
    uint64_t v = 0;
    const tl_varint_fault why = tl_varint_read(&d->at, d->end, &v);
    if (TL_UNLIKELY(why != TL_VARINT_FINE))
        malformed(d, d->at, why, what);
    return v;
}

/* A number of entries, each at least `least` of the remaining bytes long. */
static uint32_t count(decoder *d, const char *what, uint32_t least, uint32_t most)
{
    const uint8_t *begin = d->at;
    uint64_t n = number(d, what), left = (uint64_t)(d->end - d->at);
    if (d->status < 0)
        return 0;
    if (n > left / least) {
        damaged(d, begin, "tlp.bad-count: %s is %" PRIu64 ", but only %" PRIu64 " bytes follow", what, n, left);
        return 0;
    }
    if (n > most) {
        damaged(d, begin, "tlp.bad-count: %s is %" PRIu64 ", at most %" PRIu32 " are allowed", what, n, most);
        return 0;
    }
    return (uint32_t)n;
}

/* A reference to a string: its number, 0 for none. */
static uint32_t reference(decoder *d, const char *what)
{
    const uint8_t *begin = d->at;
    uint64_t n = number(d, what);
    if (d->status < 0)
        return 0;
    if (n > d->nstring) {
        damaged(d, begin, "tlp.bad-reference: %s is string %" PRIu64 " of %" PRIu32, what, n, d->nstring);
        return 0;
    }
    d->is_used[n] = 1;
    return (uint32_t)n;
}

/* ---- the parts, in file order ---- */

static void read_counts(decoder *d)
{
    d->nstring = count(d, "the number of strings", TLP_LEAST_STRING, UINT32_MAX - 1);
    const uint32_t least = d->extended ? TLP_LEAST_FUNCTION_SAMPLES : TLP_LEAST_FUNCTION;
    d->nfunction = count(d, "the number of functions", least, UINT32_MAX / 8);
    d->nthread = count(d, "the number of threads", TLP_LEAST_THREAD, TL_PLACES_MAX - 1);
    d->nplace = count(d, "the number of places", TLP_LEAST_PLACE, TL_PLACES_MAX - 1) + 1;
    if (d->status < 0)
        return;
    if (d->nthread && !(d->flags & TLP_PER_THREAD))
        damaged(d, d->at, "tlp.bad-thread: %" PRIu32 " threads, but the flags say one tree of all threads", d->nthread);
    d->string = calloc((size_t)d->nstring + 1, sizeof *d->string);
    d->is_used = calloc((size_t)d->nstring + 1, 1);
    d->thread = calloc((size_t)d->nthread + 1, sizeof *d->thread);
    d->parent = calloc(d->nplace, sizeof *d->parent);
    d->next = calloc(d->nplace, sizeof *d->next);
    d->pair = tl_alloc(TL_HIST_BUCKETS, sizeof *d->pair);
    if (!d->string || !d->is_used || !d->thread || !d->parent || !d->next || !d->pair ||
        !tl_profile_reserve(d->p, d->nplace, d->nfunction))
        out_of_memory(d);
    else if (d->flags & TLP_SAMPLES)
        d->status = tl_profile_make_sampled(d->p, tl_sample_weight, TL_SAMPLE_WEIGHTS, d->e);
}

static void read_strings(decoder *d)
{
    for (uint32_t i = 1; i <= d->nstring; i++) {
        const uint8_t *begin = d->at;
        uint64_t n = number(d, "the length of a string");
        if (d->status < 0)
            return;
        if (n > (uint64_t)(d->end - d->at)) {
            damaged(d, begin, "tlp.bad-string: string %" PRIu32 " has %" PRIu64 " bytes, but only %" PRIu64 " follow",
                    i, n, (uint64_t)(d->end - d->at));
            return;
        }
        if (memchr(d->at, 0, (size_t)n)) {
            damaged(d, begin, "tlp.bad-string: string %" PRIu32 " has a zero byte in it", i);
            return;
        }
        d->string[i] = tl_strings_get(&d->p->strings, (const char *)d->at, (size_t)n);
        d->at += n;
        if (!d->string[i]) {
            out_of_memory(d);
            return;
        }
        if (i > 1 && strcmp(d->string[i - 1], d->string[i]) >= 0) {
            damaged(d, begin, "tlp.bad-order: string %" PRIu32 " does not come after the one before it", i);
            return;
        }
    }
}

static void read_head(decoder *d)
{
    tl_profile *p = d->p;
    p->has_histogram = d->flags & TLP_HISTOGRAM;
    p->per_thread = d->flags & TLP_PER_THREAD;
    p->rescaled = d->flags & TLP_RESCALED;
    p->clock = (tl_clock){.name = d->string[reference(d, "the clock's name")]};
    p->clock.hz = number(d, "the clock's frequency");
    p->clock.has_utc = d->flags & TLP_UTC;
    if (p->clock.has_utc)
        p->clock.utc_offset_ns = tlp_unzigzag(number(d, "the clock's UTC"));
    tl_scale_init(&p->scale, p->clock.hz);
    p->build_id = d->string[reference(d, "the build-id")];
    p->exe = d->string[reference(d, "the program's path")];
    p->unmatched_exits = number(d, "the number of unmatched exits");
    p->unmatched_open = number(d, "the number of unmatched entries");
    p->lost_events = number(d, "the number of lost events");
    p->damaged_bytes = number(d, "the number of damaged bytes");
}

static void read_samples(decoder *d)
{
    tl_profile *p = d->p;
    if (!(d->flags & TLP_SAMPLES))
        return;
    p->samples.counted = number(d, "the number of samples");
    p->samples.empty = number(d, "the number of samples with an empty stack");
    p->samples.paused = number(d, "the number of samples while paused");
    p->has_span = d->flags & TLP_SPAN;
    if (!p->has_span)
        return;
    p->begin = number(d, "the time of the first event");
    const uint8_t *at = d->at;
    const uint64_t span = number(d, "the time between the first and the last event");
    if (span > UINT64_MAX - p->begin)
        damaged(d, at, "tlp.bad-samples: the time of the last event is larger than 64 bits");
    p->end = p->begin + span;
}

static void read_patched(decoder *d)
{
    const uint8_t *begin = d->at;
    if (!(d->flags & TLP_PATCHED))
        return;
    const uint32_t n = count(d, "the number of patched objects", TLP_LEAST_PATCHED, TL_RECORDING_OBJECTS_MAX);
    if (d->status >= 0 && n == 0)
        damaged(d, begin, "tlp.bad-count: the flags say that there are patched objects, but there are none");
    tl_patched *list = d->status >= 0 ? tl_alloc(n, sizeof *list) : NULL;
    for (uint32_t i = 0; list && i < n; i++) {
        list[i].path = d->string[reference(d, "the path of a patched object")];
        list[i].functions = number(d, "a number of functions");
        list[i].patched = number(d, "a number of patched functions");
        list[i].late = number(d, "a number of functions that may end late");
        list[i].why = d->string[reference(d, "why functions are not patched")];
    }
    if (d->status >= 0 && (!list || tl_profile_set_patched(d->p, list, n, NULL) < 0))
        out_of_memory(d);
    free(list);
}

/* The parts of a function that version 2 added. */
static void read_function_rest(decoder *d, tlp_function *f)
{
    f->library = reference(d, "a function's library");
    f->renamed = reference(d, "a function's later name");
    const uint8_t *begin = d->at;
    f->flags = number(d, "a function's flags");
    if (f->flags > TLP_FUNCTION_FLAGS)
        damaged(d, begin, "tlp.bad-function: flags are 0x%" PRIx64 ", only 0x%x are known", f->flags,
                TLP_FUNCTION_FLAGS);
    begin = d->at;
    if (f->flags & TL_FUNCTION_OFFSET)
        f->offset = number(d, "a function's offset");
    if (f->offset > UINT32_MAX)
        damaged(d, begin, "tlp.bad-function: offset %" PRIu64 " is larger than 32 bits", f->offset);
    d->needs_version = d->needs_version || f->library || f->renamed || f->flags;
}

static void read_functions(decoder *d)
{
    tlp_function f, before = {0};
    for (uint32_t i = 0; i < d->nfunction; i++, before = f) {
        const uint8_t *begin = d->at;
        f = (tlp_function){0};
        f.module = reference(d, "a function's module");
        f.id = (int64_t)((uint64_t)before.id + (uint64_t)tlp_unzigzag(number(d, "a function's id")));
        f.name = reference(d, "a function's name");
        f.file = reference(d, "a function's file");
        f.line = number(d, "a function's line");
        f.address = number(d, "a function's address");
        f.linkage_name = reference(d, "a function's linkage name");
        if (d->extended)
            read_function_rest(d, &f);
        if (d->status < 0)
            return;
        if (f.line > UINT32_MAX) {
            damaged(d, begin, "tlp.bad-function: function %" PRIu32 " is in line %" PRIu64 ", which no compiler counts",
                    i, f.line);
            return;
        }
        if (i > 0 && !tlp_function_is_after(&f, &before)) {
            damaged(d, begin, "tlp.bad-order: function %" PRIu32 " does not come after the one before it", i);
            return;
        }
        const tl_function details = tlp_function_details(&f, d->string);
        uint32_t index = tl_profile_add_interned_function(d->p, &details);
        if (index == TL_HASH_NONE) {
            out_of_memory(d);
            return;
        }
        assert(index == i);
    }
}

static void read_threads(decoder *d)
{
    tl_track t, before = {0}; /* without names, which are compared by number */
    uint32_t name, name_before = 0;
    for (uint32_t i = 0; i < d->nthread; i++, before = t, name_before = name) {
        const uint8_t *begin = d->at;
        uint64_t has = number(d, "which ids a thread has");
        if (has > TLP_HAS)
            damaged(d, begin, "tlp.bad-thread: thread %" PRIu32 " has ids %" PRIu64 ", expected 0 to 3", i, has);
        t = (tl_track){.has_pid = has & TLP_HAS_PID, .has_tid = has & TLP_HAS_TID};
        if (t.has_pid)
            t.pid = tlp_unzigzag(number(d, "a process id"));
        if (t.has_tid)
            t.tid = tlp_unzigzag(number(d, "a thread id"));
        name = reference(d, "a thread's name");
        if (d->status < 0)
            return;
        int order = i > 0 ? tl_track_compare(&before, &t) : -1;
        if (order > 0 || (order == 0 && name <= name_before)) {
            damaged(d, begin, "tlp.bad-order: thread %" PRIu32 " does not come after the one before it", i);
            return;
        }
        d->thread[i] = t;
        d->thread[i].name = d->string[name];
    }
}

static void read_parents(decoder *d)
{
    for (uint32_t i = 1; i < d->nplace; i++) {
        const uint8_t *begin = d->at;
        uint64_t up = number(d, "a place's distance to its parent"), left = up;
        uint32_t parent = i - 1;
        for (; left > 0 && parent > 0; left--)
            parent = d->parent[parent];
        if (left > 0)
            damaged(d, begin, "tlp.bad-tree: place %" PRIu32 " goes up %" PRIu64 " levels, but there are only %" PRIu64,
                    i, up, up - left);
        if (d->status < 0)
            return;
        d->parent[i] = parent;
    }
}

static void read_places(decoder *d)
{
    uint32_t threads = 0, ncode = d->nthread + d->nfunction;
    for (uint32_t i = 1; i < d->nplace; i++)
        d->next[i] = d->nthread; /* threads only below the root of all */
    for (uint32_t i = 1; i < d->nplace; i++) {
        const uint8_t *begin = d->at;
        uint32_t parent = d->parent[i], next = d->next[parent], place;
        uint64_t skipped = number(d, "a place's function");
        if (d->status < 0)
            return;
        if (skipped >= ncode - next) {
            damaged(d, begin,
                    "tlp.bad-tree: place %" PRIu32 " skips %" PRIu64 " threads and functions, but %" PRIu32 " are left",
                    i, skipped, ncode - next);
            return;
        }
        uint32_t code = next + (uint32_t)skipped;
        d->next[parent] = code + 1;
        if (code < d->nthread && code != threads) {
            damaged(d, begin, "tlp.bad-tree: place %" PRIu32 " is thread %" PRIu32 ", expected %" PRIu32, i, code,
                    threads);
            return;
        }
        if (code < d->nthread)
            place = tl_profile_interned_thread_root(d->p, &d->thread[threads++]);
        else
            place = tl_profile_append_child(d->p, parent, code - d->nthread);
        if (place == TL_HASH_NONE) {
            out_of_memory(d);
            return;
        }
        assert(place == i);
    }
    if (threads != d->nthread)
        damaged(d, d->at, "tlp.bad-tree: there are %" PRIu32 " threads, but trees of only %" PRIu32, d->nthread,
                threads);
}

static void read_sums(decoder *d)
{
    tl_place_stat *s = d->p->stat;
    for (uint32_t k = 0; k < d->p->nweight; k++)
        for (uint32_t i = 1; i < d->nplace && d->status >= 0; i++)
            d->p->weight_self[(size_t)i * d->p->nweight + k] = number(d, "a weight");
    if (d->p->nweight)
        return;
    for (uint32_t i = 1; i < d->nplace && d->status >= 0; i++)
        s[i].calls = number(d, "a number of calls");
    for (uint32_t i = 1; i < d->nplace && d->status >= 0; i++)
        s[i].total = number(d, "a total time");
    for (uint32_t i = 1; i < d->nplace && d->status >= 0; i++)
        s[i].self = s[i].total - number(d, "a self time");
    for (uint32_t i = 1; i < d->nplace && d->status >= 0; i++)
        s[i].outer = s[i].total - number(d, "an outermost time");
}

static void read_unwound(decoder *d)
{
    uint64_t any = 0;
    for (uint32_t i = 1; d->flags & TLP_UNWOUND && i < d->nplace && d->status >= 0; i++) {
        const uint8_t *begin = d->at;
        const uint64_t n = number(d, "a number of unwound calls"), calls = d->p->stat[i].calls;
        if (n > calls)
            damaged(d, begin, "tlp.bad-unwound: place %" PRIu32 " has %" PRIu64 " of %" PRIu64 " calls", i, n, calls);
        else if (n && !tl_profile_add_unwound(d->p, i, n))
            out_of_memory(d);
        any |= n;
    }
    if (d->flags & TLP_UNWOUND && !any)
        damaged(d, d->at, "tlp.bad-unwound: the flags say that calls were unwound, but none was");
}

static void read_extremes(decoder *d)
{
    tl_place_stat *s = d->p->stat;
    for (uint32_t i = 1; i < d->nplace && d->status >= 0; i++)
        if (s[i].calls)
            s[i].min = s[i].total / s[i].calls - number(d, "a shortest call");
    for (uint32_t i = 1; i < d->nplace && d->status >= 0; i++) {
        const uint8_t *begin = d->at;
        uint64_t above = s[i].calls ? number(d, "a longest call") : 0;
        if (!s[i].calls)
            continue;
        if (above > UINT64_MAX - s[i].min)
            damaged(d, begin, "tlp.bad-histogram: place %" PRIu32 "'s longest call is larger than 64 bits", i);
        s[i].max = s[i].min + above;
    }
}

/* The used buckets of a place, from its shortest to its longest call. */
static void read_buckets(decoder *d, uint32_t place)
{
    tl_place_stat *s = &d->p->stat[place];
    tl_hist_fault fault;
    const int status = tl_hist_get_buckets(&s->hist, s->min, s->max, s->calls, &d->at, d->end, d->pair, &fault);
    if (status < 0)
        out_of_memory(d);
    else if (status == 0 && fault.number)
        malformed(d, fault.at, fault.why, fault.number);
    else if (status == 0)
        damaged(d, fault.at, "tlp.bad-histogram: place %" PRIu32 " %s", place, fault.text);
}

static void read_durations(decoder *d)
{
    read_extremes(d);
    for (uint32_t i = 1; i < d->nplace && d->status >= 0; i++)
        if (d->p->stat[i].calls)
            read_buckets(d, i);
}

static void check_end(decoder *d)
{
    if (d->status >= 0 && d->at != d->end)
        damaged(d, d->at, "tlp.left-over: %" PRIu64 " bytes follow the last number", (uint64_t)(d->end - d->at));
    for (uint32_t i = 1; d->status >= 0 && i <= d->nstring; i++)
        if (!d->is_used[i])
            damaged(d, d->file + TLP_OFFSET_BODY, "tlp.unused-string: nothing refers to string %" PRIu32, i);
}

int tl_tlp_decode(const uint8_t *file, size_t size, tl_profile *p, tl_error *e)
{
    assert(size >= TLP_LEAST && p->nplace == 1 && p->nfunction == 0);
    decoder d = {.file = file, .at = file + TLP_OFFSET_BODY, .end = file + size - TLP_CHECKSUM_BYTES, .p = p, .e = e};
    static void (*const part[])(decoder *) = {read_counts,  read_strings,   read_head,    read_samples,
                                              read_patched, read_functions, read_threads, read_parents,
                                              read_places,  read_sums,      read_unwound};
    d.flags = tl_load16(file + TLP_OFFSET_FLAGS, false);
    d.extended = tl_load16(file + TLP_OFFSET_VERSION, false) >= TLP_VERSION_SAMPLES;
    d.needs_version = d.flags & TLP_NEED_EXTENDED;
    const char *fault = tlp_flags_fault(d.flags, d.extended);
    if (fault)
        damaged(&d, file + TLP_OFFSET_FLAGS, "tlp.bad-flags: flags are 0x%x: %s", d.flags, fault);
    for (size_t i = 0; i < TL_COUNT(part) && d.status >= 0; i++)
        part[i](&d);
    if (d.status >= 0 && p->has_histogram)
        read_durations(&d);
    check_end(&d);
    if (d.status >= 0 && d.extended && !d.needs_version)
        damaged(&d, file + TLP_OFFSET_VERSION, "tlp.bad-version: version 2, but nothing is in it that needs it");
    if (d.status >= 0 && p->nweight)
        d.status = tl_profile_choose_weight(p, NULL, e);
    free(d.string);
    free(d.is_used);
    free(d.thread);
    free(d.parent);
    free(d.next);
    free(d.pair);
    return d.status;
}
