/* A direct-mapped cache over an input: references jump, and a system call for each would cost more than everything
 * else. Nothing is mapped, because the program that owns the file may truncate it. */
#include "format/tlp/live_bytes.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

int live_bytes_init(live_bytes *b, tl_input *in, tl_error *e)
{
    enum { SPARE = 8 }; /* for a growing file */
    const uint64_t pieces = tl_input_size(in) / LIVE_PIECE + SPARE;
    *b = (live_bytes){.in = in, .pieces = pieces < LIVE_PIECES_MAX ? (uint32_t)pieces : LIVE_PIECES_MAX};
    b->data = tl_alloc(b->pieces, LIVE_PIECE);
    b->piece = calloc(b->pieces, sizeof *b->piece);
    if (b->data && b->piece)
        return 0;
    live_bytes_fini(b);
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to read the file");
}

void live_bytes_fini(live_bytes *b)
{
    free(b->data);
    free(b->piece);
    *b = (live_bytes){0};
}

/* The piece in its slot, read no earlier than `since`. */
static int load(live_bytes *b, uint64_t number, uint64_t since, tl_error *e)
{
    const size_t slot = (size_t)(number % b->pieces);
    uint8_t *data = b->data + slot * LIVE_PIECE;
    if (b->piece[slot].number == number + 1 && (!b->grows || b->piece[slot].read >= since))
        return 0;
    size_t got = 0;
    b->piece[slot].number = 0;
    const int status = tl_input_read(b->in, number * LIVE_PIECE, data, LIVE_PIECE, &got, e);
    if (status < 0)
        return status;
    memset(data + got, 0, LIVE_PIECE - got); /* past the end, or truncated meanwhile */
    b->piece[slot].number = number + 1;
    b->piece[slot].read = ++b->reads;
    return 0;
}

static bool lies_within(const live_bytes *b, uint64_t offset, size_t n)
{
    return n <= tl_input_size(b->in) && offset <= tl_input_size(b->in) - n;
}

/* The file may have grown. Pieces at its old end are incomplete. */
static void look_again(live_bytes *b)
{
    const uint64_t before = tl_input_size(b->in);
    tl_input_look_again(b->in);
    if (tl_input_size(b->in) != before)
        memset(b->piece, 0, b->pieces * sizeof *b->piece);
}

int live_bytes_get(live_bytes *b, uint64_t offset, void *out, size_t n, uint64_t *when, tl_error *e)
{
    const uint64_t since = *when;
    uint8_t *to = out;
    if (!lies_within(b, offset, n) && b->grows)
        look_again(b);
    if (!lies_within(b, offset, n))
        return 0;
    *when = UINT64_MAX;
    while (n > 0) {
        const uint64_t number = offset / LIVE_PIECE;
        const size_t slot = (size_t)(number % b->pieces), at = (size_t)(offset % LIVE_PIECE);
        const size_t part = n < LIVE_PIECE - at ? n : LIVE_PIECE - at;
        const int status = load(b, number, since, e);
        if (status < 0)
            return status;
        memcpy(to, b->data + slot * LIVE_PIECE + at, part);
        *when = b->piece[slot].read < *when ? b->piece[slot].read : *when;
        to += part;
        offset += part;
        n -= part;
    }
    return 1;
}
