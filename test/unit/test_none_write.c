/* The writer that writes nothing. */
#include "rich_fixture.h"

extern const tl_format tl_format_none;

static void test_writes_nothing(void **state)
{
    fixture f;
    rich_init(&f);
    assert_int_equal(fixture_create(&f, &tl_format_none), 0);
    assert_true(f.format->event_writer->ordered && f.format->event_writer->wants.fields &&
                f.format->event_writer->wants.cpu);
    assert_int_equal(f.format->event_writer->accept(f.writer, &f.trace.cls[RICH_OPEN]), TL_ACCEPT_KEEP);
    assert_int_equal(f.format->event_writer->accept(f.writer, &f.trace.cls[RICH_FRAMING]), TL_ACCEPT_IGNORE);
    rich_open_event(&f, 1);
    fixture_flush(&f);
    rich_other_event(&f, 2);
    fixture_event(&f, RICH_BARE, 0, -1, 3, 0, NULL, 0);
    fixture_finish(&f);
    assert_int_equal(f.size, 0);
    assert_int_equal(f.drops.n, 0);
    fixture_fini(&f);
}

/* Readers need not fill unused values. */
static void test_without_fields(void **state)
{
    fixture f;
    rich_init(&f);
    assert_int_equal(fixture_create(&f, &tl_format_none), 0);
    fixture_event(&f, RICH_BARE, 0, -1, 3, 0, NULL, 0);
    tl_batch bare = f.batch;
    bare.val = NULL;
    bare.cpu = NULL;
    assert_int_equal(f.format->event_writer->write(f.writer, &bare, 0, 1, NULL), 0);
    tl_batch_clear(&f.batch);
    fixture_finish(&f);
    assert_int_equal(f.size, 0);
    fixture_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_writes_nothing),
        cmocka_unit_test(test_without_fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
