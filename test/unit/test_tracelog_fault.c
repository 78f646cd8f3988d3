/* Faults in lines of a TraceLog: the rule of the first one, in the order in which fields are checked. */
#include "tracelog_fixture.h"

#define FIELD   "tracelog.field"
#define RANGE   "tracelog.number-range"
#define STRING  "tracelog.string"
#define PREFIX  "tracelog.prefix"
#define UNKNOWN "tracelog.unknown-record"

static const struct {
    const char *line, *rule; /* NULL: valid */
} cases[] = {
    /* words */
    {"abc", UNKNOWN},
    {"sam st", UNKNOWN},
    {"samXstr 0x0 1 1 0:0", UNKNOWN},
    {"sam strX0x0 1 1 0:0", UNKNOWN},
    {"# comment", UNKNOWN},
    {"Sam str 0x0 1 1 0:0", UNKNOWN},
    {"sam xyz 0x0 1 1 0:0", UNKNOWN},
    {" sam str 0x0 1 1 0:0", UNKNOWN},
    {"sam str", FIELD},
    {"sam str ", FIELD},
    /* numbers of fields, before their contents */
    {"sam str 0x0 1 1", FIELD},
    {"sam str 99999999999999999999999 1 1", FIELD},
    {"sam str 0x0  1 1 0:0", FIELD},
    {"sam str 0x0 1 1 0:0 ", FIELD},
    {"sam str 0x0 9999999999999 1 0:0 ", FIELD},
    {"prf tps 1 2", FIELD},
    {"prf tps", FIELD},
    {"prf tps 1", NULL},
    {"thr dst", FIELD},
    {"thr dst ?", NULL},
    {"thr dst 0x1 0x2", NULL},
    {"thr dst 0x1 0x2 0x3", FIELD},
    {"gch gen 1 a:1:2 b:1:2 c:1:2", FIELD},
    {"gch gen 1 a:1:2 b:1:2 c:1:2 d:1:2", NULL},
    {"gch gen 1 a:1:2 b:1:2 c:1:2 d:1:2 e:1:2", FIELD},
    {"gch gen 9223372036855 a:1:2 b:1:2 c:1:2", FIELD},
    /* ids and numbers */
    {"mod ata 0x1 ?", NULL},
    {"mod ata 0x1 1", FIELD},
    {"mod ata 0x1 0X1", FIELD},
    {"mod ata 0x1 0x", FIELD},
    {"mod ata 0x10000000000000000 0x1", RANGE},
    {"mod ata 0x10000000000000000 x", RANGE},
    {"mod ata x 0x10000000000000000", FIELD},
    {"mod ata 0x1ffffffffffffffffg 0x1", FIELD},
    {"mod ata 0x0000000000000000000000FfFfFfFfFfFfFfFf 0x1", NULL},
    {"prf tps 9223372036854", NULL},
    {"prf tps 9223372036855", RANGE},
    {"prf tps 18446744073709551616", RANGE},
    {"prf tps 99999999999999999999x", FIELD},
    {"prf tps -1", FIELD},
    {"prc cpu 1 9223372036854000", NULL},
    {"prc cpu 1 9223372036854001", RANGE},
    {"thr aos 0x1 0x12", NULL},
    {"thr aos 0x1 12", NULL},
    {"thr aos 0x1 ?", FIELD},
    {"thr aos 0x1 1a", FIELD},
    {"gch gcf 17 5", NULL},
    {"gch gcf 17a 5", FIELD},
    {"gch gcf 18446744073709551616 5", RANGE},
    {"gch gcs 0x1 5 induced tfft", NULL},
    {"gch gcs 0x1 5 Induced tfff", FIELD},
    {"gch gcs 0x1 5 ? tff", FIELD},
    {"gch gcs 0x1 5 ? tffff", FIELD},
    {"gch gcs 0x1 9223372036855 x x", RANGE},
    {"lin src 0x1 0x2 0x3 1 2 3 18446744073709551615", NULL},
    {"lin src 0x1 0x2 0x3 1 2 3 18446744073709551616", RANGE},
    /* stacks */
    {"sam str ? 1 4294967295 0:0", NULL},
    {"sam str ? 1 4294967296 0:0", RANGE},
    {"sam str ? 1 ? 0:0", FIELD},
    {"str sam ? 1 ? 0:0", NULL},
    {"str sam ? 1 ?", FIELD},
    {"str sam 1 1 ?", FIELD},
    {"str sam ? 9223372036855 x", RANGE},
    {"sam str 0x0 1 1 0", FIELD},
    {"sam str 0x0 1 1 1:2:3:4", FIELD},
    {"sam str 0x0 1 1 1:", FIELD},
    {"sam str 0x0 1 1 65537:1", RANGE},
    {"sam str 0x0 1 1 65536:65536", NULL},
    {"sam str 0x0 1 1 65536:65536 0x1", RANGE},
    {"sam str 0x0 1 1 65536:65536 x", FIELD},
    {"sam str 0x0 1 1 2:65537", RANGE},
    {"sam str 0x0 1 1 2:1", PREFIX},
    {"sam str 0x0 1 1 2:1 x", PREFIX},
    {"sam str 0x0 1 1 0:1:0x1", PREFIX},
    {"sam str 0x0 1 1 0:1:x", FIELD},
    {"sam str 0x0 1 1 1:1:?", NULL},
    {"sam str 0x0 1 1 1:1:1f", NULL},
    {"sam str 0x0 1 1 1:1:0x", FIELD},
    {"sam str 0x0 1 1 0:0 0x1:", FIELD},
    {"sam str 0x0 1 1 0:0 0x1:0x2:0x3", FIELD},
    {"sam str 0x0 1 1 0:0 0x1:10000000000000000 x", RANGE},
    {"sam str 0x0 1 1 0:0 1:0x1", FIELD},
    /* other lists */
    {"gch alt 1", NULL},
    {"gch alt 1 0x1:2:3 ?:4:5", NULL},
    {"gch alt 1 0x1:2:3:0x4", FIELD},
    {"sam mem ? 1 0x1:2:3:?", NULL},
    {"sam mem ? 1 0x1:2:3:4:5", FIELD},
    {"sam mem ? 1 0x1:2", FIELD},
    {"sam mem ? 1 0x1:18446744073709551616:x", RANGE},
    {"gch gen 1 a-b:1:2 b:1:2 c:1:2 d:1:2", FIELD},
    {"gch gen 1 :1:2 b:1:2 c:1:2 d:1:2", FIELD},
    {"fun inf 0x1 0x2 0x3 0x4 0x5", NULL},
    {"fun inf 0x1 0x2 0x3 0x4 0x5 0x1:0x2:0x3 0x1:0x2", FIELD},
    {"fun inf 0x10000000000000000 0x2 0x3 0x4 0x5 0x1:0x2 x", FIELD},
    {"fun inf x 0x2 0x3 0x4 0x5 0x1:0x10000000000000000", RANGE},
    {"fun inf 0x1 0x2 0x3 0x4 0x5 ?:0x2", FIELD},
    {"fun cmf 0x1 0x2 0x3 0x4 0x5 ? 0x1:0x2", FIELD},
    {"fun csf 0x1 0x2 0x3 0x4 ?", FIELD},
    /* texts */
    {"cls nam 0x1 \"\"", NULL},
    {"cls nam 0x1", FIELD},
    {"cls nam 0x1 ", STRING},
    {"cls nam 0x1 \"", STRING},
    {"cls nam 0x1 \"a\" ", STRING},
    {"cls nam 0x1 a\"", STRING},
    {"cls nam  \"a\"", FIELD},
    {"cls nam x a", FIELD},
    {"cls nam 0x10000000000000000 a", RANGE},
    {"fun nam 0x1 \"a\" \"b\" \"c\"", NULL},
    {"fun nam 0x1 \"a\" \"b\"", STRING},
    {"apd crf 0x1 x 0x0 a", FIELD},
    /* time and settings */
    {"prf stm 2018-06-25 07:24:28.049 +09:00", NULL},
    {"prf stm 2018-02-29 07:24:28.049", FIELD},
    {"prf stm", FIELD},
    {"prf cfg", FIELD},
    {"prf cfg x", FIELD},
    {"prf cfg  x", FIELD},
    {"prf cfg x ", NULL},
    {"prf cfg x y  z ", NULL},
};

