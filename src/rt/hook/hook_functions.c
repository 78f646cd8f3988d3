/* The hook "functions": what compilers call with -finstrument-functions.
 *
 * The stack pointer at its hook identifies a call. While a function runs, its stack pointer stays as at the entry, or
 * goes lower (alloca). An inlined function has the stack pointer of its container.
 *
 * entry   Calls that have a lower one were left, by longjmp or an exception. So were those that have the same, unless
 *         the function is an inlined one. An inlined function is recognised by the return address of its hook: a
 *         function's own hook is the first one in its code, close to its begin.
 * exit    Usually the innermost open call is meant. If not, the function's number says which.
 *
 * Often the exit hook is the last thing that a function does, and compilers turn its call into a jump. Then the
 * function's frame is gone already, and the hook is called with its caller's stack pointer, as if the caller had
 * called; and in a recursion, the caller has the same number. Such a jump is recognised by the return address: the hook
 * returns to where the function returns to, which the compiler passes. Then the outermost call below is the one that
 * ends.
 *
 * One case cannot be recognised: a function is called after longjmp into its caller left other calls, and its frame is
 * larger than theirs. Then they seem to be its callers; the number of calls is still right. */
#include "rt/object/rt_ids.h"
#include "rt/object/rt_objects.h"
#include "rt/object/rt_unload.h"
#include "rt/object/rt_wanted.h"
#include "rt/rt_lane.h"
#include "rt/rt_life.h"
#include "rt/rt_record.h"

#include <link.h>

#define HOOK __attribute__((visibility("default"))) RT_UNTRACED
HOOK void __cyg_profile_func_enter(void *function, void *site);
HOOK void __cyg_profile_func_exit(void *function, void *site);

TL_RT_ALIVE();

static rt_address_slot *volatile table; /* the table of rt_ids.c while recording is on, else NULL */

/* The caller's stack pointer before it called: above the return address and the frame pointer that are pushed here. */
#if defined(__x86_64__)
#define CALLER_SP() ((uintptr_t)__builtin_frame_address(0) + 2 * sizeof(void *))
#else
#define CALLER_SP() ((uintptr_t)__builtin_dwarf_cfa())
#endif
#define RETURN_TO() ((uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0)))

/* ---- entry ---- */

/* A function with its two hooks is longer than this: a hook within that many bytes of its begin is its own. */
enum { FIRST_WITHIN = 72 };

/* An entry hook not known to be its function's first: that of an inlined function, or seen for the first time. Calls to
 * rare cases come last, as jumps, so that the usual case keeps nothing on the stack. */
RT_UNTRACED static RT_RARE void enter_inlined(rt_address_slot *s, uint32_t id, uintptr_t sp, uintptr_t offset)
{
    bool first = s && offset < s->first && offset <= FIRST_WITHIN;
    if (RT_UNLIKELY(first))
        s->first = (uint32_t)offset;
    tl_rt_handlers.enter(id, sp, sp + first);
}

RT_UNTRACED static RT_COLD void enter_new(uintptr_t function, uintptr_t sp, uintptr_t offset)
{
    uint32_t id = tl_rt_ids_of_address_slow(function);
    rt_address_slot *slots = table;
    if (id)
        enter_inlined(slots ? rt_address_at_home(slots, function) : NULL, id, sp, offset);
}

HOOK void __cyg_profile_func_enter(void *function, void *site)
{
    (void)site;
    rt_address_slot *slots = table;
    if (!slots)
        return;
    uintptr_t sp = CALLER_SP(), offset = RETURN_TO() - (uintptr_t)function;
    rt_address_slot *s = rt_address_at_home(slots, (uintptr_t)function);
    uint32_t id = s ? __atomic_load_n(&s->id, __ATOMIC_RELAXED) : 0;
    if (RT_UNLIKELY((int32_t)id <= 0)) {
        if ((id & RT_ID_LEFT_OUT) != RT_ID_LEFT_OUT)
            enter_new((uintptr_t)function, sp, offset);
    } else if (RT_LIKELY(offset == s->first)) {
        tl_rt_handlers.enter(id, sp, sp + 1);
    } else {
        enter_inlined(s, id, sp, offset);
    }
}

