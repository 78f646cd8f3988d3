/* Sites of spans, instants and counters: more than can be recorded, and libraries loaded again. */
#include "check.h"
#include "rt_host.h"

#if RT_HERE
#include <pthread.h>

#include "rt/rt_note.h"
#include "rt/rt_record.h"
#include "rt/rt_say.h"
#include "rt_record_fixture.h"

/* Another thread's action, once, while this one is in a function below, called by hook_spans.c. */
static void (*meanwhile)(void);

static void let_others(void)
{
    void (*others)(void) = meanwhile;
    meanwhile = NULL;
    if (others)
        others();
}

static rt_lane *take_late(uintptr_t sp)
{
    let_others();
    return tl_rt_record_take(sp);
}

static void say_late(const rt_line *l, int sys_errno, bool error)
{
    tl_rt_say(l, sys_errno, error);
    let_others();
}

static void (*after_note)(void);

static bool note_slowly(const rt_line *l)
{
    bool done = tl_rt_note(l);
    if (after_note)
        after_note();
    return done;
}

#define tl_rt_record_take take_late
#define tl_rt_say         say_late
#define tl_rt_note        note_slowly
#include "rt/hook/hook_spans.c"
#undef tl_rt_record_take
#undef tl_rt_say
#undef tl_rt_note

/* ---- more sites than there is room for ---- */

enum { BEYOND = 100, TIMES = 20000, GROWTH_MOST = 256 /* pages */ };
static struct tl_rt_site site[RT_SITES + BEYOND];

/* Pages of memory private to the process. */
static long own_pages(void)
{
    long size = 0, resident = 0, shared = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld %ld %ld", &size, &resident, &shared) != 3)
        _exit(3);
    fclose(f);
    return resident - shared;
}

static void enter_and_leave(struct tl_rt_site *s)
{
    tl_rt_span_enter(s, 0x1000, NULL);
    tl_rt_span_leave(s, 0x1000, 0);
}

static void use_too_many(void)
{
    for (size_t i = 0; i < RT_SITES + BEYOND; i++) {
        site[i] = (struct tl_rt_site){.name = "there", .kind = TL_RT_SPAN_SITE};
        enter_and_leave(&site[i]);
    }
    const long before = own_pages();
    for (size_t i = 0; i < TIMES; i++)
        enter_and_leave(&site[RT_SITES + i % BEYOND]);
    if (own_pages() - before > GROWTH_MOST)
        _exit(4);
    enter_and_leave(&site[RT_SITES - 1]);
}

static void sites_beyond_the_limit_are_left_out(void **state)
{
    assert_int_equal(record("mode=fdr:out=t.xray:control=off", use_too_many), 0);
    uint64_t unmatched;
    assert_int_equal(calls("t.xray", "there", &unmatched), RT_SITES + 1);
    assert_int_equal(unmatched, 0);
}

/* ---- loaded again ---- */

/* The effect on its sites when a library is unloaded and loaded again. */
static void load_again(struct tl_rt_site *s, const char *name)
{
    s->id = 0;
    s->name = name;
}

static void use_again(void)
{
    enum { FIELDS = RT_SITE_FIELDS + 1 };
    static struct tl_rt_field field[FIELDS];
    static union tl_rt_value value[FIELDS];
    static struct tl_rt_site s = {.name = "first", .kind = TL_RT_INSTANT_SITE, .field = field, .nfield = FIELDS};
    for (size_t i = 0; i < FIELDS; i++)
        field[i] = (struct tl_rt_field){.name = "n", .type = TL_RT_U64};
    tl_rt_event(&s, value);
    const uint32_t id = s.id;
    char same[] = "first"; /* elsewhere, but the same text */
    load_again(&s, same);
    tl_rt_event(&s, value);
    if (s.id != id)
        _exit(3);
    load_again(&s, "second");
    tl_rt_event(&s, value);
    if (s.id == id)
        _exit(4);
    load_again(&s, same);
    tl_rt_event(&s, value);
    if (s.id != id)
        _exit(5);
}

static void a_site_that_is_loaded_again_is_known(void **state)
{
    assert_int_equal(record("mode=fdr:out=t.xray:control=off", use_again), 0);
    assert_int_equal(events("t.xray", "first"), 3);
    assert_int_equal(events("t.xray", "second"), 1);
}

/* ---- names of fields ---- */

#define FORTY "0123456789012345678901234567890123456789"

