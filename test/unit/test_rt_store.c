/* Pieces of the file that is recorded into: where kernels with larger pages than this one can map them, too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rt_host.h"

#if RT_HERE
#include <unistd.h>

#include "rt/rt_store.c"

enum { LARGE = 64 << 10 };

static rt_store store = {.fd = -1};

/* Takes pieces of all kinds of sizes, as on a kernel with pages of 64 KiB. */
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
    (void)state;
    take_pieces(false);
}

static void test_pieces_of_one_mapping(void **state)
{
    (void)state;
    take_pieces(true);
}

/* Memory that is kept: zero, aligned, nobody else's, whether small or larger than what the small ones share. */
static void test_kept_memory(void **state)
{
    (void)state;
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
#else
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
