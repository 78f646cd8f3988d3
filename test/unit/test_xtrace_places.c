/* The index of a compressed instruction stream: valid ones, and the place at or before an instruction. */
#include "check.h"
#include "format/xtrace/xtrace_layout.h"
#include "format/xtrace/xtrace_places.h"
#include "lazy_fixture.h"

enum { CONTENT = 3000, MOST = 8 };

typedef struct made_index {
    uint8_t bytes[XTRACE_INDEX_HEAD + MOST * XTRACE_INDEX_ENTRY + 1];
    uint32_t n;
} made_index;

/* An index with the offset and the number of instructions of each place. */
static made_index index_of(const uint64_t (*place)[2], uint32_t n)
{
    made_index x = {.n = XTRACE_INDEX_HEAD + n * XTRACE_INDEX_ENTRY};
    tl_store32(x.bytes, XTRACE_INDEX_MAGIC, false);
    tl_store32(x.bytes + 4, XTRACE_INDEX_VERSION, false);
    tl_store64(x.bytes + 8, n, false);
    for (uint32_t i = 0; i < n; i++) {
        uint8_t *p = x.bytes + XTRACE_INDEX_HEAD + i * XTRACE_INDEX_ENTRY;
        tl_store64(p, place[i][0], false);
        tl_store64(p + 8, place[i][1], false);
    }
    return x;
}

/* The places of a stream with this index. */
static xtrace_places places_of(const made_index *x)
{
    char *data = content_of(CONTENT);
    packed f = packed_frames(data, CONTENT, 1000, 0);
    packed_note(&f, XTRACE_INDEX_FRAME_MAGIC, x->bytes, x->n);
    tl_input *in = open_packed_file(&f);
    xtrace_places p;
    assert_int_equal(xtrace_places_read(&p, in, NULL), 0);
    tl_input_close(in);
    free(f.p);
    free(data);
    return p;
}

static void check_refused(const made_index *x)
{
    xtrace_places p = places_of(x);
    assert_int_equal(p.n, 0);
    assert_null(p.at);
}

static const uint64_t good[][2] = {{0, 0}, {1000, 20}, {1500, 20}, {2999, 70}};

static void test_an_index_is_read(void **state)
{
    const made_index x = index_of(good, 4);
    xtrace_places p = places_of(&x);
    assert_int_equal(p.n, 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(p.at[i].offset, good[i][0]);
        assert_int_equal(p.at[i].count, good[i][1]);
    }
    const uint64_t wanted[][2] = {{0, 0}, {1, 0}, {19, 0}, {20, 2}, {21, 2}, {69, 2}, {70, 3}, {UINT64_MAX, 3}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        assert_int_equal(xtrace_places_find(&p, wanted[i][0]), wanted[i][1]);
    p.n = 1;
    assert_int_equal(xtrace_places_find(&p, 100), 0);
    free(p.at);
}

static void test_other_bytes_are_none(void **state)
{
    const made_index whole = index_of(good, 4);
    made_index x = whole;
    tl_store32(x.bytes, XTRACE_INDEX_MAGIC + 1, false);
    check_refused(&x);
    x = whole;
    tl_store32(x.bytes + 4, XTRACE_INDEX_VERSION + 1, false);
    check_refused(&x);
    for (uint64_t n = 0; n < 8; n++)
        if (n != 4) {
            x = whole;
            tl_store64(x.bytes + 8, n, false);
            check_refused(&x);
        }
    x = whole;
    for (x.n = 0; x.n < whole.n; x.n += x.n < XTRACE_INDEX_HEAD ? 1 : XTRACE_INDEX_ENTRY)
        check_refused(&x);
}

/* Places begin at 0, go up, and lie within the stream. */
static void test_places_go_up(void **state)
{
    static const uint64_t bad[][3][2] = {
        {{1, 0}, {10, 1}, {20, 2}},      {{0, 1}, {10, 1}, {20, 2}},         {{0, 0}, {10, 3}, {20, 2}},
        {{0, 0}, {10, 1}, {10, 2}},      {{0, 0}, {10, 1}, {9, 2}},          {{0, 0}, {0, 1}, {20, 2}},
        {{0, 0}, {10, 1}, {CONTENT, 2}}, {{0, 0}, {10, 1}, {UINT64_MAX, 2}},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const made_index x = index_of(bad[i], 3);
        check_refused(&x);
    }
    const made_index one = index_of(good, 1);
    xtrace_places p = places_of(&one);
    assert_int_equal(p.n, 1);
    free(p.at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_an_index_is_read, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_other_bytes_are_none, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_places_go_up, scratch_enter, scratch_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
