/* Opening traces: formats recognized by content, errors that name the file, profiles, counts. */
#include "check.h"
#include "format/xray/xprof_layout.h"
#include "make_xray.h"
#include "traceloom/traceloom.h"

static int open_bytes(tl_source **s, const void *data, size_t n, const char *from, tl_error *e)
{
    const tl_open_options o = {.from = from};
    return tl_source_open_memory(s, data, n, "some file", &o, e);
}

static void errors_name_the_file(void **state)
{
    tl_source *s = NULL;
    tl_error e = {0};
    assert_int_equal(open_bytes(&s, "", 0, NULL, &e), TL_EFORMAT);
    assert_string_equal(e.message, "some file: the file is empty; expected a trace");
    assert_int_equal(open_bytes(&s, "what is this", 12, NULL, &e), TL_EFORMAT);
    assert_contains(e.message, "some file: unrecognised format (starts with 77 68 61 74)");
    assert_int_equal(open_bytes(&s, "what is this", 12, "nonsense", &e), TL_EINVAL);
    assert_int_equal(tl_source_open(&s, "/nonexistent/trace", NULL, &e), TL_EIO);
    assert_contains(e.message, "/nonexistent/trace");
    assert_null(s);
}

static void a_format_that_does_not_fit_is_refused(void **state)
{
    made *m = calloc(1, sizeof *m);
    assert_non_null(m);
    made_header(m, 3, BASIC_TYPE, 1, 0);
    tl_source *s = NULL;
    tl_error e = {0};
    for (uint32_t i = 0; i < tl_formats(); i++) {
        const tl_format_info *f = tl_format_get(i);
        int status = open_bytes(&s, m->data, m->n, f->name, &e);
        if (!strcmp(f->name, "xray-basic") || !strcmp(f->name, "tracelog") || /* on request, any lines are a log, */
            !strcmp(f->name, "xtrace")) {                                     /* and any bytes a stream */
            assert_int_equal(status, 0);
            tl_source_close(s);
        } else {
            assert_true(status < 0);
        }
        s = NULL;
    }
    free(m);
}

static void counts_do_not_depend_on_threads(void **state)
{
    made *m = calloc(1, sizeof *m);
    assert_non_null(m);
    made_header(m, 3, BASIC_TYPE, 1, 0);
    for (uint32_t i = 0; i < 900; i++)
        made_basic(m, i % 2 ? BASIC_EXIT : BASIC_ENTER, 1, 1000 + i, 1 + i % 7, 1);
    for (unsigned threads = 0; threads < 4; threads++) {
        tl_source *s = NULL;
        tl_count count;
        assert_int_equal(open_bytes(&s, m->data, m->n, NULL, NULL), 0);
        assert_int_equal(tl_source_count(s, threads, &count, NULL), 0);
        assert_int_equal(count.events, 900);
        assert_int_equal(count.by_class[0], 450);
        assert_int_equal(count.first, 1000);
        assert_int_equal(count.last, 1899);
        assert_int_equal(count.begin[1], 1001);
        assert_int_equal(count.by_track[6], 128);
        tl_count_free(&count);
        /* No reason of its own: the error stays. */
        tl_error e = {0};
        assert_int_equal(tl_source_check(s, threads, &e), 0);
        assert_string_equal(e.message, "");
        tl_source_close(s);
    }
    free(m);
}

/* A file of the profiling mode: one thread, main -> work, and work alone. */
static void made_profile(made *m, uint64_t self)
{
    uint8_t *p = made_room(m, XPROF_HEADER_SIZE);
    tl_store64(p, XPROF_MAGIC, m->big);
    tl_store64(p + XPROF_HEADER_VERSION, XPROF_VERSION, m->big);
    tl_store64(p + XPROF_HEADER_PID, 99, m->big);
    p = made_room(m, XPROF_BLOCK_SIZE);
    tl_store32(p, XPROF_BLOCK_SIZE + 12 + 16 + 8 + 16, m->big);
    tl_store64(p + XPROF_BLOCK_THREAD, 100, m->big);
    p = made_room(m, 12 + 16);
    tl_store32(p, 2, m->big); /* leaf first */
    tl_store32(p + 4, 1, m->big);
    tl_store64(p + 12, 5, m->big);
    tl_store64(p + 20, 70, m->big);
    p = made_room(m, 8 + 16);
    tl_store32(p, 2, m->big);
    tl_store64(p + 8, 3, m->big);
    tl_store64(p + 16, self, m->big);
}

