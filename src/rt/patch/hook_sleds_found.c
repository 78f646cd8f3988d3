/* The hook "found": programs and libraries with sleds that were not linked with the recorder, which was preloaded.
 *
 * Their sleds become those of the hook "sleds", as if they had registered themselves. What they lack is trampolines:
 * the recorder's own are too far away from most programs. So a page of jumps is mapped near each object, which leads to
 * them; such a page is written once, before anything leads to it, and is never writable again.
 *
 * Libraries that are opened later are found when the recorder looks around, once a second; at once, if the loader is
 * followed (rt_patch_later.c) and their maps need no relocation. */
#include <elf.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "rt/hook/rt_sled.h"
#include "rt/object/rt_maps.h"
#include "rt/object/rt_unload.h"
#include "rt/object/rt_wanted.h"
#include "rt/patch/rt_patch_space.h"
#include "rt/patch/sleds_found.h"
#include "rt/rt_life.h"
#include "rt/rt_say.h"
#include "rt/rt_store.h"

#define HIDDEN __attribute__((visibility("hidden")))
extern const rt_handlers *tl_rt_start_handlers HIDDEN; /* rt_object_start.c: what our trampolines follow */
extern const char tl_rt_trampoline_entry[] HIDDEN, tl_rt_trampoline_exit[] HIDDEN, tl_rt_trampoline_tail[] HIDDEN,
    tl_rt_trampoline_argument[] HIDDEN, __xray_CustomEvent[] HIDDEN, __xray_TypedEvent[] HIDDEN;
/* rt_far_*.S */
extern const char tl_rt_far_entry[] HIDDEN, tl_rt_far_exit[] HIDDEN, tl_rt_far_tail[] HIDDEN,
    tl_rt_far_argument[] HIDDEN, tl_rt_far_custom[] HIDDEN, tl_rt_far_typed[] HIDDEN;

enum { KINDS = RT_SLED_TYPED + 1, STEP = 65536 /* the largest page of any kernel */, LOWEST = 2 * STEP };
static uintptr_t program; /* an address in it */
static bool early = true; /* before the program's main: what is loaded now is never unloaded */

/* By kind of sled. */
static const char *const direct[KINDS] = {tl_rt_trampoline_entry,    tl_rt_trampoline_exit, tl_rt_trampoline_tail,
                                          tl_rt_trampoline_argument, __xray_CustomEvent,    __xray_TypedEvent};
static const char *const far[KINDS] = {tl_rt_far_entry,    tl_rt_far_exit,   tl_rt_far_tail,
                                       tl_rt_far_argument, tl_rt_far_custom, tl_rt_far_typed};

static bool is_near(const rt_object *o, uintptr_t low, uintptr_t high)
{
    const uintptr_t from = low < o->low ? low : o->low, to = high > o->high ? high : o->high;
    return to - from <= tl_rt_sled_reach;
}

static bool trampolines_are_near(const rt_object *o)
{
    bool near = true;
    for (unsigned k = 0; k < KINDS; k++)
        near = near && is_near(o, (uintptr_t)direct[k], (uintptr_t)direct[k]);
    return near;
}

static bool take_at(uintptr_t at)
{
    return tl_rt_patch_space_map(at, at + RT_PAGE) == 0;
}

/* A free page near the object: below it, or above a library, since a program's heap grows above it. 0: none. */
static uintptr_t take_page(const rt_object *o)
{
    const uintptr_t low = o->low & -(uintptr_t)STEP, high = (o->high + STEP - 1) & -(uintptr_t)STEP;
    const bool is_program = rt_object_has(o, program);
    for (uintptr_t d = STEP; d <= tl_rt_sled_reach; d += (d / 8 & -(uintptr_t)STEP) + STEP) {
        if (d < low && low - d >= LOWEST && is_near(o, low - d, high) && take_at(low - d))
            return low - d;
        if (!is_program && high <= UINTPTR_MAX - d && is_near(o, low, high + d) && take_at(high + d))
            return high + d;
    }
    return 0;
}

