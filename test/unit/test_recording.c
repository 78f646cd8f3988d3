/* Tests of model/recording.h: the meaning of each line, errors in others, and how much is kept. */
#include "check.h"
#include "model/recording.h"

/* A trace with these notes, at offset 1000. */
static tl_trace *noted(const char *text)
{
    tl_trace *t = calloc(1, sizeof *t);
    tl_error e = {0};
    assert_non_null(t);
    tl_trace_init(t);
    assert_int_equal(tl_recording_begin(t, &e), 0);
    assert_int_equal(tl_recording_add(t, text, strlen(text), 1000, &e), 0);
    assert_int_equal(tl_recording_finish(t, TL_RECORDING_LIVE, &e), 0);
    return t;
}

static void discard(tl_trace *t)
{
    tl_trace_fini(t);
    free(t);
}

/* The only damage of a trace with just this note after a good line. */
static void check_damage(const char *line, const char *rule, const char *what)
{
    char text[512];
    snprintf(text, sizeof text, "traceloom version=1\n%s\nfunction id=77 name=after it\n", line);
    tl_trace *t = noted(text);
    if (t->ndamage != 1)
        fail_msg("%u places of damage in %s", t->ndamage, line);
    assert_string_equal(t->damage[0].rule, rule);
    assert_contains(t->damage[0].what, what);
    assert_int_equal(t->damage[0].offset, 1020);
    assert_int_equal(t->damage[0].bytes, strlen(line));
    assert_string_equal(tl_trace_function(t, 77)->name, "after it");
    discard(t);
}

static const tl_value *header_of(const tl_trace *t, const char *name, const tl_field **field)
{
    uint32_t n;
    const tl_value *v = tl_trace_header(t, field, &n);
    for (uint32_t i = 0; i < n; i++, (*field)++) {
        if (strcmp((*field)->name, name) == 0)
            return v;
        v += v->type == TL_STRUCT ? 1 + v->n : 1;
    }
    return NULL;
}

static void every_line(void **state)
{
    tl_trace *t = noted("traceloom version=1\n"
                        "process pid=4711 parent=0x10 start=17 exe=/opt/a b/app\n"
                        "clock name=tsc hz=2000000000 ticks=4000000000 raw=1 unix=1790000000000000000\n"
                        "option mode=fdr threshold=0 ring=64\n"
                        "object id=1 base=0 count=10 bias=0x1000 hooks=sleds build-id=0a1B path=/opt/a b/app\n"
                        "object id=5 base=10 count=3 bias=0 hooks=sleds build-id=00ff path=/opt/lib.so\n"
                        "object id=2 base=99 count=0 bias=0 build-id=- path=/opt/other.so\n"
                        "function id=14 object=2 address=0x1139\n"
                        "function id=15 name=load page\n"
                        "event id=3 kind=counter fields=bytes:u64,a:b:string,f:f64,i:i64 name=cache miss\n"
                        "thread tid=4712 name=worker one\n"
                        "lost late=1 depth=2 memory=4 disk=8 exits=16 threads=32\n"
                        "end unix=1 ticks=1");
    const tl_recording *r = t->recording;
    assert_int_equal(t->ndamage, 0);
    assert_int_equal(r->process.pid, 4711);
    assert_int_equal(r->process.parent, 16);
    assert_string_equal(t->exe, "/opt/a b/app");
    assert_null(t->build_id); /* one of upper case is none */
    assert_string_equal(t->clock.name, "tsc");
    assert_int_equal(t->clock.hz, 2000000000);
    assert_true(t->clock.has_utc);
    assert_int_equal(t->clock.utc_offset_ns, 1789999998000000000);
    assert_int_equal(t->lost_events, 47);
    assert_true(r->ended);
    assert_string_equal(tl_trace_function(t, 15)->name, "load page");
    assert_int_equal(tl_trace_function(t, 14)->address, 0x1139);
    assert_string_equal(tl_trace_function(t, 14)->library, "/opt/other.so");
    assert_string_equal(tl_recording_thread(t, 4712), "worker one 4712");
    assert_null(tl_recording_thread(t, 4711));
    const tl_recording_event *ev = tl_recording_event_of(r, 3);
    assert_int_equal(ev->kind, TL_COUNTER);
    assert_string_equal(ev->name, "cache miss");
    assert_int_equal(ev->nfield, 4);
    assert_string_equal(ev->field[1].name, "a:b");
    assert_int_equal(ev->field[0].type, TL_U64);
    assert_int_equal(ev->field[1].type, TL_STRING);
    assert_int_equal(ev->field[2].type, TL_F64);
    assert_int_equal(ev->field[3].type, TL_I64);
    assert_null(tl_recording_event_of(r, 4));
    discard(t);
}

