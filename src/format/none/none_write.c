/* Takes all events in the order of time with everything known about them, and writes nothing. For measuring the cost of
 * reading.
 *
 * It reads a little of each batch, so that readers really have to provide it. */
#include "model/format_impl.h"

typedef struct none_writer {
    uint64_t sum;
} none_writer;

static int none_create(void *writer, const tl_write_context *context, tl_error *e)
{
    (void)writer;
    (void)context;
    (void)e;
    return 0;
}

static int none_write(void *writer, const tl_batch *b, uint32_t from, uint32_t to, tl_error *e)
{
    (void)e;
    none_writer *w = writer;
    if (from == to)
        return 0;
    uint64_t sum = b->ts[from];
    if (b->val && b->val[to] > b->val[from])
        sum += b->v[b->val[to] - 1].type;
    w->sum += sum;
    return 0;
}

static int none_finish(void *writer, tl_error *e)
{
    (void)writer;
    (void)e;
    return 0;
}

static void none_discard(void *writer)
{
    (void)writer;
}

const tl_format tl_format_none = {
    .name = "none",
    .summary = "nothing: decodes everything in order of time and writes no byte, for measuring",
    .event_writer = &(const tl_event_writer){.ordered = true,
                                             .growing = true,
                                             .wants = {.fields = true, .cpu = true},
                                             .size = sizeof(none_writer),
                                             .create = none_create,
                                             .accept = tl_accept_events,
                                             .write = none_write,
                                             .finish = none_finish,
                                             .discard = none_discard},
};
