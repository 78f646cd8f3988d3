/* The text about lost events: shares close to all and to nothing. */
#include "check.h"
#include "op/loss_text.h"

static void check(uint64_t lost, uint64_t packets, uint64_t events, const char *expected)
{
    char text[128];
    assert_string_equal(tl_losses_text(text, sizeof text, lost, packets, events), expected);
}

static void test_shares(void **state)
{
    check(0, 0, 5, "");
    check(1, 0, 0, "lost 1 event");
    check(1218, 0, 32, "lost 1,218 events (97 %)");
    check(16, 0, 684, "lost 16 events (2.3 %)");
    check(1, 0, 999, "lost 1 event (0.1 %)");
    check(3888948281, 0, 56, "lost 3,888,948,281 events (over 99 %)");
    check(1, 0, 13000000, "lost 1 event (under 0.01 %)");
    check(0, 1, 5, "lost 1 packet");
    check(1218, 2, 32, "lost 1,218 events (97 %) and 2 packets");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
