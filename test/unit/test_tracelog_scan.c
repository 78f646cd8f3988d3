/* The two readers of a TraceLog line agree: the fast one reads exactly the lines without a fault for the thorough
 * one. */
#include "tracelog_fixture.h"

#include "format/tracelog/tracelog_scan.h"

enum { LINE = 2000, SLACK = 32 };

/* A reader of one line, with values and without. */
typedef struct reader {
    tl_trace trace;
    tracelog_part with, without;
} reader;

static reader *make_reader(void)
{
    reader *r = calloc(1, sizeof *r);
    assert_non_null(r);
    tl_trace_init(&r->trace);
    assert_int_equal(tracelog_set_classes(&r->trace, false, NULL), 0);
    assert_int_equal(tracelog_part_init(&r->with, &r->trace, &(const tl_want){.fields = true}, NULL), 0);
    assert_int_equal(tracelog_part_init(&r->without, &r->trace, &(const tl_want){0}, NULL), 0);
    return r;
}

static void free_reader(reader *r)
{
    tracelog_part_fini(&r->with);
    tracelog_part_fini(&r->without);
    tl_trace_fini(&r->trace);
    free(r);
}

/* Are there as many values as the class has fields, each complete? */
static bool tape_is_whole(const tl_batch *b, const tl_class *c)
{
    uint64_t due = c->nfield;
    for (uint32_t i = b->val[0]; i < b->val[1]; i++, due--) {
        if (due == 0)
            return false;
        due += b->v[i].type == TL_LIST || b->v[i].type == TL_STRUCT ? b->v[i].n : 0;
    }
    return due == 0;
}

/* Does the fast reader accept it? The memory ends where the reader may no longer look. */
static bool reads(reader *r, const char *line, size_t n)
{
    uint8_t *copy = malloc(n + 1 + SLACK);
    assert_non_null(copy);
    memcpy(copy, line, n);
    copy[n] = '\n';
    memcpy(copy + n + 1, "0123456789abcdef 0x1 2 3:4 5 6 ?", SLACK);
    uint32_t events[2];
    for (unsigned way = 0; way < 2; way++) {
        tracelog_part *p = way ? &r->with : &r->without;
        tracelog_lines l = {.text = copy, .at = copy, .end = copy + n + 1};
        tracelog_part_clear(p);
        assert_int_equal(tracelog_scan(&l, p, NULL), 0);
        assert_ptr_equal(l.at, l.end);
        events[way] = p->batch.n;
    }
    free(copy);
    assert_int_equal(events[0], events[1]);
    if (events[0]) {
        const tl_class *c = tl_trace_class(&r->trace, r->with.batch.cls[0]);
        if (memcmp(c->name, line, 3) != 0 || memcmp(c->name + 4, line + 4, 3) != 0 || !tape_is_whole(&r->with.batch, c))
            fail_msg("%.*s: %s", (int)n, line, c->name);
        /* Functions are known only with values. */
        assert_int_equal(r->with.note[0].flags & ~(unsigned)TRACELOG_HAS_ID, r->without.note[0].flags);
        assert_int_equal(r->with.note[0].nframes, r->without.note[0].nframes);
        assert_int_equal(r->with.note[0].bad_text, r->without.note[0].bad_text);
    }
    return events[0] != 0;
}

/* The rule, or NULL for a line without fault. */
static const char *fault_of(const char *line, size_t n)
{
    char what[160] = "";
    n -= n > 0 && line[n - 1] == '\r';
    uint8_t *copy = malloc(n ? n : 1);
    assert_non_null(copy);
    memcpy(copy, line, n);
    const char *rule = tracelog_find_fault(copy, n, what);
    free(copy);
    assert_non_null(rule);
    assert_true(strlen(what) > 0 && strlen(what) < sizeof what);
    return strcmp(what, "does not read") == 0 ? NULL : rule;
}

/* ---- lines made from the table */

