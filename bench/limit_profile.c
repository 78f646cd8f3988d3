/* The best that hand-written code can do with many profiles: adds them up and prints the table by function.
 *
 *     limit_profile FILE...    prints id, calls, total, self, and of .tlp min, p50, p90, p99, max of each function
 *
 * It knows .tlp of calls (version 1, with histograms) and the profiles of LLVM's XRay, maps one after the other, uses
 * one thread, trusts its input, and keeps no tree: ids identify functions, and stacks are forgotten once they are
 * read. */
#include "limit_table.h"

enum { TLP_HEADER = 20, MAX_PLACES = 1 << 20, MAX_DEPTH = 1 << 12, UTC_KNOWN = 4, PER_THREAD = 2, HISTOGRAMS = 1 };
enum { XPROF_HEADER = 32, BLOCK_HEADER = 16 };

/* Columns of one file. */
static uint32_t ids[MAX_FUNCTIONS], up[MAX_PLACES], owner[MAX_PLACES];
static uint64_t calls[MAX_PLACES], total[MAX_PLACES], shortest[MAX_PLACES], longest[MAX_PLACES];

static inline uint64_t number(const uint8_t **at)
{
    const uint8_t *p = *at;
    uint64_t v = *p++;
    if (v >= 0x80) {
        v &= 0x7f;
        for (unsigned shift = 7;; shift += 7) {
            const uint64_t byte = *p++;
            v |= (byte & 0x7f) << shift;
            if (byte < 0x80)
                break;
        }
    }
    *at = p;
    return v;
}

static void pass(const uint8_t **at, unsigned n)
{
    while (n-- > 0)
        number(at);
}

static int64_t signed_number(const uint8_t **at)
{
    const uint64_t v = number(at);
    return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

/* The function of each place: a sibling's code is greater than that of the one before. */
static void read_tree(const uint8_t **at, size_t places, uint64_t threads)
{
    static uint64_t last[MAX_DEPTH];
    size_t level = 0;
    for (size_t i = 0; i < places; i++)
        up[i] = (uint32_t)number(at);
    for (size_t i = 0; i < places; i++) {
        const uint64_t first = level == 0 ? 0 : threads;
        level = level + 1 - up[i];
        last[level] = number(at) + (up[i] == 0 ? first : last[level] + 1);
        owner[i] = last[level] < threads ? MAX_FUNCTIONS : ids[last[level] - threads];
    }
}

static void read_histograms(const uint8_t **at, size_t places)
{
    for (size_t i = 0; i < places; i++)
        if (calls[i] > 0)
            shortest[i] = total[i] / calls[i] - number(at);
    for (size_t i = 0; i < places; i++)
        if (calls[i] > 0)
            longest[i] = shortest[i] + number(at);
    for (size_t i = 0; i < places; i++) {
        if (calls[i] == 0)
            continue;
        struct function *f = &functions[owner[i]];
        if (f->histogram == NULL)
            first_duration(f, shortest[i]);
        f->min = shortest[i] < f->min ? shortest[i] : f->min;
        f->max = longest[i] > f->max ? longest[i] : f->max;
        uint32_t bucket = bucket_of(shortest[i]);
        const uint32_t end = bucket_of(longest[i]);
        f->histogram[bucket] += (uint32_t)(bucket == end ? calls[i] : number(at));
        while (bucket < end) {
            bucket += (uint32_t)number(at);
            f->histogram[bucket] += (uint32_t)number(at);
        }
    }
}

static void read_tlp(const uint8_t *data)
{
    const unsigned flags = data[10];
    const uint8_t *p = data + TLP_HEADER;
    const uint64_t strings = number(&p), count = number(&p), threads = number(&p), places = number(&p);
    if (data[8] != 1 || !(flags & HISTOGRAMS) || count > MAX_FUNCTIONS || places > MAX_PLACES)
        exit(3);
    for (uint64_t i = 0; i < strings; i++) {
        const uint64_t length = number(&p);
        p += length;
    }
    pass(&p, flags & UTC_KNOWN ? 9 : 8); /* clock, build-id, path, losses */
    int64_t id = 0;
    for (uint64_t i = 0; i < count; i++) {
        number(&p);
        id += signed_number(&p);
        ids[i] = (uint32_t)id & (MAX_FUNCTIONS - 1);
        pass(&p, 5);
    }
    for (uint64_t i = 0; i < threads; i++) {
        const unsigned known = (unsigned)number(&p);
        pass(&p, (known & 1) + (known >> 1 & 1) + 1);
    }
    read_tree(&p, places, threads);
    for (size_t i = 0; i < places; i++)
        calls[i] = number(&p);
    for (size_t i = 0; i < places; i++)
        total[i] = number(&p);
    for (size_t i = 0; i < places; i++) {
        const uint64_t self = total[i] - number(&p);
        if (owner[i] < MAX_FUNCTIONS) {
            functions[owner[i]].calls += calls[i];
            functions[owner[i]].self += self;
        }
    }
    for (size_t i = 0; i < places; i++) {
        const uint64_t outer = total[i] - number(&p);
        if (owner[i] < MAX_FUNCTIONS)
            functions[owner[i]].total += outer;
    }
    read_histograms(&p, places);
}

/* A record: the ids of a stack from the innermost on, 0, calls, time with callees. A function's total counts recursion
 * once. */
static const uint8_t *read_stack(const uint8_t *p)
{
    const uint8_t *end = p;
    while (load32(end) != 0)
        end += 4;
    const uint64_t time = load64(end + 12); /* with callees: without losses, no tree is needed to subtract them */
    const uint32_t leaf = load32(p) & (MAX_FUNCTIONS - 1);
    functions[leaf].calls += load64(end + 4);
    functions[leaf].self += time;
    if (p + 4 < end)
        functions[load32(p + 4) & (MAX_FUNCTIONS - 1)].self -= time;
    int outermost = 1;
    for (const uint8_t *frame = p + 4; frame < end; frame += 4)
        outermost &= (load32(frame) & (MAX_FUNCTIONS - 1)) != leaf;
    functions[leaf].total += outermost ? time : 0;
    return end + 20;
}

static void read_xprof(const uint8_t *data, size_t size)
{
    for (const uint8_t *block = data + XPROF_HEADER, *end = data + size; block < end; block += load32(block))
        for (const uint8_t *p = block + BLOCK_HEADER; p < block + load32(block);)
            p = read_stack(p);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        size_t size;
        uint8_t *const map = map_file(argv[i], &size);
        if (memcmp(map, "\x8ftlprof\n", 8) == 0)
            read_tlp(map);
        else
            read_xprof(map, size);
        munmap(map, size);
    }
    print_table();
    return 0;
}
