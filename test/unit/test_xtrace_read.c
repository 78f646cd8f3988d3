/* Reading instruction streams: every token, at every place of the window; damage; parts; counting only. */
#include <inttypes.h>
#include <stdbool.h>

#include "check.h"
#include "make_xtrace.h"
#include "traceloom/source.h"
#include "traceloom/trace.h"

#define NAME "xtrace.1.42.hint9.xinsndata.bin"
#define NOP  0xd503201fu

/* Events as one long text, for comparing. */
typedef struct text {
    char *p;
    size_t n, capacity;
} text;

__attribute__((format(printf, 2, 3))) static void add(text *t, const char *format, ...)
{
    char line[256];
    va_list args;
    va_start(args, format);
    const size_t n = (size_t)vsnprintf(line, sizeof line, format, args);
    va_end(args);
    assert_true(n < sizeof line);
    if (t->n + n + 1 > t->capacity) {
        t->capacity = 2 * t->capacity + n + 1;
        t->p = realloc(t->p, t->capacity);
        assert_non_null(t->p);
    }
    memcpy(t->p + t->n, line, n + 1);
    t->n += n;
}

static void add_value(text *t, const tl_value *v)
{
    if (v->type == TL_BYTES)
        add(t, " %u:%02x..%02x", v->n, ((const uint8_t *)v->as.p)[0], ((const uint8_t *)v->as.p)[v->n - 1]);
    else if (v->type == TL_LIST || v->type == TL_STRUCT)
        add(t, " [%u]", v->n);
    else if (v->type == TL_NULL)
        add(t, " null");
    else
        add(t, " %" PRIx64, v->as.u);
}

static tl_source *open_stream(const made_stream *s, const tl_want *want)
{
    tl_source *source = NULL;
    tl_error e = {0};
    const tl_open_options o = {.want = *want};
    must(tl_source_open_memory(&source, s->data, s->n, NAME, &o, &e), &e);
    return source;
}

/* All events from instruction `from` on, as text. */
static text read_part(const made_stream *s, const tl_want *want, uint64_t from, uint64_t to)
{
    tl_source *source = open_stream(s, want);
    tl_cursor *c = NULL;
    const tl_batch *b;
    tl_error e = {0};
    text t = {0};
    int status = 0;
    add(&t, "events\n");
    assert_true(tl_source_streams(source) <= 1);
    if (tl_source_streams(source))
        assert_int_equal(tl_cursor_open(&c, source, 0, &e), 0);
    if (c && to)
        assert_int_equal(tl_cursor_limit(c, from, to, &e), 0);
    while (c && (status = tl_cursor_next(c, &b, &e)) > 0)
        for (uint32_t i = 0; i < b->n; i++) {
            add(&t, "%" PRIu64 " %s %" PRIx64 " %" PRIx64, b->ts[i], tl_trace_class(b->trace, b->cls[i])->name,
                b->key[i], b->aux[i]);
            for (uint32_t k = want->fields ? b->val[i] : 0; want->fields && k < b->val[i + 1]; k++)
                add_value(&t, &b->v[k]);
            add(&t, "\n");
        }
    if (status < 0)
        add(&t, "error %s\n", e.message);
    tl_cursor_close(c);
    const tl_trace *trace = tl_source_trace(source);
    for (uint32_t i = 0; i < tl_trace_damages(trace); i++) {
        const tl_damage *d = tl_trace_damage(trace, i);
        add(&t, "damage %s at %" PRIu64 ", %" PRIu64 " bytes\n", d->rule, d->offset, d->bytes);
    }
    tl_source_close(source);
    return t;
}

static void expect(const made_stream *s, const tl_want *want, const char *expected)
{
    text t = read_part(s, want, 0, 0);
    assert_string_equal(t.p, expected);
    free(t.p);
}

static const tl_want plain = {0}, fields = {.fields = true};

