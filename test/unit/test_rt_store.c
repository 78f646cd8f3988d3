/* Pieces of the recorded file: placed so that kernels with larger pages can map them, too. */
#include "check.h"
#include "rt_host.h"

#if RT_HERE
#include <sys/resource.h>
#include <unistd.h>

#include "rt/rt_store.c"
#include "rt_record_fixture.h"

enum { LARGE = 64 << 10 };

static rt_store store = {.fd = -1};

/* Takes pieces of all kinds of sizes, like a kernel with pages of 64 KiB. */
static void take_pieces(bool whole)
{
    static const uint64_t wanted[] = {1, RT_PAGE, 16 << 10, LARGE, LARGE + 1, RT_PAGE};
    char path[] = "/tmp/test_rt_store.XXXXXX";
    uint64_t end = 0;
    close(mkstemp(path));
    unlink(path);
    assert_int_equal(tl_rt_store_open(&store, path, 16 << 20, whole), 0);
    assert_int_equal(store.page, sysconf(_SC_PAGESIZE));
    store.page = LARGE;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        uint64_t n = wanted[i], offset = 0;
        char *p = tl_rt_store_take(&store, &n, &offset);
        assert_non_null(p);
        assert_int_equal(offset, end);
        assert_int_equal(offset % LARGE, 0);
        assert_int_equal(n % LARGE, 0);
        assert_true(n >= wanted[i] && n - wanted[i] < LARGE);
        assert_true(!whole || p == store.whole + offset);
        memset(p, 1, (size_t)n);
        if (!whole)
            tl_rt_store_unmap(p, n);
        end += n;
    }
    assert_int_equal(lseek(store.fd, 0, SEEK_END), (off_t)end);
    if (whole)
        tl_rt_store_unmap(store.whole, store.limit);
    assert_int_equal(tl_rt_store_close(&store, UINT64_MAX), 0);
    unlink(path);
}

static void test_pieces(void **state)
{
    take_pieces(false);
}

static void test_pieces_of_one_mapping(void **state)
{
    take_pieces(true);
}

/* Kept memory: zero, aligned, not shared, whether small or larger than the shared pieces. */
static void test_kept_memory(void **state)
{
    enum { PIECES = 3000, LARGE_ONE = 70000 };
    static char *piece[PIECES];
    for (size_t i = 0; i < PIECES; i++) {
        const size_t n = i % 100 == 99 ? LARGE_ONE : i % 200;
        piece[i] = tl_rt_memory_keep(n);
        assert_non_null(piece[i]);
        assert_int_equal((uintptr_t)piece[i] % 8, 0);
        for (size_t k = 0; k < n; k++) {
            assert_int_equal(piece[i][k], 0);
            piece[i][k] = (char)(i | 1);
        }
    }
    for (size_t i = 0; i < PIECES; i++)
        for (size_t k = 0; k < (i % 100 == 99 ? LARGE_ONE : i % 200); k++)
            assert_int_equal(piece[i][k], (char)(i | 1));
}

/* ---- failures leave nothing ---- */

static int lowest_descriptor(void)
{
    const int fd = dup(1);
    close(fd);
    return fd;
}

static void test_a_mapping_that_is_too_large(void **state)
{
    const int lowest = lowest_descriptor();
    assert_true(tl_rt_store_open(&store, "file", UINT64_C(1) << 60, true) < 0);
    assert_int_equal(access("file", F_OK), -1);
    assert_int_equal(lowest_descriptor(), lowest);
    assert_int_equal(tl_rt_store_open(&store, "file", (1 << 20) + 5, true), 0);
    assert_int_equal(store.limit, 1 << 20); /* whole pages */
    assert_true(is_mapped("/file"));
    rt_store other;
    assert_int_equal(tl_rt_store_open(&other, "file", 1 << 20, true), -EEXIST);
    assert_int_equal(access("file", F_OK), 0);
    tl_rt_store_unmap(store.whole, store.limit);
    assert_false(is_mapped("/file"));
    assert_int_equal(tl_rt_store_close(&store, UINT64_MAX), 0);
    unlink("file");
}

/* Standard input is closed, and no other descriptor may be used: 0 is not kept. UNLIMITED: they may be used. */
enum { UNLIMITED = 77 };
static int open_without_descriptors(bool whole)
{
    const struct rlimit three = {3, 3};
    close(0);
    setrlimit(RLIMIT_NOFILE, &three);
    if (fcntl(1, F_DUPFD, 3) >= 0)
        return UNLIMITED;
    if (tl_rt_store_open(&store, "file", 1 << 20, whole) >= 0 || store.fd != -1 || store.whole)
        return 3;
    if (access("file", F_OK) == 0 || is_mapped("/file"))
        return 4;
    return lowest_descriptor() == 0 ? 0 : 5;
}

static void test_no_descriptor_is_left(void **state)
{
    for (int whole = 0; whole < 2; whole++) {
        int status = -1;
        const pid_t pid = fork();
        if (pid == 0)
            _exit(open_without_descriptors(whole != 0));
        assert_int_equal(waitpid(pid, &status, 0), pid);
        if (WIFEXITED(status) && WEXITSTATUS(status) == UNLIMITED)
            skip_because("RLIMIT_NOFILE does not hold here (valgrind)");
        assert_int_equal(status, 0);
    }
}

static void test_files_may_be_so_large_only(void **state)
{
    struct rlimit before, little;
    getrlimit(RLIMIT_FSIZE, &before);
    little = (struct rlimit){.rlim_cur = 10, .rlim_max = before.rlim_max};
    const int fd = open("file", O_RDWR | O_CREAT, 0600);
    assert_true(fd >= 0);
    assert_int_equal(tl_rt_store_write(fd, "0123456789abcdef", 16, 0), 0);
    assert_int_equal(ftruncate(fd, 0), 0);
    setrlimit(RLIMIT_FSIZE, &little); /* beyond it, this process would get a signal */
    const long within = tl_rt_store_write(fd, "abc", 3, 7), beyond = tl_rt_store_write(fd, "abc", 3, 8),
               far = tl_rt_store_write(fd, "abc", 3, 11), huge = tl_rt_store_write(fd, "abc", UINT64_MAX - 2, 8);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(within, 0);
    assert_int_equal(beyond, -EFBIG);
    assert_int_equal(far, -EFBIG);
    assert_int_equal(huge, -EFBIG);
    assert_int_equal(lseek(fd, 0, SEEK_END), 10);
    assert_int_equal(tl_rt_store_write(-1, "abc", 3, 0), -EBADF);
    close(fd);
    unlink("file");
}
#else
RT_SKIPPED(test_a_mapping_that_is_too_large)
RT_SKIPPED(test_no_descriptor_is_left)
RT_SKIPPED(test_files_may_be_so_large_only)
#define scratch_enter NULL
#define scratch_leave NULL
RT_SKIPPED(test_pieces)
RT_SKIPPED(test_pieces_of_one_mapping)
RT_SKIPPED(test_kept_memory)
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_pieces_of_one_mapping),
        cmocka_unit_test(test_kept_memory),
        cmocka_unit_test_setup_teardown(test_a_mapping_that_is_too_large, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_no_descriptor_is_left, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_files_may_be_so_large_only, scratch_enter, scratch_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
