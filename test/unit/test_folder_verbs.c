/* info, check and convert of traces whose readers find damage while reading, know times without reading, and have notes
 * and properties: output and exit statuses. */
#include <fcntl.h>
#include <sys/stat.h>

#include "check.h"
#include "cli/verbs.h"
#include "fake_format.h"
#include "scratch.h"

#define LARGE (UINT64_C(1) << 30) /* too large to count */

static char *out, *err; /* of the last run */

static int enter_folder(void **state)
{
    if (scratch_enter(state) < 0 || mkdir("trace", 0777) < 0)
        return -1;
    scratch_write("trace/fake", "x", 1);
    return 0;
}

static int leave_folder(void **state)
{
    free(out);
    free(err);
    out = err = NULL;
    unlink("trace/fake");
    return scratch_leave(state);
}

static char *take(const char *name)
{
    size_t n;
    char *text = scratch_read(name, &n);
    unlink(name);
    return text;
}

/* Runs a command line, its words separated by blanks. Returns the exit status. */
static int run(const char *line)
{
    char words[256], message[TL_USAGE_SIZE];
    const char *argv[16];
    int argc = 0, status = TL_EXIT_USAGE;
    snprintf(words, sizeof words, "%s", line);
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
        argv[argc++] = word;
    fflush(stdout);
    fflush(stderr);
    const int saved[2] = {dup(1), dup(2)};
    const int files[2] = {open("out", O_CREAT | O_WRONLY, 0666), open("err", O_CREAT | O_WRONLY, 0666)};
    dup2(files[0], 1);
    dup2(files[1], 2);
    tl_arguments a;
    tl_cli c = {.args = &a};
    if (tl_arguments_parse(&a, argc, argv, message)) {
        tl_terminal_file(&c.out);
        switch (a.verb->id) {
        case TL_VERB_INFO:
            status = tl_verb_info(&c);
            break;
        case TL_VERB_CHECK:
            status = tl_verb_check(&c);
            break;
        case TL_VERB_REPORT:
            status = tl_verb_report(&c);
            break;
        default:
            status = tl_verb_convert(&c);
            break;
        }
    }
    tl_arguments_fini(&a);
    fflush(stderr);
    for (int i = 0; i < 2; i++) {
        dup2(saved[i], i + 1);
        close(saved[i]);
        close(files[i]);
    }
    free(out);
    free(err);
    out = take("out");
    err = take("err");
    return status;
}

static void says(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("\"%s\" is not in: %s", part, text);
}

static void says_not(const char *text, const char *part)
{
    if (strstr(text, part))
        fail_msg("\"%s\" is in: %s", part, text);
}

static const fake_report note = {
    .damage = {.offset = 5, .at = 5, .kind = TL_DAMAGE_NOTE, .rule = "fake.note", .file = "a"},
    .what = "encrypted packet"};
static const fake_report fault = {
    .damage = {.offset = 9, .at = 12, .kind = TL_DAMAGE_FAULT, .rule = "fake.fault", .file = "a"}, .what = "is odd"};
static const fake_report loss = {
    .damage = {.offset = 20, .bytes = 30, .at = 24, .kind = TL_DAMAGE_LOSS, .rule = "fake.loss", .file = "b/c"},
    .what = "is skipped"};
static const fake_report both = {
    .damage = {.offset = 40, .bytes = 1, .at = 44, .kind = TL_DAMAGE_FAULT | TL_DAMAGE_LOSS, .rule = "fake.both"},
    .what = "is broken"};

/* A trace of two streams; reading event 3 of the first one reports `r`. */
static void trace_with(const fake_report *r)
{
    static fake_report report;
    fake_reset(2, 10);
    report = *r;
    report.event = 3;
    fake.report = &report;
    fake.nreport = 1;
}

