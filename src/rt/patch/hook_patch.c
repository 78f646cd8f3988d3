/* The hook "patch": functions of programs that were not built for recording, by changing their code in memory.
 *
 * Objects are planned when recording begins for the first time with settings that ask for them, and placed whenever the
 * patterns select other functions than before; `start` and `stop` change code. Before anything else is changed, the
 * self-test must succeed. Later recordings may ask for other objects: of the ones before, nothing is recorded then.
 *
 * Only in libtraceloom-rt.so, and only if the settings ask for it: patch=on; or patch=auto, in a program without hooks
 * of another kind, or for libraries that are named. */
#include <stdlib.h>

#include "rt/control/rt_control.h"
#include "rt/hook/rt_sled.h"
#include "rt/object/rt_ids.h"
#include "rt/object/rt_wanted.h"
#include "rt/patch/rt_patch_object.h"
#include "rt/patch/rt_tasks.h"
#include "rt/rt_say.h"

enum { STATUS_USELESS = 125, BEFORE_LIFE = 101, BEHIND_LIFE = 103 };
enum { TURNS = 10, BETWEEN_NS = 10000000 }; /* of threads that are in the way */

static rt_patched *first;
static bool loading; /* nothing of the program has run yet */
static bool began_alone;
static bool looked; /* has anything been looked for yet? */
static bool tested; /* the self-test has succeeded */
static bool on;     /* between start and stop; with the lock */
static bool missed; /* the loader has opened objects since they were looked for, while off; with the lock */

static bool others; /* hooks of another kind have functions; asked before the lock is taken, which they take, too */

rt_patched *tl_rt_patched(void)
{
    return first;
}

/* ---- messages ---- */

static void useless(const char *what, int error)
{
    rt_line l;
    rt_line_begin(&l);
    tl_rt_line_text(&l, what);
    tl_rt_say(&l, error, true);
    if (tl_rt.set.strict && !others)
        RT_SYS1(SYS_exit_group, STATUS_USELESS);
}

static void refuse(const char *why, int error)
{
    rt_line l;
    rt_line_begin(&l);
    tl_rt_line_text(&l, "code cannot be changed here, so nothing is patched: ");
    tl_rt_line_text(&l, why);
    useless(l.text, error);
}

/* ---- when ---- */

#if defined(__aarch64__)
/* An emulator has threads of its own, which are seen below, but not by libc. */
extern const char __libc_single_threaded __attribute__((weak));
enum { ONLY_BEFORE_MAIN = 1 }; /* code is changed; afterwards only handlers are */
static bool is_single(void)
{
    return &__libc_single_threaded && *(const volatile char *)&__libc_single_threaded;
}
#else
enum { ONLY_BEFORE_MAIN = 0 };
static bool is_single(void)
{
    return false;
}
#endif

static bool count_task(void *arg, long folder, const char *name)
{
    unsigned *n = arg;
    (void)folder;
    (void)name;
    return ++*n < 2;
}

/* Threads of the process; 2: more than one, or unknown. */
static unsigned threads(void)
{
    unsigned n = 0;
    return is_single() || tl_rt_tasks(count_task, &n) ? 1 : 2;
}

static enum rt_patch_when when(void)
{
    if (loading && ONLY_BEFORE_MAIN && began_alone) /* our own thread does not count */
        return RT_PATCH_LOADING;
    return threads() > 1 ? RT_PATCH_RUNNING : loading ? RT_PATCH_LOADING : RT_PATCH_ALONE;
}

/* ---- objects ---- */

static bool settings_ask(void)
{
    return tl_rt.set.patch == RT_PATCH_ON || (tl_rt.set.patch == RT_PATCH_AUTO && (tl_rt.set.nlibs || !others));
}

static bool is_asked(const rt_patched *p)
{
    return p->asked && !p->o->gone;
}

static rt_patched *add(const struct link_map *m)
{
    rt_object *o = (rt_object *)(uintptr_t)tl_rt_object_at((uintptr_t)m->l_ld);
    rt_patched *p = first;
    if (!o || o->map || o->gone)
        return NULL;
    while (p && p->o != o)
        p = p->next;
    if (p && (p->closed || p->loaded != o->loaded)) /* it was closed, and comes again */
        tl_rt_patch_again(p);
    if (!p) {
        p = tl_rt_patch_object(o);
        if (!p)
            return NULL;
        p->next = first;
        first = p;
    }
    p->asked = !p->left_out;
    return p->asked ? p : NULL;
}

