/* For tests of content that is decompressed on reading: makes compressed files of many shapes, and compares their
 * content with that of decompressing everything first. */
#ifndef TL_TEST_LAZY_FIXTURE_H
#define TL_TEST_LAZY_FIXTURE_H

#include "check.h"
#include "input_check.h"

#include "base/endian.h"
#include "base/io/seek_table.h"

#ifdef TL_HAVE_ZSTD
#include <zstd.h>
#endif

enum { KIB = 1 << 10, MIB = 1 << 20 };

/* A compressed file under construction. */
typedef struct packed {
    uint8_t *p;
    size_t n, capacity;
} packed;

static inline void packed_add(packed *f, const void *data, size_t n)
{
    if (n > f->capacity - f->n) {
        f->capacity = f->n + n + 2 * f->capacity;
        f->p = realloc(f->p, f->capacity);
        assert_non_null(f->p);
    }
    if (n > 0)
        memcpy(f->p + f->n, data, n);
    f->n += n;
}

static inline void packed_note(packed *f, uint32_t magic, const void *data, uint32_t n)
{
    uint8_t header[TL_SKIPPABLE_HEADER];
    tl_store32(header, magic, false);
    tl_store32(header + 4, n, false);
    packed_add(f, header, sizeof header);
    packed_add(f, data, n);
}

enum { WITH_SUM = 1, WITHOUT_SIZE = 2, WIDE = 4 /* a window of up to 32 MiB */ };

/* Adds a frame: of stored blocks, if there is no library. */
static inline void packed_frame(packed *f, const void *data, size_t n, int flags)
{
#ifdef TL_HAVE_ZSTD
    const size_t most = ZSTD_compressBound(n) + 64;
    uint8_t *out = malloc(most);
    ZSTD_CCtx *z = ZSTD_createCCtx();
    assert_true(out && z);
    ZSTD_CCtx_setParameter(z, ZSTD_c_compressionLevel, 1);
    ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, (flags & WITH_SUM) != 0);
    ZSTD_CCtx_setParameter(z, ZSTD_c_contentSizeFlag, (flags & WITHOUT_SIZE) == 0);
    if (flags & WIDE)
        ZSTD_CCtx_setParameter(z, ZSTD_c_windowLog, 25);
    const size_t size = ZSTD_compress2(z, out, most, data, n);
    assert_false(ZSTD_isError(size));
    packed_add(f, out, size);
    ZSTD_freeCCtx(z);
    free(out);
#else
    (void)f, (void)data, (void)n, (void)flags;
    skip_because("this build has no libzstd");
#endif
}

/* Content in frames of `step` bytes. */
static inline packed packed_frames(const char *data, size_t n, size_t step, int flags)
{
    packed f = {0};
    for (size_t at = 0; at < n; at += step)
        packed_frame(&f, data + at, n - at < step ? n - at : step, flags);
    return f;
}

/* n bytes that compress to about a half. */
static inline char *content_of(size_t n)
{
    char *p = pattern(n);
    for (size_t i = 0; i < n; i++)
        p[i] = (char)((p[i] & 15) + (i >> 12));
    return p;
}

static inline tl_input *open_lazy(const char *path)
{
    tl_input *in = NULL;
    tl_error e;
    must(tl_input_open_lazy(&in, path, &e), &e);
    return in;
}

static inline tl_input *open_packed_file(const packed *f)
{
    scratch_write("packed", f->p, f->n);
    return open_lazy("packed");
}

/* Reads to the end, `most` bytes at a time; returns how many there are. */
static inline size_t read_through(tl_input *in, char *buf, size_t most, size_t step)
{
    size_t sum = 0, got = 0;
    tl_error e;
    do {
        const size_t n = most - sum < step ? most - sum : step;
        must(tl_input_read(in, sum, buf + sum, n, &got, &e), &e);
        sum += got;
    } while (got > 0);
    return sum;
}

/* The bytes read are the same content, with the same damage, as those decompressed first; or neither can be opened, for
 * the same reason. */
static inline void check_same(const void *bytes, size_t n, size_t step)
{
    tl_input *all = NULL, *lazy = NULL;
    tl_error e = {0}, f = {0};
    scratch_write("packed", bytes, n);
    const int r = tl_input_open(&all, "packed", &e), s = tl_input_open_lazy(&lazy, "packed", &f);
    assert_int_equal(r, s);
    if (r < 0) {
        assert_string_equal(e.message, f.message);
        return;
    }
    const size_t size = (size_t)tl_input_size(all);
    size_t got = 0;
    char *expected = malloc(size + 1), *buf = malloc(size + MIB);
    assert_int_equal(tl_input_read(all, 0, expected, size, &got, NULL), 0);
    assert_int_equal(read_through(lazy, buf, size + MIB, step), size);
    assert_memory_equal(buf, expected, size);
    assert_int_equal(tl_input_size(lazy), size);
    uint64_t at = 0, at_lazy = 0;
    const char *damage = tl_input_damage(all, &at), *damage_lazy = tl_input_damage(lazy, &at_lazy);
    assert_true(!damage == !damage_lazy);
    if (damage) {
        assert_string_equal(damage, damage_lazy);
        assert_int_equal(at, at_lazy);
    }
    tl_input_close(all);
    tl_input_close(lazy);
    free(expected);
    free(buf);
}

#endif
