/* The best that hand-written code can do with one TraceLog: decodes every field of the `sam` and `thr` lines where they
 * stand, passes over all other lines, and nothing else.
 *
 *     limit_tracelog FILE          through one buffer that stays in the processor's cache
 *     limit_tracelog --map FILE    from the mapped file
 *
 * It knows by heart how the generator writes (64-bit addresses, padded iids, no `?`), uses one thread, keeps no state
 * from one line to the next, and trusts its input. It prints how many lines of each kind there are, and sums of all
 * fields, which would be wrong if it had left one out. */
#include "limit_file.h"

#include <immintrin.h>
#include <inttypes.h>

enum { BUFFER = 192 << 10, PADDING = 64 };
enum kind { SAM_STR, SAM_MEM, THR_CPU, THR_AOS, THR_CRT, THR_DST, OTHER, KINDS };

enum field {
    THREADS,
    TIMES,
    SAMPLES,
    KEPT,
    DEPTH,
    FRAMES,
    IIDS,
    IPS,
    CLASSES,
    ALLOCATED,
    BYTES,
    USED,
    OS_THREADS,
    IDS,
    FIELDS
};
static const char *const names[FIELDS] = {"threads", "times",   "samples",   "kept",  "depth", "frames",     "iids",
                                          "ips",     "classes", "allocated", "bytes", "used",  "os_threads", "ids"};

struct sums {
    uint64_t lines[KINDS], of[FIELDS];
};

/* Eight digits of a number, the first in the lowest byte; a byte 0 before them counts nothing. */
static inline uint64_t hex8(uint64_t x)
{
    const uint64_t ones = 0x0101010101010101u;
    const uint64_t nibbles = (x & 15 * ones) + 9 * (x >> 6 & ones);
    return _pext_u64(__builtin_bswap64(nibbles), 15 * ones);
}

static inline uint64_t hex16(const uint8_t *p)
{
    const __m128i x = _mm_loadu_si128((const __m128i *)p);
    const __m128i letter = _mm_and_si128(_mm_srli_epi16(x, 6), _mm_set1_epi8(1));
    const __m128i nine = _mm_add_epi8(letter, _mm_slli_epi16(letter, 3));
    const __m128i nibbles = _mm_add_epi8(_mm_and_si128(x, _mm_set1_epi8(15)), nine);
    const __m128i pairs = _mm_maddubs_epi16(nibbles, _mm_set1_epi16(0x0110));
    return __builtin_bswap64((uint64_t)_mm_cvtsi128_si64(_mm_packus_epi16(pairs, pairs)));
}

/* 0x and any number of digits, up to `:`, a space, or the end of the line. */
static inline const uint8_t *hex(const uint8_t *p, uint64_t *v)
{
    const uint64_t ones = 0x0101010101010101u, x = load64(p + 2), y = x + 6 * ones;
    const uint64_t digits = ((y >> 4 & y >> 5) | x >> 6) & ones, end = ~digits & ones;
    if (__builtin_expect(end == 0, 0)) {
        uint64_t n = 0;
        for (p += 2; *p > ' ' && *p != ':'; p++)
            n = n << 4 | ((*p & 15) + 9u * (*p >> 6));
        *v = n;
        return p;
    }
    const int bits = __builtin_ctzll(end);
    *v = hex8(x << (64 - bits));
    return p + 2 + (bits >> 3);
}

static inline const uint8_t *decimal(const uint8_t *p, uint64_t *v)
{
    const uint64_t ones = 0x0101010101010101u, x = load64(p) ^ 0x30 * ones;
    const uint64_t end = ((x + 0x76 * ones) | x) & 0x80 * ones;
    if (__builtin_expect(end == 0, 0)) {
        uint64_t n = 0;
        for (; *p >= '0' && *p <= '9'; p++)
            n = n * 10 + (*p - '0');
        *v = n;
        return p;
    }
    const int bits = __builtin_ctzll(end) & ~7;
    const uint64_t d = x << (64 - bits);
    const uint64_t pairs = (d * 10 + (d >> 8)) & 0x00FF00FF00FF00FFu;
    *v = (((pairs & 0x000000FF000000FFu) * (100 + (1000000ull << 32))) +
          ((pairs >> 16 & 0x000000FF000000FFu) * (1 + (10000ull << 32)))) >>
         32;
    return p + (bits >> 3);
}

/* One or two digits, as in nearly all numbers read with this. */
static inline const uint8_t *small(const uint8_t *p, uint64_t *v)
{
    const unsigned first = p[0] - '0', second = p[1] - '0', two = second < 10;
    if (__builtin_expect((unsigned)(p[2] - '0') < 10 && two, 0))
        return decimal(p, v);
    *v = two ? first * 10 + second : first;
    return p + 1 + two;
}

static inline const uint8_t *call_point(const uint8_t *p, struct sums *s)
{
    if (*p != ':')
        return p;
    s->of[IPS] += hex16(p + 3);
    return p + 19;
}

static inline const uint8_t *perhaps_call_point(const uint8_t *p, struct sums *s)
{
    const uint64_t has = *p == ':';
    s->of[IPS] += hex16(p + 3) & -has;
    return p + (has ? 19 : 0);
}