static void header(void **state)
{
    const tl_field *f;
    tl_trace *t = noted("process pid=7 exe=/x\noption mode=fdr depth=0 ring=64\nlost late=0 depth=5\n");
    const tl_value *v = header_of(t, "process", &f);
    assert_int_equal(v[0].n, 2);
    assert_int_equal(v[1].as.u, 7);
    assert_string_equal(v[2].as.p, "/x");
    v = header_of(t, "options", &f);
    assert_int_equal(v[0].n, 2); /* 0 is not set */
    assert_int_equal(f->nmember, 2);
    assert_string_equal(f->member[1].name, "ring");
    assert_int_equal(v[2].type, TL_U64);
    v = header_of(t, "losses", &f);
    assert_int_equal(v[0].n, 1);
    assert_string_equal(f->member[0].name, "depth");
    v = header_of(t, "recording", &f);
    assert_memory_equal(v->as.p, "not finished", 12);
    discard(t);
    t = noted("end unix=1\nlost late=0\n");
    assert_string_equal(header_of(t, "recording", &f)->as.p, "finished");
    assert_null(header_of(t, "losses", &f));
    discard(t);
    /* As in a file whose ring was never full, and in one whose was. */
    t = noted("ring reused=0x0000000000000000 overwritten=0x0000000000000000 complete=0x0000000000000000\n");
    assert_null(header_of(t, "ring", &f));
    discard(t);
    t = noted("clock name=tsc hz=2000000000\n"
              "ring reused=0x0000000000000003 overwritten=0x00000000000000ff complete=0x0000000100000000\n");
    v = header_of(t, "ring", &f);
    assert_int_equal(v[0].n, 3);
    assert_string_equal(f->member[0].name, "slots_reused");
    assert_int_equal(v[1].as.u, 3);
    assert_string_equal(f->member[1].name, "events_overwritten");
    assert_int_equal(v[2].as.u, 255);
    assert_string_equal(f->member[2].name, "complete_from");
    assert_true(v[3].as.u == UINT64_C(0x80000000));
    assert_int_equal(t->lost_events, 0);
    discard(t);
}

static void of_a_later_recorder(void **state)
{
    tl_trace *t = noted("colour name=red\nprocess  pid=7   colour=red  exe=/x = y\n\nword\nthread tid=1 name=\n");
    assert_int_equal(t->ndamage, 0);
    assert_string_equal(t->exe, "/x = y");
    assert_null(tl_recording_thread(t, 1)); /* has no name */
    discard(t);
}

static void escapes(void **state)
{
    tl_trace *t = noted("function id=1 name=a\\nb\\\\n\\\n");
    assert_string_equal(tl_trace_function(t, 1)->name, "a\nb\\n\\");
    discard(t);
}

static void later_lines_replace(void **state)
{
    tl_trace *t = noted("clock name=tsc hz=1000 ticks=5 unix=1\nclock name=tsc hz=1001 ticks=9 unix=2\n"
                        "object id=1 base=0 count=5 path=/a\nobject id=1 base=0 count=8 path=/b\n"
                        "function id=9 name=a\nfunction id=9 name=b\n"
                        "option ring=5 func=a func=b\noption ring=6\n"
                        "thread tid=1 name=a\nthread tid=1 name=b\n"
                        "event id=1 kind=instant name=a\nevent id=1 kind=counter fields=v:i64 name=b\n");
    const tl_recording *r = t->recording;
    assert_int_equal(t->ndamage, 0);
    assert_int_equal(t->clock.hz, 1001);
    assert_int_equal(r->clock.begin, 5);
    assert_int_equal(r->nobject, 1);
    assert_string_equal(tl_recording_home(r, 8)->path, "/b");
    assert_string_equal(tl_trace_function(t, 9)->name, "b");
    assert_int_equal(r->noption, 3); /* func came twice in one line */
    assert_string_equal(r->option[0].text, "6");
    assert_string_equal(tl_recording_thread(t, 1), "b 1");
    assert_int_equal(r->nevent, 1);
    assert_string_equal(tl_recording_event_of(r, 1)->name, "b");
    discard(t);
}