static void a_fault_is_a_problem_but_no_damage(void **state)
{
    trace_with(&fault);
    assert_int_equal(run("check trace"), TL_EXIT_NO);
    assert_string_equal(out, "trace/a: byte 12: fake.fault: is odd\n");
    assert_int_equal(run("check --json trace"), TL_EXIT_NO);
    says(out,
         "\"ok\":false,\"problems\":[{\"offset\":12,\"rule\":\"fake.fault\",\"what\":\"is odd\",\"file\":\"a\"}]}");
    assert_int_equal(run("info --json trace"), TL_EXIT_DONE);
    says(out, "\"damage\":[]");
    says_not(out, "notes");
    assert_int_equal(run("info trace"), TL_EXIT_DONE);
    says(out, "damage    none\n");
    assert_string_equal(err, "trace: fake.fault: 1 fault that lost nothing (traceloom check lists it)\n");
    assert_int_equal(run("convert trace --to fake -o -"), TL_EXIT_DONE);
    says_not(err, "lost nothing"); /* nothing that was converted depends on it */
    assert_int_equal(fake.written, 20);
}

static void a_loss_is_damage_but_no_problem(void **state)
{
    trace_with(&loss);
    assert_int_equal(run("check trace"), TL_EXIT_DONE);
    assert_string_equal(out, "trace: ok\n");
    assert_int_equal(run("check --json trace"), TL_EXIT_DONE);
    says(out, "\"ok\":true,\"problems\":[]}");
    assert_int_equal(run("info --json trace"), TL_EXIT_DAMAGED);
    says(out, "\"damage\":[{\"offset\":20,\"bytes\":30,\"what\":\"is skipped\",\"file\":\"b/c\"}]");
    assert_int_equal(run("info trace"), TL_EXIT_DAMAGED);
    says(out, "damage    1 place\n");
    assert_string_equal(err, "trace/b/c: byte 20: fake.loss: is skipped; 30 bytes skipped\n");
    assert_int_equal(run("convert trace --to fake -o -"), TL_EXIT_DAMAGED);
    says(err, "trace/b/c: byte 20: ");
}

static void both_is_both(void **state)
{
    trace_with(&both);
    assert_int_equal(run("check trace"), TL_EXIT_NO);
    assert_string_equal(out, "trace: byte 44: fake.both: is broken\n");
    assert_int_equal(run("info --json trace"), TL_EXIT_DAMAGED);
    says(out, "\"damage\":[{\"offset\":40,\"bytes\":1,\"what\":\"is broken\"}]");
    assert_int_equal(run("report --json trace --by class"), TL_EXIT_DAMAGED);
    says(err, "trace: byte 40: fake.both: is broken; 1 byte skipped\n");
}

static void a_note_is_neither(void **state)
{
    trace_with(&note);
    assert_int_equal(run("check --strict trace"), TL_EXIT_DONE);
    assert_string_equal(out, "trace: ok\n");
    assert_string_equal(err, "trace/a: byte 5: encrypted packet\n");
    assert_int_equal(run("info --json trace"), TL_EXIT_DONE);
    says(out, "\"damage\":[],\"notes\":[{\"offset\":5,\"what\":\"encrypted packet\",\"file\":\"a\"}]");
    assert_int_equal(run("info trace"), TL_EXIT_DONE);
    says(out, "  notes     1\n");
    assert_string_equal(err, "trace/a: byte 5: encrypted packet\n");
    assert_int_equal(run("info -q trace"), TL_EXIT_DONE);
    assert_string_equal(err, "");
}

static void strict_stops_where_the_reader_stops(void **state)
{
    trace_with(&fault);
    assert_int_equal(run("info --strict trace"), TL_EXIT_DAMAGED);
    assert_string_equal(out, "");
    assert_string_equal(err, "trace: byte 12: fake: fake.fault: is odd\n");
}

/* Only some are shown, the others counted. */
static void many_places(void **state)
{
    fake_report reports[24];
    for (uint32_t i = 0; i < 24; i++) {
        const fake_report *kinds[] = {&fault, &loss, &note};
        reports[i] = *kinds[i % 3];
        reports[i].damage.at = reports[i].damage.offset = 100 + i;
        reports[i].event = i / 3;
    }
    fake_reset(1, 10);
    fake.report = reports;
    fake.nreport = 24;
    assert_int_equal(run("info trace"), TL_EXIT_DAMAGED);
    says(err, "; 8 such places, 240 bytes skipped (traceloom check lists them)\n");
    says_not(err, "trace/b/c: byte 104: ");
    says(err, "trace: fake.fault: 8 faults that lost nothing (traceloom check lists them)\n");
    says(err, "trace: and 3 more such places (traceloom info --json lists them)\n");
    assert_int_equal(run("check trace"), TL_EXIT_NO);
    says(out, "trace/a: byte 121: fake.fault: is odd\n");
    says_not(out, "more");
    assert_int_equal(run("check --strict trace"), TL_EXIT_NO);
    assert_string_equal(out, "trace/a: byte 100: fake.fault: is odd\ntrace: and 7 more\n");
}