/* Both begin with 0x00000003 1234567 */
static inline const uint8_t *thread_and_time(const uint8_t *p, struct sums *s)
{
    uint64_t ms;
    s->of[THREADS] += hex8(load64(p + 2));
    p = decimal(p + 11, &ms);
    s->of[TIMES] += ms;
    return p;
}

static inline const uint8_t *sam_str(const uint8_t *p, struct sums *s)
{
    uint64_t count, kept, depth;
    p = thread_and_time(p + 8, s);
    p = small(p + 1, &count);
    p = small(p + 1, &kept);
    p = small(p + 1, &depth);
    s->of[SAMPLES] += count;
    s->of[KEPT] += kept;
    s->of[DEPTH] += depth;
    p = perhaps_call_point(p, s);
    while (*p == ' ') {
        uint64_t iid;
        p = hex(p + 1, &iid);
        s->of[IIDS] += iid;
        s->of[FRAMES]++;
        p = call_point(p, s);
    }
    return p + 1;
}

static inline const uint8_t *sam_mem(const uint8_t *p, struct sums *s)
{
    p = thread_and_time(p + 8, s);
    while (*p == ' ') {
        uint64_t class, count, size;
        p = hex(p + 1, &class);
        p = small(p + 1, &count);
        p = decimal(p + 1, &size);
        s->of[CLASSES] += class;
        s->of[ALLOCATED] += count;
        s->of[BYTES] += size;
        p = call_point(p, s);
    }
    return p + 1;
}

static inline uint64_t words(const char text[9])
{
    return load64((const uint8_t *)text);
}

static inline const uint8_t *line(const uint8_t *p, const uint8_t *end, struct sums *s)
{
    const uint64_t kind = load64(p);
    uint64_t n;
    if (kind == words("sam str ")) {
        s->lines[SAM_STR]++;
        return sam_str(p, s);
    }
    if (kind == words("sam mem ")) {
        s->lines[SAM_MEM]++;
        return sam_mem(p, s);
    }
    if (kind == words("thr cpu ")) {
        s->lines[THR_CPU]++;
        p = decimal(thread_and_time(p + 8, s) + 1, &n);
        s->of[USED] += n;
        return p + 1;
    }
    if (kind == words("thr aos ")) {
        s->lines[THR_AOS]++;
        s->of[THREADS] += hex8(load64(p + 10));
        p = decimal(p + 19, &n);
        s->of[OS_THREADS] += n;
        return p + 1;
    }
    if (kind == words("thr crt ")) {
        s->lines[THR_CRT]++;
        s->of[IDS] += hex16(p + 10);
        s->of[THREADS] += hex8(load64(p + 29));
        return p + 38;
    }
    if (kind == words("thr dst ")) {
        s->lines[THR_DST]++;
        s->of[THREADS] += hex8(load64(p + 10));
        return p + 19;
    }
    s->lines[OTHER]++;
    return (const uint8_t *)memchr(p, '\n', (size_t)(end - p)) + 1;
}

static void lines(const uint8_t *p, const uint8_t *end, struct sums *s)
{
    struct sums here = {0}; /* local, so that sums may be in registers */
    while (p < end)
        p = line(p, end, &here);
    for (int i = 0; i < KINDS; i++)
        s->lines[i] += here.lines[i];
    for (int i = 0; i < FIELDS; i++)
        s->of[i] += here.of[i];
}

/* Whole lines at a time; an incomplete last one moves to the front. */
static void through_buffer(int fd, struct sums *s)
{
    static uint8_t buffer[BUFFER + PADDING];
    size_t left = 0;
    ssize_t n;
    while ((n = read(fd, buffer + left, BUFFER - left)) > 0) {
        const size_t have = left + (size_t)n;
        const uint8_t *last = memrchr(buffer, '\n', have);
        if (!last)
            exit(1);
        lines(buffer, last + 1, s);
        left = (size_t)(buffer + have - (last + 1));
        memmove(buffer, last + 1, left);
    }
    if (n < 0)
        exit(1);
}

static void mapped(int fd, struct sums *s)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        exit(1);
    const size_t size = (size_t)st.st_size;
    /* loads read less than this past the end */
    uint8_t *p = mmap(NULL, size + 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED || mmap(p, size, PROT_READ, MAP_PRIVATE | MAP_FIXED | MAP_POPULATE, fd, 0) == MAP_FAILED)
        exit(1);
    lines(p, p + size, s);
}

int main(int argc, char **argv)
{
    struct sums s = {0};
    const char *const mode = argc == 3 ? argv[1] : "";
    const int fd = argc >= 2 ? open(argv[argc - 1], O_RDONLY) : -1;
    if (fd < 0) {
        fprintf(stderr, "usage: limit_tracelog [--map] FILE\n");
        return 2;
    }
    if (strcmp(mode, "--map") == 0)
        mapped(fd, &s);
    else
        through_buffer(fd, &s);
    printf("sam str\t%" PRIu64 "\nsam mem\t%" PRIu64 "\nthr cpu\t%" PRIu64 "\nthr\t%" PRIu64 "\nother\t%" PRIu64 "\n",
           s.lines[SAM_STR], s.lines[SAM_MEM], s.lines[THR_CPU], s.lines[THR_AOS] + s.lines[THR_CRT] + s.lines[THR_DST],
           s.lines[OTHER]);
    for (int i = 0; i < FIELDS; i++)
        printf("%s\t%" PRIu64 "\n", names[i], s.of[i]);
    return 0;
}