static void find_objects(void)
{
    const struct r_debug *d = tl_rt_patch_loader();
    for (const struct link_map *m = d ? d->r_map : NULL; m; m = m->l_next)
        if (tl_rt_patch_is_wanted(m))
            add(m);
}

/* Relocations would go into our changes. */
static bool has_relocated_code(const struct link_map *m)
{
    for (const ElfW(Dyn) *d = m->l_ld; d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_TEXTREL || (d->d_tag == DT_FLAGS && (d->d_un.d_val & DF_TEXTREL)))
            return true;
    return false;
}

/* Objects that are not known yet. The loader may not have relocated them. */
static void add_opened(enum rt_patch_when now, bool change)
{
    const struct r_debug *d = tl_rt_patch_loader();
    for (const struct link_map *m = d ? d->r_map : NULL; m; m = m->l_next) {
        const rt_patched *known = first;
        while (known && (known->closed || !rt_object_has(known->o, (uintptr_t)m->l_ld)))
            known = known->next;
        if (known || !settings_ask() || !tl_rt_patch_is_wanted(m) || has_relocated_code(m))
            continue;
        rt_patched *p = add(m);
        if (!p || tl_rt_patch_select(p, now) == 0 || !change)
            continue;
        tl_rt_patch_change(p, true, now);
        tl_rt_patch_told(p);
    }
}

/* Blocks of an object lie together, near its code. All objects get room for them before the first one is placed, whose
 * jumps go everywhere. */
static void keep_room(void)
{
    if (tl_rt_patch_space_look() != 0)
        return;
    for (rt_patched *p = first; p; p = p->next)
        if (is_asked(p))
            tl_rt_patch_keep_room(p);
}

static void follow_loader(void)
{
    if (tl_rt.set.nlibs && !tl_rt_patch_later_begin(when()))
        tl_rt_say_error("libraries that are opened later are not patched: the loader cannot be followed", NULL, 0);
}

static bool test(void)
{
    int error = 0;
    if (tested)
        return true;
    tl_rt_patch_space_begin(tl_rt_patch_program());
    const char *wrong = tl_rt_patch_selftest(&error);
    if (wrong)
        refuse(wrong, error);
    tested = !wrong;
    return tested;
}

/* Whenever recording begins: what do the settings ask for now? Returns how many functions there are. */
static uint32_t prepare(void)
{
    uint32_t n = 0;
    bool any = false;
    const bool wanted = settings_ask() && test();
    looked = true;
    missed = false;
    for (rt_patched *p = first; p; p = p->next)
        p->asked = false;
    if (wanted) {
        find_objects();
        keep_room();
        follow_loader();
    }
    for (rt_patched *p = first; p; p = p->next) {
        any = any || is_asked(p);
        n += is_asked(p) ? p->o->count : 0;
        if (!p->asked && !p->o->gone)
            tl_rt_patch_drop(p, when());
    }
    if (wanted && !any && !others)
        useless("no functions were found that can be patched", 0);
    return n;
}

uint64_t tl_rt_patch_lock(void)
{
    uint64_t mask = rt_signals_block();
    rt_lock_take(&tl_rt_sleds_lock);
    return mask;
}

void tl_rt_patch_unlock(uint64_t mask)
{
    tl_rt_patch_memory_end();
    rt_lock_give(&tl_rt_sleds_lock);
    rt_signals_restore(mask);
}

static uint64_t lock_calmly(void)
{
    uint64_t mask = rt_signals_block();
    tl_rt_sleds_lock_calmly();
    return mask;
}

/* The loader's lock is held: its list stays as it is, and so does what is on it. */
static int look(struct dl_phdr_info *info, size_t size, void *n)
{
    (void)info;
    (void)size;
    const uint64_t mask = tl_rt_patch_lock();
    *(uint32_t *)n = prepare();
    tl_rt_patch_unlock(mask);
    return 1;
}

