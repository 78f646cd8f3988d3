/* What hand-written code can do at best: the table of `traceloom report --by func` from one FDR log, and nothing else.
 *
 *     limit_fdr LOG        prints id, calls, total, self, min, p50, p90, p99, max (ticks) of each function
 *     limit_fdr --sum LOG  adds up its 8-byte words: how fast the machine can look at every byte
 *
 * It knows one format (version 5, little-endian, no damage, functions below 65536), maps the file, uses one thread, and
 * trusts its input. It answers the same question with the same numbers, so that the ratio to it is fair: calls matched
 * for each thread over all its buffers, recursion counted once, a histogram with 256 buckets for each power of two. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_FUNCTIONS = 1 << 16, MAX_DEPTH = 1 << 16, SUB_BITS = 8, SUB = 1 << SUB_BITS, BUCKETS = 57 * SUB };
enum { NEW_BUFFER = 0, NEW_CPU = 2, TSC_WRAP = 3, WALLTIME = 4, CUSTOM = 5, ARGUMENT = 6, EXTENTS = 7, TYPED = 8 };

struct buffer {
    const uint8_t *from, *to;
    uint64_t seconds, micros, first;
    int32_t thread;
};

struct function {
    uint64_t calls, total, self, min, max;
    uint32_t active; /* frames on the stack, in the current thread */
    uint32_t *histogram;
};

struct frame {
    uint64_t start, children;
    uint32_t id;
};

static struct function functions[MAX_FUNCTIONS];
static struct frame stack[MAX_DEPTH];

static uint64_t load64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof(v));
    return v;
}

static uint32_t load32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof(v));
    return v;
}

static uint32_t bucket_of(uint64_t v)
{
    if (v < 2 * SUB)
        return (uint32_t)v;
    const unsigned shift = 63u - (unsigned)__builtin_clzll(v) - SUB_BITS;
    return (shift << SUB_BITS) + (uint32_t)(v >> shift);
}

static uint64_t bucket_middle(uint32_t bucket)
{
    if (bucket < 2 * SUB)
        return bucket;
    const unsigned shift = (bucket >> SUB_BITS) - 1;
    return ((uint64_t)(bucket - (shift << SUB_BITS)) << shift) + ((1ull << shift) - 1) / 2;
}

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
    if (f->histogram == NULL) {
        f->histogram = calloc(BUCKETS, sizeof(uint32_t));
        f->min = duration;
    }
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

static uint32_t read_buffer(const struct buffer *b, uint32_t depth)
{
    uint64_t tsc = 0;
    for (const uint8_t *p = b->from; p < b->to;) {
        const uint64_t word = load64(p);
        if ((word & 1) == 0) {
            const uint32_t id = (uint32_t)word >> 4 & (MAX_FUNCTIONS - 1), action = (uint32_t)word >> 1 & 7;
            tsc += word >> 32;
            p += 8;
            if (action == 1 || action == 2) {
                leave(&depth, id, tsc);
            } else if (depth < MAX_DEPTH) {
                stack[depth++] = (struct frame){.start = tsc, .id = id};
                functions[id].active++;
            }
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

/* Finds the buffers: each begins with its extents, thread, wall time, process and processor. */
static struct buffer *find_buffers(const uint8_t *data, size_t size, size_t *count)
{
    struct buffer *list = NULL;
    size_t n = 0, capacity = 0;
    for (size_t at = 32; at + 80 <= size && data[at] == (EXTENTS << 1 | 1);) {
        const uint64_t length = load64(data + at + 1);
        const uint8_t *p = data + at + 16;
        if (length > 0) {
            if (n == capacity) {
                capacity = capacity ? capacity * 2 : 256;
                list = realloc(list, capacity * sizeof(*list));
                if (list == NULL)
                    exit(1);
            }
            list[n++] = (struct buffer){.from = p + 48,
                                        .to = p + length,
                                        .thread = (int32_t)load32(p + 1),
                                        .seconds = load64(p + 17),
                                        .micros = load32(p + 25),
                                        .first = load64(p + 51)};
        }
        at += 16 + length;
    }
    qsort(list, n, sizeof(*list), by_thread_and_time);
    *count = n;
    return list;
}

static uint64_t percentile(const struct function *f, unsigned permille)
{
    const uint64_t rank = (f->calls * permille + 999) / 1000;
    uint64_t seen = 0;
    if (rank <= 1)
        return f->min;
    for (uint32_t i = 0; i < BUCKETS && rank < f->calls; i++) {
        seen += f->histogram[i];
        if (seen >= rank) {
            const uint64_t middle = bucket_middle(i);
            return middle < f->min ? f->min : middle > f->max ? f->max : middle;
        }
    }
    return f->max;
}

static uint64_t sum_words(const uint8_t *data, size_t size)
{
    uint64_t sum = 0;
    for (size_t at = 0; at + 8 <= size; at += 8)
        sum += load64(data + at);
    return sum;
}

int main(int argc, char **argv)
{
    const int only_sum = argc == 3 && strcmp(argv[1], "--sum") == 0;
    const int fd = argc == 2 || only_sum ? open(argv[argc - 1], O_RDONLY) : -1;
    struct stat status;
    if (fd < 0 || fstat(fd, &status) != 0) {
        fprintf(stderr, "usage: limit_fdr [--sum] LOG\n");
        return 2;
    }
    const size_t size = (size_t)status.st_size;
    const uint8_t *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    if (data == MAP_FAILED || size < 32 || load32(data) != (5 | 1 << 16)) {
        fprintf(stderr, "limit_fdr: not a little-endian FDR log of version 5\n");
        return 3;
    }
    if (only_sum) {
        printf("%" PRIu64 "\n", sum_words(data, size));
        return 0;
    }
    size_t count;
    struct buffer *list = find_buffers(data, size, &count);
    uint32_t depth = 0;
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && list[i].thread != list[i - 1].thread) {
            while (depth > 0) /* what is still open is no call */
                functions[stack[--depth].id].active = 0;
        }
        depth = read_buffer(&list[i], depth);
    }
    for (uint32_t id = 0; id < MAX_FUNCTIONS; id++) {
        const struct function *f = &functions[id];
        if (f->calls > 0)
            printf("%" PRIu32 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64
                   "\t%" PRIu64 "\n",
                   id, f->calls, f->total, f->self, f->min, percentile(f, 500), percentile(f, 900), percentile(f, 990),
                   f->max);
    }
    free(list);
    return 0;
}