static void every_token(void **state)
{
    made_stream s = {0};
    made_inst(&s, 0, NOP);
    made_pcinst(&s, 1, 0x400000, NOP);
    made_access(&s, false, 0x1000, 3, 0x10);
    made_access(&s, true, 0x2000, 0, 0x20);
    made_inst(&s, 2, 0xd4000001);
    for (unsigned token = XTRACE_STXR; token <= XTRACE_TARGET; token += 8)
        made_value(&s, token, token);
    made_registers(&s, 7);
    made_value(&s, XTRACE_FLAGS, 0x60000000);
    made_buffers(&s, 2, 2);
    made_value(&s, XTRACE_TIME, 99);
    made_access(&s, false, UINT64_MAX, 15, 1);
    made_inst(&s, 3, NOP);
    expect(
        &s, &fields,
        "events\n0 insn 0 4d503201f null d503201f 0\n1 insn 400000 1d503201f 400000 d503201f 1\n"
        "1 load 1000 8 1000 8 8:10..17\n1 store 2000 1 2000 1 1:20..20\n2 insn 400004 2d4000001 400004 d4000001 2\n"
        "2 stxr 3 0 3\n2 mrs b 0 b\n2 svc_arg 13 0 13\n2 svc_ret 1b 0 1b\n2 dc 23 0 23\n2 target 2b 0 2b\n"
        "2 all_gpr 0 0 [32] 7 8 9 a b c d e f 10 11 12 13 14 15 16 17 18 19 1a 1b 1c 1d 1e 1f 20 21 22 23 24 25 26\n"
        "2 flags 60000000 0 60000000\n2 syscall_vec 0 0 [2] [2] 1000 1001 [2] 1002 1003\n2 time 63 0 63\n"
        "2 load ffffffffffffffff 8000 ffffffffffffffff 8000 32768:01..00\n3 insn 400008 3d503201f 400008 d503201f 3\n");
    expect(
        &s, &plain,
        "events\n0 insn 0 4d503201f\n1 insn 400000 1d503201f\n1 load 1000 8\n1 store 2000 1\n2 insn 400004 2d4000001\n"
        "2 stxr 3 0\n2 mrs b 0\n2 svc_arg 13 0\n2 svc_ret 1b 0\n2 dc 23 0\n2 target 2b 0\n2 all_gpr 0 0\n"
        "2 flags 60000000 0\n2 syscall_vec 0 0\n2 time 63 0\n2 load ffffffffffffffff 8000\n3 insn 400008 3d503201f\n");
    free(s.data);
}

static void nothing(void **state)
{
    expect(&(made_stream){.data = (uint8_t[]){0}}, &fields, "events\n");
}

static void pc_wraps(void **state)
{
    made_stream s = {0};
    made_pcinst(&s, 0, UINT64_C(0xfffffffffffffffc), NOP);
    made_inst(&s, 0, NOP);
    expect(&s, &plain, "events\n0 insn fffffffffffffffc d503201f\n1 insn 0 d503201f\n");
    free(s.data);
}

/* Bytes after damage are given up, unless a chain of tokens is found that begins with a pc. */
static void damage(void **state)
{
    static const struct {
        uint8_t bytes[20];
        size_t n;
        const char *rule;
    } bad[] = {{{0x00}, 1, "xtrace.unknown-token"},
               {{0x11, 1, 2}, 3, "xtrace.unknown-token"},
               {{0x33}, 1, "xtrace.unknown-token"},
               {{0x0f}, 1, "xtrace.unknown-token"},
               {{0x24, 0, 0, 0, 0, 0, 0, 0, 0x80}, 9, "xtrace.vec-count"},
               {{0x24, 1, 4}, 9, "xtrace.vec-count"}};
    for (size_t i = 0; i < TL_COUNT(bad); i++) {
        made_stream s = {0};
        made_inst(&s, 0, NOP);
        memcpy(stream_room(&s, bad[i].n), bad[i].bytes, bad[i].n);
        const size_t good = s.n;
        for (unsigned k = 0; k < 9; k++)
            made_pcinst(&s, 0, 0x1000, NOP);
        text t = read_part(&s, &plain, 0, 0), expected = {0};
        add(&expected, "events\n0 insn 0 4d503201f\ndamage %s at 5, %zu bytes\n", bad[i].rule, s.n - 5);
        assert_string_equal(t.p, expected.p);
        free(t.p);
        free(expected.p);
        t = read_part(&s, &(tl_want){.resync = true}, 0, 0);
        expected = (text){0};
        add(&expected, "events\n0 insn 0 4d503201f\n");
        for (unsigned k = 1; k <= 9; k++)
            add(&expected, "%u insn 1000 d503201f\n", k);
        add(&expected, "damage %s at 5, %zu bytes\n", bad[i].rule, good - 5);
        assert_string_equal(t.p, expected.p);
        free(t.p);
        free(expected.p);
        t = read_part(&s, &(tl_want){.strict = true}, 0, 0);
        assert_contains(t.p, "error ");
        assert_contains(t.p, bad[i].rule);
        free(t.p);
        free(s.data);
    }
}

/* A stream may end at any byte: whole tokens are read, the rest is damage. */
static void cut_anywhere(void **state)
{
    made_stream s = {0};
    made_pcinst(&s, 0, 0x1000, NOP);
    made_access(&s, true, 0x10, 4, 1);
    made_value(&s, XTRACE_TARGET, 5);
    made_registers(&s, 0);
    made_buffers(&s, 3, 3);
    const size_t ends[] = {0, 13, 13 + 25, 13 + 25 + 9, 13 + 25 + 9 + 257, s.n};
    size_t whole = 0;
    for (size_t n = 1; n <= s.n; n++) {
        const made_stream cut = {.data = s.data, .n = n};
        while (ends[whole + 1] <= n && n < s.n)
            whole++;
        text t = read_part(&cut, &fields, 0, 0);
        size_t lines = 0;
        for (const char *p = t.p; *p; p++)
            lines += *p == '\n';
        const bool clean = n == s.n || ends[whole] == n;
        assert_int_equal(lines, 1 + (n == s.n ? 5 : whole) + !clean);
        char expected[80];
        snprintf(expected, sizeof expected, "damage xtrace.truncated at %zu, %zu bytes\n", ends[whole],
                 n - ends[whole]);
        assert_int_equal(strstr(t.p, expected) != NULL, !clean);
        free(t.p);
    }
    free(s.data);
}

