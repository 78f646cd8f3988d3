/* Sections: columns one after another, each with its size, compressed and as text. */
#include "view/pack/columns.h"

#include <stdlib.h>

#include "view/pack/base64.h"
#include "view/pack/gzip_member.h"

enum { SECTION_VERSION = 1 };

bool tl_columns_init(tl_columns *c, uint32_t n)
{
    *c = (tl_columns){.column = calloc(n, sizeof *c->column), .n = n};
    return c->column != NULL;
}

void tl_columns_fini(tl_columns *c)
{
    for (uint32_t i = 0; c->column && i < c->n; i++)
        tl_pb_fini(&c->column[i]);
    free(c->column);
    *c = (tl_columns){0};
}

void tl_columns_put_signed(tl_pb *column, int64_t v)
{
    tl_pb_varint(column, (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0));
}

int tl_columns_pack(const tl_columns *c, tl_pb *text, tl_error *e)
{
    static const uint8_t version = SECTION_VERSION;
    tl_pb section = {0}, member = {0};
    tl_pb_raw(&section, &version, 1);
    tl_pb_varint(&section, c->n);
    for (uint32_t i = 0; i < c->n; i++) {
        const tl_pb *column = &c->column[i];
        tl_pb_varint(&section, column->n);
        tl_pb_raw(&section, column->data, column->n);
        section.failed = section.failed || column->failed;
    }
    int status = section.failed ? TL_ENOMEM : tl_gzip_member_put(&member, section.data, section.n, e);
    if (status == 0)
        tl_base64_put(text, member.data, member.n);
    tl_pb_fini(&section);
    tl_pb_fini(&member);
    if (status == 0 && text->failed)
        status = TL_ENOMEM;
    return status < 0 ? tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a section of the page") : 0;
}
