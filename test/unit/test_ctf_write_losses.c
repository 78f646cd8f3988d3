/* Tests of the writer of folders: the meaning of events is kept, and losses are reported. */
#include "ctf_read_back.h"
#include "stack_fixture.h"

/* --- function events --- */

static void test_kinds_and_keys(void **state)
{
    for (int i = 0; i < 3; i++) {
        fixture w = {0};
        found out[8];
        fixture_init(&w);
        folder_start(&w, versions[i]);
        fixture_call(&w, ENTER, 0, 100, 2);
        fixture_call(&w, EXIT, 0, 200, 2);
        static const tl_value opcode = {.type = TL_HEX, .as.u = 0x90};
        fixture_event(&w, INSN, 0, 0, 300, 0x401000, &opcode, 1);
        static const tl_value counter[] = {U(5), S("heap"), F(0.5)};
        fixture_event(&w, COUNTER, 0, 0, 400, 0, counter, 3);
        fixture_event(&w, LOSS, 0, 0, 500, 0, NULL, 0);
        fixture_event(&w, FRAMING, 0, 0, 500, 0, NULL, 0); /* not written */
        fixture_call(&w, ENTER, 1, 600, (uint64_t)-4);
        fixture_finish(&w);
        assert_int_equal(read_back(out, 8), 6);
        static const struct {
            tl_kind kind;
            tl_key key;
            uint64_t value;
            const char *text;
        } expected[] = {{TL_ENTER, TL_KEY_FUNCTION, 2, "i2"},
                        {TL_EXIT, TL_KEY_FUNCTION, 2, "i2"},
                        {TL_INSN, TL_KEY_PC, 0x401000, "u4198400 u144"},
                        {TL_COUNTER, TL_KEY_NONE, 0, "u5 s\"heap\" f0.5"},
                        {TL_INSTANT, TL_KEY_NONE, 0, ""},
                        {TL_ENTER, TL_KEY_FUNCTION, (uint64_t)-4, "i-4"}};
        for (int k = 0; k < 6; k++) {
            if (k != 4) /* a loss may be read as one or not */
                assert_int_equal(out[k].cls.kind, expected[k].kind);
            assert_int_equal(out[k].cls.key, expected[k].key);
            if (expected[k].key != TL_KEY_NONE)
                assert_int_equal(out[k].key, expected[k].value);
            assert_string_equal(out[k].text, expected[k].text);
        }
        folder_fini(&w);
    }
}

static void test_functions_and_tracks(void **state)
{
    for (int i = 0; i < 3; i++) {
        fixture w = {0};
        fixture_init(&w);
        const tl_function more = {.id = 3,
                                  .address = 0x401000,
                                  .name = "a::b()",
                                  .linkage_name = "_ZN1a1bEv",
                                  .file = "a.cc",
                                  .module = "0abc",
                                  .line = 12};
        assert_int_equal(tl_trace_add_function(&w.trace, &more, NULL), 0);
        folder_start(&w, versions[i]);
        fixture_call(&w, ENTER, 0, 100, 3);
        fixture_call(&w, EXIT, 0, 200, 3);
        fixture_call(&w, ENTER, 1, 300, 1);
        fixture_call(&w, ENTER, 1, 400, 77); /* nothing is known of it */
        fixture_finish(&w);
        tl_source *s;
        tl_error e;
        must(tl_source_open(&s, "out", NULL, &e), &e);
        const tl_trace *t = tl_source_trace(s);
        const tl_function *f = tl_trace_function(t, 3);
        assert_non_null(f);
        assert_int_equal(f->address, 0x401000);
        assert_int_equal(f->line, 12);
        assert_string_equal(f->name, "a::b()");
        assert_string_equal(f->linkage_name, "_ZN1a1bEv");
        assert_string_equal(f->file, "a.cc");
        assert_string_equal(f->module, "0abc");
        f = tl_trace_function(t, 1);
        assert_non_null(f);
        assert_string_equal(f->name, "main");
        assert_null(f->file);
        assert_null(tl_trace_function(t, 2)); /* did not occur */
        assert_null(tl_trace_function(t, 77));
        assert_int_equal(tl_trace_tracks(t), 2);
        for (uint32_t k = 0; k < 2; k++) {
            const tl_track *track = tl_trace_track(t, k);
            assert_true(track->has_pid && track->has_tid);
            assert_int_equal(track->pid, 5);
            assert_int_equal(track->tid, 7 + k);
            assert_string_equal(track->name, k ? "thread 8" : "thread 7");
        }
        tl_source_close(s);
        folder_fini(&w);
    }
}

