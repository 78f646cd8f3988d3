/* Files of columns: encodings are read back by decoders of this test, and the bytes are the same on every host. */
#include "base/columnar/arrow_write.h"
#include "base/columnar/parquet_encode.h"
#include "base/columnar/parquet_write.h"
#include "base/columnar/thrift_write.h"
#include "base/crc32.h"
#include "base/endian.h"
#include "base/varint.h"
#include "check.h"

#define MOST 5000u

static uint64_t varint(const uint8_t **at, const uint8_t *end)
{
    uint64_t v = 0;
    assert_int_equal(tl_varint_read(at, end, &v), TL_VARINT_FINE);
    return v;
}

static uint64_t zigzag(const uint8_t **at, const uint8_t *end)
{
    const uint64_t v = varint(at, end);
    return v >> 1 ^ (0 - (v & 1));
}

/* Bit by bit, so that it has nothing in common with what is tested. */
static uint64_t packed(const uint8_t *from, size_t index, unsigned width)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < width; i++) {
        const size_t bit = index * width + i;
        v |= (uint64_t)(from[bit / 8] >> bit % 8 & 1) << i;
    }
    return v;
}

static void check_deltas(const uint64_t *v, uint32_t n)
{
    tl_pb out = {0};
    tl_parquet_put_deltas(&out, v, n);
    const uint8_t *at = out.data, *end = out.data + out.n;
    assert_int_equal(varint(&at, end), 2048);
    assert_int_equal(varint(&at, end), 8);
    assert_int_equal(varint(&at, end), n);
    uint64_t last = zigzag(&at, end);
    if (n > 0)
        assert_true(last == v[0]);
    for (uint32_t i = 1; i < n;) {
        const uint64_t least = zigzag(&at, end);
        const uint8_t *width = at;
        at += 8;
        for (unsigned part = 0; part < 8 && i < n; part++) {
            for (uint32_t k = 0; k < 256 && i < n; k++, i++) {
                last += least + packed(at, k, width[part]);
                assert_true(last == v[i]);
            }
            at += (size_t)width[part] * 32;
        }
    }
    assert_ptr_equal(at, end);
    tl_pb_fini(&out);
}

static void differences_are_read_back(void **state)
{
    static uint64_t v[MOST];
    for (unsigned shift = 0; shift < 64; shift += 3) {
        for (uint32_t i = 0; i < MOST; i++)
            v[i] = (uint64_t)i * 0x9e3779b97f4a7c15u >> shift;
        for (uint32_t n = 0; n < MOST; n += n < 300 ? 1 : 211)
            check_deltas(v, n);
    }
    for (uint32_t i = 0; i < MOST; i++)
        v[i] = i % 2 ? (uint64_t)INT64_MAX : (uint64_t)INT64_MIN;
    check_deltas(v, MOST);
}

static void check_runs(const uint32_t *v, uint32_t n, unsigned width)
{
    tl_pb out = {0};
    tl_parquet_put_runs(&out, v, n, width);
    const uint8_t *at = out.data, *end = out.data + out.n;
    for (uint32_t i = 0; i < n;) {
        const uint64_t head = varint(&at, end);
        const uint32_t many = (uint32_t)(head >> 1);
        assert_true(many > 0);
        for (uint32_t k = 0; k < (head & 1 ? many * 8 : many); k++, i++)
            assert_int_equal(i < n ? v[i] : 0, packed(at, head & 1 ? k : 0, width));
        at += head & 1 ? (size_t)many * width : (width + 7) / 8;
    }
    assert_ptr_equal(at, end);
    tl_pb_fini(&out);
}

static void runs_are_read_back(void **state)
{
    static uint32_t v[MOST];
    for (unsigned width = 1; width <= 32; width++)
        for (uint32_t each = 1; each < 40; each += 3) {
            for (uint32_t i = 0; i < MOST; i++)
                v[i] = (uint32_t)((uint64_t)(i / each) * 2654435761u & ((UINT64_C(1) << width) - 1));
            for (uint32_t n = 0; n < MOST; n += n < 60 ? 1 : 399)
                check_runs(v, n, width);
        }
}

static void bit_runs_are_read_back(void **state)
{
    uint8_t bits[64];
    for (unsigned each = 1; each < 70; each++)
        for (uint32_t n = 1; n <= 8 * sizeof bits; n++) {
            memset(bits, 0, sizeof bits);
            for (uint32_t i = 0; i < n; i++)
                bits[i / 8] = (uint8_t)(bits[i / 8] | (i / each % 2) << i % 8);
            tl_pb out = {0};
            tl_parquet_put_bit_runs(&out, bits, n);
            const uint8_t *at = out.data, *end = out.data + out.n;
            for (uint32_t i = 0; i < n;) {
                const uint64_t head = varint(&at, end);
                for (uint32_t k = 0; k < (head >> 1) * (head & 1 ? 8 : 1); k++, i++)
                    assert_int_equal(i < n && i / each % 2, packed(at, head & 1 ? k : 0, 1));
                at += head & 1 ? head >> 1 : 1;
            }
            assert_ptr_equal(at, end);
            tl_pb_fini(&out);
        }
}

/* -- files ----------------------------------------------------------------------------------------------------------
 */

enum { INT, REAL, TRUTH, TEXT, UTC, COLUMNS };

