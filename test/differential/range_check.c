/* Compares reading a range of time with reading everything: range_check RANGES THREADS PATH...
 *
 * Of each trace, and of each of its streams, the events of random ranges must be those that reading all of it gives in
 * these ranges, in the same order, also merged. Prints how many events reading the ranges saved. */
#include "trace_check.h"

static int read_merged(trace_check *c, const tl_limit *limit, digests *out, tl_error *e)
{
    tl_merge *merge = NULL;
    const tl_batch *b;
    uint32_t from, to;
    int status = tl_merge_open_want(&merge, c->source, NULL, limit, e);
    digests_clear(out);
    while (status == 0 && (status = tl_merge_next(merge, &b, &from, &to, e)) > 0) {
        digests_add(out, b, from, to);
        status = 0;
    }
    tl_merge_close(merge);
    return status;
}

/* Times of events, with those around them, make ranges that end and begin at the edges of what is left out. */
static tl_limit draw_limit(trace_check *c, const digests *all)
{
    tl_limit limit = {.set = true, .from = 0, .to = UINT64_MAX};
    const uint64_t a = all->at[draw(&c->random, all->n)].ts + draw(&c->random, 3) - 1;
    const size_t near = (size_t)draw(&c->random, all->n);
    const uint64_t b = all->at[draw(&c->random, 2) ? near : draw(&c->random, all->n)].ts + draw(&c->random, 3);
    switch (draw(&c->random, 8)) {
    case 0:
        limit.to = a;
        break;
    case 1:
        limit.from = a;
        break;
    case 2: /* empty */
        limit.from = limit.to = a;
        break;
    default:
        limit.from = a < b ? a : b;
        limit.to = a < b ? b : a;
    }
    return limit;
}

static void compare(trace_check *c, const char *what, uint32_t stream, const tl_limit *limit, digests *got,
                    const digests *all)
{
    digests wanted = {0};
    c->read += got->n;
    c->all += all->n;
    digests_copy(&wanted, all);
    digests_cut(&wanted, limit->from, limit->to);
    digests_cut(got, limit->from, limit->to);
    if (!digests_equal(got, &wanted)) {
        printf("%s: %s %u: ticks %llu to %llu: %zu events, expected %zu\n", c->path, what, stream,
               (unsigned long long)limit->from, (unsigned long long)limit->to, got->n, wanted.n);
        c->failed = true;
    }
    digests_free(&wanted);
}

/* The streams, one after another. If merging loses no order, they are also compared merged. */
static int check_ranges(trace_check *c, tl_error *e)
{
    digests all = {0}, got = {0};
    int status = 0;
    for (uint32_t s = 0; status == 0 && s < tl_source_streams(c->source); s++) {
        status = read_stream(c->source, s, NULL, NULL, &all, e);
        for (uint64_t i = 0; status == 0 && all.n && i < c->number; i++) {
            const tl_limit limit = draw_limit(c, &all);
            status = read_stream(c->source, s, NULL, &limit, &got, e);
            if (status == 0)
                compare(c, "stream", s, &limit, &got, &all);
        }
    }
    if (status == 0)
        status = read_merged(c, NULL, &all, e);
    const bool late = tl_trace_out_of_order(tl_source_trace(c->source)) > 0;
    for (uint64_t i = 0; status == 0 && all.n && !late && i < c->number; i++) {
        const tl_limit limit = draw_limit(c, &all);
        status = read_merged(c, &limit, &got, e);
        if (status == 0)
            compare(c, "merged", 0, &limit, &got, &all);
    }
    digests_free(&all);
    digests_free(&got);
    return status;
}

int main(int argc, char **argv)
{
    return check_traces(argc, argv, check_ranges);
}