static void use_fields(void)
{
    TL_RT_SPAN_F("span", TL_RT_FIELD(u64, "id", 1), TL_RT_FIELD(u64, "x", 2), TL_RT_FIELD(u64, "x", 3),
                 TL_RT_FIELD(u64, "x_", 4), TL_RT_FIELD(u64, "x", 5), TL_RT_FIELD(u64, "id_", 6));
    TL_RT_INSTANT_F("instant", TL_RT_FIELD(u64, "id", 5), TL_RT_FIELD(u64, "id", 6));
    TL_RT_INSTANT_F("cut", TL_RT_FIELD(u64, FORTY "a", 7), TL_RT_FIELD(u64, FORTY "b", 8));
}

/* A span's class has a member "id" before its fields. */
static void fields_have_names_of_their_own(void **state)
{
    static const char *const expected[] = {"span:begin: id id_ x x_ x__ x___ id__", "span:end: id", "instant: id id_",
                                           "cut: " FORTY " " FORTY "_"};
    assert_int_equal(record("mode=ctf:out=t.ctf:control=off", use_fields), 0);
    tl_source *s = open_trace("t.ctf", true);
    const tl_trace *t = tl_source_trace(s);
    unsigned found = 0;
    for (uint32_t i = 0; i < tl_trace_classes(t); i++) {
        const tl_class *c = tl_trace_class(t, i);
        char text[200];
        int n = snprintf(text, sizeof text, "%s:", c->name);
        for (uint32_t k = 0; k < c->nfield && n < (int)sizeof text; k++)
            n += snprintf(text + n, sizeof text - (size_t)n, " %s", c->field[k].name);
        for (size_t k = 0; k < sizeof expected / sizeof *expected; k++)
            found += strcmp(text, expected[k]) == 0;
    }
    assert_int_equal(found, sizeof expected / sizeof *expected);
    is_sound(s);
    tl_source_close(s);
}

/* The longest possible names: each character takes two in the metadata. */
static void use_long_names(void)
{
    static char name[RT_SITE_FIELDS][64], long_name[400];
    static struct tl_rt_field field[RT_SITE_FIELDS];
    static union tl_rt_value value[RT_SITE_FIELDS];
    static struct tl_rt_site s = {.name = long_name, .kind = TL_RT_SPAN_SITE, .field = field, .nfield = RT_SITE_FIELDS};
    memset(long_name, '"', sizeof long_name - 1);
    for (size_t i = 0; i < RT_SITE_FIELDS; i++) {
        memset(name[i], '"', sizeof name[i] - 1);
        field[i] = (struct tl_rt_field){.name = name[i], .type = TL_RT_TEXT};
        value[i].s = "x";
    }
    TL_RT_INSTANT("before");
    tl_rt_span_enter(&s, 0x1000, value);
    tl_rt_span_leave(&s, 0x1000, 0);
    TL_RT_INSTANT("behind");
}

static void names_may_be_long(void **state)
{
    assert_int_equal(record("mode=ctf:out=t.ctf:control=off", use_long_names), 0);
    assert_int_equal(events("t.ctf", "before"), 1);
    assert_int_equal(events("t.ctf", "behind"), 1);
    tl_source *t = open_trace("t.ctf", true);
    tl_count count;
    tl_error e;
    assert_int_equal(tl_source_count(t, 1, &count, &e), 0);
    assert_int_equal(count.events + tl_trace_lost_events(tl_source_trace(t)), 4);
    tl_count_free(&count);
    tl_source_close(t);
}

/* ---- threads that meet at a site ---- */

enum { THREADS = 4, SHARED = 2000 };

static void *use_all(void *arg)
{
    for (size_t i = 0; i < SHARED; i++)
        tl_rt_event(&site[i], NULL);
    return arg;
}

static void use_together(void)
{
    pthread_t thread[THREADS];
    for (size_t i = 0; i < SHARED; i++)
        site[i] = (struct tl_rt_site){.name = "together", .kind = TL_RT_INSTANT_SITE};
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&thread[i], NULL, use_all, NULL))
            _exit(3);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
}

static void threads_may_meet_at_a_site(void **state)
{
    assert_int_equal(record("mode=fdr:out=t.xray:control=off", use_together), 0);
    assert_int_equal(events("t.xray", "together"), THREADS * SHARED);
    assert_int_equal(record("mode=ctf:out=t.ctf:control=off", use_together), 0);
    assert_int_equal(events("t.ctf", "together"), THREADS * SHARED);
}

/* ---- the same, at the critical places ---- */

static struct tl_rt_site meeting = {.name = "meeting", .kind = TL_RT_INSTANT_SITE};

static void *use_meeting(void *arg)
{
    tl_rt_event(&meeting, NULL);
    return arg;
}