static const tl_stored_as as[COLUMNS] = {[INT] = {.name = "n", .store = TL_STORE_INT, .unit = "ns"},
                                         [REAL] = {.name = "r", .store = TL_STORE_REAL},
                                         [TRUTH] = {.name = "b", .store = TL_STORE_BOOL},
                                         [TEXT] = {.name = "t", .store = TL_STORE_TEXT, .is_json = true},
                                         [UTC] = {.name = "u", .store = TL_STORE_INT, .is_utc = true}};

static void fill(tl_column_batch *b)
{
    tl_error e = {0};
    must(tl_column_batch_init(b, as, COLUMNS, &e), &e);
    for (uint32_t i = 0; i < 1000; i++) {
        uint64_t real;
        const double x = i / 8.0;
        memcpy(&real, &x, sizeof real);
        tl_column_put_int(b, INT, INT64_C(1000000007) * i - 5);
        tl_column_put_word(b, REAL, real);
        tl_column_put_word(b, TRUTH, i % 3 == 0);
        if (i % 7 == 0)
            tl_column_put_null(b, TEXT);
        else
            tl_column_put_text(b, TEXT, "\"\xffxyz\"", i % 6 + 1);
        tl_column_put_int(b, UTC, 1700000000000000000 + (int64_t)(i * 977 % 512));
        must(tl_column_row_done(b, &e), &e);
    }
}

/* The bytes of a file of a batch, which the caller frees. */
static uint8_t *written(bool arrow, size_t *n)
{
    tl_error e = {0};
    tl_output *out = NULL;
    tl_column_batch b;
    fill(&b);
    must(tl_output_open_memory(&out, TL_PLAIN, &e), &e);
    if (arrow) {
        tl_arrow w;
        must(tl_arrow_begin(&w, out, as, COLUMNS, &e), &e);
        must(tl_arrow_write(&w, &b, &e), &e);
        tl_arrow_end(&w);
        tl_arrow_fini(&w);
    } else {
        tl_parquet *w = NULL;
        must(tl_parquet_open(&w, out, as, COLUMNS, 0, &e), &e);
        must(tl_parquet_write(w, &b, &e), &e);
        must(tl_parquet_finish(w, &e), &e);
        tl_parquet_close(w);
    }
    must(tl_output_finish(out, &e), &e);
    uint8_t *bytes = tl_output_take_memory(out, n);
    tl_output_close(out);
    tl_column_batch_fini(&b);
    return bytes;
}

/* Readers elsewhere agree with these bytes (consumers.columns); here they are those of any host. */
static void arrow_is_the_same_on_every_host(void **state)
{
    size_t n = 0;
    uint8_t *bytes = written(true, &n);
    assert_int_equal(n, 32832);
    assert_true(tl_crc32(0, bytes, n) == 0x7d10322du);
    free(bytes);
}

static void parquet_begins_and_ends_as_it_must(void **state)
{
    size_t n = 0;
    uint8_t *bytes = written(false, &n);
    assert_memory_equal(bytes, "PAR1", 4);
    assert_memory_equal(bytes + n - 4, "PAR1", 4);
    const uint32_t size = tl_load32(bytes + n - 8, false);
    assert_true(size < n - 12);
    /* Version 2, then a list of six structs: the schema with its columns. */
    static const uint8_t head[] = {0x15, 0x04, 0x19, 0x6c};
    assert_memory_equal(bytes + n - 8 - size, head, sizeof head);
    assert_true(tl_crc32(0, bytes + n - 8 - size, 60) == 0x9a198b64u);
    free(bytes);
}

/* Rows that are put together have the bits of rows that are put one by one, wherever in a byte they begin. */
static void nulls_of_many_rows(void **state)
{
    static const tl_stored_as one = {.name = "i", .store = TL_STORE_INT};
    tl_error e = {0};
    uint32_t seed = 1;
    for (uint32_t first = 0; first < 20; first++)
        for (uint32_t n = 1; n < 40; n++) {
            tl_column_batch many, each;
            uint64_t word[40] = {0};
            uint8_t is_null[40];
            must(tl_column_batch_init(&many, &one, 1, &e), &e);
            must(tl_column_batch_init(&each, &one, 1, &e), &e);
            for (uint32_t i = 0; i < first; i++) {
                tl_column_put_word(&many, 0, 0);
                tl_column_put_word(&each, 0, 0);
            }
            for (uint32_t i = 0; i < n; i++) {
                seed = seed * 1664525u + 1013904223u;
                is_null[i] = seed >> 28 & 1;
                if (is_null[i])
                    tl_column_put_null(&each, 0);
                else
                    tl_column_put_word(&each, 0, 0);
            }
            tl_column_put_words(&many, 0, word, is_null, n);
            tl_column_put_word(&many, 0, 0);
            tl_column_put_word(&each, 0, 0);
            assert_int_equal(many.column[0].rows, first + n + 1);
            assert_int_equal(many.column[0].nulls, each.column[0].nulls);
            assert_int_equal(many.size, each.size);
            assert_memory_equal(many.column[0].valid, each.column[0].valid, (first + n + 8) / 8);
            tl_column_batch_fini(&many);
            tl_column_batch_fini(&each);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(differences_are_read_back), cmocka_unit_test(runs_are_read_back),
        cmocka_unit_test(bit_runs_are_read_back),    cmocka_unit_test(arrow_is_the_same_on_every_host),
        cmocka_unit_test(nulls_of_many_rows),        cmocka_unit_test(parquet_begins_and_ends_as_it_must),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
