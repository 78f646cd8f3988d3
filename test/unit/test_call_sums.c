/* Sums of calls by keys and steps of time, of random and damaged logs: against a list of all calls that is searched for
 * each of them. */
#include "call_log_fixture.h"

/* A key and its calls. */
typedef struct sum {
    tl_call_key key; /* function: its id; track: the thread's id */
    uint64_t calls, total, self, outer, min, max;
    tl_hist hist;
} sum;

typedef struct sums {
    sum sum[RECORDS];
    size_t n;
} sums;

/* Do calls of the same function that ended lie around it? A call that never ended is in no total. */
static bool is_inner(const rows *r, const uint32_t *at, const row *one)
{
    for (uint64_t id = one->parent; id != UINT64_MAX;) {
        const row *outer = &r->row[at[(id >> 40) * RECORDS + (id & 0xffffff)]];
        if (outer->function == one->function && !(outer->flags & TL_CALL_OPEN))
            return true;
        id = outer->parent;
    }
    return false;
}

static uint64_t ns_of(uint64_t ticks, uint64_t hz)
{
    if (hz == 1000000000)
        return ticks;
    assert_int_equal(hz, 2000000000); /* halves are rounded to even */
    return ticks / 2 + (ticks % 2 && ticks / 2 % 2);
}

static tl_call_key key_of(const row *one, unsigned by, uint64_t step, uint64_t ns)
{
    tl_call_key key;
    memset(&key, 0, sizeof key); /* compared as bytes */
    key.step = step ? ns / step : 0;
    key.function = by & TL_BY_FUNCTION ? (uint32_t)one->function : UINT32_MAX;
    key.place = by & TL_BY_PLACE ? one->place : UINT32_MAX;
    key.track = by & TL_BY_THREAD ? (uint32_t)one->tid : UINT32_MAX;
    key.depth = by & TL_BY_DEPTH ? one->depth : UINT32_MAX;
    key.cpu = by & TL_BY_CPU ? one->cpu : -1;
    return key;
}

static sum *find(sums *all, const tl_call_key *key)
{
    for (size_t i = 0; i < all->n; i++)
        if (memcmp(&all->sum[i].key, key, sizeof *key) == 0)
            return &all->sum[i];
    all->sum[all->n] = (sum){.min = UINT64_MAX};
    all->sum[all->n].key = *key;
    return &all->sum[all->n++];
}

static void free_sums(sums *all)
{
    for (size_t i = 0; i < all->n; i++)
        tl_hist_fini(&all->sum[i].hist);
    free(all);
}

static sums *model_sums(const rows *r, unsigned by, uint64_t step, uint64_t begin, uint64_t hz)
{
    sums *all = calloc(1, sizeof *all);
    uint32_t *at = calloc((size_t)THREADS * RECORDS, sizeof *at);
    assert_true(all && at);
    for (size_t i = 0; i < r->n; i++)
        at[(r->row[i].id >> 40) * RECORDS + (r->row[i].id & 0xffffff)] = (uint32_t)i;
    for (size_t i = 0; i < r->n; i++) {
        const row *one = &r->row[i];
        if (one->flags & TL_CALL_OPEN)
            continue;
        const tl_call_key key = key_of(one, by, step, ns_of(one->begin > begin ? one->begin - begin : 0, hz));
        sum *s = find(all, &key);
        const uint64_t ticks = one->end - one->begin;
        s->calls++;
        s->total += ticks;
        s->self += one->self;
        s->outer += is_inner(r, at, one) ? 0 : ticks;
        s->min = ticks < s->min ? ticks : s->min;
        s->max = ticks > s->max ? ticks : s->max;
        assert_true(tl_hist_add(&s->hist, ticks));
    }
    free(at);
    return all;
}

/* `outer` is only compared where all calls of a function have one key: else that of an outer call has the time. */
static void same_sum(const tl_call_sum *found, const sum *s, bool outer)
{
    tl_hist_pair a, b = {0};
    uint32_t i = 0, k = 0;
    assert_int_equal(found->stat->calls, s->calls);
    assert_int_equal(found->stat->total, s->total);
    assert_int_equal(found->stat->self, s->self);
    assert_int_equal(found->stat->min, s->min);
    assert_int_equal(found->stat->max, s->max);
    if (outer)
        assert_int_equal(found->stat->outer, s->outer);
    while (tl_hist_each(&s->hist, &i, &a)) {
        assert_true(tl_hist_each(&found->stat->hist, &k, &b));
        assert_true(a.bucket == b.bucket && a.count == b.count);
    }
    assert_false(tl_hist_each(&found->stat->hist, &k, &b));
}

static tl_call_sums *sums_of(tl_source *s, const tl_call_sums_options *o)
{
    tl_call_sums *found = NULL;
    tl_error e = {0};
    must(tl_call_sums_new(&found, s, o, &e), &e);
    return found;
}

static bool is_before(const tl_call_sums *s, const tl_call_key *a, const tl_call_key *b)
{
    const int64_t f = a->function == UINT32_MAX ? 0 : s->profile->function[a->function].id;
    const int64_t g = b->function == UINT32_MAX ? 0 : s->profile->function[b->function].id;
    const int64_t x[] = {(int64_t)a->step, a->place, f, a->track, a->depth, a->cpu};
    const int64_t y[] = {(int64_t)b->step, b->place, g, b->track, b->depth, b->cpu};
    for (size_t i = 0; i < sizeof x / sizeof *x; i++)
        if (x[i] != y[i])
            return x[i] < y[i];
    return false;
}

