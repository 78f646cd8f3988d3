/* Writing profiles for pprof: a gzip-compressed protocol buffer, perftools.profiles.Profile.
 *
 *   Profile   1 sample_type*   ValueType {1 type, 2 unit}
 *             2 sample*        Sample {1 location ids, leaf first; 2 values; 3 label*}
 *                              Label {1 key, 2 text | 3 number, 4 its unit}
 *             3 mapping*       Mapping {1 id, 5 file, 6 build-id, 7 8 9 names, files and lines are here already}
 *             4 location*      Location {1 id, 2 mapping, 3 address, 4 Line {1 function, 2 line}}
 *             5 function*      Function {1 id, 2 name, 3 linkage name, 4 file, 5 line}
 *             6 string*        every text above is a number in this table; number 0 is ""
 *             9 time_nanos, 10 duration_nanos, 11 period_type, 12 period, 13 comment*, 14 default_sample_type
 *
 * Values are calls/count and time/nanoseconds (self time). A stack becomes one sample for each bucket of its latencies,
 * labelled with the bucket's latency; the stack's self time is shared out among them in proportion to calls * latency,
 * each share rounded down and the rest given to the longest, so that the sums are exact. A function is one location.
 * period_type is always the same: pprof compares only profiles in which it is.
 *
 * Of a profile of samples the values are its weights, a stack is one sample, and the functions of the profile, which
 * may be told apart by their line, are locations: those that are the same but for the line are one function. */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/protobuf.h"
#include "base/text/utf8.h"
#include "format/pprof/pprof_values.h"
#include "model/format_impl.h"
#include "model/place_tree.h"
#include "model/profile_words.h"

enum {
    FLUSH_AT = 32 << 10,
    /* Binary digits of latencies, so that a bucket's middle is within 0.8 % of every value in it. The profile's own
     * buckets are finer, but every sample repeats its whole stack. */
    DIGITS = 7,
    BUCKETS_MAX = (64 - DIGITS + 2) << (DIGITS - 1)
};

typedef struct bucket {
    uint64_t calls, middle; /* ticks */
} bucket;

typedef struct pprof {
    const tl_profile *p;
    tl_output *out;
    tl_pb pb;
    const char *ticks; /* unit of times: "nanoseconds" or "ticks" */
    pprof_values values;

    tl_strings strings;
    tl_hash string_index; /* address of an interned string -> number */
    const char **string;
    uint32_t nstring, string_capacity;
    bool failed; /* memory ran out */

    uint64_t latency, thread, unit; /* string numbers of label keys and of the unit of times */

    uint32_t *order, *rank; /* canonical order of functions; [function] -> place in it */
    uint64_t *location;     /* of the current stack, leaf first */
    bucket *bucket;         /* of the current place */
    uint64_t cut;
} pprof;

/* Clearing the buffer would lose a failure: checks for it first. */
static void flush(pprof *w)
{
    w->failed = w->failed || w->pb.failed;
    if (w->pb.n > 0)
        tl_output_write(w->out, w->pb.data, w->pb.n);
    tl_pb_clear(&w->pb);
}

/* The number of a text in the string table, which must be UTF-8. NULL is "". */
static uint64_t string(pprof *w, const char *s)
{
    const size_t n = s ? strlen(s) : 0;
    char *repaired = tl_alloc(n + 1, 2);
    const char *text = repaired ? tl_strings_get(&w->strings, repaired, tl_utf8_repair(repaired, s ? s : "", n)) : NULL;
    free(repaired);
    if (!text) {
        w->failed = true;
        return 0;
    }
    uint32_t index = tl_hash_get(&w->string_index, (uintptr_t)text);
    if (index != TL_HASH_NONE)
        return index;
    if (!TL_GROW(w->string, w->nstring, 1, w->string_capacity)) {
        w->failed = true;
        return 0;
    }
    if (!tl_hash_put(&w->string_index, (uintptr_t)text, w->nstring)) {
        w->failed = true;
        return 0;
    }
    w->string[w->nstring] = text;
    return w->nstring++;
}

static void put_value_type(pprof *w, unsigned field, const char *type, const char *unit)
{
    uint64_t type_number = string(w, type), unit_number = string(w, unit);
    size_t at = tl_pb_begin(&w->pb, field);
    tl_pb_u64(&w->pb, 1, type_number);
    tl_pb_u64(&w->pb, 2, unit_number);
    tl_pb_end(&w->pb, at);
}

