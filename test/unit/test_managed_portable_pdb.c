/* Portable PDBs: one that is made here by hand, byte by byte as ECMA-335 has it, and the same damaged. */
#include "managed/portable_pdb.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { ROOM = 4096 };

typedef struct bytes {
    uint8_t at[ROOM];
    size_t n;
} bytes;

static void put(bytes *b, const void *from, size_t n)
{
    assert_true(b->n + n <= ROOM);
    memcpy(b->at + b->n, from, n);
    b->n += n;
}

static void put8(bytes *b, unsigned v)
{
    put(b, &(uint8_t){(uint8_t)v}, 1);
}

static void put16(bytes *b, unsigned v)
{
    put8(b, v & 0xff);
    put8(b, v >> 8);
}

static void put32(bytes *b, uint32_t v)
{
    put16(b, v & 0xffff);
    put16(b, v >> 16);
}

/* A number of 7, 14 or 29 bits. */
static void put_bits(bytes *b, uint32_t v, unsigned bits)
{
    if (bits == 7) {
        put8(b, v);
    } else if (bits == 14) {
        put8(b, 0x80 | v >> 8);
        put8(b, v & 0xff);
    } else {
        put8(b, 0xc0 | v >> 24);
        put8(b, v >> 16 & 0xff);
        put8(b, v >> 8 & 0xff);
        put8(b, v & 0xff);
    }
}

static void put_packed(bytes *b, uint32_t v)
{
    put_bits(b, v, v < 0x80 ? 7 : v < 0x4000 ? 14 : 29);
}

/* The number with its sign turned into the lowest of these bits. */
static void put_signed(bytes *b, int32_t v)
{
    const unsigned bits = v >= -64 && v < 64 ? 7 : v >= -8192 && v < 8192 ? 14 : 29;
    put_bits(b, ((uint32_t)v << 1 | (v < 0)) & ((UINT32_C(1) << bits) - 1), bits);
}

/* A blob; where it is. */
static uint32_t put_blob(bytes *blobs, const bytes *b)
{
    const uint32_t at = (uint32_t)blobs->n;
    put_packed(blobs, (uint32_t)b->n);
    put(blobs, b->at, b->n);
    return at;
}

static uint32_t put_text(bytes *blobs, const char *text)
{
    bytes b = {.n = 0};
    put(&b, text, strlen(text));
    return put_blob(blobs, &b);
}

static uint32_t put_name(bytes *blobs, const char *between, const char *const *part, unsigned n)
{
    uint32_t at[8];
    bytes b = {.n = 0};
    for (unsigned i = 0; i < n; i++)
        at[i] = put_text(blobs, part[i]);
    put8(&b, (uint8_t)*between);
    for (unsigned i = 0; i < n; i++)
        put_packed(&b, at[i]);
    return put_blob(blobs, &b);
}

static void put_stream(bytes *file, const char *name, uint32_t from, uint32_t size)
{
    put32(file, from);
    put32(file, size);
    put(file, name, strlen(name));
    for (size_t zeros = 4 - strlen(name) % 4; zeros > 0; zeros--)
        put8(file, 0);
}

static void put_point(bytes *b, uint32_t step, uint32_t rows, int32_t columns)
{
    put_packed(b, step);
    put_packed(b, rows);
    if (rows)
        put_signed(b, columns);
    else
        put_packed(b, (uint32_t)columns);
}

/* One document, "/src/a.cs", and a second, "b.cs"; two methods, the second of which has points in both. */
static void make(bytes *file)
{
    bytes blobs = {.n = 0}, tables = {.n = 0}, pdb = {.n = 0}, method = {.n = 0};
    put8(&blobs, 0);
    const uint32_t a = put_name(&blobs, "/", (const char *const[]){"", "src", "a.cs"}, 3);
    const uint32_t b = put_name(&blobs, "", (const char *const[]){"b.", "cs"}, 2);
    put_packed(&method, 0);       /* signature of locals */
    put_packed(&method, 1);       /* document */
    put_point(&method, 0, 0, 20); /* one line, columns 5 to 25 */
    put_packed(&method, 10);
    put_packed(&method, 5);
    put_point(&method, 300, 0, 0); /* hidden */
    put_packed(&method, 0);        /* another document */
    put_packed(&method, 2);
    put_point(&method, 100000, 2, -3);
    put_signed(&method, 5000);
    put_signed(&method, -1);
    put_point(&method, 1, 0, 1);
    put_signed(&method, -5005);
    put_signed(&method, 70);
    const uint32_t points = put_blob(&blobs, &method);

    for (uint8_t i = 0; i < PORTABLE_PDB_ID; i++)
        put8(&pdb, i + 1);
    put32(&tables, 0);
    put32(&tables, 0x00000002); /* version, sizes of heaps: 0 */
    put32(&tables, 0);
    put32(&tables, 0x00030000); /* tables 0x30 and 0x31 */
    put32(&tables, 0);
    put32(&tables, 0);
    put32(&tables, 2);
    put32(&tables, 2);
    for (int i = 0; i < 2; i++) {
        put16(&tables, i ? b : a);
        put16(&tables, 0);
        put16(&tables, 0);
        put16(&tables, 0);
    }
    put32(&tables, 0); /* a method without points */
    put16(&tables, 0);
    put16(&tables, points);

    const uint32_t head = 4 + 8 + 4 + 4 + 4 + (8 + 8) + (8 + 4) + (8 + 8);
    const uint32_t at_tables = head + (uint32_t)pdb.n, at_blobs = at_tables + (uint32_t)tables.n;
    file->n = 0;
    put32(file, 0x424a5342);
    put32(file, 0x00010001);
    put32(file, 0);
    put32(file, 4);
    put(file, "v1\0", 4);
    put16(file, 0);
    put16(file, 3);
    put_stream(file, "#Pdb", head, (uint32_t)pdb.n);
    put_stream(file, "#~", at_tables, (uint32_t)tables.n);
    put_stream(file, "#Blob", at_blobs, (uint32_t)blobs.n);
    assert_int_equal(file->n, head);
    put(file, pdb.at, pdb.n);
    put(file, tables.at, tables.n);
    put(file, blobs.at, blobs.n);
}