static void homes(void **state)
{
    tl_trace *t = noted("process pid=1 exe=/app\n"
                        "object id=3 base=20 count=5 path=/c\nobject id=1 base=0 count=10 path=/app\n"
                        "object id=9 base=0 count=0 path=/d\nobject id=2 base=10 count=10 path=/b\n"
                        "function id=40 object=9 address=1\nfunction id=41 name=x\nfunction id=3 object=2 address=2\n");
    const tl_recording *r = t->recording;
    const struct {
        int64_t function;
        uint32_t object;
    } home[] = {{1, 1}, {10, 1}, {11, 2}, {20, 2}, {21, 3}, {25, 3}, {40, 9}, {3, 2}};
    for (size_t i = 0; i < sizeof home / sizeof home[0]; i++) {
        const tl_recording_object *o = tl_recording_home(r, home[i].function);
        if (!o || o->id != home[i].object)
            fail_msg("function %d is of object %u", (int)home[i].function, o ? o->id : 0);
    }
    assert_null(tl_recording_home(r, 0));
    assert_null(tl_recording_home(r, 26));
    assert_null(tl_recording_home(r, 41));
    assert_null(tl_recording_home(r, -1));
    assert_null(tl_recording_home(r, INT64_MAX));
    assert_int_equal(tl_recording_program(r)->id, 1);
    discard(t);
    t = noted("object id=4 base=0 count=2 path=/a\n");
    assert_int_equal(tl_recording_program(t->recording)->id, 4); /* the first numbers */
    discard(t);
    t = noted("object id=4 base=1 count=2 path=/a\n");
    assert_null(tl_recording_program(t->recording));
    discard(t);
}

static void overlaps(void **state)
{
    const char *known = "object id=1 base=10 count=10\nobject id=2 base=40 count=1\nobject id=3 base=0 count=0\n";
    const struct {
        const char *line;
        uint32_t damage;
    } more[] = {
        {"object id=4 base=0 count=10", 0},  {"object id=4 base=0 count=11", 1},  {"object id=4 base=19 count=1", 1},
        {"object id=4 base=20 count=20", 0}, {"object id=4 base=20 count=21", 1}, {"object id=4 base=5 count=100", 1},
        {"object id=4 base=12 count=2", 1},  {"object id=4 base=10 count=10", 1}, {"object id=4 base=15 count=0", 0},
        {"object id=1 base=15 count=20", 0}, {"object id=1 base=15 count=26", 1}, {"object id=2 base=18 count=5", 1}};
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++) {
        char text[256];
        snprintf(text, sizeof text, "%s%s\n", known, more[i].line);
        tl_trace *t = noted(text);
        if (t->ndamage != more[i].damage || (t->ndamage && strcmp(t->damage[0].rule, "note.overlap") != 0))
            fail_msg("%s: %u places of damage", more[i].line, t->ndamage);
        discard(t);
    }
}

