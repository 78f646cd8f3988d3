/* The hook "functions": what compilers call with -finstrument-functions.
 *
 * All that is known of a call is the stack pointer where the hook is called. At an entry it is where it stays while the
 * function runs, or higher (alloca). Inlined functions have the stack pointer of what they were inlined into. So at an
 * exit what lies lower is gone, and what is as low may be gone: an exception leaves inlined functions, too. `keep` is
 * one less than sp then, which has the recorder look for the function's number.
 *
 * Often the exit hook is the last thing that a function does, and compilers turn its call into a jump. Then the
 * function's frame is gone already, and the hook is called with its caller's stack pointer, as if the caller had
 * called; and in a recursion, the caller has the same number. It shows in that the hook returns to where the function
 * returns to, which the compiler tells us. The function's own frame is the outermost one below then. */
#include "rt/rt_ids.h"
#include "rt/rt_lane.h"
#include "rt/rt_life.h"
#include "rt/rt_objects.h"
#include "rt/rt_wanted.h"

#include <link.h>

#define HOOK __attribute__((visibility("default"))) RT_UNTRACED
HOOK void __cyg_profile_func_enter(void *function, void *site);
HOOK void __cyg_profile_func_exit(void *function, void *site);

TL_RT_ALIVE();

static const rt_address_slot *volatile table; /* of rt_ids.c, while recording is on; else NULL */

/* The caller's stack pointer before it called: above the return address and the frame pointer that are pushed here. */
#if defined(__x86_64__)
#define CALLER_SP() ((uintptr_t)__builtin_frame_address(0) + 2 * sizeof(void *))
#else
#define CALLER_SP() ((uintptr_t)__builtin_dwarf_cfa())
#endif

/* What is rare is called last, as a jump: so the usual way keeps nothing on the stack. */
RT_UNTRACED static RT_COLD void enter_new(uintptr_t function, uintptr_t sp)
{
    uint32_t id = tl_rt_ids_of_address_slow(function);
    if (id)
        tl_rt_handlers.enter(id, sp, sp);
}

HOOK void __cyg_profile_func_enter(void *function, void *site)
{
    (void)site;
    const rt_address_slot *slots = table;
    if (!slots)
        return;
    uintptr_t sp = CALLER_SP();
    uint32_t id = rt_id_of_address(slots, (uintptr_t)function);
    if (RT_LIKELY((int32_t)id > 0))
        tl_rt_handlers.enter(id, sp, sp);
    else if (!id)
        enter_new((uintptr_t)function, sp);
}

/* The outermost frame below sp, or sp if there is none. */
RT_INLINE uintptr_t outermost_below(uintptr_t sp)
{
    const rt_lane *l = tl_rt_lane;
    if (!l || l->busy) /* a signal handler on top of a hook: all that is known is the number */
        return 0;
    const rt_frame *f = l->top;
    if (f->sp >= sp || !f->function)
        return sp;
    while (f[-1].sp < sp && f[-1].function)
        f--;
    return f->sp;
}

RT_UNTRACED static RT_RARE void exit_by_jump(uint32_t id, uintptr_t sp)
{
    tl_rt_handlers.exit(id, sp, outermost_below(sp));
}

RT_UNTRACED static RT_COLD void exit_new(uintptr_t function, uintptr_t sp, bool jumped)
{
    uint32_t id = tl_rt_ids_of_address_slow(function);
    if (id && jumped)
        exit_by_jump(id, sp);
    else if (id)
        tl_rt_handlers.exit(id, sp, sp - 1);
}

HOOK void __cyg_profile_func_exit(void *function, void *site)
{
    const rt_address_slot *slots = table;
    if (!slots)
        return;
    uintptr_t sp = CALLER_SP();
    uint32_t id = rt_id_of_address(slots, (uintptr_t)function);
    bool jumped = __builtin_return_address(0) == site;
    if (RT_UNLIKELY((int32_t)id <= 0)) {
        if (!id)
            exit_new((uintptr_t)function, sp, jumped);
    } else if (jumped) {
        exit_by_jump(id, sp);
    } else {
        tl_rt_handlers.exit(id, sp, sp - 1);
    }
}

/* ---- which objects have such functions ---- */

/* libtraceloom-rt.so, which has the hooks, calls them never. */
static bool is_recorder(uintptr_t low, uintptr_t high)
{
#ifdef TL_RT_SHARED
    return (uintptr_t)tl_rt_life - low < high - low;
#else
    (void)low, (void)high;
    return false;
#endif
}

static int count_object(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    uintptr_t low = UINTPTR_MAX, high = 0;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD)
            continue;
        low = info->dlpi_addr + p->p_vaddr < low ? info->dlpi_addr + p->p_vaddr : low;
        high = info->dlpi_addr + p->p_vaddr + p->p_memsz > high ? info->dlpi_addr + p->p_vaddr + p->p_memsz : high;
    }
    if (low >= high || is_recorder(low, high))
        return 0;
    bool home = (uintptr_t)tl_rt_life - low < high - low; /* its calls were resolved when it was linked */
    const char *path = info->dlpi_name[0] ? info->dlpi_name : tl_rt.exe;
    if (!home && !tl_rt_wanted_imports(path, "__cyg_profile_func_enter"))
        return 0;
    const rt_object *o = tl_rt_object_at(low);
    if (o)
        tl_rt_wanted_add(arg, o);
    return 0;
}

static rt_wanted_count count(void)
{
    rt_wanted_count c = {0, 0};
    dl_iterate_phdr(count_object, &c);
    return c;
}

/* Those that have a name, in objects that are loaded by now. The numbers say little: nobody knows which of them call
 * the hooks. But if none is left, none will. */
static uint32_t functions(void)
{
    return count().known;
}

static uint32_t select_all(void)
{
    tl_rt_wanted_forget();
    uint32_t n = count().wanted;
    tl_rt_ids_decide_again();
    return n;
}

static void start(void)
{
    table = tl_rt_ids_begin() ? tl_rt_address_slots : NULL;
}

static void stop(void)
{
    table = NULL;
    tl_rt_ids_note_late();
}

static rt_hook hook = {.name = "functions", .functions = functions, .select = select_all, .start = start, .stop = stop};

RT_UNTRACED __attribute__((constructor(101))) static void add(void)
{
    tl_rt_hook_add(&hook);
}