/* ---- exit ---- */

/* The outermost call of a function below sp, or sp if there is none. Calls of other functions may be there, too: they
 * were left, and had a smaller frame than this one. */
RT_INLINE uintptr_t outermost_of(const rt_frame *f, uint32_t id, uintptr_t sp)
{
    uintptr_t keep = sp;
    for (; f->sp < sp && f->function; f--)
        if (f->function == id)
            keep = f->sp;
    return keep;
}

/* The innermost call of a function, or sp if there is none: calls above it were left, and the function's later
 * allocations (alloca) may overlap their frames. */
RT_INLINE uintptr_t innermost_of(const rt_frame *f, uint32_t id, uintptr_t sp)
{
    while (f->function && f->function != id)
        f--;
    return f->function ? f->sp : sp;
}

/* An exit that does not end the innermost open call. */
RT_UNTRACED static RT_RARE void exit_odd(uint32_t id, uintptr_t sp, bool jumped)
{
    const rt_lane *l = tl_rt_lane;
    uintptr_t keep = 0; /* in a signal handler that interrupted a hook, only the number is known */
    if (l && !l->busy && jumped)
        keep = outermost_of(tl_rt_record_top(l), id, sp);
    else if (l && !l->busy && l->beyond)
        keep = sp;
    else if (l && !l->busy)
        keep = innermost_of(tl_rt_record_top(l), id, sp);
    /* A place above `keep` makes the recorder look for the number among inlined functions, which have the same
     * place. */
    tl_rt_handlers.exit(id, sp > keep ? sp : keep + 1, keep);
}

RT_UNTRACED static RT_COLD void exit_new(uintptr_t function, uintptr_t sp, bool jumped)
{
    uint32_t id = tl_rt_ids_of_address_slow(function);
    if (id)
        exit_odd(id, sp, jumped);
}

RT_INLINE bool is_top(const rt_frame *top, uint32_t id, uintptr_t sp, bool jumped)
{
    if (jumped)
        return top->function == id && top->sp < sp && top[-1].sp >= sp;
    return top->function == id && top->sp >= sp;
}

HOOK void __cyg_profile_func_exit(void *function, void *site)
{
    rt_address_slot *slots = table;
    if (!slots)
        return;
    uintptr_t sp = CALLER_SP();
    bool jumped = RETURN_TO() == (uintptr_t)site;
    const rt_address_slot *s = rt_address_at_home(slots, (uintptr_t)function);
    uint32_t id = s ? __atomic_load_n(&s->id, __ATOMIC_RELAXED) : 0;
    if (RT_UNLIKELY((int32_t)id <= 0)) {
        if ((id & RT_ID_LEFT_OUT) != RT_ID_LEFT_OUT)
            exit_new((uintptr_t)function, sp, jumped);
        return;
    }
    const rt_lane *l = tl_rt_lane;
    if (RT_LIKELY(l && !l->busy && is_top(l->top, id, sp, jumped)))
        tl_rt_handlers.exit(id, sp, 0);
    else
        exit_odd(id, sp, jumped);
}

/* ---- objects with such functions ---- */

/* libtraceloom-rt.so has the hooks, and never calls them. */
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
    if (!home && !tl_rt_symbols_import(path, "__cyg_profile_func_enter"))
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

/* Functions with a name, in objects loaded so far. This is only an upper bound, since any of them may lack hooks; but
 * if the patterns leave none, nothing will be recorded. */
static uint32_t functions(void)
{
    return count().known;
}

static uint32_t select_all(void)
{
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
    tl_rt_unload_begin();
    tl_rt_hook_add(&hook);
}
