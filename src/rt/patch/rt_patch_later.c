/* Libraries that are opened and closed while the program runs.
 *
 * The loader calls a function that does nothing whenever its list of objects is about to change, and when it has
 * changed: before pages of a closed object are gone, and before anything of a new one runs. Debuggers set a breakpoint
 * there (_r_debug.r_brk); we patch it, as any other function. What happens then runs under the loader's
 * lock, in any thread of the program: so it makes system calls of its own only.
 *
 * While the loader removes objects, nobody changes code: pages may be gone before the list says so. */
#include <elf.h>
#include <sys/mman.h>

#include "rt/object/rt_ids.h"
#include "rt/patch/rt_patch_object.h"
#include "rt/rt_say.h"
#include "rt/rt_sys.h"

#if defined(__x86_64__)

enum { STACK = 256 << 10, ALIGNED = 16 };

#pragma GCC visibility push(hidden)
/* patch_stub_later_x86_64.S */
extern const char tl_rt_patch_later[], tl_rt_patch_later_end[];
extern char *tl_rt_patch_later_stack;
void tl_rt_patch_changed(void);
#pragma GCC visibility pop

char *tl_rt_patch_later_stack;

static struct {
    patch_image image;
    patch_plan plan;
    patch_code code;
    rt_patch_text text;
    uint8_t on[64], *wanted;
    bool tried;
} loader;

/* ---- the loader's function ---- */

static bool place_function(uint64_t function, bool alone)
{
    const patch_named named = {.nevers = 0};
    const patch_range range = {function, 1};
    patch_stubs stubs = {.exit = (uintptr_t)tl_rt_patch_later_end,
                         .tail = (uintptr_t)tl_rt_patch_later_end,
                         .leave = (uintptr_t)tl_rt_patch_later_end};
    const patch_order order = {.stubs = &stubs, .alone = alone, .shadow = tl_rt_patch_shadow()};
    uint64_t where;
    bool found = false;
    for (unsigned i = 0; i < PATCH_STUB_ENTERS; i++)
        stubs.enter[i] = (uintptr_t)tl_rt_patch_later;
    if (!patch_plan_make(&loader.plan, &loader.image, tl_rt_patch_machine(), &tl_rt_patch_memory, &named, &range, 1))
        return false;
    for (uint32_t i = 0; i < loader.plan.functions; i++) {
        patch_function *f = &loader.plan.function[i];
        f->number = RT_ID_MAX;
        found |= f->begin == function && f->why == PATCH_OK;
        if (f->begin != function && f->why == PATCH_OK)
            f->why = PATCH_NOT_WANTED;
    }
    if (!found || !patch_place(&loader.code, &loader.plan, tl_rt_patch_space(), &order))
        return false;
    return loader.code.counts.patched == 1 && loader.code.changes <= sizeof loader.on &&
           patch_check(&loader.code, &loader.plan, &where) && tl_rt_patch_space_seal() == 0;
}

bool tl_rt_patch_later_begin(enum rt_patch_when when)
{
    const struct r_debug *d = tl_rt_patch_loader();
    const rt_object *o = d && d->r_brk ? tl_rt_object_at(d->r_brk) : NULL;
    if (loader.tried)
        return true;
    loader.tried = true;
    char *stack = tl_rt_memory_take(STACK);
    if (!o || !stack || !tl_rt_patch_image(o, &loader.image))
        return false;
    tl_rt_patch_later_stack = stack + STACK - ALIGNED;
    if (!place_function(d->r_brk, when == RT_PATCH_LOADING))
        return false;
    loader.wanted = tl_rt_memory_take(loader.plan.functions);
    if (!loader.wanted)
        return false;
    loader.wanted[patch_plan_find(&loader.plan, d->r_brk)] = 1;
    loader.text = (rt_patch_text){.image = &loader.image,
                                  .code = &loader.code,
                                  .functions = loader.plan.functions,
                                  .on = loader.on,
                                  .wanted = loader.wanted};
    int error =
        when == RT_PATCH_RUNNING ? tl_rt_patch_switch(&loader.text, true) : tl_rt_patch_write(&loader.text, true, when);
    return error == 0 && loader.on[0];
}

/* ---- the list ---- */

static bool has(const rt_object *o, const struct link_map *m)
{
    return (uintptr_t)m->l_ld - o->low < o->high - o->low;
}

/* Relocations would go into our changes. */
static bool has_relocated_code(const struct link_map *m)
{
    for (const ElfW(Dyn) *d = m->l_ld; d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_TEXTREL || (d->d_tag == DT_FLAGS && (d->d_un.d_val & DF_TEXTREL)))
            return true;
    return false;
}

static void forget_closed(const struct r_debug *d)
{
    for (rt_patched *p = tl_rt_patched(); p; p = p->next) {
        bool open = false;
        for (const struct link_map *m = d->r_map; m && !open; m = m->l_next)
            open = has(p->o, m);
        if (!open && !p->o->gone)
            tl_rt_object_leaves(p->o->low);
        p->closed |= !open || p->o->gone;
    }
}

static void add_opened(const struct r_debug *d)
{
    for (const struct link_map *m = d->r_map; m; m = m->l_next) {
        const rt_patched *known = tl_rt_patched();
        while (known && (known->closed || !has(known->o, m)))
            known = known->next;
        if (known || !tl_rt_patch_is_wanted(m) || has_relocated_code(m))
            continue;
        rt_patched *p = tl_rt_patch_add(m);
        if (!p || tl_rt_patch_select(p, RT_PATCH_LOADING) == 0)
            continue;
        if (tl_rt.state != RT_ON)
            continue;
        tl_rt_patch_change(p, true, RT_PATCH_LOADING); /* nobody can be in its code */
        tl_rt_patch_told(p);
    }
}

void tl_rt_patch_changed(void)
{
    const struct r_debug *d = tl_rt_patch_loader();
    const uint32_t state = tl_rt.state;
    if (!d || tl_rt_ending || (state != RT_ON && state != RT_WAITING))
        return;
    uint64_t mask = tl_rt_patch_lock();
    tl_rt_patch_removing = d->r_state == RT_DELETE;
    if (d->r_state == RT_CONSISTENT) {
        forget_closed(d);
        add_opened(d);
    }
    tl_rt_patch_unlock(mask);
}

#else

bool tl_rt_patch_later_begin(enum rt_patch_when when)
{
    (void)when;
    return false;
}

#endif