static void put_head(pprof *w, const char *title)
{
    const pprof_values *v = &w->values;
    string(w, ""); /* number 0 */
    for (uint32_t i = 0; i < v->n; i++)
        put_value_type(w, 1, v->name[i], v->unit[i]);
    if (v->begin)
        tl_pb_u64(&w->pb, 9, v->begin);
    if (v->duration)
        tl_pb_u64(&w->pb, 10, v->duration);
    if (strcmp(v->shown, "instructions") == 0)
        put_value_type(w, 11, v->shown, "count");
    else
        put_value_type(w, 11, "time", "nanoseconds");
    tl_pb_u64(&w->pb, 12, v->period);
    if (title)
        tl_pb_u64(&w->pb, 13, string(w, title));
    tl_pb_u64(&w->pb, 14, string(w, v->shown));
    w->latency = string(w, "latency");
    w->thread = string(w, "thread");
    w->unit = string(w, w->ticks);
}

static void put_mapping(pprof *w, uint64_t id, const char *file, const char *build_id)
{
    uint64_t file_number = string(w, file), build_number = string(w, build_id);
    size_t at = tl_pb_begin(&w->pb, 3);
    tl_pb_u64(&w->pb, 1, id);
    tl_pb_u64(&w->pb, 5, file_number);
    tl_pb_u64(&w->pb, 6, build_number);
    for (unsigned known = 7; known <= 9; known++)
        tl_pb_u64(&w->pb, known, true);
    tl_pb_end(&w->pb, at);
}

/* file: its file; for samples f->line is that of a location in it, not the begin of the function. */
static void put_function(pprof *w, const tl_function *f, uint64_t id, const char *in_file)
{
    char label[24];
    const char *shown = tl_function_label(f, label);
    uint64_t name = string(w, shown), linkage = string(w, f->linkage_name ? f->linkage_name : shown);
    uint64_t file = string(w, in_file);

    size_t at = tl_pb_begin(&w->pb, 5);
    tl_pb_u64(&w->pb, 1, id);
    tl_pb_u64(&w->pb, 2, name);
    tl_pb_u64(&w->pb, 3, linkage);
    tl_pb_u64(&w->pb, 4, file);
    tl_pb_u64(&w->pb, 5, w->p->nweight ? 0 : f->line);
    tl_pb_end(&w->pb, at);
}

static void put_location(pprof *w, const tl_function *f, uint64_t id, uint64_t function, uint64_t mapping)
{
    size_t at = tl_pb_begin(&w->pb, 4);
    tl_pb_u64(&w->pb, 1, id);
    tl_pb_u64(&w->pb, 2, mapping);
    tl_pb_u64(&w->pb, 3, f->address);
    size_t line = tl_pb_begin(&w->pb, 4);
    tl_pb_u64(&w->pb, 1, function);
    tl_pb_u64(&w->pb, 2, f->line);
    tl_pb_end(&w->pb, line);
    tl_pb_end(&w->pb, at);
}

/* One mapping is for the traced program; functions of other modules have one each, named by the library or else the
 * build-id. `mapping`: address of the interned name -> mapping id. */
static uint32_t find_mapping(pprof *w, const tl_function *f, tl_hash *mapping, uint32_t *nmapping)
{
    const char *name = f->library ? f->library : f->module;
    if (!name || (!f->library && w->p->build_id && strcmp(f->module, w->p->build_id) == 0))
        return 1;
    uint32_t id = tl_hash_get(mapping, (uintptr_t)name);
    if (id == TL_HASH_NONE) {
        id = ++*nmapping;
        put_mapping(w, id, name, f->module);
        if (!tl_hash_put(mapping, (uintptr_t)name, id))
            w->failed = true;
    }
    return id;
}

static int put_functions(pprof *w, tl_error *e)
{
    const tl_profile *p = w->p;
    tl_hash mapping = {0};
    uint32_t nmapping = 1;
    uint64_t function = 0; /* id of the current one; for calls equal to the location's */
    int status = tl_profile_function_order(p, w->order, e);
    put_mapping(w, 1, p->exe ? p->exe : "traceloom", p->build_id);
    for (uint32_t i = 0; status >= 0 && i < p->nfunction; i++) {
        const tl_function *f = &p->function[w->order[i]];
        w->rank[w->order[i]] = i;
        const uint32_t id = find_mapping(w, f, &mapping, &nmapping);
        if (i == 0 || !pprof_same_function(p, &p->function[w->order[i - 1]], f))
            put_function(w, f, ++function, pprof_function_file(p, w->order, i));
        put_location(w, f, (uint64_t)i + 1, function, id);
        if (w->pb.n > FLUSH_AT)
            flush(w);
    }
    tl_hash_fini(&mapping);
    return status < 0 ? status : 0;
}

