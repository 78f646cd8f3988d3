/* Seeking in an instruction stream, by snapshots, which say how many instructions precede a byte, or by the index of a
 * compressed stream, which says the same.
 *
 * A snapshot does not know the pc, and may be wrong. So reading begins at the previous one, and must arrive exactly at
 * the other's offset with exactly its number of instructions. Mismatches are not used, and no place of a stream with
 * TIMEs before which there is none: reading from the begin of the stream is always right. */
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "format/xtrace/xtrace_places.h"
#include "format/xtrace/xtrace_tokens.h"

#define WINDOW      (256u << 10)
/* Largest distance of two snapshots to use: beyond it, seeking would not be faster than reading. */
#define STRETCH_MAX (UINT64_C(1) << 32)

/* Walks from a place to an offset. 1: a token ends exactly there; 0: not; < 0: error. */
static int walk(tl_window *w, xtrace_place *at, uint64_t offset, uint64_t size, tl_error *e)
{
    while (at->offset < offset) {
        size_t available;
        uint64_t bytes;
        const uint8_t *p = tl_window_at(w, at->offset, XTRACE_PCINST_SIZE, &available, e);
        if (!p)
            return TL_EIO;
        if (available == 0 || xtrace_token_size(p, size - at->offset, &bytes))
            return 0;
        const unsigned insn = *p & XTRACE_INSN_MASK;
        if (insn == XTRACE_INST) {
            at->pc += 4;
            at->count++;
        } else if (insn == XTRACE_PCINST) {
            if (available < XTRACE_PCINST_SIZE)
                return 0;
            at->pc = tl_load64(p + 1, false);
            at->has_pc = true;
            at->count++;
        } else if (*p == XTRACE_TIME && available >= XTRACE_VALUE_SIZE) {
            const uint64_t rank = tl_load64(p + 1, false);
            at->rank = at->has_rank && at->rank > rank ? at->rank : rank;
            at->has_rank = true;
        }
        at->offset += bytes;
    }
    return at->offset == offset;
}

/* The snapshots of a stream, *out: those of its pair if open, else from the file beside it; NULL if there are none.
 * *own must be closed. */
static int find_snapshots(const xtrace_cursor *c, const xtrace_snapshots **out, xtrace_snapshots *buffer,
                          tl_input **own, tl_error *e)
{
    const xtrace_file *f = c->insns;
    *out = NULL;
    *own = NULL;
    if (f->partner != XTRACE_NONE) {
        *out = &c->reader->file[f->partner].snapshots;
        return 0;
    }
    int status = f->name ? 0 : xtrace_partner_open(own, tl_input_path(f->in), e);
    if (status <= 0)
        return status;
    status = xtrace_snapshots_open(buffer, *own, NULL, NULL, e); /* its damage does not belong to the stream */
    if (status >= 0)
        *out = buffer;
    return status < 0 ? status : 0;
}

/* Does this snapshot belong to our file, and point inside it? */
static bool is_usable(const xtrace_entry *s, uint64_t size)
{
    return s->file == 0 && s->offset <= size;
}

/* The place of the last snapshot at or before instruction number `count`, if it can be verified. 1: *out is set. */
static int try_snapshot(const xtrace_cursor *c, const xtrace_snapshots *s, uint64_t count, xtrace_place *out,
                        tl_error *e)
{
    const uint64_t size = tl_input_size(c->insns->in);
    uint64_t number;
    xtrace_entry first = {0}, second;
    int status = xtrace_snapshots_find(s, count, &number, e);
    if (status <= 0)
        return status;
    status = xtrace_snapshots_entry(s, number, &second, e);
    if (status >= 0 && number > 0)
        status = xtrace_snapshots_entry(s, number - 1, &first, e);
    if (status < 0)
        return status;
    if (!is_usable(&first, size) || !is_usable(&second, size) || second.insns > count || second.offset < first.offset ||
        second.offset - first.offset > STRETCH_MAX)
        return 0;
    tl_window w;
    xtrace_place at = {.offset = first.offset, .count = first.insns};
    status = tl_window_init(&w, c->insns->in, WINDOW, e);
    if (status == 0)
        status = walk(&w, &at, second.offset, size, e);
    tl_window_fini(&w);
    if (status <= 0 || at.count != second.insns || !at.has_pc)
        return status < 0 ? status : 0;
    *out = at;
    return 1;
}

/* The same with the index of a compressed stream. */
static int try_index(const xtrace_cursor *c, uint64_t count, xtrace_place *out, tl_error *e)
{
    const uint64_t size = tl_input_size(c->insns->in);
    xtrace_places p;
    tl_window w;
    int status = xtrace_places_read(&p, c->insns->in, e);
    if (status < 0 || p.n == 0)
        return status;
    const uint32_t number = xtrace_places_find(&p, count);
    const xtrace_place to = p.at[number];
    xtrace_place at = p.at[number ? number - 1 : 0];
    free(p.at);
    if (to.offset - at.offset > STRETCH_MAX)
        return 0;
    status = tl_window_init(&w, c->insns->in, WINDOW, e);
    if (status == 0)
        status = walk(&w, &at, to.offset, size, e);
    tl_window_fini(&w);
    if (status <= 0 || at.count != to.count || (!at.has_pc && number))
        return status < 0 ? status : 0;
    *out = at;
    return 1;
}

int xtrace_seek(const xtrace_cursor *c, uint64_t count, xtrace_place *out, tl_error *e)
{
    xtrace_snapshots buffer;
    tl_input *own = NULL;
    const xtrace_snapshots *s;
    *out = (xtrace_place){0};
    int status = find_snapshots(c, &s, &buffer, &own, e);
    if (status == 0 && s && s->has_layout)
        status = try_snapshot(c, s, count, out, e);
    if (status == 0)
        status = try_index(c, count, out, e);
    tl_input_close(own);
    if (status > 0 && c->reader->trace->ranked && !out->has_rank)
        *out = (xtrace_place){0};
    return status < 0 ? status : 0;
}
