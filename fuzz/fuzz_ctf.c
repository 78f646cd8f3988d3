/* Fuzz target: the readers of CTF traces. An input is a whole folder packed into one block, as tl_folder_open_memory()
 * takes it: name, NUL, size (4 bytes, little-endian), content of each file. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "fuzz_promises.h"
#include "model/field_text.h"
#include "model/format_impl.h"
#include "op/source_impl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
/* Of libFuzzer; where inputs are only replayed it is not there, and not called. */
__attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

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

/* ------------------------------------------------------------------------------------------------------- mutations */

enum { FILES_MAX = 32 };

typedef struct packed {
    const uint8_t *name, *data;
    size_t name_size, size; /* of the name with its NUL */
} packed;

static size_t unpack(const uint8_t *p, size_t n, packed out[FILES_MAX])
{
    size_t count = 0;
    while (n > 0 && count < FILES_MAX) {
        const uint8_t *nul = memchr(p, 0, n);
        if (!nul || n - (size_t)(nul - p) < 5)
            break;
        packed *f = &out[count++];
        f->name = p;
        f->name_size = (size_t)(nul - p) + 1;
        f->data = nul + 5;
        n -= f->name_size + 4;
        f->size = tl_load32(nul + 1, false);
        f->size = f->size < n ? f->size : n;
        p = f->data + f->size;
        n -= f->size;
    }
    return count;
}

/* Puts the files back together; those that do not fit are left out. */
static size_t repack(uint8_t *out, size_t max_size, const packed *file, size_t count)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        if (file[i].name_size + 4 + file[i].size > max_size - n)
            continue;
        memcpy(out + n, file[i].name, file[i].name_size);
        n += file[i].name_size;
        tl_store32(out + n, (uint32_t)file[i].size, false);
        memcpy(out + n + 4, file[i].data, file[i].size);
        n += 4 + file[i].size;
    }
    return n;
}

/* Changes the content of one file, and leaves the packing right; now and then a file disappears or is there twice. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    packed file[FILES_MAX + 1];
    size_t count = unpack(data, size, file);
    uint8_t *copy = malloc(2 * max_size + 2);
    if (count == 0 || !copy) {
        free(copy);
        return LLVMFuzzerMutate(data, size, max_size);
    }
    uint8_t *mutated = copy + max_size;
    packed *victim = &file[(seed >> 8) % count];
    const unsigned choice = seed % 32;
    if (choice == 0 && count > 1) {
        *victim = file[--count];
    } else if (choice == 1 && victim->name_size < 64 && count < FILES_MAX) {
        memcpy(mutated, victim->name, victim->name_size);
        mutated[victim->name_size - 1] = '9'; /* another name */
        mutated[victim->name_size] = 0;
        file[count] = *victim;
        file[count].name = mutated;
        file[count++].name_size++;
    } else if (choice == 2 && count > 1) {
        const packed other = file[count - 1];
        file[count - 1].data = victim->data;
        file[count - 1].size = victim->size;
        victim->data = other.data;
        victim->size = other.size;
    } else {
        const size_t others = size - victim->size, room = max_size > others ? max_size - others : 1;
        memcpy(mutated, victim->data, victim->size < room ? victim->size : room);
        victim->size = LLVMFuzzerMutate(mutated, victim->size < room ? victim->size : room, room);
        victim->data = mutated;
    }
    const size_t n = repack(copy, max_size, file, count);
    memcpy(data, copy, n);
    free(copy);
    return n;
}
