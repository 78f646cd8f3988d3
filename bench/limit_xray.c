/* The best that hand-written code can do: the table of `traceloom report --by func` from one XRay log.
 *
 *     limit_xray LOG       prints id, calls, total, self, min, p50, p90, p99, max (ticks) of each function
 *
 * It knows FDR logs of version 5 and basic logs of version 3 (little-endian, no damage, functions below 65536), maps
 * the file, uses one thread, and trusts its input. It answers the same question with the same numbers, so that the
 * ratio to it is fair: calls matched for each thread over all its buffers, recursion counted once, the same
 * histogram. */
#include "limit_table.h"

enum { MAX_DEPTH = 1 << 16 };
enum { NEW_BUFFER = 0, NEW_CPU = 2, TSC_WRAP = 3, WALLTIME = 4, CUSTOM = 5, ARGUMENT = 6, EXTENTS = 7, TYPED = 8 };
enum { FDR_5 = 5 | 1 << 16, BASIC_3 = 3, HEADER = 32, RECORD = 32 }; /* of basic logs; both begin with a header */

/* Bytes of one thread: a buffer, or consecutive records of a basic log. */
struct buffer {
    const uint8_t *from, *to;
    uint64_t seconds, micros, first;
    int32_t thread;
};

struct frame {
    uint64_t start, children;
    uint32_t id;
};

static struct frame stack[MAX_DEPTH];

/* Closes the top frame at a time. */
static void close_top(uint32_t *depth, uint64_t now)
{
    struct frame *top = &stack[--*depth];
    struct function *f = &functions[top->id];
    const uint64_t duration = now > top->start ? now - top->start : 0;
    f->calls++;
    f->self += duration > top->children ? duration - top->children : 0;
    if (--f->active == 0)
        f->total += duration;
    if (duration > f->max)
        f->max = duration;
    if (f->histogram == NULL)
        first_duration(f, duration);
    if (duration < f->min)
        f->min = duration;
    f->histogram[bucket_of(duration)]++;
    if (*depth > 0)
        stack[*depth - 1].children += duration;
}

static void leave(uint32_t *depth, uint32_t id, uint64_t now)
{
    if (*depth > 0 && stack[*depth - 1].id == id) {
        close_top(depth, now);
        return;
    }
    if (functions[id].active == 0)
        return;
    while (stack[*depth - 1].id != id)
        close_top(depth, now);
    close_top(depth, now);
}

static void enter(uint32_t *depth, uint32_t id, uint64_t now)
{
    if (*depth < MAX_DEPTH) {
        stack[(*depth)++] = (struct frame){.start = now, .id = id};
        functions[id].active++;
    }
}

static uint32_t read_records(const struct buffer *b, uint32_t depth)
{
    for (const uint8_t *p = b->from; p < b->to; p += RECORD) {
        const uint32_t head = load32(p), kind = head >> 24, id = load32(p + 4) & (MAX_FUNCTIONS - 1);
        if ((head & 0xffff) != 0)
            continue; /* an argument */
        if (kind == 1 || kind == 2)
            leave(&depth, id, load64(p + 8));
        else
            enter(&depth, id, load64(p + 8));
    }
    return depth;
}

static uint32_t read_buffer(const struct buffer *b, uint32_t depth)
{
    uint64_t tsc = 0;
    for (const uint8_t *p = b->from; p < b->to;) {
        const uint64_t word = load64(p);
        if ((word & 1) == 0) {
            const uint32_t id = (uint32_t)word >> 4 & (MAX_FUNCTIONS - 1), action = (uint32_t)word >> 1 & 7;
            tsc += word >> 32;
            p += 8;
            if (action == 1 || action == 2)
                leave(&depth, id, tsc);
            else
                enter(&depth, id, tsc);
            continue;
        }
        switch ((word & 0xff) >> 1) {
        case NEW_CPU:
            tsc = load64(p + 3);
            break;
        case TSC_WRAP:
            tsc = load64(p + 1);
            break;
        case CUSTOM:
        case TYPED:
            tsc += (uint64_t)(int64_t)(int32_t)load32(p + 5);
            p += load32(p + 1);
            break;
        default:
            break;
        }
        p += 16;
    }
    return depth;
}

static int by_thread_and_time(const void *left, const void *right)
{
    const struct buffer *a = left, *b = right;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    if (a->seconds != b->seconds)
        return a->seconds < b->seconds ? -1 : 1;
    if (a->micros != b->micros)
        return a->micros < b->micros ? -1 : 1;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    return a->from < b->from ? -1 : 1;
}

struct list {
    struct buffer *of;
    size_t n, room;
};

static void add_buffer(struct list *list, struct buffer b)
{
    if (list->n == list->room) {
        list->room = list->room ? list->room * 2 : 256;
        list->of = realloc(list->of, list->room * sizeof(b));
        if (list->of == NULL)
            exit(1);
    }
    list->of[list->n++] = b;
}

/* Finds the buffers: each begins with its extents, thread, wall time, process and processor. */
static void find_buffers(struct list *list, const uint8_t *data, size_t size)
{
    for (size_t at = HEADER; at + 80 <= size && data[at] == (EXTENTS << 1 | 1);) {
        const uint64_t length = load64(data + at + 1);
        const uint8_t *p = data + at + 16;
        if (length > 0)
            add_buffer(list, (struct buffer){.from = p + 48,
                                             .to = p + length,
                                             .thread = (int32_t)load32(p + 1),
                                             .seconds = load64(p + 17),
                                             .micros = load32(p + 25),
                                             .first = load64(p + 51)});
        at += 16 + length;
    }
}

/* Runs of records of one thread; argument records have the thread in another place. */
static void find_runs(struct list *list, const uint8_t *data, size_t size)
{
    for (const uint8_t *p = data + HEADER, *end = data + size; p + RECORD <= end; p += RECORD) {
        const int32_t thread = (int32_t)load32(p + ((load32(p) & 0xffff) == 0 ? 16 : 8));
        if (list->n > 0 && list->of[list->n - 1].thread == thread)
            list->of[list->n - 1].to = p + RECORD;
        else
            add_buffer(list, (struct buffer){.from = p, .to = p + RECORD, .thread = thread});
    }
}

int main(int argc, char **argv)
{
    size_t size;
    if (argc != 2) {
        fprintf(stderr, "usage: limit_xray LOG\n");
        return 2;
    }
    const uint8_t *data = map_file(argv[1], &size);
    if (size < HEADER || (load32(data) != FDR_5 && load32(data) != BASIC_3)) {
        fprintf(stderr, "limit_xray: not a little-endian FDR log of version 5, nor a basic log of version 3\n");
        return 3;
    }
    const int fdr = load32(data) == FDR_5;
    struct list list = {0};
    uint32_t depth = 0;
    (fdr ? find_buffers : find_runs)(&list, data, size);
    if (list.n > 0)
        qsort(list.of, list.n, sizeof(*list.of), by_thread_and_time);
    for (size_t i = 0; i < list.n; i++) {
        if (i > 0 && list.of[i].thread != list.of[i - 1].thread) {
            while (depth > 0) /* calls that are still open do not count */
                functions[stack[--depth].id].active = 0;
        }
        depth = fdr ? read_buffer(&list.of[i], depth) : read_records(&list.of[i], depth);
    }
    print_table();
    free(list.of);
    return 0;
}
