/* For each line "NOISE COUNTS n BASE... m NEW..." of standard input: the change from one sample to the other, as a
 * line. */
#include <stdio.h>
#include <stdlib.h>

#include "analysis/compare/change.h"

static double *numbers(uint32_t *n)
{
    unsigned count = 0;
    if (scanf("%u", &count) != 1)
        exit(2);
    double *value = calloc(count + 1, sizeof *value);
    for (unsigned i = 0; value && i < count; i++)
        if (scanf("%lf", &value[i]) != 1)
            exit(2);
    *n = count;
    return value;
}

int main(void)
{
    tl_change_room room;
    double noise;
    int counts;
    if (tl_change_room_init(&room, TL_COMPARE_RUNS_MAX, TL_COMPARE_RUNS_MAX, NULL) < 0)
        return 2;
    while (scanf("%lf %d", &noise, &counts) == 2) {
        uint32_t n, m;
        double *base = numbers(&n), *newer = numbers(&m);
        tl_change c;
        if (tl_change_of(&c, &room, base, n, newer, m, TL_SCALE_RELATIVE, NULL) < 0)
            return 2;
        printf("%.17g %.17g %.17g %d %.17g %d %u\n", c.estimate, c.low, c.high, c.has_interval, c.p,
               (int)tl_change_verdict(&c, counts, noise, c.p), tl_change_runs(&c, noise));
        free(base);
        free(newer);
    }
    tl_change_room_fini(&room);
    return 0;
}