/* Kinds and keys of samples, begins and ends: keys are for analyses, and no members. */
static void test_kinds_of_runtimes(void **state)
{
    for (int i = 0; i < 3; i++) {
        fixture w = {0};
        found out[8];
        stack_init(&w);
        folder_start(&w, versions[i]);
        stack_events(&w);
        fixture_finish(&w);
        assert_int_equal(w.drops.n, 0);
        assert_int_equal(read_back(out, 8), 5);
        static const char *const text[] = {NULL, NULL, NULL, "", "u9500"};
        static const char *const name[] = {"sample", "sample", "gc.begin", "gc.end", "cpu"};
        for (int k = 0; k < 5; k++) {
            found *f = out;
            while (f->ts != out[0].ts + (uint64_t)k) /* each thread has a file */
                assert_true(++f < out + 5);
            assert_string_equal(f->name, name[k]);
            assert_int_equal(f->cls.kind == TL_SAMPLE, k < 2);
            assert_int_equal(f->cls.key, TL_KEY_NONE);
            if (text[k])
                assert_string_equal(f->text, text[k]);
        }
        folder_fini(&w);
    }
}

/* --- losses are reported --- */

/* In a file each frame has its own name: readers, including ours, would not take an event of that size. */
static void test_stacks_too_large(void **state)
{
    enum { NAME = 100000, DEPTH = 400 };
    char *name = malloc(NAME + 1);
    assert_non_null(name);
    memset(name, 'n', NAME);
    name[NAME] = '\0';
    tl_frame *frames = stack_deep(DEPTH, name);
    for (int i = 0; i < 3; i++) {
        fixture w = {0};
        found out[8];
        stack_init(&w);
        folder_start(&w, versions[i]);
        stack_event(&w, 1, &stack_fib);
        stack_event(&w, 2, &frames[DEPTH - 1]);
        stack_event(&w, 3, &stack_fib);
        fixture_finish(&w);
        assert_int_equal(w.drops.n, 1);
        assert_int_equal(fixture_dropped(&w, "events with a stack of more than 32 MiB"), 1);
        assert_int_equal(read_back(out, 8), 2);
        assert_int_equal(out[1].ts - out[0].ts, 2);
        assert_string_equal(out[0].text, out[1].text);
        folder_fini(&w);
    }
    free(frames);
    free(name);
}

static const tl_field lossy_field[] = {
    {.name = "u", .type = TL_U64, .bits = 8},
    {.name = "i", .type = TL_I64, .bits = 8},
    {.name = "f", .type = TL_F64, .bits = 32},
    {.name = "s", .type = TL_STRING},
    {.name = "t", .type = TL_STRING, .flags = TL_FIELD_FIXED, .length = 2},
    {.name = "l", .type = TL_LIST},
};

static void check_loss(const tl_value *v, uint32_t n, const char *what, uint64_t count, const char *text)
{
    fixture w = {0};
    found out[1];
    const tl_class classes[] = {
        {.kind = TL_INSTANT, .name = "c", .field = lossy_field, .nfield = TL_COUNT(lossy_field)}};
    fixture_init(&w);
    folder_classes(&w, classes, 1);
    folder_start(&w, "2");
    fixture_event(&w, 0, 0, -1, 1, 0, v, n);
    fixture_finish(&w);
    assert_int_equal(w.drops.n, 1);
    assert_int_equal(fixture_dropped(&w, what), count);
    assert_int_equal(read_back(out, 1), text ? 1 : 0);
    if (text)
        assert_string_equal(out[0].text, text);
    folder_fini(&w);
}

static void test_losses(void **state)
{
#define LOSS_OF(what, count, text, ...)                                                                                \
    do {                                                                                                               \
        const tl_value v[] = {__VA_ARGS__};                                                                            \
        check_loss(v, TL_COUNT(v), what, count, text);                                                                 \
    } while (0)
    LOSS_OF("numbers", 3, "u0 i-128 f0.1 s\"\" s\"\" []", U(256), I(128), F(0.1), S(""), S(""), LIST(0));
    LOSS_OF("numbers", 1, "u255 i0 f0 s\"\" s\"\" []", I(-1), I(0), F(0), S(""), S(""), LIST(0));
    LOSS_OF("values that are null", 4, "u0 i0 f0 s\"\" s\"\" []", {.type = TL_NULL}, {.type = TL_NULL}, F(0),
            {.type = TL_NULL}, S(""), {.type = TL_NULL});
    LOSS_OF("values of another", 3, "u0 i0 f0 s\"\" s\"\" [u0 u7 ]", S("x"), I(0), U(3), S(""), S(""), LIST(2), S("z"),
            U(7));
    LOSS_OF("texts", 2, "u0 i0 f0 s\"a\" s\"xy\" []", U(0), I(0), F(0), S("a\0b"), S("xyz"), LIST(0));
    /* Too few and too many values: not written. */
    LOSS_OF("events", 1, NULL, U(0), I(0), F(0), S(""), S(""));
    LOSS_OF("events", 1, NULL, U(0), I(0), F(0), S(""), S(""), LIST(1));
    LOSS_OF("events", 1, NULL, U(0), I(0), F(0), S(""), S(""), LIST(0), U(0));
}

