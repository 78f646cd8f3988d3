/* Notes about patched functions: their addresses, how many there are, errors in them, and how much is kept. */
#include "check.h"
#include "model/recording.h"

static const char *const head =
    "process pid=1 exe=/usr/bin/lua5.4\n"
    "object id=3 base=122 count=6 bias=0x1000 hooks=patch build-id=0a path=/usr/bin/lua5.4\n"
    "object id=4 base=128 count=2 bias=0x2000 hooks=patch build-id=0b path=/lib/libz.so.1\n";

static tl_trace *begin(const char *text)
{
    tl_trace *t = calloc(1, sizeof *t);
    assert_non_null(t);
    tl_trace_init(t);
    assert_int_equal(tl_recording_begin(t, NULL), 0);
    assert_int_equal(tl_recording_add(t, head, strlen(head), 0, NULL), 0);
    assert_int_equal(tl_recording_add(t, text, strlen(text), 1000, NULL), 0);
    return t;
}

static tl_trace *noted(const char *text)
{
    tl_trace *t = begin(text);
    assert_int_equal(tl_recording_finish(t, TL_RECORDING_LIVE, NULL), 0);
    return t;
}

static void discard(tl_trace *t)
{
    tl_trace_fini(t);
    free(t);
}

static void check_function(const tl_trace *t, int64_t id, uint64_t address, const char *module, const char *library)
{
    const tl_function *f = tl_trace_function(t, id);
    assert_non_null(f);
    assert_true(f->address == address);
    assert_string_equal(f->module, module);
    if (library)
        assert_string_equal(f->library, library);
    else
        assert_null(f->library);
    assert_null(f->name);
}

static void addresses(void **state)
{
    tl_trace *t = noted("frames object=3 first=123 at=5a10,1c0,30\n"
                        "frames object=4 first=129 at=0,ffffffffffffffff\n"
                        "frames object=3 first=127 at=10,1 colour=red\n"
                        "frames at=5c02 first=126 object=3");
    static const uint64_t expected[] = {0x5a10, 0x5bd0, 0x5c00, 0x5c02, 0x10, 0x11};
    assert_int_equal(t->ndamage, 0);
    assert_int_equal(t->nfunction, 8);
    for (unsigned i = 0; i < TL_COUNT(expected); i++)
        check_function(t, 123 + i, expected[i], "0a", NULL); /* the program itself is no library */
    check_function(t, 129, 0, "0b", "/lib/libz.so.1");
    check_function(t, 130, UINT64_MAX, "0b", "/lib/libz.so.1");
    assert_int_equal(tl_recording_home(t->recording, 125)->id, 3);
    assert_true(tl_recording_home(t->recording, 125)->is_patched);
    discard(t);
}

/* A later line replaces the addresses of an earlier one; a line of the function itself is the last word. */
static void later_lines(void **state)
{
    tl_trace *t = noted("frames object=3 first=123 at=10,10,10\n"
                        "frames object=3 first=124 at=99\n"
                        "function id=125 object=3 address=0x77 name=luaV_execute\n"
                        "frames object=3 first=125 at=98\n");
    check_function(t, 123, 0x10, "0a", NULL);
    check_function(t, 124, 0x99, "0a", NULL);
    assert_int_equal(tl_trace_function(t, 125)->address, 0x77);
    assert_string_equal(tl_trace_function(t, 125)->name, "luaV_execute");
    assert_int_equal(t->nfunction, 3);
    discard(t);
}

static void check_damage(const char *line, const char *rule, const char *what)
{
    char text[256];
    snprintf(text, sizeof text, "%s\nframes object=4 first=130 at=9\n", line);
    tl_trace *t = noted(text);
    if (t->ndamage != 1)
        fail_msg("%u places of damage in %s", t->ndamage, line);
    assert_string_equal(t->damage[0].rule, rule);
    assert_contains(t->damage[0].what, what);
    assert_int_equal(t->damage[0].offset, 1000);
    assert_int_equal(t->damage[0].bytes, strlen(line));
    assert_int_equal(t->nfunction, 1); /* that of the good line alone */
    check_function(t, 130, 9, "0b", "/lib/libz.so.1");
    discard(t);
}

