/* The writer of .tlp files of the recorder, compiled into a test, with stand-ins for what it uses of the recorder. */
#ifndef TL_TEST_RT_TLP_FIXTURE_H
#define TL_TEST_RT_TLP_FIXTURE_H

#include "check.h"
#include "live_scenes.h"
#include "scratch.h"

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
#define RT_TLP_HERE

#include <sys/stat.h>

#include "rt/rt_words.c"

#include "rt/mode/rt_tlp.c"
#include "rt/mode/rt_tlp_encode.c"
#include "rt/mode/rt_tlp_names.c"
#include "rt/mode/rt_tlp_notes.c"
#include "rt/mode/rt_tlp_order.c"
#include "rt/mode/rt_tlp_tree.c"

/* ---- stand-ins for the parts of the recorder that it uses ---- */

static long pieces, pieces_left = -1; /* pieces of memory that are taken; how many more there are, -1: any */

void *tl_rt_memory_take(size_t n)
{
    if (pieces_left == 0)
        return NULL;
    pieces_left -= pieces_left > 0;
    pieces++;
    return calloc(1, n);
}

void tl_rt_memory_give(void *p, size_t n)
{
    assert_int_equal(n % 4096, 0);
    pieces--;
    free(p);
}

uint64_t tl_rt_store_largest(void)
{
    return UINT64_MAX;
}

static bool has_symbols;
static int symbols_open;
static const rt_object objects[] = {{.id = 9}, {.id = 2}, {.id = 3}};

struct rt_symbols {
    const rt_object *object;
    char name[1000][24];
};

uint32_t tl_rt_objects(void)
{
    return has_symbols ? 3 : 0;
}

const rt_object *tl_rt_object(uint32_t index)
{
    return &objects[index];
}

rt_symbols *tl_rt_symbols_open(const rt_object *o)
{
    rt_symbols *s = calloc(1, sizeof *s);
    s->object = o;
    symbols_open++;
    return s;
}

/* Some have no name, two have the same. */
const char *tl_rt_symbols_name(rt_symbols *s, uint64_t address)
{
    const size_t k = (size_t)(address - (s->object->id == 2 ? 0x1000 : 0x2000)) / 16;
    if (k >= 1000 || k == 3)
        return NULL;
    snprintf(s->name[k], sizeof s->name[k], "_Z2f%cv", (char)('a' + (k == 5 ? 4 : 25 - k % 26)));
    return s->name[k];
}

void tl_rt_symbols_close(rt_symbols *s)
{
    symbols_open--;
    free(s);
}

/* ---- helpers ---- */

static uint8_t *load_file(const char *path, size_t *n)
{
    struct stat st;
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    assert_int_equal(fstat(fileno(f), &st), 0);
    uint8_t *bytes = malloc((size_t)st.st_size + 1);
    assert_non_null(bytes);
    *n = fread(bytes, 1, (size_t)st.st_size, f);
    assert_int_equal(*n, st.st_size);
    fclose(f);
    return bytes;
}

static void assert_clean(void)
{
    assert_int_equal(pieces, 0);
    assert_int_equal(symbols_open, 0);
}

static void assert_same_bytes(const uint8_t *a, size_t na, const uint8_t *b, size_t nb, const char *what)
{
    const size_t n = na < nb ? na : nb;
    for (size_t i = 0; i < n; i++)
        if (a[i] != b[i])
            fail_msg("%s: byte %zu is 0x%02x and 0x%02x, of %zu and %zu bytes", what, i, a[i], b[i], na, nb);
    assert_int_equal(na, nb);
}

/* The recorder's file, the library's, and the one that is expected are the same; and the library reads it. */
static void assert_written(live_image *m)
{
    size_t n, expected_n, read_n;
    assert_int_equal(tl_rt_tlp_write("app.tlp", m->bytes, m->size), 0);
    assert_clean();
    uint8_t *bytes = load_file("app.tlp", &n), *expected = image_expected(m, &expected_n);
    assert_same_bytes(bytes, n, expected, expected_n, "written and expected");
    if (!has_symbols) {
        tl_profile *p = image_read(m, false);
        uint8_t *read = fixture_save(p, &read_n);
        assert_same_bytes(bytes, n, read, read_n, "written and read");
        free(read);
        tl_profile_free(p);
    }
    tl_profile *back = NULL;
    tl_error e = {0};
    if (fixture_load(bytes, n, &back, NULL, &e) < 0)
        fail_msg("%s", e.message);
    tl_profile_free(back);
    free(bytes);
    free(expected);
    assert_int_equal(scratch_files(1), 1); /* nothing is left beside it */
}

#else

/* The recorder is for 64-bit Linux on x86 and Arm. */
#define RT_TLP_NOT_HERE(test)                                                                                          \
    static void test(void **state)                                                                                     \
    {                                                                                                                  \
        skip_because("the recorder is for x86-64 and AArch64 Linux");                                                  \
    }

#endif

#endif
