/* Reads xray_instr_map in memory, and patches the sleds that it names while other threads may be executing them.
 *
 * A sled of the map has 32 bytes, at any alignment:
 *
 *     0                8                16     17       18        19                      32
 *     +----------------+----------------+------+--------+---------+-----------------------+
 *     | sled           | function       | kind | always | version | padding               |
 *     +----------------+----------------+------+--------+---------+-----------------------+
 *
 * version 0, 1   addresses; the loader has relocated them
 * version 2      addresses minus the place of the field
 *
 * Functions are numbered by runs of sleds with the same function, as in the library (format/xray/instr_map.c).
 *
 * Sleds are patched by runs whose pages touch. In a run everything is written except what switches the sleds; all
 * processors see that; then the sleds are switched. So no thread can enter a sled that is on but half written. */
#include <linux/membarrier.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "rt/hook/rt_sled.h"
#include "rt/rt_say.h"
#include "rt/rt_store.h"

enum { SLED_AT = 0, SLED_FUNCTION = 8, SLED_KIND = 16, SLED_VERSION = 18, SLED_BYTES = RT_SLED_RECORD, RELATIVE = 2 };

static rt_sled_place read_sled(const char *p)
{
    rt_sled_place s;
    rt_copy(&s.at, p + SLED_AT, sizeof s.at);
    rt_copy(&s.function, p + SLED_FUNCTION, sizeof s.function);
    s.kind = (unsigned char)p[SLED_KIND];
    s.relative = (unsigned char)p[SLED_VERSION] >= RELATIVE;
    if (s.relative) {
        s.at += (uintptr_t)p + SLED_AT;
        s.function += (uintptr_t)p + SLED_FUNCTION;
    }
    return s;
}

bool tl_rt_map_sled(uintptr_t record, rt_sled_place *out)
{
    *out = read_sled((const char *)record);
    return out->kind <= RT_SLED_TYPED && ((const unsigned char *)record)[SLED_VERSION] <= RELATIVE;
}

uint32_t tl_rt_map_functions(const void *begin, const void *end, uintptr_t bias, uint64_t *function)
{
    const char *p = begin;
    size_t n = (size_t)((const char *)end - p) / SLED_BYTES;
    uintptr_t latest = 0;
    uint32_t count = 0;
    for (size_t i = 0; i < n; i++) {
        uintptr_t f = read_sled(p + i * SLED_BYTES).function;
        if (i > 0 && f == latest)
            continue;
        latest = f;
        if (function)
            function[count] = f - bias;
        count++;
    }
    return count;
}

/* A walk over an object's sleds. */
struct walk {
    const char *next, *end;
    rt_sled_place sled;
    uintptr_t function;
    uint32_t index; /* of the function, from 1; 0: at the begin */
};

static void walk_begin(struct walk *w, const rt_object *o)
{
    w->next = o->map->begin;
    w->end = w->next + ((size_t)((const char *)o->map->end - w->next) / SLED_BYTES) * SLED_BYTES;
    w->function = 0;
    w->index = 0;
}

static bool walk_next(struct walk *w)
{
    if (w->next == w->end)
        return false;
    w->sled = read_sled(w->next);
    w->next += SLED_BYTES;
    if (w->index == 0 || w->sled.function != w->function)
        w->index++;
    w->function = w->sled.function;
    return true;
}

struct patching {
    rt_object *o;
    bool on;
    uintptr_t page;    /* its size */
    uint64_t odd, far; /* sleds that cannot be patched */
};

static uintptr_t trampoline_of(const rt_object *o, unsigned kind)
{
    return kind < RT_TRAMPOLINES ? (uintptr_t)o->map->trampoline[kind] : 0;
}

/* A found object's event sleds call what the program has for them; we change that. */
static uintptr_t event_of(const rt_object *o, unsigned kind)
{
    return o->found && kind >= RT_TRAMPOLINES ? o->found->event[kind - RT_TRAMPOLINES] : 0;
}

static bool reaches(const rt_object *o, const rt_sled_place *s)
{
    if (s->kind < RT_TRAMPOLINES)
        return tl_rt_sled_reaches(s->at, trampoline_of(o, s->kind));
    return !o->found || tl_rt_sled_can_lead(s->at, s->kind, event_of(o, s->kind));
}

/* Must the sled at w be switched? */
static bool to_switch(const struct patching *p, const struct walk *w)
{
    const rt_sled_place *s = &w->sled;
    if (s->kind > RT_SLED_TYPED)
        return false;
    int state = tl_rt_sled_state(s->at, s->kind);
    bool on = p->on && p->o->wanted[w->index - 1];
    return state != RT_SLED_ODD && (state == RT_SLED_ON) != on && reaches(p->o, s);
}

