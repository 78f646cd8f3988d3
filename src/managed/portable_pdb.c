/* The reader of portable PDBs. */
#include "managed/portable_pdb.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "base/grow.h"

enum { DOCUMENTS = 0x30, METHODS = 0x31, TABLES = 64, HEADER = 24 };

/* ---- parts ---- */

/* Takes bytes off the front; NULL: there are fewer, and none is left. */
static const uint8_t *take(portable_part *p, size_t n)
{
    const uint8_t *at = p->at;
    if (n > p->size) {
        p->size = 0;
        return NULL;
    }
    p->at += n;
    p->size -= n;
    return at;
}

static uint32_t take32(portable_part *p)
{
    const uint8_t *at = take(p, 4);
    return at ? tl_load32(at, false) : 0;
}

static uint32_t take16(portable_part *p)
{
    const uint8_t *at = take(p, 2);
    return at ? tl_load16(at, false) : 0;
}

static uint32_t take_index(portable_part *p, unsigned bytes)
{
    return bytes == 4 ? take32(p) : take16(p);
}

/* A number of one, two or four bytes, and how many bits it has. False: there is none. */
static bool take_packed(portable_part *p, uint32_t *v, unsigned *bits)
{
    const uint8_t *at = take(p, 1), *more;
    if (!at || *at >= 0xe0)
        return false;
    const size_t n = *at < 0x80 ? 0 : *at < 0xc0 ? 1 : 3;
    if (!(more = take(p, n)))
        return false;
    *v = n == 0 ? *at : (uint32_t)(*at & (n == 1 ? 0x3f : 0x1f)) << 8 * n;
    for (size_t i = 0; i < n; i++)
        *v |= (uint32_t)more[i] << 8 * (n - 1 - i);
    *bits = n == 0 ? 7 : n == 1 ? 14 : 29;
    return true;
}

static bool take_number(portable_part *p, uint32_t *v)
{
    unsigned bits;
    return take_packed(p, v, &bits);
}

/* One with its sign in its lowest bit, so that -1 is 0x7f. Adding it wraps. */
static bool take_signed(portable_part *p, uint32_t *v)
{
    unsigned bits;
    if (!take_packed(p, v, &bits))
        return false;
    *v = (*v >> 1) - (*v & 1 ? UINT32_C(1) << (bits - 1) : 0);
    return true;
}

/* ---- the file ---- */

static portable_part part_of(portable_part whole, uint64_t from, uint64_t size)
{
    if (from > whole.size || size > whole.size - from)
        return (portable_part){0};
    return (portable_part){whole.at + from, (size_t)size};
}

static bool take_name(portable_part *p, const char **name)
{
    const uint8_t *end = p->size ? memchr(p->at, 0, p->size) : NULL;
    *name = (const char *)p->at;
    return end && take(p, (size_t)(end - p->at + 4) / 4 * 4);
}

/* How long its rows are is known of the two tables, and they are the first in a file of their own. */
static bool read_tables(portable_pdb *p, portable_part tables)
{
    uint32_t rows[TABLES] = {0};
    const uint8_t *head = take(&tables, HEADER);
    if (!head)
        return false;
    const uint64_t valid = tl_load64(head + 8, false);
    if (valid & ((UINT64_C(1) << DOCUMENTS) - 1))
        return false;
    for (unsigned i = 0; i < TABLES; i++)
        rows[i] = valid >> i & 1 ? take32(&tables) : 0;
    p->guid_index = head[6] & 2 ? 4 : 2;
    p->blob_index = head[6] & 4 ? 4 : 2;
    p->document_index = rows[DOCUMENTS] >= 1 << 16 ? 4 : 2;
    const uint64_t documents = (uint64_t)rows[DOCUMENTS] * (2u * p->guid_index + 2u * p->blob_index);
    const uint64_t methods = (uint64_t)rows[METHODS] * (p->document_index + p->blob_index);
    p->documents = part_of(tables, 0, documents);
    p->methods = part_of(tables, documents, methods);
    return p->methods.size == methods && p->documents.size == documents;
}

