/* Files of snapshots in memory, for tests. */
#ifndef TL_TEST_SNAPSHOT_FIXTURE_H
#define TL_TEST_SNAPSHOT_FIXTURE_H

#include "base/endian.h"
#include "check.h"
#include "format/xtrace/xtrace_snapshot.h"

typedef struct made_snapshots {
    uint8_t *data;
    size_t header, size, n; /* of a record; number of records */
    size_t total;
    uint32_t vl;
} made_snapshots;

static inline uint8_t *made_record(const made_snapshots *m, size_t number)
{
    return m->data + m->header + number * m->size;
}

/* n records of 10 instructions each, 8 of them of programs, at every 100th byte; Xi is i * 1000. */
static inline made_snapshots make_snapshots(size_t header, uint32_t vl, size_t n)
{
    made_snapshots m = {.header = header, .vl = vl, .n = n, .size = (size_t)xtrace_snapshot_size(vl)};
    m.total = header + n * m.size;
    m.data = calloc(m.total + 1, 1);
    assert_non_null(m.data);
    for (size_t i = 0; i < n; i++) {
        uint8_t *const p = made_record(&m, i);
        tl_store64(p + XTRACE_SNAPSHOT_OFFSET, 100 * i, false);
        tl_store64(p + XTRACE_SNAPSHOT_USER, 8 * i, false);
        tl_store64(p + XTRACE_SNAPSHOT_INSNS, 10 * i, false);
        for (unsigned x = 0; x < 32; x++)
            tl_store64(p + XTRACE_SNAPSHOT_X + (size_t)8 * x, 1000 * x, false);
        tl_store64(p + m.size - XTRACE_SNAPSHOT_TAIL, vl, false);
    }
    return m;
}

/* Reports, in order: offset and rule. */
typedef struct told {
    uint64_t at;
    const char *rule;
} told;

static inline void expect_told(tl_trace *t, const told *expected, size_t n)
{
    tl_trace_sort_damage(t);
    for (uint32_t i = 0; i < tl_trace_damages(t) && i < n; i++) {
        const tl_damage *d = tl_trace_damage(t, i);
        assert_string_equal(d->rule, expected[i].rule);
        assert_int_equal(d->at, expected[i].at);
        assert_true(d->kind & TL_DAMAGE_FAULT);
        assert_true(strlen(d->what) > 10);
    }
    assert_int_equal(tl_trace_damages(t), n);
}

#define EXPECT_TOLD(t, ...)                                                                                            \
    expect_told(t, (const told[]){__VA_ARGS__}, sizeof((const told[]){__VA_ARGS__}) / sizeof(told))

#endif
