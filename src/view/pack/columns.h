/* Columns of numbers and bytes as a section of a page: see docs/page.md. */
#ifndef TL_VIEW_COLUMNS_H
#define TL_VIEW_COLUMNS_H

#include "base/protobuf.h"
#include "traceloom/error.h"

typedef struct tl_columns {
    tl_pb *column; /* [n] */
    uint32_t n;
} tl_columns;

/* n empty columns; a varint is put by tl_pb_varint(). False when memory runs out. tl_columns_fini() in any case. */
bool tl_columns_init(tl_columns *c, uint32_t n);
void tl_columns_fini(tl_columns *c);
/* A signed number: 0, -1, 1, -2, ... as 0, 1, 2, 3, ... */
void tl_columns_put_signed(tl_pb *column, int64_t v);
/* Appends the section as text: base64 of a gzip member. Errors: TL_ENOMEM. */
int tl_columns_pack(const tl_columns *c, tl_pb *text, tl_error *e);

#endif