static int go_back(tl_trace *t, tl_error *e)
{
    (void)e;
    t->out_of_order = 12;
    return 0;
}

static void events_that_go_back_in_time(void **state)
{
    fake_reset(1, 3);
    fake.properties = go_back;
    static const char *const verbs[] = {"info", "check", "info --json", "convert --to fake -o -",
                                        "report --json --by class"};
    static const char told[] = "trace: 12 events go back in time; their order was kept\n";
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        char line[64];
        snprintf(line, sizeof line, "%s trace", verbs[i]);
        assert_int_equal(run(line), TL_EXIT_DONE);
        assert_memory_equal(err, told, strlen(told)); /* report has one more: there are no calls */
        snprintf(line, sizeof line, "%s --strict trace", verbs[i]);
        assert_int_equal(run(line), TL_EXIT_DAMAGED);
        says(err, told);
    }
}

static void tracks_without_events_have_times(void **state)
{
    fake_reset(3, 0);
    fake.events[0] = 2;
    fake.step = 1;
    fake.first[0] = 1000;
    fake.track[1] = (tl_track){.has_range = true, .begin = 900, .end = 5000};
    assert_int_equal(run("info --json trace"), TL_EXIT_DONE);
    says(out, "\"tracks\":[{\"name\":\"stream 0\",\"pid\":null,\"tid\":null,\"events\":2,\"begin\":100,\"end\":100},"
              "{\"name\":\"stream 1\",\"pid\":null,\"tid\":null,\"events\":0,\"begin\":0,\"end\":4100}]");
    says(out, "\"begin\":0,\"end\":4100,");
    assert_int_equal(run("info trace"), TL_EXIT_DONE);
    says(out, "  pid  stream\n");
    says(out, "     0    0.0 % ");
    says_not(out, "stream 2");
}

/* Two classes of one name and kind are one for users; of another kind, they are not. */
static void classes_of_one_name_are_one(void **state)
{
    static const tl_field field = {.name = "value", .type = TL_U64};
    const tl_class cls[] = {{.kind = TL_INSTANT, .name = "a"},
                            {.kind = TL_INSTANT, .name = "b"},
                            {.kind = TL_INSTANT, .name = "a", .field = &field, .nfield = 1},
                            {.kind = TL_STATE, .name = "a"},
                            {.kind = TL_INSTANT, .name = "never"}};
    fake_reset(1, 4);
    fake.cls = cls;
    fake.ncls = 4;
    fake.events[0] = 12;
    assert_int_equal(run("info --json trace"), TL_EXIT_DONE);
    says(out, "\"classes\":[{\"name\":\"a\",\"kind\":\"instant\",\"events\":6},{\"name\":\"b\",\"kind\":\"instant\","
              "\"events\":3},{\"name\":\"a\",\"kind\":\"state\",\"events\":3}]");
    fake.ncls = 5;
    fake.events[0] = 4;
    assert_int_equal(run("info --json trace"), TL_EXIT_DONE);
    says_not(out, "never");
}

static int two_properties(tl_trace *t, tl_error *e)
{
    int status = tl_trace_add_property(t, "host", "raton", 0, e);
    if (status == 0)
        status = tl_trace_add_property(t, "tracer_major", NULL, -2, e);
    return status == 0 ? tl_trace_add_property(t, "host", "another", 0, e) : status;
}

static int many_properties(tl_trace *t, tl_error *e)
{
    int status = 0;
    for (int i = 0; status == 0 && i < 15; i++) {
        char name[40];
        snprintf(name, sizeof name, "a_name_that_is_rather_long_%d", i);
        status = tl_trace_add_property(t, name, "x\033y", i, e);
    }
    return status;
}

