/* Numbers as text, and exact conversion of ticks. */
#ifndef TL_BASE_NUMBER_H
#define TL_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes v in decimal (or lower-case hexadecimal without padding) to p, not terminated; returns the end. At most 20
 * bytes. */
char *tl_put_u64(char *p, uint64_t v);
char *tl_put_i64(char *p, int64_t v);
char *tl_put_hex(char *p, uint64_t v);

/* Ticks -> ns: ticks * 10^9 / hz, rounded half to even, exact; saturates at UINT64_MAX. hz 0: ticks unchanged.
 * Prepared once per clock so that a conversion costs two multiplications. */
typedef struct tl_scale {
    uint64_t hz;
    uint64_t reciprocal; /* fixed-point 10^9 / hz, see number.c */
    unsigned shift;
} tl_scale;

/* a * b / d, rounded half to even; saturates. d > 0. */
uint64_t tl_scale_exactly(uint64_t a, uint64_t b, uint64_t d);

void tl_scale_init(tl_scale *s, uint64_t hz);
uint64_t tl_scale_other_ns(const tl_scale *s, uint64_t ticks); /* of any clock */
static inline uint64_t tl_scale_ns(const tl_scale *s, uint64_t ticks)
{
    return s->hz == 1000000000 ? ticks : tl_scale_other_ns(s, ticks);
}
/* (ticks * 10^9 + rest) / hz, rounded down: ns of a clock whose tick 0 is `rest` / hz ns after a whole ns; rest <
 * hz. */
uint64_t tl_scale_ns_down(const tl_scale *s, uint64_t ticks, uint64_t rest);
/* ns -> the first tick that tl_scale_ns() shows as ns or more, so that a time read off an output selects the event it
 * came from; saturates. */
uint64_t tl_scale_ticks(const tl_scale *s, uint64_t ns);

/* For people. Writes at most n bytes, terminated; returns buf.
 * Times: three digits and a unit, "0 ns", "999 ns", "1.24 ms", "12.3 s", "2 h 03 min". Ticks where unit is "ticks":
 * "12.3 M". Counts: "999", "1.23 k", "12.3 M". Bytes: "999 B", "16.0 KiB", "101.6 MiB". */
char *tl_human_time(char *buf, size_t n, uint64_t value, bool is_ns);
char *tl_human_count(char *buf, size_t n, uint64_t value);
char *tl_human_bytes(char *buf, size_t n, uint64_t value);
/* "1,204,133" */
char *tl_human_grouped(char *buf, size_t n, uint64_t value);

/* Parses an unsigned decimal integer; false if s is anything else, or too large. */
bool tl_parse_u64(const char *s, uint64_t *out);
/* The same with an optional suffix for a power of 1000: "64k", "100M", "2G". */
bool tl_parse_count(const char *s, uint64_t *out);
/* Parses a duration: "250", "250ns", "1.5us", "2ms", "3s", "1min", "1h" -> ns. Without a unit: ns. */
bool tl_parse_duration(const char *s, uint64_t *ns);

#endif
