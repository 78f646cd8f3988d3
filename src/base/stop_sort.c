/* A sort that its caller can stop: runs are sorted by qsort_r(), then merged two by two. */
#include "base/stop_sort.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "traceloom/error.h"

#define RUN        ((size_t)1 << 15) /* elements that are sorted at once; some 2 ms */
#define LOOK_EVERY ((size_t)1 << 15) /* elements that are merged between two questions */

typedef struct sort {
    size_t width;
    int (*compare)(const void *a, const void *b, void *arg);
    void *arg;
    bool (*stop)(void *arg);
    void *stop_arg;
    size_t looks_in; /* elements until the next question */
} sort;

static bool is_stopped(sort *s, size_t done)
{
    if (s->looks_in > done) {
        s->looks_in -= done;
        return false;
    }
    s->looks_in = LOOK_EVERY;
    return s->stop && s->stop(s->stop_arg);
}

/* Merges from[a .. b) and from[b .. end) into `to`; false: stopped. */
static bool merge(sort *s, const char *from, char *to, size_t a, size_t b, size_t end)
{
    const size_t w = s->width;
    size_t left = a, right = b;
    for (size_t i = a; i < end; i++) {
        const bool is_left = left < b && (right == end || s->compare(from + left * w, from + right * w, s->arg) <= 0);
        memcpy(to + i * w, from + (is_left ? left++ : right++) * w, w);
        if (is_stopped(s, 1))
            return false;
    }
    return true;
}

/* One round: all runs of `length` become half as many. Stopped: `from` still has everything. */
static bool merge_all(sort *s, const char *from, char *to, size_t n, size_t length)
{
    for (size_t a = 0; a < n;) {
        const size_t b = n - a > length ? a + length : n, end = n - b > length ? b + length : n;
        if (!merge(s, from, to, a, b, end))
            return false;
        a = end;
    }
    return true;
}

int tl_stop_sort(void *base, size_t n, size_t width, int (*compare)(const void *a, const void *b, void *arg), void *arg,
                 bool (*stop)(void *arg), void *stop_arg)
{
    sort s = {width, compare, arg, stop, stop_arg, LOOK_EVERY};
    char *from = base, *to = n > RUN ? tl_alloc(n, width) : NULL, *const other = to;
    bool done = true;
    if (n > RUN && !to)
        return TL_ENOMEM;
    for (size_t a = 0; a < n && done; a += RUN) {
        const size_t m = n - a < RUN ? n - a : RUN;
        qsort_r(from + a * width, m, width, compare, arg);
        done = !is_stopped(&s, m);
    }
    for (size_t length = RUN; length < n && done; length = length > n / 2 ? n : length * 2) {
        done = merge_all(&s, from, to, n, length);
        if (done) {
            char *const sorted = to;
            to = from;
            from = sorted;
        }
    }
    if (from != base)
        memcpy(base, from, n * width);
    free(other);
    return done ? 0 : TL_ELIMIT;
}
