/* LLVM's XRay profiles: calls, own and total time, computed from times that include callees. */
#include "profile_fixture.h"

#include "base/endian.h"
#include "format/xray/xprof_layout.h"
#include "format/xray/xprof_write.h"
#include "model/trace_impl.h"

typedef struct file {
    uint8_t data[4096];
    size_t n, block; /* place of the open block */
} file;

static void put32(file *f, uint32_t v)
{
    tl_store32(f->data + f->n, v, false);
    f->n += 4;
}

static void put64(file *f, uint64_t v)
{
    tl_store64(f->data + f->n, v, false);
    f->n += 8;
}

static void header(file *f)
{
    memset(f, 0, sizeof *f);
    put64(f, XPROF_MAGIC);
    put64(f, XPROF_VERSION);
    put64(f, 0);
    put64(f, 5);
}

static void block(file *f, uint64_t thread)
{
    f->block = f->n;
    put32(f, XPROF_BLOCK_SIZE);
    put32(f, 0);
    put64(f, thread);
}

/* A file with one block of a thread. */
static file of_thread(uint64_t thread)
{
    file f;
    header(&f);
    block(&f, thread);
    return f;
}

/* A record of a stack given by the digits of its functions, outermost first. */
static void record(file *f, const char *stack, uint64_t calls, uint64_t time)
{
    for (size_t i = strlen(stack); i-- > 0;)
        put32(f, (uint32_t)(stack[i] - '0'));
    put32(f, 0);
    put64(f, calls);
    put64(f, time);
    tl_store32(f->data + f->block, (uint32_t)(f->n - f->block), false);
}

static tl_source *open_bytes(const void *data, size_t n)
{
    tl_source *s = NULL;
    tl_error e = {0};
    must(tl_source_open_memory(&s, data, n, "made.xrayprof", NULL, &e), &e);
    return s;
}

static tl_profile *read_bytes(const void *data, size_t n, bool per_thread)
{
    tl_source *s = open_bytes(data, n);
    tl_profile *p = NULL;
    assert_int_equal(tl_profile_from_source(&p, s, &(tl_profile_options){.per_thread = per_thread}, NULL), 0);
    tl_source_close(s);
    return p;
}

/* The place of a stack below a root; 0: none. */
static uint32_t find(const tl_profile *p, uint32_t root, const char *stack)
{
    for (; *stack; stack++) {
        uint32_t place = 1;
        while (place < p->nplace && (p->place[place].parent != root || p->place[place].function == TL_NO_FUNCTION ||
                                     p->function[p->place[place].function].id != *stack - '0'))
            place++;
        if (place == p->nplace)
            return 0;
        root = place;
    }
    return root;
}

static void expect(const tl_profile *p, const char *stack, uint64_t calls, uint64_t total, uint64_t self)
{
    const uint32_t place = find(p, 0, stack);
    assert_int_not_equal(place, 0);
    assert_int_equal(p->stat[place].calls, calls);
    assert_int_equal(p->stat[place].total, total);
    assert_int_equal(p->stat[place].self, self);
}

static void expect_function(const tl_profile *p, int64_t id, uint64_t calls, uint64_t total, uint64_t self)
{
    for (uint32_t i = 0; i < tl_profile_functions(p); i++) {
        tl_stat stat;
        tl_profile_function_stat(p, i, &stat);
        if (tl_profile_get_function(p, i)->id == id) {
            assert_int_equal(stat.calls, calls);
            assert_int_equal(stat.total, total);
            assert_int_equal(stat.self, self);
            return;
        }
    }
    fail_msg("no function %d", (int)id);
}

static void expect_counts(const file *f, uint64_t threads, uint64_t paths, uint64_t calls, uint64_t self,
                          uint64_t clamped)
{
    tl_source *s = open_bytes(f->data, f->n);
    const tl_trace *t = tl_source_trace(s);
    assert_true(t->profile_inclusive);
    assert_int_equal(t->profile_threads, threads);
    assert_int_equal(t->profile_paths, paths);
    assert_int_equal(t->profile_calls, calls);
    assert_int_equal(t->profile_self, self);
    assert_int_equal(t->profile_clamped, clamped);
    tl_source_close(s);
}

static void test_own_time_is_what_callees_leave(void **state)
{
    file f = of_thread(7);
    record(&f, "1", 1, 100);
    record(&f, "12", 5, 60);
    record(&f, "13", 2, 40); /* the whole rest: no own time */
    record(&f, "123", 1, 10);
    expect_counts(&f, 1, 4, 9, 100, 0);
    tl_profile *p = read_bytes(f.data, f.n, false);
    expect(p, "1", 1, 100, 0);
    expect(p, "12", 5, 60, 50);
    expect(p, "123", 1, 10, 10);
    expect_function(p, 3, 3, 50, 50);
    tl_profile_free(p);
}

/* Records of one thread are added up before any subtraction, from all blocks. */
static void test_blocks_of_a_thread_are_one(void **state)
{
    file f = of_thread(7);
    record(&f, "1", 1, 10);
    record(&f, "12", 1, 50);
    record(&f, "1", 1, 20);
    block(&f, 7);
    record(&f, "1", 1, 70);
    expect_counts(&f, 1, 4, 4, 100, 0);
    tl_profile *p = read_bytes(f.data, f.n, false);
    expect(p, "1", 3, 100, 50);
    tl_profile_free(p);
}