static void test_points(void **state)
{
    bytes file;
    portable_pdb p;
    uint32_t n = 1;
    make(&file);
    assert_true(portable_pdb_open(&p, file.at, file.n));
    assert_int_equal(p.id[0], 1);
    assert_int_equal(p.id[19], 20);
    free(portable_pdb_points(&p, 0x06000001, &n));
    assert_int_equal(n, 0);
    portable_point *at = portable_pdb_points(&p, 0x06000002, &n);
    const portable_point expected[] = {
        {0, 10, 5, 1, false}, {300, 10, 5, 1, true}, {100300, 5010, 4, 2, false}, {100301, 5, 74, 2, false}};
    assert_int_equal(n, 4);
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(at[i].offset, expected[i].offset);
        assert_int_equal(at[i].hidden, expected[i].hidden);
        if (at[i].hidden)
            continue;
        assert_int_equal(at[i].row, expected[i].row);
        assert_int_equal(at[i].column, expected[i].column);
        assert_int_equal(at[i].document, expected[i].document);
    }
    free(at);
    for (uint32_t token = 0; token < 4; token++) { /* no such method, and another kind of token */
        free(portable_pdb_points(&p, (token ? 0x06000002 : 0x02000002) + token, &n));
        assert_int_equal(n, 0);
    }
}

static void test_documents(void **state)
{
    bytes file;
    portable_pdb p;
    make(&file);
    assert_true(portable_pdb_open(&p, file.at, file.n));
    char *a = portable_pdb_document(&p, 1), *b = portable_pdb_document(&p, 2);
    assert_string_equal(a, "/src/a.cs");
    assert_string_equal(b, "b.cs");
    free(a);
    free(b);
    assert_null(portable_pdb_document(&p, 0));
    assert_null(portable_pdb_document(&p, 3));
    assert_null(portable_pdb_document(&p, UINT32_MAX));
}

/* Reads all of it, in memory of just its size. */
static void read_all(const uint8_t *from, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);
    portable_pdb p;
    uint32_t n;
    assert_non_null(copy);
    memcpy(copy, from, size);
    if (portable_pdb_open(&p, copy, size))
        for (uint32_t i = 0; i < 4; i++) {
            free(portable_pdb_points(&p, 0x06000000 + i, &n));
            free(portable_pdb_document(&p, i));
        }
    free(copy);
}

static void test_damaged(void **state)
{
    static const uint8_t value[] = {0, 1, 0x7f, 0x80, 0xbf, 0xc0, 0xdf, 0xff};
    bytes file;
    make(&file);
    for (size_t n = 0; n < file.n; n++)
        read_all(file.at, n);
    for (size_t i = 0; i < file.n; i++) {
        const uint8_t before = file.at[i];
        for (size_t k = 0; k < sizeof value; k++) {
            file.at[i] = value[k];
            read_all(file.at, file.n);
        }
        file.at[i] = before;
    }
}

/* A method with very many points, in a blob as large as need be. */
static void test_limit(void **state)
{
    const uint32_t many = PORTABLE_POINTS_MOST + 10, length = 2 + 3 * many;
    uint8_t *blob = calloc(1, 5 + (size_t)length), row[4] = {1, 0, 1, 0}, *at = blob + 1;
    portable_pdb p = {
        .blob = {blob, 5 + (size_t)length}, .methods = {row, 4}, .blob_index = 2, .guid_index = 2, .document_index = 2};
    uint32_t n;
    assert_non_null(blob);
    *at++ = (uint8_t)(0xc0 | length >> 24);
    *at++ = (uint8_t)(length >> 16);
    *at++ = (uint8_t)(length >> 8);
    *at++ = (uint8_t)length;
    at++; /* signature */
    for (uint32_t i = 0; i < many && at < blob + 5 + length; i++, at += 3)
        at[0] = 1; /* hidden */
    portable_point *points = portable_pdb_points(&p, 0x06000001, &n);
    assert_int_equal(n, PORTABLE_POINTS_MOST);
    free(points);
    free(blob);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_points),
        cmocka_unit_test(test_documents),
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
