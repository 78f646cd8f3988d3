/* The recorder writes a profile while threads go on, without memory, to places that are none, and of broken images. */
#include "check.h"
#include "rt_tlp_fixture.h"
#include "thorough.h"

#ifdef RT_TLP_HERE

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>

/* ---- while threads go on ---- */

static void test_a_call_that_is_being_added_is_left_out(void **state)
{
    live_image m;
    scene_adding(&m);
    assert_written(&m);
    image_fini(&m);
}

typedef struct busy {
    uint8_t *bytes;
    uint32_t root;
    uint64_t size; /* as of now */
    bool stop;
} busy;

/* Adds calls and nodes to an image as the recorder does: what is linked is complete. */
static void *keep_adding(void *arg)
{
    busy *b = arg;
    uint64_t seed = 1;
    uint32_t known[512], n = 1;
    known[0] = b->root;
    while (!__atomic_load_n(&b->stop, __ATOMIC_RELAXED)) {
        const uint64_t r = fixture_random(&seed);
        uint32_t at = known[r % n];
        if (n < 512 && r % 3 == 0) {
            const uint32_t node = (uint32_t)(b->size / LIVE_UNIT);
            uint8_t *p = b->bytes + b->size, *head = b->bytes + image_at(at) + LIVE_NODE_CHILD;
            __atomic_store_n(&b->size, b->size + LIVE_NODE_SIZE + LIVE_BLOCK_SIZE, __ATOMIC_RELEASE);
            tl_store32(p + LIVE_NODE_FUNCTION, 1 + n, false);
            tl_store32(p + LIVE_NODE_PARENT, at, false);
            tl_store32(p + LIVE_NODE_SIBLING, tl_load32(head, false), false);
            tl_store64(p + LIVE_NODE_MIN, UINT64_MAX, false);
            tl_store32(p + LIVE_NODE_BLOCKS, node + LIVE_NODE_SIZE / LIVE_UNIT, false);
            tl_store16(p + LIVE_NODE_SIZE + LIVE_BLOCK_TAG, (uint16_t)(n % 900), false);
            __atomic_store_n((uint32_t *)(void *)head, node, __ATOMIC_RELEASE);
            known[n++] = node;
        } else if (at != b->root) {
            uint8_t *p = b->bytes + image_at(at), *count = p + LIVE_NODE_SIZE + LIVE_BLOCK_COUNT + 4 * (r % 16);
            const uint64_t ticks = r % 16;
            __atomic_fetch_add((uint64_t *)(void *)(p + LIVE_NODE_CALLS), 1, __ATOMIC_RELAXED);
            __atomic_fetch_add((uint64_t *)(void *)(p + LIVE_NODE_TOTAL), ticks, __ATOMIC_RELAXED);
            __atomic_store_n((uint64_t *)(void *)(p + LIVE_NODE_MIN), ticks, __ATOMIC_RELAXED);
            __atomic_store_n((uint64_t *)(void *)(p + LIVE_NODE_MAX), ticks, __ATOMIC_RELAXED);
            __atomic_fetch_add((uint32_t *)(void *)count, 1, __ATOMIC_RELEASE);
        }
    }
    return NULL;
}

/* Whenever it is written, the result is a profile. */
static void test_an_image_that_changes(void **state)
{
    pthread_t thread;
    live_image m;
    image_init(&m);
    busy b = {.root = image_lane(&m, 1, 1, "", "thread 1")};
    image_take(&m, 1 << 20);
    b.bytes = m.bytes;
    b.size = image_at(b.root) + LIVE_NODE_SIZE;
    uint64_t calls = 0;
    assert_int_equal(pthread_create(&thread, NULL, keep_adding, &b), 0);
    for (int i = 0; i < 300; i++) {
        size_t n;
        tl_profile *p = NULL;
        tl_error e = {0};
        assert_int_equal(tl_rt_tlp_write_growing("app.tlp", m.bytes, &b.size), 0);
        uint8_t *bytes = load_file("app.tlp", &n);
        if (fixture_load(bytes, n, &p, NULL, &e) < 0)
            fail_msg("%s", e.message);
        uint64_t sum = 0;
        for (uint32_t k = 1; k < p->nplace; k++)
            sum += p->stat[k].calls;
        assert_true(sum >= calls); /* nothing that was there is ever hidden */
        calls = sum;
        tl_profile_free(p);
        free(bytes);
    }
    __atomic_store_n(&b.stop, true, __ATOMIC_RELAXED);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(calls > 0);
    assert_clean();
    image_fini(&m);
    scratch_files(1);
}

/* ---- what can go wrong ---- */

