/* The best that hand-written code can do with one trace: the recording of programs/mix.c, and nothing else.
 *
 *     limit_ctf FOLDER           decodes all fields of all events, in the order of time; prints how many events of each
 *                                class there are, a sum of all values, and the first and last time
 *     limit_ctf --count FOLDER   only counts: skips the fields, does not merge
 *     limit_ctf --tail FOLDER    prints the earliest begin of a packet, and the time of the last event but 9999
 *
 * The layout of these events is built in (little-endian, byte-aligned, one stream per file); it maps the files, uses
 * one thread, and trusts its input. It looks up only the ids of classes in the metadata, because LTTng chooses them. */
#include "limit_file.h"

#include <inttypes.h>
#include <stdbool.h>

enum { STREAMS = 2, CLASSES = 64, EXTENDED = 65535 };
enum { PACKET_BEGIN = 32, PACKET_CONTENT = 48, PACKET_SIZE = 56, PACKET_HEADER = 84 };
enum shape { EMPTY, TICK, PAIR, TEXT, RICH, STEP };

struct stream {
    const uint8_t *packet, *at, *end, *limit; /* next packet, next event, end of the content, end of the file */
    uint64_t time;
    const uint8_t *body; /* of the event that was begun */
    uint32_t id;
};

static uint8_t shapes[CLASSES];
static char names[CLASSES][32];
static uint64_t counts[CLASSES];

/* Begins the next event: its time, class, and the place of its fields. */
static inline bool begin(struct stream *s)
{
    while (s->at >= s->end) {
        if (s->packet >= s->limit)
            return false;
        const uint8_t *p = s->packet;
        s->time = load64(p + PACKET_BEGIN);
        s->at = p + PACKET_HEADER;
        s->end = p + load64(p + PACKET_CONTENT) / 8;
        s->packet = p + load64(p + PACKET_SIZE) / 8;
    }
    s->id = load16(s->at);
    if (__builtin_expect(s->id == EXTENDED, 0)) {
        s->id = load32(s->at + 2);
        s->time = load64(s->at + 6);
        s->body = s->at + 14;
    } else {
        s->time += load32(s->at + 2) - (uint32_t)s->time;
        s->body = s->at + 6;
    }
    return true;
}

static inline const uint8_t *skip_rich(const uint8_t *p)
{
    p += 26;
    p += 1 + 2 * (size_t)*p + 5;
    p += 8 + load64(p);
    return p + strlen((const char *)p) + 1 + 16;
}

static inline const uint8_t *skip(unsigned shape, const uint8_t *p)
{
    switch (shape) {
    case EMPTY:
        return p;
    case TICK:
        return p + 4;
    case PAIR:
        return p + 16;
    case TEXT:
        return p + strlen((const char *)p) + 1 + 4;
    case RICH:
        return skip_rich(p);
    default:
        return p + 5;
    }
}

static inline uint64_t bits_of(double d)
{
    uint64_t v;
    memcpy(&v, &d, sizeof(v));
    return v;
}

static const uint8_t *decode_rich(const uint8_t *p, uint64_t *sum)
{
    uint64_t v = (uint64_t)(int8_t)p[0] + load16(p + 1) + __builtin_bswap32(load32(p + 3));
    for (int i = 0; i < 4; i++)
        v += load32(p + 7 + 4 * i);
    v += (uint64_t)p[23] + p[24] + p[25];
    const unsigned n = p[26];
    v += n;
    p += 27;
    for (unsigned i = 0; i < n; i++)
        v += load16(p + 2 * i);
    p += 2 * n;
    v += strnlen((const char *)p, 5);
    const uint64_t part = load64(p + 5);
    v += part + strnlen((const char *)p + 13, part);
    p += 13 + part;
    const size_t length = strlen((const char *)p);
    p += length + 1;
    float half;
    memcpy(&half, p + 8, sizeof(half));
    *sum += v + length + load64(p) + bits_of((double)half) + (uint64_t)(int32_t)load32(p + 12);
    return p + 16;
}

static inline const uint8_t *decode(unsigned shape, const uint8_t *p, uint64_t *sum)
{
    size_t length;
    switch (shape) {
    case EMPTY:
        return p;
    case TICK:
        *sum += load32(p);
        return p + 4;
    case PAIR:
        *sum += load64(p) + load64(p + 8);
        return p + 16;
    case TEXT:
        length = strlen((const char *)p);
        *sum += length + (uint64_t)(int32_t)load32(p + length + 1);
        return p + length + 5;
    case RICH:
        return decode_rich(p, sum);
    default:
        *sum += (uint64_t)load32(p) + p[4];
        return p + 5;
    }
}