/* A stream larger than a window, with long tokens. */
static made_stream make_long(uint32_t insns)
{
    made_stream s = {0};
    uint32_t seed = 1;
    for (uint32_t i = 0; i < insns; i++) {
        seed = seed * 1664525 + 1013904223;
        if (i % 7 == 0)
            made_pcinst(&s, i / 1000 % 2, 0x400000 + 4 * (uint64_t)(seed >> 20), NOP);
        else
            made_inst(&s, i / 1000 % 2, seed);
        if (seed >> 28 < 4)
            made_access(&s, seed >> 27 & 1, seed, seed >> 30 & 1 ? seed >> 16 & 15 : seed >> 16 & 3, (uint8_t)seed);
        if (seed >> 24 == 5)
            made_registers(&s, seed);
        if (seed >> 24 == 6)
            made_value(&s, XTRACE_FLAGS, seed);
    }
    return s;
}

/* Counting finds the same as reading. */
static void counting(void **state)
{
    made_stream s = make_long(40000);
    tl_source *source = open_stream(&s, &plain);
    tl_count count;
    tl_error e = {0};
    uint64_t events = 0, by_class[16] = {0};
    const tl_batch *b;
    assert_int_equal(tl_source_count(source, 1, &count, &e), 0);
    int status;
    while ((status = tl_source_next(source, &b, &e)) > 0)
        for (uint32_t i = 0; i < b->n; i++, events++)
            by_class[b->cls[i]]++;
    assert_int_equal(status, 0);
    assert_true(events > 50000);
    assert_int_equal(count.events, events);
    for (uint32_t i = 0; i < tl_trace_classes(tl_source_trace(source)); i++)
        assert_int_equal(count.by_class[i], by_class[i]);
    assert_int_equal(count.first, 0);
    assert_int_equal(count.last, 39999);
    tl_count_free(&count);
    tl_source_close(source);
    free(s.data);
}

/* The lines of events with from <= time < to. */
static char *lines_between(const char *all, uint64_t from, uint64_t to)
{
    char *out = calloc(1, strlen(all) + 1), *p = out;
    assert_non_null(out);
    for (const char *line = strchr(all, '\n') + 1; *line; line = strchr(line, '\n') + 1) {
        const uint64_t ts = strtoull(line, NULL, 10);
        const size_t n = (size_t)(strchr(line, '\n') + 1 - line);
        if (ts >= from && ts < to) {
            memcpy(p, line, n);
            p += n;
        }
    }
    return out;
}

static void parts(void **state)
{
    static const uint64_t range[][2] = {{0, 1}, {0, 1024}, {1, 1025}, {999, 1001}, {5000, 5003}, {19999, 30000}};
    made_stream s = make_long(20000);
    text all = read_part(&s, &fields, 0, 0);
    for (size_t i = 0; i < TL_COUNT(range); i++) {
        text t = read_part(&s, &fields, range[i][0], range[i][1]);
        char *expected = lines_between(all.p, range[i][0], range[i][1]),
             *got = lines_between(t.p, range[i][0], UINT64_MAX);
        assert_string_equal(got, expected);
        free(got);
        free(expected);
        free(t.p);
    }
    free(all.p);
    free(s.data);
}

/* The most buffers of a system call that are read, and one more. */
static void buffers_are_limited(void **state)
{
    for (size_t more = 0; more < 2; more++) {
        const size_t entries = (1u << 20) + more, n = 9 + entries * XTRACE_VEC_ENTRY;
        made_stream s = {0};
        made_inst(&s, 0, NOP);
        uint8_t *p = stream_room(&s, n);
        memset(p, 0, n);
        *p = 0x24;
        tl_store64(p + 1, entries, false);
        made_pcinst(&s, 0, 0x1000, NOP);
        tl_source *source = open_stream(&s, &(tl_want){.fields = true});
        const tl_batch *b;
        tl_error e;
        uint64_t events = 0;
        while (tl_source_next(source, &b, &e) > 0)
            events += b->n;
        const tl_trace *t = tl_source_trace(source);
        assert_int_equal(tl_trace_damages(t), more);
        if (more)
            assert_string_equal(tl_trace_damage(t, 0)->rule, "xtrace.vec-count");
        assert_int_equal(events, more ? 1 : 3);
        tl_source_close(source);
        free(s.data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_token),  cmocka_unit_test(nothing),
        cmocka_unit_test(pc_wraps),     cmocka_unit_test(damage),
        cmocka_unit_test(cut_anywhere), cmocka_unit_test(counting),
        cmocka_unit_test(parts),        cmocka_unit_test(buffers_are_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