static void check(tl_source *s, const rows *r, const tl_call_sums_options *o, uint64_t hz)
{
    tl_call_sums *found = sums_of(s, o);
    sums *expected = model_sums(r, o->by, o->step, o->begin, hz);
    size_t with_calls = 0;
    for (uint32_t i = 0; i < found->n; i++) {
        if (i > 0)
            assert_true(is_before(found, &found->row[i - 1].key, &found->row[i].key));
        if (found->row[i].stat->calls == 0)
            continue;
        tl_call_key key;
        memset(&key, 0, sizeof key);
        key.step = found->row[i].key.step, key.place = found->row[i].key.place, key.depth = found->row[i].key.depth;
        key.cpu = found->row[i].key.cpu, key.function = key.track = UINT32_MAX;
        if (o->by & TL_BY_FUNCTION)
            key.function = (uint32_t)found->profile->function[found->row[i].key.function].id;
        if (o->by & TL_BY_THREAD)
            key.track = (uint32_t)s->trace.track[found->row[i].key.track].tid;
        const size_t n = expected->n;
        const sum *one = find(expected, &key);
        assert_int_equal(expected->n, n); /* it was there */
        same_sum(&found->row[i], one, o->step == 0 && !(o->by & (TL_BY_PLACE | TL_BY_CPU | TL_BY_DEPTH)));
        with_calls++;
    }
    assert_int_equal(with_calls, expected->n);
    free_sums(expected);
    tl_call_sums_free(found);
}

static void check_log(uint64_t seed, uint64_t hz)
{
    static const unsigned by[] = {0,
                                  TL_BY_FUNCTION,
                                  TL_BY_THREAD,
                                  TL_BY_FUNCTION | TL_BY_THREAD | TL_BY_CPU,
                                  TL_BY_PLACE,
                                  TL_BY_PLACE | TL_BY_FUNCTION | TL_BY_CPU,
                                  TL_BY_DEPTH | TL_BY_CPU};
    static const uint64_t steps[] = {200, 0, 12345};
    log *l = random_log(seed, hz);
    tl_source *s = made_read(&l->made);
    tl_profile *p = profile_of(s, 1, NULL);
    tl_call_places *places = NULL;
    tl_error e = {0};
    must(tl_call_places_new(&places, p, &e), &e);
    rows plain = model_of(l, s), placed = scan(s, &(tl_call_scan_options){.places = places});
    for (size_t i = 0; i < sizeof by / sizeof *by; i++)
        for (size_t k = 0; k < rounds(sizeof steps / sizeof *steps); k++) {
            const tl_call_sums_options o = {
                .by = by[i], .step = steps[k], .begin = 5000, .threads = (i + k) % 2 ? 3 : 1, .places = places};
            check(s, by[i] & TL_BY_PLACE ? &placed : &plain, &o, hz);
        }
    free(plain.row), free(placed.row);
    tl_call_places_free(places);
    tl_profile_free(p);
    tl_source_close(s);
    free(l);
}

static void test_against_a_list(void **state)
{
    check_log(1, 1000000000);
}

static void test_clocks_are_rounded(void **state)
{
    check_log(2, 2000000000);
}

/* The sum over all steps is what there is without steps. */
static void test_steps_add_up(void **state)
{
    log *l = random_log(4, 1000000000);
    tl_source *s = made_read(&l->made);
    tl_call_sums *one = sums_of(s, &(tl_call_sums_options){0});
    tl_call_sums *many = sums_of(s, &(tl_call_sums_options){.step = 77, .threads = 2});
    uint64_t calls = 0, self = 0;
    assert_int_equal(one->n, 1);
    assert_true(many->n > 100);
    for (uint32_t i = 0; i < many->n; i++) {
        calls += many->row[i].stat->calls;
        self += many->row[i].stat->self;
    }
    assert_int_equal(calls, one->row[0].stat->calls);
    assert_int_equal(self, one->row[0].stat->self);
    tl_call_sums_free(one);
    tl_call_sums_free(many);
    tl_source_close(s);
    free(l);
}

static void test_limit_of_memory(void **state)
{
    log *l = random_log(4, 1000000000);
    tl_source *s = made_read(&l->made);
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        tl_call_sums *found = NULL;
        tl_error e = {0};
        const tl_call_sums_options o = {.step = 1, .by = TL_BY_FUNCTION, .memory = 65536 * threads, .threads = threads};
        assert_int_equal(tl_call_sums_new(&found, s, &o, &e), TL_ENOMEM);
        assert_null(found);
        assert_string_equal(e.message,
                            "sums of calls need more than 64.0 KiB for each thread: take a larger step, or fewer keys");
    }
    tl_call_sums_free(sums_of(s, &(tl_call_sums_options){.by = TL_BY_FUNCTION, .memory = 65536, .threads = 1}));
    tl_source_close(s);
    free(l);
}

static void test_patterns_must_match(void **state)
{
    static const char *const nobody[] = {"nobody"};
    log *l = random_log(4, 1000000000);
    tl_source *s = made_read(&l->made);
    tl_call_sums *found = NULL;
    tl_error e = {0};
    const tl_select select = {.func = nobody, .nfunc = 1};
    assert_int_equal(tl_call_sums_new(&found, s, &(tl_call_sums_options){.select = &select}, &e), TL_ENOMATCH);
    assert_null(found);
    tl_source_close(s);
    free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_a_list),      cmocka_unit_test(test_clocks_are_rounded),
        cmocka_unit_test(test_steps_add_up),        cmocka_unit_test(test_limit_of_memory),
        cmocka_unit_test(test_patterns_must_match),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