bool portable_pdb_open(portable_pdb *p, const void *bytes, size_t size)
{
    const portable_part whole = {bytes, size};
    portable_part rest = whole, tables = {0};
    const char *name;
    *p = (portable_pdb){0};
    if (take32(&rest) != 0x424a5342 || !take(&rest, 8))
        return false;
    take(&rest, take32(&rest));
    take16(&rest);
    for (uint32_t n = take16(&rest); n > 0; n--) {
        const uint32_t from = take32(&rest), length = take32(&rest);
        const portable_part stream = part_of(whole, from, length);
        if (!take_name(&rest, &name))
            return false;
        if (strcmp(name, "#Pdb") == 0 && stream.size >= PORTABLE_PDB_ID)
            memcpy(p->id, stream.at, PORTABLE_PDB_ID);
        else if (strcmp(name, "#~") == 0)
            tables = stream;
        else if (strcmp(name, "#Blob") == 0)
            p->blob = stream;
    }
    return read_tables(p, tables);
}

static portable_part blob_at(const portable_pdb *p, uint32_t index)
{
    portable_part blob = part_of(p->blob, index, index < p->blob.size ? p->blob.size - index : 0);
    uint32_t length;
    return take_number(&blob, &length) ? part_of(blob, 0, length) : (portable_part){0};
}

/* The row of a table, counted from 1. */
static portable_part row_of(portable_part table, uint32_t row, size_t bytes)
{
    return row ? part_of(table, (uint64_t)(row - 1) * bytes, bytes) : (portable_part){0};
}

/* ---- a method ---- */

/* The next place. False: the end, or what follows is none. `first`: of all; `seen`: of those that are not hidden. */
static bool take_point(portable_part *blob, portable_point *at, bool first, bool *seen)
{
    uint32_t step, rows, columns, row, column;
    while (blob->size > 0) {
        if (!take_number(blob, &step))
            return false;
        if (!first && step == 0) {
            if (!take_number(blob, &at->document))
                return false;
            continue;
        }
        at->offset = first ? step : at->offset + step;
        if (!take_number(blob, &rows) || !(rows ? take_signed(blob, &columns) : take_number(blob, &columns)))
            return false;
        at->hidden = rows == 0 && columns == 0;
        if (at->hidden)
            return true;
        if (!(*seen ? take_signed(blob, &row) && take_signed(blob, &column)
                    : take_number(blob, &row) && take_number(blob, &column)))
            return false;
        at->row = *seen ? at->row + row : row;
        at->column = *seen ? at->column + column : column;
        *seen = true;
        return true;
    }
    return false;
}

portable_point *portable_pdb_points(const portable_pdb *p, uint32_t token, uint32_t *n)
{
    const size_t bytes = (size_t)p->document_index + p->blob_index;
    portable_part row = row_of(p->methods, token & 0xffffff, bytes);
    portable_point at = {.document = take_index(&row, p->document_index)}, *points = NULL;
    portable_part blob = blob_at(p, take_index(&row, p->blob_index));
    uint32_t signature, room = 0;
    bool seen = false;
    *n = 0;
    if (token >> 24 != 6 || !take_number(&blob, &signature) || (!at.document && !take_number(&blob, &at.document)))
        return NULL;
    while (take_point(&blob, &at, *n == 0, &seen) && *n < PORTABLE_POINTS_MOST && TL_GROW(points, *n, 1, room))
        points[(*n)++] = at;
    return points;
}

char *portable_pdb_document(const portable_pdb *p, uint32_t document)
{
    portable_part row = row_of(p->documents, document, 2u * p->guid_index + 2u * p->blob_index);
    portable_part name = blob_at(p, take_index(&row, p->blob_index));
    const uint8_t *between = take(&name, 1);
    char *text = NULL;
    size_t size = 0;
    uint32_t index;
    FILE *f = between && *between < 0x80 ? open_memstream(&text, &size) : NULL;
    if (!f)
        return NULL;
    for (bool first = true; take_number(&name, &index); first = false) {
        const portable_part part = blob_at(p, index);
        if (part.size > PATH_MAX || ftell(f) > PATH_MAX)
            break;
        if (!first && *between)
            fputc(*between, f);
        if (part.size)
            fwrite(part.at, 1, part.size, f);
    }
    if (fclose(f) == 0)
        return text;
    free(text);
    return NULL;
}
