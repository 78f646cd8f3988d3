/* A reader of the Parquet that is written here, for the fuzz target of the writer: it knows the format only, trusts
 * nothing, and looks at every byte. `promise()` fails where the file is not as it says. */
#ifndef TL_FUZZ_PARQUET_CHECK_H
#define TL_FUZZ_PARQUET_CHECK_H

#include <string.h>
#include <zstd.h>

#include "fuzz_promises.h"

enum {
    CHECK_BOOLEAN = 0,
    CHECK_INT64 = 2,
    CHECK_DOUBLE = 5,
    CHECK_BYTE_ARRAY = 6,
    CHECK_PLAIN = 0,
    CHECK_RLE = 3,
    CHECK_DELTA = 5,
    CHECK_RLE_DICTIONARY = 8,
    CHECK_ZSTD = 6,
    CHECK_NODES = 4096,
    CHECK_DEPTH = 12,
    CHECK_PAGES = 65 /* of a column */
};

/* What a cell of a file holds. */
typedef struct checked_cell {
    bool is_null;
    uint64_t word;
    const uint8_t *text; /* [n] of text and bytes */
    uint32_t n;
} checked_cell;

typedef struct bytes {
    const uint8_t *p, *end;
} bytes;

static uint8_t take_byte(bytes *b)
{
    promise(b->p < b->end, "a byte is there");
    return *b->p++;
}

static const uint8_t *take_bytes(bytes *b, uint64_t n)
{
    const uint8_t *p = b->p;
    promise(n <= (uint64_t)(b->end - b->p), "bytes are there");
    b->p += n;
    return p;
}

static uint64_t take_little(bytes *b, unsigned n)
{
    const uint8_t *p = take_bytes(b, n);
    uint64_t v = 0;
    for (unsigned i = 0; i < n; i++)
        v |= (uint64_t)p[i] << 8 * i;
    return v;
}

static uint64_t take_varint(bytes *b)
{
    uint64_t v = 0;
    for (unsigned shift = 0;; shift += 7) {
        const uint8_t byte = take_byte(b);
        promise(shift < 63 || byte < 2, "a number has 64 bits");
        v |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return v;
    }
}

static int64_t take_zigzag(bytes *b)
{
    const uint64_t v = take_varint(b);
    return (int64_t)(v >> 1 ^ (0 - (v & 1)));
}

/* -- thrift, compact protocol: a tree of nodes in the order of the bytes ---------------------------------------------
 */

typedef struct thrift_node {
    int32_t number; /* of the field in its struct; of a list: its place */
    uint32_t end;   /* the node after it and its members */
    int64_t value;  /* of a number or a truth value; of a list: how many */
    bytes text;
} thrift_node;

typedef struct thrift_tree {
    thrift_node node[CHECK_NODES];
    uint32_t n;
} thrift_tree;

static void take_struct(thrift_tree *t, bytes *b, unsigned depth);

static void take_value(thrift_tree *t, bytes *b, unsigned type, int32_t number, unsigned depth)
{
    promise(t->n < CHECK_NODES && depth < CHECK_DEPTH, "a description is small");
    const uint32_t at = t->n++;
    thrift_node *node = &t->node[at];
    *node = (thrift_node){.number = number};
    if (type == 1 || type == 2) {
        node->value = type == 1;
    } else if (type == 4 || type == 5 || type == 6) {
        node->value = take_zigzag(b);
    } else if (type == 8) {
        const uint64_t n = take_varint(b);
        node->text.p = take_bytes(b, n);
        node->text.end = b->p;
    } else if (type == 9) {
        const uint8_t head = take_byte(b);
        const uint64_t n = head >> 4 == 15 ? take_varint(b) : head >> 4;
        node->value = (int64_t)n;
        for (uint64_t i = 0; i < n; i++)
            take_value(t, b, head & 15, (int32_t)i, depth + 1);
    } else {
        promise(type == 12, "a type of thrift");
        take_struct(t, b, depth + 1);
    }
    t->node[at].end = t->n;
}

