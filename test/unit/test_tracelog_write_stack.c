/* Stacks as differences: which frames are kept, which moved, and what a reader knows of each thread. */
#include "tracelog_write_fixture.h"

#define ANY UINT64_MAX

static void begin(fixture *f)
{
    log_init(f);
    assert_int_equal(fixture_create(f, &tracelog_door), 0);
}

static void test_same_stack_changes_nothing(void **state)
{
    fixture f;
    begin(&f);
    const tl_frame a = frame_on(NULL, 1), b = frame_on(&a, 0xab);
    log_sample(&f, 1, 1, ANY, &b);
    log_sample(&f, 2, 1, ANY, &b);
    log_sample(&f, 3, 1, ANY, &a);
    log_sample(&f, 4, 1, ANY, NULL);
    log_sample(&f, 5, 1, ANY, NULL);
    log_sample(&f, 6, 1, ANY, &a);
    fixture_expect(&f, "sam str 0x00000001 1 1 0:0 0x1 0xab\n"
                       "sam str 0x00000001 2 1 2:2\n"
                       "sam str 0x00000001 3 1 1:2\n"
                       "sam str 0x00000001 4 1 0:1\n"
                       "sam str 0x00000001 5 1 0:0\n"
                       "sam str 0x00000001 6 1 0:0 0x1\n");
}

/* A function that returned and was called again is a new frame, if the source distinguishes them. */
static void test_called_again(void **state)
{
    fixture f;
    begin(&f);
    const tl_frame a = frame_on(NULL, 1), b = frame_on(&a, 2), again = frame_on(&a, 2);
    log_sample(&f, 1, 1, ANY, &b);
    log_sample(&f, 2, 1, 1, &again);
    log_sample(&f, 3, 1, 0, &again);
    log_sample(&f, 4, 1, 2, &again);
    fixture_expect(&f, "sam str 0x00000001 1 1 0:0 0x1 0x2\n"
                       "sam str 0x00000001 2 1 1:2 0x2\n"
                       "sam str 0x00000001 3 1 0:2 0x1 0x2\n"
                       "sam str 0x00000001 4 1 2:2\n");
}

/* The call point of the last kept frame is written; a change further down makes all frames above it new. */
static void test_call_points(void **state)
{
    fixture f;
    begin(&f);
    const tl_frame a = frame_at(NULL, 1, 0x10), b = frame_at(&a, 2, 0x20), moved = frame_at(&a, 2, 0x21),
                   none = frame_on(&a, 2), c = frame_at(&none, 3, 0xabc), lower = frame_at(NULL, 1, 0x11),
                   upper = frame_at(&lower, 2, 0x20);
    log_sample(&f, 1, 1, ANY, &b);
    log_sample(&f, 2, 1, ANY, &moved);
    log_sample(&f, 3, 1, 2, &none);
    log_sample(&f, 4, 1, 2, &c);
    log_sample(&f, 5, 1, ANY, &b);
    log_sample(&f, 6, 1, ANY, &upper);
    log_sample(&f, 7, 1, 2, &b); /* not possible: frame 1 differs */
    fixture_expect(&f, "sam str 0x00000001 1 1 0:0 0x1:0x0000000000000010 0x2:0x0000000000000020\n"
                       "sam str 0x00000001 2 1 2:2:0x0000000000000021\n"
                       "sam str 0x00000001 3 1 2:2:?\n"
                       "sam str 0x00000001 4 1 2:2 0x3:0x0000000000000ABC\n"
                       "sam str 0x00000001 5 1 2:3:0x0000000000000020\n"
                       "sam str 0x00000001 6 1 1:2:0x0000000000000011 0x2:0x0000000000000020\n"
                       "sam str 0x00000001 7 1 1:2:0x0000000000000010 0x2:0x0000000000000020\n");
}

/* A call point and a number of a line differ even if they are equal. */
static void test_lines_are_no_addresses(void **state)
{
    fixture f;
    begin(&f);
    tl_frame a = frame_at(NULL, 1, 0x1f), line = a, far = a;
    line.flags |= TL_FRAME_LINE;
    far.flags |= TL_FRAME_LINE;
    far.ip = UINT64_C(0x7f00000000ab);
    log_sample(&f, 1, 1, ANY, &a);
    log_sample(&f, 2, 1, ANY, &line);
    log_sample(&f, 3, 1, ANY, &far);
    fixture_expect(&f, "sam str 0x00000001 1 1 0:0 0x1:0x000000000000001F\n"
                       "sam str 0x00000001 2 1 1:1:0x1f\n"
                       "sam str 0x00000001 3 1 1:1:0x00007F00000000AB\n");
}

static void test_unknown_functions(void **state)
{
    fixture f;
    begin(&f);
    const tl_frame unknown = {.depth = 1, .function = 5}, other = {.depth = 1, .function = 6},
                   a = frame_on(&unknown, 0), zero = frame_on(NULL, 0);
    log_sample(&f, 1, 1, ANY, &a);
    log_sample(&f, 2, 1, ANY, &other); /* the number of a frame without one does not matter */
    log_sample(&f, 3, 1, ANY, &zero);
    fixture_expect(&f, "sam str 0x00000001 1 1 0:0 ? 0x0\n"
                       "sam str 0x00000001 2 1 1:2\n"
                       "sam str 0x00000001 3 1 0:1 0x0\n");
}