static void test_lengths_that_lie(void **state)
{
    static const tl_mapping choose[] = {{NULL, 1, 1}, {NULL, 2, 2}};
    static const tl_field option[] = {{.name = "a", .type = TL_U64, .mapping = &choose[0], .nmapping = 1},
                                      {.name = "b", .type = TL_U64, .mapping = &choose[1], .nmapping = 1}};
    static const tl_field element[] = {{.name = "", .type = TL_U64, .bits = 8}};
    static const tl_field f[] = {
        {.name = "n", .type = TL_U64, .bits = 8},
        {.name = "list", .type = TL_LIST, .member = element, .nmember = 1, .governor = 1},
        {.name = "v", .type = TL_VARIANT, .member = option, .nmember = 2, .governor = 1},
        {.name = "fixed", .type = TL_LIST, .member = element, .nmember = 1, .flags = TL_FIELD_FIXED, .length = 1},
    };
    static const tl_value wrong[][9] = {
        {U(2), LIST(1), U(9), VARIANT(1), U(1), LIST(1), U(1)},              /* the length says 2 */
        {U(1), LIST(1), U(9), VARIANT(1), U(1), LIST(1), U(1)},              /* the selector says a */
        {U(1), LIST(1), U(9), VARIANT(2), U(1), LIST(1), U(1)},              /* there is no such option */
        {U(1), LIST(1), U(9), VARIANT(0), U(1), LIST(0), {.type = TL_NULL}}, /* always 1 */
    };
    fixture w = {0};
    found out[1];
    const tl_class classes[] = {{.kind = TL_INSTANT, .name = "c", .field = f, .nfield = TL_COUNT(f)}};
    fixture_init(&w);
    folder_classes(&w, classes, 1);
    folder_start(&w, "2");
    for (size_t i = 0; i < TL_COUNT(wrong); i++)
        fixture_event(&w, 0, 0, -1, i, 0, wrong[i], i == 3 ? 6 : 7);
    const tl_value right[] = {U(1), LIST(1), U(9), VARIANT(0), U(1), LIST(1), U(1)};
    fixture_event(&w, 0, 0, -1, 9, 0, right, 7);
    fixture_finish(&w);
    assert_int_equal(fixture_dropped(&w, "events whose values"), TL_COUNT(wrong));
    assert_int_equal(read_back(out, 1), 1);
    assert_string_equal(out[0].text, "u1 [u9 ] <0 u1 > [u1 ]");
    folder_fini(&w);
}

/* A length that no text confirms is believed up to a limit; beyond it the event is left out. */
static void test_lengths_that_ask_for_much(void **state)
{
    static const tl_field f[] = {{.name = "n", .type = TL_U64, .bits = 32},
                                 {.name = "text", .type = TL_STRING, .governor = 1}};
    fixture w = {0};
    found out[1];
    const tl_class classes[] = {{.kind = TL_INSTANT, .name = "c", .field = f, .nfield = TL_COUNT(f)}};
    fixture_init(&w);
    folder_classes(&w, classes, 1);
    folder_start(&w, "2");
    const tl_value hostile[] = {U((64 << 20) + 1), S("")}, right[] = {U(3), S("a")};
    fixture_event(&w, 0, 0, -1, 1, 0, hostile, 2);
    fixture_event(&w, 0, 0, -1, 2, 0, right, 2);
    fixture_finish(&w);
    assert_int_equal(fixture_dropped(&w, "events whose values"), 1);
    assert_int_equal(read_back(out, 1), 1);
    assert_string_equal(out[0].text, "u3 s\"a\"");
    folder_fini(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_kinds_and_keys, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_functions_and_tracks, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_kinds_of_runtimes, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_stacks_too_large, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_losses, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_lengths_that_lie, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_lengths_that_ask_for_much, scratch_enter, scratch_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