/* Texts of an item, good ones first. */
static const char *const *texts_of(tracelog_item item)
{
    static const char *const
        id[] = {"0x1", "?", "0x00007F66683F7E90", "0xffffffffffffffff", NULL},
        *const thread[] = {"0x2", "17", "?", NULL}, *const hex[] = {"0x0", "0x80004005", NULL},
        *const pid[] = {"4711", "0x12", NULL}, *const dec[] = {"0", "7", "12345678", "18446744073709551615", NULL},
        *const ms[] = {"9", "123", "9223372036854", NULL}, *const usage[] = {"15000", "9223372036854000", NULL},
        *const count[] = {"1", "0", "4294967295", NULL}, *const old[] = {"?", "3", NULL},
        *const quoted[] = {"\"a b\"", "\"\"", "\"\xc3\xa4\xff\"", "\"x\" \"y\"", NULL},
        *const three[] = {"\"A:B\" \"void\" \"(int)\"", "\"\" \"\" \"\"", NULL},
        *const word[] = {"SamplingTimeoutMs", "x", NULL}, *const rest[] = {"10", "", "a b", NULL},
        *const time[] = {"2018-06-25 07:24:28.049 +09:00", "2018-06-25 07:24:28.049", NULL},
        *const reason[] = {"?", "induced", NULL}, *const generations[] = {"tfff", "tttt", NULL},
        *const stack[] = {"0:0 0x1 0x2:0x30 ?",
                          "3:5:0x00007F66683F7E90 0x1a 0x2b:7F66683F7E88",
                          "2:2",
                          "1:2:?",
                          "65536:65536",
                          NULL},
        *const code[] = {"0x10:0x20 0x30:0x4 0x0:0x0:0x5 0x7:0x5:0x24", "0x1:0x2", "0x1:0x2:0x3", NULL},
        *const alt[] = {"0x1:2:3 ?:4:5", NULL}, *const alloc[] = {"0x1:2:3 ?:4:5:0x6 0x7:8:9:?", "0x1:1:16:7F66", NULL},
        *const sizes[] = {"gen0:1:2 gen1:3:4 gen_2:5:6 LOH:7:8", NULL}, *const none[] = {"", NULL};
    switch (item) {
    case TRACELOG_ANY_THREAD:
        return thread;
    case TRACELOG_HEX:
        return hex;
    case TRACELOG_PID:
        return pid;
    case TRACELOG_DEC:
        return dec;
    case TRACELOG_USAGE:
        return usage;
    case TRACELOG_MS:
        return ms;
    case TRACELOG_COUNT:
        return count;
    case TRACELOG_OLD_COUNT:
        return old;
    case TRACELOG_TEXT:
        return quoted;
    case TRACELOG_TEXT3:
        return three;
    case TRACELOG_TEXT_NEXT:
        return none;
    case TRACELOG_WORD:
        return word;
    case TRACELOG_REST:
        return rest;
    case TRACELOG_TIME:
        return time;
    case TRACELOG_REASON:
        return reason;
    case TRACELOG_GENERATIONS:
        return generations;
    case TRACELOG_STACK:
        return stack;
    case TRACELOG_CODE:
        return code;
    case TRACELOG_ALT:
        return alt;
    case TRACELOG_ALLOC:
        return alloc;
    case TRACELOG_SIZES:
        return sizes;
    default: /* THREAD, ID, AGAIN */
        return id;
    }
}

/* A valid line. */
static size_t make_line(char *line, const tracelog_shape *shape, uint32_t *seed)
{
    size_t n = (size_t)snprintf(line, LINE, "%s", shape->words);
    for (uint32_t i = 0; i < shape->nparts; i++) {
        const char *const *choice = texts_of(shape->part[i].item);
        uint32_t of = 0;
        while (choice[of])
            of++;
        if (shape->part[i].item != TRACELOG_TEXT_NEXT)
            n += (size_t)snprintf(line + n, LINE - n, " %s", choice[random_below(seed, of)]);
    }
    return n;
}

/* Changes a bit of a line. */
static size_t change(char *line, size_t n, uint32_t *seed)
{
    static const char chars[] = "  ::0019aAfFxXgGtu??\"\"-_.\r\t\xff\x00z"; /* and its end */
    static const char *const longer[] = {"0x", "00000000000000000000", "18446744073709551616", " 0x1", " ?", ":0x2",
                                         " \""};
    const size_t at = random_below(seed, (uint32_t)n + 1);
    const char c = chars[random_below(seed, sizeof chars)], *put = longer[random_below(seed, 7)];
    const size_t k = strlen(put);
    switch (random_below(seed, 7)) {
    case 0: /* one more */
        memmove(line + at + 1, line + at, n - at);
        line[at] = c;
        return n + 1;
    case 1: /* one less */
        if (at < n)
            memmove(line + at, line + at + 1, n - at - 1);
        return n - (at < n);
    case 2:
    case 3: /* another one */
        line[at < n ? at : 0] = c;
        return n;
    case 4: /* several more */
        memmove(line + at + k, line + at, n - at);
        memcpy(line + at, put, k);
        return n + k;
    case 5: { /* a piece less */
        const size_t less = at < n ? random_below(seed, n - at < 12 ? (uint32_t)(n - at) : 12) : 0;
        memmove(line + at, line + at + less, n - at - less);
        return n - less;
    }
    default:
        return random_below(seed, 4) ? n : at;
    }
}

static void good_lines_read(void **state)
{
    reader *r = make_reader();
    char line[LINE];
    uint32_t seed = 5;
    for (uint32_t record = 0; record < TRACELOG_RECORDS; record++)
        for (int i = 0; i < 100; i++) {
            size_t n = make_line(line, &tracelog_shapes[record], &seed);
            if (i % 4 == 0)
                line[n++] = '\r';
            if (!reads(r, line, n))
                fail_msg("%.*s", (int)n, line);
        }
    free_reader(r);
}

