/* The hook "patch": functions of programs that were not built for recording, by changing their code in memory.
 *
 * Objects are planned when recording begins for the first time, and placed whenever the patterns select other functions
 * than before; `start` and `stop` change code. Before anything else is changed, the self-test must succeed.
 *
 * Only in libtraceloom-rt.so, and only if the settings ask for it: patch=on; or patch=auto, in a program without hooks
 * of another kind, or for libraries that are named. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "rt/control/rt_control.h"
#include "rt/hook/rt_sled.h"
#include "rt/object/rt_ids.h"
#include "rt/object/rt_wanted.h"
#include "rt/patch/rt_patch_object.h"
#include "rt/rt_say.h"

enum { STATUS_USELESS = 125, BEFORE_LIFE = 101, BEHIND_LIFE = 103, PATIENCE_MS = 1000 };

volatile bool tl_rt_patch_removing;

static rt_patched *first;
static bool loading; /* nothing of the program has run yet */
static bool began_alone;
static enum { NEW, READY, NONE } state;

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

/* Threads of the process; 2: more than one, or unknown. */
static unsigned threads(void)
{
    if (is_single())
        return 1;
    char room[512];
    unsigned n = 0;
    long fd = RT_SYS4(SYS_openat, AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    long got = fd < 0 ? 0 : RT_SYS3(SYS_getdents64, fd, room, sizeof room);
    for (long i = 0; i < got; i += *(uint16_t *)(void *)(room + i + 16)) /* d_reclen, then d_type and d_name */
        n += room[i + 19] != '.';
    if (fd >= 0)
        RT_SYS1(SYS_close, fd);
    return n == 1 ? 1 : 2;
}

static enum rt_patch_when when(void)
{
    if (loading && ONLY_BEFORE_MAIN && began_alone) /* our own thread does not count */
        return RT_PATCH_LOADING;
    return threads() > 1 ? RT_PATCH_RUNNING : loading ? RT_PATCH_LOADING : RT_PATCH_ALONE;
}

/* ---- objects ---- */

rt_patched *tl_rt_patch_add(const struct link_map *m)
{
    rt_object *o = (rt_object *)(uintptr_t)tl_rt_object_at((uintptr_t)m->l_ld);
    rt_patched *p = first;
    if (!o || o->map || o->gone)
        return NULL;
    while (p && p->o != o)
        p = p->next;
    if (p) { /* it was closed, and comes again */
        tl_rt_patch_again(p);
        return p;
    }
    p = o->count ? NULL : tl_rt_patch_object(o);
    if (p) {
        p->next = first;
        first = p;
    }
    return p;
}

static void find_objects(void)
{
    const struct r_debug *d = tl_rt_patch_loader();
    for (const struct link_map *m = d ? d->r_map : NULL; m; m = m->l_next)
        if (tl_rt_patch_is_wanted(m))
            tl_rt_patch_add(m);
}

/* Blocks of an object lie together, near its code. All objects get room for them before the first one is placed, whose
 * jumps go everywhere. */
static void keep_room(void)
{
    if (tl_rt_patch_space_look() != 0)
        return;
    for (const rt_patched *p = first; p; p = p->next)
        tl_rt_patch_keep_room(p);
}

static void follow_loader(void)
{
    if (tl_rt.set.nlibs && !tl_rt_patch_later_begin(when()))
        tl_rt_say_error("libraries that are opened later are not patched: the loader cannot be followed", NULL, 0);
}

/* Once, when recording begins for the first time. */
static void prepare(void)
{
    int error = 0;
    state = NONE;
    if (tl_rt.set.patch == RT_PATCH_OFF)
        return;
    if (tl_rt.set.patch == RT_PATCH_AUTO && !tl_rt.set.nlibs && others)
        return;
    tl_rt_patch_space_begin(tl_rt_patch_program());
    const char *wrong = tl_rt_patch_selftest(&error);
    if (wrong) {
        refuse(wrong, error);
        return;
    }
    find_objects();
    state = READY;
    keep_room();
    follow_loader();
    if (!first && !others)
        useless("no functions were found that can be patched", 0);
}

uint64_t tl_rt_patch_lock(void)
{
    uint64_t mask = rt_signals_block();
    rt_lock_take(&tl_rt_sleds_lock);
    return mask;
}

void tl_rt_patch_unlock(uint64_t mask)
{
    rt_lock_give(&tl_rt_sleds_lock);
    rt_signals_restore(mask);
}

/* Not while the loader removes objects, but for a child of fork whose parent's thread did so. */
static uint64_t lock_calmly(void)
{
    static const long ms[2] = {0, 1000000};
    for (unsigned turn = 0;; turn++) {
        uint64_t mask = tl_rt_patch_lock();
        if (!tl_rt_patch_removing || turn == PATIENCE_MS)
            return mask;
        tl_rt_patch_unlock(mask);
        RT_SYS2(SYS_nanosleep, ms, 0);
    }
}

static uint32_t functions(void)
{
    uint32_t n = 0;
    if (state == NEW && tl_rt.set.patch != RT_PATCH_OFF)
        others = tl_rt_hook_others(tl_rt_patch_hook());
    uint64_t mask = tl_rt_patch_lock();
    if (state == NEW)
        prepare();
    for (const rt_patched *p = first; p; p = p->next)
        n += p->o->gone ? 0 : p->o->count;
    tl_rt_patch_unlock(mask);
    return n;
}

/* ---- patching ---- */

static uint32_t select_all(void)
{
    uint32_t n = 0;
    uint64_t mask = lock_calmly();
    const enum rt_patch_when now = when();
    for (rt_patched *p = first; p; p = p->next)
        n += p->o->gone ? 0 : tl_rt_patch_select(p, now);
    tl_rt_patch_unlock(mask);
    if (n == 0 && first && !tl_rt.set.nfunc && !tl_rt.set.nnot)
        useless("none of the functions can be patched", 0);
    return n;
}

/* Other threads are stopped if possible, which needs help from outside. Then nothing may be done that needs a lock. */
static void change_all(bool on)
{
    enum rt_patch_when now = when();
    const bool stopped = now == RT_PATCH_RUNNING && tl_rt_world_stop();
    if (stopped)
        now = tl_rt_patch_stopped_look() ? RT_PATCH_STOPPED : RT_PATCH_ALONE;
    for (rt_patched *p = first; p; p = p->next)
        if (!p->o->gone)
            tl_rt_patch_change(p, on, now);
    if (stopped)
        tl_rt_world_go();
}

static void start(void)
{
    uint64_t mask = lock_calmly();
    change_all(true);
    for (rt_patched *p = first; p; p = p->next)
        if (!p->o->gone)
            tl_rt_patch_told(p);
    tl_rt_patch_unlock(mask);
}

/* A program that ends leaves its code as it is. */
static void stop(void)
{
    if (tl_rt_ending)
        return;
    uint64_t mask = lock_calmly();
    change_all(false);
    tl_rt_patch_unlock(mask);
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

__attribute__((constructor(BEFORE_LIFE))) static void add(void)
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
    const bool waits = tl_rt.state == RT_WAITING && state == NEW;
    if (waits && (tl_rt.set.nlibs || ONLY_BEFORE_MAIN))
        functions();
    if (waits && ONLY_BEFORE_MAIN) {
        select_all();
        change_all(true);
    }
    loading = false;
}
