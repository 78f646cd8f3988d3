/* Streams whose compressed data proves damaged in the middle of a token, after they announced their length: reading and
 * checking end there. */
#include "lazy_fixture.h"

#include "format/xtrace/xtrace_check.h"
#include "make_xtrace.h"
#include "model/trace_impl.h"

enum { NOP = 0xd503201f };

/* A frame of `cut` bytes, then a damaged one with the others. */
static packed make_broken(const made_stream *s, size_t cut)
{
    packed f = {0};
    packed_frame(&f, s->data, cut, WITH_SUM);
    const size_t second = f.n, header = 4 + 1 + 2 + 3; /* magic, flags, size; of the first block */
    packed_frame(&f, s->data + cut, s->n - cut, WITH_SUM);
    memset(f.p + second + header, 0xff, 4); /* only decompression finds it */
    return f;
}

static void test_check(void **state)
{
    made_stream s = {0};
    made_pcinst(&s, 0, 0x400000, NOP);
    for (unsigned i = 0; i < 200; i++)
        made_inst(&s, 0, NOP);
    const size_t places[] = {13 + 5 * 100, 13 + 5 * 100 + 1, 13 + 5 * 100 + 4}; /* between two, and in one */
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        for (int resync = 0; resync < 2; resync++) {
            packed f = make_broken(&s, places[i]);
            tl_input *in = open_packed_file(&f);
            tl_trace t;
            tl_error e = {0};
            tl_trace_init(&t);
            assert_int_equal(tl_input_size(in), s.n);
            alarm(20); /* it must not loop for ever */
            assert_int_equal(xtrace_check_stream(in, &t, NULL, NULL, resync, &e), 0);
            alarm(0);
            assert_int_equal(tl_trace_damages(&t), 0); /* reading reports it */
            assert_int_equal(tl_input_size(in), places[i]);
            tl_input_close(in);
            tl_trace_fini(&t);
            free(f.p);
        }
    free(s.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_check, scratch_enter, scratch_leave)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