/* All that were made, but for the last ones of many. */
enum { PAGES = 64 };
static uintptr_t pages[PAGES];
static unsigned npages;

/* A page of jumps that was made for another object; 0: none is near. */
static uintptr_t jumps_near(const rt_object *o)
{
    for (unsigned i = 0; i < npages; i++)
        if (is_near(o, pages[i], pages[i] + RT_PAGE))
            return pages[i];
    return 0;
}

/* The page of jumps, by kind of sled. 0 after a message. */
static uintptr_t make_jumps(const rt_object *o)
{
    uintptr_t page = jumps_near(o);
    if (page)
        return page;
    page = take_page(o);
    if (!page) {
        tl_rt_say_error("no free memory is near the sleds, which are not recorded, of", o->path, 0);
        return 0;
    }
    for (unsigned k = 0; k < KINDS; k++)
        tl_rt_sled_write_far((char *)page + k * RT_FAR_BYTES, (uintptr_t)far[k]);
    long failed = RT_SYS3(SYS_mprotect, page, RT_PAGE, PROT_READ | PROT_EXEC);
    tl_rt_sled_sync(page, page + KINDS * RT_FAR_BYTES);
    if (!failed) {
        if (npages < PAGES)
            pages[npages++] = page;
        return page;
    }
    RT_SYS2(SYS_munmap, page, RT_PAGE);
    tl_rt_say_error("cannot make code executable near the sleds, which are not recorded, of", o->path, (int)-failed);
    return 0;
}

/* Where sleds of each kind lead to. */
static bool make_way(const rt_object *o, rt_sled_found *f)
{
    const bool near = trampolines_are_near(o);
    const uintptr_t page = near ? 0 : make_jumps(o);
    for (unsigned k = 0; k < KINDS; k++) {
        const uintptr_t to = near ? (uintptr_t)direct[k] : page + k * RT_FAR_BYTES;
        if (k < RT_TRAMPOLINES)
            f->map.trampoline[k] = (const void *)to;
        else
            f->event[k - RT_TRAMPOLINES] = to;
    }
    return near || page;
}

/* The program and the libraries it starts with are never unloaded. */
static bool stays(const rt_object *o)
{
    return early || rt_object_has(o, program);
}

static void add(const rt_object *o, uintptr_t begin, uintptr_t end, bool followed)
{
    static rt_sled_found *spare;
    const rt_found_state now = tl_rt_found_look(o, begin, end);
    if (followed && !now.relative)
        return;
    if (!now.good) {
        tl_rt_say_error("xray_instr_map is malformed, so sleds are not recorded, of", o->path, 0);
        return;
    }
    rt_sled_found *f = spare ? spare : tl_rt_memory_keep(sizeof *f);
    if (!f) {
        tl_rt_say_error("no memory for the sleds of", o->path, 0);
        return;
    }
    rt_zero(f, sizeof *f);
    f->map.version = RT_START_VERSION;
    f->map.begin = (const void *)begin;
    f->map.end = (const void *)end;
    f->map.header = (const void *)o->header;
    f->map.handlers = &tl_rt_start_handlers;
    f->followed = followed;
    f->leaves = !followed && !stays(o);
    if (now.patched)
        tl_rt_say_error("another runtime has patched its sleds (XRAY_OPTIONS?), so they are left alone:", o->path, 0);
    f->refused = now.patched || !make_way(o, f);
    spare = tl_rt_object_found(f) ? NULL : f;
}

/* The object that is known to have sleds at the address, registered by whomever. */
static const rt_object *known(uintptr_t address)
{
    for (uint32_t i = 0; i < tl_rt_objects(); i++) {
        const rt_object *o = tl_rt_object(i);
        if (o->map && !o->gone && rt_object_has(o, address))
            return o;
    }
    return NULL;
}

/* Fills *o as far as the following steps need it. */
static bool look_at(uintptr_t address, rt_object *o)
{
    uintptr_t header;
    return tl_rt_maps_find(address, &header, o->path) && tl_rt_image_read(o, header) && rt_object_has(o, address) &&
           !rt_object_has(o, (uintptr_t)tl_rt_life);
}

