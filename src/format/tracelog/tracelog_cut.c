/* Blocks of whole lines. One read usually suffices: the block and a bit more, where its last line ends. */
#include "format/tracelog/tracelog_cut.h"

#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/grow.h"

#define MARGIN 4096u /* bytes to read after a block: most lines are shorter */
#define SLACK  32u   /* zeros after the text: numbers are read eight characters at a time */

static const uint8_t byte_order_mark[] = {0xef, 0xbb, 0xbf};

static int reserve(tracelog_text *t, uint64_t bytes, tl_error *e)
{
    if (t->capacity >= bytes)
        return 0;
    if (bytes > SIZE_MAX - SLACK || !TL_RESIZE(t->data, (size_t)bytes + SLACK))
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for %llu bytes of text", (unsigned long long)bytes);
    t->capacity = (size_t)bytes;
    return 0;
}

/* The offset after the next line end from `from` on; in a log without one its size, with *ends false. */
static int find_end(tl_input *in, uint64_t from, uint64_t *behind, bool *ends, tl_error *e)
{
    enum { CHUNK = 1 << 16 };
    uint8_t *chunk = malloc(CHUNK);
    size_t got = 0;
    int status = chunk ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to read a long line");
    *ends = false;
    *behind = from;
    while (status == 0 && !*ends) {
        status = tl_input_read(in, *behind, chunk, CHUNK, &got, e);
        if (status < 0 || got == 0)
            break;
        const uint8_t *at = memchr(chunk, '\n', got);
        *ends = at != NULL;
        *behind += at ? (size_t)(at - chunk) + 1 : got;
    }
    free(chunk);
    return status < 0 ? status : 0;
}

/* Reports the last line of the block, from `offset` to `behind`: the end of the log cuts it, or it is too long. */
static int tell(const tracelog_cutting *c, uint64_t offset, uint64_t behind, bool ends, tl_error *e)
{
    if (!c->trace)
        return 0;
    const char *rule = ends ? "tracelog.line-length" : "tracelog.truncated-line";
    const char *what = ends ? "a line is longer than 16 MiB" : "the last line has no end";
    if (c->strict)
        return tl_fail(e, TL_EDAMAGED, offset, "%s: %s", rule, what);
    return tl_trace_add_damage(c->trace, e, offset, behind - offset, rule, "%s", what);
}

/* Removes the line that ends at *end, if it is too long. */
static int drop_long(const tracelog_cutting *c, const tracelog_text *t, uint64_t from, size_t *end, tl_error *e)
{
    if (TL_LIKELY(*end <= TRACELOG_LINE_MAX))
        return 0;
    const uint8_t *before = memrchr(t->data, '\n', *end - 1);
    const size_t begin = before ? (size_t)(before - t->data) + 1 : 0, behind = *end;
    if (behind - begin <= TRACELOG_LINE_MAX)
        return 0;
    *end = begin;
    return tell(c, from + begin, from + behind, true, e);
}

/* The text from `from` on is in *t, n bytes of it. Finds its last line that begins at or before `last` (an index), and
 * reads on to its end. *end: after the last whole line. */
static int find_last(const tracelog_cutting *c, tracelog_text *t, uint64_t from, size_t n, size_t last, size_t *end,
                     tl_error *e)
{
    const uint64_t total = tl_input_size(c->in);
    size_t looked = last;
    for (;;) {
        const uint8_t *at = looked < n ? memchr(t->data + looked, '\n', n - looked) : NULL;
        if (at) {
            *end = (size_t)(at - t->data) + 1;
            return drop_long(c, t, from, end, e);
        }
        looked = n > last ? n : last;
        const uint8_t *before = memrchr(t->data, '\n', n < last ? n : last);
        *end = before ? (size_t)(before - t->data) + 1 : 0;
        size_t got = 0;
        if (n - *end <= TRACELOG_LINE_MAX && from + n < total) {
            uint64_t more = n / 2 + MARGIN;
            int status = reserve(t, n + more, e);
            if (status == 0)
                status = tl_input_read(c->in, from + n, t->data + n, (size_t)more, &got, e);
            if (status < 0)
                return status;
            n += got;
            if (got > 0)
                continue;
        }
        uint64_t behind;
        bool ends;
        int status = find_end(c->in, from + n, &behind, &ends, e);
        if (status == 0 && behind > from + *end)
            status = tell(c, from + *end, behind, ends, e);
        return status;
    }
}