/* Each line alone between two good ones, with both ends of lines. */
static void rule_of_each_line(void **state)
{
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        const char *line = cases[i / 2].line, *rule = cases[i / 2].rule, *end = i % 2 ? "\r\n" : "\n";
        log_text log = {0};
        tl_count count;
        text_add(&log, "prf tps 1\n%s%sprf trs 2\n", line, end);
        tl_source *s = open_log_text(log.p, log.n, &(const tl_want){.fields = true});
        assert_int_equal(tl_source_count(s, 1, &count, NULL), 0);
        const tl_trace *t = tl_source_trace(s);
        const tl_damage *d = tl_trace_damages(t) ? tl_trace_damage(t, 0) : NULL;
        const bool stack = d && strcmp(d->rule, "tracelog.stack-size") == 0; /* because the line is valid anyway */
        if (count.events != (rule ? 2 : 3) || (rule ? !d || strcmp(d->rule, rule) != 0 : d && !stack))
            fail_msg("\"%s\": %u events, %s; expected %s", line, (unsigned)count.events, d ? d->rule : "no damage",
                     rule ? rule : "none");
        if (rule) {
            assert_int_equal(tl_trace_damages(t), 1);
            assert_int_equal(d->offset, 10);
            assert_int_equal(d->bytes, strlen(line) + strlen(end));
        }
        tl_count_free(&count);
        tl_source_close(s);
        text_free(&log);
    }
}

/* Text of a line in a message is cut, and contains nothing that would drive a terminal. */
static void messages_are_plain(void **state)
{
    log_text log = {0};
    tl_count count;
    text_add(&log, "prf tps \x1b[31m\x01\xff\nprf tps %0300d\n\x1b\xff%0300d\n", 0, 0);
    log.p[log.n - 305] = 'x'; /* at the end of the long number */
    tl_source *s = open_log_text(log.p, log.n, &(const tl_want){.fields = true});
    assert_int_equal(tl_source_count(s, 1, &count, NULL), 0);
    const tl_trace *t = tl_source_trace(s);
    assert_int_equal(tl_trace_damages(t), 3);
    for (uint32_t i = 0; i < 3; i++) {
        const char *what = tl_trace_damage(t, i)->what;
        assert_true(strlen(what) < 160);
        for (const char *p = what; *p; p++)
            assert_in_range(*p, ' ', '~');
    }
    tl_count_free(&count);
    tl_source_close(s);
    text_free(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rule_of_each_line),
        cmocka_unit_test(messages_are_plain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
