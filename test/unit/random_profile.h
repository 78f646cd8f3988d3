/* Profiles for tests: made call by call or at random, saved to memory and read back. */
#ifndef TL_TEST_RANDOM_PROFILE_H
#define TL_TEST_RANDOM_PROFILE_H

#include "base/io/input.h"
#include "base/io/output.h"
#include "check.h"
#include "model/format_impl.h"
#include "model/profile_impl.h"

extern const tl_format tl_format_tlp;

/* The same numbers on every host. */
static inline uint64_t fixture_random(uint64_t *seed)
{
    *seed += 0x9e3779b97f4a7c15u;
    uint64_t x = *seed;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static inline tl_profile *fixture_new(void)
{
    tl_profile *p = NULL;
    const tl_clock clock = {.name = "tsc", .hz = 2000000000};
    assert_int_equal(tl_profile_new(&p, &clock, NULL), 0);
    return p;
}

/* The function with an id and a name. */
static inline uint32_t fixture_function(tl_profile *p, int64_t id, const char *name)
{
    uint32_t index = tl_profile_add_function(p, &(tl_function){.id = id, .name = name, .module = "aa11"});
    assert_true(index != TL_HASH_NONE);
    return index;
}

/* Adds one call to a place, like the matching of entries and exits. */
static inline void fixture_call(tl_profile *p, uint32_t place, uint64_t ticks, uint64_t self, bool outermost)
{
    tl_place_stat *s = &p->stat[place];
    s->calls++;
    s->total += ticks;
    s->self += self;
    s->outer += outermost ? ticks : 0;
    s->min = ticks < s->min ? ticks : s->min;
    s->max = ticks > s->max ? ticks : s->max;
    if (p->has_histogram)
        assert_true(tl_hist_add(&s->hist, ticks));
}

/* The place of a stack of functions, one letter each, below a root. */
static inline uint32_t fixture_place(tl_profile *p, uint32_t root, const char *stack)
{
    uint32_t place = root;
    for (; *stack; stack++) {
        const char name[2] = {*stack, 0};
        place = tl_profile_child(p, place, fixture_function(p, *stack - 'a', name));
        assert_true(place != TL_HASH_NONE);
    }
    return place;
}

/* A profile as a .tlp file. */
static inline uint8_t *fixture_save(const tl_profile *p, size_t *n)
{
    tl_output *out = NULL;
    tl_error e = {0};
    assert_int_equal(tl_output_open_memory(&out, TL_PLAIN, &e), 0);
    const tl_write_context context = {.out = out};
    must(tl_format_tlp.profile_writer->write(&context, p, &e), &e);
    assert_int_equal(tl_output_finish(out, &e), 0);
    uint8_t *bytes = tl_output_take_memory(out, n);
    assert_non_null(bytes);
    tl_output_close(out);
    return bytes;
}

/* Reads a profile from bytes: 0 and *p, or an error. *t gets the trace's facts; may be NULL. */
static inline int fixture_load(const uint8_t *bytes, size_t n, tl_profile **p, tl_trace *t, tl_error *e)
{
    tl_trace own;
    tl_input *in = NULL;
    void *reader = calloc(1, tl_format_tlp.reader->size);
    assert_non_null(reader);
    tl_trace *trace = t ? t : &own;
    tl_trace_init(trace);
    assert_int_equal(tl_input_open_memory(&in, bytes, n, "memory.tlp", e), 0);
    int status = tl_format_tlp.reader->open(reader, in, trace, &(tl_want){0}, NULL, e);
    if (status >= 0) {
        assert_int_equal(tl_profile_new(p, tl_trace_clock(trace), e), 0);
        assert_int_equal(tl_format_tlp.reader->profile(reader, *p, e), 0); /* open has checked everything */
    }
    tl_format_tlp.reader->close(reader);
    tl_input_close(in);
    free(reader);
    if (!t)
        tl_trace_fini(&own);
    return status;
}

/* The same for bytes that are a valid profile. */
static inline tl_profile *fixture_must_load(const uint8_t *bytes, size_t n)
{
    tl_profile *p = NULL;
    tl_error e = {0};
    must(fixture_load(bytes, n, &p, NULL, &e), &e);
    return p;
}

/* Is a profile written as these bytes? */
static inline void assert_saved_as(const tl_profile *p, const uint8_t *bytes, size_t n)
{
    size_t again_n;
    uint8_t *again = fixture_save(p, &again_n);
    assert_int_equal(again_n, n);
    assert_memory_equal(again, bytes, n);
    free(again);
}

/* Loads any bytes; accepted ones must be written again unchanged. */
static inline bool fixture_accepted(const uint8_t *bytes, size_t n)
{
    tl_profile *p = NULL;
    tl_error e = {0};
    const int status = fixture_load(bytes, n, &p, NULL, &e);
    if (status < 0) {
        assert_int_equal(e.code, status);
        assert_true(*e.message);
        return false;
    }
    assert_saved_as(p, bytes, n);
    tl_profile_free(p);
    return true;
}

static inline void assert_same_profile(const tl_profile *a, const tl_profile *b)
{
    size_t n;
    uint8_t *bytes = fixture_save(b, &n);
    assert_saved_as(a, bytes, n);
    free(bytes);
}

/* A duration of any size. */
static inline uint64_t fixture_duration(uint64_t *seed)
{
    uint64_t v = fixture_random(seed);
    return v >> (fixture_random(seed) % 64);
}

static inline void fixture_random_calls(tl_profile *p, uint32_t place, uint64_t *seed)
{
    for (uint64_t n = fixture_random(seed) % 4; n > 0; n--) {
        uint64_t ticks = fixture_duration(seed) >> 12, part = 1 + fixture_random(seed) % 3;
        fixture_call(p, place, ticks, ticks / part, fixture_random(seed) & 1);
    }
}

static inline uint32_t fixture_random_thread(tl_profile *p, uint64_t *seed)
{
    char name[32];
    uint64_t r = fixture_random(seed) % 4;
    snprintf(name, sizeof name, "thread %d", (int)r / 2);
    tl_track t = {.name = name, .has_tid = true, .tid = (int64_t)r - 1, .has_pid = r & 1, .pid = 7};
    uint32_t root = tl_profile_thread_root(p, &t);
    assert_true(root != TL_HASH_NONE);
    return root;
}

/* A profile of a few functions, some unnamed, some of one name in two modules, in random stacks: two of them share some
 * places, made in another order. */
static inline tl_profile *fixture_random_profile(uint64_t *seed, bool per_thread, bool has_histogram)
{
    static const char *const names[] = {"alpha", "beta", "gamma", "delta", NULL};
    static const char *const modules[] = {"aa11", "bb22", NULL};
    static const char *const files[] = {"a.c", "b.c", NULL};
    tl_profile *p = fixture_new();
    p->has_histogram = has_histogram;
    p->per_thread = per_thread;
    for (uint64_t n = fixture_random(seed) % 60; n > 0; n--) {
        uint32_t place = per_thread ? fixture_random_thread(p, seed) : 0;
        for (uint64_t depth = 1 + fixture_random(seed) % 5; depth > 0; depth--) {
            uint64_t r = fixture_random(seed);
            tl_function f = {.id = (int64_t)(r % 6) - 2,
                             .name = names[r / 6 % 5],
                             .module = modules[r / 30 % 3],
                             .file = files[r / 90 % 3],
                             .line = (uint32_t)(r / 270 % 2) * 70000,
                             .address = (r / 540 % 3) * 0x1000};
            f.linkage_name = r / 1620 % 2 ? f.name : NULL;
            place = tl_profile_child(p, place, tl_profile_add_function(p, &f));
            assert_true(place != TL_HASH_NONE);
        }
        fixture_random_calls(p, place, seed);
    }
    p->unmatched_exits = fixture_random(seed) % 9;
    p->unmatched_open = fixture_random(seed) % 9;
    p->lost_events = fixture_duration(seed) >> 8;
    p->damaged_bytes = fixture_random(seed) % 9;
    p->build_id = tl_profile_intern(p, modules[fixture_random(seed) % 3]);
    p->exe = tl_profile_intern(p, files[fixture_random(seed) % 3]);
    p->clock.has_utc = fixture_random(seed) % 4 != 0;
    p->clock.utc_offset_ns = p->clock.has_utc ? (int64_t)(fixture_random(seed) % 2) - 1 : 0;
    return p;
}

static inline tl_profile *copy_of(const tl_profile *p)
{
    size_t n;
    uint8_t *bytes = fixture_save(p, &n);
    tl_profile *copy = fixture_must_load(bytes, n);
    free(bytes);
    return copy;
}

/* a + b as a new profile. */
static inline tl_profile *sum_of(const tl_profile *a, const tl_profile *b)
{
    tl_profile *sum = copy_of(a);
    tl_error e;
    must(tl_profile_merge(sum, b, &e), &e);
    return sum;
}

#endif