int tracelog_cut(const tracelog_cutting *c, uint64_t number, tracelog_text *t, tracelog_lines *l, tl_error *e)
{
    const uint64_t begin = number * c->size, from = number ? begin - 1 : 0, total = tl_input_size(c->in);
    const size_t last = (size_t)(begin + c->size - 1 - from); /* the earliest place for the last line's end */
    size_t got = 0, first = 0, end = 0;
    if (begin >= total && (begin > 0 || total == 0))
        return 0;
    int status = reserve(t, c->size + 1 + MARGIN, e);
    if (status == 0)
        status = tl_input_read(c->in, from, t->data, (size_t)c->size + 1 + MARGIN, &got, e);
    if (status < 0)
        return status;
    if (number == 0 && got >= sizeof byte_order_mark && memcmp(t->data, byte_order_mark, sizeof byte_order_mark) == 0)
        first = sizeof byte_order_mark;
    if (number > 0) {
        const uint8_t *at = memchr(t->data, '\n', got < last ? got : last);
        first = at ? (size_t)(at - t->data) + 1 : got;
    }
    const bool any = first < got && (number == 0 || first <= last);
    if (any)
        status = find_last(c, t, from, got, last, &end, e);
    if (end < first)
        end = first = 0;
    memset(t->data + end, 0, SLACK);
    *l = (tracelog_lines){.text = t->data,
                          .offset = from,
                          .at = t->data + first,
                          .end = t->data + end,
                          .trace = c->trace,
                          .strict = c->strict};
    return status < 0 ? status : 1;
}

int tracelog_cut_at(const tracelog_cutting *c, uint64_t *offset, tracelog_text *t, tracelog_lines *l, tl_error *e)
{
    const uint64_t from = *offset;
    size_t n = 0, got = 0, end = 0;
    for (size_t wanted = (size_t)c->size; end == 0 && n <= TRACELOG_LINE_MAX; wanted = n + n / 2) {
        int status = reserve(t, wanted, e);
        if (status == 0)
            status = tl_input_read(c->in, from + n, t->data + n, wanted - n, &got, e);
        if (status < 0)
            return status;
        n += got;
        /* If the first read found no line end, that of this one line, which may be too long. */
        const uint8_t *last = wanted > c->size ? memchr(t->data, '\n', n) : memrchr(t->data, '\n', n);
        end = last ? (size_t)(last - t->data) + 1 : 0;
        if (n < wanted && end == 0)
            return 0;
    }
    uint64_t behind = from + end;
    bool ends = true;
    int status = end ? 0 : find_end(c->in, from + n, &behind, &ends, e);
    if (status == 0 && end)
        status = drop_long(c, t, from, &end, e);
    else if (status == 0 && ends)
        status = tell(c, from, behind, true, e);
    if (status < 0 || !ends)
        return status;
    const bool marked = from == 0 && end > 0 && memcmp(t->data, byte_order_mark, sizeof byte_order_mark) == 0;
    memset(t->data + end, 0, SLACK);
    *offset = behind;
    *l = (tracelog_lines){.text = t->data,
                          .offset = from,
                          .at = t->data + (marked ? sizeof byte_order_mark : 0),
                          .end = t->data + end,
                          .trace = c->trace,
                          .strict = c->strict};
    return 1;
}

int tracelog_cut_rest(const tracelog_cutting *c, uint64_t offset, tl_error *e)
{
    const uint64_t total = tl_input_size(c->in);
    return total > offset ? tell(c, offset, total, false, e) : 0;
}

void tracelog_text_fini(tracelog_text *t)
{
    free(t->data);
    *t = (tracelog_text){0};
}
