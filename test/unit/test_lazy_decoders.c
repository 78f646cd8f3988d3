/* The number of decoders of an input; includes input_lazy.c to see it. */
#include "base/io/input_lazy.c"

#include "lazy_fixture.h"

/* Of content with a window of this size. */
static unsigned decoders(size_t window)
{
    char *data = content_of(window);
    packed f = {0};
    tl_lazy *l = NULL;
    tl_error e;
    packed_frame(&f, data, window, WIDE);
    scratch_write("packed", f.p, f.n);
    const int fd = open("packed", O_RDONLY);
    const tl_packed p = {.fd = fd, .size = f.n};
    assert_int_equal(tl_lazy_open(&l, &p, &e), 1);
    const unsigned n = l->ndecoder;
    tl_lazy_close(l);
    close(fd);
    free(f.p);
    free(data);
    return n;
}

static void test_as_many_as_fit(void **state)
{
    if (!tl_slot_possible())
        skip_because("this build has no libzstd");
    assert_int_equal(decoders(1000), 8);
    assert_int_equal(decoders(8 * MIB), 8);
    assert_int_equal(decoders(32 * MIB), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_as_many_as_fit, scratch_enter, scratch_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
