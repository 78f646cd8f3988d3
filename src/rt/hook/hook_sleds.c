/* The hook "sleds": functions compiled with -fxray-instrument, recorded by our own runtime. */
#include "rt/hook/rt_sled.h"
#include "rt/object/rt_ids.h"
#include "rt/object/rt_objects.h"
#include "rt/rt_say.h"

rt_lock tl_rt_sleds_lock;
static bool on; /* between start and stop; with the lock */

static rt_object *live(uint32_t index)
{
    rt_object *o = (rt_object *)tl_rt_object(index);
    return o->map && !o->gone ? o : NULL;
}

static uint32_t functions(void)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < tl_rt_objects(); i++)
        if (live(i))
            n += live(i)->count;
    return n;
}

static bool match(const char *pattern, const char *name, const char *plain)
{
    return tl_rt_glob(pattern, name) || (plain && tl_rt_glob(pattern, plain));
}

/* No pattern matches a function without a name. */
static bool is_wanted(const char *name)
{
    char room[1024];
    const char *plain = NULL;
    bool in = tl_rt.set.nfunc == 0;
    if (!name)
        return in;
    if (tl_rt_symbols_plain(name, room, sizeof room))
        plain = room;
    for (unsigned i = 0; i < tl_rt.set.nfunc && !in; i++)
        in = match(tl_rt.set.func[i], name, plain);
    for (unsigned i = 0; i < tl_rt.set.nnot && in; i++)
        in = !match(tl_rt.set.not_func[i], name, plain);
    return in;
}

static uint32_t select_in(rt_object *o)
{
    if (tl_rt.set.nfunc == 0 && tl_rt.set.nnot == 0) {
        for (uint32_t i = 0; i < o->count; i++)
            o->wanted[i] = 1;
        return o->count;
    }
    uint32_t n = 0;
    rt_symbols *s = tl_rt_symbols_open(o);
    for (uint32_t i = 0; i < o->count; i++) {
        o->wanted[i] = is_wanted(s ? tl_rt_symbols_name(s, o->function[i]) : NULL);
        n += o->wanted[i];
    }
    if (s)
        tl_rt_symbols_close(s);
    else
        tl_rt_say_error("cannot read the names of functions, so patterns match none of them:", o->path, 0);
    return n;
}

static uint32_t select_all(void)
{
    uint32_t n = 0;
    rt_lock_take(&tl_rt_sleds_lock);
    for (uint32_t i = 0; i < tl_rt_objects(); i++)
        if (live(i))
            n += select_in(live(i));
    rt_lock_give(&tl_rt_sleds_lock);
    return n;
}

static void patch_all(bool to)
{
    rt_lock_take(&tl_rt_sleds_lock);
    on = to;
    for (uint32_t i = 0; i < tl_rt_objects(); i++)
        if (live(i))
            tl_rt_patch(live(i), to);
    rt_lock_give(&tl_rt_sleds_lock);
}

static void start(void)
{
    tl_rt_objects_note_new();
    patch_all(true);
}

static void stop(void)
{
    patch_all(false);
}

static rt_hook hook = {.name = "sleds", .functions = functions, .select = select_all, .start = start, .stop = stop};

void tl_rt_sleds_begin(void)
{
    static bool added;
    if (!added) {
        tl_rt_hook_add(&hook);
        on = tl_rt.state == RT_ON; /* too late to be started */
        added = true;
    }
}

/* The first object registers before the recorder has begun, which then selects and starts. Later ones are loaded while
 * the program runs. */
void tl_rt_sleds_add(rt_object *o)
{
    tl_rt_sleds_begin();
    if (tl_rt.state == RT_OFF || tl_rt.state == RT_OVER)
        return;
    select_in(o);
    if (on)
        tl_rt_patch(o, true);
}
