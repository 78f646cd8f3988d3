/* All differences of two sorted samples are n sorted rows, so merging sorts them, whatever the values are. */
#include "analysis/compare/shift.h"

#include <string.h>

#include "base/compiler.h"

int tl_compare_double(const void *a, const void *b)
{
    return TL_COMPARE(*(const double *)a, *(const double *)b);
}

double tl_sorted_median(const double *sorted, size_t n)
{
    return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

/* Rounded to 64 bits: a processor that computes with 80 would find one difference unequal to itself. */
static double minus(double a, double b)
{
    volatile const double difference = a - b;
    return difference;
}

double tl_shift_p(const tl_rank_law *law, const double *base, const double *newer, double by)
{
    double u = 0, ties = 0;
    for (uint32_t i = 0, j = 0; i < law->n || j < law->m;) {
        const bool of_base = j == law->m || (i < law->n && base[i] <= minus(newer[j], by));
        const double value = of_base ? base[i] : minus(newer[j], by);
        uint32_t same_base = 0, same_new = 0;
        for (; i < law->n && base[i] <= value; i++)
            same_base++;
        for (; j < law->m && minus(newer[j], by) <= value; j++)
            same_new++;
        u += same_new * ((double)(i - same_base) + same_base / 2.0);
        const double t = same_base + (double)same_new;
        ties += t * t * t - t;
    }
    return tl_rank_law_p(law, u, ties);
}

static void merge(const double *a, size_t n, const double *b, size_t m, double *out)
{
    for (size_t i = 0, j = 0; i < n || j < m;)
        *out++ = j == m || (i < n && a[i] <= b[j]) ? a[i++] : b[j++];
}

/* Sorts `n` runs of `length` values, each sorted; the result is in `a` or in `b`. */
static double *merge_runs(double *a, double *b, size_t n, size_t length)
{
    const size_t all = n * length;
    for (size_t run = length; run < all; run *= 2) {
        for (size_t at = 0; at < all; at += 2 * run) {
            const size_t first = all - at < run ? all - at : run, rest = all - at - first;
            merge(a + at, first, a + at + first, rest < run ? rest : run, b + at);
        }
        double *other = a;
        a = b;
        b = other;
    }
    return a;
}

void tl_shift_of(tl_shift *s, const tl_rank_law *law, const double *base, const double *newer, double *room)
{
    const size_t all = (size_t)law->n * law->m;
    for (uint32_t i = 0; i < law->n; i++)
        for (uint32_t j = 0; j < law->m; j++)
            room[(size_t)i * law->m + j] = minus(newer[j], base[i]);
    const double *sorted = merge_runs(room, room + all, law->n, law->m);
    const uint32_t k = tl_rank_law_k(law, TL_SHIFT_TAIL);
    *s = (tl_shift){
        .estimate = tl_sorted_median(sorted, all), .has_interval = k > 0, .p = tl_shift_p(law, base, newer, 0)};
    if (k > 0) {
        s->low = sorted[k - 1];
        s->high = sorted[all - k];
    }
}