/* Can its end be seen? */
static bool is_watched(const rt_object *o, bool followed)
{
    if (followed || stays(o))
        return true;
    tl_rt_unload_watch(o);
    return tl_rt_unload_is_watched(o);
}

static bool unready; /* an object was found that the loader has not relocated yet; with the lock */

/* Registers the sleds of the object that is loaded at an address, unless it has none, is known, or registers itself.
 * `path`: of its file; may be relative, or empty. */
static void find(uintptr_t address, const char *path, bool followed)
{
    uintptr_t begin, end;
    if (known(address))
        return;
    const bool whole = path[0] == '/' || !path[0]; /* otherwise the program may have left that folder */
    if (whole && !tl_rt_found_in_file(path))
        return;
    rt_object *o = tl_rt_memory_take(sizeof *o);
    const bool found = o && look_at(address, o) && tl_rt_found_map(o, o->path, &begin, &end);
    const bool ready = found && (followed || stays(o) || tl_rt_unload_is_ready(o));
    unready = unready || (found && !ready);
    const bool again = ready && followed && tl_rt_object_again(o);
    if (ready && !again && !tl_rt_symbols_import(o->path, "tl_rt_object_register")) {
        if (is_watched(o, followed))
            add(o, begin, end, followed);
        else
            tl_rt_say_error("cannot be told when it is unloaded, so its sleds are not recorded:", o->path, 0);
    }
    if (o)
        tl_rt_memory_give(o, sizeof *o);
}

/* Handlers of signals may open libraries, too. */
static uint64_t take_turn(void)
{
    const uint64_t mask = rt_signals_block();
    rt_lock_take(&tl_rt_found_lock);
    return mask;
}

static void end_turn(uint64_t mask)
{
    rt_lock_give(&tl_rt_found_lock);
    rt_signals_restore(mask);
}

void tl_rt_found_opened(const struct link_map *m)
{
    for (; m; m = m->l_next) {
        const uint64_t mask = take_turn();
        find((uintptr_t)m->l_ld, m->l_name ? m->l_name : "", true);
        end_turn(mask);
    }
}

static int see(struct dl_phdr_info *info, size_t size, void *arg)
{
    unsigned long long *adds = arg;
    if (size < sizeof *info)
        return 1;
    if (info->dlpi_adds == *adds) /* nothing was loaded since */
        return 1;
    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD) {
            const uint64_t mask = take_turn();
            find(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr, info->dlpi_name, false);
            end_turn(mask);
            break;
        }
    return 0;
}

static int see_adds(struct dl_phdr_info *info, size_t size, void *arg)
{
    if (size >= sizeof *info)
        *(unsigned long long *)arg = info->dlpi_adds;
    return 1;
}

static int is_there(struct dl_phdr_info *info, size_t size, void *o)
{
    (void)size;
    return info->dlpi_addr == ((const rt_object *)o)->bias;
}

/* An object that was found after its last destructor does not announce its end. */
static void forget_closed(void)
{
    for (uint32_t i = 0; i < tl_rt_objects(); i++) {
        const rt_object *o = tl_rt_object(i);
        if (o->found && o->found->leaves && !o->gone && !dl_iterate_phdr(is_there, (void *)(uintptr_t)o))
            tl_rt_object_leaves(o->low);
    }
}

/* The loader's lock is held meanwhile, so nothing is unloaded. */
static void look(void)
{
    forget_closed();
    static unsigned long long seen;
    unsigned long long now = seen;
    dl_iterate_phdr(see_adds, &now);
    unready = false;
    dl_iterate_phdr(see, &seen);
    seen = unready ? seen : now;
}

/* Before the hook "sleds", which counts them. */
static uint32_t functions(void)
{
    look();
    return 0;
}

static rt_hook hook = {.name = "found", .functions = functions, .look = look};

__attribute__((constructor(101))) static void begin(void)
{
    program = getauxval(AT_PHDR);
    tl_rt_sleds_begin();
    tl_rt_hook_add(&hook);
}

__attribute__((constructor(103))) static void begun(void)
{
    early = false;
}
