/* Fuzz target: the readers of CTF traces. An input is a whole folder packed into one block, as tl_folder_open_memory()
 * takes it: name, NUL, size (4 bytes, little-endian), content of each file. */
#include <stdint.h>
#include <stdlib.h>

#include "fuzz_folder.h"
#include "fuzz_promises.h"
#include "model/field_text.h"
#include "model/format_impl.h"
#include "op/source_impl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WRITTEN = 4096 /* values: writing is the slow part */ };

static void check_values(const tl_trace *t, const tl_batch *b)
{
    for (uint32_t i = 0; i < b->n; i++) {
        const tl_class *c = tl_trace_class(t, b->cls[i]);
        const tl_value *v = b->v + b->val[i], *end = b->v + b->val[i + 1];
        promise(c->ncontext <= c->nfield, "contexts are fields");
        for (uint32_t f = 0; f < c->nfield; f++) {
            promise(v < end, "every field has its value");
            v = tl_value_skip(v, end);
        }
        promise(v == end, "and there are no others");
    }
}

/* Writes events as text of several kinds, through the door of formats: what is read must not surprise a writer. */
static void write_events(tl_source *s, const char *name)
{
    const tl_format *f = tl_format_by_name(name);
    const tl_trace *t = tl_source_trace(s);
    tl_output *out = NULL;
    tl_merge *m = NULL;
    tl_error e;
    tl_drops drops = {0};
    const tl_write_options options = {.to = name};
    void *writer = f ? calloc(1, f->writer_size) : NULL;
    bool *keep = calloc((size_t)tl_trace_classes(t) + 1, sizeof *keep);
    if (!writer || !keep || tl_output_open_memory(&out, TL_PLAIN, &e) < 0)
        abort();
    const tl_write_context context = {.out = out, .trace = t, .drops = &drops, .options = &options};
    int status = f->create(writer, &context, &e);
    for (uint32_t i = 0; status >= 0 && i < tl_trace_classes(t); i++)
        keep[i] = f->accept(writer, tl_trace_class(t, i)) == TL_ACCEPT_KEEP;
    status = status < 0 ? status : tl_merge_open(&m, s, &e);
    const tl_batch *b;
    uint32_t from, to, slots = 0;
    while (status >= 0 && slots < WRITTEN && tl_merge_next(m, &b, &from, &to, &e) > 0)
        for (uint32_t i = from; status >= 0 && i < to && slots < WRITTEN; i++)
            if (keep[b->cls[i]]) {
                status = f->write(writer, b, i, i + 1, &e);
                slots += b->val[i + 1] - b->val[i] + 1;
            }
    if (status >= 0)
        status = f->finish(writer, &e);
    tl_merge_close(m);
    f->discard(writer);
    free(writer);
    free(keep);
    free(drops.drop);
    tl_output_close(out);
}

/* The events of ticks from <= t < to, and those of other times in *other. */
static uint64_t read_stream(tl_source *s, uint32_t stream, const uint64_t range[2], bool limit, uint64_t *other)
{
    tl_cursor *c = NULL;
    tl_error e;
    const tl_batch *b;
    uint64_t inside = 0;
    if (tl_cursor_open(&c, s, stream, &e) < 0)
        return 0;
    if (limit && tl_cursor_limit(c, range[0], range[1], &e) < 0) {
        tl_cursor_close(c);
        return UINT64_MAX;
    }
    while (tl_cursor_next(c, &b, &e) > 0)
        for (uint32_t i = 0; i < b->n; i++) {
            const bool in = b->ts[i] >= range[0] && b->ts[i] < range[1];
            inside += in;
            *other += !in;
        }
    tl_cursor_close(c);
    return inside;
}

/* A limit makes no events. (That it keeps those inside cannot be asked for here: packets may lie about their times.) */
static void check_limits(tl_source *s)
{
    tl_count count;
    tl_error e;
    if (tl_source_count(s, 1, &count, &e) < 0)
        return;
    const uint64_t third = (count.last - count.first) / 3, range[2] = {count.first + third, count.last - third};
    for (uint32_t i = 0; i < tl_source_streams(s) && i < 4; i++) {
        uint64_t all = 0, some = 0;
        const uint64_t inside = read_stream(s, i, range, false, &all), limited = read_stream(s, i, range, true, &some);
        promise(limited == UINT64_MAX || (limited <= inside && some <= all), "a limit makes no events");
    }
    tl_count_free(&count);
}

static void read_folder(const uint8_t *data, size_t size, const tl_want *want)
{
    const tl_open_options options = {.from = "ctf", .want = *want};
    tl_source *s = NULL;
    tl_error e = {0};
    const int status = tl_source_open_folder_memory(&s, data, size, "fuzz", &options, &e);
    promise(status >= 0 || e.code == status, "an error carries the code that is returned");
    if (status < 0)
        return;
    const uint64_t events = fuzz_iterate(s);
    const tl_batch *b;
    for (uint32_t i = 0; want->fields && i < tl_source_streams(s); i++) {
        tl_cursor *c = NULL;
        if (tl_cursor_open(&c, s, i, &e) < 0)
            continue;
        while (tl_cursor_next(c, &b, &e) > 0)
            check_values(tl_source_trace(s), b);
        tl_cursor_close(c);
    }
    if (!want->strict) {
        tl_count count;
        if (tl_source_count(s, 1, &count, &e) >= 0) {
            promise(count.events == events, "counting and reading find the same events");
            tl_count_free(&count);
        }
        fuzz_merge(s, events);
        check_limits(s);
        fuzz_profile(s);
        static const char *const writers[] = {"jsonl", "text", "babeltrace", "csv", "chrome", "perfetto"};
        if (!want->packets) /* another one for each input: all of them take long */
            write_events(s, writers[size % (sizeof writers / sizeof *writers)]);
    }
    tl_source_close(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_folder(data, size, &(tl_want){.fields = true, .cpu = true});
    read_folder(data, size, &(tl_want){.fields = true, .cpu = true, .packets = true});
    read_folder(data, size, &(tl_want){.strict = true});
    return 0;
}