static void in_another_thread(void *(*body)(void *))
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, body, NULL) || pthread_join(thread, NULL))
        _exit(3);
}

static void another_uses_it(void)
{
    in_another_thread(use_meeting);
}

/* Between this thread's entry and the site's id. */
static void be_overtaken(void)
{
    meanwhile = another_uses_it;
    tl_rt_event(&meeting, NULL);
    tl_rt_event(&meeting, NULL);
    another_uses_it();
    if (meeting.id == 0 || entries[meeting.id - 1].site == NULL)
        _exit(4);
}

static void a_thread_is_overtaken_at_a_site(void **state)
{
    assert_int_equal(record("mode=ctf:out=t.ctf:control=off", be_overtaken), 0);
    assert_int_equal(events("t.ctf", "meeting"), 4);
    assert_int_equal(record("mode=fdr:out=t.xray:control=off", be_overtaken), 0);
    assert_int_equal(events("t.xray", "meeting"), 4);
}

static void *use_all_others(void *arg)
{
    for (size_t i = 0; i < RT_SITES; i++) {
        site[i] = (struct tl_rt_site){.name = "other", .kind = TL_RT_INSTANT_SITE};
        tl_rt_event(&site[i], NULL);
    }
    return arg;
}

static void another_uses_all(void)
{
    in_another_thread(use_all_others);
    another_uses_it();
}

static void find_no_room(void (*others)(void))
{
    meanwhile = others;
    tl_rt_event(&meeting, NULL);
    tl_rt_event(&meeting, NULL);
    if (meanwhile || meeting.id != NOT_RECORDED)
        _exit(4);
}

static void find_no_room_in_the_end(void)
{
    find_no_room(another_uses_all);
}

static void find_no_room_at_once(void)
{
    use_all_others(NULL);
    find_no_room(another_uses_it);
}

static void threads_find_no_room_for_a_site(void **state)
{
    assert_int_equal(record("mode=ctf:out=t.ctf:control=off", find_no_room_in_the_end), 0);
    assert_int_equal(events("t.ctf", "meeting"), 0);
    remove_folder("t.ctf");
    assert_int_equal(record("mode=ctf:out=t.ctf:control=off", find_no_room_at_once), 0);
    assert_int_equal(events("t.ctf", "meeting"), 0);
}

/* What an overtaken thread does. */
static void empty_entry(void)
{
    after_note = NULL;
    __atomic_store_n(&entries[0].site, NULL, __ATOMIC_RELEASE);
}

static void note_an_entry_that_is_given_up(void)
{
    meeting.kind = TL_RT_SPAN_SITE;
    enter_and_leave(&meeting);
    after_note = empty_entry;
    entries[0].noted = 0;
    note_others(0);
    if (after_note || entries[0].noted == 0)
        _exit(4);
    entries[0].noted = 0;
    note_others(0); /* nothing is there any more */
    if (entries[0].noted != 0)
        _exit(5);
}

static void an_entry_may_be_given_up_while_it_is_noted(void **state)
{
    assert_int_equal(record("mode=fdr:out=t.xray:control=off", note_an_entry_that_is_given_up), 0);
}

#else
RT_SKIPPED(names_may_be_long)
RT_SKIPPED(fields_have_names_of_their_own)
RT_SKIPPED(a_thread_is_overtaken_at_a_site)
RT_SKIPPED(threads_find_no_room_for_a_site)
RT_SKIPPED(an_entry_may_be_given_up_while_it_is_noted)
RT_SKIPPED(sites_beyond_the_limit_are_left_out)
RT_SKIPPED(a_site_that_is_loaded_again_is_known)
RT_SKIPPED(threads_may_meet_at_a_site)
#define scratch_enter NULL
#define leave         NULL
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sites_beyond_the_limit_are_left_out, scratch_enter, leave),
        cmocka_unit_test_setup_teardown(a_site_that_is_loaded_again_is_known, scratch_enter, leave),
        cmocka_unit_test_setup_teardown(names_may_be_long, scratch_enter, leave),
        cmocka_unit_test_setup_teardown(fields_have_names_of_their_own, scratch_enter, leave),
        cmocka_unit_test_setup_teardown(threads_may_meet_at_a_site, scratch_enter, leave),
        cmocka_unit_test_setup_teardown(a_thread_is_overtaken_at_a_site, scratch_enter, leave),
        cmocka_unit_test_setup_teardown(threads_find_no_room_for_a_site, scratch_enter, leave),
        cmocka_unit_test_setup_teardown(an_entry_may_be_given_up_while_it_is_noted, scratch_enter, leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
