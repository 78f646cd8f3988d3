/* Fuzz target: instruction streams. An input is a stream: reads it in every way, makes its tables, checks it for
 * contradictions, and writes it for simulators, as text, and as a stream, which must stay the same. */
#include "fuzz_insns.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NAME "xtrace.1.2.hint9.xinsndata.bin"

static tl_source *open_stream(const uint8_t *data, size_t size, const tl_want *want)
{
    const tl_open_options options = {.from = "xtrace", .want = *want};
    tl_source *s = NULL;
    tl_error e = {0};
    const int status = tl_source_open_memory(&s, data, size, NAME, &options, &e);
    promise(status >= 0 || e.code == status, "an error carries the code that is returned");
    promise(status >= 0 || want->strict, "whatever is wrong in it, it is a stream");
    return status < 0 ? NULL : s;
}

/* A digest of the events at ticks from <= t < to, independent of batches. */
static uint64_t read_part(tl_source *s, uint32_t stream, uint64_t from, uint64_t to, bool limit)
{
    tl_cursor *c = NULL;
    tl_error e;
    const tl_batch *b;
    uint64_t sum = 0;
    if (tl_cursor_open(&c, s, stream, &e) < 0)
        return 0;
    if (limit)
        promise(tl_cursor_limit(c, from, to, &e) == 0, "every part can be asked for");
    while (tl_cursor_next(c, &b, &e) > 0)
        for (uint32_t i = 0; i < b->n; i++)
            if (b->ts[i] >= from && b->ts[i] < to)
                sum = sum * 1099511628211u + b->ts[i] * 7 + b->key[i] * 5 + b->aux[i] * 3 + b->cls[i];
    tl_cursor_close(c);
    return sum;
}

/* Checks that parts agree with the whole. */
static void check_parts(tl_source *s, const tl_count *n)
{
    const uint64_t third = (n->last - n->first) / 3, from = n->first + third, to = n->last - third;
    for (uint32_t i = 0; i < tl_source_streams(s) && i < 4; i++)
        promise(read_part(s, i, from, to, true) == read_part(s, i, from, to, false), "a part is what the whole has");
}

/* Reads the events in every way. */
static void read_events(tl_source *s)
{
    const uint64_t events = fuzz_iterate(s);
    tl_count count;
    tl_error e;
    if (tl_source_count(s, 1, &count, &e) >= 0) {
        promise(count.events == events, "counting and reading find the same events");
        if (events > 0)
            check_parts(s, &count);
        tl_count_free(&count);
    }
    insns_values(s);
    fuzz_merge(s, events);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tl_error e;
    /* With --resync, damaged parts are left out; the rest is checked as carefully. */
    tl_source *s = open_stream(data, size, &(tl_want){.fields = true, .cpu = true, .resync = size % 2});
    if (s) {
        read_events(s);
        insns_flow(s);
        insns_memory(s, size);
        insns_state(s, size);
        insns_write(s, NAME, size);
        fuzz_profile(s);
        promise(tl_source_check(s, 1, &e) >= 0, "every stream can be checked");
        insns_damages(s, size);
    }
    tl_source_close(s);
    s = open_stream(data, size, &(tl_want){.strict = true});
    if (s)
        fuzz_iterate(s);
    tl_source_close(s);
    return 0;
}