/* One sample of the current stack. latency: in its unit, or NULL; thread: string number, 0 for none. */
static void put_sample(pprof *w, uint32_t frames, const uint64_t *value, const uint64_t *latency, uint64_t thread)
{
    size_t sample = tl_pb_begin(&w->pb, 2);
    tl_pb_packed(&w->pb, 1, w->location, frames);
    tl_pb_packed(&w->pb, 2, value, w->values.n);
    if (latency) {
        size_t label = tl_pb_begin(&w->pb, 3);
        tl_pb_u64(&w->pb, 1, w->latency);
        tl_pb_u64(&w->pb, 3, *latency);
        tl_pb_u64(&w->pb, 4, w->unit);
        tl_pb_end(&w->pb, label);
    }
    if (thread) {
        size_t label = tl_pb_begin(&w->pb, 3);
        tl_pb_u64(&w->pb, 1, w->thread);
        tl_pb_u64(&w->pb, 2, thread);
        tl_pb_end(&w->pb, label);
    }
    tl_pb_end(&w->pb, sample);
    if (w->pb.n > FLUSH_AT)
        flush(w);
}

static unsigned bits_of(uint64_t v)
{
    return v ? 64u - (unsigned)__builtin_clzll(v) : 0;
}

/* The weight of a bucket, calls * middle, is below 2 to this power. */
static unsigned weight_bits(const bucket *b)
{
    return bits_of(b->calls) + bits_of(b->middle);
}

/* Weights are scaled down by one power of two to this size, so that their sum fits 32 bits. Integers only: every host
 * gets the same shares. */
enum { WEIGHT_BITS = 20 };
_Static_assert(BUCKETS_MAX <= 1 << (32 - WEIGHT_BITS), "the weights of all buckets must fit 32 bits together");

/* calls * middle / 2^shift, rounded down; bits beyond 64 are first removed from the larger factor, except its last
 * one. */
static uint64_t weight(const bucket *b, unsigned shift)
{
    uint64_t large = b->calls > b->middle ? b->calls : b->middle, small = b->calls > b->middle ? b->middle : b->calls;
    unsigned bits = weight_bits(b), before = bits == 128 ? 63 : bits > 64 ? bits - 64 : 0;
    unsigned after = shift - before; /* shift >= bits - WEIGHT_BITS > before */
    return after < 64 ? ((large >> before) * small) >> after : 0;
}

/* time * part / sum, rounded down, at most one too small; part has WEIGHT_BITS, sum 32 bits. */
static uint64_t share(uint64_t time, uint64_t part, uint64_t sum)
{
    uint64_t high = (time >> 32) * part, low = (time & UINT32_MAX) * part;
    return ((high / sum) << 32) + ((high % sum) << 32) / sum + low / sum;
}

typedef struct buckets {
    uint32_t n;      /* of w->bucket */
    unsigned shift;  /* for weight() */
    uint64_t weight; /* sum */
    uint64_t calls;  /* sum */
} buckets;

/* The middle of a duration's bucket. */
static uint64_t latency_of(uint64_t ticks)
{
    const unsigned bits = bits_of(ticks), spare = bits > DIGITS ? bits - DIGITS : 0;
    return (ticks >> spare << spare) + ((UINT64_C(1) << spare) - 1) / 2;
}

static buckets find_buckets(pprof *w, const tl_hist *h)
{
    buckets all = {0};
    unsigned widest = 0;
    tl_hist_pair pair;
    for (uint32_t at = 0; tl_hist_each(h, &at, &pair);) {
        const uint64_t middle = latency_of(tl_hist_low(pair.bucket)), calls = pair.count;
        bucket *last = all.n > 0 ? &w->bucket[all.n - 1] : NULL;
        if (last && last->middle == middle)
            last->calls = tl_add_saturated(last->calls, calls);
        else
            w->bucket[all.n++] = (bucket){calls, middle};
        all.calls = tl_add_saturated(all.calls, calls);
    }
    for (uint32_t i = 0; i < all.n; i++)
        if (weight_bits(&w->bucket[i]) > widest)
            widest = weight_bits(&w->bucket[i]);
    all.shift = widest > WEIGHT_BITS ? widest - WEIGHT_BITS : 0;
    for (uint32_t i = 0; i < all.n; i++)
        all.weight += weight(&w->bucket[i], all.shift);
    return all;
}

