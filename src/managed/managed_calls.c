/* Calls of managed methods, as a source of hooks of the recorder. */
#include "managed/managed_calls.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "rt/object/rt_ids.h"
#include "rt/rt_lane.h"
#include "rt/rt_life.h"
#include "rt/rt_note.h"
#include "rt/rt_record.h"

TL_RT_ALIVE();

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct named {
    uint32_t id;
    char *name;
} * all;
static uint32_t n, room;

static void note(const struct named *m)
{
    rt_line l;
    rt_line_begin(&l);
    tl_rt_line_text(&l, "function id=");
    tl_rt_line_number(&l, m->id);
    tl_rt_line_text(&l, " name=");
    tl_rt_line_escaped(&l, m->name);
    tl_rt_note(&l);
}

/* The names in each file: those that are known when it begins. */
static void start(void)
{
    static uint32_t noted;
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < n && noted != tl_rt.file; i++)
        note(&all[i]);
    noted = tl_rt.file;
    pthread_mutex_unlock(&lock);
}

static rt_hook hook = {.name = "managed", .start = start};

__attribute__((constructor(101))) static void add(void)
{
    tl_rt_hook_add(&hook);
}

bool managed_calls_wanted(void)
{
    return tl_rt.state != RT_OFF;
}

static bool any_matches(const char *const *pattern, unsigned count, const char *name)
{
    for (unsigned i = 0; i < count; i++)
        if (tl_rt_glob(pattern[i], name))
            return true;
    return false;
}

bool managed_calls_library(const char *path)
{
    return any_matches(tl_rt.set.libs, tl_rt.set.nlibs, tl_rt_base(path));
}

uint32_t managed_calls_number(const char *name)
{
    const rt_settings *s = &tl_rt.set;
    if ((s->nfunc && !any_matches(s->func, s->nfunc, name)) || any_matches(s->not_func, s->nnot, name))
        return 0;
    struct named m = {.name = strdup(name)};
    pthread_mutex_lock(&lock);
    if (m.name && TL_GROW(all, n, 1, room) && (m.id = tl_rt_ids_take(1) + 1) != 0) {
        all[n++] = m;
    } else {
        free(m.name);
        m.id = 0;
    }
    pthread_mutex_unlock(&lock);
    /* If recording begins meanwhile, there are two notes, which do no harm. */
    rt_lane *l = m.id && tl_rt.state == RT_ON ? tl_rt_record_take((uintptr_t)__builtin_frame_address(0)) : NULL;
    if (l) {
        note(&m);
        tl_rt_record_give(l);
    }
    return m.id;
}

void managed_call_enter(uint32_t id, uintptr_t sp)
{
    tl_rt_handlers.enter(id, sp, sp + 1);
}

/* Where the call of a number begins that is not the innermost; 0: nowhere. */
__attribute__((noinline)) static uintptr_t look_for(uint32_t id)
{
    const rt_frame *f = tl_rt_record_top(tl_rt_lane);
    while (f->function && f->function != id)
        f--;
    return f->function ? f->sp : 0;
}

static inline bool is_innermost(uint32_t id)
{
    const rt_lane *l = tl_rt_lane;
    return __builtin_expect(!l || l->busy || l->top->function == id, true);
}

/* Nearly always the innermost one ends. Otherwise the recorder has to look for the number. */
__attribute__((noinline)) static void leave_outer(uint32_t id, uintptr_t sp, bool replaced)
{
    const uintptr_t keep = look_for(id);
    sp = sp > keep ? sp : keep + 1;
    if (replaced)
        tl_rt_handlers.tail(id, sp, keep);
    else
        tl_rt_handlers.exit(id, sp, keep);
}

void managed_call_leave(uint32_t id, uintptr_t sp)
{
    if (is_innermost(id))
        tl_rt_handlers.exit(id, sp, 0);
    else
        leave_outer(id, sp, false);
}

void managed_call_replace(uint32_t id, uintptr_t sp)
{
    if (is_innermost(id))
        tl_rt_handlers.tail(id, sp, 0);
    else
        leave_outer(id, sp, true);
}
