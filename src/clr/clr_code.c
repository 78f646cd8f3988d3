/* Methods that have code, and which of them an address is in. */
#include <stdatomic.h>
#include <stdlib.h>

#include "clr/clr_door.h"
#include "clr/clr_info.h"
#include "managed/managed_names.h"

void clr_function_know(clr_id function)
{
    clr_function f;
    if (clr_info_function(function, &f)) {
        managed_method m = {.at = (const void *)function,
                            .class = (const void *)f.class,
                            .module = (const void *)f.module,
                            .token = f.token,
                            .start = f.start,
                            .size = f.size,
                            .name = f.name};
        struct managed_source *place = managed_set.lines ? clr_lines(function, f.module, f.token, &m.nplace) : NULL;
        m.place = place;
        managed_method_known(&m);
        free(place);
    }
    free(f.name);
}

/* ---- which function an address is in ---- */

/* The answers so far, without a lock: of two threads that write one of them at once, neither is found. */
enum { CACHED = 1 << 14 };
static struct {
    _Atomic uint64_t mixed; /* address ^ function */
    _Atomic uint64_t function;
} cache[CACHED];

clr_id clr_function_at(uint64_t ip)
{
    const uint32_t i = (uint32_t)(ip * UINT64_C(0x9e3779b97f4a7c15) >> 40) & (CACHED - 1);
    uint64_t function = atomic_load_explicit(&cache[i].function, memory_order_relaxed);
    if ((atomic_load_explicit(&cache[i].mixed, memory_order_relaxed) ^ function) == ip)
        return (clr_id)function;
    function = clr_info_function_at((uintptr_t)ip);
    /* Compiled before the program ran. Now it exists; later the runtime must not be asked any more. */
    if (function && managed_method_frame((const void *)function, 0).iid == MANAGED_UNKNOWN)
        clr_function_know((clr_id)function);
    atomic_store_explicit(&cache[i].function, function, memory_order_relaxed);
    atomic_store_explicit(&cache[i].mixed, ip ^ function, memory_order_relaxed);
    return (clr_id)function;
}

managed_frame clr_frame(const void *method, uint64_t ip)
{
    static bool told;
    static uint32_t written; /* methods */
    if (!told)
        clr_info_thread();
    told = true;
    const clr_id function = method ? (clr_id)method : clr_function_at(ip);
    if (!function)
        return (managed_frame){.iid = MANAGED_NO_FRAME};
    const managed_frame f = managed_method_shown((const void *)function, ip);
    if (f.iid != MANAGED_UNKNOWN && f.iid >= written) { /* perhaps made known since this turn wrote the facts */
        managed_facts_write();
        written = f.iid + 1;
    }
    return f;
}