static void both_readers_agree(void **state)
{
    reader *r = make_reader();
    char line[LINE];
    uint32_t seed = 11, read = 0, total = 0;
    for (uint32_t record = 0; record < TRACELOG_RECORDS; record++) {
        const tracelog_item first = tracelog_shapes[record].part[0].item;
        if (first == TRACELOG_TIME || first == TRACELOG_WORD) /* the thorough reader has no check of its own */
            continue;
        for (int i = 0; i < 3000; i++) {
            size_t n = make_line(line, &tracelog_shapes[record], &seed);
            for (uint32_t changes = random_below(&seed, 3) + 1; changes > 0 && n < LINE / 2; changes--)
                n = change(line, n, &seed);
            if (n == 0 || memchr(line, '\n', n) || (n == 1 && line[0] == '\r'))
                continue;
            const char *rule = fault_of(line, n);
            if (reads(r, line, n) != (rule == NULL))
                fail_msg("\"%.*s\": %s", (int)n, line, rule ? rule : "no fault, but does not read");
            read += rule == NULL;
            total++;
        }
    }
    assert_true(read > total / 20 && read < total / 2 + total / 4); /* otherwise the changes are useless */
    free_reader(r);
}

/* Every place of a line at which a single character matters. */
static void every_single_change(void **state)
{
    static const char *const lines[] = {"sam str 0x1 2 3 1:2:0x4 0x5 ?:6",
                                        "sam str 0x1 2 3 65535:65536 0x5",
                                        "gch gcs 17 5 induced tfff",
                                        "fun inf 0x1 ? 0x3 0x4 0x5 0x6:0x7 0x8:0x9:0xa",
                                        "thr dst 0x1 0x2",
                                        "gch gen 1 a:2:3 b:4:5 c:6:7 d:8:9",
                                        "fun nam 0x1 \"a\" \"b\" \"c\"",
                                        "sam mem ? 1 0x1:2:3:4",
                                        "str sam 0x1 2 ? 0:0",
                                        "apd crf ? 0x1 0x2 \"d\""};
    reader *r = make_reader();
    char line[LINE];
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const size_t n = strlen(lines[i]);
        for (size_t at = 0; at < n; at++)
            for (unsigned c = 0; c < 256; c++) {
                memcpy(line, lines[i], n);
                line[at] = (char)c;
                if (c != '\n' && reads(r, line, n) != (fault_of(line, n) == NULL))
                    fail_msg("\"%.*s\"", (int)n, line);
            }
    }
    free_reader(r);
}

/* A line that fails late leaves no trace in the next ones. */
static void what_failed_leaves_nothing(void **state)
{
    tl_trace trace = {0};
    tracelog_part part;
    log_text t = {0};
    tl_trace_init(&trace);
    assert_int_equal(tracelog_set_classes(&trace, false, NULL), 0);
    assert_int_equal(tracelog_part_init(&part, &trace, &(const tl_want){.fields = true}, NULL), 0);
    for (unsigned i = 0; i < 300; i++) {
        text_add(&t, "sam str 0x0 %u 1 0:0", i);
        for (unsigned k = 0; k < i * 5 % 1200; k++)
            text_add(&t, " 0x%x", k);
        text_add(&t, "%s\nfun inf 0x1 0x2 0x3 0x4 0x5 0x6:0x7 0x8:9\nsam mem 0x1 7 0x1:2:3 0x1:2\n", i % 3 ? "" : " x");
    }
    text_add(&t, "sam str 0x0 1 1 0:0 0x7\n%*s", SLACK, "");
    tracelog_lines l = {.text = (uint8_t *)t.p, .at = (uint8_t *)t.p, .end = (uint8_t *)t.p + t.n - SLACK};
    assert_int_equal(tracelog_scan(&l, &part, NULL), 0);
    assert_int_equal(part.batch.n, 201);
    for (uint32_t e = 0, i = 0; e < 200; i++) {
        if (i % 3 == 0)
            continue;
        assert_int_equal(part.batch.ts[e], i);
        assert_int_equal(part.note[e].nframes, i * 5 % 1200);
        assert_int_equal(part.batch.val[e + 1] - part.batch.val[e], 5);
        for (uint32_t k = 0; k < part.note[e].nframes; k++)
            assert_int_equal(part.note[e].frame[k].function, k);
        e++;
    }
    assert_int_equal(part.note[200].frame[0].function, 7);
    tracelog_part_fini(&part);
    tl_trace_fini(&trace);
    text_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_lines_read),
        cmocka_unit_test(both_readers_agree),
        cmocka_unit_test(every_single_change),
        cmocka_unit_test(what_failed_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
