/* Fuzz target: TraceLogs. An input is a whole log: reads it in every way, makes its runtime tables, and writes it as
 * several kinds of text, and as a log, which must stay the same when written again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/runtime/alloc_table.h"
#include "analysis/runtime/cpu_table.h"
#include "analysis/runtime/gc_table.h"
#include "analysis/runtime/heap_table.h"
#include "analysis/runtime/jit_table.h"
#include "fuzz_promises.h"
#include "fuzz_write.h"
#include "model/field_text.h"
#include "op/source_impl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
/* From libFuzzer; absent, and not called, where inputs are only replayed. */
__attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

enum { WRITTEN = 20000 /* frames and other values: writing is the slow part */ };

static tl_source *open_log(const uint8_t *data, size_t size, const tl_want *want)
{
    const tl_open_options options = {.from = "tracelog", .want = *want};
    tl_source *s = NULL;
    tl_error e = {0};
    const int status = tl_source_open_memory(&s, data, size, "fuzz.log", &options, &e);
    promise(status >= 0 || e.code == status, "an error carries the code that is returned");
    promise(status >= 0 || want->strict, "every text is a log, whatever is wrong in it");
    return status < 0 ? NULL : s;
}

/* ------------------------------------------------------------------------------------------------------- reading */

static void check_stack(const tl_value *v)
{
    const tl_frame *f = v->as.p;
    for (uint32_t depth = v->n; depth > 0; depth--, f = f->caller) {
        promise(f != NULL && f->depth == depth, "frames know their depth");
        promise(f->name == NULL || f->flags & TL_FRAME_FUNCTION, "only functions have names");
    }
    promise(f == NULL, "a stack has as many frames as it says");
}

static void check_values(tl_source *s)
{
    const tl_trace *t = tl_source_trace(s);
    const tl_batch *b;
    tl_error e;
    while (tl_source_next(s, &b, &e) > 0)
        for (uint32_t i = 0; i < b->n; i++) {
            const tl_class *c = tl_trace_class(t, b->cls[i]);
            const tl_value *v = b->v + b->val[i], *end = b->v + b->val[i + 1];
            for (uint32_t f = 0; f < c->nfield; f++) {
                promise(v < end, "every field has its value");
                if (v->type == TL_STACK && v->n < 300) /* deep stacks would take long: each sample has all frames */
                    check_stack(v);
                v = tl_value_skip(v, end);
            }
            promise(v == end, "and there are no others");
        }
}

static void check_damages(const tl_source *s, size_t size)
{
    const tl_trace *t = tl_source_trace(s);
    uint64_t last = 0;
    for (uint32_t i = 0; i < tl_trace_damages(t); i++) {
        const tl_damage *d = tl_trace_damage(t, i);
        promise(d->offset >= last && d->offset <= size && d->bytes <= size - d->offset,
                "damage lies in the log, in order");
        last = d->offset;
    }
}

/* ------------------------------------------------------------------------------------------------- tables, profiles */

static void make_tables(tl_source *s)
{
    tl_gc gc = {0};
    tl_jit jit = {0};
    tl_alloc alloc = {0};
    tl_heap heap = {0};
    tl_cpu cpu = {0};
    tl_error e;
    if (tl_gc_read(&gc, s, NULL, &e) >= 0) {
        tl_quantiles q;
        promise(tl_gc_pauses(&gc, &q, &e) < 0 || gc.open + gc.nheap + gc.stray_ends <= UINT32_MAX,
                "collections are counted");
        for (uint32_t i = 0; i < gc.n; i++)
            promise(!gc.collection[i].ended || gc.collection[i].track, "collections have a thread");
    }
    if (tl_jit_read(&jit, s, NULL, &e) >= 0)
        tl_jit_sort(&jit, 0);
    if (tl_alloc_read(&alloc, s, NULL, &e) >= 0)
        tl_alloc_sort(&alloc, 0);
    tl_heap_read(&heap, s, NULL, &e);
    if (tl_cpu_read(&cpu, s, NULL, &e) >= 0)
        for (uint32_t i = 0; i < cpu.n; i++) {
            double column[8];
            tl_cpu_columns(&cpu, i, cpu.first, cpu.last, column, 8, &e);
        }
    tl_gc_fini(&gc);
    tl_jit_fini(&jit);
    tl_alloc_fini(&alloc);
    tl_heap_fini(&heap);
    tl_cpu_fini(&cpu);
}

/* Every weight, and by line: only the sums may differ. */
static void make_profiles(tl_source *s, size_t size)
{
    static const char *const weights[] = {"samples", "time", "bytes", "allocations"};
    const tl_profile_options options = {
        .threads = 1, .weight = weights[size % 4], .lines = size % 3 == 0, .per_thread = size % 5 == 0};
    tl_profile *p = NULL;
    tl_error e;
    if (tl_profile_from_source(&p, s, &options, &e) < 0)
        return;
    const tl_sample_counts n = tl_profile_samples(p);
    promise(n.empty <= n.counted, "samples of empty stacks are counted, too");
    tl_profile_free(p);
}

