/* Loaded into a program in the oracle: its heap, and what it maps, lie elsewhere than without. Counts that change by
 * that depend on addresses, and cannot be compared between runs. */
#include <stdint.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

enum { HEAP_STEPS = 8192, HEAP_STEP = 16, MAPPED_STEPS = 2048, MAPPED_STEP = 4096 };

__attribute__((constructor)) static void shift(void)
{
    uint32_t chance[2] = {0, 0};
    if (getrandom(chance, sizeof chance, GRND_NONBLOCK) < 0)
        return;
    (void)!sbrk((1 + chance[0] % HEAP_STEPS) * HEAP_STEP);
    (void)mmap(NULL, (1 + chance[1] % MAPPED_STEPS) * (size_t)MAPPED_STEP, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
               0);
}