static void take_struct(thrift_tree *t, bytes *b, unsigned depth)
{
    int32_t number = 0;
    for (uint8_t head; (head = take_byte(b)) != 0;) {
        const int32_t before = number;
        number = head >> 4 ? number + (head >> 4) : (int32_t)take_zigzag(b);
        promise(number > before, "fields of a struct ascend");
        take_value(t, b, head & 15, number, depth);
    }
}

/* A member of a node; `of` UINT32_MAX: of the outermost struct. UINT32_MAX: it is not there. */
static uint32_t find_member(const thrift_tree *t, uint32_t of, int32_t number)
{
    const uint32_t end = of == UINT32_MAX ? t->n : t->node[of].end;
    for (uint32_t i = of == UINT32_MAX ? 0 : of + 1; i < end; i = t->node[i].end)
        if (t->node[i].number == number)
            return i;
    return UINT32_MAX;
}

static uint32_t member(const thrift_tree *t, uint32_t of, int32_t number)
{
    const uint32_t found = find_member(t, of, number);
    promise(found != UINT32_MAX, "a member is there");
    return found;
}

static uint64_t number_of(const thrift_tree *t, uint32_t of, int32_t field)
{
    const int64_t v = t->node[member(t, of, field)].value;
    promise(v >= 0, "a number is not negative");
    return (uint64_t)v;
}

/* -- encodings -------------------------------------------------------------------------------------------------------
 */

/* n numbers of RLE and packed groups; what is behind is left. */
static void take_runs(bytes *b, uint32_t *out, uint32_t n, unsigned width)
{
    for (uint32_t at = 0; at < n;) {
        const uint64_t head = take_varint(b);
        if (head & 1) {
            const uint64_t groups = head >> 1;
            promise(groups > 0 && groups <= n / 8 + 1, "groups are of values");
            const uint8_t *p = take_bytes(b, groups * width);
            for (uint64_t i = 0; i < groups * 8; i++) {
                uint32_t v = 0;
                for (unsigned k = 0; k < width; k++)
                    v |= (uint32_t)(p[(i * width + k) / 8] >> (i * width + k) % 8 & 1) << k;
                promise(at < n || v == 0, "nothing is behind the last value");
                if (at < n)
                    out[at++] = v;
            }
        } else {
            promise(head >> 1 > 0 && head >> 1 <= n - at, "a run is of values");
            const uint32_t v = (uint32_t)take_little(b, (width + 7) / 8);
            for (uint64_t i = 0; i < head >> 1; i++)
                out[at++] = v;
        }
    }
}

static uint64_t bits_at(const uint8_t *p, uint64_t at, unsigned width)
{
    uint64_t v = 0;
    for (unsigned k = 0; k < width; k++)
        v |= (uint64_t)(p[(at + k) / 8] >> (at + k) % 8 & 1) << k;
    return v;
}

static void take_deltas(bytes *b, checked_cell *out, uint32_t n)
{
    const uint64_t block = take_varint(b), parts = take_varint(b);
    promise(parts > 0 && block % 128 == 0 && block % parts == 0 && block / parts % 32 == 0 && block <= 1 << 20,
            "blocks");
    promise(take_varint(b) == n, "as many differences as values");
    uint64_t v = (uint64_t)take_zigzag(b);
    uint32_t at = 0;
    if (n > 0)
        out[at++].word = v;
    while (at < n) {
        const uint64_t least = (uint64_t)take_zigzag(b), size = block / parts;
        const uint8_t *width = take_bytes(b, parts);
        for (uint64_t part = 0; part < parts && at < n; part++) {
            promise(width[part] <= 64, "numbers of up to 64 bits");
            const uint8_t *p = take_bytes(b, width[part] * size / 8);
            for (uint64_t i = 0; i < size && at < n; i++)
                out[at++].word = v += least + bits_at(p, i * width[part], width[part]);
        }
    }
}