/* Both streams by time: one goes on as long as it is not later than the other. */
static void merge(struct stream s[STREAMS], uint64_t *first, uint64_t *last)
{
    bool open[STREAMS] = {begin(&s[0]), begin(&s[1])};
    uint64_t sum = 0, back = 0;
    *last = 0;
    *first = s[0].time < s[1].time ? s[0].time : s[1].time;
    while (open[0] || open[1]) {
        const int now = !open[1] || (open[0] && s[0].time <= s[1].time) ? 0 : 1;
        struct stream *const a = &s[now];
        const uint64_t until = open[!now] ? s[!now].time : UINT64_MAX;
        do {
            back += a->time < *last;
            *last = a->time;
            counts[a->id]++;
            a->at = decode(shapes[a->id], a->body, &sum);
            open[now] = begin(a);
        } while (open[now] && a->time <= until);
    }
    printf("sum\t%" PRIu64 "\nbackward\t%" PRIu64 "\n", sum, back);
}

static void count(struct stream s[STREAMS], uint64_t *first, uint64_t *last)
{
    *first = UINT64_MAX;
    *last = 0;
    for (int i = 0; i < STREAMS; i++) {
        bool any = false;
        while (begin(&s[i])) {
            if (!any && s[i].time < *first)
                *first = s[i].time;
            any = true;
            counts[s[i].id]++;
            s[i].at = skip(shapes[s[i].id], s[i].body);
        }
        if (s[i].time > *last)
            *last = s[i].time;
    }
}

enum { TAIL = 10000 };

static int by_time(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The last TAIL times of each stream are enough to find that of both. */
static void tail(struct stream s[STREAMS])
{
    static uint64_t time[STREAMS * TAIL];
    uint64_t begin_time = UINT64_MAX;
    for (int i = 0; i < STREAMS; i++) {
        const uint64_t packet = load64(s[i].packet + PACKET_BEGIN);
        begin_time = packet < begin_time ? packet : begin_time;
        for (size_t n = 0; begin(&s[i]); n++) {
            time[i * TAIL + (int)(n % TAIL)] = s[i].time;
            s[i].at = skip(shapes[s[i].id], s[i].body);
        }
    }
    qsort(time, STREAMS * TAIL, sizeof(time[0]), by_time);
    printf("begin\t%" PRIu64 "\ntail\t%" PRIu64 "\n", begin_time, time[STREAMS * TAIL - TAIL]);
}

static const uint8_t *map(const char *folder, const char *name, size_t *size)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return map_file(path, size);
}

/* The metadata is text in packets; a packet header may split `name = "mix:..."` and its id, which stay in order once
 * headers are left out. */
static void find_classes(const char *folder)
{
    static const char *const known[] = {"empty", "tick", "pair", "text", "rich"};
    size_t size, n = 0;
    const uint8_t *data = map(folder, "metadata", &size);
    char *text = malloc(size + 1);
    for (const uint8_t *p = data; text && p < data + size; p += load32(p + 28) / 8) {
        memcpy(text + n, p + 37, load32(p + 24) / 8 - 37);
        n += load32(p + 24) / 8 - 37;
    }
    if (!text)
        exit(1);
    text[n] = 0;
    char name[32];
    unsigned id;
    for (const char *p = text; (p = strstr(p, "name = \"mix:")) != NULL; p++) {
        if (sscanf(p, "name = \"mix:%31[a-z0-9]\"; id = %u;", name, &id) != 2 || id >= CLASSES)
            exit(1);
        snprintf(names[id], sizeof(names[id]), "mix:%.26s", name);
        shapes[id] = STEP;
        for (unsigned k = 0; k < STEP; k++)
            shapes[id] = strcmp(name, known[k]) == 0 ? (uint8_t)k : shapes[id];
    }
    free(text);
}

int main(int argc, char **argv)
{
    static const char *const files[STREAMS] = {"ch0_0", "ch0_1"};
    struct stream s[STREAMS] = {0};
    if (argc < 2)
        return 2;
    const char *folder = argv[argc - 1];
    uint64_t first = 0, last = 0;
    for (int i = 0; i < STREAMS; i++) {
        size_t size;
        s[i].packet = map(folder, files[i], &size);
        s[i].limit = s[i].packet + size;
    }
    find_classes(folder);
    if (strcmp(argv[1], "--tail") == 0) {
        tail(s);
        return 0;
    }
    if (strcmp(argv[1], "--count") == 0)
        count(s, &first, &last);
    else
        merge(s, &first, &last);
    printf("first\t%" PRIu64 "\nlast\t%" PRIu64 "\n", first, last);
    for (unsigned c = 0; c < CLASSES; c++)
        if (counts[c] > 0)
            printf("%s\t%" PRIu64 "\n", names[c], counts[c]);
    return 0;
}