/* The source's kept frames count only as far as they can be true. */
static void test_kept_beyond_what_is_there(void **state)
{
    fixture f;
    begin(&f);
    const tl_frame a = frame_on(NULL, 1), b = frame_on(&a, 2), c = frame_on(&b, 3);
    log_sample(&f, 1, 1, 7, &b);
    log_sample(&f, 2, 1, 3, &c);
    log_sample(&f, 3, 1, UINT32_MAX, &c);
    log_sample(&f, 4, 1, UINT64_MAX - 1, &a);
    fixture_expect(&f, "sam str 0x00000001 1 1 0:0 0x1 0x2\n"
                       "sam str 0x00000001 2 1 2:2 0x3\n"
                       "sam str 0x00000001 3 1 3:3\n"
                       "sam str 0x00000001 4 1 1:3\n");
}

/* The next batch may have other frames at the same place in memory. */
static void test_frames_of_another_batch(void **state)
{
    fixture f;
    begin(&f);
    tl_frame a = frame_on(NULL, 1), b = frame_on(&a, 2);
    log_sample(&f, 1, 1, ANY, &b);
    fixture_flush(&f);
    a.function = 9;
    log_sample(&f, 2, 1, ANY, &b);
    fixture_flush(&f);
    const tl_frame copy = frame_on(NULL, 9), top = frame_on(&copy, 2);
    log_sample(&f, 3, 1, ANY, &top);
    fixture_expect(&f, "sam str 0x00000001 1 1 0:0 0x1 0x2\n"
                       "sam str 0x00000001 2 1 0:2 0x9 0x2\n"
                       "sam str 0x00000001 3 1 2:2\n");
}

/* Shared frames need no comparison; those below them are still right. */
static void test_shared_frames(void **state)
{
    fixture f;
    begin(&f);
    const tl_frame a = frame_on(NULL, 1), b = frame_on(&a, 2), c = frame_on(&b, 3), d = frame_on(&b, 4),
                   other = frame_on(NULL, 1), e = frame_on(&other, 2), g = frame_on(&e, 4);
    log_sample(&f, 1, 1, ANY, &c);
    log_sample(&f, 2, 1, ANY, &d);
    log_sample(&f, 3, 1, ANY, &g); /* equal, but other frames */
    log_sample(&f, 4, 1, ANY, &c);
    fixture_expect(&f, "sam str 0x00000001 1 1 0:0 0x1 0x2 0x3\n"
                       "sam str 0x00000001 2 1 2:3 0x4\n"
                       "sam str 0x00000001 3 1 3:3\n"
                       "sam str 0x00000001 4 1 2:3 0x3\n");
}

/* Readers keep the stack of an ended thread, and so does the writer. */
static void test_thread_that_ended(void **state)
{
    static const char log[] = "sam str 0x00000001 1 1 0:0 0x1 0x2\n"
                              "thr dst 0x00000001\n"
                              "thr crt 0x00007F0000000001 0x00000001\n"
                              "sam str 0x00000001 2 1 1:2 0x3\n";
    assert_copy(log, NULL, log);
}

/* Each thread has its own stack, and all unknown ones share one. */
static void test_threads(void **state)
{
    static const char log[] = "sam str 0x00000001 1 1 0:0 0x1\n"
                              "sam str 0x00000002 1 1 0:0 0x2 0x3\n"
                              "sam str ? 1 1 0:0 0x4\n"
                              "sam str 0x00000001 2 1 1:1\n"
                              "sam str ? 2 1 1:1 0x5\n"
                              "sam str 0xFFFFFFFFFFFFFFFF 2 1 0:0\n"
                              "sam str 0x00000002 3 1 1:2\n"
                              "sam str ? 3 1 2:2\n";
    assert_copy(log, NULL, log);
}

/* A stack that the log itself got wrong is written as read. */
static void test_wrong_differences(void **state)
{
    assert_copy("sam str 0x00000001 1 1 0:0 0x1\nsam str 0x00000001 2 1 3:5 0x2\n", NULL,
                "sam str 0x00000001 1 1 0:0 0x1\nsam str 0x00000001 2 1 1:1 ? ? 0x2\n");
}

/* Readers take no more frames. */
static void test_deepest_stack(void **state)
{
    enum { DEEP = TRACELOG_DEPTH_MAX + 2 };
    fixture f;
    begin(&f);
    tl_frame *frame = calloc(DEEP, sizeof *frame);
    assert_non_null(frame);
    for (uint32_t i = 0; i < DEEP; i++)
        frame[i] = frame_on(i ? &frame[i - 1] : NULL, 1);
    log_sample(&f, 1, 1, ANY, &frame[TRACELOG_DEPTH_MAX - 1]);
    log_sample(&f, 2, 1, ANY, &frame[DEEP - 1]);
    log_sample(&f, 3, 1, ANY, &frame[1]);
    fixture_finish(&f);
    const char *second = strchr((const char *)f.bytes, '\n') + 1;
    assert_int_equal(second - (const char *)f.bytes, 27 + 4 * TRACELOG_DEPTH_MAX);
    assert_string_equal(second, "sam str 0x00000001 2 1 65536:65536\nsam str 0x00000001 3 1 2:65536\n");
    assert_int_equal(fixture_dropped(&f, "frames deeper"), 1);
    fixture_fini(&f);
    free(frame);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_stack_changes_nothing),
        cmocka_unit_test(test_called_again),
        cmocka_unit_test(test_call_points),
        cmocka_unit_test(test_lines_are_no_addresses),
        cmocka_unit_test(test_unknown_functions),
        cmocka_unit_test(test_kept_beyond_what_is_there),
        cmocka_unit_test(test_frames_of_another_batch),
        cmocka_unit_test(test_shared_frames),
        cmocka_unit_test(test_thread_that_ended),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_wrong_differences),
        cmocka_unit_test(test_deepest_stack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