/* Counts the wanted sleds that to_switch() skips. */
static void count_faults(struct patching *p)
{
    struct walk w;
    for (walk_begin(&w, p->o); walk_next(&w);) {
        const rt_sled_place *s = &w.sled;
        if (s->kind > RT_SLED_TYPED || tl_rt_sled_state(s->at, s->kind) == RT_SLED_ODD)
            p->odd++;
        else if (!reaches(p->o, s))
            p->far++;
    }
}

static void say_faults(const struct patching *p, uint64_t n, const char *why)
{
    if (n == 0)
        return;
    rt_line l;
    rt_line_begin(&l);
    tl_rt_line_number(&l, n);
    tl_rt_line_text(&l, " sleds of '");
    tl_rt_line_text(&l, p->o->path);
    tl_rt_line_text(&l, "' ");
    tl_rt_line_text(&l, why);
    tl_rt_say(&l, 0, true);
}

/* Moves *w over the sleds of one run, from the first that must be switched on; [*from, *to) are its pages. */
static bool find_run(const struct patching *p, struct walk *w, struct walk *first, uintptr_t *from, uintptr_t *to)
{
    bool found = false;
    for (;;) {
        struct walk here = *w;
        if (!walk_next(w))
            return found;
        if (!to_switch(p, w))
            continue;
        uintptr_t begin = w->sled.at & -p->page;
        uintptr_t end = (w->sled.at + tl_rt_sled_bytes(w->sled.kind) + p->page - 1) & -p->page;
        if (!found) {
            *first = here;
            *from = begin;
            *to = end;
            found = true;
        } else if (begin >= *from && begin <= *to) {
            *to = end > *to ? end : *to;
        } else {
            *w = here;
            return true;
        }
    }
}

/* Waits until no processor that runs this process has older instructions in its pipeline. Old kernels cannot; then we
 * rely on the processor. */
static void serialize(void)
{
    static bool registered;
    if (!registered) {
        RT_SYS2(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0);
        registered = true;
    }
    RT_SYS2(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0);
}

/* Writes what the sled executes once it is on. */
static void prepare(const struct patching *p, const struct walk *w)
{
    const rt_sled_place *s = &w->sled;
    if (s->kind < RT_TRAMPOLINES)
        tl_rt_sled_prepare(s->at, p->o->base + w->index, trampoline_of(p->o, s->kind), s->kind);
    else if (p->o->found)
        tl_rt_sled_lead(s->at, s->kind, event_of(p->o, s->kind));
}

static void patch_run(const struct patching *p, const struct walk *first, const struct walk *end, uintptr_t from,
                      uintptr_t to)
{
    struct walk w = *first;
    if (p->on) {
        while (w.next != end->next && walk_next(&w))
            if (p->o->wanted[w.index - 1] && to_switch(p, &w))
                prepare(p, &w);
        tl_rt_sled_sync(from, to);
        serialize();
    }
    w = *first;
    while (w.next != end->next && walk_next(&w))
        if (to_switch(p, &w))
            tl_rt_sled_switch(w.sled.at, w.sled.kind, p->on && p->o->wanted[w.index - 1]);
    tl_rt_sled_sync(from, to);
    serialize();
}

/* Under the loader's lock, too: where that is possible the size is known. */
static uintptr_t page_size(void)
{
#if defined(__x86_64__)
    return RT_PAGE;
#else
    return getauxval(AT_PAGESZ);
#endif
}

void tl_rt_patch(rt_object *o, bool on)
{
    struct patching p = {.o = o, .on = on, .page = page_size()};
    struct walk w, first;
    uintptr_t from = 0, to = 0;
    if (o->refused || o->gone)
        return;
    walk_begin(&w, o);
    while (find_run(&p, &w, &first, &from, &to)) {
        long failed = RT_SYS3(SYS_mprotect, from, to - from, PROT_READ | PROT_WRITE | PROT_EXEC);
        if (failed) {
            o->refused = on;
            tl_rt_say_error("cannot make code writable, so its functions are not recorded:", o->path, (int)-failed);
            return;
        }
        patch_run(&p, &first, &w, from, to);
        if (!o->writable)
            RT_SYS3(SYS_mprotect, from, to - from, PROT_READ | PROT_EXEC);
    }
    if (on && !o->checked) {
        o->checked = true;
        count_faults(&p);
        say_faults(&p, p.odd, "are not as this recorder knows them; they are not recorded");
        say_faults(&p, p.far, "are too far away from their trampolines; they are not recorded");
    }
}
