/* Threads that wait for a decoder of content that is decompressed when it is read. */
#include "lazy_fixture.h"

/* A frame with a window so large that there is only one decoder: blocks of one byte each, and a wrong sum if
 * `spoilt`. */
static void frame_of_large_window(packed *f, uint32_t blocks, bool spoilt)
{
    enum { WINDOW_128_MIB = (27 - 10) << 3, BLOCK = 1 << 17 };
    uint8_t bytes[10];
    tl_store32(bytes, 0xfd2fb528u, false);
    bytes[4] = spoilt ? 0x84 : 0x80; /* size of 4 bytes; a checksum */
    bytes[5] = WINDOW_128_MIB;
    tl_store32(bytes + 6, blocks * BLOCK, false);
    packed_add(f, bytes, sizeof bytes);
    for (uint32_t i = 1; i <= blocks; i++) {
        tl_store32(bytes, (uint32_t)(i == blocks) | 1u << 1 | BLOCK << 3 | (uint32_t)'x' << 24, false);
        packed_add(f, bytes, 4);
    }
    if (spoilt)
        packed_add(f, "sum?", 4);
}

typedef struct waiting {
    tl_input *in;
    uint64_t at;
    bool wrong;
    pthread_t thread;
} waiting;

static void *late_main(void *arg)
{
    waiting *w = arg;
    char byte;
    size_t got = 0;
    w->wrong = tl_input_read(w->in, w->at, &byte, 1, &got, NULL) < 0 || got > 1;
    return NULL;
}

/* Threads that wait for a decoder continue when the content proves to end before their place. */
static void test_damage_wakes_all_who_wait(void **state)
{
#ifndef TL_HAVE_ZSTD
    skip_because("this build has no libzstd");
#endif
    enum { LARGE = 512, FRAME = 1 << 17, THREADS = 6 };
    packed f = {0};
    frame_of_large_window(&f, LARGE, true);
    for (unsigned i = 1; i < THREADS; i++)
        frame_of_large_window(&f, 1, false);
    tl_input *in = open_packed_file(&f);
    assert_int_equal(tl_input_frames(in), THREADS);
    waiting w[THREADS];
    for (unsigned i = 0; i < THREADS; i++) { /* the first one reads up to the damage, which takes a while */
        w[i] = (waiting){.in = in, .at = (uint64_t)(LARGE + i) * FRAME - 1};
        assert_int_equal(pthread_create(&w[i].thread, NULL, late_main, &w[i]), 0);
        usleep(1000);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(w[i].thread, NULL);
        assert_false(w[i].wrong);
    }
    assert_non_null(tl_input_damage(in, NULL));
    assert_true(tl_input_size(in) <= (uint64_t)LARGE * FRAME);
    tl_input_close(in);
    free(f.p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_damage_wakes_all_who_wait, scratch_enter, scratch_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