static void damage(void **state)
{
    check_damage("frames object=3 first=123 at=", "note.bad-line", "address 1 of");
    check_damage("frames object=3 first=123 at=5,", "note.bad-line", "address 2 of");
    check_damage("frames object=3 first=123 at=,5", "note.bad-line", "address 1 of");
    check_damage("frames object=3 first=123 at=5,,5", "note.bad-line", "address 2 of");
    check_damage("frames object=3 first=123 at=5,0", "note.bad-line", "address 2 of");
    check_damage("frames object=3 first=123 at=5;1", "note.bad-line", "address 2 of");
    check_damage("frames object=3 first=123 at=5,A", "note.bad-line", "address 2 of");
    check_damage("frames object=3 first=123 at=0x5", "note.bad-line", "address 2 of");
    check_damage("frames object=3 first=123 at=10000000000000000", "note.bad-line", "address 1 of");
    check_damage("frames object=3 first=123 at=1,2,ffffffffffffffff", "note.bad-line", "address 3 of");
    check_damage("frames object=3 first=122 at=5", "note.bad-line", "has those from 123 to 128");
    check_damage("frames object=3 first=129 at=5", "note.bad-line", "has those from 123 to 128");
    check_damage("frames object=3 first=128 at=5,1", "note.bad-line", "2 functions from 128 on");
    check_damage("frames object=3 first=18446744073709551615 at=5,1", "note.bad-line", "has those from");
    check_damage("frames object=3 first=123 at=1,1,1,1,1,1,1", "note.bad-line", "7 functions");
    check_damage("frames object=3 first=123", "note.bad-line", "at is missing");
    check_damage("frames object=3 at=5", "note.bad-line", "first is missing");
    check_damage("frames first=123 at=5", "note.bad-line", "object is missing");
    check_damage("frames object=5 first=123 at=5", "note.no-object", "object 5");
    check_damage("frames object=4294967299 first=123 at=5", "note.no-object", "object 4294967299");
    check_damage("patched functions=7", "note.bad-line", "object is missing");
    check_damage("patched object=5 functions=7", "note.no-object", "object 5");
    check_damage("patched object=3 functions=many", "note.bad-line", "functions is not a number");
}

static void counts(void **state)
{
    tl_trace *t = noted("patched object=3 functions=727 patched=724 late=3 ends=1053 ends-patched=1050 colour=red "
                        "why=2 a fragment = of several; 1 \\\\ other\n"
                        "patched object=4 functions=2 patched=1 late=9\n"
                        "patched object=4 functions=2 patched=2 late=1\n"
                        "object id=4 base=128 count=1 hooks=patch path=/lib/libz.so.1\n"); /* keeps its counts */
    char text[TL_PATCHED_TEXT];
    uint32_t n;
    assert_int_equal(t->ndamage, 0);
    const tl_patched *o = tl_trace_patched(t, &n);
    assert_int_equal(n, 2);
    assert_string_equal(
        tl_patched_text(text, &o[0]),
        "lua5.4: 724 of 727 functions; 3 may end late; left out: 2 a fragment = of several; 1 \\ other");
    assert_string_equal(tl_patched_text(text, &o[1]), "libz.so.1: 2 of 2 functions; 1 may end late");
    assert_string_equal(o[1].path, "/lib/libz.so.1");
    discard(t);
}

static void counts_of_many_objects(void **state)
{
    char text[TL_PATCHED_TEXT];
    uint32_t n;
    tl_trace *t = begin("");
    for (unsigned i = 10; i < 400; i++) {
        char line[128];
        const int size = snprintf(line, sizeof line, "object id=%u count=0\npatched object=%u functions=1\n", i, i);
        assert_int_equal(tl_recording_add(t, line, (size_t)size, 0, NULL), 0);
    }
    assert_int_equal(tl_recording_finish(t, TL_RECORDING_DONE, NULL), 0);
    const tl_patched *o = tl_trace_patched(t, &n);
    assert_int_equal(n, 390);
    assert_string_equal(tl_patched_text(text, &o[389]), "?: 0 of 1 functions");
    discard(t);
}

/* The limit is on functions, not on lines; a line that does not fit is left out as a whole. */
static void too_many_functions(void **state)
{
    enum { EACH = 8000 };
    char *text = malloc(3 * EACH);
    assert_non_null(text);
    const char object[] = "object id=9 base=1000 count=3000000 hooks=patch path=/usr/bin/browser\n";
    tl_trace *t = begin(object);
    uint32_t lines = 0;
    for (; lines < TL_RECORDING_FRAMES_MAX / EACH + 3; lines++) {
        size_t n = (size_t)sprintf(text, "frames object=9 first=%u at=1", 1001 + lines * EACH);
        for (unsigned i = 1; i < EACH; i++, n += 2)
            memcpy(text + n, ",1", 2);
        assert_int_equal(tl_recording_add(t, text, n, lines, NULL), 0);
    }
    assert_int_equal(t->ndamage, 1);
    assert_string_equal(t->damage[0].rule, "note.too-many");
    assert_contains(t->damage[0].what, "patched functions");
    assert_int_equal(t->damage[0].offset, TL_RECORDING_FRAMES_MAX / EACH);
    assert_int_equal(t->recording->nframed, TL_RECORDING_FRAMES_MAX / EACH * EACH);
    assert_int_equal(t->recording->nframes, TL_RECORDING_FRAMES_MAX / EACH);
    const unsigned rest = TL_RECORDING_FRAMES_MAX % EACH; /* what is left may still come */
    assert_true(rest > 0);
    size_t n = (size_t)sprintf(text, "frames object=9 first=1001 at=1");
    for (unsigned i = 1; i < rest; i++, n += 2)
        memcpy(text + n, ",1", 2);
    assert_int_equal(tl_recording_add(t, text, n, 0, NULL), 0);
    assert_int_equal(t->recording->nframed, TL_RECORDING_FRAMES_MAX);
    free(text);
    discard(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses),
        cmocka_unit_test(later_lines),
        cmocka_unit_test(damage),
        cmocka_unit_test(counts),
        cmocka_unit_test(counts_of_many_objects),
        cmocka_unit_test(too_many_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
