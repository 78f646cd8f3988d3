/* Where a thread's stack lies. */
#include "clr/clr_stack.h"

#include <inttypes.h>
#include <link.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/grow.h"

__thread uintptr_t clr_stack_low, clr_stack_high;

void clr_stack_measure(void)
{
    pthread_attr_t attributes;
    void *low;
    size_t size;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return;
    if (pthread_attr_getstack(&attributes, &low, &size) == 0)
        clr_stack_low = (uintptr_t)low, clr_stack_high = clr_stack_low + size;
    pthread_attr_destroy(&attributes);
}

/* ---- the runtime ---- */

static uintptr_t runtime_low, runtime_high;

static int look_at(struct dl_phdr_info *object, size_t size, void *unused)
{
    const char *name = strrchr(object->dlpi_name, '/');
    (void)size, (void)unused;
    if (!name || strcmp(name, "/libcoreclr.so") != 0)
        return 0;
    for (unsigned i = 0; i < object->dlpi_phnum; i++)
        if (object->dlpi_phdr[i].p_type == PT_LOAD && object->dlpi_phdr[i].p_flags & PF_X) {
            runtime_low = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
            runtime_high = runtime_low + object->dlpi_phdr[i].p_memsz;
        }
    return 1;
}

void clr_stack_know_runtime(void)
{
    dl_iterate_phdr(look_at, NULL);
}

bool clr_stack_is_runtime(uintptr_t ip)
{
    return ip >= runtime_low && ip < runtime_high;
}

/* ---- of threads that cannot be asked ---- */

static struct memory {
    uintptr_t low, high;
    bool of_process; /* that of the first thread */
} * memory;
static uint32_t nmemory, memory_room;

/* That of the first thread grows towards what is mapped before it, and not beyond its limit. */
static uintptr_t lowest(uintptr_t high, uintptr_t before)
{
    enum { USUAL = 8 << 20 };
    struct rlimit limit;
    uintptr_t size = USUAL;
    if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        size = (uintptr_t)limit.rlim_cur;
    return size < high - before ? high - size : before;
}

void clr_stack_look_around(void)
{
    char line[512], may_write, may_read;
    uintptr_t before = 0;
    FILE *f = fopen("/proc/self/maps", "re");
    while (f && fgets(line, sizeof line, f)) {
        struct memory m = {.of_process = strstr(line, "[stack]")};
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %c%c", &m.low, &m.high, &may_read, &may_write) != 4)
            continue;
        if (m.of_process)
            m.low = lowest(m.high, before);
        if (may_read == 'r' && may_write == 'w' && TL_GROW(memory, nmemory, 1, memory_room))
            memory[nmemory++] = m;
        before = m.high;
    }
    if (f)
        fclose(f);
}

void clr_stack_guess(uintptr_t sp)
{
    uint32_t low = 0, high = nmemory;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (memory[middle].low <= sp)
            low = middle + 1;
        else
            high = middle;
    }
    const struct memory *m = low ? &memory[low - 1] : NULL;
    /* A thread's own data lies behind its stack, and its number is where. */
    const uintptr_t end = (uintptr_t)pthread_self();
    if (!m || sp >= m->high || (!m->of_process && (end <= sp || end >= m->high)))
        return;
    clr_stack_low = m->low;
    clr_stack_high = m->of_process ? m->high : end;
}