static void properties_are_shown(void **state)
{
    fake_reset(1, 1);
    assert_int_equal(run("info --json trace"), TL_EXIT_DONE);
    says_not(out, "properties");
    fake.properties = two_properties;
    assert_int_equal(run("info --json trace"), TL_EXIT_DONE);
    says(out, ",\"properties\":{\"host\":\"raton\",\"tracer_major\":-2}}\n");
    assert_int_equal(run("info trace"), TL_EXIT_DONE);
    says(out, "\n  host          raton\n  tracer_major  -2\n\n");
    says_not(out, "another");
    fake.properties = many_properties;
    assert_int_equal(run("info trace"), TL_EXIT_DONE);
    says(out, "  a_name_that_is_rather_long_11  x");
    says_not(out, "rather_long_12");
    says(out, "... 3 more properties; --json lists all\n");
    says_not(out, "\033");
}

/* Large traces with known times are only read to the end on request. */
static void large_traces_are_not_counted(void **state)
{
    fake_reset(2, 10);
    fake.bytes = LARGE + 1;
    fake.has_range = true;
    fake.begin = 100;
    fake.end = 2600;
    fake.track[1] = (tl_track){.has_range = true, .begin = 350, .end = 2600, .has_pid = true, .pid = 77};
    assert_int_equal(run("info trace"), TL_EXIT_DONE);
    assert_int_equal(atomic_load(&fake.opened), 0);
    says(out, "  events    not counted; --count reads all of it\n");
    says(out, "  span      2.50 us\n");
    says(out, "  damage    none so far\n");
    says(out, " begin      end  pid  stream\n");
    says(out, "250 ns  2.50 us   77  stream 1\n");
    says(out, "                      stream 0\n");
    says_not(out, "share");
    says(out, "\n   kind  class\ninstant  fake.a\ninstant  fake.b\n  state  fake.a\n--count gives the counts\n");
    static const char *const all[] = {"info --count trace", "info --json trace", "info --count --json trace"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        atomic_store(&fake.opened, 0);
        assert_int_equal(run(all[i]), TL_EXIT_DONE);
        assert_int_equal(atomic_load(&fake.opened), 2);
        says(out, "20");
    }
    fake.has_range = false;
    assert_int_equal(run("info trace"), TL_EXIT_DONE);
    says(out, "  events    20\n");
    fake.has_range = true;
    fake.bytes = LARGE;
    assert_int_equal(run("info trace"), TL_EXIT_DONE);
    says(out, "  events    20\n");
}

/* But their damage found on opening is shown. */
static void large_traces_may_be_damaged(void **state)
{
    fake_reset(1, 10);
    fake.bytes = LARGE + 1;
    fake.has_range = true;
    fake.opening = &both;
    fake.nopening = 1;
    assert_int_equal(run("info trace"), TL_EXIT_DAMAGED);
    says(out, "  damage    1 place so far\n");
}

/* A part of the time: no event outside is read, nor searched for. */
static void convert_reads_only_the_time_asked_for(void **state)
{
    fake_reset(1, 1000);
    fake.has_range = true;
    fake.begin = 100;
    fake.end = 10000;
    fake.first[0] = 100;
    fake.limits = true;
    assert_int_equal(run("convert trace --to fake -o - --time 200ns..400ns"), TL_EXIT_DONE);
    assert_int_equal(atomic_load(&fake.opened), 1);
    assert_int_equal(atomic_load(&fake.limit_from), 300);
    assert_int_equal(atomic_load(&fake.limit_to), 500);
    assert_true(fake.written > 0 && fake.written < 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_fault_is_a_problem_but_no_damage, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(a_loss_is_damage_but_no_problem, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(both_is_both, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(a_note_is_neither, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(strict_stops_where_the_reader_stops, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(many_places, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(events_that_go_back_in_time, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(tracks_without_events_have_times, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(classes_of_one_name_are_one, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(properties_are_shown, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(large_traces_are_not_counted, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(large_traces_may_be_damaged, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(convert_reads_only_the_time_asked_for, enter_folder, leave_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
