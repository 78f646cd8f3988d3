/* The line that says how many functions of an object are patched. */
#include "check.h"
#include "rt_host.h"

#if RT_HERE
#include "patch/patch_why.c"
#include "rt/patch/rt_patch_note.c"
#include "rt/rt_say.c"

rt_core tl_rt;
static unsigned pieces;
static bool no_memory;

void *tl_rt_memory_take(size_t n)
{
    pieces++;
    return no_memory ? NULL : calloc(1, n);
}

static void test_the_line_of_counts(void **state)
{
    rt_object o = {.id = 3};
    patch_counts c = {.functions = 727, .patched = 724, .late = 3, .ends = 1053, .ends_patched = 1050, .pages = 9};
    tl_rt_patch_note_counts(&o, &c);
    assert_non_null(o.patched);
    const rt_line *l = o.patched;
    assert_string_equal(l->text, "patched object=3 functions=727 patched=724 late=3 ends=1053 ends-patched=1050");
    assert_int_equal(l->n, strlen(l->text));
    c.functions = 728;
    tl_rt_patch_note_counts(&o, &c); /* in the same memory */
    assert_ptr_equal(o.patched, l);
    assert_int_equal(pieces, 1);
    assert_contains(l->text, " functions=728 ");

    /* Reasons of functions; fragments and the like are none. */
    c.why[PATCH_OK] = 724;
    c.why[PATCH_IS_PART] = 100;
    c.why[PATCH_IS_START] = 1;
    c.why[PATCH_SHARED_PART] = 2;
    c.why[PATCH_NO_ROOM] = 1;
    char expected[256];
    snprintf(expected, sizeof expected, " ends-patched=1050 why=%s (2); %s (1)", patch_why_text(PATCH_SHARED_PART),
             patch_why_text(PATCH_NO_ROOM));
    tl_rt_patch_note_counts(&o, &c);
    assert_string_equal(strstr(l->text, " ends-patched"), expected);

    /* All of them, with the largest numbers, fit the line. */
    for (unsigned i = 0; i < PATCH_WHYS; i++)
        c.why[i] = UINT32_MAX;
    c.functions = c.patched = c.late = c.ends = c.ends_patched = o.id = UINT32_MAX;
    tl_rt_patch_note_counts(&o, &c);
    assert_true(l->n + 1 < sizeof l->text);
    assert_contains(l->text, patch_why_text(PATCH_WHYS - 1));
    free((void *)(uintptr_t)o.patched);
}

static void test_no_memory_for_the_line(void **state)
{
    rt_object o = {.id = 3};
    no_memory = true;
    tl_rt_patch_note_counts(&o, &(patch_counts){.functions = 1});
    no_memory = false;
    assert_null(o.patched);
}
#else
RT_SKIPPED(test_the_line_of_counts)
RT_SKIPPED(test_no_memory_for_the_line)
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_line_of_counts),
        cmocka_unit_test(test_no_memory_for_the_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
