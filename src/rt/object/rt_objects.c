/* The registry of objects: the numbers of their functions, and which one contains an address.
 *
 * It only grows, and has no lock: a hook may add an object, whatever it interrupted. Sleds are another matter: they are
 * patched, and their objects come and go, under tl_rt_sleds_lock, which hooks never take. */
#include "rt/object/rt_objects.h"

#include "rt/hook/rt_object_start.h"
#include "rt/hook/rt_sled.h"
#include "rt/object/rt_ids.h"
#include "rt/object/rt_maps.h"
#include "rt/object/rt_unload.h"
#include "rt/rt_lane.h"
#include "rt/rt_note.h"
#include "rt/rt_say.h"
#include "rt/rt_store.h"

enum { OBJECTS_MAX = 4096 };

static rt_object *volatile object[OBJECTS_MAX]; /* the first NULL is the end */
static volatile uint32_t nobject;

/* The sled map of the recorder's own object, which is the program if linked statically. */
#pragma GCC visibility push(hidden)
extern const char __start_xray_instr_map[] __attribute__((weak));
extern const char __stop_xray_instr_map[] __attribute__((weak));
#pragma GCC visibility pop

uint32_t tl_rt_objects(void)
{
    return __atomic_load_n(&nobject, __ATOMIC_ACQUIRE);
}

const rt_object *tl_rt_object(uint32_t index)
{
    return object[index];
}

/* The latest of the first n objects that has the address. */
static rt_object *known_at(uintptr_t address, uint32_t n)
{
    while (n > 0) {
        rt_object *o = __atomic_load_n(&object[--n], __ATOMIC_RELAXED);
        if (rt_object_has(o, address) && !o->gone)
            return o;
    }
    return NULL;
}

/* Are they the same file at the same place? Only build-ids can tell. */
static bool is_same(const rt_object *a, const rt_object *b)
{
    return a->low == b->low && a->high == b->high && a->bias == b->bias && a->build_id[0] &&
           tl_rt_same(a->build_id, b->build_id) && tl_rt_same(a->path, b->path);
}

static bool overlaps(const rt_object *a, const rt_object *b)
{
    return a->low < b->high && b->low < a->high;
}

/* A number that makes an object's addresses unique, if one of the first n objects was loaded there before. */
static uint64_t set_apart(const rt_object *o, uint32_t n)
{
    enum { ABOVE = 50 }; /* bits of an address */
    bool is_first = true;
    for (uint32_t i = n; i-- > 0;) {
        if (is_same(object[i], o))
            return object[i]->apart;
        is_first = is_first && !overlaps(object[i], o);
    }
    return is_first ? 0 : (uint64_t)(n + 1) << ABOVE;
}