/* ------------------------------------------------------------------------------------------------------- writing */

/* Our log is read without damage, and writing it again gives the same bytes. */
static void write_again(tl_source *s, const char *version)
{
    const tl_write_options options = {.to = "tracelog", .version = version};
    size_t n = 0, m = 0;
    uint8_t *once = fuzz_written(s, &options, WRITTEN, &n);
    if (!once)
        return;
    tl_source *again = open_log(once, n, &(tl_want){.fields = true, .cpu = true});
    uint8_t *twice = fuzz_written(again, &options, WRITTEN, &m);
    if (twice && m < n) /* the first may have been cut off at another place */
        promise(memcmp(once, twice, m) == 0, "what was written is written again");
    tl_source_close(again);
    free(twice);
    free(once);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const writers[] = {"jsonl", "text", "csv", "chrome", "perfetto"};
    tl_source *s = open_log(data, size, &(tl_want){.fields = true, .cpu = true, .threads = size % 7 == 0 ? 2 : 1});
    if (s) {
        const uint64_t events = fuzz_iterate(s);
        tl_count count;
        tl_error e;
        if (tl_source_count(s, 1, &count, &e) >= 0) {
            promise(count.events == events, "counting and reading find the same events");
            tl_count_free(&count);
        }
        check_damages(s, size);
        check_values(s);
        fuzz_merge(s, events);
        fuzz_profile(s);
        make_profiles(s, size);
        make_tables(s);
        const tl_write_options options = {.to = writers[size % (sizeof writers / sizeof *writers)]};
        size_t n;
        free(fuzz_written(s, &options, WRITTEN, &n));
        write_again(s, size % 2 ? "doc" : "vs");
    }
    tl_source_close(s);
    s = open_log(data, size, &(tl_want){.strict = true});
    if (s)
        fuzz_iterate(s);
    tl_source_close(s);
    return 0;
}

/* ------------------------------------------------------------------------------------------------------ mutations */

typedef struct line {
    size_t at, n; /* including the line end */
} line;

/* The line around an offset. */
static line line_at(const uint8_t *data, size_t size, size_t at)
{
    line l = {at, 0};
    while (l.at > 0 && data[l.at - 1] != '\n')
        l.at--;
    const uint8_t *feed = memchr(data + at, '\n', size - at);
    l.n = feed ? (size_t)(feed - data) + 1 - l.at : size - l.at;
    return l;
}

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* Moves, repeats or removes lines; replaces numbers by interesting ones. Otherwise libFuzzer's own mutations. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    static const char *const numbers[] = {"0",
                                          "1",
                                          "?",
                                          "2",
                                          "65536",
                                          "65535",
                                          "4294967295",
                                          "9223372036854",
                                          "0x0",
                                          "0xFFFFFFFFFFFFFFFF",
                                          "18446744073709551615",
                                          "18446744073709551616",
                                          "0x1:?",
                                          "0x1:0x2",
                                          "1:1",
                                          "0:0",
                                          "2:3:0x5"};
    uint64_t state = seed;
    const uint64_t choice = next_random(&state) % 8;
    if (size < 8 || choice < 3)
        return LLVMFuzzerMutate(data, size, max_size);
    const line l = line_at(data, size, (size_t)(next_random(&state) % size)),
               to = line_at(data, size, (size_t)(next_random(&state) % size));
    if (choice == 3) { /* remove */
        memmove(data + l.at, data + l.at + l.n, size - l.at - l.n);
        return size - l.n;
    }
    if (choice < 6) { /* repeat before another */
        if (l.n > max_size - size)
            return size;
        uint8_t *copy = malloc(l.n);
        if (!copy)
            return size;
        memcpy(copy, data + l.at, l.n);
        memmove(data + to.at + l.n, data + to.at, size - to.at);
        memcpy(data + to.at, copy, l.n);
        free(copy);
        return size + l.n;
    }
    /* replace a number, from one separator to the next */
    size_t from = l.at + (size_t)(next_random(&state) % l.n), end;
    while (from > l.at && data[from - 1] != ' ' && data[from - 1] != ':')
        from--;
    for (end = from; end < l.at + l.n && data[end] != ' ' && data[end] != ':' && data[end] != '\n';)
        end++;
    const char *text = numbers[next_random(&state) % (sizeof numbers / sizeof *numbers)];
    const size_t n = strlen(text);
    if (size - (end - from) + n > max_size)
        return size;
    memmove(data + from + n, data + end, size - end);
    memcpy(data + from, text, n);
    return size - (end - from) + n;
}
