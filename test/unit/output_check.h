/* Shared by the tests of base/io/output.h: opening, and checking the output. */
#ifndef TL_TEST_OUTPUT_CHECK_H
#define TL_TEST_OUTPUT_CHECK_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/io/output.h"
#include "check.h"
#include "scratch.h"

static inline tl_output *open_plain(const char *path, bool overwrite)
{
    tl_output *o = NULL;
    tl_error e;
    must(tl_output_open(&o, path, overwrite, TL_PLAIN, 0, &e), &e);
    return o;
}

static inline void check_content(const char *path, const void *expected, size_t expected_n)
{
    size_t n;
    char *got = scratch_read(path, &n);
    assert_non_null(got);
    assert_int_equal(n, expected_n);
    assert_memory_equal(got, expected, n);
    free(got);
}

static inline void check_finish(tl_output *o)
{
    tl_error e;
    must(tl_output_finish(o, &e), &e);
    tl_output_close(o);
}

/* n bytes that compress moderately. */
static inline char *pattern(size_t n)
{
    char *p = malloc(n + 1);
    uint32_t x = 12345;
    for (size_t i = 0; i < n; i++) {
        x = x * 1664525 + 1013904223;
        p[i] = (char)(x >> 24 & (i & 4096 ? 0xff : 0x0f));
    }
    return p;
}

#endif