/* Threads are added up afterwards: too little in one takes nothing from another. */
static void test_threads_are_added_at_the_end(void **state)
{
    file f = of_thread(7);
    record(&f, "1", 1, 10);
    record(&f, "12", 1, 50);
    block(&f, 8);
    record(&f, "1", 1, 90);
    record(&f, "12", 1, 30);
    expect_counts(&f, 2, 4, 4, 140, 1);
    tl_profile *p = read_bytes(f.data, f.n, false);
    expect(p, "1", 2, 140, 60);
    expect(p, "12", 2, 80, 80);
    tl_profile_free(p);
    p = read_bytes(f.data, f.n, true);
    assert_int_equal(tl_profile_tracks(p), 2);
    for (uint32_t i = 1; i < p->nplace; i++)
        if (p->place[i].function == TL_NO_FUNCTION)
            assert_int_equal(p->stat[find(p, i, "1")].total,
                             tl_profile_track(p, p->place[i].track)->tid == 7 ? 50 : 90);
    tl_profile_free(p);
}

/* Open frames, lost records and negative times count at least the time below them; only calls make it a loss. */
static void test_less_than_below_counts_as_what_is_below(void **state)
{
    file f = of_thread(7);
    record(&f, "1", 0, 0);
    record(&f, "12", 3, UINT64_C(1) << 63);
    record(&f, "123", 1, 40);
    record(&f, "45", 1, 8); /* 4 has no record */
    expect_counts(&f, 1, 4, 5, 48, 1);
    tl_source *s = open_bytes(f.data, f.n);
    assert_int_equal(tl_trace_damages(tl_source_trace(s)), 1);
    assert_string_equal(tl_trace_damage(tl_source_trace(s), 0)->rule, "profile.negative-time");
    tl_source_close(s);
    tl_profile *p = read_bytes(f.data, f.n, false);
    expect(p, "1", 0, 40, 0);
    expect(p, "12", 3, 40, 0);
    expect(p, "4", 0, 8, 0);
    expect_function(p, 2, 3, 40, 0);
    tl_profile_free(p);
}

static void test_recursion_counts_once(void **state)
{
    file f = of_thread(7);
    record(&f, "1", 1, 100);
    record(&f, "11", 1, 70);
    record(&f, "121", 1, 5);
    record(&f, "12", 1, 9);
    tl_profile *p = read_bytes(f.data, f.n, false);
    expect_function(p, 1, 3, 100, 21 + 70 + 5);
    expect_function(p, 2, 1, 9, 4);
    tl_profile_free(p);
}

/* Reading one source twice gives the same. */
static void test_a_profile_can_be_read_again(void **state)
{
    file f = of_thread(7);
    record(&f, "1", 1, 100);
    record(&f, "12", 1, 30);
    tl_source *s = open_bytes(f.data, f.n);
    for (int i = 0; i < 3; i++) {
        tl_profile *p = NULL;
        assert_int_equal(tl_profile_from_source(&p, s, NULL, NULL), 0);
        expect(p, "1", 1, 100, 70);
        tl_profile_free(p);
    }
    assert_int_equal(tl_source_trace(s)->profile_self, 100);
    tl_source_close(s);
}

/* A written profile has the same calls and own times when it is read, whatever the totals were. */
static void test_written_calls_and_own_times_come_back(void **state)
{
    profiled f;
    profiled_init(&f, 0);
    uint32_t one = add_function(&f, 1, NULL, NULL, 0), two = add_function(&f, 2, NULL, NULL, 0),
             zero = add_function(&f, 0, NULL, NULL, 0);
    uint32_t place = add_call(&f, add_thread(&f, "t", 5, 7), one, 4, 3); /* less than below: a clock that went back */
    add_call(&f, place, two, 20, 20);
    add_call(&f, add_call(&f, place, zero, 9, 9), two, 9, 9); /* cannot be written, and is in no other time */
    uint32_t open = tl_profile_child(f.p, place, one);        /* never left */
    add_call(&f, open, two, 11, 11);
    uint32_t large = add_call(&f, open, one, 1, 1);
    f.p->stat[large].self = UINT64_MAX - 1;
    write_with(&f, xprof_write);
    assert_int_equal(dropped(&f, "stacks with a function id"), 2);
    tl_profile *p = read_bytes(f.text, f.n, false);
    expect(p, "12", 1, 20, 20);
    expect(p, "112", 1, 11, 11);
    expect(p, "111", 1, INT64_MAX, INT64_MAX);
    assert_int_equal(find(p, 0, "10"), 0);
    tl_profile_free(p);
    f.p->stat[large].self = 6;
    write_with(&f, xprof_write);
    p = read_bytes(f.text, f.n, false);
    expect(p, "1", 1, 40, 3);
    expect(p, "11", 0, 17, 0);
    expect(p, "111", 1, 6, 6);
    tl_source *s = open_bytes(f.text, f.n);
    assert_int_equal(tl_source_trace(s)->profile_clamped, 0);
    tl_source_close(s);
    tl_profile_free(p);
    profiled_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_time_is_what_callees_leave),
        cmocka_unit_test(test_blocks_of_a_thread_are_one),
        cmocka_unit_test(test_threads_are_added_at_the_end),
        cmocka_unit_test(test_less_than_below_counts_as_what_is_below),
        cmocka_unit_test(test_recursion_counts_once),
        cmocka_unit_test(test_a_profile_can_be_read_again),
        cmocka_unit_test(test_written_calls_and_own_times_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
