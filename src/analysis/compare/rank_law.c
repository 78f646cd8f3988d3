/* Counts the orders of two samples by their U, from those of smaller samples: only sums, so nothing cancels. */
#include "analysis/compare/rank_law.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/grow.h"

/* ways[j][u], of i and j values, becomes that of i + 1 and j: the largest value belongs to the first sample and exceeds
 * all j others, or to the second and adds nothing. */
static void add_value(double *ways, uint32_t m, size_t size)
{
    for (uint32_t j = 1; j <= m; j++) {
        double *of = ways + j * size;
        const double *fewer = of - size;
        for (size_t u = size; u-- > 0;)
            of[u] = (u >= j ? of[u - j] : 0) + fewer[u];
    }
}

int tl_rank_law_init(tl_rank_law *l, uint32_t n, uint32_t m, tl_error *e)
{
    const size_t size = (size_t)n * m + 1;
    *l = (tl_rank_law){.n = n, .m = m};
    if (n > TL_RANK_EXACT_MAX || m > TL_RANK_EXACT_MAX)
        return 0;
    double *ways = calloc((m + 1) * size, sizeof *ways);
    l->below = tl_alloc(size, sizeof *l->below);
    if (!ways || !l->below) {
        free(ways);
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the ranks of %" PRIu32 " and %" PRIu32 " runs", n, m);
    }
    for (uint32_t j = 0; j <= m; j++)
        ways[j * size] = 1;
    for (uint32_t i = 0; i < n; i++)
        add_value(ways, m, size);
    double sum = 0;
    for (size_t u = 0; u < size; u++)
        l->below[u] = sum += ways[m * size + u];
    for (size_t u = 0; u < size; u++)
        l->below[u] /= sum;
    free(ways);
    return 0;
}

void tl_rank_law_fini(tl_rank_law *l)
{
    free(l->below);
    l->below = NULL;
}

static double variance(const tl_rank_law *l, double ties)
{
    const double n = l->n, m = l->m, all = n + m;
    return all > 1 ? n * m / 12 * (all + 1 - ties / (all * (all - 1))) : 0;
}

double tl_rank_law_p(const tl_rank_law *l, double u, double ties)
{
    const double most = (double)l->n * l->m;
    const double low = u < most - u ? u : most - u; /* the law is symmetric */
    if (l->below && ties <= 0) {
        const double p = 2 * l->below[(size_t)low];
        return p < 1 ? p : 1;
    }
    const double v = variance(l, ties),
                 distance = most / 2 - low - 0.5; /* U is a whole number, the normal law is not */
    return v <= 0 || distance <= 0 ? 1 : erfc(distance / sqrt(2 * v));
}

/* The point below which `tail` of the standard normal law lies, for a tail up to 0.5. */
static double normal_point(double tail)
{
    double low = -40, high = 0;
    for (int i = 0; i < 100; i++) {
        const double middle = (low + high) / 2;
        if (erfc(-middle / sqrt(2)) / 2 < tail)
            low = middle;
        else
            high = middle;
    }
    return low;
}

uint32_t tl_rank_law_k(const tl_rank_law *l, double tail)
{
    if (!l->below) {
        const double k = floor((double)l->n * l->m / 2 + 0.5 + normal_point(tail) * sqrt(variance(l, 0)));
        return k < 1 ? 0 : (uint32_t)k;
    }
    uint32_t k = 0;
    while (l->below[k] <= tail) /* ends: the last one is 1 */
        k++;
    return k;
}
