/* Traces that are folders: the format chosen, facts known without reading, parts of the time. */
#include <sys/stat.h>

#include "check.h"
#include "fake_format.h"
#include "op/source_impl.h"
#include "scratch.h"
#include "traceloom/events.h"
#include "traceloom/source.h"

/* A packed folder of one file of the given name. */
static int open_packed(tl_source **s, const char *file, const tl_open_options *o, tl_error *e)
{
    static char packed[64];
    const size_t n = strlen(file) + 1;
    memset(packed, 0, sizeof packed);
    memcpy(packed, file, n);
    return tl_source_open_folder_memory(s, packed, n + 4, "some/folder", o, e);
}

static tl_source *open_fake(const tl_want *want)
{
    tl_source *s = NULL;
    tl_error e = {0};
    const tl_open_options o = {.want = *want};
    must(open_packed(&s, "fake", &o, &e), &e);
    return s;
}

static void found_by_content(void **state)
{
    fake_reset(2, 5);
    fake.bytes = 4711;
    const tl_want want = {0};
    tl_source *s = open_fake(&want);
    const tl_trace *t = tl_source_trace(s);
    assert_string_equal(tl_trace_format(t), "fake");
    assert_string_equal(tl_trace_path(t), "some/folder");
    assert_int_equal(tl_trace_bytes(t), 4711);
    assert_int_equal(tl_source_streams(s), 2);
    tl_source_close(s);
}