static void put_place(pprof *w, uint32_t place, uint32_t frames, uint64_t thread)
{
    const tl_place_stat *stat = &w->p->stat[place];
    if (w->p->nweight) {
        uint64_t value[TL_SAMPLE_WEIGHTS];
        pprof_place_values(&w->values, w->p, place, value);
        put_sample(w, frames, value, NULL, thread);
        return;
    }
    const buckets all = w->p->has_histogram ? find_buckets(w, &stat->hist) : (buckets){0};
    const uint64_t time = tl_profile_time(w->p, stat->self);
    uint64_t left = time;
    for (uint32_t i = 0; i < all.n; i++) {
        const bucket *b = &w->bucket[i];
        uint64_t part = left; /* of the last one */
        if (i + 1 < all.n)
            part = share(time, weight(b, all.shift), all.weight); /* one of several has a weight */
        left -= part;
        uint64_t latency = tl_profile_time(w->p, b->middle);
        put_sample(w, frames, (uint64_t[]){b->calls, part}, &latency, thread);
    }
    /* Calls of unknown duration: all in a profile without histograms, some in a merged one. */
    const uint64_t others = stat->calls > all.calls ? stat->calls - all.calls : 0;
    if (others > 0 || all.n == 0)
        put_sample(w, frames, (uint64_t[]){others, left}, NULL, thread);
}

static uint64_t samples(const tl_profile *p, uint32_t place)
{
    if (!tl_place_is_used(p, place))
        return 0;
    uint64_t n = 0, last = UINT64_MAX;
    const tl_hist *h = &p->stat[place].hist;
    tl_hist_pair pair;
    for (uint32_t at = 0; p->has_histogram && tl_hist_each(h, &at, &pair);) {
        const uint64_t middle = latency_of(tl_hist_low(pair.bucket));
        n += middle != last;
        last = middle;
    }
    return n > 0 ? n : 1;
}

static int put_samples(pprof *w, const tl_place_tree *tree, tl_error *e)
{
    uint32_t longest, track = TL_NO_TRACK;
    uint64_t thread = 0;
    tl_place_walk walk = {0};
    int status = tl_place_tree_longest(tree, samples, TL_STACK_FRAMES_MAX, &longest, e);
    if (status >= 0)
        status = tl_place_walk_init(&walk, tree, e);
    while (status >= 0 && tl_place_walk_next(&walk)) {
        if (walk.leaving || !tl_place_is_used(w->p, walk.place))
            continue;
        uint32_t frames = tl_place_walk_frames(&walk, longest);
        for (uint32_t i = 0; i < frames; i++)
            w->location[i] = (uint64_t)w->rank[tl_place_walk_frame(&walk, frames, frames - 1 - i)] + 1;
        w->cut += frames < walk.depth;
        if (walk.track != track) {
            track = walk.track;
            thread = track == TL_NO_TRACK ? 0 : string(w, tl_place_walk_thread(&walk));
        }
        put_place(w, walk.place, frames, thread);
    }
    tl_place_walk_fini(&walk);
    return status;
}

static int write_all(pprof *w, const tl_place_tree *tree, const char *title, tl_error *e)
{
    put_head(w, title);
    int status = put_functions(w, e);
    if (status >= 0)
        status = put_samples(w, tree, e);
    for (uint32_t i = 0; status >= 0 && i < w->nstring; i++) {
        tl_pb_string(&w->pb, 6, w->string[i]);
        if (w->pb.n > FLUSH_AT)
            flush(w);
    }
    flush(w);
    if (status >= 0 && w->failed)
        status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to write the profile");
    return status;
}

static int write_profile(const tl_write_context *context, const tl_profile *p, tl_error *e)
{
    tl_place_tree tree;
    int status = tl_place_tree_init(&tree, p, e);
    if (status < 0)
        return status;
    const size_t n = (size_t)p->nfunction + 1;
    pprof w = {.p = p,
               .out = context->out,
               .ticks = p->clock.hz ? "nanoseconds" : tl_clock_unit(&p->clock),
               .order = calloc(n, sizeof *w.order),
               .rank = calloc(n, sizeof *w.rank),
               .location = calloc((size_t)tree.depth + 1, sizeof *w.location),
               .bucket = calloc(BUCKETS_MAX, sizeof *w.bucket)};
    pprof_values_init(&w.values, p);
    if (w.order && w.rank && w.location && w.bucket)
        status = write_all(&w, &tree, context->options->title, e);
    else
        status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to write the profile");
    tl_drops_add(context->drops, TL_DROP_CUT_STACKS, w.cut);
    tl_drops_add(context->drops, "shortest and longest calls", tl_profile_histograms(p));
    tl_drops_add(context->drops, TL_DROP_EMPTY_STACKS, p->samples.empty);

    tl_pb_fini(&w.pb);
    tl_strings_fini(&w.strings);
    tl_hash_fini(&w.string_index);
    free(w.string);
    free(w.order);
    free(w.rank);
    free(w.location);
    free(w.bucket);
    tl_place_tree_fini(&tree);
    return status;
}

const tl_format tl_format_pprof = {
    .name = "pprof",
    .summary = "profile for pprof: stacks with calls, self time and latencies",
    .suffixes = ".pb.gz .pprof .pb",
    .profile_writer =
        &(const tl_profile_writer){.per_thread = true, .lines = true, .compressed = true, .write = write_profile},
};