static void test_without_memory_nothing_is_written(void **state)
{
    uint64_t seed = 37;
    long i = 0;
    live_image m;
    image_init(&m);
    image_random(&m, &seed, 4, 60000);
    has_symbols = true;
    for (;; i++) {
        pieces_left = i;
        const int status = tl_rt_tlp_write("app.tlp", m.bytes, m.size);
        pieces_left = -1;
        assert_clean();
        assert_int_equal(scratch_files(1), status == 0);
        if (status == 0)
            break;
        assert_int_equal(status, -ENOMEM);
    }
    assert_in_range(i, 4, 100);
    has_symbols = false;
    image_fini(&m);
}

static void test_places_that_cannot_be_written(void **state)
{
    char long_name[5000];
    live_image m;
    image_init(&m);
    assert_int_equal(tl_rt_tlp_write("no/such/folder.tlp", m.bytes, m.size), -ENOENT);
    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = 0;
    assert_int_equal(tl_rt_tlp_write(long_name, m.bytes, m.size), -ENAMETOOLONG);
    assert_int_equal(mkdir("folder", 0700), 0);
    assert_int_equal(tl_rt_tlp_write("folder", m.bytes, m.size), -EISDIR);
    assert_int_equal(scratch_files(1), 1); /* the folder */
    assert_int_equal(tl_rt_tlp_write("app.tlp", m.bytes, 100), -EINVAL);
    m.bytes[3] ^= 1;
    assert_int_equal(tl_rt_tlp_write("app.tlp", m.bytes, m.size), -EINVAL);
    assert_int_equal(scratch_files(1), 0);
    assert_clean();
    image_fini(&m);
}

static void test_a_full_disk(void **state)
{
    if (access("/dev/full", W_OK) < 0)
        skip_because("the system has no /dev/full");
    live_image m;
    char beside[40];
    image_init(&m);
    snprintf(beside, sizeof beside, "app.tlp.tmp%d", (int)getpid());
    /* The file beside is opened as it is, but never through a link. */
    assert_int_equal(symlink("/dev/full", beside), 0);
    assert_int_equal(tl_rt_tlp_write("app.tlp", m.bytes, m.size), -ELOOP);
    tlp_sink s = {.fd = open("/dev/full", O_WRONLY), .buffer = malloc(1 << 16)};
    assert_true(s.fd >= 0);
    tl_rt_tlp_put(&s, m.bytes, 100);
    flush(&s);
    assert_int_equal(s.error, -ENOSPC);
    close(s.fd);
    free(s.buffer);
    image_fini(&m);
    scratch_files(1);
}

/* A stray store of the program may have hit the image. */
static void test_images_with_changed_bits_are_survived(void **state)
{
    uint64_t seed = 41;
    live_image m;
    image_init(&m);
    image_random(&m, &seed, 3, 200);
    uint8_t *copy = aligned_alloc(16, m.size);
    assert_non_null(copy);
    const int tried = 4000 / (int)one_in(5);
    int written = 0;
    for (int i = 0; i < tried; i++) {
        memcpy(copy, m.bytes, m.size);
        for (uint64_t k = 1 + fixture_random(&seed) % 4; k > 0; k--) {
            const uint64_t r = fixture_random(&seed);
            const size_t at = r % 4 ? LIVE_HEADER_SIZE + (size_t)(r >> 8) % (m.size - LIVE_HEADER_SIZE)
                                    : LIVE_HEADER_LANES + (size_t)(r >> 8) % 12;
            copy[at] ^= (uint8_t)(1u << (r >> 4) % 8);
        }
        const int status = tl_rt_tlp_write("app.tlp", copy, m.size);
        assert_clean();
        if (status < 0)
            continue;
        written++;
        size_t n;
        tl_profile *p = NULL;
        tl_error e = {0};
        uint8_t *bytes = load_file("app.tlp", &n);
        if (fixture_load(bytes, n, &p, NULL, &e) < 0)
            fail_msg("%s", e.message);
        tl_profile_free(p);
        free(bytes);
    }
    assert_true(written > tried / 4 * 3);
    free(copy);
    image_fini(&m);
    scratch_files(1);
}

#else

RT_TLP_NOT_HERE(test_a_call_that_is_being_added_is_left_out)
RT_TLP_NOT_HERE(test_an_image_that_changes)
RT_TLP_NOT_HERE(test_without_memory_nothing_is_written)
RT_TLP_NOT_HERE(test_places_that_cannot_be_written)
RT_TLP_NOT_HERE(test_a_full_disk)
RT_TLP_NOT_HERE(test_images_with_changed_bits_are_survived)

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_call_that_is_being_added_is_left_out, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_an_image_that_changes, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_without_memory_nothing_is_written, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_places_that_cannot_be_written, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_a_full_disk, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_images_with_changed_bits_are_survived, scratch_enter, scratch_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