static void take_plain(bytes *b, unsigned type, checked_cell *out, uint32_t n)
{
    const uint8_t *bits = type == CHECK_BOOLEAN ? take_bytes(b, (n + 7) / 8) : NULL;
    for (uint32_t i = 0; i < n; i++) {
        if (bits) {
            out[i].word = bits[i / 8] >> i % 8 & 1;
        } else if (type == CHECK_BYTE_ARRAY) {
            out[i].n = (uint32_t)take_little(b, 4);
            out[i].text = take_bytes(b, out[i].n);
        } else {
            out[i].word = take_little(b, 8);
        }
    }
}

/* -- pages -----------------------------------------------------------------------------------------------------------
 */

typedef struct checked_page {
    thrift_tree header;
    uint8_t *data; /* without compression; free() */
    bytes in;
    uint64_t kind;
} checked_page;

static void take_page(checked_page *page, bytes *b, uint64_t codec, uint64_t *plain_size)
{
    const uint8_t *begin = b->p;
    page->header.n = 0;
    take_struct(&page->header, b, 0);
    *plain_size += (uint64_t)(b->p - begin);
    const uint64_t unpacked = number_of(&page->header, UINT32_MAX, 2), packed = number_of(&page->header, UINT32_MAX, 3);
    const uint8_t *p = take_bytes(b, packed);
    promise(unpacked <= 1 << 30, "a page is small");
    const size_t size = (size_t)unpacked, stored = (size_t)packed; /* it is in memory */
    page->kind = number_of(&page->header, UINT32_MAX, 1);
    page->data = malloc(size + 1);
    promise(page->data != NULL, "memory suffices");
    if (codec == CHECK_ZSTD)
        promise(ZSTD_decompress(page->data, size, p, stored) == size, "a page has its size");
    else
        promise(codec == 0 && size == stored, "a page without compression");
    if (codec != CHECK_ZSTD)
        memcpy(page->data, p, size);
    page->in = (bytes){page->data, page->data + size};
    *plain_size += size;
}

/* The values of a page, spread over its rows. */
static void spread(checked_cell *row, const uint32_t *level, uint32_t n, const checked_cell *value)
{
    for (uint32_t i = 0, k = 0; i < n; i++) {
        if (level[i] == 0)
            row[i].is_null = true;
        else
            row[i] = value[k++];
    }
}

/* A page of values; how many rows. */
static uint32_t take_values(checked_page *page, unsigned type, bool required, const checked_cell *dictionary,
                            uint32_t ndictionary, checked_cell *row, uint64_t room, uint32_t *encodings)
{
    const uint32_t about = member(&page->header, UINT32_MAX, 5);
    const uint64_t rows = number_of(&page->header, about, 1), encoding = number_of(&page->header, about, 2);
    promise(rows <= room && encoding < 32, "rows of a page");
    promise(number_of(&page->header, about, 3) == CHECK_RLE, "levels are RLE");
    *encodings |= 1u << encoding;
    const uint32_t n = (uint32_t)rows;
    uint32_t *level = calloc((size_t)n + 1, sizeof *level), there = 0;
    checked_cell *value = calloc((size_t)n + 1, sizeof *value);
    promise(level && value, "memory suffices");
    if (required) {
        for (uint32_t i = 0; i < n; i++)
            level[i] = 1;
    } else {
        const uint64_t size = take_little(&page->in, 4);
        bytes levels = {take_bytes(&page->in, size), page->in.p};
        take_runs(&levels, level, n, 1);
        promise(levels.p == levels.end, "nothing is behind the levels");
    }
    for (uint32_t i = 0; i < n; i++)
        there += level[i];
    if (encoding == CHECK_PLAIN) {
        take_plain(&page->in, type, value, there);
    } else if (encoding == CHECK_DELTA) {
        promise(type == CHECK_INT64, "differences of whole numbers");
        take_deltas(&page->in, value, there);
    } else {
        promise(encoding == CHECK_RLE_DICTIONARY && dictionary, "an encoding");
        uint32_t *index = calloc((size_t)there + 1, sizeof *index);
        const unsigned width = take_byte(&page->in);
        promise(index && width >= 1 && width <= 32, "bits of an index");
        take_runs(&page->in, index, there, width);
        for (uint32_t i = 0; i < there; i++) {
            promise(index[i] < ndictionary, "an index is that of a value");
            value[i] = dictionary[index[i]];
        }
        free(index);
    }
    promise(page->in.p == page->in.end, "nothing is behind the values");
    spread(row, level, n, value);
    free(level);
    free(value);
    return n;
}