static void messages_name_the_folder(void **state)
{
    tl_source *s = NULL;
    tl_error e = {0};
    fake_reset(1, 1);
    assert_int_equal(open_packed(&s, "other", NULL, &e), TL_EFORMAT);
    assert_string_equal(e.message, "some/folder: no recognised trace in this folder");
    fake_rivals = true;
    assert_int_equal(open_packed(&s, "fake", NULL, &e), TL_EFORMAT);
    assert_string_equal(e.message, "some/folder: could be fake or rival; choose with --from");
    fake_rivals = false;

    const struct {
        const char *from, *message;
        tl_code code;
    } cases[] = {
        {"nobody", "some/folder: there is no format \"nobody\"", TL_EINVAL},
        {"output", "some/folder: format output can only be written", TL_EUNSUPPORTED},
        {"files", "some/folder: is a folder; traces of format files are files", TL_EFORMAT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const tl_open_options o = {.from = cases[i].from};
        assert_int_equal(open_packed(&s, "fake", &o, &e), cases[i].code);
        assert_string_equal(e.message, cases[i].message);
    }
    const tl_open_options o = {.from = "folders"};
    assert_int_equal(tl_source_open_memory(&s, "x", 1, "a.file", &o, &e), TL_EFORMAT);
    assert_string_equal(e.message, "a.file: is a file; traces of format folders are folders");
    assert_null(s);
}

/* A folder on disk, with and without a slash at the end. */
static void opened_by_its_path(void **state)
{
    fake_reset(1, 3);
    assert_int_equal(mkdir("trace", 0777), 0);
    scratch_write("trace/fake", "x", 1);
    for (int slash = 0; slash < 2; slash++) {
        tl_source *s = NULL;
        tl_error e = {0};
        must(tl_source_open(&s, slash ? "trace/" : "trace", NULL, &e), &e);
        assert_string_equal(tl_trace_path(tl_source_trace(s)), "trace");
        tl_source_close(s);
    }
    unlink("trace/fake");
    tl_source *s = NULL;
    tl_error e = {0};
    assert_int_equal(tl_source_open(&s, "trace", NULL, &e), TL_EFORMAT);
    assert_string_equal(e.message, "trace: no recognised trace in this folder");
}

/* A folder has no input: errors of cursors name the folder. */
static void errors_of_cursors_name_the_folder(void **state)
{
    fake_reset(1, 3);
    fake.fail_at[0] = 1;
    const tl_want want = {0};
    tl_source *s = open_fake(&want);
    const tl_batch *b;
    tl_error e = {0};
    assert_int_equal(tl_source_next(s, &b, &e), TL_EIO);
    assert_string_equal(e.message, "some/folder: fake: event 0 of stream 0 cannot be read");
    tl_source_close(s);
}

static const tl_damage note = {.offset = 5, .at = 5, .kind = TL_DAMAGE_NOTE, .rule = "fake.note", .file = "a"};
static const tl_damage fault = {.offset = 9, .at = 12, .kind = TL_DAMAGE_FAULT, .rule = "fake.fault", .file = "a"};

static void strict_opening_stops_at_damage_but_not_at_notes(void **state)
{
    const fake_report reports[] = {{.damage = note, .what = "a note"}, {.damage = fault, .what = "is broken"}};
    const tl_want want = {.strict = true};
    const tl_open_options o = {.want = want};
    tl_source *s = NULL;
    tl_error e = {0};
    fake_reset(1, 1);
    fake.opening = reports;
    fake.nopening = 2;
    assert_int_equal(open_packed(&s, "fake", &o, &e), TL_EDAMAGED);
    assert_string_equal(e.message, "some/folder: a: fake.fault: is broken");
    assert_int_equal(e.offset, 12);
    fake.nopening = 1;
    s = open_fake(&want);
    assert_int_equal(tl_trace_notes(tl_source_trace(s)), 1);
    tl_source_close(s);
}

static void count_with_ranges(tl_count *c)
{
    const tl_want want = {0};
    tl_source *s = open_fake(&want);
    assert_int_equal(tl_source_count(s, 2, c, NULL), 0);
    tl_source_close(s);
}

/* Tracks and the trace cover more time than their events. */
static void counts_include_what_the_reader_knows(void **state)
{
    tl_count c;
    fake_reset(3, 0);
    count_with_ranges(&c);
    assert_int_equal(c.first, 0);
    assert_int_equal(c.last, 0);
    tl_count_free(&c);

    fake.events[0] = 4;
    fake.step = 1; /* all events at 100 */
    fake.first[0] = 100;
    fake.track[1] = (tl_track){.has_range = true, .begin = 50, .end = 60};
    count_with_ranges(&c);
    assert_int_equal(c.events, 4);
    assert_int_equal(c.begin[0], 100);
    assert_int_equal(c.end[0], 100);
    assert_int_equal(c.begin[1], 50);
    assert_int_equal(c.end[1], 60);
    assert_int_equal(c.begin[2], 0);
    assert_int_equal(c.end[2], 0);
    assert_int_equal(c.first, 50);
    assert_int_equal(c.last, 100);
    tl_count_free(&c);

    fake.track[0] = (tl_track){.has_range = true, .begin = 101, .end = 150}; /* not obeyed by its events */
    fake.has_range = true;
    fake.begin = 40;
    fake.end = 149;
    count_with_ranges(&c);
    assert_int_equal(c.begin[0], 100);
    assert_int_equal(c.end[0], 150);
    assert_int_equal(c.first, 40);
    assert_int_equal(c.last, 150);
    tl_count_free(&c);
}

static void known_without_reading(void **state)
{
    tl_count c;
    fake_reset(2, 100);
    fake.track[1] = (tl_track){.has_range = true, .begin = 50, .end = 60};
    fake.has_range = true;
    fake.begin = 40;
    fake.end = 70;
    const tl_want want = {0};
    tl_source *s = open_fake(&want);
    assert_int_equal(tl_count_known(tl_source_trace(s), &c, NULL), 0);
    assert_int_equal(atomic_load(&fake.opened), 0);
    assert_int_equal(c.events, 0);
    assert_int_equal(c.begin[1], 50);
    assert_int_equal(c.first, 40);
    assert_int_equal(c.last, 70);
    tl_count_free(&c);
    tl_source_close(s);
}

static uint64_t read_events(tl_source *s, const tl_select *select, bool ordered, uint64_t *begin)
{
    tl_events *v = NULL;
    tl_error e = {0};
    must(tl_events_open(&v, &s, 1, select, ordered, &e), &e);
    const tl_batch *b;
    uint32_t from, to;
    uint64_t n = 0;
    int status;
    while ((status = tl_events_next(v, &b, &from, &to, &e)) > 0)
        n += to - from;
    if (status < 0 && status != TL_ENOMATCH)
        fail_msg("%s", e.message);
    *begin = tl_events_begin(v);
    tl_events_close(v);
    return n;
}

/* If each event stands alone, a reader hears that others are not needed; the answer is the same. */
static void a_part_of_the_time(void **state)
{
    const tl_class cls[] = {{.kind = TL_ENTER, .key = TL_KEY_FUNCTION, .name = "enter"},
                            {.kind = TL_EXIT, .key = TL_KEY_FUNCTION, .name = "exit"}};
    const struct {
        tl_select select;
        uint64_t from, to;
        bool limited;
    } cases[] = {
        {{.has_from = true, .time_from = 100, .has_to = true, .time_to = 300}, 1100, 1300, true},
        {{.has_to = true, .time_to = 300}, 0, 1300, true},
        {{.has_from = true, .time_from = 100}, 1100, UINT64_MAX, true},
        {{.has_from = true, .time_from = 100, .ncls = 1, .cls = (const char *const[]){"e*"}}, 1100, UINT64_MAX, true},
        {{.ncls = 1, .cls = (const char *const[]){"exit"}}, 0, 0, false},
        {{.has_from = true, .time_from = 100, .depth = 1}, 0, 0, false},
        {{.has_from = true, .time_from = 100, .min_ticks = 1}, 0, 0, false},
        {{.has_from = true, .time_from = 100, .nfunc = 1, .func = (const char *const[]){"#*"}}, 0, 0, false},
        {{.has_from = true, .time_from = 100, .nnot = 1, .not_func = (const char *const[]){"#1"}}, 0, 0, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int ordered = 0; ordered < 2; ordered++) {
            uint64_t n[2], begin = 0;
            for (int limits = 0; limits < 2; limits++) {
                fake_reset(3, 400);
                fake.cls = cls;
                fake.ncls = 2;
                fake.first[0] = fake.first[1] = fake.first[2] = 1000;
                fake.has_range = true;
                fake.begin = 1000;
                fake.end = 9000;
                fake.limits = limits;
                const tl_want want = {0};
                tl_source *s = open_fake(&want);
                n[limits] = read_events(s, &cases[i].select, ordered, &begin);
                tl_source_close(s);
                assert_int_equal(begin, 1000);
                assert_true(atomic_load(&fake.limit_from) == cases[i].from);
                assert_true(atomic_load(&fake.limit_to) == cases[i].to);
            }
            assert_int_equal(n[0], n[1]);
            assert_true(cases[i].limited ? n[0] > 0 && n[0] < 1200 : true);
        }
}

/* If the reader knows the time, nothing is read before the events themselves. */
static void the_begin_is_not_searched_for(void **state)
{
    for (int known = 0; known < 2; known++) {
        uint64_t begin;
        fake_reset(2, 10);
        fake.first[0] = fake.first[1] = 500;
        fake.has_range = known;
        fake.begin = 300;
        fake.end = 900;
        const tl_want want = {0};
        tl_source *s = open_fake(&want);
        assert_int_equal(read_events(s, NULL, true, &begin), 20);
        assert_int_equal(begin, known ? 300 : 500);
        assert_int_equal(atomic_load(&fake.opened), known ? 2 : 4);
        tl_source_close(s);
    }
}

/* A track without events, but with a time, is a begin, too. */
static void a_begin_without_events(void **state)
{
    uint64_t begin;
    fake_reset(2, 0);
    fake.track[1] = (tl_track){.has_range = true, .begin = 50, .end = 60};
    const tl_want want = {0};
    tl_source *s = open_fake(&want);
    assert_int_equal(read_events(s, NULL, true, &begin), 0);
    assert_int_equal(begin, 50);
    tl_source_close(s);
}

static void cursors_pass_limits_on(void **state)
{
    fake_reset(1, 100);
    fake.limits = true;
    fake.step = 1; /* all at tick 7 */
    fake.first[0] = 7;
    const tl_want want = {0};
    tl_source *s = open_fake(&want);
    tl_cursor *c = NULL;
    const tl_batch *b;
    assert_int_equal(tl_cursor_open(&c, s, 0, NULL), 0);
    assert_int_equal(tl_cursor_limit(c, 7, 8, NULL), 0);
    assert_int_equal(tl_cursor_next(c, &b, NULL), 1);
    assert_int_equal(b->n, 100);
    tl_cursor_close(c);
    assert_int_equal(tl_cursor_open(&c, s, 0, NULL), 0);
    assert_int_equal(tl_cursor_limit(c, 8, UINT64_MAX, NULL), 0);
    assert_int_equal(tl_cursor_next(c, &b, NULL), 0);
    tl_cursor_close(c);
    tl_cursor_close(NULL);
    tl_source_close(s);
}

/* How many classes two joined traces have together, each with one class. */
static uint32_t joined_classes(const tl_class *a, const tl_class *b, bool *has_utc, int64_t utc_offset)
{
    const tl_want want = {0};
    tl_source *s[2];
    tl_events *v = NULL;
    tl_error e = {0};
    fake_reset(1, 1);
    fake.ncls = 1;
    for (int i = 0; i < 2; i++) {
        fake.cls = i ? b : a;
        s[i] = open_fake(&want);
        s[i]->trace.clock.has_utc = true;
        s[i]->trace.clock.utc_offset_ns = i ? utc_offset : 7;
    }
    must(tl_events_open(&v, s, 2, NULL, true, &e), &e);
    const uint32_t n = tl_trace_classes(tl_events_trace(v));
    *has_utc = tl_trace_clock(tl_events_trace(v))->has_utc;
    tl_events_close(v);
    tl_source_close(s[0]);
    tl_source_close(s[1]);
    return n;
}

static void classes_that_say_the_same_are_joined(void **state)
{
    static const tl_mapping labels[] = {{"on", 1, 1}, {"off", 0, 0}}, others[] = {{"on", 1, 1}, {"off", 0, 3}};
    static const tl_field inner[] = {{.name = "x", .type = TL_U64, .mapping = labels, .nmapping = 2}},
                          same[] = {{.name = "x", .type = TL_U64, .mapping = labels, .nmapping = 2}},
                          other_label[] = {{.name = "x", .type = TL_U64, .mapping = others, .nmapping = 2}},
                          other_width[] = {{.name = "x", .type = TL_U64, .bits = 8, .mapping = labels, .nmapping = 2}};
    static const tl_field *const members[] = {same, other_label, other_width};
    const tl_field outer = {.name = "s", .type = TL_STRUCT, .member = inner, .nmember = 1};
    const tl_class a = {.kind = TL_INSTANT, .name = "a", .field = &outer, .nfield = 1};
    bool has_utc;
    for (int i = 0; i < 3; i++) {
        tl_field field = outer;
        tl_class b = a;
        field.member = members[i];
        b.field = &field;
        assert_int_equal(joined_classes(&a, &b, &has_utc, 7), i ? 2 : 1);
        assert_true(has_utc);
    }
    tl_class b = a;
    b.level = "DEBUG";
    assert_int_equal(joined_classes(&a, &b, &has_utc, 8), 2);
    assert_true(has_utc); /* sorted by the time of day */
    b = a;
    b.kind = TL_STATE;
    assert_int_equal(joined_classes(&a, &b, &has_utc, 7), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_that_say_the_same_are_joined),
        cmocka_unit_test(found_by_content),
        cmocka_unit_test(messages_name_the_folder),
        cmocka_unit_test_setup_teardown(opened_by_its_path, scratch_enter, scratch_leave),
        cmocka_unit_test(errors_of_cursors_name_the_folder),
        cmocka_unit_test(strict_opening_stops_at_damage_but_not_at_notes),
        cmocka_unit_test(counts_include_what_the_reader_knows),
        cmocka_unit_test(known_without_reading),
        cmocka_unit_test(a_part_of_the_time),
        cmocka_unit_test(the_begin_is_not_searched_for),
        cmocka_unit_test(a_begin_without_events),
        cmocka_unit_test(cursors_pass_limits_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