static void reads_profiles(void **state)
{
    for (int big = 0; big < 2; big++) {
        made *m = calloc(1, sizeof *m);
        assert_non_null(m);
        m->big = big;
        made_profile(m, 20);
        tl_source *s = NULL;
        tl_profile *p = NULL;
        assert_int_equal(open_bytes(&s, m->data, m->n, NULL, NULL), 0);
        assert_true(tl_source_is_profile(s));
        assert_int_equal(tl_source_streams(s), 0);
        assert_int_equal(tl_trace_damages(tl_source_trace(s)), 0);
        assert_int_equal(tl_profile_from_source(&p, s, NULL, NULL), 0);
        assert_false(tl_profile_has_histogram(p));
        tl_stat one = {0}, two = {0};
        for (uint32_t i = 0; i < tl_profile_functions(p); i++)
            tl_profile_function_stat(p, i, tl_profile_get_function(p, i)->id == 1 ? &one : &two);
        assert_int_equal(one.calls, 0);
        assert_int_equal(one.total, 70);
        assert_int_equal(two.calls, 8);
        assert_int_equal(two.self, 90);
        assert_int_equal(two.total, 90);
        tl_profile_free(p);
        tl_source_close(s);
        free(m);
    }
}

static void negative_times_count_as_none(void **state)
{
    made *m = calloc(1, sizeof *m);
    assert_non_null(m);
    made_profile(m, UINT64_MAX - 4);
    tl_source *s = NULL;
    tl_profile *p = NULL;
    assert_int_equal(open_bytes(&s, m->data, m->n, NULL, NULL), 0);
    const tl_damage *d = tl_trace_damage(tl_source_trace(s), 0);
    assert_non_null(d);
    assert_string_equal(d->rule, "profile.negative-time");
    assert_int_equal(d->offset, m->n - 8);
    assert_contains(d->what, "-5 ticks");
    assert_int_equal(tl_profile_from_source(&p, s, NULL, NULL), 0);
    tl_stat root = {0};
    for (uint32_t i = 1; i < tl_profile_places(p); i++) {
        tl_stat stat;
        tl_profile_stat(p, i, &stat);
        root.self += stat.self;
    }
    assert_int_equal(root.self, 70);
    tl_profile_free(p);
    tl_source_close(s);
    free(m);
}

static void profiles_survive_any_cut_and_change(void **state)
{
    made *m = calloc(1, sizeof *m);
    assert_non_null(m);
    made_profile(m, 20);
    for (size_t n = 1; n <= m->n; n++)
        for (unsigned value = 0; value < 256; value += 51) {
            uint8_t *copy = malloc(n);
            memcpy(copy, m->data, n);
            copy[n - 1] = (uint8_t)value;
            tl_source *s = NULL;
            tl_profile *p = NULL;
            if (open_bytes(&s, copy, n, NULL, NULL) == 0 && tl_source_is_profile(s) &&
                tl_profile_from_source(&p, s, NULL, NULL) == 0)
                assert_true(tl_profile_places(p) <= 4);
            tl_profile_free(p);
            tl_source_close(s);
            free(copy);
        }
    free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_name_the_file),
        cmocka_unit_test(a_format_that_does_not_fit_is_refused),
        cmocka_unit_test(counts_do_not_depend_on_threads),
        cmocka_unit_test(reads_profiles),
        cmocka_unit_test(negative_times_count_as_none),
        cmocka_unit_test(profiles_survive_any_cut_and_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
