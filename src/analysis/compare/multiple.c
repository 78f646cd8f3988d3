/* Both adjustments go once through the sorted p. */
#include "analysis/compare/multiple.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "base/grow.h"

typedef struct ranked {
    double p;
    uint32_t i;
} ranked;

static int compare(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    return x->p < y->p ? -1 : x->p > y->p ? 1 : TL_COMPARE(x->i, y->i);
}

static void step_up(const ranked *r, double *adjusted, uint32_t n)
{
    double least = 1;
    for (uint32_t k = n; k-- > 0;) {
        const double q = r[k].p * n / (k + 1);
        least = q < least ? q : least;
        adjusted[r[k].i] = least;
    }
}

static void step_down(const ranked *r, double *adjusted, uint32_t n)
{
    double most = 0;
    for (uint32_t k = 0; k < n; k++) {
        const double q = r[k].p * (n - k);
        most = q > most ? q : most;
        adjusted[r[k].i] = most < 1 ? most : 1;
    }
}

int tl_adjust(tl_adjustment how, const double *p, double *adjusted, uint32_t n, tl_error *e)
{
    ranked *r = tl_alloc((size_t)n + 1, sizeof *r);
    if (!r)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to adjust %" PRIu32 " tests", n);
    for (uint32_t i = 0; i < n; i++)
        r[i] = (ranked){p[i], i};
    qsort(r, n, sizeof *r, compare);
    (how == TL_ADJUST_FALSE_SHARE ? step_up : step_down)(r, adjusted, n);
    free(r);
    return 0;
}
