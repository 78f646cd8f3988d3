/* What is said of lost events: shares near all and nothing. */
#include "cli/losses.h"
#include "writer_fixture.h"

static void check(uint64_t lost, uint64_t events, const char *expected)
{
    fixture f;
    fixture_init(&f);
    f.trace.lost_events = lost;
    char text[128];
    assert_string_equal(tl_losses_text(text, sizeof text, &f.trace, events), expected);
    fixture_fini(&f);
}

static void test_shares(void **state)
{
    check(0, 5, "");
    check(1, 0, "lost 1 event");
    check(1218, 32, "lost 1,218 events (97 %)");
    check(16, 684, "lost 16 events (2.3 %)");
    check(1, 999, "lost 1 event (0.1 %)");
    check(3888948281, 56, "lost 3,888,948,281 events (over 99 %)");
    check(1, 13000000, "lost 1 event (under 0.01 %)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
