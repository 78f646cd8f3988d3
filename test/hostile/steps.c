/* Counts the steps of traceloom_steps: the compiler puts a call of this into each piece of code between two branches of
 * the files that use tables. At the end the number goes to the file named by TL_STEPS. */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

void __sanitizer_cov_trace_pc(void);

static _Atomic uint64_t steps;

void __sanitizer_cov_trace_pc(void)
{
    atomic_fetch_add_explicit(&steps, 1, memory_order_relaxed);
}

static void tell(void)
{
    const char *path = getenv("TL_STEPS");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file)
        return;
    fprintf(file, "%" PRIu64 "\n", atomic_load(&steps));
    fclose(file);
}

__attribute__((constructor)) static void begin(void)
{
    atexit(tell);
}