static uint32_t load_number(void)
{
    static uint32_t last;
    return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

/* Adds o, or with `once` returns what a faster thread added. NULL: too many. */
static rt_object *append(rt_object *o, bool once)
{
    for (;;) {
        uint32_t n = tl_rt_objects();
        rt_object *other = once ? known_at(o->low, n) : NULL;
        if (other || n == OBJECTS_MAX)
            return other;
        o->id = n + 1;
        o->loaded = load_number();
        o->apart = set_apart(o, n);
        rt_object *none = NULL;
        bool added = __atomic_compare_exchange_n(&object[n], &none, o, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
        /* An object's own thread may have been interrupted before it counted it: then this thread does. */
        uint32_t before = n;
        __atomic_compare_exchange_n(&nobject, &before, n + 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
        if (added)
            return o;
    }
}

static const char *hooks_of(const rt_object *o)
{
    return o->map ? "sleds" : o->count ? "patch" : "functions";
}

/* The addresses of functions from index `i` on, as many as a line holds: the first one, then differences. Returns the
 * index of the next one. */
static uint32_t put_frames(rt_line *l, const rt_object *o, uint32_t i)
{
    enum { ONE_MORE = 24 }; /* bytes of a difference at most */
    rt_line_begin(l);
    tl_rt_line_text(l, "frames object=");
    tl_rt_line_number(l, o->id);
    tl_rt_line_text(l, " first=");
    tl_rt_line_number(l, o->base + 1 + (uint64_t)i);
    tl_rt_line_text(l, " at=");
    tl_rt_line_hex(l, o->function[i]);
    for (i++; i < o->count && o->function[i] > o->function[i - 1] && l->n < sizeof l->text - ONE_MORE; i++) {
        tl_rt_line_text(l, ",");
        tl_rt_line_hex(l, o->function[i] - o->function[i - 1]);
    }
    return i;
}

/* What sleds need no note for: their map is in the file. */
static bool write_frames(const rt_object *o)
{
    rt_line l;
    bool ok = true;
    for (uint32_t i = 0; ok && o->function && !o->map && i < o->count;) {
        i = put_frames(&l, o, i);
        ok = tl_rt_note(&l);
    }
    return ok && (!o->patched || tl_rt_note(o->patched));
}

/* With the thread's lane busy, or without a lane. */
static void write_note(rt_object *o)
{
    rt_line l;
    rt_line_begin(&l);
    tl_rt_line_text(&l, "object id=");
    tl_rt_line_number(&l, o->id);
    tl_rt_line_text(&l, " base=");
    tl_rt_line_number(&l, o->base);
    tl_rt_line_text(&l, " count=");
    tl_rt_line_number(&l, o->count);
    tl_rt_line_text(&l, " bias=0x");
    tl_rt_line_hex(&l, o->bias);
    tl_rt_line_text(&l, " hooks=");
    tl_rt_line_text(&l, hooks_of(o));
    tl_rt_line_text(&l, " build-id=");
    tl_rt_line_text(&l, o->build_id[0] ? o->build_id : "-");
    tl_rt_line_text(&l, " path=");
    tl_rt_line_escaped(&l, o->path);
    if (tl_rt_note(&l) && write_frames(o))
        o->noted = tl_rt.file;
}

/* Meanwhile hooks of this thread put their events aside, and the recorder does not close its file. */
static void note(rt_object *o, bool always)
{
    rt_lane *lane = tl_rt_lane;
    uintptr_t busy = lane ? lane->busy : 0;
    if (lane)
        lane->busy = UINTPTR_MAX;
    RT_BARRIER();
    if (always || tl_rt.state == RT_ON)
        write_note(o);
    RT_BARRIER();
    if (lane)
        lane->busy = busy;
}

void tl_rt_object_note(rt_object *o)
{
    note(o, false);
}

void tl_rt_objects_note(void)
{
    for (uint32_t i = 0; i < tl_rt_objects(); i++)
        if (!object[i]->gone)
            note(object[i], true);
}

void tl_rt_objects_note_new(void)
{
    for (uint32_t i = 0; i < tl_rt_objects(); i++)
        if (!object[i]->gone && object[i]->noted != tl_rt.file)
            note(object[i], true);
}

/* If the same object is loaded again at its old place, and none other was there meanwhile, it keeps its functions'
 * numbers. NULL: another object, or a new one. */
static rt_object *load_again(const rt_object *o)
{
    rt_object *same = NULL;
    uint32_t latest = 0; /* of all that were there */
    for (uint32_t i = 0; i < tl_rt_objects(); i++) {
        rt_object *before = object[i];
        if (overlaps(before, o) && before->loaded > latest)
            latest = before->loaded;
        if (before->gone && !before->map && is_same(before, o))
            same = before;
    }
    tl_rt_ids_load(o->low, o->high, same && same->loaded == latest);
    if (same) {
        same->loaded = load_number();
        if (__atomic_exchange_n(&same->gone, false, __ATOMIC_ACQ_REL)) /* otherwise another thread was faster */
            tl_rt_unload_watch(same);
    }
    return same;
}

/* The latest object that was loaded exactly there. */
static rt_object *latest_at(const rt_object *o)
{
    rt_object *latest = NULL;
    for (uint32_t i = 0; i < tl_rt_objects(); i++)
        if (object[i]->low == o->low && object[i]->high == o->high && (!latest || object[i]->loaded > latest->loaded))
            latest = object[i];
    return latest;
}

const rt_object *tl_rt_object_at(uintptr_t address)
{
    rt_object *o = known_at(address, tl_rt_objects());
    uintptr_t header;
    if (o)
        return o;
    o = tl_rt_memory_take(sizeof *o);
    if (!o)
        return NULL;
    rt_object *found = NULL;
    if (tl_rt_maps_find(address, &header, o->path) && tl_rt_image_read(o, header) && rt_object_has(o, address)) {
        found = tl_rt_unload_is_watched(o) ? latest_at(o) : load_again(o);
        if (!found)
            found = append(o, true);
    }
    if (found == o)
        tl_rt_unload_watch(o);
    else
        tl_rt_memory_give(o, sizeof *o);
    if (found && found->noted != tl_rt.file && tl_rt.state == RT_ON)
        write_note(found);
    return found;
}

/* Numbers for n functions. The program's come first, as in LLVM's runtime, although its libraries are loaded before
 * it. */
static uint32_t take_ids(const rt_sled_map *map, uint32_t n)
{
    static bool reserved;
    static uint32_t own;
    bool is_own = map->begin == __start_xray_instr_map;
    if (!reserved && __start_xray_instr_map) {
        uint32_t count = is_own ? n : tl_rt_map_functions(__start_xray_instr_map, __stop_xray_instr_map, 0, NULL);
        own = tl_rt_ids_take(count);
        reserved = true;
    }
    return is_own && reserved ? own : tl_rt_ids_take(n);
}

static rt_object *make_object(const rt_sled_map *map, const rt_sled_found *sleds)
{
    rt_object *o = tl_rt_memory_take(sizeof *o);
    if (!o)
        return NULL;
    uintptr_t header = 0;
    bool found = tl_rt_maps_find((uintptr_t)map->begin, &header, o->path);
    if (map->header)
        header = (uintptr_t)map->header;
    o->count = tl_rt_map_functions(map->begin, map->end, 0, NULL);
    uint64_t *function = tl_rt_memory_take(o->count * (sizeof *function + 1));
    if ((found || map->header) && tl_rt_image_read(o, header) && function) {
        tl_rt_map_functions(map->begin, map->end, o->bias, function);
        o->map = map;
        o->found = sleds;
        o->refused = sleds && sleds->refused;
        o->function = function;
        o->wanted = (volatile uint8_t *)(function + o->count);
        for (uint32_t i = 0; i < o->count; i++)
            o->wanted[i] = 1;
        o->base = take_ids(map, o->count);
        if (o->base != UINT32_MAX && append(o, false))
            return o;
    }
    if (function)
        tl_rt_memory_give(function, o->count * (sizeof *function + 1));
    tl_rt_memory_give(o, sizeof *o);
    return NULL;
}

static bool add(const rt_sled_map *map, const rt_sled_found *found)
{
    rt_lock_take(&tl_rt_sleds_lock);
    rt_object *o = make_object(map, found);
    if (o) {
        __atomic_store_n(map->handlers, &tl_rt_handlers, __ATOMIC_RELEASE);
        if (found && found->leaves)
            tl_rt_unload_watch(o);
        tl_rt_sleds_add(o);
        note(o, false);
    } else {
        tl_rt_say_error("no room for the functions of an object, which are not recorded", NULL, 0);
    }
    rt_lock_give(&tl_rt_sleds_lock);
    return o != NULL;
}

void tl_rt_object_register(const rt_sled_map *map)
{
    if (map->version != RT_START_VERSION) {
        tl_rt_say_error("an object was linked with the start file of another recorder, and is not recorded", NULL, 0);
        return;
    }
    if (map->begin != map->end)
        add(map, NULL);
}

bool tl_rt_object_found(const rt_sled_found *found)
{
    return add(&found->map, found);
}

bool tl_rt_object_again(const rt_object *like)
{
    rt_object *same = NULL;
    uint32_t latest = 0; /* of all that were there */
    rt_lock_take(&tl_rt_sleds_lock);
    for (uint32_t i = 0; i < tl_rt_objects(); i++) {
        rt_object *before = object[i];
        if (overlaps(before, like) && before->loaded > latest)
            latest = before->loaded;
        if (before->gone && before->found && before->found->followed && is_same(before, like))
            same = before;
    }
    if (same && same->loaded == latest) {
        same->loaded = load_number();
        tl_rt_ids_load(same->low, same->high, true);
        same->gone = false;
        tl_rt_sleds_add(same);
        note(same, false);
    }
    rt_lock_give(&tl_rt_sleds_lock);
    return same && !same->gone;
}

/* The object's functions are forgotten: another object may be loaded in its place. */
static void leave(rt_object *o)
{
    tl_rt_ids_unload(o->low, o->high);
    o->gone = true;
}

/* Does it leave without reporting that itself? */
static bool leaves_silently(const rt_object *o, uintptr_t address)
{
    return rt_object_has(o, address) && !o->gone && (!o->map || o->found);
}

void tl_rt_object_leaves(uintptr_t address)
{
    for (uint32_t i = tl_rt_objects(); i-- > 0;) {
        rt_object *o = object[i];
        if (!leaves_silently(o, address))
            continue;
        if (o->found)
            rt_lock_take(&tl_rt_sleds_lock); /* its sleds are not being patched */
        leave(o);
        if (o->found)
            rt_lock_give(&tl_rt_sleds_lock);
    }
}

void tl_rt_object_closed(uintptr_t address)
{
    for (uint32_t i = tl_rt_objects(); i-- > 0;)
        if (leaves_silently(object[i], address))
            leave(object[i]);
}

/* The program itself is never unloaded: its destructors run at the end of the process, and others after them. */
void tl_rt_object_unregister(const rt_sled_map *map)
{
    if (map->begin == __start_xray_instr_map)
        return;
    rt_lock_take(&tl_rt_sleds_lock);
    for (uint32_t i = 0; i < tl_rt_objects(); i++)
        if (object[i]->map == map && !object[i]->gone)
            leave(object[i]);
    rt_lock_give(&tl_rt_sleds_lock);
}

void tl_rt_objects_child(void)
{
    rt_lock_give(&tl_rt_found_lock);
    rt_lock_give(&tl_rt_sleds_lock);
}