/* -- files -----------------------------------------------------------------------------------------------------------
 */

typedef struct checked_file {
    thrift_tree about;
    const uint8_t *data;
    uint64_t at; /* where the next column begins */
} checked_file;

static void check_begin(checked_file *f, const uint8_t *data, size_t n)
{
    promise(n >= 12 && memcmp(data, "PAR1", 4) == 0 && memcmp(data + n - 4, "PAR1", 4) == 0, "PAR1 on both ends");
    bytes size = {data + n - 8, data + n - 4};
    const uint64_t about = take_little(&size, 4);
    promise(about <= n - 12, "the description has its size");
    bytes b = {data + n - 8 - about, data + n - 8};
    *f = (checked_file){.data = data, .at = 4};
    take_struct(&f->about, &b, 0);
    promise(b.p == b.end, "nothing is behind the description");
}

/* After the last column: nothing is between it and the description of `n` bytes of file. */
static void check_end(const checked_file *f, size_t n)
{
    bytes size = {f->data + n - 8, f->data + n - 4};
    promise(f->at == n - 8 - take_little(&size, 4), "nothing is behind the last column");
}

/* Reads column i of a row group (its node) into rows cells; text is in memory that *keep owns until free(). */
static void check_column(checked_file *f, uint32_t group, uint32_t i, bool required, checked_cell *row, uint64_t rows,
                         uint8_t *keep[static CHECK_PAGES])
{
    const thrift_tree *t = &f->about;
    const uint32_t chunk = member(t, member(t, group, 1), (int32_t)i), about = member(t, chunk, 3);
    const uint64_t size = number_of(t, about, 7), codec = number_of(t, about, 4);
    const unsigned type = (unsigned)number_of(t, about, 1);
    const uint32_t dictionary_at = find_member(t, about, 11), listed = member(t, about, 2);
    uint64_t plain_size = 0, n = 0;
    uint32_t encodings = 1u << CHECK_RLE, found = 0, ndictionary = 0, nkept = 0;
    checked_cell *dictionary = NULL;
    promise(number_of(t, about, 5) == rows, "values of a column are rows");
    bytes b = {f->data + f->at, f->data + f->at + size};
    while (b.p < b.end) {
        checked_page page;
        const uint64_t at = (uint64_t)(b.p - f->data);
        promise(nkept < CHECK_PAGES, "pages of a column");
        take_page(&page, &b, codec, &plain_size);
        if (page.kind == 2) {
            const uint32_t head = member(&page.header, UINT32_MAX, 7);
            promise(!dictionary && n == 0 && dictionary_at != UINT32_MAX && number_of(t, about, 11) == at,
                    "one dictionary, before the pages");
            ndictionary = (uint32_t)number_of(&page.header, head, 1);
            dictionary = calloc((size_t)ndictionary + 1, sizeof *dictionary);
            promise(dictionary != NULL, "memory suffices");
            take_plain(&page.in, type, dictionary, ndictionary);
            promise(page.in.p == page.in.end, "nothing is behind the dictionary");
            encodings |= 1u << CHECK_PLAIN;
        } else {
            promise(page.kind == 0 && (n > 0 || number_of(t, about, 9) == at), "pages begin where it is said");
            n += take_values(&page, type, required, dictionary, ndictionary, row + n, rows - n, &encodings);
        }
        keep[nkept++] = page.data;
    }
    promise(n == rows && plain_size == number_of(t, about, 6), "the sizes of a column");
    for (uint32_t k = listed + 1; k < t->node[listed].end; k++)
        found |= 1u << t->node[k].value;
    promise(found == encodings, "the encodings of a column");
    free(dictionary);
    f->at += size;
}

#endif
