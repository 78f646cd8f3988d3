/* Rows through a pipe. */
#include "cli/query/row_pipe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/grow.h"

#define HEADER    9u         /* bytes before the content of a frame */
#define AT_ONCE   65536u     /* bytes to read */
#define SOON      100000000u /* ns after which a row is sent although there is room for others */
#define IN_SECOND UINT64_C(1000000000)

/* -- sending --------------------------------------------------------------------------------------------------------
 */

static uint64_t now_ns(void)
{
    struct timespec t = {0};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * IN_SECOND + (uint64_t)t.tv_nsec;
}

/* Nobody cares for what cannot be sent: the reader has ended, or sees that the end is missing. */
static void write_all(tl_row_sender *s, const uint8_t *data, size_t n)
{
    const uint64_t began = now_ns();
    while (n > 0 && !s->is_closed) {
        const ssize_t done = write(s->fd, data, n);
        if (done < 0 && errno != EINTR)
            s->is_closed = true;
        if (done > 0) {
            data += done;
            n -= (size_t)done;
        }
    }
    s->sent_at = now_ns();
    s->waited += s->sent_at - began;
}

static void flush(tl_row_sender *s)
{
    write_all(s, s->room, s->n);
    s->n = 0;
}

static void put(tl_row_sender *s, const void *data, size_t n)
{
    if (n > TL_SEND_ROOM - s->n)
        flush(s);
    if (n > TL_SEND_ROOM) {
        write_all(s, data, n);
        return;
    }
    memcpy(s->room + s->n, data, n);
    s->n += n;
}

static void put_byte(tl_row_sender *s, unsigned byte)
{
    const uint8_t b = (uint8_t)byte;
    put(s, &b, 1);
}

static void put_u64(tl_row_sender *s, uint64_t v)
{
    put(s, &v, sizeof v);
}

static void put_header(tl_row_sender *s, tl_row_frame_kind kind, uint64_t size)
{
    put_u64(s, size);
    put_byte(s, kind);
}

void tl_send_columns(tl_row_sender *s, const tl_result *r)
{
    uint64_t size = 1;
    for (uint32_t i = 0; i < r->columns; i++)
        size += 2 + strlen(r->column(r, i)->name) + 1;
    put_header(s, TL_ROWS_COLUMNS, size);
    put_byte(s, r->is_ns);
    for (uint32_t i = 0; i < r->columns; i++) {
        const tl_column_info *c = r->column(r, i);
        put_byte(s, c->type);
        put_byte(s, c->unit);
        put(s, c->name, strlen(c->name) + 1);
    }
}

static uint64_t size_of(const tl_sql_value *v)
{
    switch (v->kind) {
    case TL_VALUE_INTEGER:
    case TL_VALUE_REAL:
        return 1 + 8;
    case TL_VALUE_TEXT:
    case TL_VALUE_BLOB:
        return 1 + 8 + (uint64_t)v->size + 1;
    default:
        return 1;
    }
}

static void put_value(tl_row_sender *s, const tl_sql_value *v)
{
    put_byte(s, v->kind);
    if (v->kind == TL_VALUE_INTEGER) {
        put(s, &v->i64, sizeof v->i64);
    } else if (v->kind == TL_VALUE_REAL) {
        put(s, &v->real, sizeof v->real);
    } else if (v->kind != TL_VALUE_NULL) {
        put_u64(s, v->size);
        put(s, v->text, v->size);
        put_byte(s, 0);
    }
}

void tl_send_row(tl_row_sender *s, tl_result *r)
{
    uint64_t size = 0;
    for (uint32_t i = 0; i < r->columns; i++)
        size += size_of(r->value(r, i));
    put_header(s, TL_ROWS_ONE, size);
    for (uint32_t i = 0; i < r->columns; i++)
        put_value(s, r->value(r, i));
    if (now_ns() - s->sent_at > SOON)
        flush(s);
}

void tl_send_text(tl_row_sender *s, tl_row_frame_kind kind, const char *text, size_t n)
{
    put_header(s, kind, n);
    put(s, text, n);
}

void tl_send_end(tl_row_sender *s, int status, unsigned flags)
{
    put_header(s, TL_ROWS_END, 2);
    put_byte(s, (unsigned)status);
    put_byte(s, flags);
    flush(s);
}

/* -- receiving ------------------------------------------------------------------------------------------------------
 */

int tl_receive(tl_row_receiver *in, int fd, tl_error *e)
{
    if (in->begin > 0) {
        memmove(in->data, in->data + in->begin, in->end - in->begin);
        in->end -= in->begin;
        in->begin = 0;
    }
    if (!TL_GROW(in->data, in->end, AT_ONCE, in->capacity))
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a row");
    for (;;) {
        const ssize_t n = read(fd, in->data + in->end, AT_ONCE);
        if (n >= 0) {
            in->end += (size_t)n;
            return n > 0;
        }
        if (errno != EINTR)
            return tl_fail_errno(e, errno, "rows of a worker");
    }
}

bool tl_row_frame_take(tl_row_receiver *in, tl_row_frame *f)
{
    const size_t n = in->end - in->begin;
    uint64_t size;
    if (n < HEADER)
        return false;
    memcpy(&size, in->data + in->begin, sizeof size);
    if (size > n - HEADER)
        return false;
    f->kind = (tl_row_frame_kind)in->data[in->begin + HEADER - 1];
    f->at = in->data + in->begin + HEADER;
    f->end = f->at + (size_t)size;
    in->begin += HEADER + (size_t)size;
    return true;
}

void tl_receiver_clear(tl_row_receiver *in)
{
    in->begin = in->end = 0;
}

void tl_receiver_fini(tl_row_receiver *in)
{
    free(in->data);
    *in = (tl_row_receiver){0};
}

static bool take(tl_row_frame *f, void *to, size_t n)
{
    if ((size_t)(f->end - f->at) < n)
        return false;
    memcpy(to, f->at, n);
    f->at += n;
    return true;
}

bool tl_row_frame_byte(tl_row_frame *f, uint8_t *byte)
{
    return take(f, byte, 1);
}

bool tl_row_frame_column(tl_row_frame *f, tl_column_info *column)
{
    uint8_t type, unit;
    if (!take(f, &type, 1) || !take(f, &unit, 1) || type > TL_TEXT || unit > TL_UNIT_BLOB)
        return false;
    const uint8_t *end = memchr(f->at, '\0', (size_t)(f->end - f->at));
    if (!end)
        return false;
    *column = (tl_column_info){
        .name = (const char *)f->at, .type = (tl_column_type)type, .unit = (tl_column_unit)unit, .what = ""};
    f->at = end + 1;
    return true;
}

bool tl_row_frame_value(tl_row_frame *f, tl_sql_value *v)
{
    uint8_t kind;
    uint64_t size;
    if (!take(f, &kind, 1) || kind > TL_VALUE_BLOB)
        return false;
    *v = (tl_sql_value){.kind = (tl_value_kind)kind};
    if (v->kind == TL_VALUE_NULL)
        return true;
    if (v->kind == TL_VALUE_INTEGER)
        return take(f, &v->i64, sizeof v->i64);
    if (v->kind == TL_VALUE_REAL)
        return take(f, &v->real, sizeof v->real);
    if (!take(f, &size, sizeof size) || size >= (uint64_t)(f->end - f->at) || f->at[size] != '\0')
        return false;
    v->text = (const char *)f->at;
    v->size = (size_t)size;
    f->at += size + 1;
    return true;
}
