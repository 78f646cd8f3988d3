/* Fuzz target: the readers of CTF traces. An input is a whole folder packed into one block, as tl_folder_open_memory()
 * takes it: name, NUL, size (4 bytes, little-endian), content of each file. */
#include <stdint.h>
#include <stdlib.h>

#include "fuzz_folder.h"
#include "fuzz_promises.h"
#include "fuzz_write.h"
#include "model/field_text.h"
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

static void write_events(tl_source *s, const char *name)
{
    size_t n;
    free(fuzz_written(s, &(tl_write_options){.to = name}, WRITTEN, &n));
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