static uint32_t functions(void)
{
    uint32_t n = 0;
    if (tl_rt.set.patch != RT_PATCH_OFF)
        others = tl_rt_hook_others(tl_rt_patch_hook());
    if (tl_rt.set.nlibs || first)
        dl_iterate_phdr(look, &n);
    else /* at most the program, which stays */
        look(NULL, 0, &n);
    return n;
}

/* ---- patching ---- */

static uint32_t select_all(void)
{
    uint32_t n = 0;
    bool any = false;
    uint64_t mask = lock_calmly();
    const enum rt_patch_when now = when();
    for (rt_patched *p = first; p; p = p->next) {
        any = any || is_asked(p);
        n += is_asked(p) ? tl_rt_patch_select(p, now) : 0;
    }
    tl_rt_patch_unlock(mask);
    if (n == 0 && any && !tl_rt.set.nfunc && !tl_rt.set.nnot)
        useless("none of the functions can be patched", 0);
    return n;
}

static void change_objects(bool to, enum rt_patch_when now)
{
    for (rt_patched *p = first; p; p = p->next)
        if (to ? is_asked(p) : !p->o->gone)
            tl_rt_patch_change(p, to, now);
}

/* While other threads are stopped, which needs help from outside. Then nothing may be done that needs a lock. A thread
 * that stands on what is to be taken back gets some time to go on. False: nobody stops them. */
static bool change_stopped(bool to)
{
    static const long between[2] = {0, BETWEEN_NS};
    unsigned turn = 0;
    for (bool again = true; again && turn < TURNS && tl_rt_world_stop(); turn++) {
        change_objects(to, tl_rt_patch_stopped_look() ? RT_PATCH_STOPPED : RT_PATCH_HALTED);
        again = tl_rt_patch_stopped_met();
        tl_rt_world_go();
        if (again)
            RT_SYS2(SYS_nanosleep, between, 0);
    }
    return turn > 0;
}

static void change_all(bool to)
{
    const enum rt_patch_when now = when();
    if (now != RT_PATCH_RUNNING || !change_stopped(to))
        change_objects(to, now);
}

static void start(void)
{
    uint64_t mask = lock_calmly();
    on = true;
    if (missed)
        add_opened(when(), false);
    missed = false;
    change_all(true);
    for (rt_patched *p = first; p; p = p->next)
        if (is_asked(p))
            tl_rt_patch_told(p);
    tl_rt_patch_unlock(mask);
}

/* A program that ends leaves its code as it is. */
static void stop(void)
{
    if (tl_rt_ending)
        return;
    uint64_t mask = lock_calmly();
    on = false;
    change_all(false);
    tl_rt_patch_unlock(mask);
}

void tl_rt_patch_opened(void)
{
    if (on)
        add_opened(RT_PATCH_LOADING, true); /* nobody can be in its code */
    else
        missed = true;
}

const rt_hook *tl_rt_patch_hook(void)
{
    static rt_hook hook = {.name = "patch", .functions = functions, .select = select_all, .start = start, .stop = stop};
    return &hook;
}

/* Was the recorder preloaded? Then its constructors run before anything of the program. Otherwise it may be opened by a
 * function of the program, which waits for us. */
static bool is_preloaded(void)
{
    const char *list = secure_getenv("LD_PRELOAD");
    return list && tl_rt_glob("*traceloom-rt*", list);
}

__attribute__((constructor(BEFORE_LIFE))) static void begin(void)
{
    loading = is_preloaded();
    began_alone = threads() == 1;
    tl_rt_patch_image_begin();
    if (tl_rt_patch_machine())
        tl_rt_hook_add((rt_hook *)(uintptr_t)tl_rt_patch_hook());
}

__attribute__((constructor(BEHIND_LIFE))) static void loaded(void)
{
    /* With start=off, too, libraries are followed from the begin on. */
    const bool waits = tl_rt.state == RT_WAITING && !looked;
    if (waits && (tl_rt.set.nlibs || ONLY_BEFORE_MAIN))
        functions();
    if (waits && ONLY_BEFORE_MAIN) {
        select_all();
        change_all(true);
    }
    loading = false;
}