static void damage(void **state)
{
    check_damage("traceloom version=2", "note.version", "version 2");
    check_damage("traceloom", "note.bad-line", "version is missing");
    check_damage("process exe=/x", "note.bad-line", "pid is missing");
    check_damage("process pid=1 parent", "note.bad-line", "without key=value");
    check_damage("process pid=1 =5", "note.bad-line", "without key=value");
    check_damage("process pid=0x", "note.bad-line", "pid is not a number");
    check_damage("process pid=-1", "note.bad-line", "pid is not a number");
    check_damage("process pid=", "note.bad-line", "pid is not a number");
    check_damage("process pid=18446744073709551616", "note.bad-line", "pid is not a number");
    check_damage("process pid=1a", "note.bad-line", "pid is not a number");
    check_damage("clock hz=5", "note.bad-line", "name is missing");
    check_damage("object id=0 count=1", "note.bad-line", "object 0");
    check_damage("object id=4294967296 count=1", "note.bad-line", "object 4294967296");
    check_damage("object id=1 base=268435450 count=6", "note.bad-line", "268435450");
    check_damage("object id=1 base=18446744073709551615 count=18446744073709551615", "note.bad-line", "object 1");
    check_damage("function id=268435456 name=f", "note.bad-line", "the largest is 268435455");
    check_damage("function id=1", "note.bad-line", "neither object and address nor a name");
    check_damage("function id=1 object=1 name=f", "note.bad-line", "neither");
    check_damage("function id=1 object=1 address=1", "note.no-object", "object 1");
    check_damage("event id=65536 kind=instant name=e", "note.bad-line", "event 65536");
    check_damage("event id=1 kind=rumour name=e", "note.bad-line", "event 1");
    check_damage("event id=1 kind=instant fields=a name=e", "note.bad-line", "NAME:TYPE");
    check_damage("event id=1 kind=instant fields=a: name=e", "note.bad-line", "NAME:TYPE");
    check_damage("event id=1 kind=instant fields=:u64 name=e", "note.bad-line", "NAME:TYPE");
    check_damage("event id=1 kind=instant fields=a:u64,,b:u64 name=e", "note.bad-line", "NAME:TYPE");
    check_damage("thread name=a", "note.bad-line", "tid is missing");
    check_damage("option ring", "note.bad-line", "without key=value");
    check_damage("ring reused=1 overwritten=some", "note.bad-line", "overwritten is not a number");
    check_damage("lost late=many", "note.bad-line", "late is not a number");
}

static void bytes_of_zero(void **state)
{
    tl_trace *t = noted("");
    static const char text[] = "thread tid=1 name=a\0b\nthread tid=2 name=c\n";
    assert_int_equal(tl_recording_add(t, text, sizeof text - 1, 7, NULL), 0);
    assert_int_equal(t->ndamage, 1);
    assert_int_equal(t->damage[0].offset, 7);
    assert_string_equal(tl_recording_thread(t, 2), "c 2");
    discard(t);
}

/* More lines than are kept: damage, once. */
static void check_most(const char *format, unsigned lines, unsigned kept, const uint32_t *n, tl_trace *t)
{
    for (unsigned i = 0; i < lines; i++) {
        char text[256];
        const int size = snprintf(text, sizeof text, format, i + 1, i);
        assert_int_equal(tl_recording_add(t, text, (size_t)size, i, NULL), 0);
    }
    if (*n != kept || t->ndamage != 1 || strcmp(t->damage[0].rule, "note.too-many") != 0 || t->damage[0].offset != kept)
        fail_msg("%s: %u kept, %u places of damage", format, *n, t->ndamage);
    discard(t);
}

static void too_many(void **state)
{
    tl_trace *t = noted("");
    check_most("object id=%u base=%u count=1\n", 1026, TL_RECORDING_OBJECTS_MAX, &t->recording->nobject, t);
    t = noted("");
    check_most("event id=%u kind=instant name=e\n", 4098, TL_RECORDING_EVENTS_MAX, &t->recording->nevent, t);
    t = noted("");
    check_most("thread tid=%u name=t\n", 65538, TL_RECORDING_THREADS_MAX, &t->recording->nthread, t);
    t = noted("");
    check_most("option o%u=1\n", 258, TL_RECORDING_OPTIONS_MAX, &t->recording->noption, t);
}

static void too_many_fields(void **state)
{
    for (unsigned n = TL_RECORDING_FIELDS_MAX; n <= TL_RECORDING_FIELDS_MAX + 1; n++) {
        char text[1024] = "event id=1 kind=instant fields=a:u64";
        for (unsigned i = 1; i < n; i++)
            strcat(text, ",a:u64");
        strcat(text, " name=e");
        tl_trace *t = noted(text);
        assert_int_equal(t->ndamage, n > TL_RECORDING_FIELDS_MAX);
        discard(t);
    }
}

