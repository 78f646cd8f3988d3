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

#include "rt/hook/rt_sled.h"
#include "rt/object/rt_ids.h"
#include "rt/patch/rt_patch_object.h"
#include "rt/patch/sleds_found.h"
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
    bool tried, planned, placed;
} loader;

/* The last one of the list when it was whole; NULL: some may be gone since. With the loader's lock. */
static const struct link_map *last;

static const struct link_map *last_of(const struct r_debug *d)
{
    const struct link_map *m = d->r_map;
    while (m && m->l_next)
        m = m->l_next;
    return m;
}

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
    loader.planned =
        patch_plan_make(&loader.plan, &loader.image, tl_rt_patch_machine(), &tl_rt_patch_memory, &named, &range, 1);
    if (!loader.planned)
        return false;
    for (uint32_t i = 0; i < loader.plan.functions; i++) {
        patch_function *f = &loader.plan.function[i];
        f->number = RT_ID_MAX;
        found |= f->begin == function && f->why == PATCH_OK;
        if (f->begin != function && f->why == PATCH_OK)
            f->why = PATCH_NOT_WANTED;
    }
    loader.placed = found && patch_place(&loader.code, &loader.plan, tl_rt_patch_space(), &order);
    if (!loader.placed)
        return false;
    return loader.code.counts.patched == 1 && loader.code.changes <= sizeof loader.on &&
           patch_check(&loader.code, &loader.plan, &where) && tl_rt_patch_space_seal() == 0;
}

static bool put_in(const struct r_debug *d, enum rt_patch_when when)
{
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

/* Unless a change is in the code: then threads may come here. */
static void give_back(char *stack)
{
    for (size_t i = 0; i < sizeof loader.on; i++)
        if (loader.on[i])
            return;
    if (loader.wanted)
        tl_rt_memory_give(loader.wanted, loader.plan.functions);
    if (loader.placed)
        patch_code_drop(&loader.code, tl_rt_patch_space());
    if (loader.planned)
        patch_plan_free(&loader.plan);
    if (stack)
        tl_rt_memory_give(stack, STACK);
}

bool tl_rt_patch_later_begin(enum rt_patch_when when)
{
    const struct r_debug *d = tl_rt_patch_loader();
    const rt_object *o = d && d->r_brk ? tl_rt_object_at(d->r_brk) : NULL;
    if (loader.tried)
        return true;
    loader.tried = true;
    last = d ? last_of(d) : NULL;
    char *stack = tl_rt_memory_take(STACK);
    tl_rt_patch_later_stack = stack + STACK - ALIGNED;
    if (o && stack && tl_rt_patch_image(o, &loader.image) && put_in(d, when))
        return true;
    give_back(stack);
    return false;
}

/* ---- the list ---- */

static bool is_open(const struct r_debug *d, const rt_object *o)
{
    bool open = false;
    for (const struct link_map *m = d->r_map; m && !open; m = m->l_next)
        open = rt_object_has(o, (uintptr_t)m->l_ld);
    return open;
}

static void forget_closed(const struct r_debug *d)
{
    for (rt_patched *p = tl_rt_patched(); p; p = p->next) {
        if (!p->o->gone && !is_open(d, p->o))
            tl_rt_object_closed(p->o->low);
        p->closed |= p->o->gone;
    }
    for (uint32_t i = 0; i < tl_rt_objects(); i++) {
        const rt_object *o = tl_rt_object(i);
        if (o->found && !o->gone && !is_open(d, o))
            tl_rt_object_closed(o->low);
    }
}

void tl_rt_patch_changed(void)
{
    const struct r_debug *d = tl_rt_patch_loader();
    const uint32_t state = tl_rt.state;
    if (!d || tl_rt_ending || (state != RT_ON && state != RT_WAITING))
        return;
    uint64_t mask = tl_rt_patch_lock();
    tl_rt_sleds_removing = d->r_state == RT_DELETE;
    if (d->r_state == RT_CONSISTENT) {
        forget_closed(d);
        tl_rt_patch_opened();
    }
    tl_rt_patch_unlock(mask);
    if (d->r_state == RT_CONSISTENT && last && tl_rt.state == RT_ON)
        tl_rt_found_opened(last->l_next);
    if (d->r_state != RT_ADD)
        last = d->r_state == RT_CONSISTENT ? last_of(d) : NULL;
}

#else

bool tl_rt_patch_later_begin(enum rt_patch_when when)
{
    (void)when;
    return false;
}

#endif