static void long_lines(void **state)
{
    for (size_t n = TL_RECORDING_LINE_MAX; n <= TL_RECORDING_LINE_MAX + 1; n++) {
        char *text = malloc(n + 1);
        assert_non_null(text);
        memset(text, 'x', n);
        memcpy(text, "function id=1 name=", 19);
        text[n] = '\0';
        tl_trace *t = noted(text);
        assert_int_equal(t->ndamage, n > TL_RECORDING_LINE_MAX);
        assert_int_equal(t->recording->nfunction, n <= TL_RECORDING_LINE_MAX);
        free(text);
        discard(t);
    }
}

static void much_text(void **state)
{
    enum { PIECE = 1 << 20 };
    tl_trace *t = noted("");
    char *text = malloc(PIECE);
    assert_non_null(text);
    memset(text, '\n', PIECE);
    for (unsigned i = 0; i < TL_RECORDING_BYTES_MAX / PIECE + 3; i++)
        assert_int_equal(tl_recording_add(t, text, PIECE, i, NULL), 0);
    assert_int_equal(t->ndamage, 1);
    assert_string_equal(t->damage[0].rule, "note.too-many");
    assert_true(t->recording->n <= TL_RECORDING_BYTES_MAX);
    assert_true(t->recording->n > TL_RECORDING_BYTES_MAX - 2 * PIECE);
    /* Of a text beyond the limit not even one byte may be read. */
    assert_int_equal(tl_recording_add(t, NULL, (size_t)TL_RECORDING_BYTES_MAX + 1, 0, NULL), 0);
    free(text);
    discard(t);
}

static void text_is_kept(void **state)
{
    tl_trace *t = noted("colour\nthread tid");
    assert_int_equal(tl_recording_add(t, "end\n", 4, 5, NULL), 0);
    assert_int_equal(t->recording->n, 22);
    assert_memory_equal(t->recording->text, "colour\nthread tid\nend\n", 22); /* whole lines, also wrong ones */
    discard(t);
}

static void strange_clocks(void **state)
{
    tl_trace *t = noted("clock name=odd hz=0 ticks=5 unix=5\n");
    assert_false(t->clock.has_utc);
    assert_int_equal(t->clock.hz, 0);
    discard(t);
    t = noted("clock name=odd hz=1 ticks=18446744073709551615 unix=5\n");
    assert_false(t->clock.has_utc);
    discard(t);
    t = noted("clock name=odd hz=1000000000 ticks=7 unix=9223372036854775808\n");
    assert_false(t->clock.has_utc);
    discard(t);
    t = noted("clock name=odd hz=1000000000 ticks=7\n");
    assert_false(t->clock.has_utc);
    discard(t);
    t = noted("lost late=18446744073709551615 depth=18446744073709551615\n");
    assert_true(t->lost_events == UINT64_MAX);
    discard(t);
}

/* A number of more than 32 bits does not mean the object with its low bits. */
static void test_numbers_of_objects_are_not_cut(void **state)
{
    tl_trace *t = noted("object id=1 count=0 path=/a\nfunction id=5 object=4294967297 address=1\n");
    assert_int_equal(t->ndamage, 1);
    assert_string_equal(t->damage[0].rule, "note.no-object");
    assert_null(tl_trace_function(t, 5));
    discard(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_of_objects_are_not_cut),
        cmocka_unit_test(every_line),
        cmocka_unit_test(header),
        cmocka_unit_test(of_a_later_recorder),
        cmocka_unit_test(escapes),
        cmocka_unit_test(later_lines_replace),
        cmocka_unit_test(homes),
        cmocka_unit_test(overlaps),
        cmocka_unit_test(damage),
        cmocka_unit_test(bytes_of_zero),
        cmocka_unit_test(too_many),
        cmocka_unit_test(too_many_fields),
        cmocka_unit_test(long_lines),
        cmocka_unit_test(much_text),
        cmocka_unit_test(text_is_kept),
        cmocka_unit_test(strange_clocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
